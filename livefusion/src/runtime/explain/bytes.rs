//! Memory traffic of loops in bytes, from the lengths known beforehand.

use crate::ast::{Kind, Term};
use crate::fusion::{ClassId, ClassKind, Plan};
use crate::sharing::{FieldRef, Graph, NodeId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt;
use std::iter::Sum;

/// The size of a delayed scalar: one word.
const SCALAR: u64 = 8;

/// Counts bytes, some of which depend on unknown lengths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bytes {
    /// The bytes of arrays whose length is known or bounded.
    pub known: u64,
    /// Whether `known` is exact; otherwise it is an upper bound.
    pub exact: bool,
    /// Bytes per element, summed over the arrays of unknown length.
    pub per_element: u64,
}

impl Default for Bytes {
    fn default() -> Bytes {
        Bytes {
            known: 0,
            exact: true,
            per_element: 0,
        }
    }
}

impl Bytes {
    fn of(length: KnownLength, size: u64) -> Bytes {
        let (known, exact, per_element) = match length {
            KnownLength::Exactly(n) => (n.saturating_mul(size), true, 0),
            KnownLength::AtMost(n) => (n.saturating_mul(size), false, 0),
            KnownLength::Unknown => (0, true, size),
        };
        Bytes {
            known,
            exact,
            per_element,
        }
    }

    fn at_most(self) -> Bytes {
        Bytes {
            exact: self.known == 0,
            ..self
        }
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(all: I) -> Bytes {
        all.fold(Bytes::default(), |a, b| Bytes {
            known: a.known.saturating_add(b.known),
            exact: a.exact && b.exact,
            per_element: a.per_element.saturating_add(b.per_element),
        })
    }
}

impl fmt::Display for Bytes {
    /// Shows `24 B`, `at most 1.6 MB`, `24 B + 8 B per element`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.known > 0 || self.per_element == 0 {
            let most = if self.exact { "" } else { "at most " };
            write!(f, "{most}{}", amount(self.known))?;
        }
        match (self.known, self.per_element) {
            (_, 0) => Ok(()),
            (0, n) => write!(f, "{n} B per element"),
            (_, n) => write!(f, " + {n} B per element"),
        }
    }
}

fn amount(bytes: u64) -> String {
    let mut scaled = bytes as f64;
    if bytes < 10_000 {
        return format!("{bytes} B");
    }
    let mut unit = "B";
    for larger in ["kB", "MB", "GB", "TB", "PB", "EB"] {
        // A number that would print as 1000.0 gets the next unit.
        if scaled < 999.95 {
            break;
        }
        scaled /= 1000.0;
        unit = larger;
    }
    format!("{scaled:.1} {unit}")
}

/// Counts the bytes that a loop reads and writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    /// Inputs and intermediates, each counted once.
    pub reads: Bytes,
    /// Results and intermediates.
    pub writes: Bytes,
}

impl Sum for Traffic {
    fn sum<I: Iterator<Item = Traffic>>(all: I) -> Traffic {
        all.fold(Traffic::default(), |a, b| Traffic {
            reads: [a.reads, b.reads].into_iter().sum(),
            writes: [a.writes, b.writes].into_iter().sum(),
        })
    }
}

/// The length of a class of arrays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum KnownLength {
    Exactly(u64),
    AtMost(u64),
    Unknown,
}

/// Counts the bytes of a planned graph.
pub(super) struct Counting<'g> {
    graph: &'g Graph,
    pub(super) plan: &'g Plan,
    known: FxHashMap<ClassId, u64>,
}

/// A field that crosses the border of a loop.
pub(super) type Moved = (FieldRef, Bytes);

impl<'g> Counting<'g> {
    pub(super) fn new(graph: &'g Graph, plan: &'g Plan) -> Self {
        let known = graph.ids().filter_map(|id| {
            let class = plan.rates.output(id)?;
            Some((class, graph.node(id).known_len()?))
        });
        Counting {
            graph,
            plan,
            known: known.collect(),
        }
    }

