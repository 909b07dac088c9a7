//! Date arrays: typed integers that count days or microseconds.

use super::column::{Column, Data, Unit};
use super::date::{Date, DateTime};
use super::error::{ErrorKind, Result};
use super::plain::Plain;
use super::table::Table;
use super::value::Type;
use crate::array::Array;
use crate::ast::{Node, Types};
use crate::elt::{Elt, Rows};
use crate::exp::{Exp, Field, Fields, IntoExp, ToExp};
use livefusion_backend::Buffer;
use loop_lang::types::Ty;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Describes the types of dates.
///
/// They are [`Date`] and [`DateTime`].
pub trait Time: Elt<Exp = TimeExp<Self>> + Copy + fmt::Display {
    /// The column type.
    const TYPE: Type;
    /// Its count.
    fn count(self) -> i64;
    /// The date of a count.
    fn of_count(count: i64) -> Self;
}

/// Represents a date within a closure.
pub struct TimeExp<T> {
    count: Exp<i64>,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for TimeExp<T> {
    fn clone(&self) -> TimeExp<T> {
        *self
    }
}

impl<T> Copy for TimeExp<T> {}

macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        /// Comparisons with a date or with a date expression.
        impl<T: Time> TimeExp<T> {
            $($(#[$doc])*
            #[track_caller]
            pub fn $name(self, other: impl ToExp<T>) -> Exp<bool> {
                self.count.$name(other.to_exp().count)
            })*
        }
    };
}

comparisons! {
    /// `self == other`.
    eq;
    /// `self != other`.
    ne;
    /// `self < other`.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// use livefusion::io::{self, Date};
    /// let table = io::csv_text("day,n\n2010-01-31,1\n2010-02-01,2\n").read()?;
    /// let february: Date = "2010-02-01".parse()?;
    /// let before = table.times::<Date>("day")?.map(|day| day.lt(february));
    /// assert_eq!(before.force()?, [true, false]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    lt;
    /// `self <= other`.
    le;
    /// `self > other`.
    gt;
    /// `self >= other`.
    ge;
}

impl<T: Time> TimeExp<T> {
    /// Converts a count to a date.
    ///
    /// It counts days for a [`Date`], microseconds for a [`DateTime`].
    pub fn of_count(count: Exp<i64>) -> TimeExp<T> {
        let of = PhantomData;
        TimeExp { count, of }
    }

    /// Returns its count.
    ///
    /// It counts days since 1970-01-01, or microseconds.
    pub fn count(self) -> Exp<i64> {
        self.count
    }

    /// Returns the time from `other` to `self`.
    ///
    /// It is in days or microseconds.
    #[track_caller]
    pub fn since(self, other: impl ToExp<T>) -> Exp<i64> {
        self.count - other.to_exp().count
    }

    /// Adds a number of days or microseconds.
    #[track_caller]
    pub fn plus(self, count: impl ToExp<i64>) -> TimeExp<T> {
        TimeExp::of_count(self.count + count.to_exp())
    }
}

