//! Random segmented steps, with lengths that mostly fit the data.
//!
//! Lengths come from memory or are computed, and may be shared.

use super::random::Making;
use super::{Body, Fold, Length, Step, Style, Term, body, fold};
use crate::naive::Data;
use livefusion::ast::{self, Kind, Move, Node, ScanKind, Sorted};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

impl Making {
    pub(super) fn segmented(&mut self) -> Option<Step> {
        match self.rng.weighted(&[30, 20, 25, 8, 17, 6, 18, 14]) {
            0 => self.fold_s(),
            1 => self.scan_s(),
            2 => self.expand(),
            3 => self.count_s(),
            4 => self.filter_s(),
            6 => {
                let (lengths, data) = self.segments()?;
                self.sort_s(lengths, data)
            }
            7 => self.move_s(),
            _ => self.combinations_s(),
        }
    }

    fn fold_s(&mut self) -> Option<Step> {
        let (lengths, data) = self.segments()?;
        self.fold_of(lengths, data)
    }

    fn fold_of(&mut self, lengths: usize, data: usize) -> Option<Step> {
        let elem = self.types(data).to_vec();
        let scope = self.scope();
        let fold = fold::random(&mut self.rng, &scope, &elem, false);
        Some(Step::FoldS(lengths, data, fold))
    }

    fn scan_s(&mut self) -> Option<Step> {
        let (lengths, data) = self.segments()?;
        self.scan_of(lengths, data)
    }

    fn scan_of(&mut self, lengths: usize, data: usize) -> Option<Step> {
        let elem = self.types(data).to_vec();
        let scope = self.scope();
        let fold = fold::random(&mut self.rng, &scope, &elem, true);
        let kind = self.rng.pick(&[ScanKind::Exclusive, ScanKind::Inclusive]);
        Some(Step::ScanS(lengths, data, fold, kind))
    }

    /// Elements of segments, moved: often a reversal of a scan of reversed segments.
    fn move_s(&mut self) -> Option<Step> {
        let (lengths, data) = self.segments()?;
        let scanned = match self.rng.chance(70) {
            true => {
                let reversed = match self.rng.chance(70) {
                    true => self.add(Step::MoveS(lengths, data, Move::Turned))?,
                    false => data,
                };
                let scan = self.scan_of(lengths, reversed)?;
                self.add(scan)?
            }
            false => data,
        };
        let by = self.rng.pick(&[-9, -2, -1, 1, 2, 3, 40]);
        let to = self.rng.pick(&[Move::Turned, Move::By(by)]);
        Some(Step::MoveS(lengths, scanned, to))
    }

    /// A sort by keys computed from the data.
    fn sort_s(&mut self, lengths: usize, data: usize) -> Option<Step> {
        let fields = self.rng.weighted(&[60, 30, 10]) + 1;
        let types = (0..fields).map(|_| self.rng.pick(&[Ty::U8, Ty::U16, Ty::U32, Ty::U64]));
        let types: Vec<Ty> = types.collect();
        let params = self.types(data).to_vec();
        let scope = self.scope();
        let key = body::random(&mut self.rng, &scope, &params, &types);
        let keys = self.add(Step::Map(vec![data], key))?;
        let sorted = self.rng.pick(&[Sorted::Elements, Sorted::Places]);
        Some(Step::SortS(lengths, keys, sorted))
    }

    pub(super) fn sorted_s(&mut self, lengths: usize, data: usize) -> Option<usize> {
        let sort = self.sort_s(lengths, data)?;
        self.add(sort)
    }

    fn count_s(&mut self) -> Option<Step> {
        let (lengths, data) = self.segments()?;
        let tags = self.tags(data)?;
        Some(Step::CountS(lengths, tags))
    }

    /// A count of packed elements in segments, the pack, and often a fold of the packed elements.
    fn filter_s(&mut self) -> Option<Step> {
        let (lengths, data) = self.segments()?;
        let tags = self.tags(data)?;
        let counts = self.add(Step::CountS(lengths, tags))?;
        let packed = Step::Pack(data, tags);
        if self.rng.chance(30) {
            return Some(packed);
        }
        let left = self.add(packed)?;
        self.fold_of(counts, left)
    }

    /// Tags in step with an array.
    fn tags(&mut self, data: usize) -> Option<usize> {
        let params = self.types(data).to_vec();
        let scope = self.scope();
        let test = body::random(&mut self.rng, &scope, &params, &[Ty::Bool]);
        self.add(Step::Map(vec![data], test))
    }

