//! Few elements, put in order by a sorting network: which are compared does not hang on what they are, so nothing is guessed.
//!
//! Source: K. E. Batcher, "Sorting networks and their applications", 1968: merges of what has even places and of what has odd ones.

/// The longest slice that has a network.
const MOST: usize = 16;

/// Puts unsigned integers in ascending order.
pub fn sort<W: Ord + Copy>(xs: &mut [W]) {
    macro_rules! by_length {
        ($($n:literal)*) => {
            match xs.len() {
                0 | 1 => {}
                $($n => {
                    if let Ok(xs) = <&mut [W; $n]>::try_from(xs) {
                        network(xs);
                    }
                })*
                MOST.. => xs.sort_unstable(),
            }
        };
    }
    by_length!(2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
}

/// The network of 16, of which all is left out that is beyond the last element: what would be there is behind all others.
#[inline(always)]
fn network<W: Ord + Copy, const N: usize>(xs: &mut [W; N]) {
    let mut all = *xs;
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
    *xs = all;
}

#[cfg(test)]
mod tests {
    use super::sort;

    /// What puts all words of zeros and ones in order puts everything in order.
    #[test]
    fn networks_sort() {
        for len in 0..=17u32 {
            for word in 0..1u32 << len {
                let mut xs: Vec<u8> = (0..len).map(|k| (word >> k & 1) as u8).collect();
                sort(&mut xs);
                assert!(xs.is_sorted(), "{len} {word:b}");
                assert_eq!(
                    xs.iter().map(|x| u32::from(*x)).sum::<u32>(),
                    word.count_ones()
                );
            }
        }
    }
}
