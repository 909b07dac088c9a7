//! Known lengths of a graph's arrays and rows, and their equality pattern.

use super::uniform::{Uniform, uniform_value};
use super::{FieldRef, Graph, NodeId, known_length};
use crate::ast::{Kind, Len, Value};
use loop_lang::types::{Const, Ty};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Holds the lengths that are known before a run.
#[derive(Clone, Debug, Default)]
pub struct KnownLengths {
    /// The length of each leaf and of each generator of fixed length, by node.
    pub arrays: Vec<Option<u64>>,
    /// Further numbers that are lengths.
    pub measures: Vec<Measure>,
    /// The value of each measure.
    pub measured: Vec<Option<u64>>,
}

/// Names a number that is a length, with its origin.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// The role of the number.
    pub of: Measured,
    /// Its origin.
    pub by: MeasureOrigin,
}

/// Names the role of a measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measured {
    /// The length of this generator.
    Length(NodeId),
    /// The common length of the rows of this descriptor.
    Rows(FieldRef),
}

/// Names the origin of a measure.
#[derive(Clone, Copy, Debug)]
pub enum MeasureOrigin {
    /// A delayed scalar that exists before a run.
    Scalar(FieldRef),
    /// A constant that may change, by slot.
    Slot(u32),
    /// A constant in the code.
    Code(u64),
}

impl KnownLengths {
    /// Collects the known lengths of a graph.
    ///
    /// `inputs` are the lengths of a prepared program's inputs; for a delayed `u64` it is the value.
    pub fn of(graph: &Graph, inputs: &[Option<u64>]) -> KnownLengths {
        let input = |number: u32| inputs.get(number as usize).copied().flatten();
        let arrays = graph.nodes.iter().map(|n| match n.node.kind {
            Kind::Input(of) if n.leaf && n.node.rank > 0 && n.node.value.get().is_none() => {
                input(of.number)
            }
            _ => known_length(n),
        });
        let measures = measures(graph);
        let scalar = |(id, field): FieldRef| {
            let node = graph.node(id);
            match (node.value.get(), &node.kind) {
                (Some(value), _) => number(value, field),
                (None, Kind::Input(of)) if field == 0 => input(of.number),
                _ => None,
            }
        };
        let slot = |slot: u32| graph.constants.get(slot as usize).copied();
        let measured = measures.iter().map(|m| m.value(scalar, slot)).collect();
        KnownLengths {
            arrays: arrays.collect(),
            measures,
            measured,
        }
    }

    /// Returns the equality pattern of these lengths.
    pub fn pattern(&self) -> Pattern {
        let arrays: Vec<u64> = self.arrays.iter().flatten().copied().collect();
        let measured = self.measured.iter().copied();
        length_pattern(&arrays, self.measures.iter().zip(measured))
    }

    /// Returns whether every length is known.
    pub fn are_complete(&self, arrays: usize) -> bool {
        let all = self.measured.iter().all(Option::is_some);
        all && self.arrays.iter().flatten().count() == arrays
    }

    /// Lists the known lengths of generators whose lengths are delayed scalars.
    pub fn of_generators(&self) -> impl Iterator<Item = (NodeId, u64)> {
        let all = self.measures.iter().zip(&self.measured);
        all.filter_map(|(measure, n)| match (measure.of, n) {
            (Measured::Length(id), Some(n)) => Some((id, *n)),
            _ => None,
        })
    }

    /// Lists the known row lengths of descriptors.
    pub fn of_rows(&self) -> impl Iterator<Item = (FieldRef, u64)> {
        let all = self.measures.iter().zip(&self.measured);
        all.filter_map(|(measure, n)| match (measure.of, n) {
            (Measured::Rows(field), Some(n)) => Some((field, *n)),
            _ => None,
        })
    }
}

impl Measure {
    /// Returns the number, from the values of delayed scalars and constants.
    pub fn value(
        &self,
        scalar: impl Fn(FieldRef) -> Option<u64>,
        slot: impl Fn(u32) -> Option<Const>,
    ) -> Option<u64> {
        match self.by {
            MeasureOrigin::Scalar(field) => scalar(field),
            MeasureOrigin::Slot(at) => slot(at).map(|c| c.bits),
            MeasureOrigin::Code(n) => Some(n),
        }
    }
}

