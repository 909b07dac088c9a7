//! Segmented arrays: data cut into segments of any lengths, such as sparse rows.
//!
//! | file | combinators |
//! | --- | --- |
//! | `elements` | `replicate`, `indices`, `enum_from_step`, `broadcast`, `local_indices`, `zip_with_each` |
//! | `filter` | `filter`, `pack` |
//! | `uniform` | `from_uniform`, `to_segmented` |
//! | `cut` | `chunks`, `from_flags` |
//! | `within` | `take`, `reverse`, `gather` |
//! | `append` | `append`, `flatten` |
//! | `pairs` | `flat_map`, `combinations`, `cartesian` |
//! | `apart` | none: validation of segments in memory, for external functions |
//!
//! Folds and scans of segments are in [`over`](crate::over). `sort`, `median` and the transforms
//! are with those of arrays.

mod apart;
mod append;
mod cut;
mod elements;
mod filter;
mod pairs;
mod uniform;
mod within;

pub(crate) use apart::fitting;

use crate::array::{Amount, Array, Ix0, as_indices, by};
use crate::ast::{AsLong, Assert, BodyBuilder, Builder, Kind, Len, Node, ScanKind};
use crate::elt::{Elt, Int, collected};
use crate::error::Result;
use crate::exp::{IntoExp, closure};
use crate::force::Force;
use crate::manifest::out_of_memory;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::fmt;
use std::sync::Arc;

/// Holds segments whose element type is known only at run time.
///
/// It is the untyped [`Segmented`]. Combinators have the same names, and take a [`Builder`]. Folds
/// and scans are methods of the builder, see [`Domain`](crate::over::Domain).
///
/// ```
/// use livefusion::ast::Builder;
/// use livefusion::prelude::*;
/// use livefusion::runtime::force_nodes;
/// let (lengths, data) = (Array::from(vec![2u32, 0, 1]), Array::from(vec![1.0f64, 2.0, 4.0]));
/// let rows = Builder::named("segments").segments(lengths.node(), data.node());
/// let sums = Builder::named("sum").sum(&rows);
/// assert_eq!(Array::<f64>::from_node(sums)?.force()?, [3.0, 0.0, 4.0]);
/// // A mistake comes out when something is forced that depends on it.
/// let tags = Array::from(vec![true, false, true]);
/// let wrong = Builder::named("sum").sum(&rows.with_data(tags.node().clone()));
/// let error = force_nodes(Engine::default_engine(), &[wrong]).unwrap_err();
/// assert!(error.to_string().ends_with("expected elements of one number each, got bool"));
/// # Ok::<(), livefusion::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Segments {
    /// The segment descriptor: the length of each segment, a `u64`.
    pub lengths: Arc<Node>,
    /// All elements, one segment after the other.
    pub data: Arc<Node>,
}

impl Segments {
    /// Replaces the elements by as many others.
    pub fn with_data(&self, data: Arc<Node>) -> Segments {
        let lengths = self.lengths.clone();
        Segments { lengths, data }
    }
}

/// Untyped forms.
impl Builder {
    /// Cuts an array into segments of these lengths.
    ///
    /// The lengths are one integer each, and must add up to the number of elements.
    pub fn segments(self, lengths: &Arc<Node>, data: &Arc<Node>) -> Segments {
        Segments {
            lengths: self.lengths(lengths),
            data: data.clone(),
        }
    }

    /// Cuts an array into segments at these offsets.
    ///
    /// The offsets are one integer each: the start of every segment, and the end of the last one.
    /// Only their differences matter, so the first can be any number.
    pub fn from_offsets(self, offsets: &Arc<Node>, data: &Arc<Node>) -> Segments {
        let offsets = self.integers(offsets, "offsets of one integer each");
        let rest = self.renamed("drop").drop(&offsets, Amount::Known(1));
        let segments = Len::Delayed(self.renamed("len").len(&rest));
        let mut b = BodyBuilder::new(&[Ty::U64]);
        b.locate(Some(self.loc()));
        let (i, one) = (b.param(0), b.lit(Const::u64(1)));
        let next = b.op(Op::Add, &[i, one]);
        let ends = [next, i].map(|at| b.at(&offsets, 0, at, true));
        let length = b.op(Op::Sub, &ends);
        Segments {
            lengths: (self.renamed("generate")).generate(segments, b.finish(&[length])),
            data: data.clone(),
        }
    }

    /// Returns the start of each segment, given the lengths.
    pub fn offsets(self, lengths: &Arc<Node>) -> Arc<Node> {
        let sum = by(Op::Add, Const::u64(0));
        self.scan(lengths, sum, ScanKind::Exclusive)
    }

