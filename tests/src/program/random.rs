//! Random programs.
//!
//! The naive evaluator runs during generation, so that lengths fit and few programs trap.

use super::body::{self, Maker, Scope};
use super::{Body, Length, Program, Step, Term, fold};
use crate::naive::{Bound, Data, Naive};
use crate::rng::Rng;
use crate::scalar;
use livefusion::ast::{Node, ScanKind};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::ops::Range;
use std::sync::Arc;

/// Configures the programs.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The maximum number of combinators.
    pub steps: usize,
    /// Lengths of the arrays in memory.
    pub lengths: &'static [usize],
    /// How combinators select arrays.
    pub way: Way,
}

/// Lists ways in which combinators select arrays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Random combinators on random arrays.
    Drawn,
    /// A few arrays, each with several random uses.
    Wired,
    /// Like `Drawn`, with parts of several combinators.
    Parts,
    /// All arrays have several uses. They have one type and few lengths, so that most fit together.
    Dense,
    /// Like `Drawn`, with conditions whose arms share a trapping term.
    Sharing,
}

impl Options {
    /// Gives small arrays, around the sizes of lanes and blocks.
    pub const SMALL: Options = Options {
        steps: 12,
        lengths: &[
            0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 70,
        ],
        way: Way::Drawn,
    };
    /// Gives small arrays, and parts of several combinators.
    pub const PARTS: Options = Options {
        steps: 16,
        way: Way::Parts,
        ..Options::SMALL
    };
    /// Gives arrays of several chunks.
    pub const CHUNKS: Options = Options {
        steps: 6,
        lengths: &[16383, 16384, 16385, 32773, 40000],
        way: Way::Drawn,
    };
    /// Gives small arrays, and conditions whose arms share a trapping term.
    pub const SHARING: Options = Options {
        way: Way::Sharing,
        ..Options::SMALL
    };
    /// Gives few elements with many uses.
    pub const WIRED: Options = Options {
        steps: 5,
        lengths: &[0, 1, 2, 2, 3, 3, 4, 5, 6, 7, 9, 17],
        way: Way::Wired,
    };
    /// Gives very few elements, with many uses of derived arrays too.
    pub const DENSE: Options = Options {
        steps: 28,
        lengths: &[0, 1, 1, 2, 2, 3],
        way: Way::Dense,
    };
}

/// Returns programs of consecutive seeds.
///
/// `LOOP_SEED` sets the first seed, and `LOOP_PROGRAMS` limits the number.
pub fn programs(n: u64, options: Options) -> impl Iterator<Item = (u64, Program)> {
    programs_of(0..n, options)
}

/// Returns programs for a part of the seeds of [`programs`].
pub fn programs_of(seeds: Range<u64>, options: Options) -> impl Iterator<Item = (u64, Program)> {
    let number = |name| std::env::var(name).ok().and_then(|s| s.parse::<u64>().ok());
    let first = number("LOOP_SEED").unwrap_or(0);
    let end = number("LOOP_PROGRAMS").map_or(seeds.end, |most| seeds.end.min(most));
    (first + seeds.start..first + end).map(move |seed| (seed, random(seed, options)))
}

/// Returns the program of a seed.
pub fn random(seed: u64, options: Options) -> Program {
    drawn(Rng::new(seed), seed, options)
}

/// Returns the program that a generator draws.
///
/// Wired programs cycle through the patterns of use by `turn`.
pub fn drawn(mut rng: Rng, turn: u64, options: Options) -> Program {
    let lengths = [rng.pick(options.lengths), rng.pick(options.lengths)];
    let mut m = Making {
        rng,
        options,
        lengths,
        program: Program::default(),
        nodes: vec![],
        plain: vec![],
        naive: Naive::default(),
        data: vec![],
        wanted: vec![],
    };
    m.run(turn);
    m.program
}

pub(super) struct Making {
    pub(super) rng: Rng,
    pub(super) options: Options,
    pub(super) lengths: [usize; 2],
    pub(super) program: Program,
    pub(super) nodes: Vec<Arc<Node>>,
    pub(super) plain: Vec<Arc<Node>>,
    pub(super) naive: Naive,
    /// The value of each step.
    pub(super) data: Vec<Data>,
    /// Steps that are forced in any case.
    pub(super) wanted: Vec<usize>,
}

