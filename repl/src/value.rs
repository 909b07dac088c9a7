//! Values of expressions.

use crate::combinators::{Combinator, Keywords};
use crate::meaning::Time;
use crate::source::Span;
use crate::syntax::Function;
pub use crate::table::Table;
use livefusion::Boundary;
use livefusion::ast::{Axis, Fields, Node, Types};
use livefusion::io::{self, Labels};
use livefusion::segmented::Segments;
use loop_lang::Ty;
use std::fmt;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// Describes a value.
///
/// Delayed values are nodes of the library's graph, and are computed when they are shown.
#[derive(Clone, Debug)]
pub enum Value {
    /// An integer that takes the expected type.
    Int(i128),
    /// A float that takes the expected type.
    Float(f64),
    /// A scalar or a tuple of scalars: literals, or terms of the traced closure.
    Scalar(Fields, Elt),
    /// A delayed array, or a delayed scalar.
    Array(Array),
    /// An array cut into segments.
    Segmented(Segmented),
    /// An array with the axes of a combinator: `m.along(1)`.
    Along(Along),
    /// A tuple of any values.
    Tuple(Vec<Value>),
    /// A user function.
    Function(Rc<Closure>),
    /// A combinator or a scalar function, by its name.
    Named(Named),
    /// `a..b`, with optional ends.
    Range(Box<Range>),
    /// The boundary of an array.
    Boundary(Boundary<Box<Value>>),
    /// A string.
    Text(Arc<str>),
    /// A table from a file. Combinators see an array of rows.
    Table(Rc<Table>),
    /// A value to write to a file. Evaluation writes nothing: the session writes it when it shows
    /// the value.
    Save(Save),
}

/// Describes a file to write.
#[derive(Clone, Debug)]
pub struct Save {
    /// The file.
    pub path: PathBuf,
    /// The location of its name.
    pub at: Span,
    /// The contents and the format.
    pub what: Saved,
}

/// Describes the contents of a file.
#[derive(Clone, Debug)]
pub enum Saved {
    /// One array.
    Npy(Arc<Node>),
    /// The raw elements of one array.
    Raw(Arc<Node>),
    /// Arrays with their names.
    Npz(Vec<(String, Arc<Node>)>),
    /// A table from a file.
    Table(Rc<Table>, Columns),
    /// Columns with their names.
    Columns(Vec<(String, Column)>, Columns),
}

/// Lists formats of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// Text.
    Csv,
    /// Compressed.
    #[cfg(feature = "arrow")]
    Parquet,
    /// The layout in memory.
    #[cfg(feature = "arrow")]
    Arrow,
}

/// Describes a column to write.
#[derive(Clone, Debug)]
pub enum Column {
    /// Scalars.
    Scalars(Arc<Node>),
    /// Codes of text.
    Text(Arc<Node>, Labels),
    /// Counts of dates of a type.
    Times(Arc<Node>, io::Type),
    /// Lists.
    Lists(Segments),
}

/// Holds a node with the structure of its elements.
#[derive(Clone, Debug)]
pub struct Array {
    /// The node.
    pub node: Arc<Node>,
    /// The element type that its fields form.
    pub elt: Elt,
}

/// Holds an array with the axes of a combinator.
#[derive(Clone, Debug)]
pub struct Along {
    /// The array.
    pub array: Array,
    /// The axes.
    pub axes: Vec<usize>,
}

/// Holds lengths and the elements of all segments.
#[derive(Clone, Debug)]
pub struct Segmented {
    /// The lengths, `u64`.
    pub lengths: Arc<Node>,
    /// The elements.
    pub data: Array,
}

