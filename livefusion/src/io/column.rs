//! Columns of a table: scalars, texts, lists, and their validity.

#[cfg(feature = "arrow")]
use super::arrow::TextsInPlace;
use super::csv::Why;
use super::date::{Date, DateTime};
use super::error::{ErrorKind, shown};
use super::plain::Plain;
use super::value::Type;
use crate::array::{Array, concat};
use crate::ast::{Builder, Field, Fields, Node, Value, show_types, trace};
use crate::elt::Scalar;
use crate::runtime::{Engine, force_nodes, lost};
use crate::segmented::Segments;
use livefusion_backend::{Buffer, Prim};
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Holds the data of a column and its validity.
#[derive(Clone)]
pub struct Column {
    pub data: Data,
    /// The presence of its values, if some are missing.
    pub valid: Option<Valid>,
}

/// Tells which values are present.
#[derive(Clone)]
pub struct Valid {
    /// A `bool` for each value.
    pub node: Arc<Node>,
    /// The number of missing values.
    pub missing: usize,
}

/// Holds the values of a column.
#[derive(Clone)]
pub enum Data {
    /// Scalars in memory.
    Scalars(Arc<Buffer>),
    /// Packed `bool`s, as a function of the index, and their number.
    #[cfg(feature = "arrow")]
    Packed(Arc<Node>, usize),
    /// Dates as counts of a unit.
    Times(Unit, Arc<Buffer>),
    /// Texts as codes and distinct labels.
    Text(Text),
    /// Texts stored one after the other.
    #[cfg(feature = "arrow")]
    Texts(Arc<TextsInPlace>),
    /// Lists of scalars.
    Lists(Lists),
    /// Values that programs cannot use: a description and their number.
    #[cfg(feature = "arrow")]
    Other(String, usize),
}

/// Names the unit of dates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Days, of [`Date`].
    Days,
    /// Microseconds, of [`DateTime`].
    Micros,
}

impl Unit {
    /// Returns the unit of a type of dates.
    pub fn of(ty: Type) -> Option<Unit> {
        match ty {
            Type::Date => Some(Unit::Days),
            Type::DateTime => Some(Unit::Micros),
            _ => None,
        }
    }

    pub fn ty(self) -> Type {
        match self {
            Unit::Days => Type::Date,
            Unit::Micros => Type::DateTime,
        }
    }

    /// Formats a date.
    pub fn show(self, count: i64) -> String {
        match self {
            Unit::Days => Date::of_count(count).to_string(),
            Unit::Micros => DateTime::of_count(count).to_string(),
        }
    }
}

/// Holds texts as codes.
#[derive(Clone)]
pub struct Text {
    pub codes: Arc<Buffer>,
    pub labels: Vec<String>,
    /// The field that made the column text, if text was not requested.
    pub why: Why,
}

/// Holds lists in Arrow's layout.
#[derive(Clone)]
pub struct Lists {
    /// The start of each list, then the end of the last one.
    pub offsets: Arc<Buffer>,
    /// The elements from the first offset to the last offset.
    pub elements: Arc<Node>,
}

impl From<Data> for Column {
    fn from(data: Data) -> Column {
        Column { data, valid: None }
    }
}

impl Column {
    pub fn len(&self) -> usize {
        match &self.data {
            Data::Scalars(elements) | Data::Times(_, elements) => elements.len(),
            Data::Text(text) => text.codes.len(),
            Data::Lists(lists) => lists.len(),
            #[cfg(feature = "arrow")]
            Data::Texts(texts) => texts.lists.len(),
            #[cfg(feature = "arrow")]
            Data::Packed(_, n) | Data::Other(_, n) => *n,
        }
    }

