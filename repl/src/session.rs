//! Sessions: the texts of a user, their definitions, and the engine.

use crate::commands;
use crate::diagnostic::Diagnostic;
use crate::display::{self, Limit, duration};
use crate::eval::{self, Eval, Loaded, Places};
use crate::parser::{ParseError, parse_part};
use crate::progress::Reports;
use crate::rust::{Notes, needed};
use crate::shell::command;
use crate::source::{SourceId, Sources, Span};
use crate::syntax::{Script, Statement, StatementKind};
use crate::value::{Env, Value};
use crate::{combinators, holes};
use livefusion::ast::Node;
use livefusion::runtime::force_nodes;
use livefusion::{CancelToken, Engine, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The stack size of the session thread. Recursion over trees has limited depth, and this stack
/// suffices for it.
const STACK: usize = 256 << 20;

/// Runs a session on a thread with a large stack.
///
/// Returns `None` if the thread cannot start, or panics.
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

/// Holds the result of a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The text for standard output.
    pub out: String,
    /// The rendered errors, for standard error.
    pub err: String,
    /// Whether the session ends.
    pub quit: bool,
}

impl Answer {
    /// Creates an answer with output and without errors.
    pub fn of(out: impl ToString) -> Answer {
        Answer {
            out: out.to_string(),
            ..Answer::default()
        }
    }
}

/// Stops the running text from another thread.
#[derive(Clone, Default, Debug)]
pub struct Stop(Arc<Mutex<Option<CancelToken>>>);

impl Stop {
    /// Stops the running text, or returns false without one.
    pub fn stop(&self) -> bool {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.as_ref().inspect(|t| t.cancel()).is_some()
    }

    /// The token of the running text, or a new one.
    fn token(&self) -> CancelToken {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.clone().unwrap_or_default()
    }

    /// Begins a text. Returns false if it is part of another text.
    pub(crate) fn begin(&self) -> bool {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let first = running.is_none();
        running.get_or_insert_default();
        first
    }

    /// Lets the running text continue after its token was cancelled.
    fn renew(&self) {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(token) = running.as_mut() {
            *token = CancelToken::new();
        }
    }

    pub(crate) fn end(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Holds the values of `:set`.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How much of an array is shown.
    pub show: Limit,
    /// Whether types and times appear below values.
    pub types: bool,
    /// The number of threads per loop.
    pub threads: usize,
    /// The memory limit for the results of one force, in bytes.
    pub memory: u64,
    /// The longest run of a backend that `:time` waits for.
    pub patience: Duration,
}

/// Holds the state of a session.
pub struct Session {
    /// All texts.
    pub sources: Sources,
    /// The defined names.
    pub env: Env,
    /// The engine that runs loops.
    pub engine: Engine,
    /// The name of the backend, as in `:backend`.
    pub backend: &'static str,
    /// The values of `:set`.
    pub settings: Settings,
    /// Whether errors are coloured.
    pub colours: bool,
    /// The successful statements, for `:save`.
    pub entered: Vec<String>,
    /// The complete input.
    pub typed: Vec<String>,
    /// The successful definitions, in their order.
    bindings: Vec<Statement>,
    /// The names before each definition, and the number of successful statements then.
    before: Vec<(Env, usize)>,
    /// The nesting depth of `:load`.
    loading: usize,
    /// The folder for relative file names.
    pub folder: PathBuf,
    /// Whether long forces are reported.
    pub progress: bool,
    /// Reports of long forces.
    pub reports: Reports,
    /// Stops a force.
    pub stop: Stop,
    places: Places,
}

impl Default for Session {
    fn default() -> Session {
        Session::new()
    }
}

/// The limit on nested loads of scripts.
const MAX_LOADS: usize = 32;

/// Converts ranges to arrays for display.
fn arrays(eval: &mut Eval<'_>, value: Value, at: Span) -> eval::Result<Value> {
    Ok(match value {
        Value::Range(range) if range.end.is_some() => Value::Array(eval.range(*range, at)?),
        Value::Tuple(parts) => {
            let parts = parts.into_iter().map(|part| arrays(eval, part, at));
            Value::Tuple(parts.collect::<eval::Result<_>>()?)
        }
        other => other,
    })
}

impl Session {
    /// Creates an empty session on the tiered engine.
    ///
    /// That engine starts at once, and compiles long loops.
    pub fn new() -> Session {
        let settings = Settings {
            show: Limit(20),
            types: false,
            threads: 1,
            memory: 8 << 30,
            patience: Duration::from_secs(2),
        };
        let mut session = Session {
            sources: Sources::default(),
            env: Env::default(),
            engine: Engine::interp(),
            backend: "tiered",
            settings,
            colours: false,
            entered: Vec::new(),
            typed: Vec::new(),
            bindings: Vec::new(),
            before: Vec::new(),
            loading: 0,
            folder: PathBuf::from("."),
            progress: false,
            reports: Reports::default(),
            stop: Stop::default(),
            places: Places::default(),
        };
        session.rebuild();
        session
    }

