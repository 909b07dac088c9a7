//! What goes from one element to the next: folds left to right, scans.
//!
//! These statements run element by element, behind everything that vectors do. Where an update only ever
//! takes an element in the place of the old value or leaves that as it is (the farthest point so far), the
//! vector tells whether any of its elements would be taken, were it the next. If not, nothing changes, one
//! element after the other; only else do they run.

use super::body::Body;
use super::fit::Fitting;
use crate::facts;
use crate::names::Part;
use livefusion_tile::region::Statement;
use livefusion_tile::region::cost::is_cheap;
use loop_lang::ir::{Atom, GroupId, Order, Stmt, StmtKind, Type, Var};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// The statements of a loop that run element by element.
#[derive(Clone)]
pub struct Chain {
    /// The subrate that they are in, by the step that enters it.
    pub sub: Option<usize>,
    /// Carried variables that they update.
    vars: BTreeSet<Var>,
    /// Vectors that they read.
    pub inputs: BTreeSet<Var>,
    /// What they make and vectors write.
    exports: BTreeSet<Var>,
    /// The statements, those in regions included.
    held: FxHashSet<usize>,
    /// Whether they may run for rejected elements, too.
    cheap: bool,
    /// When an element changes anything, if that can be told.
    change: Option<Change>,
    /// What is to be computed to tell.
    tests: FxHashSet<Var>,
}

/// When an update changes a variable.
#[derive(Clone, PartialEq)]
enum Change {
    Never,
    Always,
    If(Atom, Box<Change>, Box<Change>),
}

/// How deep conditions may be nested.
const MAX_CHANGE: usize = 16;

impl Chain {
    /// The chain that updates the variables, if it can be told apart from the rest.
    pub(super) fn of(fitting: &Fitting, vars: FxHashSet<Var>) -> Option<Chain> {
        let chained = fitting.chained(&vars);
        let tops = fitting.sweep.all_tops();
        let tops: Vec<&Statement> = tops.filter(|s| fitting.is_chained(s, &chained)).collect();
        let sub = tops.first()?.sub;
        if tops.iter().any(|i| i.sub != sub) || fitting.leaves_any(&chained) {
            return None;
        }
        let mut chain = Chain {
            sub,
            vars: vars.iter().copied().collect(),
            inputs: BTreeSet::new(),
            exports: BTreeSet::new(),
            held: FxHashSet::default(),
            cheap: true,
            change: None,
            tests: FxHashSet::default(),
        };
        let mut fits = true;
        for top in &tops {
            for s in fitting.sweep.within(top) {
                chain.held.insert(s.id);
                fits &= chain.take(fitting, s.stmt, &chained);
            }
        }
        for i in &fitting.sweep.statements {
            if let StmtKind::WriteArray(_, index, x) = i.stmt.kind {
                let is_chained = |a: &Atom| matches!(a, Atom::Var(v) if chained.contains(v));
                fits &= !is_chained(&index);
                if let Some(Atom::Var(x)) = Some(x).filter(is_chained) {
                    // The old value of a variable is gone when vectors write.
                    fits &= !vars.contains(&x);
                    chain.exports.insert(x);
                }
            }
        }
        chain.find_change(fitting, &vars);
        fits.then_some(chain)
    }

    /// Notes what a statement of the chain needs; whether it may be in a chain.
    fn take(&mut self, fitting: &Fitting, s: &Stmt, chained: &FxHashSet<Var>) -> bool {
        facts::each_use(s, &mut |v| {
            let scalar = matches!(fitting.program().ty(v), Type::Scalar(_));
            let outer = fitting.sweep.scalars.contains(&v) || v == fitting.sweep.counter;
            if scalar && !outer && !chained.contains(&v) {
                self.inputs.insert(v);
            }
        });
        self.cheap &= match &s.kind {
            StmtKind::Assign(..) => true,
            StmtKind::Let(..) => is_cheap(fitting.program(), s),
            _ => false,
        };
        matches!(
            s.kind,
            StmtKind::Assign(..)
                | StmtKind::Let(..)
                | StmtKind::If { .. }
                | StmtKind::While { .. }
                | StmtKind::Scan { .. }
                | StmtKind::ReadArray(..)
                | StmtKind::ArrayLength(..)
                | StmtKind::Trap { .. }
        )
    }

