//! The grammar, as tables.
//!
//! The parser uses [`TABLE`], and a test parses every example.
//!
//! # How it reads
//!
//! * Calls are written as in Rust. `sum(xs)` and `xs.sum()` are equal: the value before the dot is
//!   the first argument. So is the value of a pipe: `xs |> fold(0, |a, b| a + b) |> sqrt`. Any name
//!   can be called in each of these ways, including names from `def`.
//!
//! * A step of a pipe is a name, a call, or a function. Examples are `xs |> sum`, `xs |> take(3)`
//!   and `xs |> \x -> x / x.sum()`.
//!
//! * Functions are `\x y -> x + y`, `|x, y| x + y`, `(x, y) => x + y` or `lambda x, y: x + y`, and
//!   extend as far right as possible.
//!
//! * `_` is the element: a `_` in a function argument makes that argument a function. So
//!   `xs.filter(_ > 0)` is `xs.filter(|x| x > 0)`. A `_` belongs to the nearest enclosing argument
//!   that a combinator takes as a function. In `xs.map(sqrt(_ + 1))`, which is
//!   `xs.map(|x| sqrt(x + 1))`, this is the argument of `map`, because `sqrt` takes a number. Each
//!   `_` is the same element; a function of two arguments must name them. The library knows which
//!   arguments are functions, not the grammar: it passes them to [`fill`](crate::holes::fill).
//!
//! * A statement ends with its line, or with `;`. It continues on the next line in three cases. A
//!   bracket `(` or `[` is open. The line ends with an incomplete form (an operator, `=`, `->`,
//!   `,`, `then`). The next line begins with a token that begins no statement (`|>`, `.`, `then`,
//!   `*`). `-`, `!`, `|`, `(` and `[` begin statements.
//!
//! * `m[1:3, :, -1]` slices by Python's rules, which clamp ends beyond the array. `m[1..3, .., -1]`
//!   slices by Rust's rules, where such ends are errors. `ragged` before rows makes them segments,
//!   whether or not their lengths differ. This way a mistake in a matrix does not change its type.
//!
//! * `np.` before a name is ignored: `np.sqrt(x)` is `sqrt(x)`.
//!
//! * A name before a string calls it: `load "airports.csv"`, `xs |> save "xs.npy"`.

use crate::syntax::{Binary, Unary};

/// Lists associativities of operators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// Infix, grouped from the left: `a - b - c` is `(a - b) - c`.
    Left,
    /// Infix, grouped from the right: `a ** b ** c` is `a ** (b ** c)`.
    Right,
    /// Infix, not associative: `a < b < c` is an error.
    Alone,
    /// Before its operand.
    Prefix,
    /// After its operand.
    Postfix,
}

/// The meaning of an operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Does {
    Pipe,
    Range { closed: bool },
    Binary(Binary),
    Cast,
    Unary(Unary),
    Call,
    CallText,
    Index,
    Member,
}

/// Describes an operator, with an example that a test parses.
#[derive(Debug)]
pub struct Operator {
    /// Its text.
    pub text: &'static str,
    pub(crate) does: Does,
    /// An example.
    pub example: &'static str,
}

/// Describes operators of equal precedence.
#[derive(Debug)]
pub struct Level {
    /// Their associativity.
    pub side: Side,
    /// The operators.
    pub operators: &'static [Operator],
}

const fn row(text: &'static str, does: Does, example: &'static str) -> Operator {
    Operator {
        text,
        does,
        example,
    }
}

const fn level(side: Side, operators: &'static [Operator]) -> Level {
    Level { side, operators }
}