    /// Rebuilds the engine from the current settings.
    pub fn rebuild(&mut self) {
        self.engine = self.engine_of(self.backend);
    }

    /// Creates an engine on this backend.
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

    /// Runs a text, which is statements or a command.
    pub fn submit(&mut self, name: &str, text: &str) -> Answer {
        let first = self.stop.begin();
        let answer = self.taken(name, text);
        if first {
            self.typed.push(text.trim_start().to_string());
            self.stop.end();
        }
        answer
    }

    fn taken(&mut self, name: &str, text: &str) -> Answer {
        let own = |word: &str| self.env.get(word).is_some();
        let bare = || commands::bare(text).filter(|(word, _)| !own(word));
        match command(text).or_else(bare) {
            Some((word, rest)) => {
                let source = self.sources.add(name, text);
                let rest = rest.trim();
                // It is a part of the text.
                let start = rest.as_ptr().addr() - text.as_ptr().addr();
                let end = start + rest.len();
                commands::run(self, word, Span { source, start, end })
            }
            None => {
                let source = self.sources.add(name, text);
                self.script(source, text)
            }
        }
    }

    fn script(&mut self, source: SourceId, text: &str) -> Answer {
        let mut answer = Answer::default();
        // Statements before an error run.
        let (script, mistake) = self.filled(parse_part(text, source));
        let (mut good, mut failed) = (Vec::new(), Vec::new());
        let (mut shown, mut env, mut err) = (Vec::new(), self.env.clone(), String::new());
        let entered = self.entered.len();
        for s in script.statements {
            let named = !matches!(s.kind, StatementKind::Show(_));
            let before = named.then(|| env.clone());
            match self.statement(&mut env, &s) {
                Ok(value) => {
                    // Later statements may read the written file.
                    let saves = value.as_ref().is_some_and(Value::only_saves);
                    shown.extend(value.map(|v| (v, s.span)));
                    self.before.extend(before.map(|env| (env, entered)));
                    good.push(s);
                    if saves {
                        failed.extend(self.show_all(&shown, &mut answer));
                        shown.clear();
                    }
                    if !failed.is_empty() {
                        break;
                    }
                }
                Err(e) => {
                    err = e;
                    break;
                }
            }
        }
        failed.extend(self.show_all(&shown, &mut answer));
        if err.is_empty() && failed.is_empty() {
            err = mistake.unwrap_or_default();
        }
        answer.err += &err;
        self.env = env;
        match answer.err.is_empty() {
            true if text.trim().is_empty() => {}
            // As typed, with its comments.
            true => self.entered.push(text.trim().to_string()),
            false => {
                let good = good.iter().map(|s| s.span);
                let good = good.filter(|span| !failed.contains(span));
                let texts = good.map(|span| self.sources.slice(span).to_string());
                self.entered.extend(texts);
            }
        }
        let names = |s: &Statement| !matches!(s.kind, StatementKind::Show(_));
        self.bindings.extend(good.into_iter().filter(names));
        answer
    }

    /// The tree of a text up to its first error, with all holes filled, and the rendered error.
    fn filled(&self, parsed: (Script, Option<ParseError>)) -> (Script, Option<String>) {
        let (mut script, wrong) = parsed;
        let mistake = wrong.map(|e| e.draw(&self.sources, self.colours) + "\n");
        // An unknown name takes a function too. Otherwise the hole would be reported instead of the
        // misspelt name.
        let takes = |name: &str, k: usize| match combinators::value(name) {
            _ if self.env.get(name).is_some() => false,
            Some(_) => combinators::takes_function(name, k),
            None => k > 0,
        };
        match holes::fill(&mut script, &takes) {
            Ok(()) => (script, mistake),
            Err(e) => {
                script.statements.retain(|s| s.span.end <= e.span.start);
                (script, Some(self.draw(&e)))
            }
        }
    }

