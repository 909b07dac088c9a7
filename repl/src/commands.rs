//! The shell's commands: a line that begins with `:`.

use crate::combinators::{self, SCALARS};
use crate::diagnostic::Diagnostic;
use crate::display::{self, Limit};
use crate::grammar;
use crate::nearest;
use crate::plot;
use crate::rust;
use crate::session::{Answer, Session, duration};
use crate::source::Span;
use crate::trace;
use crate::value::Value;
use livefusion::Clustering;
use livefusion::ast::{Buffer, Const, Node, Value as Memory};
use livefusion::docs;
use livefusion::stages;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A command.
pub struct Command {
    /// Its name, without the colon.
    pub name: &'static str,
    /// What follows it, for `:help`.
    pub argument: &'static str,
    /// What it does, in a line.
    pub help: &'static str,
    does: fn(&mut Session, Span) -> Result<String, String>,
}

impl Command {
    /// Whether an expression follows it.
    pub fn takes_expression(&self) -> bool {
        self.argument.ends_with(E)
    }
}

const fn command(
    name: &'static str,
    argument: &'static str,
    help: &'static str,
    does: fn(&mut Session, Span) -> Result<String, String>,
) -> Command {
    Command {
        name,
        argument,
        help,
        does,
    }
}

/// The backends that `:backend` knows, and `:time` measures.
pub static BACKENDS: &[&str] = &["interp", "jit", "c", "tiered"];

const E: &str = "EXPRESSION";

/// All of them.
#[rustfmt::skip]
pub static COMMANDS: &[Command] = &[
    command("type", E, "its type and shape, without computing it", |s, at| Ok(s.value_of(at)?.ty() + "\n")),
    command("ast", E, "the calls that it consists of", |s, at| {
        let nodes = nodes(s, at)?;
        Ok(stages::ast_of(&nodes).to_string())
    }),
    command("explain", E, "into which loops it fuses, and why not into fewer", |s, at| {
        let nodes = nodes(s, at)?;
        s.engine.explain(&nodes).map(|e| e.to_string() + "\n").map_err(|e| s.fault(&e, at))
    }),
    command("loop", E, "the loops as compilers get them", |s, at| {
        let mut loops = loops(s, at, Clustering::default())?;
        loops.optimize();
        Ok(loops.to_string())
    }),
    command("stages", E, "the way from calls to loops: graph, a loop for each combinator, merged loops", stages_of),
    command("c", E, "the C that is compiled", |s, at| {
        let mut loops = loops(s, at, Clustering::default())?;
        loops.optimize();
        let code = loops.code(&s.engine_of("c")).map_err(|e| s.fault(&e, at))?;
        Ok(code.to_string())
    }),
    command("dot", E, "the graph for Graphviz, with loops as boxes", |s, at| {
        let nodes = nodes(s, at)?;
        s.engine.explain(&nodes).map(|e| e.dot()).map_err(|e| s.fault(&e, at))
    }),
    command("svg", E, "the graph as a picture, with loops as boxes", |s, at| {
        let nodes = nodes(s, at)?;
        s.engine.explain(&nodes).map(|e| e.svg()).map_err(|e| s.fault(&e, at))
    }),
    command("trace", "[STEPS] EXPRESSION", "its loops step by step; not in a terminal, the first steps", trace::command),
    command("rust", E, "the same as a program in Rust, with what it needs of what was typed", rust::command),
    command("time", E, "how long it takes on each backend", time),
    command("plot", E, "its numbers as bars", plotted),
    command("backend", "[NAME]", "what runs loops: interp, jit, c, tiered", backend),
    command("threads", "[N]", "how many threads run one loop", |s, at| {
        if let Some(n) = number(s, at)? {
            s.settings.threads = n.clamp(1, 1024) as usize;
            s.rebuild();
        }
        Ok(format!("threads = {}\n", s.settings.threads))
    }),
    command("set", "[NAME VALUE]", "settings: `show`, the elements shown of each axis; `types`, on or off; `memory`, in MiB", set),
    command("save", "FILE", "what was typed and good, as a script", |s, at| {
        let text = s.entered.iter().map(|t| t.clone() + "\n").collect::<String>();
        let path = s.folder.join(word(s, at));
        match std::fs::write(&path, text) {
            Ok(()) => Ok(String::new()),
            Err(e) => Err(refuse(s, at, &format!("{}: {e}", path.display()))),
        }
    }),
    command("load", "FILE", "takes the lines of a script", |s, at| {
        let path = word(s, at);
        match s.load(Path::new(&path)) {
            Ok(answer) if answer.err.is_empty() => Ok(answer.out),
            Ok(answer) => Err(answer.out + &answer.err),
            Err(e) => Err(refuse(s, at, &format!("{path}: {e}"))),
        }
    }),
    command("help", "[NAME]", "this list; what a combinator or a command does", help),
    command("quit", "", "ends the session", |_, _| Ok(String::new())),
];

