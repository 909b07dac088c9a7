//! What expressions have as values.

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

/// A value. What is delayed is a node of the library's graph; nothing is computed before it is shown.
#[derive(Clone, Debug)]
pub enum Value {
    /// An integer that takes the type which is wanted of it.
    Int(i128),
    /// A float that does.
    Float(f64),
    /// A scalar or a tuple of such: literals, or terms of the closure that is being traced.
    Scalar(Fields, Elt),
    /// A delayed array, or a delayed scalar.
    Array(Array),
    /// An array cut into segments.
    Segmented(Segmented),
    /// An array, and the axes that a combinator goes along: `m.along(1)`.
    Along(Along),
    /// Values of any kind beside each other.
    Tuple(Vec<Value>),
    /// A function of the user's.
    Function(Rc<Closure>),
    /// A combinator, or a function on scalars, by its name.
    Named(Named),
    /// `a..b`: of which ends there are.
    Range(Box<Range>),
    /// What is beyond the ends of an array.
    Boundary(Boundary<Box<Value>>),
    /// A string.
    Text(Arc<str>),
    /// Columns with names, that were read; combinators give arrays of rows.
    Table(Rc<Table>),
    /// A value that is to be written to a file. Evaluation writes nothing: the session does, when the value is shown.
    Save(Save),
}

/// What is to be written, and where.
#[derive(Clone, Debug)]
pub struct Save {
    /// The file.
    pub path: PathBuf,
    /// Where its name stands.
    pub at: Span,
    /// What to write, and in which format.
    pub what: Saved,
}

/// What a file is written of.
#[derive(Clone, Debug)]
pub enum Saved {
    /// One array.
    Npy(Arc<Node>),
    /// The elements of one array, and nothing else.
    Raw(Arc<Node>),
    /// Arrays with their names.
    Npz(Vec<(String, Arc<Node>)>),
    /// A table that was read.
    Table(Rc<Table>, Columns),
    /// Columns with their names.
    Columns(Vec<(String, Column)>, Columns),
}

/// Formats of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// Text.
    Csv,
    /// Packed.
    #[cfg(feature = "arrow")]
    Parquet,
    /// As they lie in memory.
    #[cfg(feature = "arrow")]
    Arrow,
}

/// A column that is to be written.
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

/// A node with the tuples that its elements are.
#[derive(Clone, Debug)]
pub struct Array {
    /// The node.
    pub node: Arc<Node>,
    /// What its fields make up.
    pub elt: Elt,
}

/// An array, and the axes that a combinator goes along.
#[derive(Clone, Debug)]
pub struct Along {
    /// The array.
    pub array: Array,
    /// The axes.
    pub axes: Vec<usize>,
}

/// Lengths, and the elements of all segments.
#[derive(Clone, Debug)]
pub struct Segmented {
    /// The lengths, `u64`.
    pub lengths: Arc<Node>,
    /// The elements.
    pub data: Array,
}

/// What is called by a name that no user has given.
#[derive(Clone, Copy, Debug)]
pub enum Named {
    /// A combinator.
    Combinator(&'static Combinator),
    /// A function on scalars.
    Scalar(&'static crate::combinators::ScalarFunction),
}

impl Named {
    /// The named arguments that it takes.
    pub fn keywords(self) -> Keywords {
        match self {
            Named::Combinator(c) => c.keywords,
            Named::Scalar(_) => Keywords::None,
        }
    }
}

/// A function with the values of the names that it uses.
#[derive(Debug)]
pub struct Closure {
    /// Its text's tree.
    pub function: Arc<Function>,
    /// What was named around it.
    pub env: Env,
    /// The name that a `def` gave it, which it may use itself.
    pub name: Option<String>,
}

/// `start..end`.
#[derive(Clone, Debug)]
pub struct Range {
    /// The first element.
    pub start: Option<Value>,
    /// The last one, or the one behind it.
    pub end: Option<Value>,
    /// Whether it is the last one.
    pub closed: bool,
}

/// Elements: scalars, or tuples of elements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Elt {
    /// One field.
    Scalar(Ty),
    /// A number of elements or an index: a `u64` in memory, an `i64` in arithmetic.
    Count,
    /// The fields of all parts, one behind the other.
    Tuple(Vec<Elt>),
    /// A tuple whose parts have names: a row of a table.
    Row(Arc<[String]>, Vec<Elt>),
    /// A value, and whether it is there.
    Maybe(Box<[Elt; 2]>),
    /// One field, the code of a text among these, which are in order.
    Text(Labels),
    /// One field, which counts days or microseconds.
    Time(Time),
}

impl Elt {
    /// A tuple of scalars, or the only one.
    pub fn of(types: &[Ty]) -> Elt {
        match types {
            [ty] => Elt::Scalar(*ty),
            types => Elt::Tuple(types.iter().copied().map(Elt::Scalar).collect()),
        }
    }