    /// Elements generated for segments, with a limited total.
    fn expand(&mut self) -> Option<Step> {
        let most = 4 * self.longest();
        let fit = self.descriptors(|n| n <= most);
        let lengths = match self.rng.below(fit.len() + 4) {
            0 | 1 => {
                let data = self.array()?;
                let lengths = self.pieces(self.data[data].len());
                self.add_lengths(lengths)?
            }
            2 => {
                let data = self.array()?;
                self.uniform(self.data[data].len())?
            }
            // Rows of rows.
            3 => match fit.is_empty() {
                true => return None,
                false => {
                    let around = self.rng.pick(&fit);
                    let length = Const::u64(self.rng.below(4) as u64);
                    self.add(Step::Expand(around, vec![], with_index(length)))?
                }
            },
            k => fit[k - 4],
        };
        let beside = self.as_long_as(lengths);
        let values: Vec<usize> = (0..self.rng.below(3))
            .map(|_| self.rng.pick(&beside))
            .collect();
        let mut params = vec![Ty::U64];
        params.extend(values.iter().flat_map(|v| self.types(*v).to_vec()));
        let results = self.random_types(2);
        let scope = self.scope();
        let body = body::random(&mut self.rng, &scope, &params, &results);
        Some(Step::Expand(lengths, values, body))
    }

    /// All pairs within segments: the number of partners of each element, their starts, and the
    /// pairs. Often the pairs are folded by first element or by segment.
    fn combinations_s(&mut self) -> Option<Step> {
        let (lengths, data) = self.segments()?;
        let pairs = self.data[lengths].columns()[0].iter();
        let pairs = pairs.map(|n| n.saturating_mul(n.saturating_sub(1)) / 2);
        let most = 4 * self.longest() as u64;
        if pairs.fold(0, u64::saturating_add) > most {
            return None;
        }
        let begins = self.add(Step::Scan(lengths, sum_of_lengths(), ScanKind::Exclusive))?;
        let scope = self.scope();
        let mut m = body::Maker::new(&mut self.rng, &scope, &[Ty::U64; 2]);
        let one = m.lit(Const::u64(1));
        let next = m.op(Op::Add, &[0, one], Ty::U64);
        let rest = m.op(Op::Sub, &[1, next], Ty::U64);
        let rest = m.finish(vec![rest]);
        let mut m = body::Maker::new(&mut self.rng, &scope, &[Ty::U64; 2]);
        let one = m.lit(Const::u64(1));
        let next = m.op(Op::Add, &[0, one], Ty::U64);
        let second = m.op(Op::Add, &[1, next], Ty::U64);
        let second = m.finish(vec![second]);
        let rest = self.add(Step::Expand(lengths, vec![lengths], rest))?;
        let second = self.add(Step::Expand(lengths, vec![begins], second))?;
        let types = self.types(data).to_vec();
        let params = [&[Ty::U64; 2][..], &types].concat();
        let mut m = body::Maker::new(&mut self.rng, &scope, &params);
        let at = m.op(Op::Add, &[0, 1], Ty::U64);
        let other = m.push(Term::At(data, 0, at, true), types[0]);
        let pair = m.finish(vec![2, other]);
        let pairs = Step::Expand(rest, vec![second, data], pair);
        if self.rng.chance(40) {
            return Some(pairs);
        }
        let pairs = self.add(pairs)?;
        let by = match self.rng.chance(30) {
            true => rest,
            false => self.add(Step::FoldS(lengths, rest, sum_of_lengths()))?,
        };
        self.fold_of(by, pairs)
    }

    /// The steps of a fold or a count over nested segments, if the builder splits it by level. They
    /// are the inner fold, the outer lengths, and the outer fold.
    pub(super) fn levels(&self, step: &Step, built: &Node) -> Option<(Step, usize, Fold)> {
        let (lengths, data, fold) = match step {
            Step::FoldS(lengths, data, fold) => (*lengths, *data, Some(fold)),
            Step::CountS(lengths, tags) => (*lengths, *tags, None),
            _ => return None,
        };
        let nodes = &self.nodes;
        if Arc::ptr_eq(&built.inputs[0], &nodes[lengths]) {
            return None;
        }
        let step_of = |node: &Arc<Node>| nodes.iter().position(|n| Arc::ptr_eq(n, node));
        let [outer, inner] = [0, 1].map(|k| step_of(&nodes[lengths].inputs[k]));
        let (outer, inner) = (outer?, inner?);
        let Some(fold) = fold else {
            return Some((Step::CountS(inner, data), outer, sum_of_lengths()));
        };
        let Kind::FoldS(pieces) = &built.inputs[1].kind else {
            return None;
        };
        let start: Option<Vec<Const>> = pieces
            .start
            .results
            .iter()
            .map(|t| match pieces.start.terms.get(t.index())?.term {
                ast::Term::Lit(c) => Some(c),
                _ => None,
            })
            .collect();
        let of_inner = Fold {
            start: body::literals(&start?),
            ..fold.clone()
        };
        Some((Step::FoldS(inner, data, of_inner), outer, fold.clone()))
    }

    /// Data and the lengths of its segments.
    fn segments(&mut self) -> Option<(usize, usize)> {
        let data = self.array()?;
        let n = self.data[data].len();
        let fit = self.descriptors(|all| all == n);
        let lengths = match self.rng.below(100) {
            0..45 if !fit.is_empty() => self.rng.pick(&fit),
            // Segments of existing segments.
            45..60 if !fit.is_empty() => {
                let inner = self.rng.pick(&fit);
                self.coarser(inner)?
            }
            _ => self.cut(n)?,
        };
        Some((lengths, data))
    }

