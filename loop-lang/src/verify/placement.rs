//! Placement of statements, and restrictions on arrays.

use super::Faults;
use super::view::View;
use crate::ir::*;
use crate::walk;

pub(super) fn check(view: &View, faults: &mut Faults) {
    let mut placement = Placement {
        view,
        faults,
        carried: vec![false; view.l.vars.len()],
        made: vec![false; view.l.vars.len()],
        last_use: vec![(0, 0); view.l.vars.len()],
    };
    placement.collect();
    placement.scratch();
    for b in 0..view.blocks.len() {
        placement.block(b);
    }
    for function in &view.l.functions {
        for stmt in &function.body {
            placement.pure(stmt, &function.name);
        }
    }
}

struct Placement<'a, 'f> {
    view: &'a View<'a>,
    faults: &'f mut Faults,
    carried: Vec<bool>,
    /// Arrays made by the loop.
    made: Vec<bool>,
    /// The last statement, in execution order, that uses each variable: block and position.
    last_use: Vec<(usize, usize)>,
}

impl Placement<'_, '_> {
    fn collect(&mut self) {
        for (b, placed) in self.view.blocks.iter().enumerate() {
            for (i, stmt) in placed.block.stmts.iter().enumerate() {
                match stmt.kind {
                    StmtKind::Carry(v, _) => self.carried[v.index()] = true,
                    StmtKind::NewArray(v, _)
                    | StmtKind::FillArray(v, ..)
                    | StmtKind::CopyArray(v, _) => self.made[v.index()] = true,
                    _ => {}
                }
                let last_use = &mut self.last_use;
                let mut used = |a| note(last_use, a, (b, i));
                walk::summary(stmt, &mut used, &mut |_| {});
            }
            if let End::Return(results) = &placed.block.end {
                let end = (b, placed.block.stmts.len());
                results
                    .iter()
                    .for_each(|a| note(&mut self.last_use, *a, end));
            }
        }
    }

    /// Checks that scratch arrays are made before all iterations, and have only the permitted uses.
    fn scratch(&mut self) {
        let l = self.view.l;
        if !l.vars.iter().any(|v| v.scratch) {
            return;
        }
        let params = l.params.iter().map(|p| p.var);
        let (mut misused, mut strange): (Vec<_>, Vec<Var>) = (Vec::new(), params.collect());
        for (b, placed) in self.view.blocks.iter().enumerate() {
            let iterates = in_iteration(l, placed.place);
            let mut used = |a: Atom| {
                let scratch = a.var().filter(|v| l.is_scratch(*v));
                misused.extend(scratch.map(|v| (b, v)));
            };
            for stmt in &placed.block.stmts {
                walk::each(stmt, &mut |s| match &s.kind {
                    StmtKind::NewArray(_, n) if placed.place == Place::Init => used(*n),
                    StmtKind::ReadArray(v, _, i) if iterates => {
                        strange.push(*v);
                        used(*i);
                    }
                    StmtKind::WriteArray(_, i, x) if iterates => {
                        [*i, *x].into_iter().for_each(&mut used);
                    }
                    StmtKind::SortArrays(_, n) if iterates => used(*n),
                    kind => {
                        walk::operands(kind, &mut used);
                        walk::handed_out(kind, &mut used);
                        walk::definitions(kind, &mut |v| strange.push(v));
                    }
                });
            }
            walk::leaving(placed.block, &mut used);
        }
        for (b, v) in misused {
            let message = "is scratch, which iterations read, write and sort, and nobody else uses";
            self.add(b, format!("`{}` {message}", l.name(v)));
        }
        for v in strange.into_iter().filter(|v| l.is_scratch(*v)) {
            let message = "a scratch array is made by `newArray` in `init`";
            self.faults.add(l.name(v), message);
        }
    }

    fn add(&mut self, b: usize, message: String) {
        self.faults.add(self.view.name(b), message);
    }

    fn block(&mut self, b: usize) {
        let view = self.view;
        let placed = &view.blocks[b];
        for (i, stmt) in placed.block.stmts.iter().enumerate() {
            self.block_stmt(b, i, stmt);
            for region in walk::regions(&stmt.kind) {
                for inner in region {
                    self.inner(b, inner);
                }
            }
            walk::each(stmt, &mut |s| self.stream(b, s));
        }
    }

