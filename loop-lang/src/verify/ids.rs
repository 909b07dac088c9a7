//! Ids are in their tables and regions are not too deep: all other checks rely on that.

use super::Faults;
use crate::ir::*;
use crate::walk;

pub(super) fn check(l: &Loop, faults: &mut Faults) {
    let mut ids = Ids {
        l,
        faults,
        place: "loop".into(),
    };
    ids.declarations();
    for function in &l.functions {
        ids.place.clone_from(&function.name);
        ids.comb(function.comb);
        function.params.iter().for_each(|v| ids.var(*v));
        ids.stmts(&function.body);
        function.results.iter().for_each(|a| ids.atom(*a));
    }
    for (slot, (labels, block)) in l.blocks.iter().enumerate() {
        ids.place = format!("block {slot}");
        labels.iter().for_each(|label| ids.comb(label.comb));
        ids.stmts(&block.stmts);
        for exit in &block.exits {
            ids.comb(exit.comb);
            ids.atom(exit.unless);
            exit.target.iter().for_each(|t| ids.comb(t.comb));
        }
        match &block.end {
            End::Open => {}
            End::Goto(label) => ids.comb(label.comb),
            End::Branch(cond, yes, no) => {
                ids.atom(*cond);
                ids.comb(yes.comb);
                ids.comb(no.comb);
            }
            End::Return(results) => results.iter().for_each(|a| ids.atom(*a)),
        }
    }
}

struct Ids<'a, 'f> {
    l: &'a Loop,
    faults: &'f mut Faults,
    place: String,
}

impl Ids<'_, '_> {
    fn declarations(&mut self) {
        let l = self.l;
        for comb in &l.combs {
            comb.slot.iter().for_each(|h| self.rate(h.rate));
        }
        for param in &l.params {
            self.var(param.var);
            if let ParamKind::Stream(r) = param.kind {
                self.rate(r);
            }
        }
        for rate in &l.rates {
            self.place.clone_from(&rate.name);
            rate.kind.parent().iter().for_each(|r| self.rate(*r));
            rate.kind.counter().iter().for_each(|v| self.var(*v));
            rate.kind.bound().iter().for_each(|a| self.atom(*a));
            if let RateKind::Sub { count: Some(v), .. } = rate.kind {
                self.var(v);
            }
            for part in &rate.parts {
                if let Part::Child(c) = part {
                    self.rate(*c);
                }
            }
        }
        self.place = "loop".into();
        l.roots.iter().for_each(|r| self.rate(*r));
        for group in &l.groups {
            group.vars.iter().for_each(|v| self.var(*v));
            self.rate(group.owner);
            self.rate(group.step);
            let atoms = group.start.iter().chain(&group.identity).chain(&group.next);
            atoms.for_each(|a| self.atom(*a));
            group.combine.iter().for_each(|c| self.combine(*c));
        }
        l.traps.iter().for_each(|t| self.comb(t.comb));
    }

    /// Walks with an explicit stack, since regions may have any depth here.
    fn stmts(&mut self, stmts: &[Stmt]) {
        let mut stack: Vec<(&[Stmt], usize)> = vec![(stmts, 0)];
        while let Some((stmts, depth)) = stack.pop() {
            if depth > MAX_REGION_DEPTH {
                self.add(format!("regions nest deeper than {MAX_REGION_DEPTH}"));
                return;
            }
            for stmt in stmts {
                self.stmt(stmt);
                if matches!(stmt.kind, StmtKind::If { .. } | StmtKind::While { .. }) {
                    stack.extend(walk::regions(&stmt.kind).map(|r| (r, depth + 1)));
                }
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.comb(stmt.comb);
        walk::operands(&stmt.kind, &mut |a| self.atom(a));
        walk::handed_out(&stmt.kind, &mut |a| self.atom(a));
        walk::definitions(&stmt.kind, &mut |v| self.var(v));
        match &stmt.kind {
            StmtKind::Assign(v, _) => self.var(*v),
            StmtKind::Scan { group, .. } => self.id("group", group.index(), self.l.groups.len()),
            StmtKind::ScatterArray { combine, .. } => combine.iter().for_each(|c| self.combine(*c)),
            StmtKind::Trap { trap, .. } => self.id("trap", trap.index(), self.l.traps.len()),
            _ => {}
        }
    }

    fn id(&mut self, what: &str, index: usize, len: usize) {
        if index >= len {
            self.add(format!("there is no {what} number {index}"));
        }
    }

    fn add(&mut self, message: String) {
        self.faults.add(self.place.clone(), message);
    }

    fn comb(&mut self, c: CombId) {
        self.id("combinator", c.index(), self.l.combs.len());
    }

    fn var(&mut self, v: Var) {
        self.id("variable", v.index(), self.l.vars.len());
    }

    fn atom(&mut self, a: Atom) {
        if let Atom::Var(v) = a {
            self.var(v);
        }
    }

    fn rate(&mut self, r: RateId) {
        self.id("rate", r.index(), self.l.rates.len());
    }

    fn combine(&mut self, combine: Combine) {
        if let Combine::Fn(f) = combine {
            self.id("function", f.index(), self.l.functions.len());
        }
    }
}
