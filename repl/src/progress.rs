//! Progress reports of long forces; after a while they name the engine.

use livefusion::Progress;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Holds a callback for reports, each of which replaces the previous one.
pub type Sink = Arc<dyn Fn(&str) + Send + Sync>;

/// Configures reports of long forces.
///
/// ```
/// use livefusion_repl::progress::Reports;
/// use livefusion::Progress;
/// use std::time::Duration;
/// let half = Progress { loop_index: 0, loops: 1, steps: 50, total: Some(100) };
/// let (reports, seconds) = (Reports::default(), Duration::from_secs_f64);
/// assert_eq!(reports.line(&half, seconds(0.4), "jit"), None);
/// assert_eq!(reports.line(&half, seconds(0.6), "jit").unwrap(), "loop 1 of 1:  50 %");
/// assert_eq!(reports.line(&half, seconds(1.1), "jit").unwrap(), "loop 1 of 1:  50 %, on jit");
/// ```
#[derive(Clone)]
pub struct Reports {
    /// The time without any report.
    pub quiet: Duration,
    /// The time after which reports name the engine.
    pub long: Duration,
    /// The receiver of reports. An empty report marks the end of the force.
    pub sink: Sink,
}

impl Default for Reports {
    /// Returns reports to standard error, after half a second. After a second they name the engine.
    fn default() -> Reports {
        Reports {
            quiet: Duration::from_millis(500),
            long: Duration::from_secs(1),
            sink: Arc::new(|line| match line {
                "" => eprint!("\r\x1b[K"),
                line => eprint!("\r{line}"),
            }),
        }
    }
}

impl fmt::Debug for Reports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reports after {:?} and {:?}", self.quiet, self.long)
    }
}

impl Reports {
    /// Returns the report of a force on a backend after this time.
    ///
    /// Returns `None` if it is too early for a report.
    pub fn line(&self, p: &Progress, time: Duration, backend: &str) -> Option<String> {
        let engine = match time > self.long {
            true => engine(backend),
            false => "",
        };
        (time > self.quiet).then(|| format!("{}{engine}", far(p)))
    }

    /// Reports on a force that has run for long enough.
    pub fn tell(&self, p: &Progress, time: Duration, backend: &str) {
        if let Some(line) = self.line(p, time, backend) {
            (self.sink)(&line);
        }
    }

    /// Clears the last report of a force that took this time.
    pub fn end(&self, time: Duration) {
        if time > self.quiet {
            (self.sink)("");
        }
    }
}

/// The engine, and a faster one if there is one.
fn engine(backend: &str) -> &'static str {
    match backend {
        "interp" => ", on the interpreter; `:backend jit` is faster",
        "tiered" => ", on the tiered engine; `:backend jit` is faster from the first element on",
        "jit" => ", on jit",
        _ => ", on c",
    }
}

/// The progress of a force.
fn far(p: &Progress) -> String {
    let done = match p.total.filter(|n| *n > 0) {
        Some(n) => format!("{:3.0} %", p.steps as f64 * 100.0 / n as f64),
        None => format!("{} elements", p.steps),
    };
    format!("loop {} of {}: {done}", p.loop_index + 1, p.loops)
}
