//! Arrays by which an iteration hands on to itself, which are no results: they are a thread's, or a row's, own.
//!
//! * A *cell* has one element, by which one sub rate hands on to another of the same iteration. It is a variable.
//! * A *strip* has the elements of a row, by which a pass over the row hands on to later ones. Each row has its own, at
//!   where the row begins among all: so there must be as much room as all rows have elements.

use livefusion_backend::facts::Facts;
use loop_lang::filled::filled;
use loop_lang::ir::{
    Atom, Block, Combine, End, Loop, Order, Place, RateId, RateKind, Stmt, StmtKind, Var,
};
use loop_lang::op::Op;
use loop_lang::types::Const;
use loop_lang::walk;
use rustc_hash::{FxHashMap, FxHashSet};

/// Arrays by which iterations hand on.
#[derive(Clone, Default, Debug)]
pub struct Handed {
    /// Cells, and the loop rates in whose iterations they are.
    pub cells: FxHashMap<Var, RateId>,
    /// Strips.
    pub strips: FxHashMap<Var, Strip>,
}

/// What is known of a strip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Strip {
    /// Where the row begins among all elements.
    pub first: Var,
    /// How many elements each row has, if they are equally many: then the loop makes room for one row only.
    pub length: Option<Atom>,
}

impl Handed {
    /// Those of a loop.
    pub fn of(program: &Loop, facts: &Facts<'_>) -> Handed {
        let looking = Looking::of(program, facts);
        let mut handed = Handed::default();
        let filled = filled(program);
        for (array, size) in &looking.made {
            let Some(writes) = looking.writes.get(array) else {
                continue;
            };
            let Some(reads) = looking.reads.get(array) else {
                continue;
            };
            if looking.used.contains(array) {
                continue;
            }
            if *size == Atom::Const(Const::u64(1)) {
                let home = looking.cell(writes, reads);
                handed.cells.extend(home.map(|rate| (*array, rate)));
            } else if filled.contains(array) {
                let strip = looking.strip(*size, writes);
                handed.strips.extend(strip.map(|strip| (*array, strip)));
            }
        }
        handed
    }

    /// Those that nobody else uses.
    pub fn without(mut self, others: &FxHashSet<Var>) -> Handed {
        self.cells.retain(|v, _| !others.contains(v));
        self.strips.retain(|v, _| !others.contains(v));
        self
    }

    /// The loop as if there were none of them, and as if groups of inner rates could be joined: these are a thread's own, or
    /// have been looked at, and stand in nobody's way.
    pub fn left_out(&self, program: &Loop) -> Loop {
        let mut rest = program.clone();
        // Of other scratch arrays all threads have the same ones.
        rest.vars.iter_mut().for_each(|v| v.scratch = false);
        for group in &mut rest.groups {
            if !program.roots.contains(&group.owner) {
                (group.order, group.combine) = (Order::Exact, Some(Combine::Op(Op::Add)));
            }
        }
        for block in rest.blocks.values_mut() {
            let is_kept = |s: &Stmt| !matches!(s.kind, StmtKind::WriteArray(a, ..) if self.has(a));
            block.stmts.retain(is_kept);
            for stmt in &mut block.stmts {
                if let StmtKind::ReadArray(v, a, _) = stmt.kind
                    && self.has(a)
                {
                    let none = Atom::Const(Const::new(program.ty(v).elem(), 0));
                    stmt.kind = StmtKind::Let(v, Op::Copy, [none].into_iter().collect());
                }
            }
        }
        rest
    }

    /// Whether an array is one of them.
    pub fn has(&self, array: Var) -> bool {
        self.cells.contains_key(&array) || self.strips.contains_key(&array)
    }
}

/// An access: where, how far behind, and at which index.
type Access = (Place, usize, Atom);

struct Looking<'l, 'a> {
    program: &'l Loop,
    facts: &'l Facts<'a>,
    made: Vec<(Var, Atom)>,
    writes: FxHashMap<Var, Vec<Access>>,
    reads: FxHashMap<Var, Vec<Access>>,
    /// Arrays that are used otherwise.
    used: FxHashSet<Var>,
    lets: FxHashMap<Var, (Op, Vec<Atom>)>,
}

impl<'l, 'a> Looking<'l, 'a> {
    fn of(program: &'l Loop, facts: &'l Facts<'a>) -> Looking<'l, 'a> {
        let mut looking = Looking {
            program,
            facts,
            made: Vec::new(),
            writes: FxHashMap::default(),
            reads: FxHashMap::default(),
            used: FxHashSet::default(),
            lets: FxHashMap::default(),
        };
        let mut at = 0;
        for placed in &facts.blocks {
            looking.block(placed.place, placed.block, &mut at);
        }
        looking
    }

