//! A session: texts that came one after the other, the names that they gave, the engine that runs them.

use crate::commands;
use crate::diagnostic::Diagnostic;
use crate::display::{self, Limit};
use crate::eval::{Eval, Places};
use crate::parser::{ParseError, parse};
use crate::rust::Notes;
use crate::shell::command;
use crate::source::{SourceId, Sources, Span};
use crate::syntax::{Script, Statement, StatementKind};
use crate::value::{Env, Value};
use crate::{combinators, holes};
use livefusion::ast::Node;
use livefusion::runtime::force_nodes;
use livefusion::{CancelToken, Engine, ErrorKind, Progress};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Trees are walked by recursion, whose depth is limited: so much stack is enough for it.
const STACK: usize = 256 << 20;

/// Runs what has a session, on a thread with the stack that one needs. None if there can be no such thread, or it panics.
///
/// ```
/// use livefusion_repl::session::{Session, on_stack};
/// let answer = on_stack(|| Session::new().submit("<1>", "(1..=100).sum()"));
/// assert_eq!(answer.unwrap().out, "5050\n");
/// ```
pub fn on_stack<T: Send>(f: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        thread.spawn_scoped(scope, f).ok()?.join().ok()
    })
}

/// So long a force says nothing of how far it is.
const QUIET: Duration = Duration::from_millis(500);

/// What a text gave.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// What to print on the standard output.
    pub out: String,
    /// What is wrong, drawn, for the standard error stream.
    pub err: String,
    /// Whether the session is to end.
    pub quit: bool,
}

/// Stops what runs, from another thread.
#[derive(Clone, Default, Debug)]
pub struct Stop(Arc<Mutex<Option<CancelToken>>>);

impl Stop {
    /// Stops what runs now; false if nothing does.
    pub fn stop(&self) -> bool {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.as_ref().inspect(|t| t.cancel()).is_some()
    }

    fn set(&self, token: Option<CancelToken>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = token;
    }
}

/// What `:set` sets.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How much of an array is shown.
    pub show: Limit,
    /// Whether types and times stand below values.
    pub types: bool,
    /// How many threads run one loop.
    pub threads: usize,
    /// How many bytes the results of one force may take.
    pub memory: u64,
}

/// A session.
pub struct Session {
    /// All texts.
    pub sources: Sources,
    /// What was named.
    pub env: Env,
    /// What runs loops.
    pub engine: Engine,
    /// The name of the backend, as `:backend` takes it.
    pub backend: &'static str,
    /// What `:set` sets.
    pub settings: Settings,
    /// Whether errors are drawn in colours.
    pub colours: bool,
    /// Statements that were good, for `:save`.
    pub entered: Vec<String>,
    /// The folder that names of files begin at.
    pub folder: PathBuf,
    /// Whether long forces say on the standard error stream how far they are.
    pub progress: bool,
    /// Stops a force.
    pub stop: Stop,
    places: Places,
}

impl Default for Session {
    fn default() -> Session {
        Session::new()
    }
}

/// Values to be shown, and where they stand.
type Shown = Vec<(Value, Span)>;

impl Session {
    /// An empty session on the interpreter.
    pub fn new() -> Session {
        let settings = Settings {
            show: Limit(20),
            types: false,
            threads: 1,
            memory: 8 << 30,
        };
        let mut session = Session {
            sources: Sources::default(),
            env: Env::default(),
            engine: Engine::interp(),
            backend: "interp",
            settings,
            colours: false,
            entered: Vec::new(),
            folder: PathBuf::from("."),
            progress: false,
            stop: Stop::default(),
            places: Places::default(),
        };
        session.rebuild();
        session
    }

    /// The engine of the settings of now.
    pub fn rebuild(&mut self) {
        self.engine = self.engine_of(self.backend);
    }

    /// An engine on this backend.
    pub fn engine_of(&self, backend: &str) -> Engine {
        let builder = Engine::builder()
            .threads(self.settings.threads)
            .memory_limit(self.settings.memory);
        match backend {
            "c" => builder.only_c(),
            "jit" => builder.backend(Arc::new(livefusion_jit::JitBackend::new())),
            "tiered" => builder,
            _ => builder.backend(Arc::new(livefusion_interp::InterpBackend::new())),
        }
        .build()
    }

    /// Takes a text: statements, or a command.
    pub fn submit(&mut self, name: &str, text: &str) -> Answer {
        match command(text) {
            Some((word, rest)) => {
                let source = self.sources.add(name, text);
                let start = text.len() - rest.len();
                commands::run(
                    self,
                    word,
                    Span {
                        source,
                        start,
                        end: text.len(),
                    },
                )
            }
            None => {
                let source = self.sources.add(name, text);
                self.script(source, text)
            }
        }
    }

