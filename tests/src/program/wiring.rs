//! Steps that use arrays in random ways: a producer of some rate, and several consumers.
//!
//! The value of each step is known during generation, so computed lengths meet equal lengths.

use super::body::{self, Maker, Scope};
use super::random::{Making, Way};
use super::{Body, Fold, Length, Step, Style, Term, fold};
use crate::naive::Data;
use crate::patterns::{Producer, Rate, Use, infer};
use crate::rng::Rng;
use crate::scalar;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

/// The number of steps after which generation stops.
const ENOUGH: usize = 60;

impl Making {
    /// Creates some arrays with several uses each. The first choices cycle with the seed, so that
    /// all patterns occur equally often.
    pub(super) fn wire(&mut self, seed: u64) {
        let mut aim = seed as usize;
        let mut dealt = |n: usize| {
            let k = aim % n;
            aim /= n;
            k
        };
        let rate = Rate::ALL[dealt(Rate::ALL.len())];
        let (depth, how) = (1 + dealt(3), Use::ALL[dealt(Use::ALL.len())]);
        self.use_in_ways(rate, depth, how);
        for _ in 0..self.rng.below(2) {
            let (rate, depth) = (self.rng.pick(&Rate::ALL), self.rng.range(1, 3));
            let how = self.rng.pick(&Use::ALL);
            self.use_in_ways(rate, depth, how);
        }
    }

    /// Selects an array of a rate and depth, with this use and some others, in any order.
    fn use_in_ways(&mut self, rate: Rate, depth: usize, how: Use) -> Option<()> {
        let array = self.producer(rate, depth)?;
        let mut ways = vec![how];
        for _ in 0..self.rng.range(1, 3) {
            ways.push(self.rng.pick(&Use::ALL));
        }
        self.rng.shuffle(&mut ways);
        for how in ways {
            if self.program.steps.len() > ENOUGH {
                return None;
            }
            if let Some(result) = self.used(array, how)
                && matches!(self.data[result], Data::Array(_, 1..))
                && self.rng.chance(50)
            {
                let folded = self.folded(result);
                self.add(folded);
            }
        }
        Some(())
    }

    fn producers(&self) -> Vec<Producer> {
        infer(&self.program, |at| {
            let inputs = self.program.steps[at].inputs();
            inputs.iter().all(|i| self.is_stream(*i))
        })
    }

    fn is_stream(&self, step: usize) -> bool {
        matches!(
            self.program.steps[step],
            Step::Filter(..)
                | Step::Pack(..)
                | Step::TakeWhile(..)
                | Step::Take(..)
                | Step::Expand(..)
                | Step::ScanS(..)
                | Step::SortS(..)
                | Step::MoveS(..)
        )
    }

    /// An existing or new array of a rate and depth.
    fn producer(&mut self, rate: Rate, depth: usize) -> Option<usize> {
        if self.rng.chance(50) {
            let producers = self.producers();
            let mut fit = self.arrays();
            let depth = if rate == Rate::Root { 1 } else { depth };
            fit.retain(|i| producers[*i].rate == rate && producers[*i].depth() == depth);
            if !fit.is_empty() {
                return Some(self.rng.pick(&fit));
            }
        }
        if rate == Rate::Root {
            let n = self.some_length();
            return self.memory(n);
        }
        if rate == Rate::Cursor {
            return self.on_demand(depth);
        }
        let base = match (depth, rate) {
            (1, _) => self.producer(Rate::Root, 1)?,
            // A computed length does not count as another change of rate.
            (_, Rate::Fresh) => {
                let below = self.rng.pick(&Rate::ALL[1..6]);
                self.producer(below, depth)?
            }
            _ => {
                let below = self.rng.pick(&Rate::ALL[1..]);
                self.producer(below, depth - 1)?
            }
        };
        match rate {
            Rate::Sub => self.kept(base),
            Rate::Appended => {
                let step = self.append(base)?;
                self.add(step)
            }
            Rate::Nested if self.rng.chance(50) => self.spread(base),
            Rate::Nested => {
                let lengths = self.descriptor(base, true)?;
                self.scanned_s(lengths, base)
            }
            Rate::Segment => {
                let lengths = self.descriptor(base, true)?;
                self.folded_s(lengths, base)
            }
            _ => self.fresh(base),
        }
    }

