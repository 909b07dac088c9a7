//! Scatters.
//!
//! Scatters with an operator onto a short array use bins, in which a block joins its values.
//! Overwriting scatters first record the number of each write, and then perform the last write of
//! each element.
//!
//! ```text
//! struct Bins0 { typedef i64 Type; typedef lf_by_add By; .. };
//! ..
//! if (EMIT) lf_scatter<Bins0>(p.out_3, elt_1, elt_2, launch);
//! ..
//! LF_KERNEL(256, 3) loop_0_kernel(..) {
//!   lf_bins_begin<loop_0::Bins0>(p.out_3, launch);
//!   ..
//!   lf_bins_end<loop_0::Bins0>(p.out_3, launch);
//! }
//! ```

use super::{Emit, Form, expr};
use livefusion_tile::threads::plan::Work;
use livefusion_tile::threads::shape::{Joins, Scatter};
use loop_lang::ir::{Atom, Combine, Var};

/// The maximal bytes of bins in shared memory.
const MOST: usize = 32 << 10;
/// Bytes of shared memory of a block.
const SHARED: usize = 48 << 10;

impl Emit<'_> {
    /// Writes the bins of each scattered array.
    pub(super) fn bins(&mut self) {
        if matches!(self.shape.work, Work::Places(_)) {
            return;
        }
        let scatters = &self.shape.scatters;
        for (k, Scatter { array, op, .. }) in scatters.iter().enumerate() {
            let ty = self.shape.program.ty(*array).elem();
            let room = self.room() / scatters.len() / ty.size();
            let identity = op.identity(ty).map(expr::constant).unwrap_or_default();
            let by = op.name();
            self.open(&format!("struct Bins{k} {{"));
            self.line(&format!("typedef {ty} Type;"));
            self.line(&format!("typedef lf_by_{by} By;"));
            self.line(&format!("static const u32 ROOM = {room};"));
            self.line(&format!(
                "static LF_DEVICE {ty} identity() {{ return {identity}; }}"
            ));
            self.open(&format!("static LF_DEVICE {ty} *room() {{"));
            self.line(&format!("LF_SHARED_ARRAY({ty}, bins, {room});"));
            self.line("return bins;");
            self.close();
            self.depth -= 1;
            self.line("};");
        }
    }

    /// Returns the shared memory left for bins.
    fn room(&self) -> usize {
        let tile = (self.tiles.threads * self.tiles.elements) as usize;
        let room = tile * self.streams.room_bytes(self.shape) as usize + 32;
        let rooms = match self.form {
            // The rows of a tile, and the exchange between teams.
            Form::Nested => tile * 2 + self.near.room_bytes(self.shape, self.tiles) + 4096,
            _ => self.tiles.rooms() as usize * room,
        };
        // Each level has a part for each of 32 warps, and some more, unless it is wide.
        let levels = self.shape.levels.iter();
        let words = levels.map(|l| self.shape.vars(l).len() + 1);
        let groups = match self.shape.is_wide() {
            true => 0,
            false => words.sum::<usize>() * 8 * 36,
        };
        SHARED.saturating_sub(rooms + groups + 512).min(MOST)
    }

    /// Writes the join or overwrite of a scattered element.
    pub(super) fn scattered(
        &mut self,
        arrays: &[Var],
        index: Atom,
        values: &[Atom],
        combine: Option<Combine>,
    ) {
        let program = self.shape.program;
        let joins = combine.and_then(|c| Joins::of(program, arrays, c));
        let Some(joins) = joins else {
            return self.overwritten(arrays, index, values);
        };
        let index = self.value(index);
        let values = values.iter().map(|x| self.value(*x));
        let values: Vec<String> = values.collect();
        let computes = !joins.values.is_empty();
        if computes {
            self.open("{");
        }
        for (v, x) in joins.values.iter().zip(&values) {
            let line = format!("const {} {} = {x};", self.ty(*v), self.names.var(*v));
            self.line(&line);
        }
        let only = self.only.take();
        joins.stmts.into_iter().for_each(|s| self.stmt(s));
        self.only = only;
        let emits = match self.settles() {
            true => "EMIT && !launch.settles",
            false => "EMIT",
        };
        for ((array, value), (_, of)) in arrays.iter().zip(&values).zip(joins.ops) {
            let mut scatters = self.shape.scatters.iter();
            let k = scatters.position(|s| s.array == *array).unwrap_or_default();
            let value = of.map_or_else(|| value.clone(), |a| self.value(a));
            let array = self.outside(Atom::Var(*array));
            self.line(&format!(
                "if ({emits}) lf_scatter<Bins{k}>({array}, {index}, {value}, launch);"
            ));
        }
        if computes {
            self.close();
        }
    }

    /// Writes an overwrite, if its write is the last one.
    ///
    /// This is known when all writes are recorded. Several writes of one step each count as the
    /// last one, and run in order.
    pub(super) fn overwritten(&mut self, arrays: &[Var], index: Atom, values: &[Atom]) {
        let mut all = self.shape.last.iter();
        let Some(k) = all.position(|l| l.arrays == *arrays) else {
            return;
        };
        let rate = self.shape.last[k].rate;
        let counter = self.shape.program.rate(rate).kind.counter();
        let counter = counter.map_or_else(String::new, |c| self.value(Atom::Var(c)));
        let index = self.value(index);
        let winner = format!("p.lf_winners{k}, {index}, {counter} + 1");
        let alone = match self.by_itself() {
            true => "launch.steps == 1 || ",
            false => "",
        };
        self.line(&format!("if (EMIT && !launch.settles) lf_claim({winner});"));
        self.open(&format!(
            "if (EMIT && ({alone}launch.settles && lf_wins({winner}))) {{"
        ));
        for (array, x) in arrays.iter().zip(values) {
            let (array, x) = (self.outside(Atom::Var(*array)), self.value(*x));
            self.line(&format!("lf_write({array}, {index}, {x});"));
        }
        self.close();
    }

    /// Returns whether one thread has a whole step.
    pub(super) fn by_itself(&self) -> bool {
        matches!(self.shape.work, Work::Steps | Work::Rows { .. })
    }

    /// Returns whether steps run again when the last writes are known.
    pub(super) fn settles(&self) -> bool {
        let is_place = matches!(self.shape.work, Work::Places(_));
        !is_place && !self.shape.last.is_empty()
    }

    /// Writes a block's code before and after its steps.
    pub(super) fn around_steps(&self, program: &str) -> [Vec<String>; 2] {
        let scatters = match self.shape.work {
            Work::Places(_) => &[][..],
            _ => &self.shape.scatters,
        };
        let is_last = format!("launch.pass == 2 * {program}::LEVELS");
        let acts = match (self.shape.is_wide(), self.settles()) {
            (true, true) => format!("if ({is_last} && !launch.settles) "),
            (true, false) => format!("if ({is_last}) "),
            (false, true) => "if (!launch.settles) ".into(),
            (false, false) => String::new(),
        };
        let each = |what: &str| -> Vec<String> {
            let calls = scatters.iter().enumerate().map(|(k, s)| {
                let array = self.outside(Atom::Var(s.array));
                format!("{acts}lf_bins_{what}<{program}::Bins{k}>({array}, launch);")
            });
            calls.collect()
        };
        let [mut begin, mut end] = [each("begin"), each("end")];
        if self.shape.is_wide() {
            begin.insert(
                0,
                format!("if (!lf_pass_begins<{program}>(p, launch)) return;"),
            );
            end.push(format!("lf_pass_ends<{program}>(launch);"));
        }
        [begin, end]
    }
}