    pub fn ty(&self) -> Type {
        match &self.data {
            Data::Scalars(elements) => Type::Scalar(elements.ty()),
            Data::Times(unit, _) => unit.ty(),
            Data::Text(_) => Type::Text,
            Data::Lists(lists) => Type::List(lists.ty()),
            #[cfg(feature = "arrow")]
            Data::Texts(_) => Type::Text,
            #[cfg(feature = "arrow")]
            Data::Packed(..) => Type::Scalar(Ty::Bool),
            #[cfg(feature = "arrow")]
            Data::Other(..) => Type::Other,
        }
    }

    /// Describes its type for messages.
    pub fn shown(&self) -> String {
        match &self.data {
            #[cfg(feature = "arrow")]
            Data::Other(what, _) => what.clone(),
            _ => self.ty().to_string(),
        }
    }

    /// Checks that no value is missing.
    pub fn complete(&self) -> Result<(), ErrorKind> {
        let Some(valid) = &self.valid else {
            return Ok(());
        };
        let got = format!("{} without", valid.missing);
        Err(ErrorKind::malformed("a value in each row", got))
    }

    /// Returns its scalars as a node under the caller's call of `name`.
    ///
    /// Text gives its codes, dates give their counts.
    #[track_caller]
    pub fn node(&self, name: &'static str) -> Result<Arc<Node>, ErrorKind> {
        match &self.data {
            Data::Scalars(elements) | Data::Times(_, elements) => {
                Ok(manifest(elements.clone(), name))
            }
            #[cfg(feature = "arrow")]
            Data::Packed(node, _) => Ok(node.clone()),
            _ => match self.text() {
                Ok(text) => Ok(manifest(text.codes.clone(), name)),
                Err(_) => Err(ErrorKind::malformed("scalars or text", self.shown())),
            },
        }
    }

    /// Returns its elements in memory.
    ///
    /// Text gives its codes.
    pub fn buffer(&self) -> Result<Arc<Buffer>, ErrorKind> {
        Ok(Plain::of(&self.node("table")?)?.elements)
    }

    /// Returns its texts as codes.
    pub fn text(&self) -> Result<&Text, ErrorKind> {
        match &self.data {
            Data::Text(text) => Ok(text),
            #[cfg(feature = "arrow")]
            Data::Texts(texts) => texts.coded(),
            _ => Err(ErrorKind::malformed("text", self.shown())),
        }
    }

    /// Returns its lists.
    ///
    /// Texts give their bytes.
    #[track_caller]
    pub fn segments(&self, name: &'static str) -> Result<Segments, ErrorKind> {
        match &self.data {
            Data::Lists(lists) => Ok(lists.segments(name)),
            #[cfg(feature = "arrow")]
            Data::Texts(texts) => Ok(texts.lists.segments(name)),
            Data::Text(text) => Ok(bytes_of(text)?.segments(name)),
            _ => Err(ErrorKind::malformed("lists or text", self.shown())),
        }
    }

    /// Converts the elements to another type.
    pub fn converted<T: Scalar>(&self) -> Result<Arc<Buffer>, ErrorKind> {
        let wrong = |got: String| Err(ErrorKind::malformed(T::TY.name(), got));
        match &self.data {
            Data::Scalars(elements) if elements.ty() == T::TY => Ok(elements.clone()),
            #[cfg(feature = "arrow")]
            Data::Packed(..) if T::TY == Ty::Bool => self.buffer(),
            Data::Text(_) if self.len() == 0 => Ok(Arc::new(Buffer::empty(T::TY))),
            Data::Text(Text { why, .. }) => wrong(match why {
                Some((line, text)) => format!("text, in line {line} {}", shown(text)),
                None => "text".to_string(),
            }),
            Data::Scalars(elements) => match convert::<T>(elements) {
                Ok(values) => Ok(Arc::new(Buffer::from_vec(values))),
                Err(Some((row, x))) => wrong(format!("{}, in row {row} {x}", elements.ty())),
                Err(None) => wrong(elements.ty().to_string()),
            },
            _ => wrong(self.shown()),
        }
    }
}

