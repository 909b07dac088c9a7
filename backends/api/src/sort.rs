//! Row sorting, called by compiled code.
//!
//! Short inputs use a sorting network in registers. Longer ones use `std`. The comparisons of a
//! network do not depend on the data, so no branch is mispredicted. Source: K. E. Batcher, "Sorting
//! networks and their applications", 1968. Each step merges the elements at even and at odd
//! positions.

use smallvec::SmallVec;
use std::cmp::Ordering;
use std::ffi::c_void;

/// Describes a column of unsigned integers from compiled code.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The contiguous elements.
    pub data: *mut c_void,
    /// Bytes of one element: 1, 2, 4 or 8.
    pub bytes: u64,
}

impl<W> From<&mut [W]> for Column {
    fn from(elements: &mut [W]) -> Column {
        Column {
            data: elements.as_mut_ptr().cast(),
            bytes: size_of::<W>() as u64,
        }
    }
}

/// Sorts the first `rows` rows of some columns in ascending order.
///
/// The first column decides. Later columns break ties.
///
/// # Safety
///
/// `columns` must point to `count` columns. Each must be aligned, hold `rows` elements, and be
/// unused elsewhere meanwhile.
pub unsafe extern "C" fn sort(columns: *const Column, count: u64, rows: u64) {
    let rows = rows as usize;
    if rows < 2 || count == 0 {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe {
        match std::slice::from_raw_parts(columns, count as usize) {
            [] => {}
            [only] => match only.bytes {
                1 => sort_one(only.of::<u8>(rows)),
                2 => sort_one(only.of::<u16>(rows)),
                4 => sort_one(only.of::<u32>(rows)),
                _ => sort_one(only.of::<u64>(rows)),
            },
            [first, second] => sort_two(*first, *second, rows),
            all => sort_more(all, rows),
        }
    }
}

/// Describes the type of [`sort`].
pub type Sort = unsafe extern "C" fn(*const Column, u64, u64);

impl Column {
    /// # Safety
    ///
    /// As for [`sort`], of elements of this type.
    unsafe fn of<'c, W>(self, rows: usize) -> &'c mut [W] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.data.cast(), rows) }
    }

    /// # Safety
    ///
    /// As for [`sort`], of a column with more than `at` elements.
    unsafe fn get(self, at: usize) -> u64 {
        // SAFETY: the caller's promise.
        unsafe {
            match self.bytes {
                1 => u64::from(self.data.cast::<u8>().add(at).read()),
                2 => u64::from(self.data.cast::<u16>().add(at).read()),
                4 => u64::from(self.data.cast::<u32>().add(at).read()),
                _ => self.data.cast::<u64>().add(at).read(),
            }
        }
    }

    /// # Safety
    ///
    /// As for [`Column::get`].
    unsafe fn set(self, at: usize, word: u64) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.bytes {
                1 => self.data.cast::<u8>().add(at).write(word as u8),
                2 => self.data.cast::<u16>().add(at).write(word as u16),
                4 => self.data.cast::<u32>().add(at).write(word as u32),
                _ => self.data.cast::<u64>().add(at).write(word),
            }
        }
    }
}

/// Sorts two columns as one of twice the bits, or in place if there is no memory for that.
///
/// # Safety
///
/// As for [`sort`].
unsafe fn sort_two(first: Column, second: Column, rows: usize) {
    let mut all: SmallVec<[u128; LONGEST]> = SmallVec::new();
    // SAFETY: the caller's promise.
    unsafe {
        if all.try_reserve_exact(rows).is_err() {
            return sort_in_place(&[first, second], rows);
        }
        all.extend((0..rows).map(|k| u128::from(first.get(k)) << 64 | u128::from(second.get(k))));
        sort_one(&mut all);
        for (k, row) in all.into_iter().enumerate() {
            first.set(k, (row >> 64) as u64);
            second.set(k, row as u64);
        }
    }
}

/// Sorts row indices first, then permutes each column. Sorts in place if there is no memory for
/// that.
///
/// # Safety
///
/// As for [`sort`].
unsafe fn sort_more(columns: &[Column], rows: usize) {
    let mut places: SmallVec<[usize; LONGEST]> = SmallVec::new();
    let mut words: SmallVec<[u64; LONGEST]> = SmallVec::new();
    let room = places.try_reserve_exact(rows);
    // SAFETY: the caller's promise; places are below `rows`.
    unsafe {
        if room.and_then(|()| words.try_reserve_exact(rows)).is_err() {
            return sort_in_place(columns, rows);
        }
        places.extend(0..rows);
        places.sort_unstable_by(|a, b| order(columns, *a, *b));
        for column in columns {
            words.clear();
            words.extend(places.iter().map(|place| column.get(*place)));
            for (k, word) in words.iter().enumerate() {
                column.set(k, *word);
            }
        }
    }
}

