//! Scopes: each variable is defined once, on every path to its uses.

use super::Faults;
use super::dominators::Dominators;
use super::view::View;
use crate::ir::*;
use crate::walk;

/// Describes the place of a variable's definition.
#[derive(Clone, Copy, PartialEq)]
enum Definition {
    Nowhere,
    /// Visible in all blocks.
    Param,
    /// Defined by a block's statement: block and position.
    Block(usize, usize),
    /// Defined in a region or function.
    Inner,
}

pub(super) fn check(view: &View, dominators: &Dominators, faults: &mut Faults) {
    let mut scope = Scope {
        view,
        dominators,
        faults,
        sites: vec![Definition::Nowhere; view.l.vars.len()],
        open: vec![false; view.l.vars.len()],
        at: Definition::Nowhere,
        function: "",
    };
    scope.define_all();
    for (b, placed) in view.blocks.iter().enumerate() {
        if dominators.reachable(b) {
            scope.block(b, placed.block);
        }
    }
    for function in &view.l.functions {
        scope.function(function);
    }
    scope.rates();
}

struct Scope<'a, 'f> {
    view: &'a View<'a>,
    dominators: &'a Dominators,
    faults: &'f mut Faults,
    sites: Vec<Definition>,
    /// Inner variables (and states of the enclosing `while`) that are currently visible.
    open: Vec<bool>,
    /// The current statement; `Nowhere` inside functions.
    at: Definition,
    /// The current function.
    function: &'a str,
}

impl<'a> Scope<'a, '_> {
    fn define_all(&mut self) {
        let view = self.view;
        for param in &view.l.params {
            self.define(param.var, Definition::Param);
        }
        for function in &view.l.functions {
            function
                .params
                .iter()
                .for_each(|v| self.define(*v, Definition::Inner));
            function
                .body
                .iter()
                .for_each(|s| self.define_stmt(s, Definition::Inner));
        }
        for (b, placed) in view.blocks.iter().enumerate() {
            for (i, stmt) in placed.block.stmts.iter().enumerate() {
                self.define_stmt(stmt, Definition::Block(b, i));
            }
        }
    }

    fn define_stmt(&mut self, stmt: &Stmt, site: Definition) {
        walk::definitions(&stmt.kind, &mut |v| self.define(v, site));
        for region in walk::regions(&stmt.kind) {
            region
                .iter()
                .for_each(|s| self.define_stmt(s, Definition::Inner));
        }
    }

    fn define(&mut self, v: Var, site: Definition) {
        if self.sites[v.index()] != Definition::Nowhere {
            self.faults
                .add(self.view.l.name(v), "is defined more than once");
            return;
        }
        self.sites[v.index()] = site;
    }

    fn block(&mut self, b: usize, block: &Block) {
        for (i, stmt) in block.stmts.iter().enumerate() {
            self.at = Definition::Block(b, i);
            let mut opened = Vec::new();
            self.stmt(stmt, &mut opened);
            self.close(opened);
        }
        self.at = Definition::Block(b, block.stmts.len());
        walk::leaving(block, &mut |a| self.atom(a));
    }

    fn function(&mut self, function: &'a Function) {
        self.at = Definition::Nowhere;
        self.function = &function.name;
        let mut opened = function.params.clone();
        opened.iter().for_each(|v| self.open[v.index()] = true);
        function.body.iter().for_each(|s| self.stmt(s, &mut opened));
        function.results.iter().for_each(|a| self.atom(*a));
        self.close(opened);
    }

    /// Checks that a loop rate's counter is carried, and its bound is defined, when its guard
    /// tests.
    fn rates(&mut self) {
        for (i, rate) in self.view.l.rates.iter().enumerate() {
            let guard = Place::At {
                rate: RateId::new(i),
                stage: 0,
                section: Section::Guard,
            };
            // Every place has its block, so ranks are block numbers.
            let Some(b) = self.view.rank(guard) else {
                continue;
            };
            self.at = Definition::Block(b, 0);
            rate.kind.counter().iter().for_each(|v| self.var(*v));
            rate.kind.bound().iter().for_each(|a| self.atom(*a));
        }
    }

    fn close(&mut self, opened: Vec<Var>) {
        opened.iter().for_each(|v| self.open[v.index()] = false);
    }

    /// Checks a statement's uses, and opens its definitions for later statements.
    fn stmt(&mut self, stmt: &Stmt, opened: &mut Vec<Var>) {
        walk::operands(&stmt.kind, &mut |a| self.atom(a));
        match &stmt.kind {
            StmtKind::Assign(v, _) => self.var(*v),
            StmtKind::Scan { group, .. } => {
                let view = self.view;
                view.l.groups[group.index()]
                    .vars
                    .iter()
                    .for_each(|v| self.var(*v));
            }
            StmtKind::If {
                then,
                other,
                results,
                ..
            } => {
                let mut arm = Vec::new();
                then.iter().for_each(|s| self.stmt(s, &mut arm));
                results.iter().for_each(|(_, a, _)| self.atom(*a));
                self.close(std::mem::take(&mut arm));
                other.iter().for_each(|s| self.stmt(s, &mut arm));
                results.iter().for_each(|(_, _, b)| self.atom(*b));
                self.close(arm);
            }
            StmtKind::While {
                state,
                test,
                cond,
                body,
                next,
            } => {
                let mut inner: Vec<Var> = state.iter().map(|(v, _)| *v).collect();
                inner.iter().for_each(|v| self.open[v.index()] = true);
                test.iter().for_each(|s| self.stmt(s, &mut inner));
                self.atom(*cond);
                body.iter().for_each(|s| self.stmt(s, &mut inner));
                next.iter().for_each(|a| self.atom(*a));
                self.close(inner);
            }
            _ => {}
        }
        // Variables of block statements are looked up by their sites instead.
        walk::definitions(&stmt.kind, &mut |v| {
            if self.sites[v.index()] == Definition::Inner {
                self.open[v.index()] = true;
                opened.push(v);
            }
        });
    }

    fn atom(&mut self, a: Atom) {
        if let Atom::Var(v) = a {
            self.var(v);
        }
    }

    fn var(&mut self, v: Var) {
        if self.open[v.index()] {
            return;
        }
        let message = match (self.at, self.sites[v.index()]) {
            (Definition::Block(..), Definition::Param) => return,
            (Definition::Block(b, i), Definition::Block(db, di)) => {
                if b != db && self.dominators.dominates(db, b) || b == db && di < i {
                    return;
                }
                if b == db {
                    format!("`{}` is used before it is defined", self.view.l.name(v))
                } else {
                    let (name, from) = (self.view.l.name(v), self.view.name(db));
                    format!("`{name}` may be undefined here: not every path comes through `{from}`")
                }
            }
            (_, Definition::Nowhere) => format!("`{}` is never defined", self.view.l.name(v)),
            (Definition::Block(..), _) => {
                format!(
                    "`{}` belongs to a region or function and is not visible here",
                    self.view.l.name(v)
                )
            }
            (_, Definition::Inner) => {
                format!("`{}` is not visible here", self.view.l.name(v))
            }
            _ => format!(
                "a function uses its own variables only, not `{}`",
                self.view.l.name(v)
            ),
        };
        let place = match self.at {
            Definition::Block(b, _) => self.view.name(b),
            _ => self.function.to_string(),
        };
        self.faults.add(place, message);
    }
}
