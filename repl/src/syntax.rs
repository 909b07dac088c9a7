//! Syntax trees, whose nodes know their bytes.

use crate::source::Span;
use loop_lang::Ty;
use std::sync::Arc;

/// Limits the height of trees and the nesting of brackets.
///
/// The limit bounds the recursion of the parser and of tree walks.
pub const MAX_DEPTH: usize = 200;

/// Holds statements in order.
#[derive(Clone, Default, Debug)]
pub struct Script {
    /// The statements.
    pub statements: Vec<Statement>,
}

/// Describes a statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Its kind.
    pub kind: StatementKind,
    /// Its bytes.
    pub span: Span,
}

/// Lists kinds of statements.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// `let (a, b) = value`
    Let {
        /// The pattern.
        pattern: Pattern,
        /// The value.
        value: Expr,
    },
    /// `def name(x, y) = body`
    Def {
        /// The function's name.
        name: Ident,
        /// The function; its style is [`FunctionStyle::Def`].
        function: Arc<Function>,
    },
    /// An expression to show.
    Show(Expr),
}

/// Holds a name with its bytes.
#[derive(Clone, Debug)]
pub struct Ident {
    /// The name.
    pub text: String,
    /// Its bytes.
    pub span: Span,
}

/// Describes a pattern, which binds the parts of a value.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Its kind.
    pub kind: PatternKind,
    /// Its bytes.
    pub span: Span,
}

/// Lists kinds of patterns.
#[derive(Clone, Debug)]
pub enum PatternKind {
    /// `x`
    Name(String),
    /// `_`, which binds no name.
    Any,
    /// `(a, b)`
    Tuple(Vec<Pattern>),
    /// `[a, b]`, the elements of a window.
    Vector(Vec<Pattern>),
}

/// Describes a function, shared so that closures can keep it.
#[derive(Clone, Debug)]
pub struct Function {
    /// The parameters, at least one.
    pub params: Vec<Pattern>,
    /// The result.
    pub body: Expr,
    /// Its syntax.
    pub style: FunctionStyle,
}

/// Lists syntaxes of functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FunctionStyle {
    /// `\x -> body`
    Backslash,
    /// `|x| body`, `x => body`, `lambda x: body`
    Bars,
    /// `def f(x) = body`
    Def,
    /// An argument with a hole, converted by [`fill`](crate::holes::fill). Its one parameter is
    /// named `_`.
    Hole,
}

/// Lists syntaxes of calls.
///
/// Arguments are in their positions for each. The value before the dot or the pipe is the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallStyle {
    /// `f(x, y)`
    Plain,
    /// `x.f(y)`
    Method,
    /// `x |> f(y)`
    Piped,
}

/// Describes an expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its kind.
    pub kind: ExprKind,
    /// Its bytes.
    pub span: Span,
    height: usize,
}

/// Lists kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A literal.
    Literal(Literal),
    /// A name, perhaps a path such as `f64::MAX`. The hole is the name `_`.
    Name(String),
    /// `[a, b]`; a matrix is a vector of vectors.
    Vector(Vec<Expr>),
    /// `ragged [a, b]`: each row is a segment.
    Ragged(Vec<Expr>),
    /// `(a, b)`
    Tuple(Vec<Expr>),
    /// A function.
    Function(Arc<Function>),
    /// A call.
    Call {
        /// The callee.
        callee: Box<Expr>,
        /// The arguments.
        args: Vec<Expr>,
        /// Its syntax.
        style: CallStyle,
    },
    /// `array[items]`
    Index {
        /// The indexed array.
        array: Box<Expr>,
        /// Ranges, indices, and so on.
        items: Vec<Expr>,
    },
    /// `value.0`, `table.price`
    Field {
        /// The value with the field.
        value: Box<Expr>,
        /// The field.
        field: Field,
    },
    /// `start:end:step` between brackets; each part is optional.
    Slice(Box<[Option<Expr>; 3]>),
    /// `name = value` among the arguments of a call.
    Keyword {
        /// The argument's name.
        name: Ident,
        /// The value.
        value: Box<Expr>,
    },
    /// `-x`, `!x`
    Unary {
        /// The operator.
        op: Unary,
        /// Its operand.
        operand: Box<Expr>,
    },
    /// `a + b` and so on.
    Binary {
        /// The operator.
        op: Binary,
        /// Its bytes.
        op_span: Span,
        /// Both operands.
        operands: Box<[Expr; 2]>,
    },
    /// `a..b`; each end is optional.
    Range {
        /// The first element.
        start: Option<Box<Expr>>,
        /// The inclusive or exclusive end.
        end: Option<Box<Expr>>,
        /// Whether the end is inclusive (`..=`).
        closed: bool,
    },
    /// `value as f64`
    Cast {
        /// The value to cast.
        value: Box<Expr>,
        /// The target type.
        ty: Ty,
    },
    /// `if condition then yes else no`: condition, yes, no.
    If(Box<[Expr; 3]>),
    /// `{ let a = 1; a + 1 }`
    Block {
        /// `let`s and `def`s.
        statements: Vec<Statement>,
        /// The value.
        value: Box<Expr>,
    },
}

