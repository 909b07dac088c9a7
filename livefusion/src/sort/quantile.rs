//! `median`, `quantile`: of arrays and of segments.

use super::between::between;
use super::call::unfit;
use crate::array::{Array, Ix0};
use crate::ast::{Body, Buffer, Builder, Function, Gives, Node, OfSegments, Types, Value};
use crate::elt::Num;
use crate::error::ErrorKind;
use crate::exp::{Field, ToExp, trace, value};
use crate::external::reserved;
use crate::segmented::{Segmented, Segments, fitting};
use loop_lang::types::{Const, Ty};
use smallvec::smallvec;
use std::sync::Arc;

/// The untyped methods.
impl Builder {
    /// Returns the quantile of the elements at a share from 0 to 1.
    ///
    /// The share is a body without parameters that gives an `f64`.
    pub fn quantile(self, xs: &Arc<Node>, share: &Body) -> Arc<Node> {
        self.numbers(xs, (&[Ty::F64], 0), |_| {
            let loc = self.loc();
            let float = trace::trace(&xs.types, |x| {
                x.iter().map(|x| x.cast(Ty::F64, loc)).collect()
            });
            let share = trace::trace(&[], |_| Field::apply(share, &[], loc));
            let inputs = [
                self.map(std::slice::from_ref(xs), float),
                self.compute(share),
            ];
            let gives = Gives {
                types: Types::from_slice(&[Ty::F64]),
                rank: 0,
                like: None,
            };
            self.external(&inputs, gives, Arc::new(Select))
        })
    }

    /// Returns the quantile of the elements at each of these shares.
    pub fn quantiles(self, xs: &Arc<Node>, shares: &Arc<Node>) -> Arc<Node> {
        if shares.rank != 1 || shares.types[..] != [Ty::F64] {
            return self.unfit(shares, &[Ty::F64], 1, "an array of shares, each an f64");
        }
        self.numbers(xs, (&[Ty::F64], 1), |_| {
            let float = trace::trace(&xs.types, |x| {
                x.iter().map(|x| x.cast(Ty::F64, self.loc())).collect()
            });
            let inputs = [self.map(std::slice::from_ref(xs), float), shares.clone()];
            let gives = Gives {
                types: Types::from_slice(&[Ty::F64]),
                rank: 1,
                like: Some(1),
            };
            self.external(&inputs, gives, Arc::new(SelectAll))
        })
    }

    /// Returns the median of the elements.
    pub fn median(self, xs: &Arc<Node>) -> Arc<Node> {
        self.quantile(xs, &value::<f64>(|| 0.5.to_exp()))
    }
}

/// The untyped methods of segments.
impl Segments {
    /// Returns the quantile of each segment at a share from 0 to 1.
    ///
    /// No segment may be empty. The share is a body without parameters that gives an `f64`.
    pub fn quantile(&self, builder: Builder, share: &Body) -> Arc<Node> {
        builder.numbers(&self.data, (&[Ty::F64], 1), |ty| {
            let loc = builder.loc();
            let float = trace::trace(&[ty], |x| x.iter().map(|x| x.cast(Ty::F64, loc)).collect());
            let share = trace::trace(&[Ty::U64], |_| Field::apply(share, &[], loc));
            let inputs = [
                self.lengths.clone(),
                builder.map(std::slice::from_ref(&self.data), float),
                builder.map(std::slice::from_ref(&self.lengths), share),
            ];
            let gives = Gives {
                types: Types::from_slice(&[Ty::F64]),
                rank: 1,
                like: Some(0),
            };
            builder.external(&inputs, gives, Arc::new(SelectS))
        })
    }

    /// Returns the median of each segment.
    ///
    /// No segment may be empty.
    pub fn median(&self, builder: Builder) -> Arc<Node> {
        self.quantile(builder, &value::<f64>(|| 0.5.to_exp()))
    }
}

