//! Scatters: each has bins, where a block joins what it joins onto a short array.
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
use livefusion_tile::threads::shape::Scatter;
use loop_lang::ir::{Atom, Var};

/// Bytes of the memory that a block shares which are bins, at most.
const MOST: usize = 32 << 10;
/// Bytes that a block may share.
const SHARED: usize = 48 << 10;

impl Emit<'_> {
    /// The bins of each array that is scattered into.
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

    /// The bytes that are left for bins beside the rooms that tiles and groups have.
    fn room(&self) -> usize {
        let tile = (self.tiles.threads * self.tiles.elements) as usize;
        let room = tile * self.streams.room_bytes(self.shape) as usize + 32;
        let rooms = match self.form {
            // Where the rows of a tile lie, and what teams exchange.
            Form::Nested => tile * 2 + self.near.room_bytes(self.shape, self.tiles) + 4096,
            _ => self.tiles.rooms() as usize * room,
        };
        // Each level has a part for each of 32 warps, and some more.
        let words = self
            .shape
            .levels
            .iter()
            .map(|l| self.shape.vars(l).len() + 1);
        let groups = words.sum::<usize>() * 8 * 36;
        SHARED.saturating_sub(rooms + groups + 512).min(MOST)
    }

    /// What a step joins onto an element.
    pub(super) fn scattered(&self, array: Var, index: &str, value: &str) -> String {
        let mut scatters = self.shape.scatters.iter();
        let k = scatters.position(|s| s.array == array).unwrap_or_default();
        let array = self.outside(Atom::Var(array));
        format!("if (EMIT) lf_scatter<Bins{k}>({array}, {index}, {value}, launch);")
    }

    /// What a block does before its steps, and behind them.
    pub(super) fn around_steps(&self, program: &str) -> [Vec<String>; 2] {
        if matches!(self.shape.work, Work::Places(_)) {
            return Default::default();
        }
        let each = |what: &str| {
            let scatters = self.shape.scatters.iter().enumerate();
            let calls = scatters.map(|(k, s)| {
                let array = self.outside(Atom::Var(s.array));
                format!("lf_bins_{what}<{program}::Bins{k}>({array}, launch);")
            });
            calls.collect()
        };
        [each("begin"), each("end")]
    }
}
