//! Streams with different rates: packs, combines, appends, prefixes, levels, words.

use super::Program;
use livefusion::prelude::*;

/// Maps positive and other numbers separately, then restores their order.
pub fn both_ways(xs: &Array<i64>) -> Array<i64> {
    let positive = xs.map(|x| x.gt(0));
    let others = positive.map(|p| !p);
    let (up, down) = (
        xs.pack(&positive).map(|x| x * 3),
        xs.pack(&others).map(|x| x - 7),
    );
    positive.combine(&up, &down)
}

/// Multiplies positive numbers by weights from memory, and adds their index.
pub fn zip_with_a_filtered(xs: &Array<i64>, weights: &Array<i64>) -> Array<i64> {
    let kept = xs.filter(|x| x.gt(0));
    let numbers = iota(kept.len());
    (&kept, weights, &numbers).zip_with(|x, w, i| x * w + i.cast::<i64>())
}

/// Filters running sums of a filtered array, and folds the even ones.
pub fn levels(xs: &Array<i64>) -> Array<i64, Ix0> {
    let running = xs.filter(|x| x.gt(0)).scan(0, |a, b| a + b);
    running
        .filter(|sum| (sum % 2).eq(0))
        .fold(0, |a, b| a.max(b))
}

/// Zips an append of two arrays with a third, and sums the result.
pub fn zip_of_append(
    (xs, ys): (&Array<i64>, &Array<i64>),
    zs: &Array<i64>,
) -> (Array<i64>, Array<i64, Ix0>) {
    let products = xs.append(ys).zip_with(zs, |a, z| a * z);
    let total = products.sum();
    (products, total)
}

/// Divides 100 by the numbers before the first 0, and sums.
///
/// The division by the 0 and by later numbers never runs.
pub fn until_zero(xs: &Array<i64>) -> (Array<i64>, Array<i64, Ix0>) {
    let shares = xs.take_while(|x| x.ne(0)).map(|x| 100 / x);
    let total = shares.sum();
    (shares, total)
}

/// Sums quotients while they are small.
///
/// The quotient that ends the loop is the last one computed.
pub fn until_large(xs: &Array<i64>) -> Array<i64, Ix0> {
    xs.map(|x| 100 / x).take_while(|q| q.lt(50)).sum()
}

/// Appends the elements below a pivot and the rest, as in quicksort.
pub fn partition_append(xs: &Array<i64>, pivot: i64) -> Array<i64> {
    let (less, rest) = xs.partition(|x| x.lt(pivot));
    less.append(&rest)
}

/// Maps the two halves of an array differently, appends them, and multiplies.
///
/// The third array is multiplied with the append, and the products are summed.
pub fn parts_and_a_third(xs: &Array<i64>, zs: &Array<i64>) -> Array<i64, Ix0> {
    let half = || xs.len().map(|n| n / 2);
    let (left, right) = (xs.take(half()), xs.drop(half()));
    let changed = left.map(|x| x + 1).append(&right.map(|x| x * 2));
    changed.zip_with(zs, |x, z| x * z).sum()
}

/// Counts the words of a text.
///
/// The results are the number of words, the longest length, and a count for each length below
/// `most`. Words are runs of letters.
pub fn words(text: &Array<u8>, most: u64) -> (Array<u64, Ix0>, Array<u64, Ix0>, Array<u64>) {
    let all = text.append(&Array::from([b' ']));
    let letters = all.map(|c| {
        let small = c | 32;
        let is_letter = small.ge(b'a') & small.le(b'z');
        (!is_letter, is_letter.cast::<u64>())
    });
    // Letters since the last other character.
    let before = letters.scan_exclusive((false, 0u64), |(_, n), (other, m)| {
        (other, other.cond(m, n + m))
    });
    let ends = zip((&letters, &before)).filter(|((other, _), (_, n))| other & n.gt(0));
    let lengths = ends.map(|(_, (_, n))| n);
    let ones = lengths.map(|_| 1u64);
    let bins = lengths.map(|n| n.min(most - 1));
    let histogram = ones.reduce_by_index(
        &bins,
        Bins {
            count: most,
            start: 0u64,
        },
        |n, m| n + m,
    );
    (lengths.len(), lengths.fold(0, |a, b| a.max(b)), histogram)
}

/// Groups sorted keys, with counts and sums of values per key.
pub fn sums_of_groups(
    keys: &Array<u32>,
    values: &Array<i64>,
) -> (Array<u32>, Array<u64>, Array<i64>) {
    let (names, counts) = keys.group();
    let sums = Segmented::new(&counts, values).sum();
    (names, counts, sums)
}

pub(super) fn all() -> Vec<Program> {
    let numbers = |n: i64| -> Array<i64> { (1..=n).collect() };
    let (products, total) = zip_of_append((&numbers(2), &numbers(3)), &numbers(5));
    let (shares, sum) = until_zero(&numbers(5));
    let (count, longest, histogram) = words(&Array::from(*b"to be or not"), 8);
    let (names, counts, sums) = sums_of_groups(&Array::from([1u32, 1, 4]), &numbers(3));
    vec![
        Program::new("combine of packs", both_ways(&numbers(5))),
        Program::new(
            "zip with a filtered",
            zip_with_a_filtered(&numbers(5), &numbers(3)),
        ),
        Program::new("levels", levels(&numbers(5))),
        Program::new("zip of an append", (&products, &total)),
        Program::new("until zero", (&shares, &sum)),
        Program::new("until large", until_large(&numbers(5))),
        Program::new("partition and append", partition_append(&numbers(5), 3)),
        Program::new(
            "parts and a third",
            parts_and_a_third(&numbers(6), &numbers(6)),
        ),
        Program::new("words", (&count, &longest, &histogram)),
        Program::new("sums of groups", (&names, &counts, &sums)),
    ]
}
