//! Affine expressions over an innermost loop's counter: `step * counter + base`.

use loop_lang::ir::{Atom, Var};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashMap;

/// The maximum number of terms of a sum.
const MAX_TERMS: usize = 8;

/// Describes the difference of a word between consecutive iterations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stride {
    /// A constant, possibly negative.
    By(i64),
    /// A loop-invariant variable.
    Of(Var),
}

/// Represents a multiple of a constant or of a loop-invariant variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Term {
    /// The coefficient.
    pub times: i64,
    /// The constant or variable.
    pub of: Atom,
}

/// Represents a word as a linear sum over the loop's counter, in wrapping arithmetic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Affine {
    /// The counter's coefficient.
    pub step: Stride,
    /// The other terms, the last added first.
    pub base: Vec<Term>,
}

impl Affine {
    /// Returns the counter itself.
    pub(super) fn counter() -> Affine {
        Affine {
            step: Stride::By(1),
            base: Vec::new(),
        }
    }

    fn fixed(of: Atom) -> Affine {
        Affine {
            step: Stride::By(0),
            base: vec![Term { times: 1, of }],
        }
    }

    /// Tells whether it is loop-invariant.
    pub fn is_fixed(&self) -> bool {
        self.step == Stride::By(0)
    }

    /// Tells whether it changes by one per iteration.
    ///
    /// Accesses there are contiguous.
    pub fn is_near(&self) -> bool {
        matches!(self.step, Stride::By(1 | -1))
    }

    /// Returns the values added to the counter, if it is such a sum.
    ///
    /// Each value must have coefficient one.
    pub fn beyond(&self) -> Option<Vec<Atom>> {
        let up = self.step == Stride::By(1) && self.base.iter().all(|t| t.times == 1);
        up.then(|| self.base.iter().map(|t| t.of).collect())
    }

    fn plus(&self, other: &Affine) -> Option<Affine> {
        let step = match (self.step, other.step) {
            (Stride::By(a), Stride::By(b)) => Stride::By(a.wrapping_add(b)),
            (Stride::By(0), step) | (step, Stride::By(0)) => step,
            _ => return None,
        };
        // The invariant operand was added last.
        let (first, last) = if self.is_fixed() {
            (self, other)
        } else {
            (other, self)
        };
        let base: Vec<Term> = first.base.iter().chain(&last.base).copied().collect();
        (base.len() <= MAX_TERMS).then_some(Affine { step, base })
    }

    fn times(&self, n: i64) -> Option<Affine> {
        let step = match (self.step, n) {
            (Stride::By(a), n) => Stride::By(a.wrapping_mul(n)),
            (step, 1) => step,
            _ => return None,
        };
        let more = |t: &Term| Term {
            times: t.times.wrapping_mul(n),
            of: t.of,
        };
        let base = self.base.iter().map(more).collect();
        Some(Affine { step, base })
    }

    /// Multiplies by a loop-invariant value.
    fn scaled(&self, by: &Affine) -> Option<Affine> {
        match (&by.base[..], by.step) {
            ([Term { times, of }], Stride::By(0)) => match of {
                Atom::Const(c) => self.times(times.wrapping_mul(c.bits as i64)),
                Atom::Var(v) => (*self == Affine::counter() && *times == 1).then(|| Affine {
                    step: Stride::Of(*v),
                    base: Vec::new(),
                }),
            },
            _ => None,
        }
    }
}

/// Holds the words of an innermost loop that are affine.
#[derive(Default)]
pub(super) struct Sums {
    known: FxHashMap<Var, Affine>,
}

impl Sums {
    /// Starts with the counter alone.
    pub(super) fn over(counter: Var) -> Sums {
        Sums {
            known: FxHashMap::from_iter([(counter, Affine::counter())]),
        }
    }

    /// Returns the sum of a value. `outside` tells whether a variable is loop-invariant.
    pub(super) fn get(&self, a: Atom, outside: impl Fn(Var) -> bool) -> Option<Affine> {
        match a {
            Atom::Const(Const { ty: Ty::U64, .. }) => Some(Affine::fixed(a)),
            Atom::Const(_) => None,
            Atom::Var(v) => match self.known.get(&v) {
                Some(known) => Some(known.clone()),
                None => outside(v).then(|| Affine::fixed(a)),
            },
        }
    }

    /// Records `v = op args` over words.
    pub(super) fn add(&mut self, v: Var, op: Op, args: &[Atom], outside: impl Fn(Var) -> bool) {
        let [a, b] = args else {
            return;
        };
        let (Some(a), Some(b)) = (self.get(*a, &outside), self.get(*b, &outside)) else {
            return;
        };
        let sum = match op {
            Op::Add => a.plus(&b),
            Op::Sub => b.times(-1).and_then(|b| a.plus(&b)),
            Op::Mul => a.scaled(&b).or_else(|| b.scaled(&a)),
            _ => None,
        };
        self.known.extend(sum.map(|sum| (v, sum)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(ops: &[(Op, Atom, Atom)]) -> Option<Affine> {
        let mut sums = Sums::over(Var::new(0));
        let outside = |v: Var| v.index() >= 100;
        for (i, (op, a, b)) in ops.iter().enumerate() {
            sums.add(Var::new(i + 1), *op, &[*a, *b], outside);
        }
        sums.get(Atom::Var(Var::new(ops.len())), outside)
    }

    fn v(i: usize) -> Atom {
        Atom::Var(Var::new(i))
    }

    fn c(x: u64) -> Atom {
        Atom::from(Const::u64(x))
    }

    #[test]
    fn the_element_of_a_column_is_a_stride_apart_from_the_next() {
        let at = after(&[(Op::Mul, v(0), v(100)), (Op::Add, v(101), v(1))]).unwrap();
        assert_eq!(at.step, Stride::Of(Var::new(100)));
        assert_eq!(
            at.base,
            [Term {
                times: 1,
                of: v(101)
            }]
        );
        assert!(!at.is_near() && !at.is_fixed() && at.beyond().is_none());
    }

    #[test]
    fn constants_scale_what_was_added_before() {
        let at = after(&[(Op::Add, v(0), v(100)), (Op::Mul, c(3), v(1))]).unwrap();
        assert_eq!(at.step, Stride::By(3));
        assert_eq!(
            at.base,
            [Term {
                times: 3,
                of: v(100)
            }]
        );
    }

    #[test]
    fn a_mirrored_index_goes_down_and_twice_mirrored_up() {
        let down = after(&[(Op::Sub, v(100), v(0))]).unwrap();
        assert_eq!(down.step, Stride::By(-1));
        assert!(down.is_near() && down.beyond().is_none());
        let up = after(&[(Op::Sub, v(100), v(0)), (Op::Sub, v(101), v(1))]).unwrap();
        assert_eq!(up.step, Stride::By(1));
        assert_eq!(
            up.base[1],
            Term {
                times: -1,
                of: v(100)
            }
        );
    }

    #[test]
    fn affine_offset_is_told_from_the_last_sum_on() {
        let at = after(&[(Op::Add, v(0), v(100)), (Op::Add, c(7), v(1))]).unwrap();
        assert_eq!(at.beyond(), Some(vec![c(7), v(100)]));
    }

    #[test]
    fn squares_and_long_sums_are_not_followed() {
        assert_eq!(after(&[(Op::Mul, v(0), v(0))]), None);
        let long: Vec<_> = (0..=MAX_TERMS)
            .map(|i| (Op::Add, v(i), v(100 + i)))
            .collect();
        assert!(after(&long[..MAX_TERMS]).is_some());
        assert_eq!(after(&long), None);
    }
}
