//! The grammar, as tables. The parser goes by [`TABLE`], so this file is what it does; every example is parsed by a test.
//!
//! # How it reads
//!
//! * Calls are Rust's, `sum(xs)` and `xs.sum()`, which are the same: what stands before the dot is the first argument. So is
//!   what comes down a pipe: `xs |> fold(0, |a, b| a + b) |> sqrt`. Any name can be called in each of these ways, those of `def` too.
//! * A step of a pipe is a name, a call, or a function: `xs |> sum`, `xs |> take(3)`, `xs |> \x -> x / x.sum()`.
//! * Functions are `\x y -> x + y`, `|x, y| x + y`, `(x, y) => x + y` or `lambda x, y: x + y`, and reach as far to the right as they can.
//! * `_` is the element: an argument that is to be a function is made one by a `_` in it, so `xs.filter(_ > 0)` is
//!   `xs.filter(|x| x > 0)`. It belongs to the nearest argument around it that a combinator takes as a function: in
//!   `xs.map(sqrt(_ + 1))`, which is `xs.map(|x| sqrt(x + 1))`, that is the one of `map`, as `sqrt` takes a number. Each `_` is
//!   the same element; a function of two arguments has to name them. Which arguments are functions is the library's
//!   knowledge, not the grammar's: [`fill`](crate::holes::fill) is told.
//! * A statement ends with its line, or with `;`. It goes on in the next line where a bracket `(` or `[` is open, where the line
//!   ends with something that wants more (an operator, `=`, `->`, `,`, `then`), and where the next line begins with something that
//!   begins no statement (`|>`, `.`, `then`, `*`). `-`, `!`, `|`, `(` and `[` begin statements.
//! * `m[1:3, :, -1]` slices by Python's rules: ends beyond the array stand for its end. `m[1..3, .., -1]` slices by Rust's: they are
//!   an error. `ragged` before rows says that they are segments, whether or not their lengths differ, as a
//!   mistake in a matrix should not change its type.
//! * `np.` before a name stands for nothing: `np.sqrt(x)` is `sqrt(x)`.
//! * A name before a string is called with it: `load "airports.csv"`, `xs |> save "xs.npy"`.

use crate::syntax::{Binary, Unary};

/// How an operator groups with others of its level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// Between its operands, the first two first: `a - b - c` is `(a - b) - c`.
    Left,
    /// Between its operands, the last two first: `a ** b ** c` is `a ** (b ** c)`.
    Right,
    /// Between its operands, and not twice in a row: `a < b < c` is an error.
    Alone,
    /// Before its operand.
    Prefix,
    /// Behind its operand.
    Postfix,
}

/// What an operator makes.
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

/// An operator, with an example that a test parses.
#[derive(Debug)]
pub struct Operator {
    /// How it is written.
    pub text: &'static str,
    pub(crate) does: Does,
    /// An example.
    pub example: &'static str,
}

/// Operators that bind equally.
#[derive(Debug)]
pub struct Level {
    /// How they group.
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

/// All operators, from those that bind loosest to those that bind tightest. From `..` on it is the order of Rust and Python.
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

/// Everything else that can be written.
#[derive(Debug)]
pub struct Form {
    /// The head of its tree ([`Script::outline`](crate::syntax::Script::outline)).
    pub head: &'static str,
    /// How it is written; `…` repeats what stands before it.
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

/// Statements, operands, and the patterns that functions and `let` take values apart with.
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

/// Words that name nothing.
pub static RESERVED: &[&str] = &[
    "let", "def", "if", "then", "else", "as", "ragged", "true", "false", "True", "False", "lambda",
    "and", "or", "not",
];

/// The operator of this text that stands behind an operand, and its level.
pub(crate) fn behind(text: &str) -> Option<(usize, &'static Operator)> {
    find(text, |side| side != Side::Prefix)
}

/// The operator of this text that stands before an operand, and its level.
pub(crate) fn before(text: &str) -> Option<(usize, &'static Operator)> {
    find(text, |side| side == Side::Prefix)
}

fn find(text: &str, side: impl Fn(Side) -> bool) -> Option<(usize, &'static Operator)> {
    let levels = TABLE.iter().enumerate().filter(|(_, l)| side(l.side));
    let mut rows = levels.flat_map(|(k, l)| l.operators.iter().map(move |o| (k, o)));
    rows.find(|(_, o)| o.text == text)
}

/// The level of its operator: that of the sign, where a word means the same.
pub(crate) fn level_of(does: Does) -> usize {
    let level = |l: &Level| l.operators.iter().any(|o| o.does == does);
    TABLE.iter().rposition(level).unwrap_or(TABLE.len())
}

/// Whether an expression may begin with the operator: with a sign, a range without a start, a function's bar.
pub(crate) fn may_begin(text: &str) -> bool {
    before(text).is_some() || text == "|" || is_range(text)
}

/// Whether an expression may end with the operator: a range without an end does.
pub(crate) fn may_end(text: &str) -> bool {
    text == ".."
}

pub(crate) fn is_range(text: &str) -> bool {
    matches!(behind(text), Some((_, o)) if matches!(o.does, Does::Range { .. }))
}

/// The tables as a text, for `:help`.
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
