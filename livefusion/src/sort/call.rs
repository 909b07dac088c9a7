//! The functions that sort: of whole columns of [keys](super::order), which are unsigned integers. std's sorts where there are few,
//! a radix sort where there are many.

use crate::ast::{Buffer, Builder, Function, OfSegments, Sorted, Value};
use crate::error::ErrorKind;
use crate::external::{no_memory, room, uncleared};
use livefusion_backend::Prim;
use loop_lang::types::Ty;
use rdst::{RadixKey, RadixSort};
use std::cmp::Ordering;
use std::sync::Arc;

/// From so many on a radix sort is faster.
const MANY: usize = 100_000;

/// Keys in order.
pub struct Sort;

/// The places of keys in order; of equal ones in the order in which they come.
pub struct Argsort;

impl Function for Sort {
    fn call(&self, inputs: &[Value], threads: usize) -> Result<Value, ErrorKind> {
        let [column] = columns(inputs)? else {
            return Err(unfit());
        };
        let mut sorted = Buffer::copy_of(column.view()).ok_or_else(|| no_memory(column.bytes()))?;
        match column.ty() {
            Ty::U8 => sort::<u8>(&mut sorted, threads),
            Ty::U16 => sort::<u16>(&mut sorted, threads),
            Ty::U32 => sort::<u32>(&mut sorted, threads),
            Ty::U64 => sort::<u64>(&mut sorted, threads),
            _ => return Err(unfit()),
        }
        Ok(Value::Array(vec![Arc::new(sorted)]))
    }

    fn of_segments(&self) -> Option<OfSegments> {
        let sorted =
            |b: Builder, lengths: &_, keys: &_| b.sort_keys(lengths, keys, Sorted::Elements);
        Some(OfSegments::Fused(sorted))
    }

    fn why(&self) -> &str {
        "a sort looks at all elements before it gives the first"
    }
}

impl Function for Argsort {
    fn call(&self, inputs: &[Value], threads: usize) -> Result<Value, ErrorKind> {
        let columns = columns(inputs)?;
        let order = match columns {
            [column] => match column.ty() {
                Ty::U8 => places::<u8>(column, threads),
                Ty::U16 => places::<u16>(column, threads),
                Ty::U32 => places::<u32>(column, threads),
                Ty::U64 => places::<u64>(column, threads),
                _ => return Err(unfit()),
            },
            columns => by_all(columns),
        }?;
        Ok(Value::Array(vec![Arc::new(order)]))
    }

    fn of_segments(&self) -> Option<OfSegments> {
        let places = |b: Builder, lengths: &_, keys: &_| b.sort_keys(lengths, keys, Sorted::Places);
        Some(OfSegments::Fused(places))
    }

    fn why(&self) -> &str {
        Sort.why()
    }
}

/// The columns of the keys, which are the last input.
fn columns(inputs: &[Value]) -> Result<&[Arc<Buffer>], ErrorKind> {
    match inputs.last() {
        Some(Value::Array(columns)) if !columns.is_empty() => Ok(columns),
        _ => Err(unfit()),
    }
}

pub fn unfit() -> ErrorKind {
    ErrorKind::Malformed {
        expected: "columns of unsigned integers".into(),
        got: "something else".into(),
    }
}

/// What may be in any order where it is equal: then it is the same bits.
fn in_order<K: Ord + RadixKey + Copy + Send + Sync>(keys: &mut [K], threads: usize) {
    match (keys.len() < MANY, threads) {
        (true, _) => keys.sort_unstable(),
        (false, 1) => {
            let sort = keys.radix_sort_builder().with_single_threaded_tuner();
            sort.with_parallel(false).sort();
        }
        (false, _) => keys.radix_sort_unstable(),
    }
}

fn sort<W: Prim + Ord + RadixKey + Copy + Send + Sync>(sorted: &mut Buffer, threads: usize) {
    in_order(sorted.as_mut_slice::<W>().unwrap_or_default(), threads);
}

/// A key with its place: no two are equal, so that the order of equal keys is that of their places.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Placed<W, I> {
    key: W,
    place: I,
}

impl<W: RadixKey, I: RadixKey> RadixKey for Placed<W, I> {
    const LEVELS: usize = I::LEVELS + W::LEVELS;

    #[inline]
    fn get_level(&self, level: usize) -> u8 {
        match level.checked_sub(I::LEVELS) {
            Some(level) => self.key.get_level(level),
            None => self.place.get_level(level),
        }
    }
}

/// A number of an element.
trait Number: RadixKey + Ord + Copy + Send + Sync {
    fn of(place: usize) -> Self;
    fn word(self) -> u64;
}

impl Number for u32 {
    fn of(place: usize) -> u32 {
        place as u32
    }
    fn word(self) -> u64 {
        self.into()
    }
}

impl Number for u64 {
    fn of(place: usize) -> u64 {
        place as u64
    }
    fn word(self) -> u64 {
        self
    }
}

fn places<W: Prim + Ord + RadixKey + Copy + Send + Sync>(
    column: &Buffer,
    threads: usize,
) -> Result<Buffer, ErrorKind> {
    let keys = column.as_slice::<W>().unwrap_or_default();
    match u32::try_from(keys.len()) {
        Ok(_) => placed::<W, u32>(keys, threads),
        Err(_) => placed::<W, u64>(keys, threads),
    }
}

fn placed<W: Ord + RadixKey + Copy + Send + Sync, I: Number>(
    keys: &[W],
    threads: usize,
) -> Result<Buffer, ErrorKind> {
    let mut all = room::<Placed<W, I>>(keys.len())?;
    let keys = keys.iter().copied().enumerate();
    all.extend(keys.map(|(place, key)| Placed {
        key,
        place: I::of(place),
    }));
    in_order(&mut all, threads);
    let mut order = uncleared(Ty::U64, all.len())?;
    let places = order.as_mut_slice().unwrap_or_default();
    for (place, placed) in places.iter_mut().zip(all) {
        *place = placed.place.word();
    }
    Ok(order)
}

/// By several columns.
fn by_all(columns: &[Arc<Buffer>]) -> Result<Buffer, ErrorKind> {
    let len = columns.first().map_or(0, |column| column.len());
    let mut order = uncleared(Ty::U64, len)?;
    let places = order.as_mut_slice().unwrap_or_default();
    (0..).zip(&mut *places).for_each(|(k, place)| *place = k);
    places.sort_by(|a, b| compare(columns, *a, *b));
    Ok(order)
}

/// The order of two elements: the first column in which they differ decides.
pub fn compare(columns: &[Arc<Buffer>], a: u64, b: u64) -> Ordering {
    let key = |column: &Buffer, place: u64| column.get_word(place as usize);
    let orders = columns
        .iter()
        .map(|column| key(column, a).cmp(&key(column, b)));
    orders.fold(Ordering::Equal, Ordering::then)
}
