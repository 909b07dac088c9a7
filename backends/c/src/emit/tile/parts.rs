//! Values that have more lanes than a vector of the machine: they are several, its *parts*.

use super::Writer;
use livefusion_tile::ir::{Operand, Origin, Shape, Stmt, StmtKind, Value};

impl Writer<'_, '_, '_> {
    /// The type and lanes of a value, or of each of its parts: a value of more lanes than a vector has is several.
    pub(super) fn shape(&self, v: Value) -> Shape {
        self.part_of(self.tile.shape(v))
    }

    /// The same of an operand.
    pub(super) fn operand_shape(&self, a: Operand) -> Shape {
        self.part_of(self.tile.operand_shape(a))
    }

    fn part_of(&self, shape: Shape) -> Shape {
        Shape::of(shape.ty, shape.lanes.min(self.masks.lanes))
    }

    /// How many parts so many lanes are.
    pub(super) fn parts(&self, lanes: u32) -> u32 {
        (lanes / self.masks.lanes).max(1)
    }

    /// What all parts of a value are called.
    pub(super) fn whole(&self, v: Value) -> &str {
        &self.names[v.index()]
    }

    /// What the part is called that is written.
    pub(super) fn name(&self, v: Value) -> String {
        let (data, name) = (self.tile.value(v), self.whole(v));
        match (self.parts(data.shape.lanes), data.origin) {
            (1, _) => name.to_string(),
            (_, Origin::Register) => format!("{name}[{}]", self.part),
            (_, _) => format!("{name}_p{}", self.part),
        }
    }

    /// What is added to an index for the lanes of the parts before.
    pub(super) fn before(&self) -> String {
        match self.part * self.masks.lanes {
            0 => String::new(),
            lanes => format!(" + {lanes}"),
        }
    }

    /// Writes a statement for each part of so many lanes.
    pub(super) fn each_part(&mut self, lanes: u32, write: impl Fn(&mut Self)) {
        for part in 0..self.parts(lanes) {
            self.part = part;
            write(self);
        }
        self.part = 0;
    }

    /// Whether a statement only computes, each part from the same part of its operands: what is set is no scalar, which
    /// other parts might read.
    pub(super) fn is_lane_wise(&self, kind: &StmtKind) -> bool {
        match kind {
            StmtKind::Let { .. } => true,
            StmtKind::Set { to, .. } => !self.tile.shape(*to).is_scalar(),
            _ => false,
        }
    }

    /// Writes statements for one part, then for the next: compilers keep the order, and what is in flight has to fit into
    /// registers.
    pub(super) fn lane_wise(&mut self, stmts: &[Stmt]) {
        let parts = |s: &Stmt| {
            let lanes = s.kind.target().map_or(1, |v| self.tile.shape(v).lanes);
            self.parts(lanes)
        };
        let parts: Vec<u32> = stmts.iter().map(parts).collect();
        for part in 0..parts.iter().copied().max().unwrap_or(1) {
            self.part = part;
            for (s, _) in stmts.iter().zip(&parts).filter(|(_, parts)| part < **parts) {
                self.say(s.comb, &s.kind);
                match &s.kind {
                    StmtKind::Let { to, op, args } => self.let_op(*to, *op, args),
                    StmtKind::Set { to, value } => self.set(*to, *value),
                    _ => {}
                }
            }
        }
        self.part = 0;
    }
}
