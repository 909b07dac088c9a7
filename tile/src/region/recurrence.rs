//! Recurrences: serial statements of an innermost loop, separated from the vectorisable rest.
//!
//! Examples are left-to-right folds and scans of filtered elements. The rest runs in vectors. The
//! recurrence's statements run lane by lane, after their operands and before their uses.

use super::{InnerLoop, Region, Role, Statement};
use livefusion_backend::facts;
use loop_lang::ir::{Atom, Order, Stmt, StmtKind, Type, Var};
use loop_lang::op::Op;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// The maximum depth of selections that are followed.
const MAX_PICKS: usize = 16;

/// Holds the statements of an innermost loop that form a recurrence.
///
/// Statements are identified by position.
#[derive(Clone, Debug)]
pub struct Recurrence {
    /// The subrate of the statements, as the step that enters it.
    pub sub: Option<usize>,
    /// The loop-carried variables.
    pub vars: BTreeSet<Var>,
    /// The statements, without those in their regions.
    pub held: BTreeSet<usize>,
    /// Dependents of the recurrence outside it.
    pub behind: BTreeSet<usize>,
    /// Operands that the rest of the loop defines.
    pub inputs: BTreeSet<Var>,
    /// Results and loop-carried values with later uses.
    pub exports: BTreeSet<Var>,
    /// Conditions under which an element changes the carried values, if changes are rare.
    pub changes: Option<Vec<Change>>,
}

/// Describes when an element changes the carried values.
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    /// Never.
    Never,
    /// Always.
    Always,
    /// If the variable's next value differs from its current one.
    Differs(Var, Atom),
    /// The first if a condition holds, otherwise the second.
    If(Atom, Box<Change>, Box<Change>),
}

impl Change {
    /// Tells whether this change occurs whenever the other does, judged by their form.
    fn covers(&self, other: &Change) -> bool {
        match (self, other) {
            (Change::Always, _) | (_, Change::Never) => true,
            (Change::If(a, yes, no), Change::If(b, then, otherwise)) if a == b => {
                yes.covers(then) && no.covers(otherwise)
            }
            (one, other) => one == other,
        }
    }
}

impl Region<'_> {
    /// Returns the recurrence of an innermost loop, if it has one.
    ///
    /// # Errors
    ///
    /// Returns the rule that keeps it from being separated from the rest.
    pub fn recurrence(&self, inner_loop: &InnerLoop) -> Result<Option<Recurrence>, &'static str> {
        let serial = |role: &Role| matches!(role, Role::Serial | Role::Scan(1));
        let vars = inner_loop.roles.iter().filter(|(_, role)| serial(role));
        let mut vars: BTreeSet<Var> = vars.map(|(v, _)| *v).collect();
        let flags = self.flags(inner_loop)?;
        vars.retain(|v| !flags.vars.contains(v));
        if vars.is_empty() {
            return Ok(None);
        }
        let runs = |v: &Var| {
            let group = self.program.group_of(*v);
            let order = group.map(|g| self.program.groups[g.index()].order);
            matches!(order, Some(Order::Runs(_)))
        };
        if vars.iter().any(runs) {
            return Err("it carries runs, which vectors take side by side");
        }
        let carried = Carried::of(self, inner_loop, &vars);
        let mut held = BTreeSet::new();
        let mut behind = BTreeSet::new();
        let mut subs = BTreeSet::new();
        let mut needed: FxHashSet<Var> = FxHashSet::default();
        let tops: Vec<&Statement> = inner_loop.all_tops().collect();
        for s in tops.iter().rev() {
            let updates = updates(self, s.stmt, &vars);
            let mut defines = updates;
            facts::each_def(s.stmt, &mut |v| defines |= needed.contains(&v));
            let follows = carried.follows(inner_loop, s);
            if !updates && !follows {
                continue;
            }
            subs.insert(s.sub);
            if defines {
                held.insert(s.id);
                each_use(inner_loop, s, &mut |u| {
                    needed.insert(u);
                });
            } else {
                behind.insert(s.id);
            }
        }
        let mut leaves = false;
        for i in inner_loop.blocks() {
            let block = self.facts.blocks[i].block;
            facts::each_leaving_use(block, &mut |u| leaves |= carried.is_late(u));
        }
        if leaves {
            return Err("what goes from one step to the next decides where it goes");
        }
        let &[sub] = &subs.iter().copied().collect::<Vec<_>>()[..] else {
            return Err("what it carries goes from one step to the next in several sub rates");
        };
        let mut recurrence = Recurrence {
            sub,
            vars,
            held,
            behind,
            inputs: BTreeSet::new(),
            exports: BTreeSet::new(),
            changes: None,
        };
        if recurrence.find_borders(self, inner_loop)? {
            let all = recurrence.vars.iter().map(|v| carried.changes(*v));
            let mut distinct: Vec<Change> = vec![Change::Never];
            let mut often = false;
            for change in all {
                often |= change == Change::Always;
                if !distinct.iter().any(|other| other.covers(&change)) {
                    distinct.retain(|other| !change.covers(other));
                    distinct.push(change);
                }
            }
            distinct.retain(|change| *change != Change::Never);
            recurrence.changes = (!often).then_some(distinct);
        }
        Ok(Some(recurrence))
    }
}