impl Making {
    fn run(&mut self, turn: u64) {
        match self.options.way {
            Way::Drawn | Way::Parts | Way::Sharing => {}
            Way::Wired => {
                self.wire(turn);
                if self.rng.chance(70) && !self.program.steps.is_empty() {
                    return self.choose_roots();
                }
            }
            Way::Dense => {
                self.entangle();
                return self.choose_roots();
            }
        }
        for _ in 0..self.rng.range(1, 3) {
            let step = self.manifest();
            self.add(step);
        }
        let want = self.program.steps.len() + self.rng.range(2, self.options.steps);
        for _ in 0..4 * want {
            if self.program.steps.len() >= want + 3 {
                break;
            }
            match self.options.way == Way::Parts && self.rng.chance(60) {
                true => drop(self.part()),
                false => self.combinator(),
            }
        }
        self.choose_roots();
    }

    /// Adds a step, unless it is invalid or traps. Some trapping steps are kept, because some
    /// programs must trap.
    pub(super) fn add(&mut self, step: Step) -> Option<usize> {
        let keep_traps = self.rng.chance(match self.options.way {
            Way::Dense => 3,
            Way::Drawn | Way::Parts | Way::Wired | Way::Sharing => 60,
        });
        self.add_if(step, keep_traps)
    }

    /// Adds a step, unless it is invalid.
    pub(super) fn add_in_any_case(&mut self, step: Step) -> Option<usize> {
        self.add_if(step, true)
    }

    fn add_if(&mut self, step: Step, keep_traps: bool) -> Option<usize> {
        let at = self.program.steps.len();
        let node = step.build(at, &self.nodes);
        if let Some(error) = &node.error {
            assert!(
                matches!(
                    error.kind,
                    livefusion::error::ErrorKind::LengthMismatch { .. }
                ),
                "a random step is malformed: {error}\n{step:?}"
            );
            return None;
        }
        if let Some((of_inner, outer, fold)) = self.levels(&step, &node) {
            // The builder splits segments of segments by level; separate steps do the same.
            let pieces = self.add_if(of_inner, keep_traps)?;
            return self.add_if(Step::FoldS(outer, pieces, fold), keep_traps);
        }
        let plain = step.build_plain(&node, &self.plain);
        let e = self.naive.eval(&plain);
        if (!e.traps.is_empty() && !keep_traps) || e.data.len() > 4 * self.longest() {
            return None;
        }
        self.data.push(e.data.clone());
        self.program.steps.push(step);
        self.nodes.push(node);
        self.plain.push(plain);
        Some(at)
    }

    pub(super) fn longest(&self) -> usize {
        self.lengths[0].max(self.lengths[1]).max(20)
    }

    pub(super) fn types(&self, step: usize) -> &[Ty] {
        &self.nodes[step].types
    }

    pub(super) fn arrays(&self) -> Vec<usize> {
        (0..self.nodes.len())
            .filter(|i| self.nodes[*i].rank == 1)
            .collect()
    }

    /// A random array, preferring recent ones.
    pub(super) fn array(&mut self) -> Option<usize> {
        let all = self.arrays();
        if all.is_empty() {
            return None;
        }
        let a = self.rng.below(all.len());
        Some(
            all[if self.rng.chance(60) {
                a.max(self.rng.below(all.len()))
            } else {
                a
            }],
        )
    }

    /// Arrays with the length of another.
    pub(super) fn as_long_as(&self, step: usize) -> Vec<usize> {
        let n = self.data[step].len();
        self.arrays()
            .into_iter()
            .filter(|a| self.data[*a].len() == n)
            .collect()
    }

    pub(super) fn scope(&self) -> Scope {
        let mut scope = Scope {
            shares: self.options.way == Way::Sharing,
            ..Scope::default()
        };
        for (i, node) in self.nodes.iter().enumerate() {
            if node.rank == 0 {
                scope.scalars.push((i, node.types.to_vec()));
            } else {
                scope
                    .arrays
                    .push((i, node.types.to_vec(), self.data[i].len()));
            }
        }
        scope
    }

