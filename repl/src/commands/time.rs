//! `:time`: how long an expression takes on each backend, and how many bytes pass in that time.

use super::{BACKENDS, explained, nodes_of};
use crate::display::duration;
use crate::session::{Answer, Session};
use crate::source::Span;
use livefusion::ErrorKind;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// So long a backend is measured.
const LONG: Duration = Duration::from_millis(200);

/// Runs the expression on each backend, anew each time: also what its names stand for.
pub fn time(s: &mut Session, at: Span) -> Result<Answer, String> {
    let mut loaded = HashMap::new();
    let mut rows: Vec<(&str, Duration, Duration)> = Vec::new();
    let mut text = String::new();
    for name in BACKENDS {
        let engine = s.engine_of(name);
        // The first run is one of its own, as it may compile.
        let (mut first, mut best, mut all) = (None, None::<Duration>, Duration::ZERO);
        let mut begin = Instant::now();
        while best.is_none() || all < LONG && begin.elapsed() < 2 * LONG {
            let value = s.value_anew(at, &mut loaded)?;
            let nodes = nodes_of(s, at, &value)?;
            match s.force_on(&engine, &nodes) {
                Ok(time) if first.is_none() => {
                    first = Some(time);
                    begin = Instant::now();
                }
                Ok(time) => {
                    best = Some(best.map_or(time, |best| best.min(time)));
                    all += time;
                }
                Err(e) if matches!(e.kind, ErrorKind::Backend(_)) => {
                    let _ = writeln!(text, "{name}: {}", e.kind);
                    break;
                }
                Err(e) => return Err(s.fault(&e, at)),
            }
        }
        rows.extend(first.zip(best).map(|(first, best)| (*name, first, best)));
    }
    let value = s.value_anew(at, &mut loaded)?;
    let nodes = nodes_of(s, at, &value)?;
    let traffic = explained(s, at, &nodes)?.traffic;
    // What depends on lengths that only the run tells is not in it.
    let known = (traffic.reads.per_element + traffic.writes.per_element == 0)
        .then(|| traffic.reads.known.saturating_add(traffic.writes.known));
    let most = match traffic.reads.exact && traffic.writes.exact {
        true => "",
        false => "≤ ",
    };
    let fastest = rows.iter().map(|r| r.2).min().unwrap_or_default();
    for (name, first, best) in rows {
        let ratio = best.as_secs_f64() / fastest.as_secs_f64().max(1e-9);
        let rate = known.map_or("?".into(), |bytes| format!("{most}{}", rate(bytes, best)));
        let _ = writeln!(
            text,
            "{name:<8}{:>10}  {ratio:>7.2} x  {rate:>11}   the first time {}",
            duration(best),
            duration(first)
        );
    }
    let _ = writeln!(text, "reads {}, writes {}", traffic.reads, traffic.writes);
    Ok(Answer::of(text))
}

/// Bytes per second as people read them.
fn rate(bytes: u64, time: Duration) -> String {
    let rate = bytes as f64 / time.as_secs_f64().max(1e-9);
    match rate {
        ..1e3 => format!("{rate:.0} B/s"),
        ..1e6 => format!("{:.1} kB/s", rate / 1e3),
        ..1e9 => format!("{:.1} MB/s", rate / 1e6),
        _ => format!("{:.2} GB/s", rate / 1e9),
    }
}