impl<T: Num> Segmented<T> {
    /// Finds the median of each segment, as [`Array::median`] does.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3i64, 1, 2], vec![4, 1], vec![7]]);
    /// assert_eq!(rows.median().force()?, [2.0, 2.5, 7.0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* As for [`quantile`](Segmented::quantile).
    ///
    /// # Errors
    /// As for [`quantile`](Segmented::quantile).
    #[doc(alias = "median_s")]
    #[track_caller]
    pub fn median(&self) -> Array<f64> {
        Array::wrap(self.nodes().median(Builder::named("median")))
    }

    /// Finds the number below which a share of each segment lies.
    ///
    /// [`Array::quantile`] has the details.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// // The warm days of each month.
    /// let month = Array::from(vec![1u8, 2, 1, 2, 1]);
    /// let (months, days) = Array::from(vec![3.0f64, 9.0, 5.0, 7.0, 4.0]).group_by_key(&month);
    /// let (months, warm) = (&months, &days.quantile(0.75)).force()?;
    /// assert_eq!((&months[..], &warm[..]), (&[1, 2][..], &[4.5, 8.5][..]));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* It takes linear time and is external to loops. Producers of the elements
    /// run in the loop before it, and consumers of the quantiles in the loop after it.
    ///
    /// # Errors
    /// When forced: if a segment is empty, if the share is not from 0 to 1, or if the lengths do
    /// not match the data.
    #[doc(alias("percentile", "quantile_s"))]
    #[track_caller]
    pub fn quantile(&self, share: impl ToExp<f64>) -> Array<f64> {
        let share = value::<f64>(|| share.to_exp());
        Array::wrap(self.nodes().quantile(Builder::named("quantile"), &share))
    }
}

/// Selects two neighbours in sorted order, without a full sort.
struct Select;

impl Function for Select {
    fn call(&self, inputs: &[Value], _: usize) -> Result<Value, ErrorKind> {
        let [Value::Array(columns), Value::Scalar(share)] = inputs else {
            return Err(unfit());
        };
        let share = share.first().map_or(f64::NAN, |c| f64::from_bits(c.bits));
        let mut xs = reserved(columns.first().map_or(0, |column| column.len()))?;
        xs.extend_from_slice(floats(columns));
        let found = select(&mut xs, share)?;
        Ok(Value::Scalar(smallvec![Const::f64(found)]))
    }

    fn of_segments(&self) -> Option<OfSegments> {
        Some(OfSegments::Apart(Arc::new(SelectS)))
    }

    fn why(&self) -> &str {
        "a quantile is known when all elements have been looked at, in any order"
    }
}

/// Selects for each of several shares.
struct SelectAll;

impl Function for SelectAll {
    fn call(&self, inputs: &[Value], _: usize) -> Result<Value, ErrorKind> {
        let [Value::Array(columns), Value::Array(shares)] = inputs else {
            return Err(unfit());
        };
        let mut xs = reserved(columns.first().map_or(0, |column| column.len()))?;
        xs.extend_from_slice(floats(columns));
        let mut found = reserved(floats(shares).len())?;
        for share in floats(shares) {
            found.push(select(&mut xs, *share)?);
        }
        Ok(Value::Array(vec![Arc::new(Buffer::from_vec(found))]))
    }

    fn why(&self) -> &str {
        Select.why()
    }
}

/// Selects in each segment.
struct SelectS;

impl Function for SelectS {
    fn call(&self, inputs: &[Value], _: usize) -> Result<Value, ErrorKind> {
        let [
            Value::Array(lengths),
            Value::Array(columns),
            Value::Array(shares),
        ] = inputs
        else {
            return Err(unfit());
        };
        let lengths = fitting(lengths, columns)?;
        let mut xs = reserved(columns.first().map_or(0, |column| column.len()))?;
        xs.extend_from_slice(floats(columns));
        let (mut found, mut rest) = (reserved(lengths.len())?, &mut xs[..]);
        for (length, share) in lengths.iter().zip(floats(shares)) {
            let Some((segment, behind)) = rest.split_at_mut_checked(*length as usize) else {
                break;
            };
            found.push(select(segment, *share)?);
            rest = behind;
        }
        Ok(Value::Array(vec![Arc::new(Buffer::from_vec(found))]))
    }

    fn why(&self) -> &str {
        Select.why()
    }
}