    pub(super) fn random_types(&mut self, most: usize) -> Vec<Ty> {
        (0..self.rng.range(1, most))
            .map(|_| self.rng.pick(&Ty::ALL))
            .collect()
    }

    fn manifest(&mut self) -> Step {
        let n = self.rng.pick(&self.lengths);
        let types = self.random_types(3);
        let rng = &mut self.rng;
        let column = |ty: Ty| (ty, (0..n).map(|_| scalar::random(rng, ty)).collect());
        Step::Data(types.into_iter().map(column).collect())
    }

    fn combinator(&mut self) {
        let step = match self.rng.weighted(&[
            20, 10, 9, 14, 7, 16, 14, 23, 10, 7, 4, 14, 4, 9, 28, 10, 16, 7, 9,
        ]) {
            0 => self.map(),
            1 => self.zip(),
            2 => self.fields(),
            3 => self.filter(),
            4 => self.pack(),
            5 => self.fold(),
            6 => self.scan(),
            7 => self.scan_total(),
            8 => self.scatter(),
            9 => self.compute(),
            10 => self.array().map(Step::Len),
            11 => self.generate(),
            13 => self.take_while(),
            14 => self.segmented(),
            16 => self.array().and_then(|first| self.append(first)),
            17 => self.shortest(),
            18 => {
                let array = self.array();
                array.and_then(|array| self.merged(array));
                None
            }
            15 => {
                self.first_elements();
                None
            }
            _ => Some(self.manifest()),
        };
        if let Some(step) = step {
            self.add(step);
        }
    }

    /// The length of a step's array, if it is known before the run.
    pub(super) fn known_len(&self, step: usize) -> Option<u64> {
        self.nodes[step].len
    }

    fn in_step(&mut self, most: usize) -> Option<Vec<usize>> {
        let first = self.array()?;
        let fit = self.as_long_as(first);
        let all = self.arrays();
        let mut inputs = vec![first];
        for _ in 1..self.rng.range(1, most) {
            inputs.push(match self.rng.below(100) {
                // Unequal lengths trap, or are an error of the builder.
                0..3 => self.rng.pick(&all),
                3..25 => self.as_long_by_chance(first)?,
                _ => self.rng.pick(&fit),
            });
        }
        Some(inputs)
    }

    fn map(&mut self) -> Option<Step> {
        let inputs = self.in_step(3)?;
        let params: Vec<Ty> = inputs
            .iter()
            .flat_map(|i| self.types(*i).to_vec())
            .collect();
        let results = self.random_types(2);
        let scope = self.scope();
        Some(Step::Map(
            inputs,
            body::random(&mut self.rng, &scope, &params, &results),
        ))
    }

    fn zip(&mut self) -> Option<Step> {
        let inputs = self.in_step(3)?;
        let width: usize = inputs.iter().map(|i| self.types(*i).len()).sum();
        (width <= 8).then_some(Step::Zip(inputs))
    }

    /// A zip of arrays of any lengths, up to the shortest.
    fn shortest(&mut self) -> Option<Step> {
        let wanted = self.rng.range(2, 3);
        let inputs: Option<Vec<usize>> = (0..wanted).map(|_| self.array()).collect();
        self.fitting_shortest(inputs?)
    }

    /// A zip up to the shortest input, unless it has too many fields.
    pub(super) fn fitting_shortest(&self, inputs: Vec<usize>) -> Option<Step> {
        let width: usize = inputs.iter().map(|i| self.types(*i).len()).sum();
        (width <= 8).then_some(Step::ZipShortest(inputs))
    }

    fn fields(&mut self) -> Option<Step> {
        let input = self.array()?;
        let width = self.types(input).len();
        let low = self.rng.below(width);
        let high = self.rng.range(low + 1, width);
        (high - low < width).then_some(Step::Fields(input, low as u32..high as u32))
    }

    fn filter(&mut self) -> Option<Step> {
        let input = self.array()?;
        let params = self.types(input).to_vec();
        let scope = self.scope();
        Some(Step::Filter(
            input,
            body::random(&mut self.rng, &scope, &params, &[Ty::Bool]),
        ))
    }

