//! Times and bytes of a computation's parts: its loops and external parts.
//!
//! Sorts are an example of external parts.

use crate::display;
use crate::session::Session;
use livefusion::Engine;
use livefusion::ast::{After, ExternalPart, Node, Value};
use livefusion::runtime::{Bytes, ExplainedApart, Traffic, external_parts};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Holds the time and the traffic of a part.
pub struct TimedPart {
    name: String,
    time: Duration,
    traffic: Traffic,
    /// Whether the traffic is per step of a loop over arrays.
    in_steps: bool,
}

impl TimedPart {
    /// A part with this traffic.
    fn new(name: &str, time: Duration, traffic: Traffic) -> TimedPart {
        TimedPart {
            name: name.to_string(),
            time,
            traffic,
            in_steps: false,
        }
    }
}

/// Holds the loops of a computation and its external parts in order.
pub struct Parts {
    /// All loops between external parts.
    loops: TimedPart,
    /// The external parts.
    external: Vec<TimedPart>,
}

impl Parts {
    /// Computes nodes part by part.
    pub fn run(s: &Session, engine: &Engine, nodes: &[Arc<Node>]) -> livefusion::Result<Parts> {
        let mut parts = Parts {
            loops: TimedPart::new("loops", Duration::ZERO, Traffic::default()),
            external: Vec::new(),
        };
        for node in external_parts(nodes) {
            if let After::Apart(of, _) = &node.after
                && of.ended().get().is_none()
            {
                parts.external(s, engine, &node, of)?;
            }
        }
        parts.loops(s, engine, nodes)?;
        Ok(parts)
    }

    fn external(
        &mut self,
        s: &Session,
        engine: &Engine,
        node: &Arc<Node>,
        of: &ExternalPart,
    ) -> livefusion::Result<()> {
        let steps = match of {
            ExternalPart::External(of) => {
                self.loops(s, engine, &of.inputs)?;
                None
            }
            ExternalPart::Loop(_) => engine.explain(std::slice::from_ref(node))?.apart.pop(),
        };
        let time = s.force_on(engine, std::slice::from_ref(node))?;
        let traffic = match &steps {
            Some(ExplainedApart::Loop(of)) => of.step.traffic,
            _ => Traffic {
                reads: exactly(of.begin().iter().filter_map(|n| n.value.get())),
                writes: exactly(of.ended().get().into_iter().flatten()),
            },
        };
        let in_steps = steps.is_some();
        self.external.push(TimedPart {
            in_steps,
            ..TimedPart::new(of.name(), time, traffic)
        });
        Ok(())
    }

    /// Computes nodes without external parts, and adds them to the loops.
    fn loops(
        &mut self,
        s: &Session,
        engine: &Engine,
        nodes: &[Arc<Node>],
    ) -> livefusion::Result<()> {
        let traffic = engine.explain(nodes)?.traffic;
        self.loops.traffic = [self.loops.traffic, traffic].into_iter().sum();
        self.loops.time += s.force_on(engine, nodes)?;
        Ok(())
    }

    /// Returns whether all of it is loops.
    pub fn are_loops(&self) -> bool {
        self.external.is_empty()
    }

    /// Returns the traffic of all parts, without steps.
    ///
    /// The number of steps is unknown.
    pub fn traffic(&self) -> Traffic {
        let whole = self.external.iter().filter(|p| !p.in_steps);
        whole.chain([&self.loops]).map(|p| p.traffic).sum()
    }

    /// Returns whether there are steps, which the traffic excludes.
    pub fn has_steps(&self) -> bool {
        self.external.iter().any(|p| p.in_steps)
    }
}

/// The bytes of values in memory.
fn exactly<'v>(values: impl Iterator<Item = &'v Value>) -> Bytes {
    let bytes = values.map(|value| match value {
        Value::Array(columns) => {
            let sizes = columns.iter().map(|c| (c.len() * c.ty().size()) as u64);
            sizes.sum()
        }
        Value::Scalar(fields) => 8 * fields.len() as u64,
    });
    Bytes {
        known: bytes.sum(),
        ..Bytes::default()
    }
}

impl fmt::Display for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = || [&self.loops].into_iter().chain(&self.external);
        let width = all().map(|p| p.name.chars().count()).max().unwrap_or(0);
        all().try_for_each(|part| {
            let (time, moved) = (display::duration(part.time), Moved(part.traffic));
            let steps = if part.in_steps { "each step " } else { "" };
            writeln!(f, "  {:width$}  {time:>10}  {steps}{moved}", part.name)
        })
    }
}

/// Formats traffic in words.
pub struct Moved(pub Traffic);

impl fmt::Display for Moved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "reads {}, writes {}", self.0.reads, self.0.writes)
    }
}
