//! What goes from lane to lane: scans of a block, and lanes moved up by one.

use super::Writer;
use super::pack::signed;
use livefusion_tile::ir::{Operand, Shape, Value};
use loop_lang::op::Op;
use loop_lang::types::Ty;

impl Writer<'_, '_, '_> {
    /// `let s = scan op v`, by a block's tree: the last of each lower half is joined onto all of the upper half. Vectors
    /// first, then from vector to vector; lane by lane where compilers have no such operator for vectors.
    pub(super) fn scan(&mut self, to: Value, op: Op, of: Operand) {
        let (shape, lanes) = (self.shape(to), self.tile.shape(to).lanes);
        if lanes == 1 {
            let one = self.operand(of);
            return self.define(to, &one);
        }
        let two = ["x".to_string(), "y".to_string()];
        let Some(joined) = self.vectors_join(op, shape, &two) else {
            return self.scan_lanes(to, op, of);
        };
        let scan = self.scan_of_vector(op, shape, &joined);
        let parts = self.parts(lanes);
        let v = self.vector(shape);
        let mut names = Vec::new();
        for part in 0..parts {
            self.part = part;
            let (name, x) = (self.name(to), self.in_lanes(of, shape.lanes));
            self.unit.line(format!("{v} {name} = {scan}({x});"));
            names.push(name);
        }
        self.part = 0;
        for step in 0..parts.trailing_zeros() {
            for part in (0..parts as usize).filter(|k| k >> step & 1 == 1) {
                let (name, before) = (&names[part], &names[(part >> step << step) - 1]);
                let last = self.lanes_of_two(shape, before, before, |_| shape.lanes - 1);
                let joined = self.vectors_join(op, shape, &[last, name.clone()]);
                self.unit
                    .line(format!("{name} = {};", joined.unwrap_or_default()));
            }
        }
    }

    /// Two vectors joined, if compilers have that for vectors. Masks are no vectors everywhere.
    pub(super) fn vectors_join(&mut self, op: Op, shape: Shape, two: &[String]) -> Option<String> {
        match shape.ty {
            Ty::Bool => None,
            ty => self.vector_op(op, ty, shape, two),
        }
    }

    /// A function that scans the lanes of one vector.
    fn scan_of_vector(&mut self, op: Op, shape: Shape, joined: &str) -> String {
        let v = self.vector(shape);
        let name = format!("{v}_scan_{}", op.name());
        // Where nothing is joined onto a lane, the identity is.
        let identity = op.identity(shape.ty).map(|id| {
            let (all, id) = (self.all(shape), self.unit.helpers.constant(id));
            format!("{all}({id})")
        });
        let mut body = String::new();
        for step in 0..shape.lanes.trailing_zeros() {
            let upper = |k: u32| k >> step & 1 == 1;
            let last = |k: u32| (k >> step << step) - 1;
            if let Some(id) = &identity {
                let before = self.lanes_of_two(shape, "y", id, |k| match upper(k) {
                    true => last(k),
                    false => k + shape.lanes,
                });
                body += &format!("  x = {before};\n  y = {joined};\n");
                continue;
            }
            let before = self.lanes_of_two(shape, "y", "y", |k| match upper(k) {
                true => last(k),
                false => k,
            });
            let kept = self.lanes_of_two(shape, "y", "x", |k| match upper(k) {
                true => k + shape.lanes,
                false => k,
            });
            body += &format!("  x = {before};\n  x = {joined};\n  y = {kept};\n");
        }
        self.unit.helpers.require(&name, || {
            format!("static inline {v} {name}({v} y) {{\n  {v} x;\n{body}  return y;\n}}\n")
        });
        name
    }

    /// Lanes of two vectors, by number.
    pub(super) fn lanes_of_two(
        &mut self,
        shape: Shape,
        a: &str,
        b: &str,
        of: impl Fn(u32) -> u32,
    ) -> String {
        let numbers = self.vector(Shape::of(signed(shape.ty.size()), shape.lanes));
        let at: Vec<String> = (0..shape.lanes).map(|k| of(k).to_string()).collect();
        format!("LF_SHUFFLE({numbers}, {a}, {b}, {})", at.join(", "))
    }

    /// All lanes of an operand, in an array.
    fn cells(&mut self, to: Value, of: Operand) -> String {
        let Shape { ty, lanes } = self.tile.shape(to);
        let cells = format!("lf_all_{}", self.whole(to));
        self.unit.line(format!("{} {cells}[{lanes}];", ty.name()));
        let some = self.shape(to).lanes;
        for part in 0..self.parts(lanes) {
            self.part = part;
            let (lane, before) = (self.lane(of), self.before());
            self.unit.line(format!(
                "for (u64 k = 0; k < {some}; k++) {cells}[k{before}] = {lane};"
            ));
        }
        self.part = 0;
        cells
    }

    fn scan_lanes(&mut self, to: Value, op: Op, of: Operand) {
        let Shape { ty, lanes } = self.tile.shape(to);
        let cells = self.cells(to, of);
        for step in 0..lanes.trailing_zeros() {
            let before = format!("{cells}[(k >> {step} << {step}) - 1]");
            let two = [before, format!("{cells}[k]")];
            let joined = self.unit.helpers.op(op, ty, ty, &two);
            self.unit.line(format!(
                "for (u64 k = 0; k < {lanes}; k++) if (k >> {step} & 1) {cells}[k] = {joined};"
            ));
        }
        self.each_cell(to, |before| format!("{cells}[k{before}]"));
    }

    /// Defines a value by an expression for lane `k` of each part, which has so many lanes before it.
    fn each_cell(&mut self, to: Value, cell: impl Fn(&str) -> String) {
        for part in 0..self.parts(self.tile.shape(to).lanes) {
            self.part = part;
            let cell = cell(&self.before());
            self.each(to, &cell);
        }
        self.part = 0;
    }

    /// `let x = lane v k`.
    pub(super) fn one_lane(&mut self, to: Value, of: Operand, at: Operand) {
        let k = self.operand(at);
        let parts = self.parts(self.tile.operand_shape(of).lanes);
        let each = self.operand_shape(of).lanes;
        let mut lane = String::new();
        // Where it is unrolled, compilers know which part it is.
        for part in 0..parts {
            self.part = part;
            let (one, behind) = (self.lane_at(of, &format!("({k} & {})", each - 1)), part + 1);
            lane += &match behind == parts {
                true => one,
                false => format!("{k} < {} ? {one} : ", behind * each),
            };
        }
        self.part = 0;
        self.define(to, &lane);
    }

    /// `set lane r k = x`.
    pub(super) fn set_lane(&mut self, to: Value, at: Operand, value: Operand) {
        let (k, value) = (self.operand(at), self.operand(value));
        let (shape, parts) = (self.shape(to), self.parts(self.tile.shape(to).lanes));
        let (name, each) = (self.whole(to).to_string(), shape.lanes);
        let place = match parts {
            1 => name,
            _ => format!("{name}[{k} / {each}]"),
        };
        let k = format!("({k} & {})", each - 1);
        let line = match (shape.is_scalar(), shape.ty) {
            (true, _) => format!("{place} = {value};"),
            (_, Ty::Bool) if self.masks.registers => {
                let mask = self.mask();
                format!("{place} = ({mask})((~(1ul << {k}) & {place}) | ((u64){value} << {k}));")
            }
            (_, Ty::Bool) => format!(
                "{place}[{k}] = -({}){value};",
                signed(self.masks.bytes).name()
            ),
            _ => format!("{place}[{k}] = {value};"),
        };
        self.unit.line(line);
    }

    /// `let x = last v`.
    pub(super) fn last(&mut self, to: Value, of: Operand) {
        let shape = self.shape(to);
        self.part = self.parts(self.tile.operand_shape(of).lanes) - 1;
        let last = self.operand_shape(of).lanes - 1;
        let lane = match (shape.is_scalar(), shape.ty) {
            (true, _) => self.lane_at(of, &last.to_string()),
            (false, Ty::Bool) => {
                let lane = self.lane_at(of, &last.to_string());
                self.all_or_none(&lane)
            }
            (false, _) => {
                let all = self.operand(of);
                self.lanes_of_two(shape, &all, &all, |_| last)
            }
        };
        self.part = 0;
        let lanes = self.tile.shape(to).lanes;
        self.each_part(lanes, |w| w.define(to, &lane));
    }

    /// `let w = slide x v`.
    pub(super) fn slide(&mut self, to: Value, first: Operand, of: Operand) {
        let (shape, lanes) = (self.shape(to), self.tile.shape(to).lanes);
        // Of several, the last lane of the last part comes in.
        let comes = self.tile.operand_shape(first);
        self.part = self.parts(comes.lanes) - 1;
        let (all, first) = match (comes.is_scalar(), shape.ty) {
            (true, _) => (None, self.operand(first)),
            (false, Ty::Bool) => {
                let last = self.operand_shape(first).lanes - 1;
                (None, self.lane_at(first, &last.to_string()))
            }
            (false, _) => (Some(self.operand(first)), String::new()),
        };
        self.part = 0;
        if lanes == 1 {
            return self.define(to, &first);
        }
        if shape.ty == Ty::Bool {
            let cells = self.cells(to, of);
            return self.each_cell(to, |before| {
                format!("(k{before} == 0 ? {first} : {cells}[k{before} - 1])")
            });
        }
        let mut before = match all {
            Some(all) => all,
            None => format!("{}({first})", self.all(shape)),
        };
        for part in 0..self.parts(lanes) {
            self.part = part;
            let x = self.in_lanes(of, shape.lanes);
            let moved = self.lanes_of_two(shape, &before, &x, |k| shape.lanes - 1 + k);
            self.define(to, &moved);
            before = x;
        }
        self.part = 0;
    }

    /// `let w = reverse v`: the parts the other way round, and the lanes of each.
    pub(super) fn reverse(&mut self, to: Value, of: Operand) {
        let (shape, lanes) = (self.shape(to), self.tile.shape(to).lanes);
        // Masks are no vectors everywhere.
        if shape.ty == Ty::Bool && lanes > 1 {
            let cells = self.cells(to, of);
            return self.each_cell(to, |before| format!("{cells}[{} - (k{before})]", lanes - 1));
        }
        let parts = self.parts(lanes);
        for part in 0..parts {
            self.part = parts - 1 - part;
            let x = self.in_lanes(of, shape.lanes);
            self.part = part;
            let turned = match lanes {
                1 => x,
                _ => self.lanes_of_two(shape, &x, &x, |k| shape.lanes - 1 - k),
            };
            self.define(to, &turned);
        }
        self.part = 0;
    }
}
