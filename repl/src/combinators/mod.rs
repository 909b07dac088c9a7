//! What the library offers, by name: [`all`] gives the combinators, [`SCALARS`] the functions on scalars. Completion, `:help`,
//! the meaning of `_` and calls all go by these tables.

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

/// A combinator.
pub struct Combinator {
    /// Its name, which is Rust's.
    pub name: &'static str,
    /// Other names that people know it by.
    pub aliases: &'static [&'static str],
    /// What it takes.
    pub params: &'static [Kind],
    /// Whether the last may be there more than once.
    pub repeats: bool,
    /// Its type, in a line.
    pub ty: &'static str,
    /// An example, which a test evaluates.
    pub example: &'static str,
    /// The function on scalars of the same name, that is meant where the number of arguments is its.
    pub scalar: Option<&'static ScalarFunction>,
    /// The conversion of its arrays' elements.
    pub elements: Elements,
    /// Arguments that have names.
    pub keywords: Keywords,
    /// What builds it.
    pub build: fn(&mut Call<'_, '_>) -> Result<Value>,
}

/// Conversions of elements before a combinator takes them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Elements {
    /// None.
    Kept,
    /// Truth values are numbers.
    Numbers,
    /// Counts are signed, so that there may be numbers below 0 among them.
    Signed,
    /// All arrays have elements of one type.
    Alike,
}

/// Arguments with names, `name = value`, beside `axis` and `dtype`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keywords {
    /// None.
    None,
    /// One of this name, which is the last argument.
    Last(&'static str),
    /// Any: columns with their functions.
    Columns,
    /// Those of these names, which stand at these places among the arguments.
    At(&'static [(&'static str, usize)]),
}

/// What a parameter takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Kind {
    Array,
    Segments,
    /// An array along an axis or several.
    Along,
    /// An array, an array along axes, or segments.
    Over,
    /// Of so many arguments.
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
    /// For messages.
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

    /// How a hint shows it.
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
/// What counts are, and places.
const COUNT: Elt = Elt::Count;

/// The type of an index of an array of so many axes.
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

    /// Whether it can be called with so many arguments.
    pub fn takes(&self, n: usize) -> bool {
        n == self.params.len() || self.repeats && n > self.params.len()
    }

    /// How many arguments it takes, in words.
    pub fn arity(&self) -> String {
        let n = self.params.len();
        let s = if n == 1 { "" } else { "s" };
        let least = if self.repeats { "at least " } else { "" };
        format!("{least}{n} argument{s}")
    }

    /// Its name and type.
    pub fn signature(&self) -> String {
        format!("{}: {}", self.name, self.ty)
    }

    /// Its arguments, once its parenthesis is open.
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

/// All combinators.
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

/// The combinator of this name or alias.
pub fn find(name: &str) -> Option<&'static Combinator> {
    all().find(|c| c.name == name || c.aliases.contains(&name))
}

/// The forms of a combinator: of arrays, of arrays along axes, of segments.
pub fn forms(name: &str) -> impl Iterator<Item = &'static Combinator> {
    let found = find(name).map(|c| c.name);
    all().filter(move |c| Some(c.name) == found)
}

/// The form of a combinator that so many arguments ask for, the first of this kind.
pub fn form(of: &'static Combinator, first: Kind, n: usize) -> &'static Combinator {
    if first == Kind::Array {
        return of;
    }
    let takes = |c: &&Combinator| c.params.first() == Some(&first) && c.takes(n);
    forms(of.name).find(takes).unwrap_or(of)
}

/// Whether a combinator goes along axes.
pub fn goes_along(of: &Combinator) -> bool {
    forms(of.name).any(|c| matches!(c.params.first(), Some(Kind::Over | Kind::Along)))
}

/// The form of today for a name with a suffix: `sum_s`, `sum_axis`.
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

/// What may be beyond the ends of an array, beside a constant.
static BOUNDARIES: &[&str] = &["Boundary::Clamp", "Boundary::Wrap", "Boundary::Mirror"];

/// What a name stands for that no user has given.
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

/// All names that [`value`] knows.
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

/// Whether what is called by a name takes a function as this argument: so far a `_` reaches.
pub fn takes_function(name: &str, k: usize) -> bool {
    let kind = |c: &Combinator| {
        let last = c.params.last().filter(|_| c.repeats && k > 0);
        c.params.get(k).or(last).copied()
    };
    let found = find(name).and_then(kind);
    matches!(found, Some(Kind::Function(1) | Kind::Key))
}
