//! `_`, the element: arguments with a hole in them become functions.

use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::syntax::{
    Expr, ExprKind, Function, FunctionStyle, Pattern, PatternKind, Script, StatementKind,
};
use std::sync::Arc;

/// Makes a function of each argument that is to be one and has a `_` in it. `takes_function` says whether what is called by a
/// name takes a function as its argument of this number (what stands before the dot or the pipe is number 0). A `_`
/// belongs to the nearest such argument; one that has none is an error. Afterwards `_` is a name like others, that of a
/// function's parameter.
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
    let walk = Walk { takes_function };
    script
        .statements
        .iter_mut()
        .try_for_each(|s| walk.statement(&mut s.kind))
}

struct Walk<'a> {
    takes_function: &'a dyn Fn(&str, usize) -> bool,
}

/// The first hole of an expression that belongs to something around it.
type Free = Option<Span>;

impl Walk<'_> {
    fn statement(&self, kind: &mut StatementKind) -> Result<(), Box<Diagnostic>> {
        match kind {
            StatementKind::Let { value, .. } | StatementKind::Show(value) => {
                let free = self.expression(value)?;
                refuse(free, "no combinator is around it that takes a function")
            }
            StatementKind::Def { function, .. } => self.function(function),
        }
    }

    fn function(&self, function: &mut Arc<Function>) -> Result<(), Box<Diagnostic>> {
        // What was just parsed is shared by nobody, and so is not copied.
        let free = self.expression(&mut Arc::make_mut(function).body)?;
        refuse(free, "a function around it has parameters with names")
    }

    fn expression(&self, e: &mut Expr) -> Result<Free, Box<Diagnostic>> {
        if e.is_hole() {
            return Ok(Some(e.span));
        }
        match &mut e.kind {
            ExprKind::Function(function) => {
                // One that was filled before.
                if function.style != FunctionStyle::Hole {
                    self.function(function)?;
                }
                Ok(None)
            }
            ExprKind::Block { statements, value } => {
                let mut free = None;
                for s in statements {
                    let own = match &mut s.kind {
                        StatementKind::Let { value, .. } | StatementKind::Show(value) => {
                            self.expression(value)?
                        }
                        StatementKind::Def { function, .. } => {
                            self.function(function)?;
                            None
                        }
                    };
                    free = free.or(own);
                }
                let own = self.expression(value)?;
                Ok(free.or(own))
            }
            ExprKind::Call { callee, args, .. } => {
                let mut free = self.expression(callee)?;
                for (k, arg) in args.iter_mut().enumerate() {
                    let own = self.expression(arg)?;
                    if let (Some(hole), ExprKind::Name(name)) = (own, &callee.kind)
                        && (self.takes_function)(name, k)
                    {
                        wrap(arg, hole);
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

/// Makes the argument a function of its hole.
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
