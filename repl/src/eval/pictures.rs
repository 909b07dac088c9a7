//! Errors for Python's plotting functions, with the equivalent commands.

use super::Eval;
use crate::diagnostic::Diagnostic;
use crate::syntax::{Expr, ExprKind};
use crate::value::Env;

/// Names of the modules of such functions.
const MODULES: &[&str] = &["plt", "pyplot", "matplotlib"];

/// Functions of a module that change or show a picture.
const AROUND: &[&str] = &[
    "title", "xlabel", "ylabel", "legend", "show", "savefig", "figure", "colorbar", "subplots",
];

/// Arguments that `:plot` has too.
const KEPT: &[&str] = &["title", "xlabel", "ylabel", "legend", "label"];

/// The note about plotting in this shell.
const NOTE: &str = r#"pictures are drawn by `:plot`, for example `:plot plot.svg ys, title="TEXT", xlabel="TEXT"`"#;

impl Eval<'_> {
    /// The error for a call of a Python plotting function, with its command.
    pub(super) fn python_picture(
        &self,
        env: &Env,
        callee: &Expr,
        args: &[Expr],
    ) -> Option<Box<Diagnostic>> {
        let unbound = |e: &Expr| match &e.kind {
            ExprKind::Name(name) if env.get(name).is_none() => Some(name.clone()),
            _ => None,
        };
        let name = unbound(callee)?;
        let module = args.first().and_then(unbound);
        let in_module = module.is_some_and(|name| MODULES.contains(&name.as_str()));
        let args = if in_module { &args[1..] } else { args };
        if in_module && AROUND.contains(&name.as_str()) {
            let wrong = Diagnostic::new(format!("there is no `{name}`"), callee.span);
            return Some(Box::new(wrong.note(NOTE)));
        }
        let command = self.plot_command(&name, args)?;
        let note = format!("a picture is drawn by `{command}`");
        Some(Box::new(match name.as_str() {
            // It is also a combinator.
            "scatter" if !in_module => {
                let wrong = Diagnostic::new("`scatter` takes 3 arguments, got 2", callee.span);
                let example = "for example: [0, 0, 0].scatter([2, 0], [7, 8])";
                wrong.note(note).note(example)
            }
            name => Diagnostic::new(format!("there is no `{name}`"), callee.span).note(note),
        }))
    }

    /// The command for a call, if it is one of a plotting function.
    fn plot_command(&self, name: &str, args: &[Expr]) -> Option<String> {
        let text = |a: &Expr| self.sources.slice(a.span).to_string();
        let (mut plain, mut named) = (Vec::new(), String::new());
        for arg in args {
            match &arg.kind {
                ExprKind::Keyword { name, .. } if KEPT.contains(&name.text.as_str()) => {
                    named += &format!(", {}", text(arg));
                }
                ExprKind::Keyword { .. } => {}
                _ => plain.push(text(arg)),
            }
        }
        let command = match (name, plain.as_slice()) {
            ("plot" | "imshow", [ys]) => format!(":plot plot.svg {ys}{named}"),
            ("plot", [xs, ys, ..]) => format!(":plot plot.svg ({xs}, {ys}){named}"),
            ("scatter", [xs, ys]) => format!(":plot plot.svg zip({xs}, {ys}){named}"),
            ("hist", [xs, ..]) => format!(":plot histogram plot.svg {xs}{named}"),
            _ => return None,
        };
        let on_a_line = |c: char| if c.is_control() { ' ' } else { c };
        Some(command.chars().map(on_a_line).collect())
    }
}
