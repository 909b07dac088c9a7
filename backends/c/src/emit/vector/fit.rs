//! Which loops are written in vectors, and what their updates are.

use crate::emit::plan::{Plan, Step};
use crate::facts::{self, Facts, Source};
use loop_lang::Loop;
use loop_lang::ir::{Atom, Order, Stmt, StmtKind, Type, Var};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::{FxHashMap, FxHashSet};

/// A loop that is written in vectors.
pub struct Vectors {
    /// Bytes of the widest element.
    pub widest: usize,
    /// Plain carried variables, and how they are updated.
    pub updates: FxHashMap<Var, Update>,
    /// Statements' results that something needs.
    pub needed: FxHashSet<Var>,
    /// Arrays that are packed.
    pub packed: FxHashSet<Var>,
    /// Whether lanes are updated: then vectors begin at multiples of their size.
    pub aligned: bool,
}

/// How a plain carried variable is updated.
#[derive(Clone, Copy)]
pub enum Update {
    /// One more for each admitted element.
    Count,
    /// Joined with a value by an operator that may take elements in any order.
    Join(Op, Atom),
}

/// A statement of the straight body, and the subrate (by the step that enters it) that it is in.
struct Inner<'a> {
    stmt: &'a Stmt,
    sub: Option<usize>,
}

/// The vector form of a planned loop, if it has one.
pub fn fit(program: &Loop, facts: &Facts, made: &[Var], plan: &Plan) -> Option<Vectors> {
    let fitting = Fitting {
        program,
        facts,
        made,
        plan,
        inner: inner(facts, plan),
    };
    fitting.vectors()
}

fn inner<'a>(facts: &Facts<'a>, plan: &Plan) -> Vec<Inner<'a>> {
    let mut subs: Vec<usize> = Vec::new();
    let mut inner = Vec::new();
    for (at, step) in plan.steps.iter().enumerate() {
        match *step {
            Step::Block(i) | Step::Enter(i) => {
                let sub = subs.last().copied();
                let stmts = facts.blocks[i].block.stmts.iter();
                inner.extend(stmts.map(|stmt| Inner { stmt, sub }));
            }
            Step::Leave => {}
        }
        match step {
            Step::Enter(_) => subs.push(at),
            Step::Leave => {
                subs.pop();
            }
            Step::Block(_) => {}
        }
    }
    inner
}

struct Fitting<'f, 'a> {
    program: &'a Loop,
    facts: &'f Facts<'a>,
    made: &'f [Var],
    plan: &'f Plan,
    inner: Vec<Inner<'a>>,
}

impl Fitting<'_, '_> {
    fn vectors(&self) -> Option<Vectors> {
        let filters = self.inner.iter().any(|i| i.sub.is_some());
        let mut updates = FxHashMap::default();
        for v in &self.plan.carried {
            updates.insert(*v, self.update(*v)?);
        }
        let needed = self.needed(&updates);
        let mut vectors = Vectors {
            widest: 1,
            updates,
            needed,
            packed: FxHashSet::default(),
            aligned: false,
        };
        for i in &self.inner {
            self.take(&mut vectors, i)?;
        }
        let counter_is_read = vectors.needed.contains(&self.plan.counter);
        vectors.widest = self.widest(&vectors, counter_is_read);
        let lanes_fit = self.plan.groups.iter().all(|g| {
            let group = &self.program.groups[g.index()];
            let bools = group
                .vars
                .iter()
                .any(|v| facts::elem(self.program, *v) == Ty::Bool);
            match group.order {
                Order::Lanes(l) => l as usize * vectors.widest >= 64 && !bools,
                _ => false,
            }
        });
        vectors.aligned = !self.plan.groups.is_empty();
        (filters && lanes_fit).then_some(vectors)
    }

    /// Whether a statement has a form in vectors; notes what it needs.
    fn take(&self, vectors: &mut Vectors, i: &Inner) -> Option<()> {
        match &i.stmt.kind {
            StmtKind::Let(_, op, args) => {
                let divides = matches!(op, Op::Div | Op::Rem | Op::DivEuclid | Op::RemEuclid);
                let float = self.program.atom_ty(args[0]).is_float();
                let costly = op.is_transcendental() || divides && !(float && *op == Op::Div);
                (!costly).then_some(())
            }
            StmtKind::ReadArray(_, a, Atom::Var(index)) => self.in_step(*a, *index).then_some(()),
            StmtKind::WriteArray(a, Atom::Var(index), _) => match i.sub {
                None => self.in_step(*a, *index).then_some(()),
                Some(_) => {
                    let counted = matches!(vectors.updates.get(index), Some(Update::Count));
                    let here = counted && self.sub_of_update(*index) == i.sub;
                    vectors.packed.insert(self.owner(*a));
                    (here && self.is_cut_to(*a, *index)).then_some(())
                }
            },
            StmtKind::Assign(..) | StmtKind::Trap { .. } | StmtKind::ArrayLength(..) => Some(()),
            _ => None,
        }
    }

    fn in_step(&self, a: Var, index: Var) -> bool {
        index == self.plan.counter && self.plan.proven.contains(&(self.owner(a), index))
    }

    fn owner(&self, a: Var) -> Var {
        self.facts.owner(self.program, self.made, a)
    }

    fn sub_of_update(&self, v: Var) -> Option<usize> {
        let update = |i: &&Inner| matches!(i.stmt.kind, StmtKind::Assign(u, _) if u == v);
        self.inner.iter().find(update)?.sub
    }