    fn script(&mut self, source: SourceId, text: &str) -> Answer {
        let mut answer = Answer::default();
        let shown = self.values(source, true);
        match shown {
            Ok(shown) => {
                self.show_all(&shown, &mut answer);
                if answer.err.is_empty() && !text.trim().is_empty() {
                    self.entered.push(text.trim().to_string());
                }
            }
            Err((shown, err)) => {
                self.show_all(&shown, &mut answer);
                answer.err += &err;
            }
        }
        answer
    }

    /// Evaluates a text: the values that it shows. On a mistake, those before it, and the mistake, drawn. With `keep`, names
    /// are kept.
    fn values(&mut self, source: SourceId, keep: bool) -> Result<Shown, (Shown, String)> {
        let parsed = parse(&self.sources, source);
        self.evaluated(parsed, keep)
    }

    /// Whether an argument is a function: one of what nobody knows is, too, as that it is misspelt is what has to be said.
    fn takes_function(&self, name: &str, k: usize) -> bool {
        let known = self.env.get(name).is_some() || combinators::value(name).is_some();
        combinators::takes_function(name, k) || !known && k > 0
    }

    fn evaluated(
        &mut self,
        parsed: Result<Script, ParseError>,
        keep: bool,
    ) -> Result<Shown, (Shown, String)> {
        let mut script = match parsed {
            Ok(script) => script,
            Err(e) => return Err((Vec::new(), e.draw(&self.sources, self.colours) + "\n")),
        };
        if let Err(e) = holes::fill(&mut script, &|name, k| self.takes_function(name, k)) {
            return Err((Vec::new(), self.draw(&e)));
        }
        let mut shown = Vec::new();
        let mut env = self.env.clone();
        let mut eval = Eval::new(&self.sources, &mut self.places, &self.folder);
        for s in &script.statements {
            match eval.statement(&mut env, s) {
                Ok(value) => shown.extend(value.map(|v| (v, s.span))),
                Err(e) => {
                    if keep {
                        self.env = env;
                    }
                    return Err((shown, self.draw(&e)));
                }
            }
        }
        // A range is shown as the array that it is wherever one is wanted.
        for (value, span) in &mut shown {
            if let Value::Range(range) = value
                && range.end.is_some()
            {
                match eval.range((**range).clone(), *span) {
                    Ok(array) => *value = Value::Array(array),
                    Err(e) => return Err((Vec::new(), self.draw(&e))),
                }
            }
        }
        if keep {
            self.env = env;
        }
        Ok(shown)
    }

    /// A command's whole text, and its expression alone: it keeps its place, so that mistakes point into the line that was
    /// typed.
    fn expression(&self, at: Span) -> (String, String) {
        let full = self.sources.text(at.source).to_string();
        let blank = |c: char| match c {
            '\n' => "\n".to_string(),
            c => " ".repeat(c.len_utf8()),
        };
        let before: String = full[..at.start].chars().map(blank).collect();
        let text = before + &full[at.start..];
        (full, text)
    }

    /// The value of a command's expression, which is the last that its text shows.
    pub fn value_of(&mut self, at: Span) -> Result<Value, String> {
        let (full, text) = self.expression(at);
        let name = self.sources.name(at.source).to_string();
        let source = self.sources.add(name, text);
        let parsed = parse(&self.sources, source);
        self.sources.uncover(source, &full);
        let shown = self.evaluated(parsed, false).map_err(|(_, e)| e)?;
        match shown.into_iter().next_back() {
            Some((value, _)) => Ok(value),
            None => Err(self.draw(&Diagnostic::new("expected an expression", at))),
        }
    }

    /// What was typed so far, then a command's expression: the statements, evaluated anew, and what became of each expression.
    pub fn noted(&mut self, at: Span) -> Result<(Vec<Statement>, Notes), String> {
        let (full, text) = self.expression(at);
        let name = self.sources.name(at.source).to_string();
        let mut texts: Vec<(String, String, Option<String>)> = Vec::new();
        let entered = self.entered.iter().cloned();
        texts.extend(entered.map(|text| ("<before>".to_string(), text, None)));
        texts.push((name, text, Some(full)));
        let mut statements = Vec::new();
        for (name, text, shown) in texts {
            let source = self.sources.add(name, text);
            let parsed = parse(&self.sources, source);
            if let Some(shown) = &shown {
                self.sources.uncover(source, shown);
            }
            let mut script = match parsed {
                Ok(script) => script,
                Err(e) => return Err(e.draw(&self.sources, self.colours) + "\n"),
            };
            if let Err(e) = holes::fill(&mut script, &|name, k| self.takes_function(name, k)) {
                return Err(self.draw(&e));
            }
            // What was shown before is not shown again, nor saved.
            let named = |s: &Statement| !matches!(s.kind, StatementKind::Show(_));
            let own = shown.is_some();
            let kept = script.statements.into_iter().filter(|s| own || named(s));
            statements.extend(kept);
        }
        let mut eval = Eval::new(&self.sources, &mut self.places, &self.folder);
        eval.notes = Some(Notes::default());
        let mut env = Env::default();
        for s in &statements {
            if let Err(e) = eval.statement(&mut env, s) {
                return Err(self.draw(&e));
            }
        }
        let notes = eval.notes.take().unwrap_or_default();
        Ok((statements, notes))
    }