    /// Evaluates a statement. Returns the value to show, or a rendered error.
    fn statement(&mut self, env: &mut Env, s: &Statement) -> Result<Option<Value>, String> {
        let mut eval = Eval::new(&self.sources, &mut self.places, &self.folder);
        eval.stop = self.stop.token();
        let value = eval.statement(env, s);
        let value = value.and_then(|v| v.map(|v| arrays(&mut eval, v, s.span)).transpose());
        value.map_err(|e| self.draw(&e))
    }

    /// Reverts the last definition and all later input.
    ///
    /// Returns the definition's text.
    pub fn undo(&mut self) -> Option<String> {
        let (env, entered) = self.before.pop()?;
        let last = self.bindings.pop()?;
        self.env = env;
        self.entered.truncate(entered);
        Some(self.sources.slice(last.span).to_string())
    }

    /// The expression of a command.
    fn expression(&self, at: Span) -> Result<Script, String> {
        // Blanks replace the text before it, so that locations stay valid.
        let blank = |c: char| match c {
            '\n' => "\n".to_string(),
            c => " ".repeat(c.len_utf8()),
        };
        let text = self.sources.text(at.source);
        let before: String = text[..at.start].chars().map(blank).collect();
        match self.filled(parse_part(&(before + &text[at.start..at.end]), at.source)) {
            (script, None) => Ok(script),
            (_, Some(mistake)) => Err(mistake),
        }
    }

    /// Evaluates a command's expression.
    ///
    /// The value is the last one that its text shows.
    pub fn value_of(&mut self, at: Span) -> Result<Value, String> {
        let (mut env, mut last) = (self.env.clone(), None);
        for s in self.expression(at)?.statements {
            last = self.statement(&mut env, &s)?.or(last);
        }
        last.ok_or_else(|| self.draw(&Diagnostic::new("expected an expression", at)))
    }

    /// Evaluates a command's expression again, including its definitions.
    ///
    /// Only literals and file contents are in memory. Unused names are skipped. Files are read once
    /// per `loaded` cache.
    pub fn value_anew(&mut self, at: Span, loaded: &mut Loaded) -> Result<Value, String> {
        let mut statements = self.bindings.clone();
        statements.extend(self.expression(at)?.statements);
        let mut env = Env::default();
        let mut eval = Eval::new(&self.sources, &mut self.places, &self.folder);
        eval.loaded = Some(loaded);
        eval.stop = self.stop.token();
        let is_before = |s: &&Statement| s.span.source != at.source;
        for s in needed(&statements).into_iter().filter(is_before) {
            if let Err(e) = eval.statement(&mut env, s) {
                return Err(self.draw(&e));
            }
        }
        let before = std::mem::replace(&mut self.env, env);
        let value = self.value_of(at);
        self.env = before;
        value
    }