impl Recurrence {
    /// Finds inputs and exports. The result tells whether its statements are cheap and have no side
    /// effects.
    fn find_borders(
        &mut self,
        region: &Region,
        inner_loop: &InnerLoop,
    ) -> Result<bool, &'static str> {
        let mut made: FxHashSet<Var> = self.vars.iter().copied().collect();
        let mut plain = true;
        for s in self.tops(inner_loop, &self.held) {
            for s in inner_loop.within(s) {
                match &s.stmt.kind {
                    StmtKind::Let(..) | StmtKind::Assign(..) | StmtKind::If { .. } => {}
                    StmtKind::ReadArray(_, a, _) if !inner_loop.may_write(region.owner(*a)) => {
                        plain = false;
                    }
                    StmtKind::ArrayLength(..) => {}
                    StmtKind::While { .. } | StmtKind::Trap { .. } | StmtKind::Scan { .. } => {
                        plain = false;
                    }
                    _ => return Err("what goes from one step to the next touches memory"),
                }
                facts::each_def(s.stmt, &mut |v| {
                    made.insert(v);
                });
            }
        }
        let mut inputs = BTreeSet::new();
        for s in self.tops(inner_loop, &self.held) {
            each_use(inner_loop, s, &mut |u| {
                let scalar = matches!(region.program.ty(u), Type::Scalar(_));
                let rest = inner_loop.defs.contains(&u) || inner_loop.roles.contains_key(&u);
                if scalar && rest && !made.contains(&u) {
                    inputs.insert(u);
                }
            });
        }
        let mut exports = BTreeSet::new();
        for s in self.tops(inner_loop, &self.behind) {
            each_use(inner_loop, s, &mut |u| {
                if made.contains(&u) {
                    exports.insert(u);
                }
            });
        }
        (self.inputs, self.exports) = (inputs, exports);
        Ok(plain)
    }

    /// Lists top-level statements of a set, in order.
    pub fn tops<'s, 'a>(
        &'s self,
        inner_loop: &'s InnerLoop<'a>,
        of: &'s BTreeSet<usize>,
    ) -> impl Iterator<Item = &'s Statement<'a>> {
        of.iter().map(|id| &inner_loop.statements[*id])
    }
}

/// Holds the loop-carried values and everything that depends on them.
struct Carried<'a> {
    late: FxHashSet<Var>,
    /// The definition of each variable.
    makers: FxHashMap<Var, &'a Stmt>,
    /// The next value of each carried variable.
    next: FxHashMap<Var, Atom>,
}

impl<'a> Carried<'a> {
    fn of(region: &Region, inner_loop: &InnerLoop<'a>, vars: &BTreeSet<Var>) -> Carried<'a> {
        let mut carried = Carried {
            late: vars.iter().copied().collect(),
            makers: FxHashMap::default(),
            next: FxHashMap::default(),
        };
        for s in &inner_loop.statements {
            facts::each_def(s.stmt, &mut |v| {
                carried.makers.insert(v, s.stmt);
            });
            if let StmtKind::Assign(v, next) = s.stmt.kind {
                carried.next.insert(v, next);
            }
            if s.top && (updates(region, s.stmt, vars) || carried.follows(inner_loop, s)) {
                for inner in inner_loop.within(s) {
                    facts::each_def(inner.stmt, &mut |v| {
                        carried.late.insert(v);
                    });
                }
            }
        }
        carried
    }

    fn is_late(&self, v: Var) -> bool {
        self.late.contains(&v)
    }

    /// Tells whether a statement depends on carried values.
    fn follows(&self, inner_loop: &InnerLoop, s: &Statement) -> bool {
        let mut follows = false;
        each_use(inner_loop, s, &mut |u| follows |= self.is_late(u));
        follows
    }

    /// Returns the condition under which a variable changes.
    fn changes(&self, v: Var) -> Change {
        match self.next.get(&v) {
            Some(next) => self.change(*next, v, MAX_PICKS),
            None => Change::Always,
        }
    }

    fn change(&self, next: Atom, v: Var, deep: usize) -> Change {
        let made = match next {
            Atom::Const(_) => return Change::Differs(v, next),
            Atom::Var(same) if same == v => return Change::Never,
            Atom::Var(made) => made,
        };
        let either = |cond: Atom, yes: Atom, no: Atom| {
            let arm = |a| self.change(a, v, deep.saturating_sub(1));
            match (arm(yes), arm(no)) {
                (yes, no) if yes == no => yes,
                (yes, no) => Change::If(cond, Box::new(yes), Box::new(no)),
            }
        };
        match self.makers.get(&made).map(|s| &s.kind) {
            _ if deep == 0 => Change::Always,
            Some(StmtKind::Let(_, Op::Select, args)) => either(args[0], args[1], args[2]),
            Some(StmtKind::Let(_, Op::Or | Op::And | Op::Min | Op::Max, args))
                if args.contains(&Atom::Var(v)) =>
            {
                Change::Differs(v, next)
            }
            Some(StmtKind::If { cond, results, .. }) => {
                match results.iter().find(|r| r.0 == made) {
                    Some((_, yes, no)) => either(*cond, *yes, *no),
                    None => Change::Always,
                }
            }
            _ => Change::Always,
        }
    }
}

/// Tells whether a statement updates a carried variable.
fn updates(region: &Region, s: &Stmt, vars: &BTreeSet<Var>) -> bool {
    let mut updates = false;
    facts::each_update(region.program, s, &mut |v| updates |= vars.contains(&v));
    updates
}

/// Calls `f` on every use of a statement, in its regions too.
fn each_use(inner_loop: &InnerLoop, s: &Statement, f: &mut impl FnMut(Var)) {
    for s in inner_loop.within(s) {
        facts::each_use(s.stmt, f);
    }
}