/// Returns the bits of a field of a delayed scalar.
pub fn number(value: &Value, field: u32) -> Option<u64> {
    match value {
        Value::Scalar(fields) => fields.get(field as usize).map(|c| c.bits),
        Value::Array(_) => None,
    }
}

/// Lists the numbers that are lengths and are known before a run.
fn measures(graph: &Graph) -> Vec<Measure> {
    let is_known = |(id, field): &FieldRef| {
        let node = &graph.nodes[id.index()];
        node.leaf && node.node.rank == 0 && node.node.types.get(*field as usize) == Some(&Ty::U64)
    };
    let mut measures = Vec::new();
    let mut seen: FxHashSet<FieldRef> = FxHashSet::default();
    for id in graph.ids() {
        let entry = &graph.nodes[id.index()];
        if entry.leaf {
            continue;
        }
        if let (Kind::Generate(Len::Delayed(_), _), Some(by)) = (&entry.node.kind, entry.length) {
            let by = Some(graph.resolve(by, 0)).filter(is_known);
            let of = Measured::Length(id);
            measures.extend(by.map(MeasureOrigin::Scalar).map(|by| Measure { of, by }));
        }
        let cuts = entry.node.kind.facts().by_segments.cut();
        if !cuts && !matches!(entry.node.kind, Kind::Expand(_)) {
            continue;
        }
        let rows = graph.resolve(entry.inputs[0], 0);
        if !seen.insert(rows) {
            continue;
        }
        let by = match uniform_value(graph, rows) {
            Some(Uniform::Scalar(field)) => {
                is_known(&field).then_some(MeasureOrigin::Scalar(field))
            }
            Some(Uniform::Literal(term, c)) => {
                let slots = graph.nodes[rows.0.index()].constants.last();
                let slot = slots.and_then(|s| s.get(&term.0)).copied();
                Some(slot.map_or(MeasureOrigin::Code(c.bits), MeasureOrigin::Slot))
            }
            None => None,
        };
        let of = Measured::Rows(rows);
        measures.extend(by.map(|by| Measure { of, by }));
    }
    measures
}

/// Holds an equality pattern of lengths.
///
/// Each length has the place of the first one that equals it.
pub type Pattern = SmallVec<[u64; 8]>;

/// The maximal number of lengths that are searched linearly.
const FEW: usize = 16;

/// Computes the equality pattern of lengths.
///
/// Rows are compared with rows only, so that a square matrix has the pattern of any other.
pub fn length_pattern<'m>(
    arrays: &[u64],
    measures: impl Iterator<Item = (&'m Measure, Option<u64>)>,
) -> Pattern {
    let mut pattern = Pattern::from_slice(arrays);
    let mut rows = Pattern::new();
    for (measure, n) in measures {
        match measure.of {
            Measured::Rows(_) => rows.extend(n),
            Measured::Length(_) => pattern.extend(n),
        }
    }
    place_equals(&mut pattern);
    place_equals(&mut rows);
    pattern.extend_from_slice(&rows);
    pattern
}

/// Tells whether lengths of arrays have an equality pattern of [`length_pattern`].
pub fn has_pattern(pattern: &[u64], arrays: &[u64]) -> bool {
    if arrays.len() > FEW {
        return *pattern == *length_pattern(arrays, std::iter::empty());
    }
    let first = |n: &u64| arrays.iter().position(|other| other == n);
    let mut firsts = arrays.iter().map(first).zip(pattern);
    pattern.len() == arrays.len() && firsts.all(|(at, wanted)| at == Some(*wanted as usize))
}

/// Replaces each length by the place of the first one that equals it.
fn place_equals(lengths: &mut [u64]) {
    let all = Pattern::from_slice(lengths);
    let mut first: FxHashMap<u64, usize> = FxHashMap::default();
    for (at, n) in all.iter().enumerate() {
        let place = match all.len() > FEW {
            true => *first.entry(*n).or_insert(at),
            false => all.iter().position(|other| other == n).unwrap_or(at),
        };
        lengths[at] = place as u64;
    }
}