/// The command of this name.
pub fn find(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|c| c.name == name)
}

/// Runs a command on what follows it.
pub fn run(session: &mut Session, name: &str, at: Span) -> Answer {
    let Some(command) = find(name) else {
        let text = session.sources.text(at.source);
        let start = text.find(':').unwrap_or(0) + 1;
        let span = Span {
            start,
            end: at.start,
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
    let quit = command.name == "quit";
    match (command.does)(session, at) {
        Ok(out) => Answer {
            out,
            quit,
            ..Answer::default()
        },
        Err(err) => Answer {
            err,
            ..Answer::default()
        },
    }
}

fn refuse(s: &Session, at: Span, message: &str) -> String {
    s.draw(&Diagnostic::new(message, at))
}

/// What follows a command, as a word.
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
    let mut all = Vec::new();
    display::nodes(&value, &mut all);
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

fn loops(s: &mut Session, at: Span, clustering: Clustering) -> Result<stages::Loops, String> {
    let nodes = nodes(s, at)?;
    let graph = stages::graph_of(&nodes);
    let loops = graph.and_then(|g| g.plan(clustering).lower());
    loops.map_err(|e| s.fault(&e, at))
}

fn stages_of(s: &mut Session, at: Span) -> Result<String, String> {
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
        Ok(text + &format!("6. merged loops, optimised\n\n{merged}"))
    };
    all().map_err(|e: livefusion::Error| s.fault(&e, at))
}

/// Runs the expression on each backend, anew each time.
fn time(s: &mut Session, at: Span) -> Result<String, String> {
    const LONG: Duration = Duration::from_millis(200);
    let mut rows: Vec<(&str, Duration, Duration)> = Vec::new();
    let mut text = String::new();
    for name in BACKENDS {
        let engine = s.engine_of(name);
        let (mut first, mut best, mut all) = (None, Duration::MAX, Duration::ZERO);
        while all < LONG {
            let nodes = nodes(s, at)?;
            match s.force_on(&engine, &nodes) {
                Ok(time) => {
                    first.get_or_insert(time);
                    best = best.min(time);
                    all += time.max(Duration::from_micros(20));
                }
                Err(e) if matches!(e.kind, livefusion::ErrorKind::Backend(_)) => {
                    let _ = writeln!(text, "{name}: {}", e.kind);
                    break;
                }
                Err(e) => return Err(s.fault(&e, at)),
            }
        }
        rows.extend(first.map(|first| (*name, first, best)));
    }
    let bytes = {
        let nodes = nodes(s, at)?;
        let explained = s.engine.explain(&nodes);
        explained.map(|e| format!("reads {}, writes {}", e.traffic.reads, e.traffic.writes))
    };
    let fastest = rows.iter().map(|r| r.2).min().unwrap_or_default();
    for (name, first, best) in rows {
        let ratio = best.as_secs_f64() / fastest.as_secs_f64().max(1e-9);
        let _ = writeln!(
            text,
            "{name:<8}{:>10}  {ratio:>7.2} x   the first time {}",
            duration(best),
            duration(first)
        );
    }
    Ok(text + &bytes.map_or_else(|_| String::new(), |b| b + "\n"))
}

fn plotted(s: &mut Session, at: Span) -> Result<String, String> {
    let value = s.value_of(at)?;
    let Value::Array(array) = &value else {
        return Err(refuse(
            s,
            at,
            &format!("expected an array, got {}", value.describe()),
        ));
    };
    if array.elt.scalar().is_none() || array.node.rank != 1 {
        return Err(refuse(
            s,
            at,
            &format!("expected numbers along one axis, got {array}"),
        ));
    }
    let nodes = [array.node.clone()];
    s.force(&nodes).map_err(|e| s.fault(&e, at))?;
    match array.node.value.get() {
        Some(Memory::Array(columns)) => {
            let column = columns.first();
            let words = |c: &Arc<Buffer>| {
                (0..c.len())
                    .filter_map(|i| Some(Const::new(c.ty(), c.get_word(i)?)))
                    .collect()
            };
            let numbers: Vec<Const> = column.map_or_else(Vec::new, words);
            Ok(plot::bars(
                &numbers.into_iter().map(display::number).collect::<Vec<_>>(),
            ))
        }
        _ => Ok(String::new()),
    }
}

fn backend(s: &mut Session, at: Span) -> Result<String, String> {
    let name = word(s, at);
    if !name.is_empty() {
        let Some(known) = BACKENDS.iter().find(|b| **b == name) else {
            let known = BACKENDS.join(", ");
            return Err(refuse(
                s,
                at,
                &format!("expected one of {known}, got `{name}`"),
            ));
        };
        s.backend = known;
        s.rebuild();
    }
    Ok(format!("backend = {}\n", s.backend))
}

fn set(s: &mut Session, at: Span) -> Result<String, String> {
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
    Ok(format!(
        "show = {show}\ntypes = {types}\nmemory = {memory} MiB\n"
    ))
}

fn help(s: &mut Session, at: Span) -> Result<String, String> {
    let name = word(s, at);
    if name.is_empty() {
        let mut text = String::from("commands\n");
        for c in COMMANDS {
            let call = format!(":{} {}", c.name, c.argument);
            let _ = writeln!(text, "  {call:<20} {}", c.help);
        }
        let combinators: Vec<_> = combinators::all().map(|c| c.name).collect();
        let scalars: Vec<_> = SCALARS.iter().map(|f| f.name).collect();
        text += &format!("combinators\n{}", wrapped(&combinators));
        text += &format!("functions on scalars\n{}", wrapped(&scalars));
        text += "`:help NAME` says more; `:help grammar` has the language\n";
        return Ok(text);
    }
    if name == "grammar" {
        return Ok(grammar::show());
    }
    if let Some(c) = combinators::find(&name) {
        let mut text = format!("{}\n", c.signature());
        if !c.aliases.is_empty() {
            text += &format!("also {}\n", c.aliases.join(", "));
        }
        text += &docs::of(c.name).map_or_else(String::new, |d| format!("\n{d}\n"));
        return Ok(text + &format!("  {}\n", c.example));
    }
    if let Some(f) = SCALARS.iter().find(|f| f.name == name) {
        let text = docs::of(f.name).map_or_else(String::new, |d| format!("\n{d}\n"));
        return Ok(format!(
            "{}: a function on scalars\n{text}  {}\n",
            f.name, f.example
        ));
    }
    if let Some(c) = find(name.trim_start_matches(':')) {
        return Ok(format!(":{} {}\n  {}\n", c.name, c.argument, c.help));
    }
    let mut unknown = Diagnostic::new(format!("there is no `{name}`"), at);
    let known = combinators::names().chain(COMMANDS.iter().map(|c| c.name));
    for other in nearest(&name, known) {
        unknown = unknown.note(format!("you may have meant `{other}`"));
    }
    Err(s.draw(&unknown))
}

/// Names in lines that are not too long.
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

/// Members of what a name stands for, for completion: the columns of a table.
pub fn members(s: &Session, name: &str) -> Vec<String> {
    match s.env.get(name) {
        Some(Value::Table(t)) => t.names().map(String::from).collect(),
        _ => Vec::new(),
    }
}