    fn pack(&mut self) -> Option<Step> {
        let data = self.array()?;
        let mut fit = self.as_long_as(data);
        fit.retain(|t| self.types(*t) == [Ty::Bool]);
        let tags = match self.rng.below(fit.len() + 1) {
            0 => {
                let params = self.types(data).to_vec();
                let scope = self.scope();
                let test = body::random(&mut self.rng, &scope, &params, &[Ty::Bool]);
                self.add(Step::Map(vec![data], test))?
            }
            k => fit[k - 1],
        };
        Some(Step::Pack(data, tags))
    }

    /// An append of an array and others of its type. Some of them are filtered or cut first.
    pub(super) fn append(&mut self, first: usize) -> Option<Step> {
        let types = self.types(first).to_vec();
        let mut parts = vec![first];
        for _ in 0..self.rng.range(1, 2) {
            let mut fit = self.arrays();
            fit.retain(|a| self.types(*a) == types);
            parts.push(self.rng.pick(&fit));
        }
        if self.rng.chance(60) {
            for part in &mut parts {
                *part = self.some_of(*part)?;
            }
        }
        self.rng.shuffle(&mut parts);
        Some(Step::Append(parts))
    }

    fn take_while(&mut self) -> Option<Step> {
        let input = self.array()?;
        let params = self.types(input).to_vec();
        let scope = self.scope();
        let test = body::random(&mut self.rng, &scope, &params, &[Ty::Bool]);
        Some(Step::TakeWhile(input, test, self.rng.chance(40)))
    }

    fn fold(&mut self) -> Option<Step> {
        let input = self.array()?;
        let elem = self.types(input).to_vec();
        let scope = self.scope();
        Some(Step::Fold(
            input,
            fold::random(&mut self.rng, &scope, &elem, false),
        ))
    }

    fn scan(&mut self) -> Option<Step> {
        let input = self.array()?;
        let elem = self.types(input).to_vec();
        let scope = self.scope();
        let fold = fold::random(&mut self.rng, &scope, &elem, true);
        let kind = self.scan_kind();
        Some(Step::Scan(input, fold, kind))
    }

    pub(super) fn scan_kind(&mut self) -> ScanKind {
        self.rng.pick(&[ScanKind::Exclusive, ScanKind::Inclusive])
    }

    fn scan_total(&mut self) -> Option<Step> {
        let is_scan = |i: &usize| matches!(self.program.steps[*i], Step::Scan(..));
        let scans: Vec<usize> = (0..self.program.steps.len()).filter(is_scan).collect();
        (!scans.is_empty()).then(|| Step::ScanTotal(self.rng.pick(&scans)))
    }

    fn scatter(&mut self) -> Option<Step> {
        let values = self.array()?;
        let scans = self.rng.chance(40);
        let like = match scans && self.rng.chance(50) {
            true => self.array()?,
            false => values,
        };
        let types = self.types(like).to_vec();
        let fit: Vec<usize> = self
            .arrays()
            .into_iter()
            .filter(|b| self.types(*b) == types)
            .collect();
        let base = if self.rng.chance(50) {
            let n = self.rng.range(1, 12) as u64;
            let constants: Vec<Const> = types
                .iter()
                .map(|t| Const {
                    ty: *t,
                    bits: scalar::random(&mut self.rng, *t),
                })
                .collect();
            let value = Body {
                params: vec![Ty::U64],
                ..body::literals(&constants)
            };
            self.add(Step::Generate(Length::Known(n), with_param(value)))?
        } else {
            self.rng.pick(&fit)
        };
        let indices = self.indices(values, self.data[base].len())?;
        let scope = Scope {
            pure: true,
            ..self.scope()
        };
        let params = [&types[..], self.types(values)].concat();
        if scans {
            let step = body::random(&mut self.rng, &scope, &params, &types);
            let kind = self.scan_kind();
            return Some(Step::ScanByIndex(base, indices, values, step, kind));
        }
        let combine = match self.rng.below(4) {
            0 => None,
            1 => Some(body::random(&mut self.rng, &scope, &params, &types)),
            _ => Some(fold::associative(&mut self.rng, &scope, &types)),
        };
        Some(Step::Scatter(base, indices, values, combine))
    }

