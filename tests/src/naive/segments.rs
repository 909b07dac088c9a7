//! Segmented nodes, evaluated by plain loops over each segment.

use super::body::Runner;
use super::fold::Folding;
use super::nodes::{Running, in_step, row};
use super::{Data, Evaluated, Naive, Trap, When};
use livefusion::ast::{Body, Fold, Move, Node, ScanKind, Sorted};
use loop_lang::ir::TrapKind;
use loop_lang::types::Const;
use std::ops::Range;
use std::sync::Arc;

/// A limit above any test's element count. Larger lengths up to `NONSENSE` would actually be
/// allocated.
const MOST: u64 = 10_000_000;
const NONSENSE: u64 = 1 << 48;

/// The range of each segment in data of `room` elements. A segment that exceeds the remaining data
/// traps and counts as empty. Remaining data at the end is also a trap.
fn cut(lengths: &Data, room: usize, traps: &mut Vec<Trap>) -> Vec<Range<usize>> {
    let mut at = 0;
    let mut segments = Vec::with_capacity(lengths.len());
    for (i, len) in lengths.columns()[0].iter().enumerate() {
        let left = (room - at) as u64;
        assert!(
            *len <= MOST || *len > NONSENSE,
            "segments of too many elements for a test"
        );
        if *len > left {
            traps.push(misfit(When::Element(i), *len, left));
        }
        let end = at + if *len > left { 0 } else { *len as usize };
        segments.push(at..end);
        at = end;
    }
    let all = lengths.columns()[0]
        .iter()
        .copied()
        .reduce(u64::saturating_add);
    // For data read at the segments' rate, only the total number of elements decides.
    for needed in [at as u64, all.unwrap_or(0)] {
        if needed != room as u64 {
            traps.push(misfit(When::Done, needed, room as u64));
        }
    }
    segments
}

fn misfit(when: When, needed: u64, room: u64) -> Trap {
    Trap {
        when,
        kind: TrapKind::Segments,
        payload: vec![Const::u64(needed), Const::u64(room)],
        field: None,
    }
}

/// Elements generated for each segment. Each field is evaluated separately, so that its traps are
/// known to be its own.
pub(super) fn expand(naive: &Naive, body: &Body, inputs: &[&Data], e: &mut Evaluated) {
    let segments = in_step(inputs, &mut e.traps);
    let lengths = &inputs[0].columns()[0][..segments];
    let all = lengths.iter().try_fold(0u64, |n, l| n.checked_add(*l));
    assert!(
        all.is_some_and(|n| n <= MOST),
        "segments of too many elements for a test"
    );
    let mut f = Runner::new(naive, body);
    let mut columns = vec![vec![]; body.results.len()];
    let mut n = 0;
    for (s, len) in lengths.iter().enumerate() {
        let values = row(&inputs[1..], s);
        for i in 0..*len {
            let params = [&[i], values.as_slice()].concat();
            for (k, column) in columns.iter_mut().enumerate() {
                column.push(f.run_field(&params, When::Element(n), k));
            }
            n += 1;
        }
    }
    e.traps.append(&mut f.traps);
    e.data = Data::Array(columns, n);
}

/// Folds each segment.
pub(super) fn fold(
    naive: &Naive,
    fold: &Fold,
    node: &Arc<Node>,
    inputs: &[&Data],
    e: &mut Evaluated,
) {
    anew(naive, fold, node, inputs, e, |running, run, segment| {
        run.all(segment.clone(), When::Element(segment.start));
        running.push_state(run);
    });
}

/// A scan that restarts with each segment.
pub(super) fn scan(
    naive: &Naive,
    (fold, kind): (&Fold, ScanKind),
    node: &Arc<Node>,
    inputs: &[&Data],
    e: &mut Evaluated,
) {
    anew(naive, fold, node, inputs, e, |running, run, segment| {
        running.push(run, segment, kind);
    });
}

/// Restarts the fold for each segment.
fn anew(
    naive: &Naive,
    fold: &Fold,
    node: &Arc<Node>,
    inputs: &[&Data],
    e: &mut Evaluated,
    mut segment: impl FnMut(&mut Running, &mut Folding<'_>, Range<usize>),
) {
    let segments = cut(inputs[0], inputs[1].len(), &mut e.traps);
    let mut running = Running::new(node.types.len());
    let mut run = Folding::new(naive, fold, node, inputs[1]);
    e.traps.append(&mut run.finish());
    for each in segments {
        run = Folding::new(naive, fold, node, inputs[1]);
        segment(&mut running, &mut run, each);
        e.add_traps(run.finish());
    }
    (e.data, e.bounds) = running.finish(&run);
}

/// Sorts each segment: its rows, or their indices. The words of unsigned integers have the order of
/// their values.
pub(super) fn sort(sorted: Sorted, inputs: &[&Data], e: &mut Evaluated) {
    let keys = inputs[1].columns();
    let mut places: Vec<usize> = vec![];
    let mut within: Vec<u64> = vec![];
    for segment in cut(inputs[0], inputs[1].len(), &mut e.traps) {
        let mut order: Vec<usize> = segment.clone().collect();
        order.sort_by_key(|i| keys.iter().map(|c| c[*i]).collect::<Vec<u64>>());
        within.extend(order.iter().map(|i| (i - segment.start) as u64));
        places.extend(order);
    }
    let columns = match sorted {
        Sorted::Elements => {
            let column = |c: &Vec<u64>| places.iter().map(|i| c[*i]).collect();
            keys.iter().map(column).collect()
        }
        Sorted::Places => vec![within],
    };
    e.data = Data::Array(columns, places.len());
}

/// Moves the elements of each segment.
pub(super) fn moved(to: Move, inputs: &[&Data], e: &mut Evaluated) {
    let segments = cut(inputs[0], inputs[1].len(), &mut e.traps);
    let places = segments
        .into_iter()
        .flat_map(|s| s.clone().map(move |i| before(to, &s, i)));
    let places: Vec<usize> = places.collect();
    let column = |c: &Vec<u64>| places.iter().map(|i| c[*i]).collect();
    let columns = inputs[1].columns().iter().map(column).collect();
    e.data = Data::Array(columns, places.len());
}

/// The place before a move of the element at a place of a segment.
pub(super) fn before(to: Move, segment: &Range<usize>, i: usize) -> usize {
    let (first, last) = (segment.start, segment.end - 1);
    match to {
        Move::Turned => first + last - i,
        Move::By(by) => {
            let there = i as i128 + i128::from(by);
            there.clamp(first as i128, last as i128) as usize
        }
    }
}

/// Counts the true tags of each segment.
pub(super) fn count(inputs: &[&Data], e: &mut Evaluated) {
    let tags = &inputs[1].columns()[0];
    let of = |s: Range<usize>| tags[s].iter().filter(|t| **t != 0).count() as u64;
    let counts: Vec<u64> = cut(inputs[0], inputs[1].len(), &mut e.traps)
        .into_iter()
        .map(of)
        .collect();
    let n = counts.len();
    e.data = Data::Array(vec![counts], n);
}