    /// Whether a statement is the chain's.
    pub(super) fn holds(&self, s: &Statement) -> bool {
        self.held.contains(&s.id)
    }

    /// Whether a variable is carried by the chain.
    pub(super) fn carries(&self, v: Var) -> bool {
        self.vars.contains(&v)
    }

    /// Whether the chain makes a variable's vector.
    pub(super) fn exports(&self, v: Var) -> bool {
        self.exports.contains(&v)
    }

    /// Whether a statement of vectors waits for the chain.
    pub(super) fn comes_before(&self, s: &Stmt) -> bool {
        matches!(s.kind, StmtKind::WriteArray(_, _, Atom::Var(x)) if self.exports(x))
    }

    /// Finds out when an element changes anything.
    fn find_change(&mut self, fitting: &Fitting, vars: &FxHashSet<Var>) {
        let mut made: FxHashMap<Var, (Atom, Atom, Atom)> = FxHashMap::default();
        let all = &fitting.sweep.statements;
        let held = || all.iter().filter(|s| self.holds(s));
        for i in held() {
            match &i.stmt.kind {
                StmtKind::If { cond, results, .. } => {
                    let arms = results.iter().map(|(v, a, b)| (*v, (*cond, *a, *b)));
                    made.extend(arms);
                }
                StmtKind::Let(v, Op::Select, args) => {
                    made.insert(*v, (args[0], args[1], args[2]));
                }
                _ => {}
            }
        }
        let mut changes: Vec<Change> = Vec::new();
        for i in held() {
            match &i.stmt.kind {
                StmtKind::Assign(v, next) => {
                    let change = change(fitting, &made, *v, *next, MAX_CHANGE);
                    if !changes.contains(&change) {
                        changes.push(change);
                    }
                }
                StmtKind::Let(..) | StmtKind::If { .. } => {}
                _ => return,
            }
        }
        changes.retain(|c| *c != Change::Never);
        let joined = changes.into_iter().reduce(|a, b| {
            // Changes under one condition differ in their arms at most.
            match (a, b) {
                (Change::If(c, x, y), Change::If(d, z, w)) if c == d => {
                    Change::If(c, Box::new(x.or(*z)), Box::new(y.or(*w)))
                }
                (a, b) => a.or(b),
            }
        });
        let Some(joined) = joined.filter(|c| *c != Change::Always) else {
            return;
        };
        let mut tests = FxHashSet::default();
        joined.each_test(&mut |v| {
            tests.insert(v);
        });
        let mut cheap = true;
        for i in held().rev() {
            let mut wanted = false;
            facts::each_def(i.stmt, &mut |v| wanted |= tests.contains(&v));
            if wanted {
                cheap &= matches!(i.stmt.kind, StmtKind::If { .. })
                    || is_cheap(fitting.program(), i.stmt);
                facts::each_use(i.stmt, &mut |v| {
                    tests.insert(v);
                });
            }
        }
        let exported = self.exports.is_empty();
        let whole = vars.iter().all(|v| {
            let order = fitting.region.facts.local_group(fitting.program(), *v);
            !matches!(order, Some((_, _, Order::Prefix(_) | Order::Lanes(2..))))
        });
        if cheap && exported && whole && self.sub.is_some() {
            self.change = Some(joined);
            self.tests = tests;
        }
    }
}

/// When `v := next` changes `v`.
fn change(
    fitting: &Fitting,
    made: &FxHashMap<Var, (Atom, Atom, Atom)>,
    v: Var,
    next: Atom,
    depth: usize,
) -> Change {
    if next == Atom::Var(v) {
        return Change::Never;
    }
    let truth = Atom::Const(Const::bool(true));
    if next == truth && fitting.program().atom_ty(next) == Ty::Bool {
        return Change::If(
            Atom::Var(v),
            Box::new(Change::Never),
            Box::new(Change::Always),
        );
    }
    let arms = match next {
        Atom::Var(n) => made.get(&n),
        Atom::Const(_) => None,
    };
    match arms {
        Some((cond, a, b)) if depth > 0 => {
            let arm = |next: &Atom| Box::new(change(fitting, made, v, *next, depth - 1));
            let (yes, no) = (arm(a), arm(b));
            match yes == no {
                true => *yes,
                false => Change::If(*cond, yes, no),
            }
        }
        _ => Change::Always,
    }
}

