//! Words: indices as sums, with their difference from one row to the next.
//!
//! Words without a difference stay scalars; those that differ by one are neighbours in memory.

use super::MAX_ELEMENTS;
use crate::ir::{Entry, Memory, Operand, Proof, StmtKind, Sum, Value};
use crate::lower::Lower;
use loop_lang::ir::{Atom, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::collections::BTreeMap;

/// A sum of scalars in wrapping arithmetic.
#[derive(Clone, PartialEq, Default)]
pub(super) struct Linear {
    terms: BTreeMap<Value, i64>,
    plus: u64,
}

/// An index as a sum, and its difference from one row to the next.
#[derive(Clone, PartialEq, Default)]
pub(super) struct RowIndex {
    pub(super) first: Linear,
    pub(super) step: Linear,
}

impl Linear {
    pub(super) fn of(a: Operand) -> Linear {
        match a {
            Operand::Const(c) => Linear::number(c.bits),
            Operand::Value(v) => Linear {
                terms: [(v, 1)].into(),
                plus: 0,
            },
        }
    }

    pub(super) fn number(plus: u64) -> Linear {
        Linear {
            plus,
            ..Linear::default()
        }
    }

    pub(super) fn plus(&self, times: i64, other: &Linear) -> Linear {
        let mut sum = self.clone();
        for (v, n) in &other.terms {
            let term = sum.terms.entry(*v).or_default();
            *term = term.wrapping_add(n.wrapping_mul(times));
        }
        sum.terms.retain(|_, n| *n != 0);
        sum.plus = sum.plus.wrapping_add(other.plus.wrapping_mul(times as u64));
        sum
    }
}

impl RowIndex {
    fn plus(&self, times: i64, other: &RowIndex) -> RowIndex {
        RowIndex {
            first: self.first.plus(times, &other.first),
            step: self.step.plus(times, &other.step),
        }
    }
}

impl Lower<'_, '_> {
    /// Computes an index by its word, or compares two; returns whether all rows have the same.
    pub(in crate::lower) fn is_row_word(&mut self, v: Var, op: Op, of: &[Atom]) -> bool {
        let program = self.region.program;
        let known = |a: &Atom| {
            let rows = self.rows.as_ref();
            rows.zip(a.var())
                .is_some_and(|(rows, v)| rows.words.contains_key(&v))
        };
        if !of.iter().any(known) {
            return false;
        }
        let words: Option<Vec<RowIndex>> = of.iter().map(|a| self.word(*a)).collect();
        let word = match (op, words.as_deref()) {
            // Words that differ alike between rows are equal in all rows or in none.
            (Op::Eq | Op::Ne, Some([a, b])) if a.step == b.step => {
                let name = program.name(v);
                let of = [&a.first, &b.first].map(|sum| self.linear(name, sum));
                let value = self.op(name, Ty::Bool, op, &of);
                self.now.insert(v, value);
                return true;
            }
            (Op::Add, Some([a, b])) => a.plus(1, b),
            (Op::Sub, Some([a, b])) => a.plus(-1, b),
            (Op::Copy, Some([a])) => a.clone(),
            _ => return false,
        };
        let same = word.step == Linear::default();
        if same {
            let value = self.linear(program.name(v), &word.first);
            self.now.insert(v, value);
        }
        self.rows().words.insert(v, word);
        same
    }

    /// The word of a scalar or of a variable that has one.
    fn word(&mut self, a: Atom) -> Option<RowIndex> {
        if let Some(word) = a.var().and_then(|v| self.rows().words.get(&v)) {
            return Some(word.clone());
        }
        let now = self.operand(a);
        self.shape(now).is_scalar().then(|| RowIndex {
            first: Linear::of(now),
            step: Linear::default(),
        })
    }

    /// Computes a sum.
    fn linear(&mut self, name: &str, sum: &Linear) -> Operand {
        let mut value: Option<Operand> = None;
        let (more, less): (Vec<_>, Vec<_>) = sum.terms.iter().partition(|(_, n)| **n > 0);
        for (v, n) in more.into_iter().chain(less) {
            let term = match n.unsigned_abs() {
                1 => Operand::from(*v),
                n => self.op(name, Ty::U64, Op::Mul, &[(*v).into(), Lower::u64(n)]),
            };
            value = Some(match (value, *n > 0) {
                (None, true) => term,
                (None, false) => self.op(name, Ty::U64, Op::Sub, &[Lower::u64(0), term]),
                (Some(value), true) => self.op(name, Ty::U64, Op::Add, &[value, term]),
                (Some(value), false) => self.op(name, Ty::U64, Op::Sub, &[value, term]),
            });
        }
        let plus = Lower::u64(sum.plus);
        match value {
            Some(value) if sum.plus == 0 => value,
            Some(value) => self.op(name, Ty::U64, Op::Add, &[value, plus]),
            None => plus,
        }
    }

    /// Reads an element of each row by the index's word: neighbours, if an entry can prove them, or elements at equal
    /// distances.
    pub(in crate::lower) fn read_in_row(&mut self, v: Var, array: Var, index: Atom) -> bool {
        let (true, Some(index)) = (self.in_row(), index.var()) else {
            return false;
        };
        let Some(word) = self.rows().words.get(&index).cloned() else {
            return false;
        };
        if word.step == Linear::default() {
            return false;
        }
        let most = self.most_beyond(&word);
        let at = self.linear(self.region.program.name(index), &word.first);
        let to = self.define(v, self.lanes);
        let Some(most) = most else {
            let apart = Some(self.linear("apart", &word.step));
            self.push(StmtKind::Gather {
                to,
                array,
                at,
                apart,
            });
            return true;
        };
        let index = Sum::of(self.tile.counter).plus(1, &Sum::number(most));
        let entry = Entry::Capacity { array, index };
        let known = self.tile.entries.iter().position(|e| *e == entry);
        let proof = Proof::Entry(known.unwrap_or(self.tile.entries.len()));
        if known.is_none() {
            self.tile.entries.push(entry);
        }
        let from = Memory::Array(array);
        let under = None;
        self.push(StmtKind::Load {
            to,
            from,
            at,
            under,
            proof,
        });
        true
    }

    /// The largest distance of an index from the root's counter, if rows have neighbours, and in all of their elements.
    /// Rows that read beyond an array near its end are left to other tiles.
    fn most_beyond(&mut self, word: &RowIndex) -> Option<u64> {
        let element = self.rows().element?;
        let root = self.tile.counter;
        let at = self.rows().words.get(&root)?.first.clone();
        let along = at.plus(1, &Linear::of(element.into()));
        let always = self.regions.is_empty() && word.step == Linear::number(1);
        let most = match always {
            true if word.first.terms == at.terms => 0,
            true if word.first.terms == along.terms => MAX_ELEMENTS - 1,
            _ => return None,
        };
        // An index before the counter may be one before the array.
        let plus = i64::try_from(word.first.plus).ok()?;
        plus.cast_unsigned().checked_add(most)
    }
}