    /// Returns the start of each segment in its data, for reads by index. A segment beyond the data
    /// is an error. Data after the last segment belongs to none.
    pub(crate) fn offsets_within(self, lengths: &Arc<Node>, data: &Arc<Node>) -> Arc<Node> {
        let offsets = self.offsets(lengths);
        if counts_all(lengths, data) {
            return offsets;
        }
        let all = self.len(data);
        let mut b = BodyBuilder::new(&[Ty::U64; 2]);
        b.locate(Some(self.loc()));
        let ([offset, len], all) = ([0, 1].map(|k| b.param(k)), b.scalar(&all, 0));
        let room = b.op(Op::Sub, &[all, offset]);
        let fits = b.ensure(Assert::Fits, &[len, room]);
        let more = b.op(Op::Sub, &[fits, len]);
        let offset = b.op(Op::Add, &[offset, more]);
        self.map(&[offsets, lengths.clone()], b.finish(&[offset]))
    }

    /// Casts lengths of segments to `u64`.
    fn lengths(self, lengths: &Arc<Node>) -> Arc<Node> {
        self.integers(lengths, "lengths of one integer each")
    }

    /// Casts integers to `u64`.
    fn integers(self, of: &Arc<Node>, expected: &str) -> Arc<Node> {
        match of.types[..] {
            [ty] if ty.is_int() => as_indices(self, of),
            _ => self.unfit(of, &[Ty::U64], 1, expected),
        }
    }
}

/// Tells whether lengths count the elements that a pack keeps, and data is that pack or in step with
/// it alone. Such segments fit their data.
fn counts_all(lengths: &Arc<Node>, mut data: &Arc<Node>) -> bool {
    let (Kind::CountS, [_, tags]) = (&lengths.kind, lengths.inputs.as_slice()) else {
        return false;
    };
    loop {
        match (&data.kind, data.inputs.as_slice()) {
            (Kind::Pack, [_, kept_by]) => return Arc::ptr_eq(tags, kept_by),
            (kind, [input]) if kind.facts().length == AsLong::Inputs => data = input,
            _ => return false,
        }
    }
}

/// Holds an array of elements `T` cut into consecutive segments.
///
/// It keeps the *segment descriptor*, an array of lengths, together with the data, so the two
/// cannot be mixed up.
///
/// Combinators on segments run as a loop over the segments with an inner loop over the elements of
/// each. They fuse with the producers of the lengths and the data, with each other, and with their
/// consumers. A sum of each segment is an array with one element per segment.
///
/// To nest segments, use the lengths of the inner segments as the data of the outer ones
/// ([`flatten`](Segmented::flatten), and `Segmented::new(&outer, &inner.sum())`).
///
/// ```
/// use livefusion::prelude::*;
/// let lengths = Array::from(vec![2u64, 0, 3]);
/// let data = Array::from(vec![1.0f64, 2.0, 3.0, 4.0, 5.0]);
/// let rows = Segmented::new(&lengths, &data);
/// assert_eq!(rows.sum().force()?, [3.0, 0.0, 12.0]);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// # Errors
/// When a result is forced: if a length is negative, or the lengths do not add up to the number of
/// elements.
#[derive(Clone)]
pub struct Segmented<T: Elt> {
    lengths: Array<u64>,
    data: Array<T>,
}

impl<T: Elt> From<Vec<Vec<T>>> for Segmented<T> {
    /// Copies vectors, as [`from_vecs`](Segmented::from_vecs) does.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from(vec![vec![3i64, 1], vec![], vec![2]]);
    /// assert_eq!(rows.sum().force()?, [4, 0, 2]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    fn from(segments: Vec<Vec<T>>) -> Segmented<T> {
        Segmented::from_vecs(segments)
    }
}

impl<T: Elt> Segmented<T> {
    /// Cuts an array into segments of these lengths.
    ///
    /// The lengths must add up to the number of elements. Costs nothing.
    #[track_caller]
    pub fn new<I: Int>(lengths: &Array<I>, data: &Array<T>) -> Segmented<T> {
        Segmented::wrap(Builder::named("segments").segments(lengths.node(), data.node()))
    }

    /// Wraps untyped segments.
    ///
    /// # Errors
    /// If the element type differs.
    pub fn from_nodes(segments: Segments) -> Result<Segmented<T>> {
        Ok(Segmented {
            lengths: Array::from_node(segments.lengths)?,
            data: Array::from_node(segments.data)?,
        })
    }

    /// Wraps untyped segments that are known to have this type.
    pub(crate) fn wrap(segments: Segments) -> Segmented<T> {
        Segmented {
            lengths: Array::wrap(segments.lengths),
            data: Array::wrap(segments.data),
        }
    }

    /// Returns the nodes of the untyped graph.
    pub fn nodes(&self) -> Segments {
        Segments {
            lengths: self.lengths.node().clone(),
            data: self.data.node().clone(),
        }
    }

