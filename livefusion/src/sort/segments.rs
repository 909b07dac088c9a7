//! Segments, each sorted alone: `sort_s`, `argsort_s`.

use super::call::{compare, unfit};
use super::{order, short};
use crate::ast::{Buffer, Builder, Function, Node, Types, Value};
use crate::elt::Elt;
use crate::error::ErrorKind;
use crate::external::uncleared;
use crate::segmented::{Segmented, Segments, Stretch, fitting};
use livefusion_backend::Prim;
use loop_lang::types::Ty;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// Beside the typed methods.
impl Builder {
    /// Each segment's elements in ascending order.
    pub fn sort_s(self, of: &Segments) -> Segments {
        if of.data.types.len() != 1 {
            let places = self.places_s(of, Places::OfAll);
            return of.with_data(self.gather(&of.data, &places));
        }
        let keys = self.keys(&of.data);
        let types = keys.types.clone();
        let sorted = self.ordered(&[of.lengths.clone(), keys], types, SortS);
        of.with_data(self.map(&[sorted], order::elements(&of.data.types, self.loc())))
    }

    /// The index within its segment of each segment's elements, in their ascending order (`u64`).
    pub fn argsort_s(self, of: &Segments) -> Segments {
        of.with_data(self.places_s(of, Places::OfSegment))
    }

    /// What is read by places among all is made by the loop that makes the keys, if it can only be read from memory.
    fn places_s(self, of: &Segments, places: Places) -> Arc<Node> {
        let is_read = matches!(places, Places::OfAll) && of.data.is_stream;
        let mut inputs = vec![of.lengths.clone()];
        inputs.extend(is_read.then(|| of.data.clone()));
        inputs.push(self.keys(&of.data));
        self.ordered(&inputs, Types::from_slice(&[Ty::U64]), places)
    }
}

/// Keys in order, segment by segment.
pub struct SortS;

/// Places of keys in order, segment by segment.
#[derive(Clone, Copy)]
pub enum Places {
    /// Within the segment.
    OfSegment,
    /// Among all elements.
    OfAll,
}

const WHY: &str = "a sort looks at all elements of a segment before it gives the first";

/// The lengths and the columns of the keys, which are the first and the last input, if the lengths fit.
fn parts(inputs: &[Value]) -> Result<(&[u64], &[Arc<Buffer>]), ErrorKind> {
    match inputs {
        [Value::Array(lengths), .., Value::Array(columns)] => {
            Ok((fitting(lengths, columns)?, columns))
        }
        _ => Err(unfit()),
    }
}

impl Function for SortS {
    fn call(&self, inputs: &[Value], threads: usize) -> Result<Value, ErrorKind> {
        let (lengths, columns) = parts(inputs)?;
        let [column] = columns else {
            return Err(unfit());
        };
        let sorted = match column.ty() {
            Ty::U8 => sort::<u8>(lengths, column, threads),
            Ty::U16 => sort::<u16>(lengths, column, threads),
            Ty::U32 => sort::<u32>(lengths, column, threads),
            Ty::U64 => sort::<u64>(lengths, column, threads),
            _ => Err(unfit()),
        }?;
        Ok(Value::Array(vec![Arc::new(sorted)]))
    }

    fn why(&self) -> &str {
        WHY
    }
}

fn sort<W: Prim + Ord + Send>(
    lengths: &[u64],
    column: &Buffer,
    threads: usize,
) -> Result<Buffer, ErrorKind> {
    let keys = column.as_slice::<W>().unwrap_or_default();
    let mut sorted = uncleared(column.ty(), keys.len())?;
    let all = sorted.as_mut_slice::<W>().unwrap_or_default();
    each(lengths, all, threads, |place, segment| {
        short::sort(keys.get(place).unwrap_or_default(), segment)
    })?;
    Ok(sorted)
}

