//! Elements numbered by what they are: `factorize`.

use super::call::unfit;
use crate::array::Array;
use crate::ast::{Buffer, Builder, Function, Gives, Node, ScanKind, Types, Value, trace};
use crate::elt::Elt;
use crate::error::ErrorKind;
use crate::exp::{Field, Fields};
use crate::external::{no_memory, room};
use livefusion_backend::Prim;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::hash::Hash;
use std::sync::Arc;

/// Beside the typed method.
impl Builder {
    /// For each element its code (`u32`): equal ones have equal codes, counted from 0 in the order in which they come. And each
    /// different element once, in that order.
    pub fn factorize(self, xs: &Arc<Node>) -> (Arc<Node>, Arc<Node>) {
        let keys = self.keys(xs);
        let gives = Gives {
            types: Types::from_slice(&[Ty::U32]),
            rank: 1,
            like: Some(0),
        };
        let codes = self.external(&[keys], gives, Arc::new(Codes));
        let loc = self.loc();
        let op = |op, args: &[Field]| Field::op(op, args, loc);
        // One more than the code: then 0 is what comes before all.
        let one = Field::literal(Const::u64(1));
        let number = trace(&[Ty::U32], |code| {
            Fields::from_slice(&[op(Op::Add, &[code[0].cast(Ty::U64, loc), one])])
        });
        let numbers = self.map(std::slice::from_ref(&codes), number);
        let most = crate::array::by(Op::Max, Const::u64(0));
        let before = self.scan(&numbers, most, ScanKind::Exclusive);
        let all = self.zip(&[xs.clone(), numbers, before]);
        let is_new = trace(&all.types, |fields| {
            let [.., number, before] = fields else {
                return Fields::new();
            };
            Fields::from_slice(&[op(Op::Gt, &[*number, *before])])
        });
        let found = self.filter(&all, is_new);
        (codes, self.fields(&found, 0..xs.types.len() as u32))
    }
}

/// Numbers keys in the order in which they come.
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
        Ok(Value::Array(vec![Arc::new(Buffer::from_vec(codes))]))
    }

    fn why(&self) -> &str {
        "equal elements are found in a table"
    }
}

/// Integers that are not far apart have places in a table of all between them; others are looked for.
fn of_integers<W: Prim + Hash + Eq>(column: &Buffer) -> Result<Vec<u32>, ErrorKind> {
    let keys = column.as_slice::<W>().unwrap_or_default();
    let Some(first) = keys.first().map(|key| key.to_word()) else {
        return Ok(Vec::new());
    };
    // Those that are far apart mostly show it soon.
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

/// Of places below `n`, which are at most as many as there may be codes.
fn by_place(places: impl ExactSizeIterator<Item = usize>, n: usize) -> Result<Vec<u32>, ErrorKind> {
    // One more than the code; nothing where none is known.
    let mut known: Vec<u32> = room(n)?;
    known.resize(n, 0);
    let (mut codes, mut last) = (room(places.len())?, 0);
    for place in places {
        let number = &mut known[place];
        if *number == 0 {
            last += 1;
            *number = last;
        }
        codes.push(*number - 1);
    }
    Ok(codes)
}

fn numbered<K: Hash + Eq>(keys: impl ExactSizeIterator<Item = K>) -> Result<Vec<u32>, ErrorKind> {
    let mut known: FxHashMap<K, u32> = FxHashMap::default();
    let mut codes = room(keys.len())?;
    for key in keys {
        codes.push(match known.get(&key) {
            Some(code) => *code,
            None => {
                let code = u32::try_from(known.len()).map_err(|_| ErrorKind::Malformed {
                    expected: "at most 2^32 different elements".into(),
                    got: "more".into(),
                })?;
                let more = known.try_reserve(1);
                more.map_err(|_| no_memory(known.len() * size_of::<(K, u32)>()))?;
                known.insert(key, code);
                code
            }
        });
    }
    Ok(codes)
}

impl<T: Elt> Array<T> {
    /// For each element its code: equal elements have equal codes, counted from 0 in the order in which they come. And each different
    /// element once, in that order, so that the element of a code is the one at its place. What is equal is so as
    /// [`sort`](Array::sort) has it.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let state = Array::from(vec![70u64, 30, 70, 50, 30]);
    /// let (codes, states) = state.factorize();
    /// let (codes_there, states_there) = (&codes, &states).force()?;
    /// assert_eq!((&codes_there[..], &states_there[..]), (&[0, 1, 0, 2, 1][..], &[70, 30, 50][..]));
    /// // Sums by group: what is added up is made in the loop that adds.
    /// let rain = Array::from(vec![1.0f64, 2.0, 3.0, 4.0, 5.0]);
    /// let sums = reduce_by_index(states.len(), 0.0, &codes, &rain.map(|x| x * 10.0), |a, b| a + b);
    /// assert_eq!(sums.force()?, [40.0, 70.0, 40.0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* A table of the different elements, which is asked for each: of few it is much faster than a sort. Integers that are
    /// less far apart than there are elements have their places in it, and need not be looked for. It runs apart; what makes the elements
    /// is in the loop before, what uses the codes in those behind.
    /// [`group_by_key`](Array::group_by_key) puts the elements of each group side by side, for what is no sum.
    ///
    /// # Errors
    /// When forced: if there is no memory for it, or if there are more than 2^32 different elements.
    #[doc(alias("codes", "dictionary_encode", "unique_inverse"))]
    #[track_caller]
    pub fn factorize(&self) -> (Array<u32>, Array<T>) {
        let (codes, found) = Builder::named("factorize").factorize(self.node());
        (Array::wrap(codes), Array::wrap(found))
    }
}
