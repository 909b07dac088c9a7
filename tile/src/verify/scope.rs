//! Names, definitions and uses.

use super::Faults;
use crate::ir::{Operand, Origin, Stmt, StmtKind, Tile, Value};
use loop_lang::Loop;
use loop_lang::ir::Type;
use loop_lang::types::Const;
use loop_lang::verify::as_word;
use rustc_hash::FxHashSet;

/// Checks them. Returns whether names have no fault, so that statements can be printed.
pub(super) fn check<'a>(tile: &'a Tile, program: &Loop, faults: &mut Faults<'a>) -> bool {
    let arrays = program
        .vars
        .iter()
        .filter(|v| matches!(v.ty, Type::Array(_)));
    let mut names: FxHashSet<&String> = arrays.map(|v| &v.name).collect();
    for (_, data) in tile.each_value() {
        let literal = data.name.parse::<Const>().is_ok();
        if literal || as_word(&data.name) != data.name || !names.insert(&data.name) {
            faults.add(format!("`{}` is no name of its own", data.name));
        }
    }
    let mut scope = Scope {
        tile,
        faults,
        visible: (tile.each_value())
            .filter(|(_, d)| !matches!(d.origin, Origin::Let | Origin::Buffer))
            .map(|(v, _)| v)
            .collect(),
        defined: FxHashSet::default(),
    };
    scope.stmts(&tile.body);
    faults.at = None;
    true
}

struct Scope<'f, 'a> {
    tile: &'a Tile,
    faults: &'f mut Faults<'a>,
    visible: FxHashSet<Value>,
    defined: FxHashSet<Value>,
}

impl<'a> Scope<'_, 'a> {
    fn uses(&mut self, a: Operand) {
        if let Operand::Value(v) = a
            && !self.visible.contains(&v)
        {
            let name = &self.tile.value(v).name;
            self.faults
                .add(format!("{name} is used where it is not defined"));
        }
    }

    /// Checks a body; its definitions are local to it.
    fn stmts(&mut self, stmts: &'a [Stmt]) {
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

    /// Recursion is bounded by the tile's nesting depth, which the tile's constructors limit.
    fn stmt(&mut self, s: &'a Stmt, mine: &mut Vec<Value>) {
        self.faults.at = Some(&s.kind);
        match &s.kind {
            StmtKind::While { test, cond, body } => {
                // The body sees the definitions of the test.
                let mut inner = Vec::new();
                test.iter().for_each(|s| self.stmt(s, &mut inner));
                self.faults.at = Some(&s.kind);
                self.uses(*cond);
                self.stmts(body);
                inner.iter().for_each(|v| {
                    self.visible.remove(v);
                });
                return;
            }
            // Definitions in a dry run's body stay visible.
            StmtKind::DryRun { body } => {
                return body.iter().for_each(|s| self.stmt(s, mine));
            }
            StmtKind::For { counter, .. } | StmtKind::Segment { counter, .. } => {
                s.kind.each_operand(&mut |a| self.uses(a));
                let mut inner = Vec::new();
                self.define(*counter, &mut inner);
                for body in s.kind.bodies() {
                    self.stmts(body);
                }
                inner.iter().for_each(|v| {
                    self.visible.remove(v);
                });
                return;
            }
            _ => {}
        }
        s.kind.each_operand(&mut |a| self.uses(a));
        if let StmtKind::Set { to, .. } | StmtKind::SetLane { to, .. } = s.kind {
            let data = self.tile.value(to);
            if data.origin != Origin::Register && !data.origin.is_state() {
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
