//! The shell's commands: lines that begin with `:`.

mod explain;
mod help;
mod labels;
mod parts;
mod plot;
mod time;

use crate::diagnostic::Diagnostic;
use crate::display::{self, Limit};
use crate::nearest;
use crate::rust;
use crate::session::{Answer, Session};
use crate::source::Span;
use crate::trace;
use crate::value::Value;
use livefusion::Clustering;
use livefusion::ast::Node;
use livefusion::runtime::Explanation;
use livefusion::stages;
use std::path::Path;
use std::sync::Arc;

/// The action of a command on its argument. It returns an answer, or a rendered error.
type Does = fn(&mut Session, Span) -> Result<Answer, String>;

/// Describes a command.
pub struct Command {
    /// Its name, without the colon.
    pub name: &'static str,
    /// Its argument, for `:help`.
    pub argument: &'static str,
    /// Its effect, in a line.
    pub help: &'static str,
    /// Details, for `:help NAME`.
    pub more: &'static str,
    does: Does,
}

impl Command {
    /// Returns whether its argument is an expression.
    pub fn takes_expression(&self) -> bool {
        self.argument.ends_with(E)
    }
}

const fn command(
    name: &'static str,
    argument: &'static str,
    help: &'static str,
    does: Does,
) -> Command {
    Command {
        name,
        argument,
        help,
        more: "",
        does,
    }
}

impl Command {
    const fn with(self, more: &'static str) -> Command {
        Command { more, ..self }
    }
}

/// Lists the backends for `:backend` and `:time`.
pub static BACKENDS: &[&str] = &["interp", "jit", "c", "tiered"];

const E: &str = "EXPRESSION";
const FILE_E: &str = "[FILE] EXPRESSION";

/// Lists the commands.
#[rustfmt::skip]
pub static COMMANDS: &[Command] = &[
    command("type", E, "its type and shape, without computing it", |s, at| Ok(Answer::of(s.value_of(at)?.ty() + "\n"))),
    command("ast", E, "the calls that it consists of", |s, at| {
        let nodes = nodes(s, at)?;
        Ok(Answer::of(stages::ast_of(&nodes)))
    }),
    command("explain", "[schedule] EXPRESSION", "into which loops it fuses, and why not into fewer; how their steps are dealt out", explain::explain).with(explain::MORE),
    command("loop", E, "the loops as compilers get them", |s, at| {
        let mut loops = loops(s, at, Clustering::default())?;
        loops.optimize();
        Ok(Answer::of(loops))
    }),
    command("stages", E, "the way from calls to loops: graph, a loop for each combinator, merged loops", stages_of),
    command("c", E, "the C that is compiled", |s, at| {
        let mut loops = loops(s, at, Clustering::default())?;
        loops.optimize();
        let code = loops.code(&s.engine_of("c")).map_err(|e| s.fault(&e, at))?;
        Ok(Answer::of(code))
    }),
    command("dot", E, "the graph for Graphviz, with loops as boxes", |s, at| {
        let nodes = nodes(s, at)?;
        explained(s, at, &nodes).map(|e| Answer::of(e.dot()))
    }),
    command("svg", FILE_E, "the graph as a picture, with loops as boxes", plot::svg),
    command("trace", "[STEPS] EXPRESSION", "its loops step by step; not in a terminal, the first steps", trace::command),
    command("rust", E, "the same as a program in Rust, with the definitions that it uses", |s, at| rust::command(s, at).map(Answer::of)),
    command("time", E, "how long it takes on each backend, from literals and files on, and in each part", time::time).with(time::MORE),
    command("plot", "[histogram] [FILE] EXPRESSION", "its numbers as bars; in a file .svg or .png as lines, pairs as points, a matrix as an image", plot::plot).with(plot::MORE),
    command("backend", "[NAME]", "the backend that runs loops: interp, jit, c, tiered", backend),
    command("threads", "[N]", "how many threads run one loop", |s, at| {
        if let Some(n) = number(s, at)? {
            s.settings.threads = n.clamp(1, 1024) as usize;
            s.rebuild();
        }
        Ok(Answer::of(format!("threads = {}\n", s.settings.threads)))
    }),
    command("set", "[NAME VALUE]", "settings: `show`, the elements shown of each axis; `types`, on or off; `memory`, in MiB", set),
    command("save", "FILE", "the accepted lines, as a script", |s, at| {
        if word(s, at).is_empty() {
            return Err(refuse(s, at, "expected the name of a file"));
        }
        let text = s.entered.iter().map(|t| t.clone() + "\n").collect::<String>();
        let path = s.folder.join(word(s, at));
        match std::fs::write(&path, text) {
            Ok(()) => Ok(Answer::default()),
            Err(e) => Err(refuse(s, at, &format!("{}: {e}", path.display()))),
        }
    }),
    command("load", "FILE", "takes the lines of a script", |s, at| {
        let path = word(s, at);
        if path.is_empty() {
            return Err(refuse(s, at, "expected the name of a file"));
        }
        s.load(Path::new(&path)).map_err(|e| refuse(s, at, &e))
    }),
    command("help", "[NAME]", "this list; a combinator's or a command's help", help::help),
    command("history", "", "the lines typed so far", |s, _| {
        let lines = s.typed.iter().map(|t| t.trim_end().to_string() + "\n");
        Ok(Answer::of(lines.collect::<String>()))
    }),
    command("undo", "", "takes back the last statement that gave a name", |s, at| match s.undo() {
        Some(text) => Ok(Answer::of(format!("took back {text}\n"))),
        None => Err(refuse(s, at, "there is no name to take back")),
    }),
    command("quit", "", "ends the session", quit),
    command("exit", "", "ends the session", quit),
];