/// Lists all operators, from the loosest to the tightest.
///
/// From `..` on, the order is that of Rust and Python.
#[rustfmt::skip]
pub static TABLE: &[Level] = &[
    level(Side::Left, &[
        row("|>", Does::Pipe, "xs |> filter(_ > 0) |> sum"),
    ]),
    level(Side::Alone, &[
        row("..", Does::Range { closed: false }, "0..n + 1"),
        row("..=", Does::Range { closed: true }, "1..=n"),
    ]),
    level(Side::Left, &[
        row("||", Does::Binary(Binary::Or), "a < 0 || a > 9"),
        row("or", Does::Binary(Binary::Or), "a < 0 or a > 9"),
    ]),
    level(Side::Left, &[
        row("&&", Does::Binary(Binary::And), "0 <= a && a <= 9"),
        row("and", Does::Binary(Binary::And), "0 <= a and a <= 9"),
    ]),
    level(Side::Prefix, &[row("not", Does::Unary(Unary::Not), "not a < b")]),
    level(Side::Alone, &[
        row("==", Does::Binary(Binary::Eq), "a % 2 == 0"),
        row("!=", Does::Binary(Binary::Ne), "a != b"),
        row("<", Does::Binary(Binary::Lt), "a < b + 1"),
        row("<=", Does::Binary(Binary::Le), "a <= b"),
        row(">", Does::Binary(Binary::Gt), "a > b"),
        row(">=", Does::Binary(Binary::Ge), "a >= b"),
    ]),
    level(Side::Left, &[row("|", Does::Binary(Binary::BitOr), "a | b & c")]),
    level(Side::Left, &[row("&", Does::Binary(Binary::BitAnd), "a & 0xff")]),
    level(Side::Left, &[
        row("<<", Does::Binary(Binary::Shl), "1 << n + 1"),
        row(">>", Does::Binary(Binary::Shr), "a >> 8"),
    ]),
    level(Side::Left, &[
        row("+", Does::Binary(Binary::Add), "a + b * c"),
        row("-", Does::Binary(Binary::Sub), "a - b - c"),
    ]),
    level(Side::Left, &[
        row("*", Does::Binary(Binary::Mul), "a * -b"),
        row("/", Does::Binary(Binary::Div), "a / b / c"),
        row("//", Does::Binary(Binary::FloorDiv), "a // 10"),
        row("%", Does::Binary(Binary::Rem), "a % 10"),
        row("@", Does::Binary(Binary::MatMul), "xs @ ys"),
    ]),
    level(Side::Left, &[row("as", Does::Cast, "-a as f64 / 2.0")]),
    level(Side::Prefix, &[
        row("-", Does::Unary(Unary::Neg), "-x.abs()"),
        row("!", Does::Unary(Unary::Not), "!tags.any(_)"),
        row("~", Does::Unary(Unary::Not), "~tags"),
    ]),
    level(Side::Right, &[row("**", Does::Binary(Binary::Pow), "-a ** 2")]),
    level(Side::Postfix, &[
        row("(", Does::Call, "dot(xs, ys)"),
        row("\"", Does::CallText, "load \"airports.csv\""),
        row("[", Does::Index, "m[1..3, .., -1]"),
        row(".", Does::Member, "pairs.map(|p| p.0 * p.1)"),
    ]),
];

/// Describes a form of the grammar that is not an operator.
#[derive(Debug)]
pub struct Form {
    /// The head of its tree ([`Script::outline`](crate::syntax::Script::outline)).
    pub head: &'static str,
    /// Its text; `…` repeats the part before it.
    pub written: &'static str,
    /// An example, parsed by a test.
    pub example: &'static str,
}

const fn form(head: &'static str, written: &'static str, example: &'static str) -> Form {
    Form {
        head,
        written,
        example,
    }
}