impl Change {
    fn or(self, other: Change) -> Change {
        match (self, other) {
            (Change::Never, x) | (x, Change::Never) => x,
            (a, b) if a == b => a,
            (Change::If(c, x, y), Change::If(d, z, w)) if c == d => {
                Change::If(c, Box::new(x.or(*z)), Box::new(y.or(*w)))
            }
            _ => Change::Always,
        }
    }

    fn each_test(&self, f: &mut impl FnMut(Var)) {
        if let Change::If(c, yes, no) = self {
            if let Atom::Var(v) = c {
                f(*v);
            }
            yes.each_test(f);
            no.each_test(f);
        }
    }
}

impl Body<'_, '_> {
    /// The chain's variables as scalars of the function, where they are a lane in memory.
    pub(super) fn chain_lanes(&mut self) -> Vec<(String, String)> {
        let Some(chain) = &self.vectors.chain else {
            return Vec::new();
        };
        let mut pairs = Vec::new();
        for v in &chain.vars {
            let group = self.unit.facts.local_group(self.unit.program, *v);
            if let Some((g, _, Order::Lanes(1) | Order::Runs(_))) = group {
                let ty = facts::elem(self.unit.program, *v);
                let name = self.unit.names.var(*v);
                pairs.push((format!("{} {name}", ty.name()), self.unit.lane(g, *v)));
            }
        }
        pairs
    }

    /// The chain's variables of which each element has its own lane.
    fn dealt(&self, chain: &Chain) -> Vec<(GroupId, Var)> {
        let mut dealt = Vec::new();
        for v in &chain.vars {
            let group = self.unit.facts.local_group(self.unit.program, *v);
            if let Some((g, _, Order::Lanes(2..))) = group {
                dealt.push((g, *v));
            }
        }
        dealt
    }

    /// Runs the chain behind a vector.
    pub(super) fn run_chain(&mut self) {
        let Some(chain) = &self.vectors.chain else {
            return;
        };
        for v in &chain.exports {
            let vector = self.vector_of(facts::elem(self.unit.program, *v));
            let name = self.export(*v);
            self.unit.line(format!("{vector} {name} = {{0}};"));
        }
        self.unit.open("{");
        match &chain.change {
            Some(change) => {
                self.chain_tests(chain);
                let change = self.changes(change).unwrap_or_default();
                let bits = self.shape.bits(self.unit.helpers);
                let kept = self.kept(chain.sub);
                self.unit.open(format!(
                    "if (__builtin_expect(({bits}({change}) & {kept}) != 0, 0)) {{"
                ));
                self.chain_by_element(chain, true);
                self.unit.close();
            }
            None => self.chain_by_element(chain, false),
        }
        self.unit.close();
    }

    /// What tells whether anything changes, as if each element were the next.
    fn chain_tests(&mut self, chain: &Chain) {
        for s in self.plan.sweep.all_tops() {
            if chain.holds(s) && !matches!(s.stmt.kind, StmtKind::Assign(..)) {
                self.wanted(s.stmt, &chain.tests);
            }
        }
    }

    /// The values that change something, as a mask; none if nothing does.
    fn changes(&mut self, change: &Change) -> Option<String> {
        let mask = self.shape.mask(self.unit.helpers);
        match change {
            Change::Never => None,
            Change::Always => Some(format!("~({mask}){{0}}")),
            Change::If(c, yes, no) => {
                let test = self.value(*c);
                match (&**yes, &**no) {
                    (Change::Always, no) => match self.changes(no) {
                        None => Some(test),
                        Some(no) => Some(format!("({test} | {no})")),
                    },
                    (yes, Change::Always) => match self.changes(yes) {
                        None => Some(format!("~{test}")),
                        Some(yes) => Some(format!("(~{test} | {yes})")),
                    },
                    (yes, no) => {
                        let yes = self.changes(yes).map(|y| format!("({test} & {y})"));
                        let no = self.changes(no).map(|n| format!("(~{test} & {n})"));
                        match (yes, no) {
                            (Some(y), Some(n)) => Some(format!("({y} | {n})")),
                            (one, other) => one.or(other),
                        }
                    }
                }
            }
        }
    }

