//! What each kind of node computes, as its documentation says, with plain loops.

use super::body::Runner;
use super::{Bound, Data, Evaluated, Naive, Trap, When};
use crate::scalar::{epsilon, to_f64};
use livefusion::ast::{Body, Fold, FoldStyle, Kind, Len, Node, ScanKind, Term, TermId, Value};
use loop_lang::ir::TrapKind;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Evaluates a node whose dependencies are evaluated.
pub fn evaluate(naive: &Naive, node: &Arc<Node>) -> Evaluated {
    let inputs: Vec<&Data> = node.inputs.iter().map(|n| naive.seen(n)).collect();
    let mut e = Evaluated {
        data: Data::Scalar(vec![]),
        bounds: vec![Bound::Exact; node.types.len()],
        traps: vec![],
        reads: vec![],
        may_trap: false,
        origin: vec![],
        tainted: false,
    };
    match &node.kind {
        Kind::Manifest => e.data = manifest(node),
        Kind::Input(_) => panic!("prepared programs are tested through their calls"),
        Kind::Generate(len, body) => generate(naive, len, body, &mut e),
        Kind::Map(body) => {
            let n = in_step(&inputs, &mut e.traps);
            e.data = elementwise(naive, body, n, |i| row(&inputs, i), &mut e.traps);
        }
        Kind::Zip => {
            let n = in_step(&inputs, &mut e.traps);
            let columns = inputs
                .iter()
                .flat_map(|d| d.columns().iter().cloned())
                .collect();
            e.data = Data::Array(columns, n);
        }
        Kind::Fields(range) => {
            let columns = inputs[0].columns()[range.start as usize..range.end as usize].to_vec();
            e.data = Data::Array(columns, inputs[0].len());
        }
        Kind::Filter(body) => {
            let mut test = Runner::new(naive, body);
            let keep = |i: &usize| test.run(&row(&inputs, *i), When::Element(*i))[0] != 0;
            e.origin = (0..inputs[0].len()).filter(keep).collect();
            e.traps = test.traps;
            e.data = select(inputs[0], &e.origin);
        }
        Kind::Pack => {
            let n = in_step(&inputs, &mut e.traps);
            let tags = &inputs[1].columns()[0];
            e.origin = (0..n).filter(|i| tags[*i] != 0).collect();
            e.data = select(inputs[0], &e.origin);
        }
        Kind::Fold(fold) => {
            let run = Folding::run(naive, fold, node, inputs[0], &mut e.traps);
            e.data = Data::Scalar(run.state.clone());
            e.bounds = run.bounds(|b| vec![b]);
        }
        Kind::Scan(fold, kind) => scan(naive, fold, *kind, node, inputs[0], &mut e),
        Kind::ScanTotal => {
            let scan = &node.inputs[0];
            let Kind::Scan(fold, _) = &scan.kind else {
                unreachable!("a total of no scan")
            };
            let run = Folding::run(naive, fold, scan, naive.seen(&scan.inputs[0]), &mut vec![]);
            e.data = Data::Scalar(run.state.clone());
            e.bounds = run.bounds(|b| vec![b]);
        }
        Kind::Scatter(combine) => scatter(naive, combine.as_ref(), &inputs, &mut e),
        Kind::Compute(body) => {
            let mut f = Runner::new(naive, body);
            let fields = 0..body.results.len();
            e.data = Data::Scalar(fields.map(|k| f.run_field(&[], When::Done, k)).collect());
            e.traps = f.traps;
        }
        Kind::Len => e.data = Data::Scalar(vec![inputs[0].len() as u64]),
        other => unreachable!("random programs have no {other:?} yet"),
    }
    e
}

fn manifest(node: &Node) -> Data {
    match node.value.get() {
        Some(Value::Array(columns)) => {
            let len = columns.first().map_or(0, |c| c.len());
            let words = |c: &livefusion_backend::Buffer| {
                (0..c.len())
                    .map(|i| c.get_word(i).unwrap_or_default())
                    .collect()
            };
            Data::Array(columns.iter().map(|c| words(c)).collect(), len)
        }
        Some(Value::Scalar(fields)) => Data::Scalar(fields.iter().map(|c| c.bits).collect()),
        None => panic!("a manifest array without a value"),
    }
}

/// An element's fields over several inputs.
fn row(inputs: &[&Data], i: usize) -> Vec<u64> {
    inputs
        .iter()
        .flat_map(|d| d.columns().iter().map(|c| c[i]))
        .collect()
}

/// Some elements of an array.
fn select(data: &Data, which: &[usize]) -> Data {
    let column = |c: &Vec<u64>| which.iter().map(|i| c[*i]).collect();
    Data::Array(data.columns().iter().map(column).collect(), which.len())
}