    fn block(&mut self, place: Place, block: &Block, at: &mut usize) {
        for stmt in &block.stmts {
            *at += 1;
            match &stmt.kind {
                StmtKind::NewArray(v, size) => self.made.push((*v, *size)),
                StmtKind::WriteArray(a, i, _) => {
                    self.writes.entry(*a).or_default().push((place, *at, *i))
                }
                StmtKind::ReadArray(_, a, i) => {
                    self.reads.entry(*a).or_default().push((place, *at, *i))
                }
                StmtKind::Let(v, op, args) => {
                    self.lets.insert(*v, (*op, args.to_vec()));
                }
                _ => walk::each(stmt, &mut |s| {
                    walk::operands(&s.kind, &mut |a| self.used.extend(a.var()));
                    walk::handed_out(&s.kind, &mut |a| self.used.extend(a.var()));
                }),
            }
        }
        if let End::Return(results) = &block.end {
            self.used.extend(results.iter().filter_map(|a| a.var()));
        }
    }

    /// The loop rate of a cell: what is read was written before in the same iteration, under no more conditions.
    fn cell(&self, writes: &[Access], reads: &[Access]) -> Option<RateId> {
        let [(written, at, _)] = writes else {
            return None;
        };
        let (home, conditions) = self.conditions(*written)?;
        let follows = |(place, behind, _): &Access| {
            let read = self.conditions(*place);
            read.is_some_and(|(rate, under)| {
                rate == home && behind > at && conditions.iter().all(|c| under.contains(c))
            })
        };
        let at_zero = |(_, _, i): &Access| *i == Atom::Const(Const::u64(0));
        let all = || writes.iter().chain(reads);
        (all().all(at_zero) && reads.iter().all(follows)).then_some(home)
    }

    /// The loop rate of a place, and what admits elements to the sub rates in it.
    fn conditions(&self, place: Place) -> Option<(RateId, Vec<Atom>)> {
        let Place::At { rate, .. } = place else {
            return None;
        };
        let home = self.facts.tree.loop_rate(rate);
        let mut conditions = Vec::new();
        for placed in &self.facts.blocks {
            let Place::At {
                rate: of,
                section: loop_lang::ir::Section::Guard,
                ..
            } = placed.place
            else {
                continue;
            };
            if of != home && self.program.is_within(rate, of) && self.program.is_within(of, home) {
                conditions.extend(placed.block.exits.iter().map(|e| e.unless));
            }
        }
        Some((home, conditions))
    }

    /// The strip that a pass writes: `filled` says that what is read is in the same row.
    fn strip(&self, room: Atom, writes: &[Access]) -> Option<Strip> {
        let [(Place::At { rate, .. }, _, index)] = writes else {
            return None;
        };
        let pass = self.facts.tree.loop_rate(*rate);
        let [_, first] = self.made_by(*index, Op::Sub)?[..] else {
            return None;
        };
        let [_, size] = self.made_by(first, Op::Sub)?[..] else {
            return None;
        };
        let is_uniform = self.program.rate(pass).kind.is_uniform();
        let length = is_uniform.then_some(size);
        (is_uniform || self.fits(room, size)).then_some(Strip {
            first: first.var()?,
            length,
        })
    }

    /// Whether all rows together have no more elements than there is room for: a row that would have has none.
    fn fits(&self, room: Atom, size: Atom) -> bool {
        let fits = || {
            let [test, length, none] = self.made_by(size, Op::Select)?[..] else {
                return None;
            };
            let [of, left] = self.made_by(test, Op::Le)?[..] else {
                return None;
            };
            let [all, counted] = self.made_by(left, Op::Sub)?[..] else {
                return None;
            };
            let counts = self.program.rates.iter().any(|r| match r.kind {
                RateKind::Nested { counter, bound, .. } => {
                    let end = self.made_by(bound, Op::Add);
                    counted == Atom::Var(counter)
                        && self.facts.group.contains_key(&counter)
                        && end.is_some_and(|end| *end == [counted, size])
                }
                _ => false,
            });
            let zero = none == Atom::Const(Const::u64(0));
            Some(counts && zero && of == length && all == room)
        };
        fits().unwrap_or(false)
    }

    /// The operands of what computes a value, if it is this operator.
    fn made_by(&self, a: Atom, op: Op) -> Option<&Vec<Atom>> {
        let (by, args) = self.lets.get(&a.var()?)?;
        (*by == op).then_some(args)
    }
}
