//! What values are, by number: two that have one number are equal. A word is a sum of products, in arithmetic that wraps around, so
//! that how far two indices are from each other is known.

use crate::ir::{Operand, Shape, Value};
use loop_lang::ir::Var;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;

/// More products than this are in no sum, and more factors in no product.
const MAX_TERMS: usize = 16;
const MAX_FACTORS: usize = 4;

/// What a value is.
pub(super) type Number = u32;

/// What has a number.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Meaning {
    /// Nothing else is equal to it.
    Own(u32),
    Const(Const),
    Sum(Word),
    Op(Op, Shape, SmallVec<[Number; 3]>),
    Read(Read),
}

/// What is read of memory that nothing writes, or follows from where lanes are.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Read {
    Load(Var, Shape, Number, Option<Number>),
    Gather(Var, Shape, Number),
    Length(Var),
    Positions(Shape, Number),
    Until(Shape, Number, Number),
}

/// A word as a sum of products: how often each is in it, never not at all.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub(super) struct Word {
    products: BTreeMap<SmallVec<[Number; 2]>, u64>,
    plus: u64,
}

impl Word {
    fn number(plus: u64) -> Word {
        Word {
            products: BTreeMap::new(),
            plus,
        }
    }

    /// The number that it is, if it is one.
    pub(super) fn literal(&self) -> Option<u64> {
        self.products.is_empty().then_some(self.plus)
    }

    /// This, and so many times another.
    pub(super) fn plus(&self, times: u64, other: &Word) -> Word {
        let mut sum = self.clone();
        sum.plus = sum.plus.wrapping_add(other.plus.wrapping_mul(times));
        for (product, n) in &other.products {
            let all = sum.products.entry(product.clone()).or_insert(0);
            *all = all.wrapping_add(n.wrapping_mul(times));
        }
        sum.products.retain(|_, n| *n != 0);
        sum
    }

    fn minus(&self, other: &Word) -> Word {
        self.plus(u64::MAX, other)
    }

    fn times(&self, other: &Word) -> Option<Word> {
        let mut all = Word::number(self.plus.wrapping_mul(other.plus));
        all = all.plus(1, &self.scaled(other.plus));
        all = all.plus(1, &other.scaled(self.plus));
        for (a, n) in &self.products {
            for (b, m) in &other.products {
                let mut product: SmallVec<[Number; 2]> = a.iter().chain(b).copied().collect();
                product.sort_unstable();
                if product.len() > MAX_FACTORS {
                    return None;
                }
                let term = Word {
                    products: [(product, n.wrapping_mul(*m))].into(),
                    plus: 0,
                };
                all = all.plus(1, &term);
            }
        }
        (all.products.len() <= MAX_TERMS).then_some(all)
    }

    /// Its products, so many times.
    fn scaled(&self, times: u64) -> Word {
        let mut products = self.clone();
        products.plus = 0;
        Word::default().plus(times, &products)
    }

    /// How many times another one it is, if it is that many times it, up to so many times in either direction.
    pub(super) fn multiple_of(&self, other: &Word, most: u64) -> Option<i64> {
        let each = (0..=most).map(|n| n as i64).flat_map(|n| [n, -n]);
        let mut each = each.filter(|n| *self == Word::default().plus(*n as u64, other));
        each.next()
    }
}

/// The numbers of values.
#[derive(Default)]
pub(super) struct Words {
    meanings: Vec<Meaning>,
    numbers: FxHashMap<Meaning, Number>,
    of: FxHashMap<Value, Number>,
}

impl Words {
    fn number(&mut self, meaning: Meaning) -> Number {
        if let Some(known) = self.numbers.get(&meaning) {
            return *known;
        }
        let number = self.meanings.len() as Number;
        self.meanings.push(meaning.clone());
        self.numbers.insert(meaning, number);
        number
    }

    /// A number that nothing has.
    pub(super) fn own(&mut self) -> Number {
        let next = self.meanings.len() as u32;
        self.number(Meaning::Own(next))
    }

    /// What an operand is. What is not known is something of its own from here on.
    pub(super) fn of(&mut self, a: Operand) -> Number {
        match a {
            Operand::Const(c) if c.ty == Ty::U64 => self.sum(Word::number(c.bits)),
            Operand::Const(c) => self.number(Meaning::Const(c)),
            Operand::Value(v) => {
                let known = self.of.get(&v).copied();
                known.unwrap_or_else(|| self.is_new(v))
            }
        }
    }

    /// What a value is.
    pub(super) fn is(&mut self, v: Value, number: Number) {
        self.of.insert(v, number);
    }

    /// A value is something else than all before.
    pub(super) fn is_new(&mut self, v: Value) -> Number {
        let number = self.own();
        self.of.insert(v, number);
        number
    }

    /// What a number says as a sum.
    pub(super) fn word(&self, number: Number) -> Word {
        match &self.meanings[number as usize] {
            Meaning::Sum(word) => word.clone(),
            _ => Word {
                products: [(smallvec![number], 1)].into(),
                plus: 0,
            },
        }
    }

    /// An operand as a sum.
    pub(super) fn word_of(&mut self, a: Operand) -> Word {
        let number = self.of(a);
        self.word(number)
    }

    /// How far the second is from the first.
    pub(super) fn distance(&mut self, from: Operand, to: Operand) -> Word {
        let from = self.word_of(from);
        self.word_of(to).minus(&from)
    }

    /// The number of a sum.
    pub(super) fn sum(&mut self, word: Word) -> Number {
        let mut products = word.products.iter();
        match (word.plus, products.next(), products.next()) {
            (0, Some((product, 1)), None) if product.len() == 1 => product[0],
            _ => self.number(Meaning::Sum(word)),
        }
    }

    /// What an operator gives.
    pub(super) fn op(&mut self, op: Op, shape: Shape, args: &[Operand]) -> Number {
        let numbers: SmallVec<[Number; 3]> = args.iter().map(|a| self.of(*a)).collect();
        if op == Op::Copy {
            return numbers[0];
        }
        if shape == Shape::scalar(Ty::U64)
            && let [a, b] = numbers[..]
        {
            let (a, b) = (self.word(a), self.word(b));
            let word = match op {
                Op::Add => Some(a.plus(1, &b)),
                Op::Sub => Some(a.minus(&b)),
                Op::Mul => a.times(&b),
                _ => None,
            };
            if let Some(word) = word.filter(|word| word.products.len() <= MAX_TERMS) {
                return self.sum(word);
            }
        }
        self.number(Meaning::Op(op, shape, numbers))
    }

    /// What is read.
    pub(super) fn read(&mut self, read: Read) -> Number {
        self.number(Meaning::Read(read))
    }
}
