//! `factorize`: numbers elements by their value.

use super::call::unfit;
use super::order;
use crate::array::Array;
use crate::ast::{Buffer, Builder, Function, Gives, Node, Types, Value};
use crate::elt::Elt;
use crate::error::ErrorKind;
use crate::external::{no_memory, uncleared, zeros};
use livefusion_backend::Prim;
use loop_lang::types::Ty;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::hash::Hash;
use std::sync::Arc;

/// The untyped method.
impl Builder {
    /// Returns each element's code (`u32`), and the distinct elements.
    ///
    /// Equal elements have equal codes, counted from 0 in the order of first occurrence. The
    /// distinct elements come in the same order.
    pub fn factorize(self, xs: &Arc<Node>) -> (Arc<Node>, Arc<Node>) {
        let keys = self.keys(xs);
        let gives = |ty, like| Gives {
            types: Types::from_slice(&[ty]),
            rank: 1,
            like,
        };
        let of = std::slice::from_ref;
        let codes = self.external(of(&keys), gives(Ty::U32, Some(0)), Arc::new(Codes));
        let firsts = self.external(of(&codes), gives(Ty::U64, None), Arc::new(Firsts));
        // Keys are in memory, but the elements may not be.
        let found = self.gather(&keys, &firsts);
        let found = self.map(&[found], order::elements(&xs.types, self.loc()));
        (codes, found)
    }
}

/// Numbers keys in the order of first occurrence.
struct Codes;

impl Function for Codes {
    fn call(&self, inputs: &[Value], _: usize) -> Result<Value, ErrorKind> {
        let [Value::Array(columns)] = inputs else {
            return Err(unfit());
        };
        let codes = match &columns[..] {
            [column] => match column.ty() {
                Ty::U8 => of_integers::<u8>(column),
                Ty::U16 => of_integers::<u16>(column),
                Ty::U32 => of_integers::<u32>(column),
                Ty::U64 => of_integers::<u64>(column),
                _ => Err(unfit()),
            },
            columns => {
                let len = columns.first().map_or(0, |column| column.len());
                let word = |column: &Arc<Buffer>, row| column.get_word(row).unwrap_or(0);
                let row = |row| columns.iter().map(|column| word(column, row)).collect();
                numbered((0..len).map(row).map(|row: SmallVec<[u64; 4]>| row))
            }
        }?;
        Ok(Value::Array(vec![Arc::new(codes)]))
    }

    fn why(&self) -> &str {
        "equal elements are found in a table"
    }
}

/// Finds the place of the first element of each code.
struct Firsts;

/// Codes checked together. With few distinct keys, hardly any block has a new code.
const TOGETHER: usize = 256;

impl Function for Firsts {
    fn call(&self, inputs: &[Value], _: usize) -> Result<Value, ErrorKind> {
        let [Value::Array(columns)] = inputs else {
            return Err(unfit());
        };
        let codes = columns.first().and_then(|column| column.as_slice::<u32>());
        let places = firsts(codes.ok_or_else(unfit)?)?;
        Ok(Value::Array(vec![Arc::new(Buffer::from_vec(places))]))
    }

    fn why(&self) -> &str {
        "it looks through many codes at once for a new one"
    }
}

/// Finds first occurrences: a new element has the next code.
fn firsts(codes: &[u32]) -> Result<Vec<u64>, ErrorKind> {
    let mut places: Vec<u64> = Vec::new();
    for (codes, begin) in codes.chunks(TOGETHER).zip((0u64..).step_by(TOGETHER)) {
        // After the largest possible code nothing is new.
        let Ok(mut next) = u32::try_from(places.len()) else {
            break;
        };
        // The whole block is checked without an early exit, in vectors.
        if codes.iter().fold(false, |any, code| any | (*code >= next)) {
            let more = places.try_reserve(codes.len());
            more.map_err(|_| no_memory(size_of_val(&places[..])))?;
            for (code, place) in codes.iter().zip(begin..) {
                if *code == next {
                    places.push(place);
                    next = next.saturating_add(1);
                }
            }
        }
    }
    Ok(places)
}

/// Numbers integers with a table over their range if it is small, and with a hash table otherwise.
fn of_integers<W: Prim + Hash + Eq>(column: &Buffer) -> Result<Buffer, ErrorKind> {
    let keys = column.as_slice::<W>().unwrap_or_default();
    let Some(first) = keys.first().map(|key| key.to_word()) else {
        return Ok(Buffer::empty(Ty::U32));
    };
    // Widely spread integers mostly show it soon.
    let most_apart = keys.len().min(u32::MAX as usize) as u64;
    let ends = keys.iter().try_fold((first, first), |(least, most), key| {
        let (least, most) = (least.min(key.to_word()), most.max(key.to_word()));
        (most - least < most_apart).then_some((least, most))
    });
    match ends {
        Some((least, most)) => {
            let places = keys.iter().map(|key| (key.to_word() - least) as usize);
            by_place(places, (most - least) as usize + 1)
        }
        None => numbered(keys.iter().copied()),
    }
}