    /// Uses an array in some way.
    pub(super) fn used(&mut self, array: usize, how: Use) -> Option<usize> {
        let n = self.data[array].len();
        match how {
            Use::InStep => {
                let producers = self.producers();
                let mut fit = self.arrays();
                fit.retain(|i| producers[*i].class == producers[array].class);
                let inputs = match self.rng.below(3) {
                    0 => vec![array, self.rng.pick(&fit)],
                    1 => vec![self.rng.pick(&fit), array],
                    _ => vec![array],
                };
                self.mapped(inputs)
            }
            Use::Kept => self.kept(array),
            Use::Folded => {
                let step = self.folded(array);
                self.add(step)
            }
            Use::Counted => self.add(Step::Len(array)),
            Use::Scanned => self.scanned(array),
            Use::CutAlone | Use::CutShared => {
                let lengths = self.descriptor(array, how == Use::CutAlone)?;
                self.cut_into(lengths, array)
            }
            Use::CutByTwo => {
                let lengths = self.descriptor(array, false)?;
                self.cut_into(lengths, array)?;
                let lengths = self.descriptor(array, true)?;
                self.cut_into(lengths, array)
            }
            Use::Twice => {
                let own = self.rng.chance(50);
                let lengths = self.descriptor(array, own)?;
                let folds = self.folded_s(lengths, array)?;
                let spread = self.expanded(lengths, folds)?;
                let inputs = self.either_order(array, spread);
                self.mapped(inputs)
            }
            Use::Describes => {
                let lengths = self.lengths_from(array)?;
                let Data::Array(columns, _) = &self.data[lengths] else {
                    return None;
                };
                let room = columns[0].iter().sum::<u64>() as usize;
                let data = self.as_long(room, lengths)?;
                self.cut_into(lengths, data)
            }
            Use::Spread => self.spread(array),
            Use::AtRandom if self.rng.chance(40) => {
                let step = self.reversed(array)?;
                let back = self.add(step)?;
                match self.rng.chance(50) {
                    true => self.kept(back),
                    false => Some(back),
                }
            }
            Use::AtRandom => self.read(array),
            Use::Beside => {
                if self.rng.chance(20) {
                    return self.merged(array);
                }
                if self.rng.chance(25) {
                    let other = self.array()?;
                    let inputs = self.either_order(array, other);
                    let step = self.fitting_shortest(inputs)?;
                    return self.add(step);
                }
                let other = self.as_long(n, array)?;
                let inputs = self.either_order(array, other);
                if self.rng.chance(50) {
                    return self.add(Step::Zip(inputs));
                }
                self.mapped(inputs)
            }
            Use::Misfit => self.beside_another_length(array),
            Use::ExitedEarly => self.exited(array),
            Use::Taken => self.taken(array),
            Use::Appended => {
                let step = self.append(array)?;
                self.add(step)
            }
            Use::Scattered => self.scattered(array),
            Use::ScatteredInto => {
                let types = self.types(array).to_vec();
                let producers = self.producers();
                let mut fit = self.arrays();
                fit.retain(|i| *i != array && self.types(*i) == types && n > 0);
                fit.retain(|i| producers[*i].class != producers[array].class);
                let values = match fit.is_empty() {
                    true => {
                        let n = self.some_length();
                        self.memory_of(n, &types)?
                    }
                    false => self.rng.pick(&fit),
                };
                let indices = self.indices_below(values, n)?;
                match self.rng.chance(50) {
                    true => self.add(Step::Scatter(array, indices, values, None)),
                    false => {
                        let step = fold::associative(&mut self.rng, &Scope::default(), &types);
                        let kind = self.scan_kind();
                        self.add(Step::ScanByIndex(array, indices, values, step, kind))
                    }
                }
            }
            // Results are chosen at the end.
            Use::ForcedFirst | Use::ForcedLast => {
                self.wanted.push(array);
                self.mapped(vec![array])
            }
        }
    }

    pub(super) fn either_order(&mut self, a: usize, b: usize) -> Vec<usize> {
        if self.rng.chance(50) {
            vec![a, b]
        } else {
            vec![b, a]
        }
    }

    /// A small length, often that of an existing array. Equal lengths combine different classes.
    fn some_length(&mut self) -> usize {
        let all = self.arrays();
        if !all.is_empty() && self.rng.chance(50) {
            return self.data[self.rng.pick(&all)].len();
        }
        self.rng.pick(&self.lengths)
    }

    pub(super) fn elem(&mut self) -> Ty {
        if self.options.way == Way::Dense {
            return Ty::U64;
        }
        let types = [
            Ty::F64,
            Ty::U64,
            Ty::I64,
            Ty::F32,
            Ty::U32,
            Ty::I16,
            Ty::U8,
            Ty::Bool,
        ];
        types[self.rng.weighted(&[40, 20, 12, 10, 6, 4, 4, 4])]
    }

