//! Merges: arrays of any rates, taken one element at a time.

use super::body::Maker;
use super::random::Making;
use super::{Step, Term};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

/// The limit on fields of an element.
const WIDEST: usize = 8;

impl Making {
    /// A merge of two arrays: ordered, alternating, or by flags.
    pub(super) fn merge(&mut self, x: usize, y: usize) -> Option<Step> {
        let (n, m) = (self.data[x].len(), self.data[y].len());
        if self.types(x).len() + self.types(y).len() > WIDEST {
            return None;
        }
        // Unequal lengths are a trap.
        let in_turn = n == m || self.rng.chance(10);
        match self.rng.below(3) {
            0 if in_turn => Some(self.in_turn(x, y)),
            1 => {
                let mut flags = vec![0u64; n + m];
                flags[..n].fill(1);
                if self.rng.chance(10) {
                    flags.pop();
                }
                self.rng.shuffle(&mut flags);
                let flags = self.add(Step::Data(vec![(Ty::Bool, flags)]))?;
                Some(self.by_flags(flags, x, y))
            }
            _ => Some(self.in_some_order(x, y)),
        }
    }

    /// A merge of an array with another.
    pub(super) fn merged(&mut self, array: usize) -> Option<usize> {
        let other = self.array()?;
        let inputs = self.either_order(array, other);
        let step = self.merge(inputs[0], inputs[1])?;
        self.add(step)
    }

    /// An ordered merge by a relation that need not be an order. It ends with the rest of one
    /// input.
    fn in_some_order(&mut self, x: usize, y: usize) -> Step {
        let (params, scope) = (self.params(&[x, y]), self.scope());
        let [more_x, more_y] = [3, 2].map(|k| params.len() - k);
        let widths = [x, y].map(|s| self.types(s).len());
        let mut m = Maker::new(&mut self.rng, &scope, &params);
        let order = m.expr(Ty::Bool, 2);
        let (yes, no) = (m.lit(Const::bool(true)), m.lit(Const::bool(false)));
        let first = m.push(Term::Cond(more_y, order, yes), Ty::Bool);
        let left = m.push(Term::Cond(more_x, first, no), Ty::Bool);
        let right = m.op(Op::Not, &[left], Ty::Bool);
        let zero = m.lit(Const::u64(0));
        let mut results = vec![left, right, yes, zero, zero];
        results.extend(element(&mut m, left, 0, widths));
        Step::Merge(vec![x, y], m.finish(results))
    }

    /// Alternates between the inputs.
    fn in_turn(&mut self, x: usize, y: usize) -> Step {
        let (params, scope) = (self.params(&[x, y]), self.scope());
        let [more_x, more_y, made] = [3, 2, 1].map(|k| params.len() - k);
        let widths = [x, y].map(|s| self.types(s).len());
        let mut m = Maker::new(&mut self.rng, &scope, &params);
        let (zero, one) = (m.lit(Const::u64(0)), m.lit(Const::u64(1)));
        let odd = m.op(Op::And, &[made, one], Ty::U64);
        let left = m.op(Op::Eq, &[odd, zero], Ty::Bool);
        let right = m.op(Op::Not, &[left], Ty::Bool);
        let no_y = m.op(Op::Not, &[more_y], Ty::Bool);
        let even_fits = m.op(Op::Or, &[more_x, no_y], Ty::Bool);
        let fits = m.push(Term::Cond(left, even_fits, more_y), Ty::Bool);
        let short = m.op(Op::Shr, &[made, one], Ty::U64);
        let long = m.op(Op::Add, &[short, one], Ty::U64);
        let got = m.push(Term::Cond(left, long, short), Ty::U64);
        let expected = m.push(Term::Cond(left, short, long), Ty::U64);
        let mut results = vec![left, right, fits, got, expected];
        results.extend(element(&mut m, left, 0, widths));
        Step::Merge(vec![x, y], m.finish(results))
    }

    /// Selects the input by a flag.
    fn by_flags(&mut self, flags: usize, x: usize, y: usize) -> Step {
        let (params, scope) = (self.params(&[flags, x, y]), self.scope());
        let [more, more_x, more_y, made] = [4, 3, 2, 1].map(|k| params.len() - k);
        let widths = [x, y].map(|s| self.types(s).len());
        let mut m = Maker::new(&mut self.rng, &scope, &params);
        let one = m.lit(Const::u64(1));
        let is_there = m.push(Term::Cond(0, more_x, more_y), Ty::Bool);
        let any = m.op(Op::Or, &[more_x, more_y], Ty::Bool);
        let none = m.op(Op::Not, &[any], Ty::Bool);
        let fits = m.push(Term::Cond(more, is_there, none), Ty::Bool);
        let left = m.op(Op::And, &[more, 0], Ty::Bool);
        let flag_is_down = m.op(Op::Not, &[0], Ty::Bool);
        let right = m.op(Op::And, &[more, flag_is_down], Ty::Bool);
        let next = m.op(Op::Add, &[made, one], Ty::U64);
        let got = m.push(Term::Cond(more, made, next), Ty::U64);
        let expected = m.push(Term::Cond(more, next, made), Ty::U64);
        let mut results = vec![is_there, left, right, fits, got, expected];
        results.extend(element(&mut m, left, 1, widths));
        Step::Merge(vec![flags, x, y], m.finish(results))
    }

    /// The parameter types of a merge step.
    fn params(&self, inputs: &[usize]) -> Vec<Ty> {
        let fields = inputs.iter().flat_map(|i| self.types(*i).to_vec());
        let live = inputs.iter().map(|_| Ty::Bool);
        fields.chain(live).chain([Ty::U64]).collect()
    }
}

/// The fields of the selected element, after `before` other parameters. For inputs of different
/// types, the fields of both, with zeros for the missing one.
fn element(
    m: &mut Maker<'_>,
    left: usize,
    before: usize,
    [wide_x, wide_y]: [usize; 2],
) -> Vec<usize> {
    let xs: Vec<usize> = (before..before + wide_x).collect();
    let ys: Vec<usize> = (before + wide_x..before + wide_x + wide_y).collect();
    let types = |m: &Maker<'_>, of: &[usize]| of.iter().map(|t| m.ty(*t)).collect::<Vec<Ty>>();
    if types(m, &xs) == types(m, &ys) {
        let both = xs.into_iter().zip(ys);
        let cond = |(x, y)| {
            let ty = m.ty(x);
            m.push(Term::Cond(left, x, y), ty)
        };
        return both.map(cond).collect();
    }
    let sides = xs.into_iter().map(|x| (x, true));
    let sides = sides.chain(ys.into_iter().map(|y| (y, false)));
    let cond = |(t, is_left): (usize, bool)| {
        let ty = m.ty(t);
        let zero = m.lit(Const::zero(ty));
        let (then, other) = if is_left { (t, zero) } else { (zero, t) };
        m.push(Term::Cond(left, then, other), ty)
    };
    sides.map(cond).collect()
}
