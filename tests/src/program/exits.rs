//! Steps that need only the first elements of an array.
//!
//! Later elements divide by zero, so they must not be computed.

use super::body::{self, Maker, Scope};
use super::random::Making;
use super::{Body, Fold, Length, Step, Style, Term};
use crate::naive::When;
use livefusion::ast::ScanKind;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

impl Making {
    /// An array's first elements, by a predicate or a number.
    pub(super) fn first_elements(&mut self) -> Option<usize> {
        let of = self.array()?;
        match self.rng.chance(50) {
            true => self.exited(of),
            false => self.taken(of),
        }
    }

    /// The elements before some element of an array. Often a later element is an error. Other
    /// consumers may need the whole array.
    pub(super) fn exited(&mut self, array: usize) -> Option<usize> {
        if self.rng.chance(12) {
            return self.crossed(array);
        }
        let hazard = match self.rng.chance(80) {
            true => self.hazard(array),
            false => None,
        };
        let (from, test) = match hazard {
            Some((hazard, before)) => self.between(hazard, before)?,
            None => (array, self.test(array)),
        };
        let inclusive = self.rng.chance(40);
        self.add(Step::TakeWhile(from, test, inclusive))
    }

    /// Three exits of an array, each of which needs two of three derived arrays. The shared part of
    /// two exits may be an error where only the third continues.
    fn crossed(&mut self, array: usize) -> Option<usize> {
        let mut made = Vec::new();
        for _ in 0..3 {
            made.push(self.hazard(array)?.0);
        }
        let words = self.data[made[0]].columns()[0].clone();
        let mut last = None;
        for k in 0..3 {
            let both = self.either_order(made[k], made[(k + 1) % 3]);
            let sound = both.iter().filter_map(|h| self.fails_at(*h)).min();
            let until = match sound.filter(|_| self.rng.chance(80)) {
                Some(fails) => fails,
                None => words.len() - 1,
            };
            let until = words[self.rng.below(until + 1)];
            let mut zipped = self.add_in_any_case(Step::Zip(both))?;
            zipped = match self.rng.below(10) {
                0 => self.kept(zipped)?,
                1 => self.scanned(zipped)?,
                _ => zipped,
            };
            let test = match self.types(zipped).to_vec() {
                types if types[0] == Ty::U64 => self.differs(&types, until),
                _ => self.test(zipped),
            };
            let inclusive = self.rng.chance(40);
            last = self.add_in_any_case(Step::TakeWhile(zipped, test, inclusive));
            self.wanted.extend(last);
        }
        last
    }

    /// A predicate: the first of several columns differs from a number.
    fn differs(&mut self, types: &[Ty], number: u64) -> Body {
        let no_scope = Scope::default();
        let mut m = Maker::new(&mut self.rng, &no_scope, types);
        let number = m.lit(Const::u64(number));
        let test = m.op(Op::Ne, &[0, number], Ty::Bool);
        m.finish(vec![test])
    }

    /// The first failing element of an array.
    fn fails_at(&self, array: usize) -> Option<usize> {
        let traps = &self.naive.get(&self.plain[array])?.traps;
        let elements = traps.iter().filter_map(|t| match t.when {
            When::Element(i) => Some(i),
            When::Init | When::Done => None,
        });
        elements.min()
    }

    /// A step between a possible error and an exit. If the elements change type, so does the
    /// predicate.
    fn between(&mut self, hazard: usize, test: Body) -> Option<(usize, Body)> {
        let other = match self.rng.below(10) {
            0..4 => return Some((hazard, test)),
            4..6 => return Some((self.kept(hazard)?, test)),
            6 => return Some((self.unlike(hazard)?, test)),
            7 => self.scanned(hazard)?,
            8 => self.spread(hazard)?,
            _ => self.mapped(vec![hazard])?,
        };
        Some((other, self.test(other)))
    }

    /// An array's elements as whole numbers, with quotients by them, one of which is an error. Also
    /// a predicate that mostly fails before that element.
    fn hazard(&mut self, array: usize) -> Option<(usize, Body)> {
        let whole = match self.types(array) {
            [Ty::U64] => array,
            types => {
                let types = types.to_vec();
                let no_scope = Scope::default();
                let mut m = Maker::new(&mut self.rng, &no_scope, &types);
                let whole = match types[0] {
                    Ty::U64 => 0,
                    _ => m.push(Term::Cast(0, Ty::U64), Ty::U64),
                };
                let body = m.finish(vec![whole]);
                self.add(Step::Map(vec![array], body))?
            }
        };
        let words = self.data[whole].columns()[0].clone();
        let last = words.len().checked_sub(1)?;
        let zero = words[self.rng.below(last + 1)];
        let first = words.iter().position(|w| *w == zero)?;
        let until = match self.rng.chance(75) {
            true => words[self.rng.below(first + 1)],
            false => words[self.rng.below(last + 1)],
        };
        let no_scope = Scope::default();
        let mut m = Maker::new(&mut self.rng, &no_scope, &[Ty::U64]);
        let [zero, hundred] = [zero, 100].map(|c| m.lit(Const::u64(c)));
        let divisor = m.op(Op::Xor, &[0, zero], Ty::U64);
        let quotient = m.op(Op::Div, &[hundred, divisor], Ty::U64);
        let body = m.finish(vec![0, quotient]);
        let hazard = self.add_in_any_case(Step::Map(vec![whole], body))?;
        Some((hazard, self.differs(&[Ty::U64; 2], until)))
    }