fn floats(columns: &[Arc<Buffer>]) -> &[f64] {
    let column = columns.first().and_then(|column| column.as_slice());
    column.unwrap_or_default()
}

/// Returns the quantile of these numbers, which it reorders.
fn select(xs: &mut [f64], share: f64) -> Result<f64, ErrorKind> {
    if !(0.0..=1.0).contains(&share) {
        return Err(ErrorKind::Malformed {
            expected: "a share from 0 to 1".into(),
            got: share.to_string(),
        });
    }
    let Some(last) = xs.len().checked_sub(1) else {
        return Err(ErrorKind::Empty);
    };
    Ok(match xs.iter().any(|x| x.is_nan()) {
        true => f64::NAN,
        false => at_place(xs, share * last as f64),
    })
}

/// Returns the value at a place in sorted order, interpolated between two.
fn at_place(xs: &mut [f64], place: f64) -> f64 {
    let below = place.floor();
    let (_, low, above) = xs.select_nth_unstable_by(below as usize, f64::total_cmp);
    match above.iter().copied().min_by(f64::total_cmp) {
        Some(high) => between(*low, high, place - below),
        None => *low,
    }
}

impl<T: Num> Array<T> {
    /// Finds the median of the elements.
    ///
    /// It is the middle element in order, or the number halfway between two, as the
    /// [`quantile`](Array::quantile) of 0.5.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// assert_eq!(Array::from(vec![3i32, 1, 2]).median().force()?, 2.0);
    /// assert_eq!(Array::from(vec![4.0f64, 1.0, 2.0, 3.0]).median().force()?, 2.5);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* As for [`quantile`](Array::quantile).
    ///
    /// # Errors
    /// When forced: if there are no elements.
    #[track_caller]
    pub fn median(&self) -> Array<f64, Ix0> {
        Array::wrap(Builder::named("median").median(self.node()))
    }

    /// Finds the number below which a share of the elements lies.
    ///
    /// The share is from 0 (the smallest element) to 1 (the largest one). The place in order is the
    /// share times `n - 1`, as an `f64`. Between two elements the number is interpolated (`linear`
    /// in NumPy), and rounded once. So it never falls as the share grows, and lies between its
    /// neighbours. Between an infinity and a finite number it is the infinity. Between both
    /// infinities it is NaN. If any element is NaN, so is the quantile at every share. Elements are
    /// converted to `f64`: integers above 2^53 are rounded to nearest.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![10.0f64, 30.0, 20.0, 40.0, 50.0]);
    /// assert_eq!((&xs.quantile(0.25), &xs.quantile(0.9)).force()?, (20.0, 46.0));
    /// // Nothing overflows.
    /// let far = Array::from(vec![-1.7e308f64, f64::INFINITY, 1.7e308]);
    /// assert_eq!((&far.quantile(0.25), &far.quantile(0.75)).force()?, (0.0, f64::INFINITY));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* It takes linear time and does not sort. Like [`sort`](Array::sort), it is
    /// external to loops: producers of the elements run in the loop before it.
    ///
    /// # Errors
    /// When forced: if there are no elements, or the share is not from 0 to 1.
    #[doc(alias = "percentile")]
    #[track_caller]
    pub fn quantile(&self, share: impl ToExp<f64>) -> Array<f64, Ix0> {
        let share = value::<f64>(|| share.to_exp());
        Array::wrap(Builder::named("quantile").quantile(self.node(), &share))
    }

    /// Finds the [`quantile`](Array::quantile) at each share, from one copy of the elements.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![10.0f64, 30.0, 20.0, 40.0, 50.0]);
    /// assert_eq!(xs.quantiles(&Array::from(vec![0.9, 0.25, 0.5])).force()?, [46.0, 20.0, 30.0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* It takes linear time for each share. It does not fuse, like
    /// [`quantile`](Array::quantile).
    ///
    /// # Errors
    /// When forced: if there are shares but no elements, or one is not from 0 to 1.
    #[doc(alias = "percentile")]
    #[track_caller]
    pub fn quantiles(&self, shares: &Array<f64>) -> Array<f64> {
        Array::wrap(Builder::named("quantiles").quantiles(self.node(), shares.node()))
    }
}
