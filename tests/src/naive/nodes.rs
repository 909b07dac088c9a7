//! Evaluation of each kind of node by plain loops, following its documentation.

use super::body::Runner;
use super::fold::{Folding, Loose};
use super::{Bound, Data, Evaluated, Naive, Read, Trap, When, segments};
use livefusion::ast::{Body, Fold, Kind, Len, MERGE_CHECK, Node, ScanKind, Value};
use loop_lang::ir::TrapKind;
use loop_lang::types::Const;
use std::ops::Range;
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
        taken: vec![],
        looked_at: None,
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
        Kind::ZipShortest => {
            let n = inputs.iter().map(|d| d.len()).min().unwrap_or(0);
            let columns = inputs.iter().flat_map(|d| d.columns());
            let columns = columns.map(|c| c[..n].to_vec()).collect();
            e.data = Data::Array(columns, n);
        }
        Kind::Merge(body) => merge(naive, body, node, &inputs, &mut e),
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
        Kind::Scatter(combine, _) => {
            let columns = scatter(naive, combine.as_ref(), None, &inputs, &mut e);
            e.data = Data::Array(columns, inputs[0].len());
        }
        Kind::ScanByIndex(step, kind, _) => {
            let mut seen = vec![vec![]; node.types.len()];
            scatter(naive, Some(step), Some((*kind, &mut seen)), &inputs, &mut e);
            let len = seen[0].len();
            e.data = Data::Array(seen, len);
        }
        Kind::Compute(body) => {
            let mut f = Runner::new(naive, body);
            let fields = 0..body.results.len();
            e.data = Data::Scalar(fields.map(|k| f.run_field(&[], When::Done, k)).collect());
            e.traps = f.traps;
        }
        Kind::Len => e.data = Data::Scalar(vec![inputs[0].len() as u64]),
        Kind::Append => {
            let n = inputs.iter().map(|d| d.len()).sum();
            let column = |f: usize| {
                inputs
                    .iter()
                    .flat_map(move |d| d.columns()[f].iter().copied())
            };
            let columns = (0..node.types.len()).map(|f| column(f).collect());
            e.data = Data::Array(columns.collect(), n);
        }
        Kind::Expand(body) => segments::expand(naive, body, &inputs, &mut e),
        Kind::FoldS(fold) => segments::fold(naive, fold, node, &inputs, &mut e),
        Kind::ScanS(fold, kind) => segments::scan(naive, (fold, *kind), node, &inputs, &mut e),
        Kind::SortS(sorted) => segments::sort(*sorted, &inputs, &mut e),
        Kind::MoveS(to) => segments::moved(*to, &inputs, &mut e),
        Kind::CountS => segments::count(&inputs, &mut e),
        Kind::Take(n) => take(naive, n, inputs[0], &mut e),
        Kind::TakeWhile { test, inclusive } => take_while(naive, test, *inclusive, &inputs, &mut e),
        Kind::Custom(_) => unreachable!("random programs have no combinators of users"),
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
pub(super) fn row(inputs: &[&Data], i: usize) -> Vec<u64> {
    inputs
        .iter()
        .flat_map(|d| d.columns().iter().map(|c| c[i]))
        .collect()
}

/// Merges inputs one element at a time, as the step decides.
fn merge(naive: &Naive, body: &Body, node: &Node, inputs: &[&Data], e: &mut Evaluated) {
    let mut step = Runner::new(naive, body);
    let first = inputs.len() + MERGE_CHECK;
    let mut at = vec![0; inputs.len()];
    let mut columns: Vec<Vec<u64>> = vec![vec![]; node.types.len()];
    loop {
        let made = e.taken.len();
        e.taken.push(at.clone());
        let live = |k: usize| at[k] < inputs[k].len();
        let field = |k: usize, c: &Vec<u64>| c.get(at[k]).copied().unwrap_or(0);
        let all = inputs.iter().enumerate();
        let fields = all.flat_map(|(k, d)| d.columns().iter().map(move |c| (k, c)));
        let mut params: Vec<u64> = fields.map(|(k, c)| field(k, c)).collect();
        params.extend((0..inputs.len()).map(|k| u64::from(live(k))));
        params.push(made as u64);
        for (k, input) in node.inputs.iter().enumerate().filter(|(k, _)| live(*k)) {
            for field in 0..input.types.len() as u32 {
                naive.read(Read {
                    when: When::Element(made),
                    field: None,
                    array: (input.clone(), field),
                    index: at[k],
                });
            }
        }
        let when = When::Element(made);
        let shared = step.run_some(&params, when, 0..first);
        let (takes, check) = shared.split_at(inputs.len());
        if check[0] == 0 {
            e.traps.push(Trap {
                when,
                kind: TrapKind::LengthMismatch,
                payload: check[1..].iter().map(|w| Const::u64(*w)).collect(),
                field: None,
            });
            break;
        }
        let takes: Vec<bool> = (0..inputs.len())
            .map(|k| takes[k] != 0 && live(k))
            .collect();
        if !takes.contains(&true) {
            break;
        }
        for (f, column) in columns.iter_mut().enumerate() {
            column.push(step.run_as(&params, when, first + f, f as u32));
        }
        for (at, take) in at.iter_mut().zip(takes) {
            *at += usize::from(take);
        }
    }
    e.traps.append(&mut step.traps);
    let n = columns[0].len();
    e.data = Data::Array(columns, n);
}