/// Describes a literal.
#[derive(Clone, PartialEq, Debug)]
pub enum Literal {
    /// `true`, `false`
    Bool(bool),
    /// An integer that fits its type. For a signed type it may be one larger, as the magnitude of
    /// the minimum after a minus.
    Int(u64, Option<Ty>),
    /// A float; one of type `f32` is rounded to it.
    Float(f64, Option<Ty>),
    /// A string.
    Text(String),
}

/// Describes a field access.
#[derive(Clone, Debug)]
pub enum Field {
    /// A field of a tuple: `.0`
    Number(u32, Span),
    /// A column of a table: `.price`
    Name(Ident),
}

macro_rules! operators {
    ($(#[$doc:meta])* $Name:ident { $($Op:ident $text:literal $head:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(missing_docs, reason = "named as the trait or the method of Rust")]
        pub enum $Name { $($Op,)* }

        impl $Name {
            /// Returns its text.
            pub fn text(self) -> &'static str {
                match self { $($Name::$Op => $text,)* }
            }

            /// Returns its method name, for errors and outlines.
            pub fn name(self) -> &'static str {
                match self { $($Name::$Op => $head,)* }
            }
        }
    };
}

operators! {
    /// A prefix operator.
    Unary {
        Neg "-" "neg",
        Not "!" "not",
    }
}

operators! {
    /// An infix operator.
    Binary {
        Or "||" "or",
        And "&&" "and",
        Eq "==" "eq",
        Ne "!=" "ne",
        Lt "<" "lt",
        Le "<=" "le",
        Gt ">" "gt",
        Ge ">=" "ge",
        BitOr "|" "bitor",
        BitAnd "&" "bitand",
        Shl "<<" "shl",
        Shr ">>" "shr",
        Add "+" "add",
        Sub "-" "sub",
        Mul "*" "mul",
        Div "/" "div",
        FloorDiv "//" "floor_div",
        Rem "%" "rem",
        MatMul "@" "matmul",
        Pow "**" "pow",
    }
}

impl Expr {
    /// Creates a node over its parts.
    pub fn new(kind: ExprKind, span: Span) -> Expr {
        let mut highest = 0;
        let mut see = |e: &Expr| highest = highest.max(e.height);
        match &kind {
            ExprKind::Function(f) => see(&f.body),
            ExprKind::Block { statements, value } => {
                for s in statements {
                    match &s.kind {
                        StatementKind::Let { value, .. } => see(value),
                        StatementKind::Def { function, .. } => see(&function.body),
                        StatementKind::Show(e) => see(e),
                    }
                }
                see(value);
            }
            other => other.parts().into_iter().for_each(see),
        }
        Expr {
            kind,
            span,
            height: highest + 1,
        }
    }

    /// Returns the height of the tree.
    ///
    /// A parsed tree has at most [`MAX_DEPTH`]. [`fill`](crate::holes::fill) adds one, uncounted,
    /// for each argument that it turns into a function.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns whether it is `_`.
    pub fn is_hole(&self) -> bool {
        matches!(&self.kind, ExprKind::Name(n) if n == "_")
    }
}

impl ExprKind {
    /// Returns the direct subexpressions in order.
    ///
    /// Functions and blocks have none.
    pub fn parts(&self) -> Vec<&Expr> {
        match self {
            ExprKind::Literal(_) | ExprKind::Name(_) => Vec::new(),
            ExprKind::Function(_) | ExprKind::Block { .. } => Vec::new(),
            ExprKind::Vector(of) | ExprKind::Ragged(of) | ExprKind::Tuple(of) => {
                of.iter().collect()
            }
            ExprKind::Call { callee, args, .. } => std::iter::once(&**callee).chain(args).collect(),
            ExprKind::Index { array, items } => std::iter::once(&**array).chain(items).collect(),
            ExprKind::Field { value, .. }
            | ExprKind::Cast { value, .. }
            | ExprKind::Keyword { value, .. } => vec![value],
            ExprKind::Slice(ends) => ends.iter().flatten().collect(),
            ExprKind::Unary { operand, .. } => vec![operand],
            ExprKind::Binary { operands, .. } => operands.iter().collect(),
            ExprKind::Range { start, end, .. } => start.iter().chain(end).map(|e| &**e).collect(),
            ExprKind::If(parts) => parts.iter().collect(),
        }
    }

    /// Returns the direct subexpressions for mutation.
    pub fn parts_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            ExprKind::Literal(_) | ExprKind::Name(_) => Vec::new(),
            ExprKind::Function(_) | ExprKind::Block { .. } => Vec::new(),
            ExprKind::Vector(of) | ExprKind::Ragged(of) | ExprKind::Tuple(of) => {
                of.iter_mut().collect()
            }
            ExprKind::Call { callee, args, .. } => {
                std::iter::once(&mut **callee).chain(args).collect()
            }
            ExprKind::Index { array, items } => {
                std::iter::once(&mut **array).chain(items).collect()
            }
            ExprKind::Field { value, .. }
            | ExprKind::Cast { value, .. }
            | ExprKind::Keyword { value, .. } => vec![value],
            ExprKind::Slice(ends) => ends.iter_mut().flatten().collect(),
            ExprKind::Unary { operand, .. } => vec![operand],
            ExprKind::Binary { operands, .. } => operands.iter_mut().collect(),
            ExprKind::Range { start, end, .. } => {
                start.iter_mut().chain(end).map(|e| &mut **e).collect()
            }
            ExprKind::If(parts) => parts.iter_mut().collect(),
        }
    }
}