    /// Cuts an array into segments at these offsets.
    ///
    /// Segment `i` is `data[offsets[i]..offsets[i + 1]]`, as for the row pointers of compressed
    /// sparse rows. There is one offset more than segments.
    ///
    /// The lengths are an index function: two reads of the offsets, in their own integer type, when
    /// the loop reaches a segment. There is no pass in advance, and the loop checks the offsets
    /// segment by segment.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_offsets(
    ///     &Array::from(vec![0u32, 2, 2, 3]),
    ///     &Array::from(vec![1i64, 2, 3]),
    /// );
    /// assert_eq!(rows.to_vecs()?, [vec![1, 2], vec![], vec![3]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// Offsets of only some rows need not begin at 0. Then the data are those of these rows, from
    /// the first offset to the last.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let (offsets, data) = (Array::from(vec![0i32, 2, 2, 3, 5]), Array::from(vec![1i64, 2, 3, 4, 5]));
    /// let last_two = Segmented::from_offsets(&offsets.drop(2), &data.drop(2));
    /// assert_eq!(last_two.to_vecs()?, [vec![3], vec![4, 5]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if an offset is below its predecessor, or the last one minus the first is not
    /// the number of elements.
    #[doc(alias("indptr", "ListOffsetArray"))]
    #[track_caller]
    pub fn from_offsets<I: Int>(offsets: &Array<I>, data: &Array<T>) -> Segmented<T> {
        Segmented::wrap(Builder::named("from_offsets").from_offsets(offsets.node(), data.node()))
    }

    /// Concatenates vectors, each as a segment.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3i64, 1], vec![], vec![2]]);
    /// assert_eq!(rows.lengths().to_vec()?, [2, 0, 1]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn from_vecs(segments: Vec<Vec<T>>) -> Segmented<T> {
        let lengths: Vec<u64> = segments.iter().map(|s| s.len() as u64).collect();
        let data: Vec<T> = segments.into_iter().flatten().collect();
        Segmented {
            lengths: Array::from(lengths),
            data: Array::from(data),
        }
    }

    /// Returns the segment descriptor, which is the length of each segment.
    pub fn lengths(&self) -> &Array<u64> {
        &self.lengths
    }

    /// Returns all elements, one segment after the other.
    pub fn data(&self) -> &Array<T> {
        &self.data
    }

    /// Returns all elements, one segment after the other.
    ///
    /// This is another name of [`data`](Segmented::data).
    #[doc(alias("flat_map", "concatMap"))]
    pub fn concat(&self) -> Array<T> {
        self.data.clone()
    }

    /// Returns the number of segments.
    #[track_caller]
    pub fn len(&self) -> Array<u64, Ix0> {
        self.lengths.len()
    }

    /// Returns the start of each segment.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3i64, 1], vec![], vec![2]]);
    /// assert_eq!(rows.offsets().force()?, [0, 2, 2]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn offsets(&self) -> Array<u64> {
        Array::wrap(Builder::named("scan_exclusive").offsets(self.lengths.node()))
    }

    /// Applies `f` to every element.
    ///
    /// Fuses with every producer and consumer.
    #[track_caller]
    pub fn map<R: IntoExp>(&self, f: impl FnOnce(T::Exp) -> R) -> Segmented<R::Elt> {
        let builder = Builder::named("map");
        let body = closure::<T, R::Elt>(|x| f(x).to_exp());
        self.with_data(Array::wrap(
            builder.map(std::slice::from_ref(self.data.node()), body),
        ))
    }

    /// Replaces the elements by as many others.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3i64, 1], vec![2]]);
    /// let weights = Array::from(vec![1i64, 10, 100]);
    /// let weighted = rows.with_data(rows.data() * &weights);
    /// assert_eq!(weighted.sum().force()?, [13, 200]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn with_data<U: Elt>(&self, data: Array<U>) -> Segmented<U> {
        Segmented {
            lengths: self.lengths.clone(),
            data,
        }
    }

    /// Computes the segments, as vectors.
    ///
    /// # Errors
    /// If the lengths do not match the data, there is not enough memory for the vectors, or the
    /// computation of the segments fails.
    pub fn to_vecs(&self) -> Result<Vec<Vec<T>>> {
        // The counts equal the lengths, checked against the data.
        let counts = self.map(|_| 1u64).sum();
        let (counts, data) = (&counts, &self.data).force()?;
        let mut data = data.into_iter();
        let mut segments = Vec::new();
        let reserved = segments.try_reserve_exact(counts.len());
        let spine = counts.len().saturating_mul(size_of::<Vec<T>>()) as u64;
        reserved.map_err(|_| out_of_memory(spine))?;
        for n in &counts {
            let bytes = n.saturating_mul(size_of::<T>() as u64);
            let segment = collected(*n as usize, &mut data);
            segments.push(segment.ok_or_else(|| out_of_memory(bytes))?);
        }
        Ok(segments)
    }
}

impl<T: Elt> fmt::Debug for Segmented<T> {
    /// Shows lengths and data. Never forces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Segmented")
            .field("lengths", &self.lengths)
            .field("data", &self.data)
            .finish()
    }
}