    /// Evaluates the definitions and a command's expression with notes.
    ///
    /// Returns the statements and the notes of each expression.
    pub fn noted(&mut self, at: Span) -> Result<(Vec<Statement>, Notes), String> {
        let mut statements = self.bindings.clone();
        statements.extend(self.expression(at)?.statements);
        let mut eval = Eval::new(&self.sources, &mut self.places, &self.folder);
        eval.stop = self.stop.token();
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

    /// Shows values. It forces all of them together, so that they share loops. If that fails, it
    /// forces them one by one, so that an error hides only its own value. Returns the locations of
    /// failed values.
    fn show_all(&mut self, shown: &[(Value, Span)], answer: &mut Answer) -> Vec<Span> {
        let mut all = Vec::new();
        shown.iter().for_each(|(v, _)| display::nodes(v, &mut all));
        let together = self.force(&all);
        let mut failed = Vec::new();
        for (k, (value, span)) in shown.iter().enumerate() {
            let mut own = Vec::new();
            display::nodes(value, &mut own);
            let time = match &together {
                Ok(time) => *time,
                // After a cancellation there is no second try.
                Err(e) if e.kind == ErrorKind::Cancelled => {
                    answer.err += &self.fault(e, *span);
                    failed.extend(shown[k..].iter().map(|(_, span)| *span));
                    break;
                }
                Err(_) => match self.force(&own) {
                    Ok(time) => time,
                    Err(e) => {
                        answer.err += &self.fault(&e, *span);
                        failed.push(*span);
                        continue;
                    }
                },
            };
            let err = self.saved(value);
            if !err.is_empty() {
                answer.err += &err;
                failed.push(*span);
                continue;
            }
            if value.only_saves() {
                continue;
            }
            answer.out += &match value {
                // A single text has no quotes.
                Value::Text(text) => text.to_string(),
                other => display::show(other, self.settings.show),
            };
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
        failed
    }

    /// Writes the files that a value requests. Returns the rendered errors.
    fn saved(&self, value: &Value) -> String {
        match value {
            Value::Tuple(parts) => parts.iter().map(|p| self.saved(p)).collect(),
            Value::Save(save) => match save.write() {
                Ok(()) => String::new(),
                Err(e) => self.draw(&Diagnostic::new(e.to_string(), save.at)),
            },
            _ => String::new(),
        }
    }

    /// Computes nodes, and returns the time.
    pub fn force(&self, nodes: &[Arc<Node>]) -> livefusion::Result<Duration> {
        self.force_on(&self.engine, nodes)
    }

    /// Computes nodes on an engine.
    pub fn force_on(&self, engine: &Engine, nodes: &[Arc<Node>]) -> livefusion::Result<Duration> {
        let start = Instant::now();
        let mut engine = engine.with_cancel(self.stop.token());
        if self.progress {
            let (reports, backend) = (self.reports.clone(), engine.backend_name());
            engine = engine.with_progress(move |p| reports.tell(&p, start.elapsed(), backend));
        }
        self.forced(&engine, nodes, start)
    }

    /// Computes nodes on an engine, with a time limit.
    ///
    /// Returns `None` if the limit was exceeded.
    pub fn force_within(
        &self,
        limit: Duration,
        engine: &Engine,
        nodes: &[Arc<Node>],
    ) -> livefusion::Result<Option<Duration>> {
        let (start, token) = (Instant::now(), self.stop.token());
        let (reports, backend) = (self.reports.clone(), engine.backend_name());
        let (shows, is_late) = (self.progress, Arc::new(AtomicBool::new(false)));
        let (late, own) = (is_late.clone(), token.clone());
        let engine = engine.with_cancel(token).with_progress(move |p| {
            let time = start.elapsed();
            if shows {
                reports.tell(&p, time, backend);
            }
            if time > limit && !own.is_cancelled() {
                late.store(true, Ordering::Relaxed);
                own.cancel();
            }
        });
        let forced = self.forced(&engine, nodes, start);
        let is_late = is_late.load(Ordering::Relaxed);
        if is_late {
            self.stop.renew();
        }
        match forced {
            Err(e) if e.kind == ErrorKind::Cancelled && is_late => Ok(None),
            forced => forced.map(Some),
        }
    }

    /// Computes nodes, and clears the last report.
    fn forced(
        &self,
        engine: &Engine,
        nodes: &[Arc<Node>],
        start: Instant,
    ) -> livefusion::Result<Duration> {
        let forced = force_nodes(engine, nodes);
        let time = start.elapsed();
        if self.progress {
            self.reports.end(time);
        }
        forced.map(|_| time)
    }

    /// Renders an error of the library.
    pub fn fault(&self, e: &livefusion::Error, at: Span) -> String {
        self.draw(&self.places.fault(e, at))
    }

    /// Renders an error.
    pub fn draw(&self, e: &Diagnostic) -> String {
        e.draw(&self.sources, self.colours) + "\n"
    }

    /// Runs a file, whose lines may be commands.
    ///
    /// Returns an error if the file cannot be read.
    pub fn load(&mut self, path: &Path) -> Result<Answer, String> {
        if self.loading == MAX_LOADS {
            return Err(format!("more than {MAX_LOADS} scripts load each other"));
        }
        let text = std::fs::read_to_string(self.folder.join(path));
        let text = text.map_err(|e| format!("{}: {e}", path.display()))?;
        self.loading += 1;
        let answer = self.run(&path.display().to_string(), &text);
        self.loading -= 1;
        Ok(answer)
    }

    /// Runs a script, in which lines that begin with `:` are commands.
    ///
    /// It stops at the first error.
    pub fn run(&mut self, name: &str, text: &str) -> Answer {
        let mut all = Answer::default();
        // Leading newlines keep line numbers equal to those of the file.
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
