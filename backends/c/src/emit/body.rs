//! What the statements of a straight body use, define, update and access.

use super::plan::Step;
use crate::facts::{self, Facts, Placed};
use loop_lang::Loop;
use loop_lang::ir::{Atom, Place, Section, Stmt, StmtKind, Var};
use loop_lang::op::Op;
use loop_lang::types::Const;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// What the statements of a straight body do.
#[derive(Default)]
pub(super) struct Body {
    pub(super) statements: usize,
    pub(super) uses: FxHashSet<Var>,
    pub(super) defs: FxHashSet<Var>,
    /// What each carried variable is assigned, once per assignment; none for a scan.
    pub(super) updates: FxHashMap<Var, Vec<Option<Var>>>,
    /// Variables of inner loops that begin anew in each iteration.
    pub(super) starts: BTreeSet<Var>,
    /// `v + 1`, with `v`.
    pub(super) successors: FxHashMap<Var, Var>,
    /// Sums and differences, in order.
    pub(super) sums: Vec<(Var, Op, Atom, Atom)>,
    pub(super) accesses: Vec<Access>,
    /// Arrays whose length is asked for.
    pub(super) measured: Vec<Var>,
    /// Whether values are joined onto elements anywhere.
    pub(super) scatters: bool,
}

/// A read or a write.
pub(super) struct Access {
    pub(super) array: Var,
    pub(super) index: Atom,
    pub(super) is_read: bool,
    /// Whether it is in an arm or a scalar loop.
    pub(super) in_region: bool,
}

impl Body {
    /// Takes in a block; none if a statement has no place in a straight loop.
    pub(super) fn add(&mut self, program: &Loop, facts: &Facts, placed: &Placed) -> Option<()> {
        let stmts = &placed.block.stmts;
        facts::each_leaving_use(placed.block, &mut |v| {
            self.uses.insert(v);
        });
        let inner = matches!(
            placed.place,
            Place::At {
                section: Section::Nest,
                ..
            }
        );
        let ends = facts.ending.get(&placed.place);
        let mut fits = ends.is_none_or(Vec::is_empty);
        // An update in a region could happen more than once in an iteration.
        for s in stmts {
            let mut updates = 0;
            facts::each_stmt(std::slice::from_ref(s), &mut |inner| {
                if !std::ptr::eq(inner, s) {
                    facts::each_update(program, inner, &mut |_| updates += 1);
                }
            });
            fits &= updates == 0;
        }
        let in_region = |s: &Stmt| !stmts.as_ptr_range().contains(&std::ptr::from_ref(s));
        facts::each_stmt(stmts, &mut |s| {
            self.statements += 1;
            facts::each_use(s, &mut |v| {
                self.uses.insert(v);
            });
            facts::each_def(s, &mut |v| {
                self.defs.insert(v);
            });
            match &s.kind {
                StmtKind::Assign(v, a) => {
                    let next = if let Atom::Var(n) = a { Some(*n) } else { None };
                    self.updates.entry(*v).or_default().push(next);
                }
                StmtKind::Scan { .. } => facts::each_update(program, s, &mut |v| {
                    self.updates.entry(v).or_default().push(None);
                }),
                StmtKind::Let(v, Op::Sub, args) => {
                    self.sums.push((*v, Op::Sub, args[0], args[1]));
                }
                StmtKind::Let(v, Op::Add, args) => {
                    self.sums.push((*v, Op::Add, args[0], args[1]));
                    let one = Atom::Const(Const::u64(1));
                    match args[..] {
                        [Atom::Var(of), c] | [c, Atom::Var(of)] if c == one => {
                            self.successors.insert(*v, of);
                        }
                        _ => {}
                    }
                }
                StmtKind::ArrayLength(_, a) => self.measured.push(*a),
                StmtKind::ScatterArray { arrays, .. } => {
                    self.measured.extend(arrays);
                    self.scatters = true;
                }
                StmtKind::ReadArray(_, a, i) => self.access(*a, *i, true, in_region(s)),
                StmtKind::WriteArray(a, i, _) => self.access(*a, *i, false, in_region(s)),
                StmtKind::Carry(v, _) if inner => {
                    self.starts.insert(*v);
                }
                StmtKind::Carry(..)
                | StmtKind::NewArray(..)
                | StmtKind::FillArray(..)
                | StmtKind::CopyArray(..)
                | StmtKind::SliceArray(..) => fits = false,
                _ => {}
            }
        });
        fits.then_some(())
    }

    fn access(&mut self, array: Var, index: Atom, is_read: bool, in_region: bool) {
        self.accesses.push(Access {
            array,
            index,
            is_read,
            in_region,
        });
    }

    /// The variables at a fixed distance from the counter, itself included.
    pub(super) fn near(&self, counter: Var) -> FxHashSet<Var> {
        let mut near = FxHashSet::from_iter([counter]);
        let fixed = |a: &Atom| match a {
            Atom::Const(_) => true,
            Atom::Var(v) => !self.defs.contains(v) && !self.updates.contains_key(v),
        };
        for (v, _, a, b) in &self.sums {
            let moves = |a: &Atom| matches!(a, Atom::Var(v) if near.contains(v));
            if moves(a) && fixed(b) || fixed(a) && moves(b) {
                near.insert(*v);
            }
        }
        near
    }

    /// What is added to a counter, in iterations that do not change it, to give an index; none if that is no such sum.
    pub(super) fn beyond(&self, counter: Var, index: Var) -> Option<Vec<Atom>> {
        let (mut at, mut added) = (index, Vec::new());
        let near = self.near(counter);
        while at != counter {
            let (_, _, a, b) = self.sums.iter().find(|s| (s.0, s.1) == (at, Op::Add))?;
            let moves = |a: &Atom| a.var().filter(|v| near.contains(v));
            let (next, fixed) = match (moves(a), moves(b)) {
                (Some(next), None) => (next, *b),
                (None, Some(next)) => (next, *a),
                _ => return None,
            };
            added.push(fixed);
            at = next;
        }
        Some(added)
    }

    /// Whether the one update of `v` is outside of subrates and regions.
    pub(super) fn always_updates(
        &self,
        program: &Loop,
        facts: &Facts,
        steps: &[Step],
        v: Var,
    ) -> bool {
        let mut depth = 0;
        for step in steps {
            match step {
                Step::Enter(_) => depth += 1,
                Step::Leave => depth -= 1,
                Step::Block(i) if depth == 0 => {
                    let here = |s: &Stmt| {
                        let mut found = false;
                        facts::each_update(program, s, &mut |u| found |= u == v);
                        found
                    };
                    if facts.blocks[*i].block.stmts.iter().any(here) {
                        return true;
                    }
                }
                Step::Block(_) => {}
            }
        }
        false
    }
}