/// Lists statements, operands, and patterns of functions and `let`.
#[rustfmt::skip]
pub static FORMS: &[Form] = &[
    form("let", "let PATTERN = EXPRESSION", "let (kept, total) = (xs, sum(xs))"),
    form("def", "def NAME(PATTERN, …) = EXPRESSION", "def mean_of(xs) = xs.sum() / xs.len() as f64"),
    form("name", "NAME", "f64::MAX"),
    form("name", "_", "xs.map(_ * 2 + 1)"),
    form("int", "NUMBER", "0xff_u8"),
    form("float", "NUMBER", "1.5e-3f32"),
    form("bool", "true, false", "true"),
    form("text", "\"TEXT\"", r#""of \"two\"\nlines""#),
    form("vector", "[EXPRESSION, …]", "[[1, 2], [3, 4]]"),
    form("ragged", "ragged [EXPRESSION, …]", "ragged [[1, 2], [], [3]]"),
    form("tuple", "(EXPRESSION, EXPRESSION, …)", "(1, 2.5, true)"),
    form("tuple", "(EXPRESSION,)", "(1,)"),
    form("add", "(EXPRESSION)", "(a + b) * c"),
    form("range", "..END, START.., ..", "m[..3, 1.., ..]"),
    form("slice", "START:END:STEP (in brackets)", "m[:, ::-1, 1:-1]"),
    form("keyword", "NAME = EXPRESSION (an argument)", "[[1, 2], [3, 4]].sum(axis = 0)"),
    form("fn", "\\PATTERN … -> EXPRESSION", r"xs.fold(0, \a b -> a + b)"),
    form("fn", "|PATTERN, …| EXPRESSION", "xs.zip_with(ys, |x, y| x * y)"),
    form("fn", "PATTERN => EXPRESSION", "xs.zip_with(ys, (x, y) => x * y)"),
    form("fn", "lambda PATTERN, …: EXPRESSION", "xs.map(lambda x: x + 1)"),
    form("if", "if EXPRESSION then EXPRESSION else EXPRESSION", "xs.map(|x| if x < 0 then -x else x)"),
    form("block", "{ let …; EXPRESSION }", "xs.map(|x| { let y = x * x; y + 1 })"),
    form("_", "_ (a pattern)", r"xs.map(\_ -> 1)"),
    form("tuple", "(PATTERN, …) (a pattern)", "points.map(|(x, y)| x * y)"),
    form("vector", "[PATTERN, …] (a pattern)", "xs.windows(Boundary::Clamp, |[a, _, b]| b - a)"),
];

/// Lists reserved words.
pub static RESERVED: &[&str] = &[
    "let", "def", "if", "then", "else", "as", "ragged", "true", "false", "True", "False", "lambda",
    "and", "or", "not",
];

/// The operator of this text after an operand, and its level.
pub(crate) fn behind(text: &str) -> Option<(usize, &'static Operator)> {
    find(text, |side| side != Side::Prefix)
}

/// The operator of this text before an operand, and its level.
pub(crate) fn before(text: &str) -> Option<(usize, &'static Operator)> {
    find(text, |side| side == Side::Prefix)
}

fn find(text: &str, side: impl Fn(Side) -> bool) -> Option<(usize, &'static Operator)> {
    let levels = TABLE.iter().enumerate().filter(|(_, l)| side(l.side));
    let mut rows = levels.flat_map(|(k, l)| l.operators.iter().map(move |o| (k, o)));
    rows.find(|(_, o)| o.text == text)
}

/// The level of an operator. A word has the level of its equivalent sign.
pub(crate) fn level_of(does: Does) -> usize {
    let level = |l: &Level| l.operators.iter().any(|o| o.does == does);
    TABLE.iter().rposition(level).unwrap_or(TABLE.len())
}

/// Whether an expression may begin with the operator: a prefix operator, a range without a start,
/// or a function's bar.
pub(crate) fn may_begin(text: &str) -> bool {
    before(text).is_some() || text == "|" || is_range(text)
}

/// Whether an expression may end with the operator, as a range without an end does.
pub(crate) fn may_end(text: &str) -> bool {
    text == ".."
}

pub(crate) fn is_range(text: &str) -> bool {
    matches!(behind(text), Some((_, o)) if matches!(o.does, Does::Range { .. }))
}

/// Formats the tables as a text, for `:help`.
///
/// ```
/// let text = livefusion_repl::grammar::show();
/// assert!(text.contains("<<    1 << n + 1"));
/// ```
pub fn show() -> String {
    let mut text = String::from("operators, from the loosest to the tightest\n");
    for level in TABLE {
        text += match level.side {
            Side::Left => "  from left to right\n",
            Side::Right => "  from right to left\n",
            Side::Alone => "  not twice in a row\n",
            Side::Prefix => "  before their operand\n",
            Side::Postfix => "  behind their operand\n",
        };
        for o in level.operators {
            text += &format!("    {:<5} {}\n", o.text, o.example);
        }
    }
    text += "forms\n";
    for f in FORMS {
        text += &format!("  {:<47} {}\n", f.written, f.example);
    }
    text
}
