use super::*;
use crate::ir::{Atom, Combine};
use crate::types::Const;
use crate::{Op, Ty};

/// A loop with just one carried group.
fn program(order: Order, op: Op, ty: Ty) -> Loop {
    let mut l = Loop::default();
    let v = l.new_var("acc_0", Type::Scalar(ty));
    l.groups.push(Group {
        vars: vec![v],
        owner: RateId(0),
        step: RateId(0),
        start: vec![],
        identity: vec![Atom::Const(Const::zero(ty))],
        next: vec![],
        combine: Some(Combine::Op(op)),
        level: 0,
        cycle: false,
        order,
    });
    l
}

/// The layout for a carried `acc_0`.
fn layout(l: &Loop) -> Layout {
    let v = l.groups[0].vars[0];
    let mut layout = Layout {
        words: 3,
        saved: vec![(v, 2)],
        local: vec![3],
        ..Layout::default()
    };
    layout.word_of.insert(v, 2);
    layout.words += local_words(l.groups[0].order);
    layout
}

const ID: GroupId = GroupId(0);

fn identity(a: Atom) -> u64 {
    match a {
        Atom::Const(c) => c.bits,
        Atom::Var(_) => unreachable!("identities here are constants"),
    }
}

/// Scans 0 + x for counters from `first` on; chunks end before the counters in `joins`.
fn scan(width: u32, first: u64, elements: &[u64], joins: &[u64]) -> Vec<u64> {
    let l = program(Order::Prefix(width), Op::Add, Ty::U64);
    let layout = layout(&l);
    let mut words = vec![0; layout.words];
    start_group(&l, &layout, &mut words, ID, &[100], &identity);
    assert_eq!(group_total(&l, &layout, &words, ID), [100]);
    let mut out = Vec::new();
    for (i, x) in elements.iter().enumerate() {
        let counter = first + i as u64;
        if joins.contains(&counter) {
            join_chunk(&l, &layout, &mut words, ID, &identity);
        }
        out.extend(scan_step(&l, &layout, &mut words, ID, counter, &[*x]));
        assert_eq!(group_total(&l, &layout, &words, ID), out[i..]);
    }
    out
}

#[test]
fn scans_give_running_sums() {
    let elements: Vec<u64> = (1..40).map(|x| x * x).collect();
    let sums: Vec<u64> = elements
        .iter()
        .scan(100, |s, x| {
            *s += x;
            Some(*s)
        })
        .collect();
    for width in [1, 2, 4, 8, 16] {
        for first in [0, 3, 5] {
            assert_eq!(
                scan(width, first, &elements, &[]),
                sums,
                "{width} from {first}"
            );
            assert_eq!(
                scan(width, first, &elements, &[7, 8, 21]),
                sums,
                "{width} from {first}"
            );
        }
    }
}

/// The tree of a block of four, ((x0 - x1) - (x2 - x3)), made visible by a non-associative
/// operator.
#[test]
fn scans_join_in_a_fixed_tree() {
    let l = program(Order::Prefix(4), Op::Sub, Ty::I64);
    let layout = layout(&l);
    let mut words = vec![0; layout.words];
    start_group(&l, &layout, &mut words, ID, &[0], &identity);
    let mut next = |i, x: i64| scan_step(&l, &layout, &mut words, ID, i, &[x as u64])[0] as i64;
    assert_eq!(next(0, 1), 1);
    assert_eq!(next(1, 10), 1 - 10);
    assert_eq!(next(2, 100), (1 - 10) - 100);
    assert_eq!(next(3, 1000), (1 - 10) - (100 - 1000));
}

#[test]
fn lanes_join_in_a_fixed_tree() {
    let l = program(Order::Lanes(4), Op::Sub, Ty::I64);
    let layout = layout(&l);
    let mut words = vec![0; layout.words];
    start_group(&l, &layout, &mut words, ID, &[5], &identity);
    for (j, x) in [1u64, 10, 100, 1000].into_iter().enumerate() {
        words[layout.local(ID, &l.groups[0], 0) + j] = x;
    }
    let total = 5 - ((1 - 100) - (10 - 1000));
    assert_eq!(group_total(&l, &layout, &words, ID), [total as u64]);
    join_chunk(&l, &layout, &mut words, ID, &identity);
    assert_eq!(words[2..], [total as u64, 0, 0, 0, 0]);
}

#[test]
fn runs_join_in_order() {
    let l = program(Order::Runs(4), Op::Sub, Ty::I64);
    let layout = layout(&l);
    let mut words = vec![0; layout.words];
    start_group(&l, &layout, &mut words, ID, &[5], &identity);
    let run = layout.local(ID, &l.groups[0], 0) + 1;
    words[run] = 10;
    join_run(&l, &layout, &mut words, ID, &identity);
    assert_eq!(words[run - 1..], [-10i64 as u64, 0]);
    words[run] = 100;
    let total = 5 - (-10 - 100);
    assert_eq!(group_total(&l, &layout, &words, ID), [total as u64]);
    join_chunk(&l, &layout, &mut words, ID, &identity);
    assert_eq!(words[2..], [total as u64, 0, 0]);
}

#[test]
fn plain_groups_have_no_local_part() {
    let l = program(Order::Exact, Op::Add, Ty::U64);
    let layout = layout(&l);
    let mut words = vec![0; layout.words];
    start_group(&l, &layout, &mut words, ID, &[7], &identity);
    join_chunk(&l, &layout, &mut words, ID, &identity);
    assert_eq!(group_total(&l, &layout, &words, ID), [7]);
    assert_eq!(words, [0, 0, 7]);
}