    /// How a plain carried variable is updated, if vectors can do it: once, to a value that is used for
    /// nothing else, from an old value that only a count shows to others (as the index of a write).
    fn update(&self, v: Var) -> Option<Update> {
        let Type::Scalar(ty) = self.program.ty(v) else {
            return None;
        };
        let mut nexts = self.inner.iter().filter_map(|i| match i.stmt.kind {
            StmtKind::Assign(u, Atom::Var(next)) if u == v => Some(next),
            _ => None,
        });
        let (next, other) = (nexts.next()?, nexts.next());
        let (op, joined) = self.inner.iter().find_map(|i| match &i.stmt.kind {
            StmtKind::Let(n, op, args) if *n == next => match args[..] {
                [Atom::Var(a), x] | [x, Atom::Var(a)] if a == v && x != Atom::Var(v) => {
                    Some((*op, x))
                }
                _ => None,
            },
            _ => None,
        })?;
        let (mut reads_of_v, mut reads_of_next, mut indexed) = (0, 0, 0);
        for i in &self.inner {
            facts::each_use(i.stmt, &mut |u| {
                reads_of_v += usize::from(u == v);
                reads_of_next += usize::from(u == next);
            });
            let indexes =
                matches!(i.stmt.kind, StmtKind::WriteArray(_, index, _) if index == Atom::Var(v));
            indexed += usize::from(indexes);
        }
        if other.is_some() || reads_of_next != 1 || self.leaves(v) || self.leaves(next) {
            return None;
        }
        let any_order = matches!(
            op,
            Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor | Op::Min | Op::Max
        );
        let one = Atom::Const(Const::u64(1));
        match (reads_of_v - indexed, indexed) {
            (1, _) if ty == Ty::U64 && op == Op::Add && joined == one => Some(Update::Count),
            (1, 0) if any_order && ty.is_int() => Some(Update::Join(op, joined)),
            _ => None,
        }
    }

    /// Whether a variable decides where a block of the body goes.
    fn leaves(&self, v: Var) -> bool {
        let mut found = false;
        for step in &self.plan.steps {
            if let Step::Block(i) | Step::Enter(i) = step {
                let block = self.facts.blocks[*i].block;
                facts::each_leaving_use(block, &mut |u| found |= u == v);
            }
        }
        found
    }

    /// What is needed in the end: by writes, tests, traps and updates, counts and the counter's aside.
    fn needed(&self, updates: &FxHashMap<Var, Update>) -> FxHashSet<Var> {
        let mut needed = FxHashSet::default();
        let mut need = |a: Atom| {
            if let Atom::Var(v) = a {
                needed.insert(v);
            }
        };
        for step in &self.plan.steps {
            if let Step::Enter(i) = step {
                let exits = &self.facts.blocks[*i].block.exits;
                exits.iter().for_each(|e| need(e.unless));
            }
        }
        for i in self.inner.iter().rev() {
            match &i.stmt.kind {
                StmtKind::Assign(v, a) => match updates.get(v) {
                    _ if *v == self.plan.counter => {}
                    Some(Update::Count) => {}
                    Some(Update::Join(_, x)) => need(*x),
                    None => need(*a),
                },
                StmtKind::WriteArray(_, _, x) => need(*x),
                StmtKind::Trap { unless, .. } => need(*unless),
                _ => {}
            }
        }
        for i in self.inner.iter().rev() {
            if let StmtKind::Let(v, _, args) = &i.stmt.kind
                && needed.contains(v)
            {
                for a in args {
                    if let Atom::Var(u) = a {
                        needed.insert(*u);
                    }
                }
            }
        }
        needed
    }

    /// Bytes of the widest element that a vector holds.
    fn widest(&self, vectors: &Vectors, counter_is_read: bool) -> usize {
        let mut widest = if counter_is_read { 8 } else { 1 };
        let mut see = |ty: Ty| {
            if ty != Ty::Bool {
                widest = widest.max(ty.size());
            }
        };
        for i in &self.inner {
            facts::each_def(i.stmt, &mut |v| {
                if vectors.needed.contains(&v) {
                    see(facts::elem(self.program, v));
                }
            });
            match &i.stmt.kind {
                StmtKind::Let(v, _, args) if vectors.needed.contains(v) => {
                    args.iter().for_each(|a| see(self.program.atom_ty(*a)));
                }
                StmtKind::WriteArray(_, _, x) => see(self.program.atom_ty(*x)),
                StmtKind::Assign(v, _) => match vectors.updates.get(v) {
                    Some(Update::Count) => {}
                    _ if *v == self.plan.counter => {}
                    _ => see(facts::elem(self.program, *v)),
                },
                _ => {}
            }
        }
        widest
    }

    /// Whether an array is written at a count and cut to it, and never looked at otherwise.
    fn is_cut_to(&self, array: Var, count: Var) -> bool {
        let (mut only, mut cut) = (true, false);
        for placed in &self.facts.blocks {
            facts::each_leaving_use(placed.block, &mut |v| only &= v != array);
            facts::each_stmt(&placed.block.stmts, &mut |s| match s.kind {
                StmtKind::WriteArray(a, index, _) if a == array => {
                    only &= index == Atom::Var(count);
                }
                StmtKind::SliceArray(_, a, n) if a == array => {
                    only &= n == Atom::Var(count);
                    cut = true;
                }
                _ => facts::each_use(s, &mut |v| only &= v != array),
            });
        }
        let made = matches!(self.facts.source.get(&array), Some(Source::Made(_)));
        only && cut && made
    }
}