/// Commands that work without a colon, unless the user defined the name.
static BARE: &[&str] = &["help", "history", "undo", "quit", "exit"];

fn quit(_: &mut Session, _: Span) -> Result<Answer, String> {
    Ok(Answer {
        quit: true,
        ..Answer::default()
    })
}

/// Parses a command without a colon, and its argument.
///
/// Examples are `quit`, `exit()` and `help(sum)`.
pub fn bare(text: &str) -> Option<(&'static str, &str)> {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_alphanumeric())
        .unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let name = BARE.iter().find(|b| **b == word)?;
    let rest = rest.trim();
    let inner = rest.strip_prefix('(').and_then(|r| r.strip_suffix(')'));
    let argument = inner.unwrap_or(rest).trim();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    let may_be = argument.is_empty() || *name == "help" && argument.chars().all(is_name);
    may_be.then_some((*name, argument))
}

/// Returns the command of this name.
pub fn find(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|c| c.name == name)
}

/// Runs a command on its argument.
pub fn run(session: &mut Session, name: &str, at: Span) -> Answer {
    let Some(command) = find(name) else {
        let text = session.sources.text(at.source);
        let start = text.find(':').unwrap_or(0) + 1;
        let span = Span {
            start,
            end: start + name.len(),
            ..at
        };
        let mut unknown = Diagnostic::new(format!("there is no command `:{name}`"), span)
            .note("`:help` lists the commands");
        for other in nearest(name, COMMANDS.iter().map(|c| c.name)) {
            unknown = unknown.suggest("you may have meant", span, other);
        }
        let err = session.draw(&unknown);
        return Answer {
            err,
            ..Answer::default()
        };
    };
    (command.does)(session, at).unwrap_or_else(|err| Answer {
        err,
        ..Answer::default()
    })
}

/// Whether a word precedes a command's expression, and the rest.
fn asked_for(s: &Session, at: Span, word: &str) -> (bool, Span) {
    let text = s.sources.slice(at);
    let rest = text
        .strip_prefix(word)
        .filter(|r| r.starts_with(char::is_whitespace));
    match rest
        .map(str::trim_start)
        .filter(|r| !r.is_empty() && !crate::continues(r))
    {
        Some(rest) => {
            let start = at.end - rest.len();
            (true, Span { start, ..at })
        }
        None => (false, at),
    }
}

fn refuse(s: &Session, at: Span, message: &str) -> String {
    s.draw(&Diagnostic::new(message, at))
}

/// The argument of a command, as a word.
fn word(s: &Session, at: Span) -> String {
    let word = s.sources.slice(at).trim();
    let quoted = word.strip_prefix('"').and_then(|w| w.strip_suffix('"'));
    quoted.unwrap_or(word).to_string()
}

