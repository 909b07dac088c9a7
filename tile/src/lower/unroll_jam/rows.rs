//! A step of a root, written for each of several: what is defined in it is another value in each, and what is carried from one to the
//! next is a value, too, where it is known before the segment. The counter of rows is, and where each of them begins.

use crate::ir::{Operand, Origin, Shape, Stmt, StmtKind, Tile, Value, each_stmt};
use crate::lower::names::Names;
use loop_lang::op::Op;
use loop_lang::types::Const;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

/// A step: what is done before its segment, that, and what is done behind.
pub(super) struct Row {
    pub(super) before: Vec<Stmt>,
    pub(super) segment: Stmt,
    pub(super) behind: Vec<Stmt>,
}

/// What carried variables are behind all steps.
pub(super) type Carried = Vec<(Value, Value)>;

/// Values with names that nothing else has.
pub(super) struct Values {
    pub(super) tile: Tile,
    names: Names,
    /// Which values were written for several steps, and what each was before.
    was: FxHashMap<Value, Value>,
}

impl Values {
    pub(super) fn of(tile: Tile) -> Values {
        let names = Names::of(tile.values.iter().map(|v| &v.name));
        Values {
            tile,
            names,
            was: FxHashMap::default(),
        }
    }

    /// Whether two are one value of different steps.
    pub(super) fn are_alike(&self, a: Value, b: Value) -> bool {
        self.was
            .get(&a)
            .is_some_and(|was| self.was.get(&b) == Some(was))
    }

    /// A value that is named like the one that is wanted.
    pub(super) fn add(&mut self, name: &str, shape: Shape, origin: Origin) -> Value {
        let own = self.names.own(name);
        self.tile.add(own, shape, origin)
    }

    /// A value like another one.
    fn like(&mut self, v: Value) -> Value {
        let data = self.tile.value(v);
        let (name, shape) = (data.name.clone(), data.shape);
        let origin = match data.origin {
            Origin::Register => Origin::Register,
            _ => Origin::Let,
        };
        let own = self.add(&name, shape, origin);
        self.was.insert(own, v);
        own
    }
}

/// What is the same for all steps of a root.
pub(super) struct Steps<'s> {
    body: &'s [Stmt],
    counter: Value,
    /// Which of its statements has the segment.
    segment: usize,
    /// What is carried, and known before it.
    early: FxHashSet<Value>,
    /// What a step defines, and the registers that it sets.
    defined: FxHashSet<Value>,
}