/// The length of inputs that are consumed together; a trap where they differ.
fn in_step(inputs: &[&Data], traps: &mut Vec<Trap>) -> usize {
    let expected = inputs[0].len();
    for got in inputs[1..]
        .iter()
        .map(|d| d.len())
        .filter(|n| *n != expected)
    {
        let payload = vec![Const::u64(got as u64), Const::u64(expected as u64)];
        traps.push(Trap {
            when: When::Init,
            kind: TrapKind::LengthMismatch,
            payload,
            field: None,
        });
    }
    inputs.iter().map(|d| d.len()).min().unwrap_or(0)
}

/// A function of each index, each field on its own so that its traps are known to be its.
fn elementwise(
    naive: &Naive,
    body: &Body,
    n: usize,
    params: impl Fn(usize) -> Vec<u64>,
    traps: &mut Vec<Trap>,
) -> Data {
    let mut f = Runner::new(naive, body);
    let mut columns = vec![Vec::with_capacity(n); body.results.len()];
    for i in 0..n {
        let params = params(i);
        for (k, column) in columns.iter_mut().enumerate() {
            column.push(f.run_field(&params, When::Element(i), k));
        }
    }
    traps.append(&mut f.traps);
    Data::Array(columns, n)
}

fn generate(naive: &Naive, len: &Len, body: &Body, e: &mut Evaluated) {
    let n = match len {
        Len::Known(n) => *n,
        Len::Delayed(n) => match naive.seen(n) {
            Data::Scalar(fields) => fields[0],
            Data::Array(..) => unreachable!("an array as a length"),
        },
        Len::Checked(l) => {
            let mut f = Runner::new(naive, l);
            let r = f.run(&[], When::Init);
            e.traps.append(&mut f.traps);
            if r[1] == 0 {
                let payload = vec![Const::u64(r[2]), Const::u64(r[3])];
                let kind = TrapKind::SliceRange;
                e.traps.push(Trap {
                    when: When::Init,
                    kind,
                    payload,
                    field: None,
                });
            }
            if r[1] == 0 { 0 } else { r[0] }
        }
    };
    e.data = elementwise(naive, body, n as usize, |i| vec![i as u64], &mut e.traps);
}

fn scan(
    naive: &Naive,
    fold: &Fold,
    kind: ScanKind,
    node: &Arc<Node>,
    data: &Data,
    e: &mut Evaluated,
) {
    let mut run = Folding::new(naive, fold, node, data);
    let n = data.len();
    let mut columns = vec![Vec::with_capacity(n); node.types.len()];
    let mut bounds: Vec<Vec<f64>> = vec![Vec::with_capacity(n); node.types.len()];
    for i in 0..n {
        if kind == ScanKind::Inclusive {
            run.step(i);
        }
        for k in 0..columns.len() {
            columns[k].push(run.state[k]);
            bounds[k].push(run.error(k));
        }
        if kind == ScanKind::Exclusive {
            run.step(i);
        }
    }
    e.traps = run.finish();
    e.bounds = run
        .loose
        .iter()
        .zip(bounds)
        .map(|(l, b)| l.bound(b))
        .collect();
    e.data = Data::Array(columns, n);
}

fn scatter(naive: &Naive, combine: Option<&Body>, inputs: &[&Data], e: &mut Evaluated) {
    let n = in_step(&inputs[1..], &mut e.traps);
    let mut columns = inputs[0].columns().to_vec();
    let len = inputs[0].len();
    let mut join = combine.map(|c| Runner::new(naive, c));
    for i in 0..n {
        let (index, value) = (inputs[1].columns()[0][i], row(&inputs[2..], i));
        if index >= len as u64 {
            let payload = vec![Const::u64(index), Const::u64(len as u64)];
            let kind = TrapKind::OutOfRange;
            e.traps.push(Trap {
                when: When::Element(i),
                kind,
                payload,
                field: None,
            });
            continue;
        }
        let at = index as usize;
        let value = match &mut join {
            None => value,
            Some(f) => {
                let old: Vec<u64> = columns.iter().map(|c| c[at]).collect();
                f.run(&[old, value].concat(), When::Element(i))
            }
        };
        for (c, v) in columns.iter_mut().zip(value) {
            c[at] = v;
        }
    }
    e.traps.extend(join.into_iter().flat_map(|f| f.traps));
    e.data = Data::Array(columns, len);
}

/// How a field of a float fold may be reassociated: by which operator, over which field.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Loose {
    No,
    Sum(usize),
    Product(usize),
}

impl Loose {
    fn bound(self, error: Vec<f64>) -> Bound {
        if self == Loose::No {
            Bound::Exact
        } else {
            Bound::Within(error)
        }
    }
}

/// A fold in the making.
struct Folding<'a> {
    step: Runner<'a>,
    start: Runner<'a>,
    data: &'a Data,
    types: &'a [Ty],
    first: bool,
    state: Vec<u64>,
    loose: Vec<Loose>,
    /// Per field: sum of magnitudes, or of their logarithms.
    size: Vec<f64>,
    terms: usize,
}