    /// The types of all fields.
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

    /// How many fields there are.
    pub fn fields(&self) -> usize {
        match self {
            Elt::Scalar(_) | Elt::Count | Elt::Text(_) | Elt::Time(_) => 1,
            Elt::Tuple(_) | Elt::Row(..) | Elt::Maybe(_) => {
                self.parts().iter().map(Elt::fields).sum()
            }
        }
    }

    /// Of types of numbers that have none yet, the one that has both.
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

    /// The type in memory, if it is one scalar.
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
    /// `f64[3]`, `(u64, f64)[?]`, `f64[3, 4]`, `f64` of a delayed scalar.
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
    /// Whether it is a function.
    pub fn is_function(&self) -> bool {
        matches!(self, Value::Function(_) | Value::Named(_))
    }

    /// Whether it is one scalar or a tuple of such, no array.
    pub fn is_scalar(&self) -> bool {
        match self {
            Value::Int(_) | Value::Float(_) | Value::Scalar(..) => true,
            Value::Array(a) => a.node.rank == 0,
            Value::Tuple(parts) => parts.iter().all(Value::is_scalar),
            _ => false,
        }
    }

    /// Whether there is nothing to show of it but that files are written.
    pub fn only_saves(&self) -> bool {
        match self {
            Value::Save(_) => true,
            Value::Tuple(parts) => parts.iter().all(Value::only_saves),
            _ => false,
        }
    }

    /// Whether it is an array or a delayed scalar, or has one in it.
    pub fn has_delayed(&self) -> bool {
        match self {
            Value::Array(_) => true,
            Value::Tuple(parts) => parts.iter().any(Value::has_delayed),
            _ => false,
        }
    }

    /// What elements it has; none of a number without a type, and of what has no elements.
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

    /// The elements that it has where nothing else is wanted: a number without a type is an `i64` or an `f64`, and a `u64`
    /// where only that has it.
    pub fn default_elt(&self) -> Elt {
        match self {
            Value::Float(_) => Elt::Scalar(Ty::F64),
            Value::Int(n) if *n > i128::from(i64::MAX) => Elt::Scalar(Ty::U64),
            Value::Tuple(parts) => Elt::Tuple(parts.iter().map(Value::default_elt).collect()),
            Value::Text(text) => Elt::Text(Labels::of([text])),
            other => other.elt().unwrap_or(Elt::Scalar(Ty::I64)),
        }
    }

    /// The same, but an integer without a type as a float.
    pub fn floating(&self) -> Value {
        match self {
            Value::Int(n) => Value::Float(*n as f64),
            other => other.clone(),
        }
    }

    /// Its type, as `:type` says it.
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

    /// What it is, for messages.
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

/// Names and their values, the latest first. Cheap to clone: closures keep what was there when they were made.
#[derive(Clone, Default, Debug)]
pub struct Env(Option<Rc<Frame>>);

#[derive(Debug)]
struct Frame {
    name: String,
    value: Value,
    rest: Env,
}

impl Env {
    /// The same with one more name.
    pub fn with(&self, name: impl Into<String>, value: Value) -> Env {
        Env(Some(Rc::new(Frame {
            name: name.into(),
            value,
            rest: self.clone(),
        })))
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.frames().find(|f| f.name == name).map(|f| &f.value)
    }

    /// All names, the latest first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.frames().map(|f| f.name.as_str())
    }

    fn frames(&self) -> impl Iterator<Item = &Frame> {
        std::iter::successors(self.0.as_deref(), |f| f.rest.0.as_deref())
    }
}

impl Drop for Env {
    /// Without recursion, as a long session has many names.
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(mut frame) = next.and_then(Rc::into_inner) {
            next = frame.rest.0.take();
        }
    }
}