/// Describes a predefined callable.
#[derive(Clone, Copy, Debug)]
pub enum Named {
    /// A combinator.
    Combinator(&'static Combinator),
    /// A scalar function.
    Scalar(&'static crate::combinators::ScalarFunction),
}

impl Named {
    /// Returns its named arguments.
    pub fn keywords(self) -> Keywords {
        match self {
            Named::Combinator(c) => c.keywords,
            Named::Scalar(_) => Keywords::None,
        }
    }
}

/// Holds a function with the values of its free names.
#[derive(Debug)]
pub struct Closure {
    /// Its tree.
    pub function: Arc<Function>,
    /// The enclosing environment.
    pub env: Env,
    /// The name from a `def`, for recursion.
    pub name: Option<String>,
}

/// Describes a range, `start..end`.
#[derive(Clone, Debug)]
pub struct Range {
    /// The first element.
    pub start: Option<Value>,
    /// The inclusive or exclusive end.
    pub end: Option<Value>,
    /// Whether the end is inclusive.
    pub closed: bool,
}

/// Describes elements, which are scalars or tuples of elements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Elt {
    /// One field.
    Scalar(Ty),
    /// A number of elements or an index: a `u64` in memory, an `i64` in arithmetic.
    Count,
    /// The fields of all parts, in order.
    Tuple(Vec<Elt>),
    /// A tuple with named parts: a row of a table.
    Row(Arc<[String]>, Vec<Elt>),
    /// A value, and whether it is present.
    Maybe(Box<[Elt; 2]>),
    /// One field, the code of a text among these ordered labels.
    Text(Labels),
    /// One field, which counts days or microseconds.
    Time(Time),
}

impl Elt {
    /// Returns a scalar type, or a tuple of scalar types.
    pub fn of(types: &[Ty]) -> Elt {
        match types {
            [ty] => Elt::Scalar(*ty),
            types => Elt::Tuple(types.iter().copied().map(Elt::Scalar).collect()),
        }
    }

    /// Returns the types of all fields.
    pub fn types(&self) -> Types {
        match self {
            Elt::Scalar(ty) => Types::from_slice(&[*ty]),
            Elt::Count => Types::from_slice(&[Ty::U64]),
            Elt::Text(_) => Types::from_slice(&[Ty::U32]),
            Elt::Time(_) => Types::from_slice(&[Ty::I64]),
            Elt::Tuple(_) | Elt::Row(..) | Elt::Maybe(_) => {
                self.parts().iter().flat_map(Elt::types).collect()
            }
        }
    }

    /// Returns the number of fields.
    pub fn fields(&self) -> usize {
        match self {
            Elt::Scalar(_) | Elt::Count | Elt::Text(_) | Elt::Time(_) => 1,
            Elt::Tuple(_) | Elt::Row(..) | Elt::Maybe(_) => {
                self.parts().iter().map(Elt::fields).sum()
            }
        }
    }

    /// Returns the wider of two default types of untyped numbers.
    pub fn wider(self, other: Elt) -> Elt {
        match (self, other) {
            (Elt::Scalar(Ty::I64), other @ Elt::Scalar(Ty::U64 | Ty::F64)) => other,
            (Elt::Scalar(Ty::U64), other @ Elt::Scalar(Ty::F64)) => other,
            (Elt::Tuple(own), Elt::Tuple(others)) if own.len() == others.len() => {
                let parts = own.into_iter().zip(others);
                Elt::Tuple(parts.map(|(a, b)| a.wider(b)).collect())
            }
            (Elt::Text(own), Elt::Text(others)) => Elt::Text(own.merged(&others)),
            (own, _) => own,
        }
    }

    /// Returns the type in memory of a single scalar.
    pub fn scalar(&self) -> Option<Ty> {
        match self {
            Elt::Scalar(ty) => Some(*ty),
            Elt::Count => Some(Ty::U64),
            _ => None,
        }
    }
}

impl fmt::Display for Elt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Elt::Scalar(ty) => f.write_str(ty.name()),
            Elt::Count => f.write_str(Ty::I64.name()),
            Elt::Text(_) => f.write_str("text"),
            Elt::Time(time) => f.write_str(time.name()),
            Elt::Maybe(parts) => write!(f, "{} or missing", parts[0]),
            Elt::Row(names, parts) => {
                let parts = names.iter().zip(parts).map(|(n, t)| format!("{n}: {t}"));
                write!(f, "({})", parts.collect::<Vec<_>>().join(", "))
            }
            Elt::Tuple(parts) => {
                let parts: Vec<_> = parts.iter().map(Elt::to_string).collect();
                write!(f, "({})", parts.join(", "))
            }
        }
    }
}

