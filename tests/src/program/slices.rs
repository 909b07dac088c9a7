//! Arrays that read another by index: slices, reversals, copies of equal length.

use super::body::{Maker, Scope};
use super::random::Making;
use super::{Length, Step, Term};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

impl Making {
    /// `reverse` and similar: an array of another's length that reads it by index.
    pub(super) fn read_by_index(&mut self, of: usize) -> Option<Step> {
        let (types, n) = (self.types(of).to_vec(), self.data[of].len());
        let checked = self.rng.chance(50);
        let reversed = self.rng.chance(50);
        let length = match self.known_len(of) {
            Some(n) if self.rng.chance(50) => Length::Known(n),
            _ => Length::Delayed(self.add(Step::Len(of))?),
        };
        let no_scope = Scope::default();
        let mut m = Maker::new(&mut self.rng, &no_scope, &[Ty::U64]);
        let last = m.lit(Const::u64(n.wrapping_sub(1) as u64));
        let index = if reversed {
            m.op(Op::Sub, &[last, 0], Ty::U64)
        } else {
            0
        };
        let results = (0..types.len())
            .map(|f| m.push(Term::At(of, f as u32, index, checked), types[f]))
            .collect();
        let body = m.finish(results);
        Some(Step::Generate(length, body))
    }

    /// `slice`: a length that is checked when the loop starts.
    pub(super) fn slice(&mut self, of: usize) -> Option<Step> {
        if self.rng.chance(30) {
            return self.reversed(of);
        }
        let n = self.data[of].len();
        let end = if self.rng.chance(85) {
            self.rng.below(n + 1)
        } else {
            n + 1
        };
        let start = self.rng.below(end + 1).min(end);
        self.sliced(of, start, end)
    }

    /// `slice` from one position to another.
    pub(super) fn sliced(&mut self, of: usize, start: usize, end: usize) -> Option<Step> {
        let types = self.types(of).to_vec();
        let len = self.add(Step::Len(of))?;
        let no_scope = Scope::default();
        let mut m = Maker::new(&mut self.rng, &no_scope, &[]);
        let (count, zero) = (
            m.lit(Const::u64((end - start) as u64)),
            m.lit(Const::u64(0)),
        );
        let bounds = [start, end].map(|at| m.lit(Const::u64(at as u64)));
        let room = m.push(Term::Scalar(len, 0), Ty::U64);
        let ok = m.op(Op::Le, &[bounds[1], room], Ty::Bool);
        let safe = m.op(Op::Select, &[ok, count, zero], Ty::U64);
        let length = m.finish(vec![safe, ok, bounds[0], bounds[1], room]);
        let mut m = Maker::new(&mut self.rng, &no_scope, &[Ty::U64]);
        let from = m.lit(Const::u64(start as u64));
        let index = m.op(Op::Add, &[0, from], Ty::U64);
        let results = (0..types.len())
            .map(|f| m.push(Term::At(of, f as u32, index, false), types[f]))
            .collect();
        let body = m.finish(results);
        Some(Step::Generate(Length::Checked(length), body))
    }

    /// `reverse` of an array, or of its zip with an array in memory.
    pub(super) fn reversed(&mut self, mut of: usize) -> Option<Step> {
        if self.types(of).len() < 3 && self.rng.chance(40) {
            let other = self.memory(self.data[of].len())?;
            let inputs = self.either_order(of, other);
            of = self.add(Step::Zip(inputs))?;
        }
        let types = self.types(of).to_vec();
        let len = self.add(Step::Len(of))?;
        let no_scope = Scope::default();
        let mut m = Maker::new(&mut self.rng, &no_scope, &[Ty::U64]);
        let (n, one) = (m.push(Term::Scalar(len, 0), Ty::U64), m.lit(Const::u64(1)));
        let last = m.op(Op::Sub, &[n, one], Ty::U64);
        let index = m.op(Op::Sub, &[last, 0], Ty::U64);
        let fields = (0..).zip(&types);
        let results = fields
            .map(|(f, ty)| m.push(Term::At(of, f, index, false), *ty))
            .collect();
        let body = m.finish(results);
        Some(Step::Generate(Length::Delayed(len), body))
    }

    /// An array with the length of another, where this equality is unknown before the run.
    pub(super) fn as_long_by_chance(&mut self, step: usize) -> Option<usize> {
        let n = self.data[step].len();
        let step = if self.rng.chance(50) {
            self.sliced(step, 0, n)
        } else {
            self.read_by_index(step)
        };
        self.add(step?)
    }
}
