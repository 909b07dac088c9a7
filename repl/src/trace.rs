//! `:trace`: single-stepping a value's loops in the interpreter.
//!
//! Each row is a block entry, a statement, or a test that may leave a block. Next to it are its
//! combinator, its operands and its results.

use crate::display;
use crate::session::{Answer, Session};
use crate::source::Span;
use crate::value::Value;
use livefusion::ast::Node;
use livefusion::runtime::{ExplainedApart, ExplainedLoop, ExplainedNode, Explanation};
use livefusion::{Engine, ErrorKind};
use livefusion_interp::InterpBackend;
use livefusion_interp::observe::{Event, Observer, Step};
use loop_lang::Loop;
use loop_lang::ir::{Atom, CombId, Place, Section, Stmt, StmtKind, Var};
use loop_lang::types::Const;
use loop_lang::walk;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

/// The number of steps shown without interaction.
const STEPS: u64 = 100;
/// Longer statements push later columns to the right.
const WIDEST: usize = 44;

/// Lists replies to a prompt for more steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reply {
    /// One step.
    Step,
    /// Up to the next element, where a guard is entered.
    Element,
    /// To the end, without further prompts.
    On,
    /// Stop.
    Quit,
}

/// Describes how steps are shown.
pub enum Pace {
    /// This number of steps, from the first.
    First(u64),
    /// On request; the callback receives the rows since the last request.
    Asked(Box<dyn FnMut(&str) -> Reply + Send>),
}

/// Runs the command.
pub fn command(s: &mut Session, at: Span) -> Result<Answer, String> {
    let (limit, at) = limit(s, at);
    let asks = s.progress && std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let pace = match limit {
        None if asks => {
            println!("Enter: a step, n: the next element, c: on to the end, q: quit");
            Pace::Asked(Box::new(ask))
        }
        limit => Pace::First(limit.unwrap_or(STEPS)),
    };
    // The steps already show the progress.
    let progress = std::mem::take(&mut s.progress);
    let traced = trace(s, at, pace);
    s.progress = progress;
    traced.map(Answer::of)
}

fn ask(rows: &str) -> Reply {
    print!("{rows}");
    let _ = std::io::stdout().flush();
    let mut line = String::new();
    match std::io::stdin().read_line(&mut line) {
        Ok(0) | Err(_) => Reply::Quit,
        Ok(_) => match line.trim() {
            "n" => Reply::Element,
            "c" => Reply::On,
            "q" => Reply::Quit,
            _ => Reply::Step,
        },
    }
}

/// A number of steps before an expression. In `2 * xs`, the number is part of the expression.
fn limit(s: &Session, at: Span) -> (Option<u64>, Span) {
    let text = s.sources.slice(at);
    let rest = text.trim_start();
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, behind) = rest.split_at(digits);
    let expression = behind.trim_start();
    let begins = |c: char| c.is_alphanumeric() || "([{\"_".contains(c);
    let other = expression.starts_with("as ") || !behind.starts_with(char::is_whitespace);
    match number.parse() {
        Ok(n) if !other && expression.starts_with(begins) => {
            let start = at.end - expression.len();
            (Some(n), Span { start, ..at })
        }
        _ => (None, at),
    }
}

/// Computes a value step by step.
///
/// Returns the rows that no callback received, and the value.
///
/// # Errors
/// Returns the rows and the rendered error.
pub fn trace(s: &mut Session, at: Span, pace: Pace) -> Result<String, String> {
    let value = s.value_of(at)?;
    let mut nodes: Vec<Arc<Node>> = Vec::new();
    display::nodes(&value, &mut nodes);
    let explained = s
        .engine_of("interp")
        .explain(&nodes)
        .map_err(|e| s.fault(&e, at))?;
    let mut known = Vec::new();
    loops(&explained, &mut known);
    let file = format!("{}:", s.sources.name(at.source));
    let tracer = Arc::new(Tracer {
        widths: widths(&known, &file),
        file,
        known,
        quit: s.stop.clone(),
        state: Mutex::new(State {
            pace,
            reply: Reply::Step,
            rows: String::new(),
            steps: 0,
            shown: 0,
        }),
    });
    let engine = Engine::builder()
        .threads(1)
        .memory_limit(s.settings.memory)
        .backend(Arc::new(InterpBackend::observed(tracer.clone())))
        .build();
    // Quitting stops the force.
    let first = s.stop.begin();
    let forced = s.force_on(&engine, &nodes);
    if first {
        s.stop.end();
    }
    let mut state = tracer.state();
    let mut text = std::mem::take(&mut state.rows);
    match state.steps - state.shown {
        _ if state.reply == Reply::Quit => {}
        0 => {}
        left => {
            let _ = writeln!(text, "… and {left} more steps");
        }
    }
    match forced {
        Ok(_) if state.steps == 0 => Ok("nothing has to be computed\n".into()),
        Ok(_) => Ok(format!("{text}{}\n", result(&value, s))),
        Err(e) if e.kind == ErrorKind::Cancelled && state.reply == Reply::Quit => Ok(text),
        Err(e) => Err(text + &s.fault(&e, at)),
    }
}

fn result(value: &Value, s: &Session) -> String {
    let shown = display::show(value, s.settings.show);
    format!("= {}", shown.replace('\n', "\n  "))
}

/// All loops in execution order: loops of external parts come first.
fn loops(explained: &Explanation, out: &mut Vec<ExplainedLoop>) {
    let parts = explained.apart.iter().flat_map(ExplainedApart::parts);
    parts.for_each(|part| loops(part, out));
    out.extend(explained.loops.iter().cloned());
}