    /// Checks a statement directly in a block.
    fn block_stmt(&mut self, b: usize, i: usize, stmt: &Stmt) {
        let place = self.view.blocks[b].place;
        let name = |v: Var| self.view.l.name(v);
        match &stmt.kind {
            StmtKind::Carry(v, _) => {
                let start = place == Place::Init || is_section(place, Section::Nest);
                if !start {
                    self.add(
                        b,
                        format!("`carry {}`: only `init` and `nest` carry", name(*v)),
                    );
                }
            }
            StmtKind::Assign(v, _) if !self.carried[v.index()] => {
                self.add(b, format!("`{}` is assigned but not carried", name(*v)));
            }
            StmtKind::NewArray(v, _) | StmtKind::FillArray(v, ..) | StmtKind::CopyArray(v, _) => {
                let outside = matches!(place, Place::Init | Place::Return)
                    || is_section(place, Section::Nest)
                    || is_section(place, Section::Done);
                if !outside {
                    let message = "arrays are made in `init`, `nest` or `done`";
                    self.add(b, format!("`{}`: {message}", name(*v)));
                }
            }
            StmtKind::SliceArray(v, a, _) => self.slice(b, i, *v, *a),
            StmtKind::WriteArray(a, ..) => self.written(b, *a),
            StmtKind::ScatterArray { arrays, .. } | StmtKind::SortArrays(arrays, _) => {
                arrays.iter().for_each(|a| self.written(b, *a))
            }
            _ => {}
        }
    }

    /// Checks that a slice runs once, so that later statements in execution order run afterwards.
    fn slice(&mut self, b: usize, i: usize, v: Var, a: Var) {
        let l = self.view.l;
        if self.view.param[a.index()].is_some() {
            let message = "is sliced, but the loop has not made it";
            self.add(b, format!("`{}` {message}", l.name(a)));
        }
        let once = match self.view.blocks[b].place {
            Place::Init | Place::Return => true,
            Place::At { rate, section, .. } => {
                section == Section::Done && l.rate(rate).kind.parent().is_none()
            }
        };
        if !once {
            let message = "arrays are sliced in `init` or in a root's `done`";
            self.add(b, format!("`{}`: {message}", l.name(v)));
        } else if self.last_use[a.index()] > (b, i) {
            self.add(
                b,
                format!("`{}` is used after it has been sliced", l.name(a)),
            );
        }
    }

    fn written(&mut self, b: usize, a: Var) {
        if !self.made[a.index()] {
            let name = self.view.l.name(a);
            self.add(
                b,
                format!("`{name}` is written, but the loop has not made it"),
            );
        }
    }

    /// Checks a statement in a region.
    fn inner(&mut self, b: usize, stmt: &Stmt) {
        let quiet = matches!(
            stmt.kind,
            StmtKind::Let(..)
                | StmtKind::ReadArray(..)
                | StmtKind::ArrayLength(..)
                | StmtKind::Trap { .. }
                | StmtKind::If { .. }
                | StmtKind::While { .. }
        );
        if !quiet {
            self.add(
                b,
                "a region computes, reads and traps, and does nothing else".into(),
            );
        }
        for region in walk::regions(&stmt.kind) {
            region.iter().for_each(|s| self.inner(b, s));
        }
    }

    /// Checks that a stream is read at its rate's counter, within the rate.
    fn stream(&mut self, b: usize, stmt: &Stmt) {
        let StmtKind::ReadArray(_, a, index) = stmt.kind else {
            return;
        };
        let Some(ParamKind::Stream(rate)) = self.view.param[a.index()] else {
            return;
        };
        let (l, place) = (self.view.l, self.view.blocks[b].place);
        let counter = l.rate(rate).kind.counter();
        if counter.map(Atom::Var) != Some(index) || !self.view.within(place, rate) {
            let (array, rate) = (l.name(a), &l.rate(rate).name);
            self.add(
                b,
                format!("`{array}` is read elsewhere than at the counter of `{rate}`"),
            );
        }
    }

    /// Checks a statement in a function.
    fn pure(&mut self, stmt: &Stmt, name: &str) {
        let pure = matches!(
            stmt.kind,
            StmtKind::Let(..)
                | StmtKind::Trap { .. }
                | StmtKind::If { .. }
                | StmtKind::While { .. }
        );
        if !pure {
            self.faults
                .add(name, "functions hold `let`, `trap`, `if` and `while` only");
        }
        for region in walk::regions(&stmt.kind) {
            region.iter().for_each(|s| self.pure(s, name));
        }
    }
}

fn note(last_use: &mut [(usize, usize)], a: Atom, at: (usize, usize)) {
    if let Atom::Var(v) = a {
        let slot = &mut last_use[v.index()];
        *slot = at.max(*slot);
    }
}

fn is_section(place: Place, wanted: Section) -> bool {
    matches!(place, Place::At { section, .. } if section == wanted)
}

/// Tells whether iterations of a root execute a place.
fn in_iteration(l: &Loop, place: Place) -> bool {
    let Place::At { rate, section, .. } = place else {
        return false;
    };
    let outside = matches!(section, Section::Nest | Section::Guard | Section::Done);
    !(outside && l.rate(rate).kind.parent().is_none())
}