    /// Shows values, all forced at once so that they share loops; one by one if that fails, so that an error hides only what
    /// it concerns.
    fn show_all(&mut self, shown: &[(Value, Span)], answer: &mut Answer) {
        let mut all = Vec::new();
        shown.iter().for_each(|(v, _)| display::nodes(v, &mut all));
        let together = self.force(&all);
        for (value, span) in shown {
            let mut own = Vec::new();
            display::nodes(value, &mut own);
            let time = match &together {
                Ok(time) => *time,
                // Whoever stopped it wants no other try.
                Err(e) if e.kind == ErrorKind::Cancelled => {
                    answer.err += &self.fault(e, *span);
                    break;
                }
                Err(_) => match self.force(&own) {
                    Ok(time) => time,
                    Err(e) => {
                        answer.err += &self.fault(&e, *span);
                        continue;
                    }
                },
            };
            // What only saves has nothing to show.
            if matches!(value, Value::Tuple(parts) if parts.is_empty()) {
                continue;
            }
            answer.out += &display::show(value, self.settings.show);
            answer.out.push('\n');
            if self.settings.types {
                let took = match own.is_empty() {
                    true => String::new(),
                    false => format!(", {}", duration(time)),
                };
                let (on, off) = if self.colours {
                    ("\x1b[90m", "\x1b[0m")
                } else {
                    ("", "")
                };
                answer.out += &format!("{on}  {}{took}{off}\n", value.ty());
            }
        }
    }

    /// Computes nodes, and how long it took.
    pub fn force(&self, nodes: &[Arc<Node>]) -> livefusion::Result<Duration> {
        self.force_on(&self.engine, nodes)
    }

    /// Computes nodes on an engine. [`Stop`] stops it.
    pub fn force_on(&self, engine: &Engine, nodes: &[Arc<Node>]) -> livefusion::Result<Duration> {
        let token = CancelToken::new();
        self.stop.set(Some(token.clone()));
        let start = Instant::now();
        let mut engine = engine.with_cancel(token);
        if self.progress {
            engine = engine.with_progress(move |p| {
                if start.elapsed() > QUIET {
                    eprint!("\r{}", far(&p));
                }
            });
        }
        let forced = force_nodes(&engine, nodes);
        let time = start.elapsed();
        if self.progress && time > QUIET {
            eprint!("\r\x1b[K");
        }
        self.stop.set(None);
        forced.map(|_| time)
    }

    /// A mistake of the library's, drawn.
    pub fn fault(&self, e: &livefusion::Error, at: Span) -> String {
        self.draw(&self.places.fault(e, at))
    }

    /// A mistake, drawn.
    pub fn draw(&self, e: &Diagnostic) -> String {
        e.draw(&self.sources, self.colours) + "\n"
    }

    /// Takes a file's text, whose lines may be commands.
    pub fn load(&mut self, path: &Path) -> std::io::Result<Answer> {
        let text = std::fs::read_to_string(self.folder.join(path))?;
        Ok(self.run(&path.display().to_string(), &text))
    }

    /// Takes the text of a script, in which lines that begin with `:` are commands. It ends with the first mistake.
    pub fn run(&mut self, name: &str, text: &str) -> Answer {
        let mut all = Answer::default();
        // Each part stands behind as many line ends as before it, so that lines are counted as in the file.
        let mut part = String::new();
        let mut parts = Vec::new();
        for (lines, line) in text.lines().enumerate() {
            let is_command = line.trim_start().starts_with(':');
            if is_command {
                parts.push(std::mem::replace(&mut part, "\n".repeat(lines + 1)));
                parts.push("\n".repeat(lines) + line);
            } else {
                part += line;
                part.push('\n');
            }
        }
        parts.push(part);
        for part in parts.iter().filter(|p| !p.trim().is_empty()) {
            let answer = self.submit(name, part);
            all.out += &answer.out;
            all.err += &answer.err;
            all.quit |= answer.quit;
            if all.quit || !all.err.is_empty() {
                break;
            }
        }
        all
    }
}

/// How far a force is.
fn far(p: &Progress) -> String {
    let done = match p.total.filter(|n| *n > 0) {
        Some(n) => format!("{:3.0} %", p.steps as f64 * 100.0 / n as f64),
        None => format!("{} elements", p.steps),
    };
    format!("loop {} of {}: {done}", p.loop_index + 1, p.loops)
}

/// A time as people read it.
pub fn duration(time: Duration) -> String {
    let ns = time.as_nanos();
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.1} µs", ns as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.2} ms", ns as f64 / 1e6),
        _ => format!("{:.2} s", ns as f64 / 1e9),
    }
}