impl fmt::Display for Array {
    /// Formats `f64[3]`, `(u64, f64)[?]`, `f64[3, 4]`, or `f64` for a delayed scalar.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes = self.node.shape.as_ref().map_or(&[][..], |s| s.axes());
        let known = || self.node.known_len().map_or("?".into(), |n| n.to_string());
        if let (1, Elt::Row(..)) = (self.node.rank, &self.elt) {
            return write!(f, "table of {} rows {}", known(), self.elt);
        }
        self.elt.fmt(f)?;
        match (self.node.rank, axes) {
            (0, _) => Ok(()),
            (_, []) => write!(f, "[{}]", known()),
            (_, axes) => {
                let axes: Vec<_> = axes.iter().map(Axis::to_string).collect();
                write!(f, "[{}]", axes.join(", "))
            }
        }
    }
}

impl Value {
    /// Returns whether it is a function.
    pub fn is_function(&self) -> bool {
        matches!(self, Value::Function(_) | Value::Named(_))
    }

    /// Returns whether it is a scalar or a tuple of scalars.
    pub fn is_scalar(&self) -> bool {
        match self {
            Value::Int(_) | Value::Float(_) | Value::Scalar(..) => true,
            Value::Array(a) => a.node.rank == 0,
            Value::Tuple(parts) => parts.iter().all(Value::is_scalar),
            _ => false,
        }
    }

    /// Returns whether it only writes files and shows nothing.
    pub fn only_saves(&self) -> bool {
        match self {
            Value::Save(_) => true,
            Value::Tuple(parts) => parts.iter().all(Value::only_saves),
            _ => false,
        }
    }

    /// Returns whether it contains an array or a delayed scalar.
    pub fn has_delayed(&self) -> bool {
        match self {
            Value::Array(_) => true,
            Value::Tuple(parts) => parts.iter().any(Value::has_delayed),
            _ => false,
        }
    }

    /// Returns its element type.
    ///
    /// Untyped numbers and values without elements have none.
    pub fn elt(&self) -> Option<Elt> {
        match self {
            Value::Scalar(_, elt) => Some(elt.clone()),
            Value::Array(a) => Some(a.elt.clone()),
            Value::Segmented(s) => Some(s.data.elt.clone()),
            Value::Along(a) => Some(a.array.elt.clone()),
            Value::Tuple(parts) => {
                let parts: Option<Vec<_>> = parts.iter().map(Value::elt).collect();
                parts.map(Elt::Tuple)
            }
            _ => None,
        }
    }

    /// Returns its default element type.
    ///
    /// An untyped number is an `i64` or an `f64`, or a `u64` if no other type holds it.
    pub fn default_elt(&self) -> Elt {
        match self {
            Value::Float(_) => Elt::Scalar(Ty::F64),
            Value::Int(n) if *n > i128::from(i64::MAX) => Elt::Scalar(Ty::U64),
            Value::Tuple(parts) => Elt::Tuple(parts.iter().map(Value::default_elt).collect()),
            Value::Text(text) => Elt::Text(Labels::of([text])),
            other => other.elt().unwrap_or(Elt::Scalar(Ty::I64)),
        }
    }

    /// Converts an untyped integer to a float.
    pub fn floating(&self) -> Value {
        match self {
            Value::Int(n) => Value::Float(*n as f64),
            other => other.clone(),
        }
    }