impl<'s> Steps<'s> {
    /// The steps of a root with one segment in each, if no step needs what the segment before has come to, before its own.
    pub(super) fn of(tile: &Tile, counter: Value, body: &'s [Stmt]) -> Option<Steps<'s>> {
        let mut with = (0..body.len()).filter(|at| has_segment(&body[*at].kind));
        let (segment, None) = (with.next()?, with.next()) else {
            return None;
        };
        let mut defined = FxHashSet::default();
        let mut carried = FxHashSet::default();
        let mut see = |v: Value| match tile.value(v).origin {
            Origin::State(_) | Origin::Scan(..) => _ = carried.insert(v),
            _ => _ = defined.insert(v),
        };
        each_stmt(body, &mut |s| {
            s.kind
                .target()
                .into_iter()
                .chain(s.kind.own())
                .for_each(&mut see);
        });
        let mut steps = Steps {
            body,
            counter,
            segment,
            early: carried.clone(),
            defined,
        };
        // What a nested body sets is not known before that.
        each_stmt(body, &mut |s| {
            for body in s.kind.bodies() {
                each_stmt(body, &mut |s| {
                    if let StmtKind::Set { to, .. } = &s.kind {
                        steps.early.remove(to);
                    }
                });
            }
        });
        while steps.drop_what_comes_late() {}
        let late: Vec<Value> = carried.difference(&steps.early).copied().collect();
        let before = crate::ir::named(&body[..=segment]);
        let needed = late.iter().any(|v| before.contains(v));
        let local = steps.sets_before_looking(tile, body);
        (!needed && local).then_some(steps)
    }

    /// Whether a carried variable turned out not to be known before the segment.
    fn drop_what_comes_late(&mut self) -> bool {
        let mut known = FxHashSet::default();
        let mut late = None;
        for (at, s) in self.body.iter().enumerate() {
            match &s.kind {
                StmtKind::Set { to, value }
                    if self.early.contains(to) && !self.is_known(*value, &known) =>
                {
                    late = Some(*to);
                }
                kind if at < self.segment || self.is_word(kind, &known) => {
                    known.extend(defined(kind));
                }
                _ => {}
            }
        }
        late.is_some_and(|v| self.early.remove(&v))
    }

    /// Whether an operand is known before the segment.
    fn is_known(&self, a: Operand, known: &FxHashSet<Value>) -> bool {
        let from_outside = |v: &Value| !self.defined.contains(v);
        a.value().is_none_or(|v| {
            v == self.counter || known.contains(&v) || self.early.contains(&v) || from_outside(&v)
        })
    }

    /// Whether it is computed from what is known before the segment.
    fn is_word(&self, kind: &StmtKind, known: &FxHashSet<Value>) -> bool {
        matches!(kind, StmtKind::Let { args, .. } if args.iter().all(|a| self.is_known(*a, known)))
    }

    /// Whether each register that steps set is set in each before it is looked at.
    fn sets_before_looking(&self, tile: &Tile, body: &[Stmt]) -> bool {
        let mut exposed = FxHashSet::default();
        seen_before_set(body, &mut FxHashSet::default(), &mut exposed);
        let register = |v: &&Value| tile.value(**v).origin == Origin::Register;
        let mut registers = self.defined.iter().filter(register);
        let buffers = self
            .defined
            .iter()
            .any(|v| tile.value(*v).origin == Origin::Buffer);
        !buffers && registers.all(|v| !exposed.contains(v))
    }

    /// So many steps from a counter on, and what each carried variable is behind them.
    pub(super) fn rows(
        &self,
        values: &mut Values,
        strip: Value,
        rows: u32,
    ) -> Option<(Vec<Row>, Carried)> {
        let mut early: Vec<Value> = self.early.iter().copied().collect();
        early.sort();
        let mut all = Vec::new();
        let mut now: FxHashMap<Value, Value> = FxHashMap::default();
        for k in 0..u64::from(rows) {
            let comb = self.body.first()?.comb;
            let mut before = Vec::new();
            let mut is = |values: &mut Values, like: Value, op, args: &[Operand]| {
                let to = values.like(like);
                let args = args.iter().copied().collect();
                let kind = StmtKind::Let { to, op, args };
                before.push(Stmt { comb, kind });
                to
            };
            for v in early.iter().filter(|_| k == 0) {
                let begins = is(values, *v, Op::Copy, &[(*v).into()]);
                now.insert(*v, begins);
            }
            let mut names = now.clone();
            let at = [strip.into(), Const::u64(k).into()];
            names.insert(self.counter, is(values, self.counter, Op::Add, &at));
            let mut known = FxHashSet::default();
            let (mut segment, mut behind) = (None, Vec::new());
            for (at, s) in self.body.iter().enumerate() {
                match &s.kind {
                    StmtKind::Set { to, value } if self.early.contains(to) => {
                        let next = values.like(*to);
                        let value = match value {
                            Operand::Value(v) => Operand::Value(*names.get(v).unwrap_or(v)),
                            value => *value,
                        };
                        let args = smallvec![value];
                        let (to, op) = (*to, Op::Copy);
                        let kind = StmtKind::Let { to: next, op, args };
                        before.push(Stmt { comb: s.comb, kind });
                        names.insert(to, next);
                    }
                    kind if at < self.segment || self.is_word(kind, &known) => {
                        known.extend(defined(kind));
                        before.push(self.renamed(values, &mut names, s));
                    }
                    _ if at == self.segment => {
                        segment = Some(self.renamed(values, &mut names, s));
                    }
                    _ => behind.push(self.renamed(values, &mut names, s)),
                }
            }
            for (v, now) in &mut now {
                *now = names[v];
            }
            all.push(Row {
                before,
                segment: segment?,
                behind,
            });
        }
        Some((all, early.into_iter().map(|v| (v, now[&v])).collect()))
    }

    /// A statement with names of its own for what it defines.
    fn renamed(&self, values: &mut Values, names: &mut FxHashMap<Value, Value>, s: &Stmt) -> Stmt {
        let mut s = s.clone();
        s.kind.each_value_mut(&mut |v| {
            if self.defined.contains(v) && !names.contains_key(v) {
                let own = values.like(*v);
                names.insert(*v, own);
            }
            *v = *names.get(v).unwrap_or(v);
        });
        s
    }
}

/// The value that a statement defines, which is that from there on. A register may be set again.
fn defined(kind: &StmtKind) -> Option<Value> {
    match kind {
        StmtKind::Set { .. } | StmtKind::SetLane { .. } => None,
        kind => kind.target(),
    }
}

/// Whether there is a segment in it.
pub(super) fn has_segment(kind: &StmtKind) -> bool {
    let is = |s: &Stmt| has_segment(&s.kind);
    matches!(kind, StmtKind::Segment { .. }) || kind.bodies().into_iter().flatten().any(is)
}

/// What statements look at before they set it, where some of it has been set already.
fn seen_before_set(stmts: &[Stmt], set: &mut FxHashSet<Value>, seen: &mut FxHashSet<Value>) {
    for s in stmts {
        let mut see = |v: Value| {
            if !set.contains(&v) {
                seen.insert(v);
            }
        };
        s.kind
            .each_operand(&mut |a| a.value().into_iter().for_each(&mut see));
        s.kind.own().into_iter().for_each(&mut see);
        let in_body = |body: &[Stmt], seen: &mut FxHashSet<Value>| {
            let mut set = set.clone();
            seen_before_set(body, &mut set, seen);
            set
        };
        match &s.kind {
            StmtKind::Set { to, .. } => _ = set.insert(*to),
            StmtKind::If { then, other, .. } => {
                let arms = [then, other].map(|arm| in_body(arm, seen));
                set.extend(arms[0].intersection(&arms[1]));
            }
            kind => kind
                .bodies()
                .iter()
                .for_each(|body| _ = in_body(body, seen)),
        }
    }
}
