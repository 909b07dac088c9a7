//! The tree of a text. Every node knows its bytes.

use crate::source::Span;
use loop_lang::Ty;
use std::sync::Arc;

/// How high a tree may be, and how deep brackets may nest: so deep go the parser and whoever walks a tree by recursion.
pub const MAX_DEPTH: usize = 200;

/// Statements, in their order.
#[derive(Clone, Default, Debug)]
pub struct Script {
    /// The statements.
    pub statements: Vec<Statement>,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it says.
    pub kind: StatementKind,
    /// Its bytes.
    pub span: Span,
}

/// What a statement says.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// `let (a, b) = value`
    Let {
        /// What is named.
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
    /// An expression, to be shown.
    Show(Expr),
}

/// A name with its bytes.
#[derive(Clone, Debug)]
pub struct Ident {
    /// The name.
    pub text: String,
    /// Its bytes.
    pub span: Span,
}

/// What takes a value apart.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// What it looks like.
    pub kind: PatternKind,
    /// Its bytes.
    pub span: Span,
}

/// What a pattern looks like.
#[derive(Clone, Debug)]
pub enum PatternKind {
    /// `x`
    Name(String),
    /// `_`, which names nothing.
    Any,
    /// `(a, b)`
    Tuple(Vec<Pattern>),
    /// `[a, b]`, the elements of a window.
    Vector(Vec<Pattern>),
}

/// A function. It is shared, so that closures can keep it.
#[derive(Clone, Debug)]
pub struct Function {
    /// The parameters, at least one.
    pub params: Vec<Pattern>,
    /// The result.
    pub body: Expr,
    /// How it was written.
    pub style: FunctionStyle,
}

/// How a function was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FunctionStyle {
    /// `\x -> body`
    Backslash,
    /// `|x| body`, `x => body`, `lambda x: body`
    Bars,
    /// `def f(x) = body`
    Def,
    /// An argument with `_` in it, made a function by [`fill`](crate::holes::fill). Its one parameter is named `_`.
    Hole,
}

/// How a call was written. The arguments are in their places in each: what stands before the dot or the pipe is the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallStyle {
    /// `f(x, y)`
    Plain,
    /// `x.f(y)`
    Method,
    /// `x |> f(y)`
    Piped,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The value.
    pub kind: ExprKind,
    /// Its bytes.
    pub span: Span,
    height: usize,
}

/// What an expression is.
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
        /// What is called.
        callee: Box<Expr>,
        /// The arguments.
        args: Vec<Expr>,
        /// How it was written.
        style: CallStyle,
    },
    /// `array[items]`
    Index {
        /// What is sliced.
        array: Box<Expr>,
        /// Ranges, indices, and so on.
        items: Vec<Expr>,
    },
    /// `value.0`, `table.price`
    Field {
        /// What has the field.
        value: Box<Expr>,
        /// Which one.
        field: Field,
    },
    /// `start:end:step` between brackets, with any of them or none.
    Slice(Box<[Option<Expr>; 3]>),
    /// `name = value` among the arguments of a call.
    Keyword {
        /// Which argument.
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
    /// `a..b`, with either end or none.
    Range {
        /// The first element.
        start: Option<Box<Expr>>,
        /// The last one, or the one behind it.
        end: Option<Box<Expr>>,
        /// Whether it is the last one (`..=`).
        closed: bool,
    },
    /// `value as f64`
    Cast {
        /// What is cast.
        value: Box<Expr>,
        /// To which type.
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

/// A literal.
#[derive(Clone, PartialEq, Debug)]
pub enum Literal {
    /// `true`, `false`
    Bool(bool),
    /// An integer, which fits its type (for a signed type it may be one more: the least one behind a minus).
    Int(u64, Option<Ty>),
    /// A float; one of type `f32` is rounded to it.
    Float(f64, Option<Ty>),
    /// A string.
    Text(String),
}

/// Which field.
#[derive(Clone, Debug)]
pub enum Field {
    /// Of a tuple: `.0`
    Number(u32, Span),
    /// Of a table: `.price`
    Name(Ident),
}

macro_rules! operators {
    ($(#[$doc:meta])* $Name:ident { $($Op:ident $text:literal $head:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(missing_docs, reason = "named as the trait or the method of Rust")]
        pub enum $Name { $($Op,)* }

        impl $Name {
            /// How it is written.
            pub fn text(self) -> &'static str {
                match self { $($Name::$Op => $text,)* }
            }

            /// The name of the method that does the same, for errors and outlines.
            pub fn name(self) -> &'static str {
                match self { $($Name::$Op => $head,)* }
            }
        }
    };
}

operators! {
    /// An operator before its operand.
    Unary {
        Neg "-" "neg",
        Not "!" "not",
    }
}

operators! {
    /// An operator between its operands.
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
    /// A node over its parts.
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

    /// How many nodes there are on the way to the lowest one. What was parsed has at most [`MAX_DEPTH`];
    /// [`fill`](crate::holes::fill) adds one for each argument that it makes a function, which is not counted.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Whether it is `_`.
    pub fn is_hole(&self) -> bool {
        matches!(&self.kind, ExprKind::Name(n) if n == "_")
    }
}

impl ExprKind {
    /// The expressions that it is directly made of, in their order; those within functions and blocks are not among them.
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

    /// The same parts, to be changed.
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