/// The widths of the columns of combinators and of statements.
fn widths(known: &[ExplainedLoop], file: &str) -> [usize; 2] {
    let mut statements = 0;
    for l in known {
        for (_, block) in l.program.blocks.iter() {
            let mut see = |s: &Stmt| {
                let width = l.program.line(s).chars().count();
                statements = statements.max(width);
            };
            block.stmts.iter().for_each(|s| walk::each(s, &mut see));
        }
    }
    let nodes = known.iter().flat_map(|l| &l.nodes);
    let combs = nodes.map(|n| call(n, file).chars().count());
    [combs.max().unwrap_or(0), statements.min(WIDEST)]
}

/// The user's call and its location, without the name of the traced text.
fn call(node: &ExplainedNode, file: &str) -> String {
    let place = node.loc.to_string();
    format!(
        "{} {}",
        node.name,
        place.strip_prefix(file).unwrap_or(&place)
    )
}

struct Tracer {
    /// The prefix of locations in the traced text.
    file: String,
    known: Vec<ExplainedLoop>,
    widths: [usize; 2],
    quit: crate::session::Stop,
    state: Mutex<State>,
}

struct State {
    pace: Pace,
    reply: Reply,
    /// Rows that no callback received.
    rows: String,
    steps: u64,
    shown: u64,
}

impl Observer for Tracer {
    fn observe(&self, step: &Step<'_>) -> bool {
        let mut state = self.state();
        let state = &mut *state;
        if state.reply == Reply::Quit {
            return false;
        }
        state.steps += 1;
        let shows = match state.pace {
            Pace::First(n) => state.steps <= n,
            Pace::Asked(_) => state.reply != Reply::On,
        };
        if !shows {
            return true;
        }
        state.shown = state.steps;
        if is_at(step, Section::Init) {
            state.rows += &self.head(step.program);
        }
        state.rows += &self.row(state.steps, step);
        let due = state.reply == Reply::Step || is_at(step, Section::Guard);
        if let Pace::Asked(ask) = &mut state.pace
            && due
        {
            state.reply = ask(&std::mem::take(&mut state.rows));
        }
        if state.reply == Reply::Quit {
            self.quit.stop();
        }
        state.reply != Reply::Quit
    }
}

/// Whether the step enters a block of this section.
fn is_at(step: &Step<'_>, wanted: Section) -> bool {
    let entered = matches!(step.event, Event::Enter);
    entered
        && match step.place {
            Place::Init => wanted == Section::Init,
            Place::Return => wanted == Section::Done,
            Place::At { section, .. } => wanted == section,
        }
}

impl Tracer {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The index of the loop among the known ones. A sizing loop has the same combinators as its
    /// main loop.
    fn find(&self, program: &Loop) -> Option<usize> {
        let same = |l: &ExplainedLoop| l.program.combs == program.combs;
        self.known.iter().position(same)
    }

    /// The line before a loop's first step.
    fn head(&self, program: &Loop) -> String {
        let names: Vec<_> = program.combs.iter().map(|c| c.kind.as_str()).collect();
        let names = names.join(", ");
        match self.find(program) {
            Some(k) => format!("loop {} of {}: {names}\n", k + 1, self.known.len()),
            None => format!("a loop: {names}\n"),
        }
    }

    fn row(&self, number: u64, step: &Step<'_>) -> String {
        let program = step.program;
        let (block, comb, text) = match step.event {
            Event::Enter => (block(program, step.place), None, String::new()),
            Event::Statement(stmt) => (String::new(), Some(stmt.comb), program.line(stmt)),
            Event::Exit(exit) => {
                let condition = atom(program, exit.unless);
                (
                    String::new(),
                    Some(exit.comb),
                    format!("unless {condition}"),
                )
            }
            Event::Return => (String::new(), None, "return".into()),
        };
        let comb = comb.map_or_else(String::new, |c| self.comb(program, c));
        let mut values: Vec<String> = step
            .values
            .iter()
            .map(|(v, c)| format!("{} = {}", program.name(*v), c.bare()))
            .collect();
        values.extend(turn(step));
        let values = values.join("  ");
        let [combs, texts] = self.widths;
        let row = format!("{number:>5}  {block:<10}  {comb:<combs$}  {text:<texts$}  {values}");
        row.trim_end().to_string() + "\n"
    }

    /// The user's call of a loop's combinator.
    fn comb(&self, program: &Loop, comb: CombId) -> String {
        let node = |k: usize| self.known[k].nodes.get(comb.index());
        match self.find(program).and_then(node) {
            Some(node) => call(node, &self.file),
            None => program.comb(comb).kind.clone(),
        }
    }
}

/// A block by its section and its rate.
fn block(program: &Loop, place: Place) -> String {
    match place {
        Place::Init => "init".into(),
        Place::Return => "done".into(),
        Place::At { rate, section, .. } => {
            format!("{} {}", section.name(), program.rate(rate).name)
        }
    }
}

fn atom(program: &Loop, a: Atom) -> String {
    match a {
        Atom::Var(v) => program.name(v).into(),
        Atom::Const(c) => c.bare(),
    }
}

/// The target of a test that leaves the block.
fn turn(step: &Step<'_>) -> Option<String> {
    let holds = |a: Atom| match a {
        Atom::Var(v) => {
            let value = |(known, c): &&(Var, Const)| *known == v && c.bits != 0;
            step.values.iter().find(value).is_some()
        }
        Atom::Const(c) => c.bits != 0,
    };
    match step.event {
        Event::Exit(exit) if !holds(exit.unless) => {
            let target = exit.target.map(|l| step.program.label_name(l));
            Some(format!("→ {}", target.unwrap_or_default()))
        }
        Event::Statement(Stmt {
            kind: StmtKind::Trap { unless, .. },
            ..
        }) if !holds(*unless) => Some("→ trap".into()),
        _ => None,
    }
}
