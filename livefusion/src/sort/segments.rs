//! Segments, each sorted alone: `sort_s`, `argsort_s`.

use super::call::{no_memory, room, unfit};
use super::order;
use crate::ast::{Buffer, Builder, Function, Node, Types, Value};
use crate::elt::Elt;
use crate::error::ErrorKind;
use crate::segmented::{Segmented, Segments};
use livefusion_backend::Prim;
use loop_lang::types::Ty;
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
struct SortS;

/// Places of keys in order, segment by segment.
#[derive(Clone, Copy)]
enum Places {
    /// Within the segment.
    OfSegment,
    /// Among all elements.
    OfAll,
}

const WHY: &str = "a sort looks at all elements of a segment before it gives the first";

/// The lengths and the columns, if the lengths fit.
fn parts(inputs: &[Value]) -> Result<(&[u64], &[Arc<Buffer>]), ErrorKind> {
    let [Value::Array(lengths), .., Value::Array(columns)] = inputs else {
        return Err(unfit());
    };
    let lengths = lengths
        .first()
        .and_then(|lengths| lengths.as_slice::<u64>());
    let lengths = lengths.ok_or_else(unfit)?;
    let room = columns.first().map_or(0, |column| column.len() as u64);
    let needed: i128 = lengths.iter().map(|n| i128::from(*n)).sum();
    match needed == i128::from(room) {
        true => Ok((lengths, columns)),
        false => Err(ErrorKind::Segments { needed, room }),
    }
}

impl Function for SortS {
    fn call(&self, inputs: &[Value], _: usize) -> Result<Value, ErrorKind> {
        let (lengths, columns) = parts(inputs)?;
        let [column] = columns else {
            return Err(unfit());
        };
        let mut sorted = Buffer::copy_of(column.view()).ok_or_else(|| no_memory(column.bytes()))?;
        match column.ty() {
            Ty::U8 => sort::<u8>(lengths, &mut sorted),
            Ty::U16 => sort::<u16>(lengths, &mut sorted),
            Ty::U32 => sort::<u32>(lengths, &mut sorted),
            Ty::U64 => sort::<u64>(lengths, &mut sorted),
            _ => return Err(unfit()),
        }
        Ok(Value::Array(vec![Arc::new(sorted)]))
    }

    fn why(&self) -> &str {
        WHY
    }
}

fn sort<W: Prim + Ord>(lengths: &[u64], sorted: &mut Buffer) {
    let mut rest = sorted.as_mut_slice::<W>().unwrap_or_default();
    for length in lengths {
        let Some((segment, behind)) = rest.split_at_mut_checked(*length as usize) else {
            return;
        };
        segment.sort_unstable();
        rest = behind;
    }
}

impl Function for Places {
    fn call(&self, inputs: &[Value], _: usize) -> Result<Value, ErrorKind> {
        let (lengths, columns) = parts(inputs)?;
        let len = columns.first().map_or(0, |column| column.len());
        let mut order: Vec<u64> = room(len)?;
        order.extend(0..len as u64);
        let (mut rest, mut begin) = (&mut order[..], 0);
        for length in lengths {
            let Some((segment, behind)) = rest.split_at_mut_checked(*length as usize) else {
                break;
            };
            segment.sort_by(|a, b| super::call::compare(columns, *a, *b));
            if let Places::OfSegment = self {
                segment.iter_mut().for_each(|place| *place -= begin);
            }
            (rest, begin) = (behind, begin + length);
        }
        Ok(Value::Array(vec![Arc::new(Buffer::from_vec(order))]))
    }

    fn why(&self) -> &str {
        WHY
    }
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
    /// *Cost and fusion.* As of [`Array::sort`](crate::Array::sort): it runs apart.
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