    /// Arrays that can serve as segment lengths; `fits` tests their total.
    pub(super) fn descriptors(&self, fits: impl Fn(usize) -> bool) -> Vec<usize> {
        let is_one = |i: &usize| {
            let Data::Array(columns, _) = &self.data[*i] else {
                return false;
            };
            let all = columns[0].iter().try_fold(0u64, |n, l| n.checked_add(*l));
            self.types(*i) == [Ty::U64]
                && all.is_some_and(|n| usize::try_from(n).is_ok_and(&fits))
                && self.is_exact(*i)
        };
        (0..self.data.len()).filter(is_one).collect()
    }

    /// Uniform lengths that add up to `n`, rarely to another number.
    fn uniform(&mut self, n: usize) -> Option<usize> {
        let fit: Vec<usize> = (1..=n.min(40))
            .filter(|rows| n.is_multiple_of(*rows))
            .collect();
        let (mut rows, mut length) = match fit.is_empty() {
            true => (self.rng.below(4), 0),
            false => {
                let rows = self.rng.pick(&fit);
                (rows, n / rows)
            }
        };
        if self.rng.chance(50) {
            (rows, length) = (length, rows);
        }
        match self.rng.below(16) {
            0 => rows += 1,
            1 => length += 1,
            _ => {}
        }
        let body = with_index(Const::u64(length as u64));
        self.add(Step::Generate(Length::Known(rows as u64), body))
    }

    /// New lengths that add up to `n`, rarely to another number.
    fn cut(&mut self, n: usize) -> Option<usize> {
        if self.rng.chance(25) {
            return self.uniform(n);
        }
        let mut lengths = self.pieces(n);
        if self.rng.chance(4) && !lengths.is_empty() {
            let wrong = self.rng.below(lengths.len());
            match self.rng.below(4) {
                0 => lengths[wrong] = lengths[wrong].wrapping_sub(1),
                1 => lengths[wrong] += 1 + self.rng.below(3) as u64,
                2 => lengths[wrong] /= 2,
                // Inserts a wrong length that makes the others incorrect.
                _ => lengths.insert(wrong, (n + 1 + self.rng.below(3)) as u64),
            }
        }
        self.add_lengths(lengths)
    }

    /// Lengths in memory, or computed from memory.
    pub(super) fn add_lengths(&mut self, lengths: Vec<u64>) -> Option<usize> {
        if self.rng.chance(65) {
            return self.add(Step::Data(vec![(Ty::U64, lengths)]));
        }
        let mask = self.rng.below(100) as u64;
        let words = lengths.iter().map(|l| l ^ mask).collect();
        let masked = self.add(Step::Data(vec![(Ty::U64, words)]))?;
        let body = Body {
            params: vec![Ty::U64],
            terms: vec![
                Term::Param(0),
                Term::Lit(Const::u64(mask)),
                Term::Op(Op::Xor, vec![0, 1]),
            ],
            results: vec![2],
            ..Body::default()
        };
        self.add(Step::Map(vec![masked], body))
    }

    /// Random lengths that add up to `n`. Some are zero, and sometimes one has almost everything.
    pub(super) fn pieces(&mut self, n: usize) -> Vec<u64> {
        let segments = match self.rng.below(10) {
            0 => 1,
            1 => n,
            _ => 1 + self.rng.below(2 * n.min(40) + 2),
        };
        if segments == 0 {
            return vec![];
        }
        if self.rng.chance(15) {
            let mut lengths = vec![0; segments];
            lengths[self.rng.below(segments)] = n as u64;
            return lengths;
        }
        let mut ends: Vec<usize> = (1..segments).map(|_| self.rng.below(n + 1)).collect();
        ends.push(n);
        ends.sort_unstable();
        let starts = [0].into_iter().chain(ends.iter().copied());
        starts.zip(&ends).map(|(a, b)| (b - a) as u64).collect()
    }

    /// The lengths of segments of segments.
    fn coarser(&mut self, inner: usize) -> Option<usize> {
        let outer = self.cut(self.data[inner].len())?;
        self.add(Step::FoldS(outer, inner, sum_of_lengths()))
    }
}

/// A sum of lengths, which gives the lengths of the outer segments.
fn sum_of_lengths() -> Fold {
    let step = Body {
        params: vec![Ty::U64; 2],
        terms: vec![
            Term::Param(0),
            Term::Param(1),
            Term::Op(Op::Add, vec![0, 1]),
        ],
        results: vec![2],
        ..Body::default()
    };
    Fold {
        start: body::literals(&[Const::u64(0)]),
        step,
        style: Style::Associative,
    }
}

/// A body that ignores the index and returns a literal.
fn with_index(value: Const) -> Body {
    Body {
        params: vec![Ty::U64],
        terms: vec![Term::Param(0), Term::Lit(value)],
        results: vec![1],
        ..Body::default()
    }
}
