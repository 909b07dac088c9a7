//! Words with keys, for the radix sort.

/// Describes a word with a key to sort by.
pub trait Word: Copy + Send + Sync {
    fn key(self) -> u64;
    /// Sorts by the key, then by the rest of the words.
    fn sort(words: &mut [Self]);
}

macro_rules! keys {
    ($($t:ident)*) => {$(
        impl Word for $t {
            #[inline(always)]
            fn key(self) -> u64 {
                self.into()
            }

            fn sort(words: &mut [Self]) {
                words.sort_unstable();
            }
        }
    )*};
}

keys! { u8 u16 u32 u64 }

/// A key and its place.
impl Word for [u64; 2] {
    #[inline(always)]
    fn key(self) -> u64 {
        self[0]
    }

    fn sort(words: &mut [Self]) {
        // One comparison of 128 bits has no branch.
        let whole = |[key, place]: [u64; 2]| u128::from(key) << 64 | u128::from(place);
        words.sort_unstable_by_key(|word| whole(*word));
    }
}
