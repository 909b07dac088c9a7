//! The steps of random closures.

use proptest::prelude::{Just, Strategy, prop, prop_oneof};

/// A step of a closure. All numbers stay below 10^6, so none wraps.
#[derive(Clone, Debug)]
pub enum Step {
    Map(i64, i64),
    Filter(i64),
    Sums,
    /// A sequential scan from the left, starting from the number of elements.
    InOrder,
    /// The running maximum before each element, at least the sum of all modulo 7.
    Largest,
    Take(u64),
    /// Takes at most half of the elements.
    TakeHalf,
    Drop(u64),
    /// Takes elements before the first multiple.
    TakeWhile(i64),
    /// Takes elements up to the first one `x` for which a division by `x` minus an offset gives at
    /// most this. The division may be by zero.
    Until(i64, i64),
    DropWhile(i64),
    Reverse,
    Shift(i64),
    /// The sum of each element and its neighbours.
    Around,
    /// Subtracts the sum of all.
    Centre,
    /// Adds the first and the last element, of those that are multiples.
    Ends(i64),
    /// Adds the element at an index computed from the element.
    ReadOwn,
    ReadInvariant,
    ZipInvariant,
    Unique,
    /// For each element x: `0..x % 4` plus x.
    Spread,
    Zip(Vec<Step>),
    Append(Vec<Step>),
    /// Merges; the smaller or equal element comes first.
    Merge(Vec<Step>),
    /// Interleaves with the running sums.
    Interleave,
    /// For each of the pieces `0..x % 4` plus the sum of all: the sum of the steps' result.
    Pieces(Vec<Step>),
    /// The numbers of kept elements per piece, and the elements.
    Kept(i64),
    /// A running fold per residue of this: twice the state plus the element, starting from the sum
    /// of all modulo 7.
    OfKinds(i64),
    /// The number of earlier elements with the same residue, modulo the number of elements.
    Before,
    /// The sum of each row of a table, and of each piece of another, times the sum of all.
    Table,
    /// The sum of each row of a table times the elements. There must be as many as in a row.
    Meet,
    /// Three times each element plus each other one, as a plane: the sums of its columns, plus the
    /// sum of the plane.
    Plane,
    /// Repeats the steps. After each time it adds the elements from before the loop.
    Loop(Times, Vec<Step>),
    /// Repeats the steps, at most this often and until the sum is a multiple of the second number.
    /// After each time it adds the sum from before the loop; at the end, the number of times.
    While(u64, i64, Vec<Step>),
    /// Chooses by the remainder of the sum. The second side divides by it.
    Choice(i64, [Vec<Step>; 2]),
}
use Step::*;

/// Whether steps give as many elements as they get.
pub fn keep(steps: &[Step]) -> bool {
    steps.iter().all(|step| match step {
        Map(..) | Sums | InOrder | Largest | Reverse | Shift(_) | Around | Centre | Ends(_) => true,
        ReadOwn | ReadInvariant | OfKinds(_) | Before | Plane => true,
        Loop(_, steps) | While(.., steps) => keep(steps),
        Choice(_, sides) => sides.iter().all(|side| keep(side)),
        _ => false,
    })
}

#[derive(Clone, Copy, Debug)]
pub enum Times {
    Known(u64),
    /// The number of elements modulo this.
    OfLength(u64),
}

/// The most elements after a repetition of steps that may make more.
pub const MOST: usize = 12;

/// Whether steps may give more elements than they get.
pub fn grow(steps: &[Step]) -> bool {
    steps.iter().any(|step| match step {
        Spread | Kept(_) | Interleave | Append(_) | Merge(_) | Pieces(_) | Table | Meet => true,
        Zip(steps) | Loop(_, steps) | While(.., steps) => grow(steps),
        Choice(_, sides) => sides.iter().any(|side| grow(side)),
        _ => false,
    })
}

fn times() -> impl Strategy<Value = Times> {
    prop_oneof![
        (0..4u64).prop_map(Times::Known),
        (1..4u64).prop_map(Times::OfLength),
    ]
}

pub fn step() -> impl Strategy<Value = Step> {
    let leaf = prop_oneof![
        (1..5i64, 0..9i64).prop_map(|(a, b)| Map(a, b)),
        (2..4i64).prop_map(Filter),
        Just(Sums),
        Just(InOrder),
        Just(Largest),
        (0..4u64).prop_map(Take),
        Just(TakeHalf),
        (0..3u64).prop_map(Drop),
        (2..5i64).prop_map(TakeWhile),
        (0..3i64, -10..5i64).prop_map(|(o, l)| Until(o, l)),
        (2..5i64).prop_map(DropWhile),
        Just(Reverse),
        (-2..3i64).prop_map(Shift),
        Just(Around),
        Just(Centre),
        (1..3i64).prop_map(Ends),
        Just(ReadOwn),
        Just(ReadInvariant),
        Just(ZipInvariant),
        Just(Unique),
        Just(Spread),
        Just(Spread),
        Just(Interleave),
        (1..4i64).prop_map(Kept),
        (1..4i64).prop_map(OfKinds),
        Just(Before),
        Just(Table),
        Just(Meet),
        Just(Plane),
    ];
    leaf.prop_recursive(2, 12, 3, |inner| {
        let steps = prop::collection::vec(inner, 0..3);
        prop_oneof![
            steps.clone().prop_map(Zip),
            steps.clone().prop_map(Append),
            steps.clone().prop_map(Merge),
            (times(), steps.clone()).prop_map(|(n, steps)| Loop(n, steps)),
            (0..4u64, 2..5i64, steps.clone()).prop_map(|(n, m, steps)| While(n, m, steps)),
            (2..5i64, steps.clone(), steps.clone()).prop_map(|(m, a, b)| Choice(m, [a, b])),
            steps.prop_map(Pieces),
        ]
    })
}
