//! Names, definitions and uses.

use super::Faults;
use crate::ir::{Operand, Origin, Stmt, StmtKind, Tile, Value};
use loop_lang::verify::as_word;
use rustc_hash::FxHashSet;

/// Checks them. Whether all values are there at all, so that they can be looked up.
pub(super) fn check(tile: &Tile, faults: &mut Faults) -> bool {
    let mut names = FxHashSet::default();
    for (_, data) in tile.each_value() {
        if as_word(&data.name) != data.name || !names.insert(&data.name) {
            faults.add(format!("`{}` is no name of its own", data.name));
        }
        if data.shape.lanes == 0 || !data.shape.lanes.is_power_of_two() {
            faults.add(format!("{} has {} lanes", data.name, data.shape.lanes));
        }
    }
    let mut known = true;
    let mut see = |a: Operand| known &= a.value().is_none_or(|v| v.index() < tile.values.len());
    tile.each_stmt(&mut |s| {
        s.kind.each_operand(&mut see);
        see(s
            .kind
            .target()
            .map_or(Operand::Value(Value(0)), Operand::Value));
    });
    if !known || tile.values.is_empty() {
        faults.add("a value that is not there");
        return false;
    }
    let mut scope = Scope {
        tile,
        faults,
        visible: (tile.each_value())
            .filter(|(_, d)| d.origin != Origin::Let)
            .map(|(v, _)| v)
            .collect(),
        defined: FxHashSet::default(),
    };
    scope.stmts(&tile.body);
    true
}

struct Scope<'a> {
    tile: &'a Tile,
    faults: &'a mut Faults,
    visible: FxHashSet<Value>,
    defined: FxHashSet<Value>,
}

impl Scope<'_> {
    fn uses(&mut self, a: Operand) {
        if let Operand::Value(v) = a
            && !self.visible.contains(&v)
        {
            let name = &self.tile.value(v).name;
            self.faults
                .add(format!("{name} is used where it is not defined"));
        }
    }

    /// Statements of a body; what they define is theirs.
    fn stmts(&mut self, stmts: &[Stmt]) {
        let mut mine = Vec::new();
        for s in stmts {
            self.stmt(s, &mut mine);
        }
        mine.iter().for_each(|v| {
            self.visible.remove(v);
        });
    }

    fn define(&mut self, v: Value, mine: &mut Vec<Value>) {
        let data = self.tile.value(v);
        if data.origin != Origin::Let {
            self.faults
                .add(format!("{} is defined by a let", data.name));
        }
        if !self.defined.insert(v) {
            self.faults.add(format!("{} is defined twice", data.name));
        }
        self.visible.insert(v);
        mine.push(v);
    }

    /// The depth of what calls itself here is that of the tile's bodies, which is bounded where they are made.
    fn stmt(&mut self, s: &Stmt, mine: &mut Vec<Value>) {
        match &s.kind {
            StmtKind::While { test, cond, body } => {
                // What the test computes, the body sees.
                let mut inner = Vec::new();
                test.iter().for_each(|s| self.stmt(s, &mut inner));
                self.uses(*cond);
                self.stmts(body);
                inner.iter().for_each(|v| {
                    self.visible.remove(v);
                });
                return;
            }
            StmtKind::For { counter, body, .. } => {
                s.kind.each_operand(&mut |a| self.uses(a));
                let mut inner = Vec::new();
                self.define(*counter, &mut inner);
                self.stmts(body);
                inner.iter().for_each(|v| {
                    self.visible.remove(v);
                });
                return;
            }
            _ => {}
        }
        s.kind.each_operand(&mut |a| self.uses(a));
        if let StmtKind::Set { to, .. } = s.kind {
            let data = self.tile.value(to);
            if !matches!(data.origin, Origin::Register | Origin::State(_)) {
                self.faults.add(format!("{} is set", data.name));
            }
            return;
        }
        if let Some(v) = s.kind.target() {
            self.define(v, mine);
        }
        s.kind.bodies().into_iter().for_each(|b| self.stmts(b));
    }
}
