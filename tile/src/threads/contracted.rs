//! Contracted arrays: temporaries within one iteration, private to a thread or a row.
//!
//! * A *cell* has one element. It passes a value between two subrates of one iteration, and
//!   becomes a variable.
//! * A *strip* has the elements of one row. It passes them from one pass over the row to later
//!   ones. Each row has its own part, at the row's position among all elements. The capacity must
//!   therefore cover the elements of all rows.

use livefusion_backend::facts::Facts;
use loop_lang::filled::filled;
use loop_lang::ir::{
    Atom, Block, Combine, End, Loop, Order, Place, RateId, RateKind, Stmt, StmtKind, Var,
};
use loop_lang::op::Op;
use loop_lang::types::Const;
use loop_lang::walk;
use rustc_hash::{FxHashMap, FxHashSet};

/// Lists the contracted arrays of a loop.
#[derive(Clone, Default, Debug)]
pub struct Contracted {
    /// Cells with their loop rates.
    pub cells: FxHashMap<Var, RateId>,
    /// Strips.
    pub strips: FxHashMap<Var, Strip>,
}

/// Describes a strip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Strip {
    /// The row's position among all elements.
    pub first: Var,
    /// The row length, if uniform: the loop then allocates one row only.
    pub length: Option<Atom>,
}

impl Contracted {
    /// Finds the contracted arrays of a loop.
    pub fn of(program: &Loop, facts: &Facts<'_>) -> Contracted {
        let uses = ArrayUses::of(program, facts);
        let mut contracted = Contracted::default();
        let filled = filled(program);
        for (array, size) in &uses.made {
            let Some(writes) = uses.writes.get(array) else {
                continue;
            };
            let Some(reads) = uses.reads.get(array) else {
                continue;
            };
            if uses.used.contains(array) {
                continue;
            }
            if *size == Atom::Const(Const::u64(1)) {
                let at_rate = uses.cell(writes, reads);
                contracted.cells.extend(at_rate.map(|rate| (*array, rate)));
            } else if filled.contains(array) {
                let strip = uses.strip(*size, writes);
                contracted.strips.extend(strip.map(|strip| (*array, strip)));
            }
        }
        contracted
    }

    /// Removes the arrays that other code uses.
    pub fn without(mut self, others: &FxHashSet<Var>) -> Contracted {
        self.cells.retain(|v, _| !others.contains(v));
        self.strips.retain(|v, _| !others.contains(v));
        self
    }

    /// Returns the loop without contracted arrays, and with combinable groups in inner rates.
    ///
    /// Both are private to a thread or checked elsewhere, so they must not prevent parallel
    /// execution.
    pub fn left_out(&self, program: &Loop) -> Loop {
        let mut rest = program.clone();
        // Other scratch arrays are shared by all threads.
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

    /// Tells whether an array is contracted.
    pub fn has(&self, array: Var) -> bool {
        self.cells.contains_key(&array) || self.strips.contains_key(&array)
    }
}

/// An access: its place, its position in execution order, and its index.
type Access = (Place, usize, Atom);

struct ArrayUses<'l, 'a> {
    program: &'l Loop,
    facts: &'l Facts<'a>,
    made: Vec<(Var, Atom)>,
    writes: FxHashMap<Var, Vec<Access>>,
    reads: FxHashMap<Var, Vec<Access>>,
    /// Arrays with other uses.
    used: FxHashSet<Var>,
    lets: FxHashMap<Var, (Op, Vec<Atom>)>,
}

impl<'l, 'a> ArrayUses<'l, 'a> {
    fn of(program: &'l Loop, facts: &'l Facts<'a>) -> ArrayUses<'l, 'a> {
        let mut uses = ArrayUses {
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
            uses.block(placed.place, placed.block, &mut at);
        }
        uses
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

    /// Returns the loop rate of a cell. Each read must follow the write in the same iteration,
    /// under at least the same conditions.
    fn cell(&self, writes: &[Access], reads: &[Access]) -> Option<RateId> {
        let [(written, at, _)] = writes else {
            return None;
        };
        let (at_rate, conditions) = self.conditions(*written)?;
        let follows = |(place, behind, _): &Access| {
            let read = self.conditions(*place);
            read.is_some_and(|(rate, under)| {
                rate == at_rate && behind > at && conditions.iter().all(|c| under.contains(c))
            })
        };
        let at_zero = |(_, _, i): &Access| *i == Atom::Const(Const::u64(0));
        let all = || writes.iter().chain(reads);
        (all().all(at_zero) && reads.iter().all(follows)).then_some(at_rate)
    }

    /// Returns the loop rate of a place, and the conditions of its subrates.
    fn conditions(&self, place: Place) -> Option<(RateId, Vec<Atom>)> {
        let Place::At { rate, .. } = place else {
            return None;
        };
        let at_rate = self.facts.tree.loop_rate(rate);
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
            if of != at_rate
                && self.program.is_within(rate, of)
                && self.program.is_within(of, at_rate)
            {
                conditions.extend(placed.block.exits.iter().map(|e| e.unless));
            }
        }
        Some((at_rate, conditions))
    }

    /// Returns the strip written by a pass. `filled` guarantees that reads are in the same row.
    fn strip(&self, capacity: Atom, writes: &[Access]) -> Option<Strip> {
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
        (is_uniform || self.fits(capacity, size)).then_some(Strip {
            first: first.var()?,
            length,
        })
    }

    /// Tells whether all rows together fit in the capacity: a row that does not fit is empty.
    fn fits(&self, capacity: Atom, size: Atom) -> bool {
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
            Some(counts && zero && of == length && all == capacity)
        };
        fits().unwrap_or(false)
    }

    /// Returns the operands of a value's definition, if it uses this operator.
    fn made_by(&self, a: Atom, op: Op) -> Option<&Vec<Atom>> {
        let (by, args) = self.lets.get(&a.var()?)?;
        (*by == op).then_some(args)
    }
}