    /// Returns its type, as in `:type`.
    pub fn ty(&self) -> String {
        match self {
            Value::Int(_) | Value::Float(_) => self.default_elt().to_string(),
            Value::Scalar(_, elt) => elt.to_string(),
            Value::Array(array) => array.to_string(),
            Value::Along(a) => {
                let axes: Vec<_> = a.axes.iter().map(usize::to_string).collect();
                format!("{} along {}", a.array, axes.join(", "))
            }
            Value::Segmented(s) => {
                let segments = s.lengths.known_len().map_or("?".into(), |n| n.to_string());
                format!("ragged {}[{segments}]", s.data.elt)
            }
            Value::Tuple(parts) => {
                let parts: Vec<_> = parts.iter().map(Value::ty).collect();
                format!("({})", parts.join(", "))
            }
            Value::Function(f) => match f.function.params.len() {
                1 => "a function of 1 argument".into(),
                n => format!("a function of {n} arguments"),
            },
            Value::Named(Named::Combinator(c)) => c.signature(),
            Value::Named(Named::Scalar(f)) => format!("{}: a function on scalars", f.name),
            Value::Range(_) => "a range".into(),
            Value::Boundary(_) => "a boundary".into(),
            Value::Text(_) => "a string".into(),
            Value::Table(table) => {
                let columns = table.read.names().zip(table.read.types());
                let columns: Vec<_> = columns.map(|(n, t)| format!("{n}: {t}")).collect();
                let rows = table.read.len();
                format!("table of {rows} rows ({})", columns.join(", "))
            }
            Value::Save(save) => format!("a file to be written, {}", save.path.display()),
        }
    }

    /// Describes it for messages.
    pub fn describe(&self) -> String {
        match self {
            Value::Int(n) => format!("the integer {n}"),
            Value::Float(x) => format!("the float {x:?}"),
            Value::Scalar(_, elt) if elt.fields() == 1 => format!("a scalar of type {elt}"),
            Value::Array(a) if a.node.rank == 0 => format!("a scalar of type {}", a.elt),
            Value::Array(a) if matches!(a.elt, Elt::Row(..)) => format!("a {a}"),
            Value::Array(a) => format!("an array, {a}"),
            Value::Segmented(_) => format!("segments, {}", self.ty()),
            Value::Along(_) => format!("an array along an axis, {}", self.ty()),
            Value::Tuple(_) | Value::Scalar(..) => format!("a tuple, {}", self.ty()),
            Value::Named(Named::Combinator(c)) => format!("the combinator `{}`", c.name),
            Value::Named(Named::Scalar(c)) => format!("the function `{}`", c.name),
            Value::Table(_) => "a table".into(),
            Value::Function(_)
            | Value::Range(_)
            | Value::Boundary(_)
            | Value::Text(_)
            | Value::Save(_) => self.ty(),
        }
    }
}

/// Maps names to values, the latest first.
///
/// It is cheap to clone, so closures keep the environment of their definition.
#[derive(Clone, Default, Debug)]
pub struct Env(Option<Rc<Frame>>);

#[derive(Debug)]
struct Frame {
    name: String,
    value: Value,
    rest: Env,
}

impl Env {
    /// Returns the environment with one more name.
    pub fn with(&self, name: impl Into<String>, value: Value) -> Env {
        Env(Some(Rc::new(Frame {
            name: name.into(),
            value,
            rest: self.clone(),
        })))
    }

    /// Returns the value of a name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.frames().find(|f| f.name == name).map(|f| &f.value)
    }

    /// Returns all names, the latest first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.frames().map(|f| f.name.as_str())
    }

    fn frames(&self) -> impl Iterator<Item = &Frame> {
        std::iter::successors(self.0.as_deref(), |f| f.rest.0.as_deref())
    }
}

impl Drop for Env {
    /// Avoids recursion, because a long session has many names.
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(mut frame) = next.and_then(Rc::into_inner) {
            next = frame.rest.0.take();
        }
    }
}