/// Does something to each segment of some elements, and is told its place among all; on several threads.
fn each<T: Send>(
    lengths: &[u64],
    data: &mut [T],
    threads: usize,
    act: impl Fn(Range<usize>, &mut [T]) + Sync,
) -> Result<(), ErrorKind> {
    Stretch::all(lengths, data).shared_out(threads, &|some| {
        some.segments(lengths)
            .for_each(|(place, segment)| act(place, segment));
        Ok(())
    })
}

impl Places {
    /// From a place among all elements.
    fn from(self, begin: usize) -> u64 {
        match self {
            Places::OfSegment => 0,
            Places::OfAll => begin as u64,
        }
    }
}

impl Function for Places {
    fn call(&self, inputs: &[Value], threads: usize) -> Result<Value, ErrorKind> {
        let (lengths, columns) = parts(inputs)?;
        let len = columns.first().map_or(0, |column| column.len());
        let mut order = uncleared(Ty::U64, len)?;
        let all = order.as_mut_slice().unwrap_or_default();
        match columns {
            [column] => match column.ty() {
                Ty::U8 => places::<u8>(*self, lengths, column, all, threads),
                Ty::U16 => places::<u16>(*self, lengths, column, all, threads),
                Ty::U32 => places::<u32>(*self, lengths, column, all, threads),
                Ty::U64 => places::<u64>(*self, lengths, column, all, threads),
                _ => Err(unfit()),
            },
            columns => each(lengths, all, threads, |place, segment| {
                (0..).zip(&mut *segment).for_each(|(k, place)| *place = k);
                let first = place.start as u64;
                segment.sort_by(|a, b| compare(columns, first + a, first + b));
                let from = self.from(place.start);
                segment.iter_mut().for_each(|place| *place += from);
            }),
        }?;
        Ok(Value::Array(vec![Arc::new(order)]))
    }

    fn why(&self) -> &str {
        WHY
    }
}

/// Keys of one column, each with its place: no two are equal.
fn places<W: Prim>(
    of: Places,
    lengths: &[u64],
    column: &Buffer,
    all: &mut [u64],
    threads: usize,
) -> Result<(), ErrorKind> {
    let keys = column.as_slice::<W>().unwrap_or_default();
    each(lengths, all, threads, |place, segment| {
        let from = of.from(place.start);
        let keys = keys.get(place).unwrap_or_default();
        let placed = keys.iter().zip(0u64..);
        let placed = placed.map(|(key, k)| u128::from(key.to_word()) << 64 | u128::from(k));
        let placed: SmallVec<[u128; 16]> = placed.collect();
        let mut sorted = placed.clone();
        short::sort(&placed, &mut sorted);
        for (place, placed) in segment.iter_mut().zip(sorted) {
            *place = from + placed as u64;
        }
    })
}

impl<T: Elt> Segmented<T> {
    /// Each segment's elements in ascending order, as [`Array::sort`](crate::Array::sort) has it.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3.0f64, 1.0, 2.0], vec![], vec![5.0, 4.0]]);
    /// assert_eq!(rows.sort_s().to_vecs()?, [vec![1.0, 2.0, 3.0], vec![], vec![4.0, 5.0]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* As of [`Array::sort`](crate::Array::sort), it runs apart. Short segments are sorted by networks, the others by
    /// std; several threads have some of the segments each.
    ///
    /// # Errors
    /// When forced: if the lengths do not match the data, or there is no memory for it.
    #[track_caller]
    pub fn sort_s(&self) -> Segmented<T> {
        Segmented::wrap(Builder::named("sort_s").sort_s(&self.nodes()))
    }

    /// The index within its segment of each segment's elements, in their ascending order; equal elements stay in the order in which
    /// they come.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3.0f64, 1.0, 2.0], vec![], vec![5.0, 4.0]]);
    /// assert_eq!(rows.argsort_s().to_vecs()?, [vec![1, 2, 0], vec![], vec![1, 0]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`sort_s`](Segmented::sort_s).
    #[track_caller]
    pub fn argsort_s(&self) -> Segmented<u64> {
        Segmented::wrap(Builder::named("argsort_s").argsort_s(&self.nodes()))
    }
}
