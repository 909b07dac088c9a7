//! Tables of combinators, scalar functions and constants.
//!
//! [`all`] iterates over the combinators, and [`SCALARS`] lists the scalar functions. Completion,
//! `:help`, holes (`_`) and calls use these tables.

mod arrays;
mod axes;
mod files;
mod making;
mod nests;
mod random;
mod scalars;
mod segments;
mod sorts;
mod tables;
mod transforms;

pub use scalars::{ALIASES, CONSTANTS, SCALARS, ScalarFunction};

use crate::eval::{Call, Result};
use crate::value::{Elt, Named, Value};
use livefusion::Boundary;
use std::fmt;

/// Describes a combinator.
pub struct Combinator {
    /// Its name, as in Rust.
    pub name: &'static str,
    /// Aliases from other libraries.
    pub aliases: &'static [&'static str],
    /// The kinds of its parameters.
    pub params: &'static [Kind],
    /// Whether the last parameter may repeat.
    pub repeats: bool,
    /// Its type, in a line.
    pub ty: &'static str,
    /// An example, which a test evaluates.
    pub example: &'static str,
    /// The scalar function of the same name, which a call with its number of arguments selects.
    pub scalar: Option<&'static ScalarFunction>,
    /// The conversion of array elements.
    pub elements: Elements,
    /// The named arguments.
    pub keywords: Keywords,
    /// The function that builds the node.
    pub build: fn(&mut Call<'_, '_>) -> Result<Value>,
}

/// Lists conversions of elements before a combinator takes them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Elements {
    /// No conversion.
    Kept,
    /// Booleans become numbers.
    Numbers,
    /// Counts become signed, since results may be negative.
    Signed,
    /// All arrays get one element type.
    Alike,
}

/// Lists named arguments, `name = value`, besides `axis` and `dtype`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keywords {
    /// No named arguments.
    None,
    /// One of this name, which is the last argument.
    Last(&'static str),
    /// Any names: columns with their functions.
    Columns,
    /// These names, at these argument positions.
    At(&'static [(&'static str, usize)]),
}

/// Lists kinds of parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Kind {
    Array,
    Segments,
    /// An array along one or several axes.
    Along,
    /// An array, an array along axes, or segments.
    Over,
    /// A function of this number of arguments.
    Function(usize),
    /// A function of one argument, a key, or of two, an order.
    Key,
    /// A number of elements, or an index.
    Count,
    Number,
    Shape,
    Axis,
    Boundary,
    Text,
    Any,
}

impl Kind {
    /// Returns the expected kind, for messages.
    pub fn expected(self) -> &'static str {
        match self {
            Kind::Array | Kind::Over => "an array",
            Kind::Along => "an array along an axis",
            Kind::Segments => "segments",
            Kind::Function(_) => "a function",
            Kind::Key => "a function of one argument, or of two",
            Kind::Count => "a number of elements",
            Kind::Number => "a scalar",
            Kind::Shape => "a shape",
            Kind::Axis => "an axis",
            Kind::Boundary => "a boundary",
            Kind::Text => "a string",
            Kind::Any => "a value",
        }
    }

    /// The placeholder in a hint.
    fn hint(self) -> &'static str {
        match self {
            Kind::Array | Kind::Over => "xs",
            Kind::Along => "m.along(0)",
            Kind::Segments => "segments",
            Kind::Function(1) | Kind::Key => "|x| …",
            Kind::Function(2) => "|a, b| …",
            Kind::Function(_) => "|…| …",
            Kind::Count => "n",
            Kind::Number => "x",
            Kind::Shape => "shape",
            Kind::Axis => "axis",
            Kind::Boundary => "Boundary::Clamp",
            Kind::Text => "\"file\"",
            Kind::Any => "value",
        }
    }
}

const F1: Kind = Kind::Function(1);
const F2: Kind = Kind::Function(2);
const XS: Kind = Kind::Array;
const OVER: Kind = Kind::Over;
/// The element type of counts and indices.
const COUNT: Elt = Elt::Count;

/// The index type of an array of this rank.
fn index_of(rank: usize) -> Elt {
    match rank {
        1 => COUNT,
        rank => Elt::Tuple(vec![COUNT; rank]),
    }
}

const fn row(
    name: &'static str,
    params: &'static [Kind],
    ty: &'static str,
    example: &'static str,
    build: fn(&mut Call<'_, '_>) -> Result<Value>,
) -> Combinator {
    Combinator {
        name,
        aliases: &[],
        params,
        repeats: false,
        ty,
        example,
        scalar: None,
        elements: Elements::Kept,
        keywords: Keywords::None,
        build,
    }
}

impl Combinator {
    const fn also(self, aliases: &'static [&'static str]) -> Combinator {
        Combinator { aliases, ..self }
    }

    const fn with(self, elements: Elements) -> Combinator {
        Combinator { elements, ..self }
    }

    const fn named(self, keywords: Keywords) -> Combinator {
        Combinator { keywords, ..self }
    }

    const fn repeated(self) -> Combinator {
        Combinator {
            repeats: true,
            ..self
        }
    }

    /// Returns whether it accepts `n` arguments.
    pub fn takes(&self, n: usize) -> bool {
        n == self.params.len() || self.repeats && n > self.params.len()
    }

    /// Returns its number of arguments, in words.
    pub fn arity(&self) -> String {
        let n = self.params.len();
        let s = if n == 1 { "" } else { "s" };
        let least = if self.repeats { "at least " } else { "" };
        format!("{least}{n} argument{s}")
    }

    /// Returns its name and type.
    pub fn signature(&self) -> String {
        format!("{}: {}", self.name, self.ty)
    }

    /// Returns a hint of its arguments, for an open parenthesis.
    pub fn arguments(&self) -> String {
        let hints: Vec<_> = self.params.iter().map(|k| k.hint()).collect();
        hints.join(", ")
    }
}