    pub(super) fn memory(&mut self, n: usize) -> Option<usize> {
        let ty = self.elem();
        self.memory_of(n, &[ty])
    }

    fn memory_of(&mut self, n: usize, types: &[Ty]) -> Option<usize> {
        if let Some(known) = self.dense_array(n, types) {
            return Some(known);
        }
        let rng = &mut self.rng;
        let column = |ty: &Ty| (*ty, (0..n).map(|_| small(rng, *ty)).collect());
        let columns = types.iter().map(column).collect();
        self.add(Step::Data(columns))
    }

    /// An array of another class with this length.
    fn as_long(&mut self, n: usize, other: usize) -> Option<usize> {
        let producers = self.producers();
        let mut fit = self.arrays();
        fit.retain(|i| self.data[*i].len() == n && producers[*i].class != producers[other].class);
        if !fit.is_empty() && self.rng.chance(40) {
            return Some(self.rng.pick(&fit));
        }
        self.memory(n)
    }

    /// Lengths of segments that fit an array: shared with another array, or not.
    pub(super) fn descriptor(&mut self, array: usize, own: bool) -> Option<usize> {
        let n = self.data[array].len();
        let mut fit = self.descriptors(|all| all == n);
        fit.retain(|l| {
            let describes = |s: &Step| s.cut().is_some_and(|(d, _)| d == *l);
            *l != array && self.program.steps.iter().any(describes) != own
        });
        if !fit.is_empty() && self.rng.chance(if own { 30 } else { 90 }) {
            return Some(self.rng.pick(&fit));
        }
        let mut lengths = self.pieces(n);
        let segments = self.some_length();
        if segments > 0 && self.rng.chance(60) {
            lengths = vec![0; segments];
            for _ in 0..n {
                lengths[self.rng.below(segments)] += 1;
            }
        }
        let lengths = self.add_lengths(lengths)?;
        if !own {
            let other = self.as_long(n, array)?;
            self.cut_into(lengths, other)?;
        }
        Some(lengths)
    }

    fn cut_into(&mut self, lengths: usize, data: usize) -> Option<usize> {
        match self.rng.below(6) {
            0..2 => self.folded_s(lengths, data),
            2..4 => self.scanned_s(lengths, data),
            4 => self.sorted_s(lengths, data),
            _ => {
                let test = self.test(data);
                let tags = self.add(Step::Map(vec![data], test))?;
                let counts = self.add(Step::CountS(lengths, tags))?;
                if self.rng.chance(40) {
                    return Some(counts);
                }
                let left = self.add(Step::Pack(data, tags))?;
                self.folded_s(counts, left)
            }
        }
    }

    fn folded(&mut self, array: usize) -> Step {
        let elem = self.types(array).to_vec();
        Step::Fold(array, self.plain_fold(&elem))
    }

    pub(super) fn scanned(&mut self, array: usize) -> Option<usize> {
        let elem = self.types(array).to_vec();
        let fold = self.plain_fold(&elem);
        let kind = self.scan_kind();
        self.add(Step::Scan(array, fold, kind))
    }

    pub(super) fn folded_s(&mut self, lengths: usize, data: usize) -> Option<usize> {
        let elem = self.types(data).to_vec();
        let fold = self.plain_fold(&elem);
        self.add(Step::FoldS(lengths, data, fold))
    }

    pub(super) fn scanned_s(&mut self, lengths: usize, data: usize) -> Option<usize> {
        let elem = self.types(data).to_vec();
        let fold = self.plain_fold(&elem);
        let kind = self.scan_kind();
        self.add(Step::ScanS(lengths, data, fold, kind))
    }

    /// Some elements of an array, by a predicate or by tags.
    pub(super) fn kept(&mut self, array: usize) -> Option<usize> {
        if self.rng.chance(10) {
            return self.unlike(array);
        }
        let test = self.test(array);
        if self.rng.chance(60) {
            return self.add(Step::Filter(array, test));
        }
        let tags = self.add(Step::Map(vec![array], test))?;
        self.add(Step::Pack(array, tags))
    }

    /// Elements generated for segments whose lengths come from an array.
    pub(super) fn spread(&mut self, array: usize) -> Option<usize> {
        let lengths = self.lengths_from(array)?;
        self.expanded(lengths, array)
    }