impl<'a> Folding<'a> {
    fn new(naive: &'a Naive, fold: &'a Fold, node: &'a Arc<Node>, data: &'a Data) -> Folding<'a> {
        let mut start = Runner::new(naive, &fold.start);
        let state = start.run(&[], When::Init);
        let first = matches!(fold.style, FoldStyle::First);
        let types = node.types.as_slice();
        let mut f = Folding {
            step: Runner::new(naive, &fold.step),
            start,
            data,
            types,
            first,
            state: vec![],
            loose: loose(fold, types),
            size: vec![0.0; types.len()],
            terms: 0,
        };
        if !first {
            f.join(&state.clone());
            f.state = state;
        }
        f
    }

    fn run(
        naive: &'a Naive,
        fold: &'a Fold,
        node: &'a Arc<Node>,
        data: &'a Data,
        traps: &mut Vec<Trap>,
    ) -> Folding<'a> {
        let mut f = Folding::new(naive, fold, node, data);
        (0..data.len()).for_each(|i| f.step(i));
        *traps = f.finish();
        if f.first && data.is_empty() {
            traps.push(Trap {
                when: When::Done,
                kind: TrapKind::Empty,
                payload: vec![],
                field: None,
            });
            f.state = vec![0; node.types.len()];
        }
        f
    }

    fn step(&mut self, i: usize) {
        let element = row(&[self.data], i);
        if self.first && self.state.is_empty() {
            self.join(&element);
            self.state = element;
            return;
        }
        let contribution: Vec<u64> = self
            .loose
            .iter()
            .map(|l| match l {
                Loose::No => 0,
                Loose::Sum(k) | Loose::Product(k) => element[*k],
            })
            .collect();
        self.join(&contribution);
        self.state = self
            .step
            .run(&[self.state.clone(), element].concat(), When::Element(i));
    }

    /// Counts what a contribution adds to the possible error.
    fn join(&mut self, contribution: &[u64]) {
        self.terms += 1;
        for (k, l) in self.loose.iter().enumerate() {
            let x = to_f64(self.types[k], contribution[k]).abs();
            match l {
                Loose::Sum(_) if x.is_finite() => self.size[k] += x,
                Loose::Product(_) if x.is_finite() && x > 0.0 => self.size[k] += x.log2().abs(),
                _ => {}
            }
        }
    }

    /// The error that reassociation may make in a field so far.
    fn error(&self, k: usize) -> f64 {
        let ty = self.types[k];
        let n = self.terms as f64 + 2.0;
        let (greatest, range) = if ty == Ty::F32 {
            (f32::MAX as f64, 100.0)
        } else {
            (f64::MAX, 900.0)
        };
        match self.loose[k] {
            Loose::No => 0.0,
            // Partial sums that overflow in one order need not in another.
            Loose::Sum(_) if self.size[k] >= greatest / 2.0 => f64::INFINITY,
            Loose::Sum(_) => 2.0 * n * epsilon(ty) * self.size[k],
            Loose::Product(_) if self.size[k] >= range => f64::INFINITY,
            Loose::Product(_) => 2.0 * n * epsilon(ty) * to_f64(ty, self.state[k]).abs(),
        }
    }

    fn bounds(&self, entry: impl Fn(f64) -> Vec<f64>) -> Vec<Bound> {
        if self.state.is_empty() {
            return vec![Bound::Exact; self.types.len()];
        }
        (0..self.types.len())
            .map(|k| self.loose[k].bound(entry(self.error(k))))
            .collect()
    }

    fn finish(&mut self) -> Vec<Trap> {
        let mut traps = std::mem::take(&mut self.start.traps);
        traps.append(&mut self.step.traps);
        traps
    }
}

/// Which fields are float sums or products that backends may reassociate.
fn loose(fold: &Fold, types: &[Ty]) -> Vec<Loose> {
    let step = &fold.step;
    let width = types.len();
    let param = |t: TermId| match step.terms[t.index()].term {
        Term::Param(k) => Some(k as usize),
        _ => None,
    };
    let field = |(k, r): (usize, &TermId)| {
        if !types[k].is_float() || matches!(fold.style, FoldStyle::Sequential) {
            return Loose::No;
        }
        let Term::Op(op @ (Op::Add | Op::Mul), args) = &step.terms[r.index()].term else {
            return Loose::No;
        };
        let other = match (param(args[0]), param(args[1])) {
            (Some(s), Some(x)) if s == k && x >= width => x - width,
            (Some(x), Some(s)) if s == k && x >= width => x - width,
            _ => return Loose::No,
        };
        if *op == Op::Add {
            Loose::Sum(other)
        } else {
            Loose::Product(other)
        }
    };
    step.results.iter().enumerate().map(field).collect()
}