/// Some elements of an array.
fn select(data: &Data, which: &[usize]) -> Data {
    let column = |c: &Vec<u64>| which.iter().map(|i| c[*i]).collect();
    Data::Array(data.columns().iter().map(column).collect(), which.len())
}

fn take_while(naive: &Naive, test: &Body, inclusive: bool, inputs: &[&Data], e: &mut Evaluated) {
    let mut test = Runner::new(naive, test);
    let n = inputs[0].len();
    let fails = |i: &usize| test.run(&row(inputs, *i), When::Element(*i))[0] == 0;
    let failed = (0..n).find(fails);
    let taken = failed.map_or(n, |i| i + usize::from(inclusive));
    e.origin = (0..taken).collect();
    e.traps = test.traps;
    e.data = select(inputs[0], &e.origin);
    e.looked_at = failed.map(|i| i + 1);
}

fn take(naive: &Naive, n: &Body, input: &Data, e: &mut Evaluated) {
    let mut n = Runner::new(naive, n);
    let wanted = n.run(&[], When::Init)[0];
    let taken = usize::try_from(wanted).map_or(input.len(), |n| n.min(input.len()));
    e.origin = (0..taken).collect();
    e.traps = n.traps;
    e.data = select(input, &e.origin);
    e.looked_at = (wanted <= input.len() as u64).then_some(taken);
}

/// The common length of inputs in step, or a trap if they differ.
pub(super) fn in_step(inputs: &[&Data], traps: &mut Vec<Trap>) -> usize {
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

/// A function of each index. Each field is evaluated separately, so that its traps are known to be
/// its own.
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
                let payload = r[2..5].iter().map(|w| Const::u64(*w)).collect();
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
    let mut running = Running::new(node.types.len());
    running.push(&mut run, 0..data.len(), kind);
    e.traps = run.finish();
    (e.data, e.bounds) = running.finish(&run);
}

/// The successive states of folds.
pub(super) struct Running {
    columns: Vec<Vec<u64>>,
    errors: Vec<Vec<f64>>,
}

impl Running {
    pub(super) fn new(width: usize) -> Running {
        Running {
            columns: vec![vec![]; width],
            errors: vec![vec![]; width],
        }
    }

    /// Folds some elements, and records the states.
    pub(super) fn push(&mut self, run: &mut Folding<'_>, of: Range<usize>, kind: ScanKind) {
        for i in of {
            if kind == ScanKind::Inclusive {
                run.step(i);
            }
            self.push_state(run);
            if kind == ScanKind::Exclusive {
                run.step(i);
            }
        }
    }

    /// Records the current state of a fold.
    pub(super) fn push_state(&mut self, run: &Folding<'_>) {
        for k in 0..self.columns.len() {
            self.columns[k].push(run.state[k]);
            self.errors[k].push(run.error(k));
        }
    }

    /// All states and their error bounds; `run` is any of the folds.
    pub(super) fn finish(self, run: &Folding<'_>) -> (Data, Vec<Bound>) {
        let n = self.columns[0].len();
        let bound = |(l, e): (&Loose, Vec<f64>)| l.bound(e);
        let bounds = run.loose.iter().zip(self.errors).map(bound).collect();
        (Data::Array(self.columns, n), bounds)
    }
}

/// The final contents of the base. `seen` collects the values before or after each update.
fn scatter(
    naive: &Naive,
    combine: Option<&Body>,
    mut seen: Option<(ScanKind, &mut Vec<Vec<u64>>)>,
    inputs: &[&Data],
    e: &mut Evaluated,
) -> Vec<Vec<u64>> {
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
            if let Some((_, seen)) = &mut seen {
                seen.iter_mut().for_each(|column| column.push(0));
            }
            continue;
        }
        let at = index as usize;
        let mut see = |kind, columns: &[Vec<u64>]| {
            if let Some((_, seen)) = seen.as_mut().filter(|(when, _)| *when == kind) {
                for (to, from) in seen.iter_mut().zip(columns) {
                    to.push(from[at]);
                }
            }
        };
        see(ScanKind::Exclusive, &columns);
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
        see(ScanKind::Inclusive, &columns);
    }
    e.traps.extend(join.into_iter().flat_map(|f| f.traps));
    columns
}