impl fmt::Debug for Combinator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Returns all combinators.
pub fn all() -> impl Iterator<Item = &'static Combinator> {
    let families = [
        arrays::ROWS,
        making::ROWS,
        axes::ROWS,
        segments::ROWS,
        sorts::ROWS,
        tables::ROWS,
        transforms::ROWS,
        random::ROWS,
        nests::ROWS,
        files::ROWS,
    ];
    families.into_iter().flatten()
}

/// Returns the combinator of this name or alias.
pub fn find(name: &str) -> Option<&'static Combinator> {
    all().find(|c| c.name == name || c.aliases.contains(&name))
}

/// Returns the overloads of a combinator.
///
/// They take arrays, arrays along axes, or segments.
pub fn forms(name: &str) -> impl Iterator<Item = &'static Combinator> {
    let found = find(name).map(|c| c.name);
    all().filter(move |c| Some(c.name) == found)
}

/// Selects the overload for `n` arguments, the first of kind `first`.
pub fn form(of: &'static Combinator, first: Kind, n: usize) -> &'static Combinator {
    if first == Kind::Array {
        return of;
    }
    let takes = |c: &&Combinator| c.params.first() == Some(&first) && c.takes(n);
    forms(of.name).find(takes).unwrap_or(of)
}

/// Returns whether a combinator works along axes.
pub fn goes_along(of: &Combinator) -> bool {
    forms(of.name).any(|c| matches!(c.params.first(), Some(Kind::Over | Kind::Along)))
}

/// Returns the current form for an old name with a suffix.
///
/// Examples are `sum_s` and `sum_axis`.
pub fn renamed(name: &str) -> Option<String> {
    let whole = match name {
        "map_s" => "`rows.zip_with_each(values, |x, v| …)`",
        "replicate_s" => "`Segmented::replicate(lengths, values)`",
        "indices_s" => "`Segmented::indices(lengths)`",
        "enum_from_step_s" => "`Segmented::enum_from_step(from, step, lengths)`",
        "concat_axis" => "`concatenate(axis, a, b)`",
        "index_axis" => "`m.along(axis).at(index)`",
        "bpermute" => "`xs.gather(indices)`",
        _ => "",
    };
    if !whole.is_empty() {
        return Some(whole.to_string());
    }
    let (name, of) = match name.rsplit_once('_')? {
        (name, "s") => (name, "rows"),
        (name, "axis" | "axes") => (name, "m.along(axis)"),
        _ => return None,
    };
    let c = find(name)?;
    let more = if c.params.len() > 1 { "…" } else { "" };
    Some(format!("`{of}.{name}({more})`"))
}

/// The boundaries of an array, besides a constant.
static BOUNDARIES: &[&str] = &["Boundary::Clamp", "Boundary::Wrap", "Boundary::Mirror"];

/// Returns the predefined value of a name.
pub fn value(name: &str) -> Option<Value> {
    let name = ALIASES
        .iter()
        .find(|(a, _)| *a == name)
        .map_or(name, |(_, name)| name);
    if let Some(c) = find(name) {
        return Some(Value::Named(Named::Combinator(c)));
    }
    if let Some(f) = SCALARS.iter().find(|f| f.name == name) {
        return Some(Value::Named(Named::Scalar(f)));
    }
    match BOUNDARIES.iter().position(|n| *n == name) {
        Some(0) => return Some(Value::Boundary(Boundary::Clamp)),
        Some(1) => return Some(Value::Boundary(Boundary::Wrap)),
        Some(_) => return Some(Value::Boundary(Boundary::Mirror)),
        None => {}
    }
    let (_, value) = CONSTANTS.iter().find(|(n, _)| *n == name)?;
    Some(scalars::constant(*value))
}

/// Returns all names that [`value`] knows.
pub fn names() -> impl Iterator<Item = &'static str> {
    let first = |c: &&Combinator| find(c.name).is_some_and(|first| std::ptr::eq(first, *c));
    let combinators = all()
        .filter(first)
        .flat_map(|c| std::iter::once(c.name).chain(c.aliases.iter().copied()));
    let scalars = SCALARS.iter().map(|f| f.name);
    combinators
        .chain(scalars)
        .chain(ALIASES.iter().map(|(a, _)| *a))
        .chain(CONSTANTS.iter().map(|(n, _)| *n))
        .chain(BOUNDARIES.iter().copied())
}

/// Returns whether argument `k` of a call is a function.
///
/// Such an argument is the scope of a hole (`_`).
pub fn takes_function(name: &str, k: usize) -> bool {
    let kind = |c: &Combinator| {
        let last = c.params.last().filter(|_| c.repeats && k > 0);
        c.params.get(k).or(last).copied()
    };
    let found = find(name).and_then(kind);
    matches!(found, Some(Kind::Function(1) | Kind::Key))
}