    /// The name of a vector that the chain fills.
    pub(super) fn export(&self, v: Var) -> String {
        format!("lf_made_{}", v.index())
    }

    /// Runs the chain's statements, one element after the other.
    fn chain_by_element(&mut self, chain: &Chain, rare: bool) {
        let elements = self.shape.elements(self.unit.helpers);
        let counter = self.unit.names.var(self.plan.sweep.counter).to_string();
        let kept = chain.sub.map(|_| self.kept(chain.sub));
        for v in &chain.inputs {
            let vector = self.vector_of(facts::elem(self.unit.program, *v));
            let name = self.unit.names.var(*v).to_string();
            self.unit
                .line(format!("const {vector} lf_from_{} = {name};", v.index()));
        }
        self.unit.line(format!("const u64 lf_first = {counter};"));
        // A branch per element costs more than the statements, unless it is nearly never asked.
        let masked = chain.cheap && !rare;
        match &kept {
            Some(kept) if !masked => {
                self.unit.open(format!(
                    "for (u64 lf_left = {kept}; lf_left != 0; lf_left &= lf_left - 1) {{"
                ));
                self.unit.line("const u64 lf_k = __builtin_ctzl(lf_left);");
            }
            _ => self
                .unit
                .open(format!("for (u64 lf_k = 0; lf_k < {elements}; lf_k++) {{")),
        }
        if let Some(kept) = kept.filter(|_| masked) {
            self.unit
                .line(format!("const bool admitted = {kept} >> lf_k & 1;"));
            self.unit.admits = true;
        }
        self.unit
            .line(format!("const u64 {counter} = lf_first + lf_k;"));
        for v in &chain.inputs {
            let ty = facts::elem(self.unit.program, *v);
            let name = self.unit.names.var(*v).to_string();
            let bit = if ty == Ty::Bool { " & 1" } else { "" };
            self.unit.line(format!(
                "const {} {name} = lf_from_{}[lf_k]{bit};",
                ty.name(),
                v.index()
            ));
        }
        let dealt = self.dealt(chain);
        self.plan.open_lane_vars(self.unit, &dealt);
        self.chain_stmts(chain);
        self.plan.close_lane_vars(self.unit, &dealt, None);
        self.unit.admits = false;
        for v in &chain.exports {
            let ty = facts::elem(self.unit.program, *v);
            let sign = if ty == Ty::Bool { "-" } else { "" };
            let (to, name) = (self.export(*v), self.unit.names.var(*v).to_string());
            self.unit.line(format!("{to}[lf_k] = {sign}{name};"));
        }
        self.unit.close();
    }

    fn chain_stmts(&mut self, chain: &Chain) {
        let pending = self.unit.facts.pending.get(&self.plan.sweep.rate);
        let pending: Vec<Var> = pending
            .into_iter()
            .flatten()
            .filter(|v| chain.vars.contains(v))
            .copied()
            .collect();
        let parts: Vec<(Ty, String, String)> = pending
            .iter()
            .map(|v| {
                let next = self.unit.names.part(*v, Part::Next);
                let ty = facts::elem(self.unit.program, *v);
                (ty, next.to_string(), self.unit.current(*v))
            })
            .collect();
        for (ty, next, now) in &parts {
            self.unit.line(format!("{} {next} = {now};", ty.name()));
        }
        self.unit.comb = None;
        for s in self.plan.sweep.all_tops().filter(|s| chain.holds(s)) {
            self.unit.stmts(std::slice::from_ref(s.stmt));
        }
        for (_, next, now) in &parts {
            self.unit.line(format!("{now} = {next};"));
        }
    }
}
