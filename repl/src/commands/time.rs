//! `:time`: time of an expression per backend, its bytes, and its parts.

use super::parts::{Moved, Parts};
use super::{BACKENDS, nodes_of};
use crate::display::duration;
use crate::eval::Loaded;
use crate::session::{Answer, Session};
use crate::source::Span;
use livefusion::ast::Node;
use livefusion::runtime::Bytes;
use livefusion::{Engine, ErrorKind};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time for which a backend is measured.
const LONG: Duration = Duration::from_millis(200);

/// Holds the lines of its answer, for `:help time`.
pub const MORE: &str = r#"
Each backend has a line: its best time, the ratio to the fastest, bytes per second, and the time of the first run, which may compile.
Sorts, joins and loops over arrays are external parts. If there are some, each has its time and bytes, and so have the loops.
The last line has the bytes of all parts. A backend whose loops take longer than 2 seconds is stopped.
"#;

/// The times on a backend.
struct Row {
    name: &'static str,
    first: Duration,
    best: Duration,
}

/// Measures the expression on each backend.
///
/// Each run evaluates it again, including the definitions of its names.
pub fn time(s: &mut Session, at: Span) -> Result<Answer, String> {
    let mut loaded = Loaded::default();
    let mut rows = Vec::new();
    let mut text = String::new();
    let mut parts_on = None;
    for name in BACKENDS {
        let engine = s.engine_of(name);
        match measured(s, at, &engine, &mut loaded)? {
            Measured::Times(first, best) => {
                rows.push(Row { name, first, best });
                // Its programs are compiled by now.
                if *name == s.backend || parts_on.is_none() {
                    parts_on = Some((*name, engine));
                }
            }
            Measured::Refused(why) => {
                let _ = writeln!(text, "{name}: {why}");
            }
            Measured::Late => {
                let limit = duration(s.settings.patience);
                let _ = writeln!(text, "{name}: stopped, as it took longer than {limit}");
            }
        }
    }
    let Some((backend, engine)) = parts_on else {
        return Ok(Answer::of(text));
    };
    let nodes = anew(s, at, &mut loaded)?;
    let parts = Parts::run(s, &engine, &nodes).map_err(|e| s.fault(&e, at))?;
    text += &table(&rows, &parts);
    if !parts.are_loops() {
        let _ = write!(text, "parts on {backend}\n{parts}");
    }
    if let Some(files) = files(&loaded) {
        let _ = writeln!(text, "{files}");
    }
    let steps = match parts.has_steps() {
        true => ", and those of steps",
        false => "",
    };
    let _ = writeln!(text, "{}{steps}", Moved(parts.traffic()));
    Ok(Answer::of(text))
}

/// The times on an engine.
enum Measured {
    /// The first and the best time.
    Times(Duration, Duration),
    /// No times, because the backend cannot run the expression.
    Refused(ErrorKind),
    /// No times, because the run was stopped.
    Late,
}

/// Runs the expression on an engine repeatedly.
fn measured(
    s: &mut Session,
    at: Span,
    engine: &Engine,
    loaded: &mut Loaded,
) -> Result<Measured, String> {
    // The first run is timed separately, because it may compile.
    let (mut first, mut best, mut all) = (None, None::<Duration>, Duration::ZERO);
    let mut begin = Instant::now();
    loop {
        let nodes = anew(s, at, loaded)?;
        match (s.force_within(s.settings.patience, engine, &nodes), first) {
            (Ok(None), _) => return Ok(Measured::Late),
            (Ok(Some(time)), None) => {
                first = Some(time);
                begin = Instant::now();
            }
            (Ok(Some(time)), Some(first)) => {
                let least = best.map_or(time, |best| best.min(time));
                best = Some(least);
                all += time;
                if all >= LONG || begin.elapsed() >= 2 * LONG {
                    return Ok(Measured::Times(first, least));
                }
            }
            (Err(e), _) if matches!(e.kind, ErrorKind::Backend(_)) => {
                return Ok(Measured::Refused(e.kind));
            }
            (Err(e), _) => return Err(s.fault(&e, at)),
        }
    }
}

/// The nodes of the expression, evaluated again.
fn anew(s: &mut Session, at: Span, loaded: &mut Loaded) -> Result<Vec<Arc<Node>>, String> {
    let value = s.value_anew(at, loaded)?;
    nodes_of(s, at, &value)
}

/// A line for the files that were read, if there are some.
fn files(loaded: &Loaded) -> Option<String> {
    let bytes = Bytes {
        known: loaded.bytes,
        ..Bytes::default()
    };
    let time = duration(loaded.time);
    (loaded.bytes > 0).then(|| format!("files   {time:>10}  {bytes}, once for all runs"))
}

/// A line for each backend.
fn table(rows: &[Row], parts: &Parts) -> String {
    let traffic = parts.traffic();
    // Traffic is unknown if it depends on delayed lengths or on the number of steps.
    let is_known = traffic.reads.per_element + traffic.writes.per_element == 0;
    let known = (is_known && !parts.has_steps())
        .then(|| traffic.reads.known.saturating_add(traffic.writes.known));
    let most = match traffic.reads.exact && traffic.writes.exact {
        true => "",
        false => "≤ ",
    };
    let fastest = rows.iter().map(|r| r.best).min().unwrap_or_default();
    let mut text = String::new();
    for Row { name, first, best } in rows {
        let ratio = best.as_secs_f64() / fastest.as_secs_f64().max(1e-9);
        let rate = known.map_or("?".into(), |bytes| format!("{most}{}", rate(bytes, *best)));
        let _ = writeln!(
            text,
            "{name:<8}{:>10}  {ratio:>7.2} x  {rate:>11}   the first time {}",
            duration(*best),
            duration(*first)
        );
    }
    text
}

/// Bytes per second in readable units.
fn rate(bytes: u64, time: Duration) -> String {
    let rate = bytes as f64 / time.as_secs_f64().max(1e-9);
    match rate {
        ..1e3 => format!("{rate:.0} B/s"),
        ..1e6 => format!("{:.1} kB/s", rate / 1e3),
        ..1e9 => format!("{:.1} MB/s", rate / 1e6),
        _ => format!("{:.2} GB/s", rate / 1e9),
    }
}