    /// The first elements of an array; the number may be zero or exceed its length.
    pub(super) fn taken(&mut self, array: usize) -> Option<usize> {
        if self.rng.chance(30) {
            return self.as_many_as_both(array);
        }
        let scope = self.scope();
        let n = match (self.rng.below(10), self.length()) {
            (0, _) => body::random(&mut self.rng, &scope, &[], &[Ty::U64]),
            (1..4, Length::Delayed(n)) => Body {
                terms: vec![Term::Scalar(n, 0)],
                results: vec![0],
                ..Body::default()
            },
            _ => body::literals(&[Const::u64(self.some_number(array))]),
        };
        self.add(Step::Take(array, n))
    }

    /// Only an array's first elements.
    pub(super) fn ended(&mut self, array: usize) -> Option<usize> {
        if self.rng.chance(50) {
            let (test, inclusive) = (self.test(array), self.rng.chance(40));
            return self.add(Step::TakeWhile(array, test, inclusive));
        }
        let n = body::literals(&[Const::u64(self.some_number(array))]);
        self.add(Step::Take(array, n))
    }

    /// A number of elements to take.
    fn some_number(&mut self, array: usize) -> u64 {
        let n = self.data[array].len();
        let some = match self.rng.below(6) {
            0 => 0,
            1 => n + 2,
            2 => n,
            _ => self.rng.below(n + 1),
        };
        some as u64
    }

    /// `zip_shortest` of two arrays, at an index or in order. Or the elements of one array, limited
    /// by a number.
    fn as_many_as_both(&mut self, array: usize) -> Option<usize> {
        let mut of = vec![array];
        if self.rng.chance(70) {
            of.push(self.array()?);
            if self.rng.chance(50) {
                let step = self.fitting_shortest(of)?;
                return self.add(step);
            }
        }
        let most = match of.len() {
            1 => self.some_number(array),
            _ => u64::MAX,
        };
        let length = self.least_length(&of, most)?;
        let no_scope = Scope::default();
        let columns = of.iter().flat_map(|a| {
            let types = (0..).zip(self.types(*a).to_vec());
            types.map(|(f, ty)| (*a, f, ty)).collect::<Vec<_>>()
        });
        let columns: Vec<(usize, u32, Ty)> = columns.collect();
        let mut m = Maker::new(&mut self.rng, &no_scope, &[Ty::U64]);
        let read = |(a, f, ty)| m.push(Term::At(a, f, 0, false), ty);
        let results = columns.into_iter().map(read).collect();
        let body = m.finish(results);
        self.add(Step::Generate(length, body))
    }

    /// The minimum of some arrays' lengths and a number, known if they are.
    fn least_length(&mut self, of: &[usize], most: u64) -> Option<Length> {
        let known: Option<Vec<u64>> = of.iter().map(|a| self.known_len(*a)).collect();
        if let Some(known) = known {
            let least = known.into_iter().fold(most, u64::min);
            return Some(Length::Known(least));
        }
        let lens: Option<Vec<usize>> = of.iter().map(|a| self.add(Step::Len(*a))).collect();
        let lens = lens?;
        let no_scope = Scope::default();
        let mut m = Maker::new(&mut self.rng, &no_scope, &[]);
        let mut least = m.lit(Const::u64(most));
        for len in lens {
            let len = m.push(Term::Scalar(len, 0), Ty::U64);
            least = m.op(Op::Min, &[least, len], Ty::U64);
        }
        let body = m.finish(vec![least]);
        Some(Length::Delayed(self.add(Step::Compute(body))?))
    }

    /// `unique`: elements that differ from their predecessor.
    pub(super) fn unlike(&mut self, array: usize) -> Option<usize> {
        let types = self.types(array).to_vec();
        let n = types.len();
        let zeros: Vec<Const> = types.iter().map(|t| Const::zero(*t)).collect();
        let no_scope = Scope::default();
        let m = Maker::new(&mut self.rng, &no_scope, &[&types[..], &types].concat());
        let latest = Fold {
            start: body::literals(&zeros),
            step: m.finish((n..2 * n).collect()),
            style: Style::Associative,
        };
        let before = self.add(Step::Scan(array, latest, ScanKind::Exclusive))?;
        let both = self.add(Step::Zip(vec![array, before]))?;
        let mut m = Maker::new(&mut self.rng, &no_scope, &[&types[..], &types].concat());
        let differs = m.op(Op::Ne, &[0, n], Ty::Bool);
        let test = m.finish(vec![differs]);
        let kept = self.add(Step::Filter(both, test))?;
        self.add(Step::Fields(kept, 0..n as u32))
    }
}