    /// Returns the length of a class. A subrate has at most its parent's length.
    fn length(&self, mut class: ClassId) -> KnownLength {
        let mut exact = true;
        loop {
            match (self.known.get(&class), self.plan.rates.kind(class)) {
                (Some(n), _) if exact => return KnownLength::Exactly(*n),
                (Some(n), _) => return KnownLength::AtMost(*n),
                (None, ClassKind::Sub(parent, _)) => (exact, class) = (false, parent),
                (None, _) => return KnownLength::Unknown,
            }
        }
    }

    fn bytes(&self, field: FieldRef) -> Bytes {
        let node = self.graph.node(field.0);
        match (
            self.plan.rates.output(field.0),
            node.types.get(field.1 as usize),
        ) {
            (Some(class), Some(ty)) => Bytes::of(self.length(class), ty.size() as u64),
            _ => Bytes::of(KnownLength::Exactly(1), SCALAR),
        }
    }

    /// Sums the reads and writes of a loop.
    pub(super) fn traffic(&self, at: usize) -> Traffic {
        Traffic {
            reads: self.reads(at).into_iter().map(|(_, b)| b).sum(),
            writes: self.writes(at).into_iter().map(|(_, b)| b).sum(),
        }
    }

    /// Lists the fields that a loop writes.
    pub(super) fn writes(&self, at: usize) -> Vec<Moved> {
        let planned = &self.plan.loops[at];
        let fields = planned.arrays.iter().chain(&planned.scalars);
        fields.map(|f| (*f, self.bytes(*f))).collect()
    }

    /// Lists the fields that a loop reads. Cheap generators are inlined, so their own reads count
    /// instead.
    pub(super) fn reads(&self, at: usize) -> Vec<Moved> {
        let members = &self.plan.loops[at].nodes;
        let kind = |id: &NodeId| &self.graph.node(*id).kind;
        let may_end_early = members.iter().any(|id| kind(id).facts().ends);
        let mut found: FxHashMap<FieldRef, Bytes> = FxHashMap::default();
        let mut seen: FxHashSet<NodeId> = members.iter().copied().collect();
        let mut stack = members.clone();
        while let Some(id) = stack.pop() {
            for (field, in_step) in self.looks_at(id) {
                let n = field.0;
                if self.plan.computes(at, n) {
                    continue;
                }
                if self.plan.loop_of[n.index()].is_none() && !self.graph.nodes[n.index()].leaf {
                    if seen.insert(n) {
                        stack.push(n);
                    }
                    continue;
                }
                let whole = self.bytes(field);
                let exact = in_step && !may_end_early || self.graph.node(n).rank == 0;
                let bytes = if exact { whole } else { whole.at_most() };
                let known = found.entry(field).or_insert(bytes);
                known.exact |= bytes.exact;
            }
        }
        let mut found: Vec<Moved> = found.into_iter().collect();
        found.sort_unstable_by_key(|(f, _)| *f);
        found
    }

    /// Lists the fields whose elements a node reads, and whether it reads every element in step.
    fn looks_at(&self, id: NodeId) -> Vec<(FieldRef, bool)> {
        let node = &self.graph.nodes[id.index()];
        if matches!(node.node.kind, Kind::Len) {
            return Vec::new();
        }
        let columns = node.inputs.iter().flat_map(|i| self.graph.fields(*i));
        let columns: FxHashSet<FieldRef> = columns.collect();
        // A map that ignores its elements needs their number only.
        let ignores = match &node.node.kind {
            Kind::Map(body) => !body.terms.iter().any(|t| matches!(t.term, Term::Param(_))),
            _ => false,
        };
        let uses = self.plan.demand.uses.get(id.index()).into_iter().flatten();
        uses.map(|f| (*f, columns.contains(f)))
            .filter(|(_, in_step)| !(*in_step && ignores))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_for_people() {
        let shown = |known, exact, per_element| {
            let bytes = Bytes {
                known,
                exact,
                per_element,
            };
            bytes.to_string()
        };
        assert_eq!(shown(0, true, 0), "0 B");
        assert_eq!(shown(9_999, true, 0), "9999 B");
        assert_eq!(shown(10_000, false, 0), "at most 10.0 kB");
        assert_eq!(shown(999_960, true, 0), "1.0 MB");
        assert_eq!(shown(u64::MAX, true, 0), "18.4 EB");
        assert_eq!(shown(0, true, 8), "8 B per element");
        assert_eq!(shown(8, true, 16), "8 B + 16 B per element");
    }
}
