//! What expressions have as values.

use crate::combinators::Combinator;
use crate::syntax::Function;
use livefusion::Boundary;
use livefusion::ast::{Axis, Fields, Node, Types};
use livefusion::io::Table;
use loop_lang::Ty;
use std::fmt;
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
    /// Columns with names.
    Table(Arc<Table>),
}

/// A node with the tuples that its elements are.
#[derive(Clone, Debug)]
pub struct Array {
    /// The node.
    pub node: Arc<Node>,
    /// What its fields make up.
    pub elt: Elt,
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
    /// The fields of all parts, one behind the other.
    Tuple(Vec<Elt>),
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
            Elt::Tuple(parts) => parts.iter().flat_map(Elt::types).collect(),
        }
    }

    /// How many fields there are.
    pub fn fields(&self) -> usize {
        match self {
            Elt::Scalar(_) => 1,
            Elt::Tuple(parts) => parts.iter().map(Elt::fields).sum(),
        }
    }

    /// The type, if it is one scalar.
    pub fn scalar(&self) -> Option<Ty> {
        match self {
            Elt::Scalar(ty) => Some(*ty),
            Elt::Tuple(_) => None,
        }
    }
}

impl fmt::Display for Elt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Elt::Scalar(ty) => f.write_str(ty.name()),
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
    /// Its type, as `:type` says it.
    pub fn ty(&self) -> String {
        match self {
            Value::Int(_) => "i64".into(),
            Value::Float(_) => "f64".into(),
            Value::Scalar(_, elt) => elt.to_string(),
            Value::Array(array) => array.to_string(),
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
                let columns = table.names().zip(table.types());
                let columns: Vec<_> = columns.map(|(n, t)| format!("{n}: {t}")).collect();
                format!("table of {} rows ({})", table.len(), columns.join(", "))
            }
        }
    }

    /// What it is, for messages.
    pub fn describe(&self) -> String {
        match self {
            Value::Int(n) => format!("the integer {n}"),
            Value::Float(x) => format!("the float {x:?}"),
            Value::Scalar(_, elt @ Elt::Scalar(_)) => format!("a scalar of type {elt}"),
            Value::Array(a) if a.node.rank == 0 => format!("a scalar of type {}", a.elt),
            Value::Array(a) => format!("an array, {a}"),
            Value::Segmented(_) => format!("segments, {}", self.ty()),
            Value::Tuple(_) | Value::Scalar(..) => format!("a tuple, {}", self.ty()),
            Value::Named(Named::Combinator(c)) => format!("the combinator `{}`", c.name),
            Value::Named(Named::Scalar(c)) => format!("the function `{}`", c.name),
            Value::Table(_) => "a table".into(),
            Value::Function(_) | Value::Range(_) | Value::Boundary(_) | Value::Text(_) => self.ty(),
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