impl Lists {
    /// Computes segments in one force.
    pub fn of(segments: &Segments) -> Result<Lists, ErrorKind> {
        let data = &segments.data;
        if data.types.len() != 1 || data.rank != 1 {
            let got = show_types(&data.types);
            return Err(ErrorKind::malformed("segments of scalars", got));
        }
        // These counts equal the lengths, and are checked against the data.
        let one = trace(&data.types, |_| {
            Fields::from_slice(&[Field::literal(Const::new(Ty::I64, 1))])
        });
        let ones = Builder::named("map").map(std::slice::from_ref(data), one);
        let counts = Builder::named("sum").sum(&segments.with_data(ones));
        let ends = Array::<i64>::wrap(counts).scan(0, |a, b| a + b);
        let offsets = concat([&Array::from(vec![0]), &ends]);
        let nodes = [offsets.node().clone(), data.clone()];
        let mut values = force_nodes(Engine::default_engine(), &nodes)?.into_iter();
        let mut next = || match values.next() {
            Some(Value::Array(mut columns)) => columns.pop(),
            _ => None,
        };
        let (Some(offsets), Some(elements)) = (next(), next()) else {
            return Err(ErrorKind::malformed("segments", "something else"));
        };
        // The columns may be in device memory.
        for column in [&offsets, &elements] {
            column.here().map_err(|why| lost(column, why))?;
        }
        let elements = manifest(elements, "segments");
        Ok(Lists { offsets, elements })
    }

    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    fn ty(&self) -> Ty {
        self.elements.types.first().copied().unwrap_or(Ty::U8)
    }

    #[track_caller]
    fn segments(&self, name: &'static str) -> Segments {
        let offsets = manifest(self.offsets.clone(), name);
        Builder::named("from_offsets").from_offsets(&offsets, &self.elements)
    }
}

/// Wraps elements in a node.
#[track_caller]
pub fn manifest(elements: Arc<Buffer>, name: &'static str) -> Arc<Node> {
    Builder::named(name).manifest(vec![elements])
}

/// Collects the bytes of texts.
pub fn bytes_of(text: &Text) -> Result<Lists, ErrorKind> {
    let codes: &[u32] = text.codes.as_slice().unwrap_or_default();
    let labels = || codes.iter().map(|c| text.labels[*c as usize].as_bytes());
    let total: usize = labels().map(<[u8]>::len).sum();
    let out_of_memory = |bytes: usize| ErrorKind::Memory {
        bytes: bytes as u64,
    };
    let (mut offsets, mut bytes) = (Vec::new(), Vec::new());
    let spine = codes.len() + 1;
    let reserved = offsets.try_reserve_exact(spine);
    reserved.map_err(|_| out_of_memory(8 * spine))?;
    bytes
        .try_reserve_exact(total)
        .map_err(|_| out_of_memory(total))?;
    offsets.push(0i64);
    for label in labels() {
        bytes.extend_from_slice(label);
        offsets.push(bytes.len() as i64);
    }
    Ok(Lists {
        offsets: Arc::new(Buffer::from_vec(offsets)),
        elements: manifest(Arc::new(Buffer::from_vec(bytes)), "table"),
    })
}

/// Converts each element exactly to another type. The error is the first integer that does not fit,
/// or none if the types never convert exactly.
fn convert<T: Scalar>(elements: &Buffer) -> Result<Vec<T>, Option<(usize, i128)>> {
    let from = elements.ty();
    let word = |row| {
        let word = elements.get_word(row).unwrap_or(0);
        match (Const::new(from, word).integer(), from, T::TY) {
            (Some(x), ..) => Const::exactly(T::TY, x)
                .map(|c| c.bits)
                .ok_or(Some((row, x))),
            (None, Ty::F32, Ty::F64) => Ok(f64::from(f32::from_word(word)).to_bits()),
            _ => Err(None),
        }
    };
    (0..elements.len())
        .map(|row| word(row).map(T::from_word))
        .collect()
}
