//! Few elements, put in order by a sorting network: which are compared does not hang on what they are, so nothing is guessed.
//!
//! Source: K. E. Batcher, "Sorting networks and their applications", 1968: merges of what has even places and of what has odd ones.

/// Writes unsigned integers in ascending order to a slice that is as long: what has a network is read once and written once.
pub fn sort<W: Ord + Copy>(xs: &[W], to: &mut [W]) {
    macro_rules! by_length {
        ($($n:literal)*) => {
            match xs.len() {
                $($n => {
                    if let (Ok(xs), Ok(to)) = (<[W; $n]>::try_from(xs), <&mut [W; $n]>::try_from(to)) {
                        *to = network(xs);
                    }
                })*
                _ => {
                    to.copy_from_slice(xs);
                    to.sort_unstable();
                }
            }
        };
    }
    by_length!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
}

/// The network of 16, of which all is left out that is beyond the last element: what would be there is behind all others.
#[inline(always)]
fn network<W: Ord + Copy, const N: usize>(mut all: [W; N]) -> [W; N] {
    macro_rules! exchange {
        ($($i:literal $j:literal),*) => {$(
            if $j < N {
                let (a, b) = (all[$i % N], all[$j % N]);
                (all[$i % N], all[$j % N]) = (a.min(b), a.max(b));
            }
        )*};
    }
    // Pairs, fours, eights, and all.
    exchange!(0 1, 2 3, 4 5, 6 7, 8 9, 10 11, 12 13, 14 15);
    exchange!(0 2, 1 3, 4 6, 5 7, 8 10, 9 11, 12 14, 13 15);
    exchange!(1 2, 5 6, 9 10, 13 14);
    exchange!(0 4, 1 5, 2 6, 3 7, 8 12, 9 13, 10 14, 11 15);
    exchange!(2 4, 3 5, 10 12, 11 13);
    exchange!(1 2, 3 4, 5 6, 9 10, 11 12, 13 14);
    exchange!(0 8, 1 9, 2 10, 3 11, 4 12, 5 13, 6 14, 7 15);
    exchange!(4 8, 5 9, 6 10, 7 11);
    exchange!(2 4, 3 5, 6 8, 7 9, 10 12, 11 13);
    exchange!(1 2, 3 4, 5 6, 7 8, 9 10, 11 12, 13 14);
    all
}

#[cfg(test)]
mod tests {
    use super::sort;

    /// What puts all words of zeros and ones in order puts everything in order.
    #[test]
    fn networks_sort() {
        for len in 0..=17u32 {
            for word in 0..1u32 << len {
                let xs: Vec<u8> = (0..len).map(|k| (word >> k & 1) as u8).collect();
                let mut sorted = vec![7; len as usize];
                sort(&xs, &mut sorted);
                assert!(sorted.is_sorted(), "{len} {word:b}");
                let ones = sorted.iter().map(|x| u32::from(*x)).sum::<u32>();
                assert_eq!(ones, word.count_ones());
            }
        }
    }
}
