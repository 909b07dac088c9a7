//! Holes (`_`): arguments with a hole become functions.

use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::syntax::{
    Expr, ExprKind, Function, FunctionStyle, Pattern, PatternKind, Script, StatementKind,
};
use std::sync::Arc;

/// Turns function arguments with a `_` into functions.
///
/// `takes_function` tells whether a call of a name takes a function as the argument of this index.
/// The value before the dot or the pipe has index 0. It is called only for names that the text has
/// not defined, because user functions take no functions. A `_` belongs to the nearest such
/// argument; a `_` without one is an error. Afterwards `_` is an ordinary parameter name.
///
/// ```
/// use livefusion_repl::{Sources, holes, parse};
/// let mut sources = Sources::default();
/// let source = sources.add("<1>", "xs |> filter(_ > 0) |> map(sqrt(_ + 1))");
/// let mut script = parse(&sources, source)?;
/// holes::fill(&mut script, &|name, k| k == 1 && (name == "map" || name == "filter")).unwrap();
/// let text = script.outline();
/// assert!(text.contains("(hole-fn (_) (call (name sqrt) (add (name _) (int 1))))"));
/// # Ok::<(), livefusion_repl::ParseError>(())
/// ```
pub fn fill(
    script: &mut Script,
    takes_function: &dyn Fn(&str, usize) -> bool,
) -> Result<(), Box<Diagnostic>> {
    let bound = Vec::new();
    let mut walk = Walk {
        takes_function,
        bound,
    };
    script
        .statements
        .iter_mut()
        .try_for_each(|s| walk.statement(&mut s.kind))
}

struct Walk<'a> {
    takes_function: &'a dyn Fn(&str, usize) -> bool,
    /// The names in scope that the text defines.
    bound: Vec<String>,
}

/// The first hole of an expression that belongs to an enclosing argument.
type Free = Option<Span>;

impl Walk<'_> {
    fn statement(&mut self, kind: &mut StatementKind) -> Result<(), Box<Diagnostic>> {
        let free = self.names(kind)?;
        refuse(free, "no combinator is around it that takes a function")
    }

    /// Fills a statement, and binds its names for later statements.
    fn names(&mut self, kind: &mut StatementKind) -> Result<Free, Box<Diagnostic>> {
        match kind {
            StatementKind::Let { pattern, value } => {
                let free = self.expression(value)?;
                self.bind(pattern);
                Ok(free)
            }
            StatementKind::Def { name, function } => {
                // The function may call itself.
                self.bound.push(name.text.clone());
                self.function(function)?;
                Ok(None)
            }
            StatementKind::Show(value) => self.expression(value),
        }
    }

    fn function(&mut self, function: &mut Arc<Function>) -> Result<(), Box<Diagnostic>> {
        let outside = self.bound.len();
        // A freshly parsed function is not shared, so this does not copy.
        let Function { params, body, .. } = Arc::make_mut(function);
        params.iter().for_each(|p| self.bind(p));
        let free = self.expression(body)?;
        self.bound.truncate(outside);
        refuse(free, "a function around it has parameters with names")
    }

    fn bind(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Name(name) => self.bound.push(name.clone()),
            PatternKind::Any => {}
            PatternKind::Tuple(parts) | PatternKind::Vector(parts) => {
                parts.iter().for_each(|p| self.bind(p));
            }
        }
    }

    fn takes(&self, name: &String, k: usize) -> bool {
        !self.bound.contains(name) && (self.takes_function)(name, k)
    }

    fn expression(&mut self, e: &mut Expr) -> Result<Free, Box<Diagnostic>> {
        if e.is_hole() {
            return Ok(Some(e.span));
        }
        match &mut e.kind {
            ExprKind::Function(function) => {
                // Skip a function that was filled before.
                if function.style != FunctionStyle::Hole {
                    self.function(function)?;
                }
                Ok(None)
            }
            ExprKind::Block { statements, value } => {
                let (mut free, outside) = (None, self.bound.len());
                for s in statements {
                    let own = self.names(&mut s.kind)?;
                    free = free.or(own);
                }
                let own = self.expression(value)?;
                self.bound.truncate(outside);
                Ok(free.or(own))
            }
            ExprKind::Call { callee, args, .. } => {
                let mut free = self.expression(callee)?;
                for (k, arg) in args.iter_mut().enumerate() {
                    let own = self.expression(arg)?;
                    if let (Some(hole), ExprKind::Name(name)) = (own, &callee.kind)
                        && self.takes(name, k)
                    {
                        match &mut arg.kind {
                            ExprKind::Keyword { value, .. } => wrap(value, hole),
                            _ => wrap(arg, hole),
                        }
                    } else {
                        free = free.or(own);
                    }
                }
                Ok(free)
            }
            other => {
                let mut free = None;
                for part in other.parts_mut() {
                    let own = self.expression(part)?;
                    free = free.or(own);
                }
                Ok(free)
            }
        }
    }
}

/// Turns the argument into a function of its hole.
fn wrap(arg: &mut Expr, hole: Span) {
    let span = arg.span;
    let nothing = Expr::new(ExprKind::Tuple(Vec::new()), span);
    let function = Function {
        params: vec![Pattern {
            kind: PatternKind::Name("_".into()),
            span: hole,
        }],
        body: std::mem::replace(arg, nothing),
        style: FunctionStyle::Hole,
    };
    *arg = Expr::new(ExprKind::Function(Arc::new(function)), span);
}

fn refuse(free: Free, why: &str) -> Result<(), Box<Diagnostic>> {
    let Some(span) = free else { return Ok(()) };
    let wrong = Diagnostic::new("`_` is the element of nothing here", span)
        .label(why)
        .note("`_` is the element in a combinator's argument: `xs.filter(_ > 0)`; elsewhere, name it: `|x| x > 0`");
    Err(Box::new(wrong))
}