fn number(s: &Session, at: Span) -> Result<Option<u64>, String> {
    let word = word(s, at);
    if word.is_empty() {
        return Ok(None);
    }
    match word.parse() {
        Ok(n) => Ok(Some(n)),
        Err(_) => Err(refuse(s, at, &format!("expected a number, got `{word}`"))),
    }
}

/// The nodes of a command's expression.
fn nodes(s: &mut Session, at: Span) -> Result<Vec<Arc<Node>>, String> {
    let value = s.value_of(at)?;
    nodes_of(s, at, &value)
}

fn nodes_of(s: &Session, at: Span, value: &Value) -> Result<Vec<Arc<Node>>, String> {
    let mut all = Vec::new();
    display::nodes(value, &mut all);
    match all.is_empty() {
        true => Err(refuse(
            s,
            at,
            &format!(
                "expected arrays or delayed scalars, got {}",
                value.describe()
            ),
        )),
        false => Ok(all),
    }
}

fn explained(s: &Session, at: Span, nodes: &[Arc<Node>]) -> Result<Explanation, String> {
    s.engine.explain(nodes).map_err(|e| s.fault(&e, at))
}

fn loops(s: &mut Session, at: Span, clustering: Clustering) -> Result<stages::Loops, String> {
    let nodes = nodes(s, at)?;
    let graph = stages::graph_of(&nodes);
    let loops = graph.and_then(|g| g.plan(clustering).lower());
    loops.map_err(|e| s.fault(&e, at))
}

fn stages_of(s: &mut Session, at: Span) -> Result<Answer, String> {
    let nodes = nodes(s, at)?;
    let all = || {
        let ast = stages::ast_of(&nodes);
        let graph = ast.graph()?;
        let single = graph.plan(Clustering::Unfused).lower()?;
        let plan = graph.plan(Clustering::default());
        let mut text =
            format!("1. the calls\n\n{ast}\n2. the graph: each computation once\n\n{graph}\n");
        text += &format!("3. a loop for each combinator\n\n{single}\n4. the plan\n\n{plan}\n");
        let mut merged = plan.lower()?;
        text += &format!("5. merged loops\n\n{merged}\n");
        merged.optimize();
        Ok(Answer::of(
            text + &format!("6. merged loops, optimised\n\n{merged}"),
        ))
    };
    all().map_err(|e: livefusion::Error| s.fault(&e, at))
}

fn backend(s: &mut Session, at: Span) -> Result<Answer, String> {
    let name = word(s, at);
    if !name.is_empty() {
        let Some(known) = BACKENDS.iter().find(|b| **b == name) else {
            let known = BACKENDS.join(", ");
            let message = format!("there is no backend `{name}`; there are {known}");
            let mut unknown = Diagnostic::new(message, at);
            for other in nearest(&name, BACKENDS.iter().copied()) {
                unknown = unknown.suggest("you may have meant", at, other);
            }
            return Err(s.draw(&unknown));
        };
        s.backend = known;
        s.rebuild();
    }
    Ok(Answer::of(format!("backend = {}\n", s.backend)))
}

fn set(s: &mut Session, at: Span) -> Result<Answer, String> {
    let text = word(s, at);
    let mut words = text.split_whitespace();
    match (words.next(), words.next()) {
        (None, _) => {}
        (Some("types"), Some(value @ ("on" | "off"))) => s.settings.types = value == "on",
        (Some(name @ ("show" | "memory")), Some(value)) => {
            let Ok(n) = value.parse::<u64>() else {
                return Err(refuse(s, at, &format!("expected a number, got `{value}`")));
            };
            match name {
                "show" => s.settings.show = Limit(n.max(2) as usize),
                _ => {
                    s.settings.memory = n.max(1).saturating_mul(1 << 20);
                    s.rebuild();
                }
            }
        }
        _ => {
            let message =
                format!("expected `show N`, `types on`, `types off` or `memory MIB`, got `{text}`");
            return Err(refuse(s, at, &message));
        }
    }
    let types = if s.settings.types { "on" } else { "off" };
    let (show, memory) = (s.settings.show.0, s.settings.memory >> 20);
    Ok(Answer::of(format!(
        "show = {show}\ntypes = {types}\nmemory = {memory} MiB\n"
    )))
}
