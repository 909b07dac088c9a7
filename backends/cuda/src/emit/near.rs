//! Staging of rows' elements in shared memory: see [`livefusion_tile::threads::near`].
//!
//! A read checks whether its index is staged, unless that is known. Other elements of such an array
//! are read from global memory.

use super::Emit;
use livefusion_tile::threads::near::{lies_there, turns};
use livefusion_tile::threads::path::Path;
use livefusion_tile::threads::plan::Work;
use loop_lang::ir::{Atom, Var};
use loop_lang::types::Ty;

impl Emit<'_> {
    /// Writes the staged arrays, and the first staged position of each.
    pub(super) fn rooms(&mut self) {
        let near = self.near.clone();
        let arrays = near.reads.iter().chain(&near.writes);
        let (kind, room) = match self.near.turns(self.shape) {
            true => ("lf_turned<", "lf_square<"),
            false => ("lf_near<", "lf_room<"),
        };
        // The threads of a path are an odd number of elements apart, so they need no gaps.
        let gaps = matches!(self.shape.work, Work::Teams { .. });
        let more = match self.near.turns(self.shape) {
            true => String::new(),
            false => format!(", {gaps}"),
        };
        let places = near
            .of_rows
            .then(|| " lf_near<u64, false> lf_places;".to_string());
        let fields = arrays.clone().map(|v| {
            let ty = self.shape.program.ty(*v).elem();
            format!(" {kind}{ty}{more}> {};", self.names.var(*v))
        });
        let ends = near.ends.iter().map(|(v, _)| {
            let ty = self.shape.program.ty(*v).elem();
            format!(" lf_ends<{ty}> {};", self.names.var(*v))
        });
        let fields = fields.chain(places).chain(ends);
        let each = |emit: &Self, arrays: &[Var]| -> String {
            let calls = arrays.iter().map(|v| {
                let (name, array) = (emit.names.var(*v), emit.outside(Atom::Var(*v)));
                match near.turned.get(v) {
                    Some(stride) => {
                        format!(" each({array}, &Near::{name}, {});", emit.outside(*stride))
                    }
                    None => format!(" each({array}, &Near::{name});"),
                }
            });
            calls.collect()
        };
        let places = self.near.places(self.shape, self.tiles);
        let types = arrays.map(|v| self.shape.program.ty(*v).elem());
        let types = types.chain(near.of_rows.then_some(Ty::U64));
        let rooms = types.map(|ty| format!("{room}{ty}, PLACES{more}>::bytes"));
        let rooms: Vec<String> = rooms.collect();
        let room = match rooms.is_empty() {
            true => "0".into(),
            false => rooms.join(" + "),
        };
        let lines = [
            format!("struct Near {{{} }};", fields.collect::<String>()),
            format!("static const u32 PLACES = {places}, ROOM = {room};"),
            format!(
                "static const bool STORES = {}, GAPS = {gaps};",
                near.of_rows || !near.writes.is_empty() || !near.ends.is_empty()
            ),
            "template <class Each>".into(),
            format!(
                "static LF_DEVICE void fetches(const Params &p, Each each) {{{} }}",
                each(self, &near.reads)
            ),
            "template <class Each>".into(),
            format!(
                "static LF_DEVICE void stores(const Params &p, Each each) {{{} }}",
                match near.of_rows {
                    true => " each(p.lf_places, &Near::lf_places);".into(),
                    false => each(self, &near.writes),
                }
            ),
        ];
        lines.iter().for_each(|l| self.line(l));
        if let Work::Path(_) = self.shape.work {
            let calls = near.ends.iter().map(|(v, room)| {
                let (name, array) = (self.names.var(*v), self.outside(Atom::Var(*v)));
                format!(
                    " each({array}, &Near::{name}, &Near::{});",
                    self.names.var(*room)
                )
            });
            let calls: String = calls.collect();
            self.line("template <class Each>");
            self.line(&format!(
                "static LF_DEVICE void ends(const Params &p, Each each) {{{calls} }}"
            ));
        }
        if let Some(path) = near
            .path
            .filter(|_| near.turned.is_empty() && !rooms.is_empty())
        {
            self.begins(&path);
        }
    }

    /// Writes the start of the first row in these arrays, and the length of rows if known.
    fn begins(&mut self, path: &Path) {
        let length = path.length.map(|a| self.outside(a));
        let begins = match &length {
            _ if path.running => format!("p.start_{}", self.names.var(path.counter)),
            Some(length) => format!("launch.first * {length}"),
            None => "0".into(),
        };
        self.line(&format!(
            "static LF_DEVICE u64 begins(const Params &p, const lf_launch &launch) {{ return {begins}; }}"
        ));
        if let Some(length) = length.filter(|_| matches!(self.shape.work, Work::Teams { .. })) {
            self.line(&format!(
                "static LF_DEVICE u64 length(const Params &p) {{ return {length}; }}"
            ));
        }
    }

    /// Writes an element's read of a staged array.
    pub(super) fn read_near(&self, array: Var, at: Atom) -> Option<String> {
        if !self.near.reads.contains(&array) {
            return None;
        }
        let (name, index) = (self.names.var(array), self.value(at));
        if self.near.of_rows {
            let is_own = at == Atom::Var(self.shape.counter);
            return is_own.then(|| format!("lf_take(near.{name}, lf_k)"));
        }
        // Code outside of the element loop has no staged elements.
        if self.open.len() < 2 {
            return None;
        }
        let Work::Path(path) = &self.shape.work else {
            return Some(format!("lf_read(near.{name}, {index})"));
        };
        let stride = self.near.turned.get(&array);
        if stride.is_some() {
            let is_turned = turns(self.shape, path, at).as_ref() == stride;
            return is_turned.then(|| format!("lf_take(near.{name}, lf_k, {index})"));
        }
        Some(match lies_there(self.shape, path, at) {
            true => format!("lf_take(near.{name}, lf_k)"),
            false => format!("lf_read(near.{name}, {index})"),
        })
    }

    /// Writes the store of an element, or of a row's end, to a staged array.
    pub(super) fn write_near(&self, array: Var, x: &str) -> Option<String> {
        let name = self.names.var(array);
        let ends = self.near.ends.iter().any(|(v, _)| *v == array);
        let is_near = ends || self.near.writes.contains(&array);
        is_near.then(|| format!("if (EMIT) lf_give(near.{name}, lf_k, {x});"))
    }
}