/// Compares two rows.
///
/// # Safety
///
/// As for [`sort`], of more rows than these.
unsafe fn order(columns: &[Column], a: usize, b: usize) -> Ordering {
    // SAFETY: the caller's promise.
    let mut orders = columns.iter().map(|c| unsafe { c.get(a).cmp(&c.get(b)) });
    orders
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// Heapsort without extra memory: the largest row moves to the end of the remaining heap.
///
/// # Safety
///
/// As for [`sort`].
unsafe fn sort_in_place(columns: &[Column], rows: usize) {
    // SAFETY: the caller's promise; all rows are below `rows`.
    let swap = |a: usize, b: usize| unsafe {
        for column in columns {
            let (x, y) = (column.get(a), column.get(b));
            column.set(a, y);
            column.set(b, x);
        }
    };
    let sink = |mut at: usize, rows: usize| {
        loop {
            let below = [2 * at + 1, 2 * at + 2]
                .into_iter()
                .filter(|row| *row < rows);
            // SAFETY: as above.
            let largest = below.max_by(|a, b| unsafe { order(columns, *a, *b) });
            match largest {
                // SAFETY: as above.
                Some(row) if unsafe { order(columns, at, row) }.is_lt() => swap(at, row),
                _ => return,
            }
            at = largest.unwrap_or(at);
        }
    };
    (0..rows / 2).rev().for_each(|at| sink(at, rows));
    for rows in (1..rows).rev() {
        swap(0, rows);
        sink(0, rows);
    }
}

/// Holds the largest number of elements with a network.
pub const LONGEST: usize = 16;

/// Sorts elements in ascending order.
fn sort_one<W: Ord + Copy>(xs: &mut [W]) {
    macro_rules! by_length {
        ($($n:literal)*) => {
            match xs.len() {
                $($n => {
                    if let Ok(xs) = <&mut [W; $n]>::try_from(xs) {
                        *xs = network(*xs);
                    }
                })*
                _ => xs.sort_unstable(),
            }
        };
    }
    by_length!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
}

macro_rules! networks {
    ($($i:literal $j:literal),*) => {
        /// Lists the network of 16 as pairs of positions.
        ///
        /// A pair is exchanged if it is out of order. Shorter inputs skip pairs beyond the last
        /// element: missing elements would sort last.
        pub const NETWORK: &[(usize, usize)] = &[$(($i, $j)),*];

        #[inline(always)]
        fn network<W: Ord + Copy, const N: usize>(mut all: [W; N]) -> [W; N] {
            $(
                if $j < N {
                    let (a, b) = (all[$i % N], all[$j % N]);
                    (all[$i % N], all[$j % N]) = (a.min(b), a.max(b));
                }
            )*
            all
        }
    };
}

// Merges to runs of 2, 4, 8 and 16.
networks!(
    0 1, 2 3, 4 5, 6 7, 8 9, 10 11, 12 13, 14 15,
    0 2, 1 3, 4 6, 5 7, 8 10, 9 11, 12 14, 13 15,
    1 2, 5 6, 9 10, 13 14,
    0 4, 1 5, 2 6, 3 7, 8 12, 9 13, 10 14, 11 15,
    2 4, 3 5, 10 12, 11 13,
    1 2, 3 4, 5 6, 9 10, 11 12, 13 14,
    0 8, 1 9, 2 10, 3 11, 4 12, 5 13, 6 14, 7 15,
    4 8, 5 9, 6 10, 7 11,
    2 4, 3 5, 6 8, 7 9, 10 12, 11 13,
    1 2, 3 4, 5 6, 7 8, 9 10, 11 12, 13 14
);

#[cfg(test)]
mod tests {
    use super::{Column, sort, sort_in_place, sort_one};
    use proptest::prelude::*;

    /// By the zero-one principle, a network that sorts all words of zeros and ones sorts
    /// everything.
    #[test]
    fn networks_sort() {
        for len in 0..=17u32 {
            for word in 0..1u32 << len {
                let mut sorted: Vec<u8> = (0..len).map(|k| (word >> k & 1) as u8).collect();
                sort_one(&mut sorted);
                assert!(sorted.is_sorted(), "{len} {word:b}");
                let ones = sorted.iter().map(|x| u32::from(*x)).sum::<u32>();
                assert_eq!(ones, word.count_ones());
            }
        }
    }

    proptest! {
        /// Rows sort as tuples of these columns do in `std`.
        #[test]
        fn rows_are_in_order(
            rows in prop::collection::vec((0u8..3, 0u16..3, 0u32..3, any::<u64>()), 0..40),
            columns in 1usize..=4,
            in_place in any::<bool>(),
        ) {
            let mut expected = rows.clone();
            // Later columns carry no information: rows sort by the compared ones only.
            match columns {
                1 => expected.sort_by_key(|r| r.0),
                2 => expected.sort_by_key(|r| (r.0, r.1)),
                3 => expected.sort_by_key(|r| (r.0, r.1, r.2)),
                _ => expected.sort(),
            }
            let mut a: Vec<u8> = rows.iter().map(|r| r.0).collect();
            let mut b: Vec<u16> = rows.iter().map(|r| r.1).collect();
            let mut c: Vec<u32> = rows.iter().map(|r| r.2).collect();
            let mut d: Vec<u64> = rows.iter().map(|r| r.3).collect();
            let all: [Column; 4] = [(&mut a[..]).into(), (&mut b[..]).into(), (&mut c[..]).into(), (&mut d[..]).into()];
            // SAFETY: the columns are vectors of their own, each with as many elements as there are rows.
            unsafe {
                match in_place {
                    true => sort_in_place(&all[..columns], rows.len()),
                    false => sort(all.as_ptr(), columns as u64, rows.len() as u64),
                }
            }
            prop_assert_eq!(a, expected.iter().map(|r| r.0).collect::<Vec<_>>());
            if columns > 1 {
                prop_assert_eq!(b, expected.iter().map(|r| r.1).collect::<Vec<_>>());
            }
            if columns > 2 {
                prop_assert_eq!(c, expected.iter().map(|r| r.2).collect::<Vec<_>>());
            }
            if columns > 3 {
                prop_assert_eq!(d, expected.iter().map(|r| r.3).collect::<Vec<_>>());
            }
        }
    }
}