#[diagnostic::do_not_recommend]
impl<T: Time> ToExp<T> for TimeExp<T> {
    fn to_exp(self) -> TimeExp<T> {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<T: Time> IntoExp for TimeExp<T> {
    type Elt = T;
}

macro_rules! times {
    ($($T:ident)*) => {$(
        impl Time for $T {
            const TYPE: Type = Type::$T;
            fn count(self) -> i64 {
                $T::count(self)
            }
            fn of_count(count: i64) -> $T {
                $T::of_count(count)
            }
        }
        #[diagnostic::do_not_recommend]
        impl ToExp<$T> for $T {
            fn to_exp(self) -> TimeExp<$T> {
                TimeExp::of_count(Exp::lit(self.count()))
            }
        }
        #[diagnostic::do_not_recommend]
        impl IntoExp for $T {
            type Elt = $T;
        }
        #[diagnostic::do_not_recommend]
        impl Elt for $T {
            type Exp = TimeExp<$T>;
            const FIELDS: u32 = 1;
            fn types(out: &mut Types) {
                out.push(Ty::I64);
            }
            fn of_fields(next: &mut dyn FnMut(Ty) -> Field) -> TimeExp<$T> {
                TimeExp::of_count(Exp::of(next(Ty::I64)))
            }
            fn fields(e: TimeExp<$T>, out: &mut Fields) {
                out.push(e.count.field());
            }
            fn split(values: Vec<$T>, out: &mut Vec<Arc<Buffer>>) {
                i64::split(values.into_iter().map($T::count).collect(), out);
            }
            fn join(columns: &mut dyn Iterator<Item = Arc<Buffer>>) -> Option<Vec<$T>> {
                let counts = i64::join(columns)?;
                Some(counts.into_iter().map($T::of_count).collect())
            }
            fn read(columns: &mut std::slice::Iter<'_, Arc<Buffer>>, at: usize) -> Option<$T> {
                i64::read(columns, at).map($T::of_count)
            }
            fn of_words(next: &mut dyn FnMut() -> u64) -> $T {
                $T::of_count(i64::of_words(next))
            }
            type Iter<'a> = Rows<'a, $T>;
            fn iter(columns: &[Arc<Buffer>]) -> Rows<'_, $T> {
                Rows::new(columns)
            }
            fn show(next: &mut dyn FnMut() -> String, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match next().parse() {
                    Ok(count) => write!(f, "{}", $T::of_count(count)),
                    Err(_) => Err(fmt::Error),
                }
            }
        }
    )*};
}

times! { Date DateTime }

impl Table {
    /// Returns a column of dates as an array of [`Date`] or [`DateTime`].
    ///
    /// The column is not copied.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// use livefusion::io::{self, DateTime};
    /// let table = io::csv_text("at\n2010/01/01 00:00\n2010/01/01 01:00\n").read()?;
    /// let times = table.times::<DateTime>("at")?;
    /// let hours = times.map(|t| t.since(DateTime::of_count(0)) / 3_600_000_000);
    /// assert_eq!(hours.diff().force()?, [1]);
    /// # Ok::<(), livefusion::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such column, if it does not hold dates of this type, or if some dates are
    /// missing.
    #[track_caller]
    pub fn times<T: Time>(&self, name: &str) -> Result<Array<T>> {
        let column = self.find(name)?;
        let fault = |kind| self.fault(name, kind);
        column.complete().map_err(fault)?;
        match column.ty() == T::TYPE {
            true => Ok(Array::wrap(column.node("table").map_err(fault)?)),
            false => {
                let kind = ErrorKind::malformed(T::TYPE.to_string(), column.shown());
                Err(fault(kind))
            }
        }
    }

    /// Computes dates and adds them as a column.
    ///
    /// It replaces a column of the same name.
    ///
    /// # Errors
    /// As [`force`](Array::force). Also if the number of dates differs from the table's number of
    /// rows.
    pub fn with_times<T: Time>(self, name: impl Into<String>, times: &Array<T>) -> Result<Table> {
        self.with_times_node(name, T::TYPE, times.node())
    }

    /// Computes counts of days or microseconds and adds them as a date column.
    ///
    /// It is as [`with_times`](Table::with_times), for a node of the untyped graph.
    ///
    /// # Errors
    /// As [`with_times`](Table::with_times). Also if it is not an `i64` array of rank 1, or the
    /// type is not a date type.
    pub fn with_times_node(
        self,
        name: impl Into<String>,
        ty: Type,
        node: &Arc<Node>,
    ) -> Result<Table> {
        let name = name.into();
        let column = |unit| {
            let all = Plain::of(node)?;
            match all.shape.len() == 1 && all.elements.ty() == Ty::I64 {
                true => Ok(Column::from(Data::Times(unit, all.elements))),
                false => {
                    let got = format!("{} of rank {}", all.elements.ty(), all.shape.len());
                    Err(ErrorKind::malformed("i64 of rank 1", got))
                }
            }
        };
        let no_dates = || ErrorKind::malformed("a type of dates", ty.to_string());
        let unit = Unit::of(ty).ok_or_else(no_dates);
        match unit.and_then(column) {
            Ok(column) => self.put(name, column),
            Err(kind) => Err(self.fault(&name, kind)),
        }
    }
}
