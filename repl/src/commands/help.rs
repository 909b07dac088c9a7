//! `:help`: the list of topics, and help on one name.

use super::{COMMANDS, find, word};
use crate::combinators::{self, SCALARS};
use crate::diagnostic::Diagnostic;
use crate::session::{Answer, Session};
use crate::source::Span;
use crate::value::Value;
use crate::{display, grammar, nearest};
use livefusion::docs;
use std::fmt::Write as _;

/// Lists all topics, or explains one name.
pub fn help(s: &mut Session, at: Span) -> Result<Answer, String> {
    let name = word(s, at);
    if name.is_empty() {
        let mut text = String::from("commands\n");
        for c in COMMANDS {
            let call = format!(":{} {}", c.name, c.argument);
            let _ = writeln!(text, "  {call:<37} {}", c.help);
        }
        let mut combinators: Vec<_> = Vec::new();
        for c in combinators::all() {
            if !combinators.contains(&c.name) {
                combinators.push(c.name);
            }
        }
        let scalars: Vec<_> = SCALARS.iter().map(|f| f.name).collect();
        text += &format!("combinators\n{}", wrapped(&combinators));
        text += &format!("functions on scalars\n{}", wrapped(&scalars));
        text += "`:help NAME` says more; `:help grammar` has the language\n";
        return Ok(Answer::of(text));
    }
    if name == "grammar" {
        return Ok(Answer::of(grammar::show()));
    }
    if let Some(c) = combinators::find(&name) {
        let mut text = String::new();
        for form in combinators::forms(c.name) {
            text += &format!("{}\n", form.signature());
        }
        if c.params.first() == Some(&combinators::Kind::Over) {
            let more = if c.params.len() > 1 { "…" } else { "" };
            let (name, of) = (c.name, "of each segment `rows");
            text += &format!("along axes `m.along(0).{name}({more})`, {of}.{name}({more})`\n");
        }
        if !c.aliases.is_empty() {
            text += &format!("also {}\n", c.aliases.join(", "));
        }
        text += &docs::of(c.name).map_or_else(String::new, |d| format!("\n{d}\n"));
        return Ok(Answer::of(text + &format!("  {}\n", c.example)));
    }
    if let Some(f) = SCALARS.iter().find(|f| f.name == name) {
        let text = docs::of(f.name).map_or_else(String::new, |d| format!("\n{d}\n"));
        let head = format!("{}: a function on scalars\n", f.name);
        return Ok(Answer::of(head + &format!("{text}  {}\n", f.example)));
    }
    if let Some(c) = find(name.trim_start_matches(':')) {
        let text = format!(":{} {}\n  {}\n{}", c.name, c.argument, c.help, c.more);
        return Ok(Answer::of(text));
    }
    // A constant, a boundary, or a user's name.
    if let Some(value) = s
        .env
        .get(&name)
        .cloned()
        .or_else(|| combinators::value(&name))
    {
        let shown = match &value {
            Value::Scalar(..) => format!(" = {}", display::show(&value, s.settings.show)),
            _ => String::new(),
        };
        return Ok(Answer::of(format!("{name}: {}{shown}\n", value.ty())));
    }
    let mut unknown = Diagnostic::new(format!("there is no `{name}`"), at);
    if let Some(form) = combinators::renamed(&name) {
        return Err(s.draw(&unknown.note(format!("it is {form}"))));
    }
    let known = combinators::names().chain(COMMANDS.iter().map(|c| c.name));
    for other in nearest(&name, known) {
        unknown = unknown.note(format!("you may have meant `{other}`"));
    }
    Err(s.draw(&unknown))
}

/// Wraps names into lines of limited length.
fn wrapped(names: &[&str]) -> String {
    let (mut text, mut line) = (String::new(), String::from(" "));
    for name in names {
        if line.len() + name.len() > 96 {
            text += &line;
            text.push('\n');
            line = String::from(" ");
        }
        line.push(' ');
        line += name;
    }
    text + &line + "\n"
}
