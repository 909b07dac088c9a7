//! Carried groups: where they start, how elements are joined onto them.

use super::unit::{Mode, Unit};
use crate::names::Facet;
use loop_lang::ir::{Atom, Combine, GroupId, Order, Var};
use loop_lang::types::{Const, Ty};

impl Unit<'_> {
    /// Where an update of `v` goes now: the value itself, or a variable that waits for the guard.
    pub(super) fn target(&self, v: Var) -> String {
        let at_end = self.facts.waits_at_end(self.place, v);
        let waits = at_end.unwrap_or_else(|| self.facts.waits(self.loop_rate(), v));
        if waits {
            return self.names.facet(v, Facet::Next).to_string();
        }
        self.current(v)
    }

    /// Where the value of `v` is that an update replaces.
    pub fn current(&self, v: Var) -> String {
        match self.facts.local_group(self.program, v) {
            Some((_, _, Order::Prefix(_))) => self.names.facet(v, Facet::Now).to_string(),
            Some((g, ..)) if matches!(self.mode, Mode::Machine) => self.lane(g, v),
            _ => self.names.var(v).to_string(),
        }
    }

    pub(super) fn carry(&mut self, v: Var, start: Atom) {
        let (name, start) = (self.names.var(v).to_string(), self.atom(start));
        self.line(format!("{name} = {start};"));
        if let Some((g, i, order)) = self.facts.local_group(self.program, v) {
            if let Order::Prefix(_) = order {
                let now = self.names.facet(v, Facet::Now);
                self.line(format!("{now} = {name};"));
            }
            self.reset(g, i);
        }
        self.follow(v, &name);
    }

    /// The identity of a group's `i`-th variable.
    pub(super) fn identity(&mut self, g: GroupId, i: usize) -> String {
        let group = &self.program.groups[g.index()];
        let zero = Atom::Const(Const::zero(self.program.ty(group.vars[i]).elem()));
        self.atom(group.identity.get(i).copied().unwrap_or(zero))
    }

    /// Sets the local part of a group's `i`-th variable to the identity.
    pub fn reset(&mut self, g: GroupId, i: usize) {
        let identity = self.identity(g, i);
        let group = &self.program.groups[g.index()];
        let v = group.vars[i];
        let facet = |f| self.names.facet(v, f);
        let lines = match (group.order.lanes(), group.order) {
            (Some(l), _) => {
                let ty = self.program.ty(v).elem().name();
                let fill = format!("lf_fill_{l}_{ty}");
                // A function of its own: where it is called, the compiler may not try as hard.
                self.helpers.require(&fill, || {
                    format!(
                        "static __attribute__((noinline)) void {fill}({ty} *to, {ty} x) {{\n  \
                         for (u64 l = 0; l < {l}; l++) to[l] = x;\n}}\n"
                    )
                });
                vec![format!("{fill}({}, {identity});", facet(Facet::Lanes))]
            }
            (None, Order::Prefix(l)) => {
                let (total, last, tree) =
                    (facet(Facet::Total), facet(Facet::Last), facet(Facet::Tree));
                let mut lines = vec![format!("{total} = {last} = {identity};")];
                if l > 1 {
                    let log = l.trailing_zeros();
                    lines.push(format!(
                        "for (u64 k = 0; k < {log}; k++) {tree}[k] = {identity};"
                    ));
                }
                lines
            }
            (None, _) => Vec::new(),
        };
        lines.iter().for_each(|l| self.line(l));
    }

    /// Joins elements onto a `Prefix` group: a tree inside of a block, blocks left to right.
    pub(super) fn scan(&mut self, results: &[Var], g: GroupId, elems: &[Atom]) {
        let group = &self.program.groups[g.index()];
        let Order::Prefix(l) = group.order else {
            return;
        };
        for v in results {
            if !matches!(self.mode, Mode::Machine) {
                let text = self.define(*v);
                self.line(format!("{text};"));
            }
        }
        self.open("{");
        let types: Vec<Ty> = group
            .vars
            .iter()
            .map(|v| self.program.ty(*v).elem())
            .collect();
        let sums: Vec<String> = (0..types.len()).map(|i| format!("lf_sum_{i}")).collect();
        for (i, a) in elems.iter().enumerate() {
            let value = self.atom(*a);
            self.line(format!("{} {} = {value};", types[i].name(), sums[i]));
        }
        let all = |unit: &Self, facet: Facet, index: &str| -> Vec<String> {
            group
                .vars
                .iter()
                .map(|v| format!("{}{index}", unit.names.facet(*v, facet)))
                .collect()
        };
        let (totals, lasts) = (all(self, Facet::Total, ""), all(self, Facet::Last, ""));
        let nows: Vec<String> = group.vars.iter().map(|v| self.target(*v)).collect();
        let prefixes: Vec<String> = group
            .vars
            .iter()
            .map(|v| self.names.var(*v).to_string())
            .collect();
        if l > 1 {
            let tree = all(self, Facet::Tree, "[k]");
            let index = self.lane_index(g, l);
            self.line(format!("u64 lf_at = {index};"));
            self.open(format!(
                "for (u64 k = 0; k < {}; k++) {{",
                l.trailing_zeros()
            ));
            self.open("if (lf_at >> k & 1) {");
            self.combine(group.combine, &sums, &tree, &sums, &types);
            self.depth -= 1;
            self.open("} else {");
            for (entry, sum) in tree.iter().zip(&sums) {
                self.line(format!("{entry} = {sum};"));
            }
            self.close();
            self.close();
        }
        self.combine(group.combine, &lasts, &totals, &sums, &types);
        let outs: Vec<String> = results
            .iter()
            .map(|v| self.names.var(*v).to_string())
            .collect();
        self.combine(group.combine, &outs, &prefixes, &lasts, &types);
        for ((now, out), v) in nows.iter().zip(&outs).zip(&group.vars) {
            self.line(format!("{now} = {out};"));
            self.follow(*v, now);
        }
        for (total, last) in totals.iter().zip(&lasts) {
            match l {
                1 => self.line(format!("{total} = {last};")),
                _ => self.line(format!("if (lf_at == {}) {total} = {last};", l - 1)),
            }
        }
        self.close();
    }

    /// `dests = left (+) right`, all places and values of the given types.
    pub fn combine(
        &mut self,
        combine: Option<Combine>,
        dests: &[String],
        left: &[String],
        right: &[String],
        types: &[Ty],
    ) {
        match combine {
            Some(Combine::Op(op)) => {
                for (i, ty) in types.iter().enumerate() {
                    let operands = [left[i].clone(), right[i].clone()];
                    let value = self.helpers.op(op, *ty, *ty, &operands);
                    self.line(format!("{} = {value};", dests[i]));
                }
            }
            Some(Combine::Fn(f)) => {
                let name = self.names.function(f.index()).to_string();
                let mut args = self.function_args(match self.mode {
                    Mode::Function => "trapped",
                    _ => "&trapped",
                });
                args.extend(dests.iter().map(|d| format!("&{d}")));
                args.extend(left.iter().chain(right).cloned());
                self.line(format!("{name}({});", args.join(", ")));
            }
            None => dests
                .iter()
                .zip(right)
                .for_each(|(d, r)| self.line(format!("{d} = {r};"))),
        }
    }
}