/// Numbers places below `n`, which is at most the number of codes.
fn by_place(places: impl ExactSizeIterator<Item = usize>, n: usize) -> Result<Buffer, ErrorKind> {
    // The code plus one, or 0 if there is none yet.
    let mut known = zeros(Ty::U32, n)?;
    let known = known.as_mut_slice::<u32>().unwrap_or_default();
    let mut last = 0;
    coded(places, |place| {
        let number = &mut known[place];
        if *number == 0 {
            last += 1;
            *number = last;
        }
        Ok(*number - 1)
    })
}

fn numbered<K: Hash + Eq>(keys: impl ExactSizeIterator<Item = K>) -> Result<Buffer, ErrorKind> {
    let mut known: FxHashMap<K, u32> = FxHashMap::default();
    coded(keys, |key| {
        if let Some(code) = known.get(&key) {
            return Ok(*code);
        }
        let code = u32::try_from(known.len()).map_err(|_| ErrorKind::Malformed {
            expected: "at most 2^32 different elements".into(),
            got: "more".into(),
        })?;
        let more = known.try_reserve(1);
        more.map_err(|_| no_memory(known.len() * size_of::<(K, u32)>()))?;
        known.insert(key, code);
        Ok(code)
    })
}

/// Collects the codes of some keys.
fn coded<K>(
    keys: impl ExactSizeIterator<Item = K>,
    mut code: impl FnMut(K) -> Result<u32, ErrorKind>,
) -> Result<Buffer, ErrorKind> {
    let mut codes = uncleared(Ty::U32, keys.len())?;
    let all = codes.as_mut_slice().unwrap_or_default();
    for (to, key) in all.iter_mut().zip(keys) {
        *to = code(key)?;
    }
    Ok(codes)
}

impl<T: Elt> Array<T> {
    /// Returns each element's code, and the distinct elements.
    ///
    /// Equal elements have equal codes, counted from 0 in the order of first occurrence. The
    /// distinct elements come in that order, so a code is the place of its element. Equality is
    /// that of [`sort`](Array::sort). All NaN become the canonical one.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let state = Array::from(vec![70u64, 30, 70, 50, 30]);
    /// let (codes, states) = state.factorize();
    /// let (codes_there, states_there) = (&codes, &states).force()?;
    /// assert_eq!((&codes_there[..], &states_there[..]), (&[0, 1, 0, 2, 1][..], &[70, 30, 50][..]));
    /// // Sums by group: what is added up is made in the loop that adds.
    /// let rain = Array::from(vec![1.0f64, 2.0, 3.0, 4.0, 5.0]);
    /// let sums = rain.map(|x| x * 10.0).reduce_by_index(&codes, Bins { count: states.len(), start: 0.0 }, |a, b| a + b);
    /// assert_eq!(sums.force()?, [40.0, 70.0, 40.0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* One lookup an element in a table of the distinct elements. For few
    /// distinct elements it is much faster than a sort. Integers whose range is smaller than the
    /// number of elements index the table directly. The numbering, and a scan of the codes for
    /// first occurrences, are external to loops. Producers of the elements run in a loop before
    /// them, and consumers of the codes in loops after. [`group_by_key`](Array::group_by_key) puts
    /// the elements of each group together, for operations other than sums.
    ///
    /// # Errors
    /// When forced: if there is not enough memory, or if there are more than 2^32 distinct
    /// elements.
    #[doc(alias("codes", "dictionary_encode", "unique_inverse"))]
    #[track_caller]
    pub fn factorize(&self) -> (Array<u32>, Array<T>) {
        let (codes, found) = Builder::named("factorize").factorize(self.node());
        (Array::wrap(codes), Array::wrap(found))
    }
}

#[cfg(test)]
mod tests {
    use super::{TOGETHER, firsts};

    /// Codes that grow at these places, and repeat earlier ones elsewhere.
    #[test]
    fn first_places_are_where_codes_grow() {
        let len = 4 * TOGETHER + 3;
        let all: Vec<usize> = (0..len).collect();
        let edges = [0, 1, TOGETHER - 1, TOGETHER, 2 * TOGETHER, 4 * TOGETHER];
        let few = [&edges[..], &[4 * TOGETHER + 2]].concat();
        for places in [&all[..], &few, &[0], &[0, len - 1]] {
            let (mut codes, mut known) = (Vec::new(), 0);
            for place in 0..len {
                let is_new = places.contains(&place);
                known += u32::from(is_new);
                codes.push(if is_new {
                    known - 1
                } else {
                    place as u32 % known
                });
            }
            let places: Vec<u64> = places.iter().map(|place| *place as u64).collect();
            assert_eq!(firsts(&codes).ok(), Some(places));
        }
        assert_eq!(firsts(&[]).ok(), Some(Vec::new()));
    }
}