    pub(super) fn expanded(&mut self, lengths: usize, value: usize) -> Option<usize> {
        let types = self.types(value).to_vec();
        let params = [&[Ty::U64], types.as_slice()].concat();
        let no_scope = Scope::default();
        let m = Maker::new(&mut self.rng, &no_scope, &params);
        let body = m.finish((1..=types.len()).collect());
        self.add(Step::Expand(lengths, vec![value], body))
    }

    /// Small lengths of segments, in step with an array.
    fn lengths_from(&mut self, array: usize) -> Option<usize> {
        self.indices_below(array, 4)
    }

    /// Numbers below `n`, in step with an array.
    fn indices_below(&mut self, array: usize, n: usize) -> Option<usize> {
        let params = self.types(array).to_vec();
        let no_scope = Scope::default();
        let mut m = Maker::new(&mut self.rng, &no_scope, &params);
        let index = m.push(Term::Cast(0, Ty::U64), Ty::U64);
        let index = if params[0] == Ty::U64 { 0 } else { index };
        let n = m.lit(Const::u64(n.max(1) as u64));
        let index = m.op(Op::Rem, &[index, n], Ty::U64);
        let body = m.finish(vec![index]);
        self.add(Step::Map(vec![array], body))
    }

    fn scattered(&mut self, values: usize) -> Option<usize> {
        let types = self.types(values).to_vec();
        let n = self.some_length().max(1);
        let base = self.memory_of(n, &types)?;
        let indices = self.indices_below(values, n)?;
        if self.rng.chance(30) {
            let step = fold::associative(&mut self.rng, &Scope::default(), &types);
            let kind = self.scan_kind();
            return self.add(Step::ScanByIndex(base, indices, values, step, kind));
        }
        let combine = self.rng.chance(70);
        let combine = combine.then(|| fold::associative(&mut self.rng, &Scope::default(), &types));
        self.add(Step::Scatter(base, indices, values, combine))
    }

    /// An array that reads another at indices.
    fn read(&mut self, array: usize) -> Option<usize> {
        let (types, n) = (self.types(array).to_vec(), self.data[array].len());
        if n == 0 {
            return None;
        }
        let by = match self.rng.chance(50) {
            true => Some(self.producer(Rate::Root, 1)?),
            false => None,
        };
        let params = match by {
            Some(by) => self.types(by).to_vec(),
            None => vec![Ty::U64],
        };
        let length = self.some_length() as u64;
        let checked = self.rng.chance(50);
        let no_scope = Scope::default();
        let mut m = Maker::new(&mut self.rng, &no_scope, &params);
        let index = match params[0] {
            Ty::U64 => 0,
            _ => m.push(Term::Cast(0, Ty::U64), Ty::U64),
        };
        let n = m.lit(Const::u64(n as u64));
        let index = m.op(Op::Rem, &[index, n], Ty::U64);
        let result = m.push(Term::At(array, 0, index, checked), types[0]);
        let body = m.finish(vec![result]);
        self.add(match by {
            Some(by) => Step::Map(vec![by], body),
            None => Step::Generate(Length::Known(length), body),
        })
    }

    /// An array of a computed length: another's length, or that of a zip.
    fn fresh(&mut self, base: usize) -> Option<usize> {
        let n = self.data[base].len();
        if self.rng.chance(40) {
            let other = self.memory(n)?;
            let inputs = self.either_order(base, other);
            return self.mapped(inputs);
        }
        let length = self.add(Step::Len(base))?;
        let ty = self.elem();
        let body = self.plain(&[Ty::U64], ty);
        self.add(Step::Generate(Length::Delayed(length), body))
    }

    /// A zip with an array of another length, known before or during the run. Each may have other
    /// uses, whose errors must not hide the mismatch.
    fn beside_another_length(&mut self, array: usize) -> Option<usize> {
        let n = self.data[array].len();
        let m = match self.rng.chance(50) {
            true => n.checked_sub(1)?,
            false => n + 1,
        };
        let ty = self.elem();
        let other = match self.rng.below(4) {
            0 => self.memory(m)?,
            1 => {
                let memory = self.memory(m)?;
                self.mapped(vec![memory])?
            }
            2 => {
                let memory = self.memory(m)?;
                let length = self.add(Step::Len(memory))?;
                let body = self.plain(&[Ty::U64], ty);
                self.add(Step::Generate(Length::Delayed(length), body))?
            }
            _ => {
                let memory = self.memory(m + 2)?;
                let slice = self.sliced(memory, 1, m + 1)?;
                self.add(slice)?
            }
        };
        for used in [array, other] {
            let how = self.rng.pick(&[
                Use::InStep,
                Use::Folded,
                Use::Scanned,
                Use::CutAlone,
                Use::AtRandom,
                Use::ForcedFirst,
            ]);
            if let Some(result) = self.used(used, how)
                && self.rng.chance(30)
            {
                self.wanted.push(result);
            }
        }
        let inputs = self.either_order(array, other);
        // Its other operand is complete only after a loop over one of them.
        let whole = self.folded(inputs[0]);
        let whole = self.add(whole)?;
        let params = [self.types(inputs[0]), self.types(inputs[1])].concat();
        let whole_ty = self.types(whole)[0];
        let result = self.rng.below(params.len() + 1);
        let no_scope = Scope::default();
        let mut m = Maker::new(&mut self.rng, &no_scope, &params);
        m.push(Term::Scalar(whole, 0), whole_ty);
        let body = m.finish(vec![result]);
        self.add(Step::Map(inputs, body))
    }

