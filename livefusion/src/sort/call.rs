//! Sort functions on whole columns of [keys](super::order), which are unsigned integers.
//!
//! They call std's sort for few keys, and a [radix sort](super::radix) for many.

use super::radix::{Alone, KeyOrder, SOME, Unsorted, VaryingBits, Word, each, fitting, varying};
use crate::ast::{Buffer, Builder, Function, OfSegments, Sorted, Threads, Value};
use crate::error::ErrorKind;
use crate::external::uncleared;
use livefusion_backend::Prim;
use loop_lang::types::Ty;
use std::cmp::Ordering;
use std::sync::Arc;

/// Sorts keys.
pub struct Sort;

/// Returns the sorted order of keys as places, in a stable sort.
pub struct Argsort;

impl Function for Sort {
    fn call(&self, inputs: &[Value], _: usize) -> Result<Value, ErrorKind> {
        self.call_on(inputs, &Alone)
    }

    fn call_on(&self, inputs: &[Value], threads: &dyn Threads) -> Result<Value, ErrorKind> {
        let [column] = columns(inputs)? else {
            return Err(unfit());
        };
        let sorted = match column.ty() {
            Ty::U8 => sort::<u8>(column, threads),
            Ty::U16 => sort::<u16>(column, threads),
            Ty::U32 => sort::<u32>(column, threads),
            Ty::U64 => sort::<u64>(column, threads),
            _ => Err(unfit()),
        }?;
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
    fn call(&self, inputs: &[Value], _: usize) -> Result<Value, ErrorKind> {
        self.call_on(inputs, &Alone)
    }

    fn call_on(&self, inputs: &[Value], threads: &dyn Threads) -> Result<Value, ErrorKind> {
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

/// Returns the columns of the keys, which are the last input.
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

/// Sorts keys; stability does not matter, because equal keys have equal bits.
fn sort<K: Prim + Word + Ord>(column: &Buffer, threads: &dyn Threads) -> Result<Buffer, ErrorKind> {
    let keys = column.as_slice::<K>().unwrap_or_default();
    let mut made = uncleared(K::TY, keys.len())?;
    let sorted = made.as_mut_slice::<K>().unwrap_or_default();
    let found = match keys.len() <= SOME {
        true => {
            sorted.copy_from_slice(keys);
            sorted.sort_unstable();
            return Ok(made);
        }
        false => KeyOrder::of(keys, true),
    };
    match found {
        KeyOrder::Rising => sorted.copy_from_slice(keys),
        KeyOrder::Falling => {
            sorted.copy_from_slice(keys);
            sorted.reverse();
        }
        KeyOrder::Mixed => {
            let threads = fitting(threads, keys.len());
            let varying = varying(keys, threads);
            let source = Unsorted {
                keys,
                word: |_, key| key,
            };
            if !source.count(varying, sorted, K::from_word, threads) {
                let mut scratch = uncleared(K::TY, keys.len())?;
                let scratch = scratch.as_mut_slice::<K>().unwrap_or_default();
                source.sort(varying, [sorted, scratch], threads, |_| {});
            }
        }
    }
    Ok(made)
}

fn write<'a, T: 'a>(to: impl Iterator<Item = &'a mut T>, from: impl Iterator<Item = T>) {
    to.zip(from).for_each(|(to, from)| *to = from);
}

fn places<K: Prim + Word + Ord>(
    column: &Buffer,
    threads: &dyn Threads,
) -> Result<Buffer, ErrorKind> {
    let keys = column.as_slice::<K>().unwrap_or_default();
    let mut made = uncleared(Ty::U64, keys.len())?;
    let order = made.as_mut_slice::<u64>().unwrap_or_default();
    match KeyOrder::of(keys, false) {
        KeyOrder::Rising => write(order.iter_mut(), 0..),
        KeyOrder::Falling => write(order.iter_mut().rev(), 0..),
        KeyOrder::Mixed => order_mixed(keys, order, fitting(threads, keys.len()))?,
    }
    Ok(made)
}

/// Sorts places by the bits in which keys differ, packed into one word with the place if they fit,
/// or else as pairs.
fn order_mixed<K: Word>(
    keys: &[K],
    order: &mut [u64],
    threads: &dyn Threads,
) -> Result<(), ErrorKind> {
    let (len, varying) = (keys.len(), varying(keys, threads));
    let Some(bits) = VaryingBits::of(varying) else {
        return Ok(());
    };
    let of_place = (len as u64).ilog2() + 1;
    if bits.count() + of_place <= u64::BITS {
        let mut scratch = uncleared(Ty::U64, len)?;
        let scratch = scratch.as_mut_slice::<u64>().unwrap_or_default();
        let (low, places) = (bits.low(), (1 << of_place) - 1);
        let above = u64::MAX >> (u64::BITS - bits.count());
        let source = Unsorted {
            keys,
            word: |place, key: K| (key.key() >> low & above) << of_place | place as u64,
        };
        let varying = varying >> low << of_place;
        source.sort(varying, [order, scratch], threads, |words| {
            words.iter_mut().for_each(|word| *word &= places);
        });
        return Ok(());
    }
    let twice = || uncleared(Ty::U64, len.saturating_mul(2));
    let (mut words, mut scratch) = (twice()?, twice()?);
    let [words, scratch] = [&mut words, &mut scratch].map(|buffer| {
        let words = buffer.as_mut_slice::<u64>().unwrap_or_default();
        words.as_chunks_mut::<2>().0
    });
    let source = Unsorted {
        keys,
        word: |place, key: K| [key.key(), place as u64],
    };
    source.sort(varying, [&mut *words, scratch], threads, |_| {});
    let size = len.div_ceil(threads.count()).max(1);
    let pairs = order.chunks_mut(size).zip(words.chunks(size)).collect();
    each(
        threads,
        pairs,
        |(order, words): (&mut [u64], &[[u64; 2]])| {
            write(order.iter_mut(), words.iter().map(|[_, place]| *place));
        },
    );
    Ok(())
}

/// Sorts places by several columns.
fn by_all(columns: &[Arc<Buffer>]) -> Result<Buffer, ErrorKind> {
    let len = columns.first().map_or(0, |column| column.len());
    let mut order = uncleared(Ty::U64, len)?;
    let places = order.as_mut_slice().unwrap_or_default();
    (0..).zip(&mut *places).for_each(|(k, place)| *place = k);
    places.sort_by(|a, b| compare(columns, *a, *b));
    Ok(order)
}

/// Compares two elements by the first column in which they differ.
pub fn compare(columns: &[Arc<Buffer>], a: u64, b: u64) -> Ordering {
    let key = |column: &Buffer, place: u64| column.get_word(place as usize);
    let orders = columns
        .iter()
        .map(|column| key(column, a).cmp(&key(column, b)));
    orders.fold(Ordering::Equal, Ordering::then)
}