    /// Indices in step with an array, mostly below `n`.
    fn indices(&mut self, with: usize, n: usize) -> Option<usize> {
        let params = self.types(with).to_vec();
        let inside = n > 0 && self.rng.chance(90);
        let scope = self.scope();
        let mut m = Maker::new(&mut self.rng, &scope, &params);
        let mut index = m.expr(Ty::U64, 1);
        if inside {
            let n = m.lit(Const::u64(n as u64));
            index = m.op(Op::Rem, &[index, n], Ty::U64);
        }
        let body = m.finish(vec![index]);
        self.add(Step::Map(vec![with], body))
    }

    fn compute(&mut self) -> Option<Step> {
        let results = self.random_types(2);
        let scope = self.scope();
        Some(Step::Compute(body::random(
            &mut self.rng,
            &scope,
            &[],
            &results,
        )))
    }

    fn generate(&mut self) -> Option<Step> {
        match self.rng.below(4) {
            0 => return self.array().and_then(|of| self.slice(of)),
            1 => return self.array().and_then(|of| self.read_by_index(of)),
            _ => {}
        }
        let len = self.length();
        let results = self.random_types(2);
        let scope = self.scope();
        Some(Step::Generate(
            len,
            body::random(&mut self.rng, &scope, &[Ty::U64], &results),
        ))
    }

    pub(super) fn length(&mut self) -> Length {
        let most = self.longest() as u64;
        let small = |d: &Data| matches!(d, Data::Scalar(f) if f[0] <= most);
        let delayed: Vec<usize> = (0..self.nodes.len())
            .filter(|i| {
                self.types(*i) == [Ty::U64]
                    && self.nodes[*i].rank == 0
                    && self.is_exact(*i)
                    && small(&self.data[*i])
            })
            .collect();
        match self.rng.below(3) {
            0 if !delayed.is_empty() => Length::Delayed(self.rng.pick(&delayed)),
            1 => Length::Known(self.rng.below(20) as u64),
            _ => Length::Known(self.rng.pick(&self.lengths) as u64),
        }
    }

    /// Whether a step's value is exact to the bit.
    pub(super) fn is_exact(&self, step: usize) -> bool {
        let e = self.naive.get(&self.plain[step]);
        e.is_some_and(|e| !e.tainted && e.bounds.iter().all(|b| *b == Bound::Exact))
    }

    /// Whether a step or its dependencies may trap.
    pub(super) fn may_trap(&self, step: usize) -> bool {
        let e = self.naive.get(&self.plain[step]);
        e.is_none_or(|e| e.may_trap)
    }

    /// A filter of an array, its first elements, or all of it.
    fn some_of(&mut self, array: usize) -> Option<usize> {
        match self.rng.below(10) {
            0..5 => {
                let (scope, types) = (self.scope(), self.types(array).to_vec());
                let test = body::random(&mut self.rng, &scope, &types, &[Ty::Bool]);
                self.add(Step::Filter(array, test))
            }
            5..8 => self.ended(array),
            _ => Some(array),
        }
    }

    /// Chooses the forced steps: unused ones, some others, and all inexact ones.
    fn choose_roots(&mut self) {
        let n = self.program.steps.len();
        let mut used = vec![false; n];
        for step in &self.program.steps {
            step.links().into_iter().for_each(|l| used[l] = true);
        }
        let mut roots: Vec<usize> = vec![];
        for (i, used) in used.iter().enumerate() {
            let e = self.naive.get(&self.plain[i]);
            let loose = e.is_some_and(|e| e.bounds.iter().any(|b| *b != Bound::Exact));
            let wanted = self.wanted.contains(&i);
            if loose || wanted || self.rng.chance(if *used { 20 } else { 90 }) {
                roots.push(i);
            }
        }
        if roots.is_empty() {
            roots.push(n - 1);
        }
        if self.rng.chance(5) {
            roots.push(roots[0]);
        }
        self.rng.shuffle(&mut roots);
        self.program.roots = roots;
    }
}

/// Adds a `u64` parameter to a body of literals.
fn with_param(mut body: Body) -> Body {
    body.terms.insert(0, Term::Param(0));
    body.results.iter_mut().for_each(|r| *r += 1);
    body
}