    pub(super) fn mapped(&mut self, inputs: Vec<usize>) -> Option<usize> {
        let ty = self.elem();
        self.mapped_to(inputs, ty)
    }

    /// A map to elements of this type.
    pub(super) fn mapped_to(&mut self, inputs: Vec<usize>, ty: Ty) -> Option<usize> {
        let types = inputs.iter().flat_map(|i| self.types(*i).to_vec());
        let params: Vec<Ty> = types.collect();
        let body = self.plain(&params, ty);
        self.add(Step::Map(inputs, body))
    }

    /// A short body over all of its parameters.
    fn plain(&mut self, params: &[Ty], ty: Ty) -> Body {
        if self.rng.chance(10) {
            let scope = self.scope();
            return body::random(&mut self.rng, &scope, params, &[ty]);
        }
        let c = small(&mut self.rng, ty);
        let ops: &[Op] = match ty {
            Ty::Bool => &[Op::And, Op::Or, Op::Xor],
            _ => &[Op::Add, Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max],
        };
        let ops: Vec<Op> = (0..=params.len()).map(|_| self.rng.pick(ops)).collect();
        let no_scope = Scope::default();
        let mut m = Maker::new(&mut self.rng, &no_scope, params);
        let mut x = m.lit(Const { ty, bits: c });
        for (k, of) in params.iter().enumerate() {
            let param = match *of == ty {
                true => k,
                false => m.push(Term::Cast(k, ty), ty),
            };
            x = m.op(ops[k], &[param, x], ty);
        }
        m.finish(vec![x])
    }

    /// A predicate that holds for some elements.
    pub(super) fn test(&mut self, array: usize) -> Body {
        let params = self.types(array).to_vec();
        if self.rng.chance(8) {
            let scope = self.scope();
            return body::random(&mut self.rng, &scope, &params, &[Ty::Bool]);
        }
        let ty = params[0];
        let column = self.data[array].columns()[0].clone();
        let bits = match column.is_empty() {
            true => small(&mut self.rng, ty),
            false => self.rng.pick(&column),
        };
        let op = self.rng.pick(&[Op::Gt, Op::Ge, Op::Lt, Op::Ne, Op::Ne]);
        let no_scope = Scope::default();
        let mut m = Maker::new(&mut self.rng, &no_scope, &params);
        let than = m.lit(Const { ty, bits });
        let test = m.op(op, &[0, than], Ty::Bool);
        m.finish(vec![test])
    }

    /// Mostly sums.
    fn plain_fold(&mut self, elem: &[Ty]) -> Fold {
        if self.rng.chance(15) {
            let scope = self.scope();
            return fold::random(&mut self.rng, &scope, elem, true);
        }
        let op = |ty: &Ty| if *ty == Ty::Bool { Op::Or } else { Op::Add };
        let start: Vec<Const> = elem.iter().map(|t| Const::zero(*t)).collect();
        let n = elem.len();
        let no_scope = Scope::default();
        let mut m = Maker::new(&mut self.rng, &no_scope, &[elem, elem].concat());
        let results = (0..n)
            .map(|k| m.op(op(&elem[k]), &[k, k + n], elem[k]))
            .collect();
        Fold {
            start: body::literals(&start),
            step: m.finish(results),
            style: Style::Associative,
        }
    }
}

/// A small number, rarely an arbitrary one.
fn small(rng: &mut Rng, ty: Ty) -> u64 {
    if rng.chance(4) {
        return scalar::random(rng, ty);
    }
    match ty {
        Ty::Bool => rng.below(2) as u64,
        t if t.is_float() => scalar::float(t, rng.below(24) as f64 / 2.0 - 2.0),
        _ => rng.below(9) as u64,
    }
}
