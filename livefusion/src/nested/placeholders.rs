//! Placeholders: inputs that represent any segment while a closure is called.

use super::SegmentPart;
use super::lift::{Lift, Lifted, Rows};
use crate::ast::{Builder, Input, Kind, Node};
use crate::error::ErrorKind;
use crate::loc::Loc;
use loop_lang::types::Ty;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The first number of placeholders. Inputs of prepared programs have smaller numbers.
const FIRST: u32 = 1 << 31;
static NEXT: AtomicU32 = AtomicU32::new(0);

/// Returns whether a node represents a segment.
pub(crate) fn is_placeholder(node: &Node) -> bool {
    let is_first = |input: &Input| input.number >= FIRST;
    matches!(&node.kind, Kind::Input(input) if is_first(input)) && node.value.get().is_none()
}

/// Holds the placeholders of a segment's parts while a closure is called.
#[derive(Debug)]
pub struct Placeholders {
    loc: Loc,
    parts: Vec<(Arc<Node>, Lifted)>,
}

impl Placeholders {
    /// The empty state for a closure that is called at `loc`.
    pub(super) fn at(loc: Loc) -> Placeholders {
        let parts = Vec::new();
        Placeholders { loc, parts }
    }

    /// Creates a placeholder for a part of any segment.
    pub(super) fn placeholder(&mut self, part: &SegmentPart) -> Arc<Node> {
        let k = FIRST | NEXT.fetch_add(1, Ordering::Relaxed);
        let builder = Builder::at("segment", self.loc);
        let (of, rank, lifted) = match part {
            SegmentPart::Array(each) => (each, 0, Lifted::Each(each.clone())),
            SegmentPart::Segments(rows) => (&rows.data, 1, Lifted::Rows(rows.clone())),
        };
        let node = match of.error {
            Some(_) => builder.mistaken(of, &of.types, rank),
            None => builder.input(k, &of.types, rank),
        };
        self.parts.push((node.clone(), lifted));
        node
    }

    /// The flattening onto these segments. Requires at least one part; segments of several arrays
    /// must have equal lengths.
    pub(super) fn lift(self, b: Builder) -> Lift {
        let rows = self.parts.iter().filter_map(|(_, lifted)| match lifted {
            Lifted::Rows(rows) => Some(rows.clone()),
            _ => None,
        });
        let rows: Vec<Rows> = rows.collect();
        let Some(first) = rows.first() else {
            let any = self.parts.iter().find_map(|(_, lifted)| match lifted {
                Lifted::Each(each) => Some(each.clone()),
                _ => None,
            });
            let nothing = || {
                let expected = "at least one part of each segment".to_string();
                let got = "none".to_string();
                b.fault(&[Ty::U64], 1, ErrorKind::Malformed { expected, got })
            };
            let mut lift = Lift::new(any.unwrap_or_else(nothing));
            for (node, lifted) in self.parts {
                lift.stands_for(&node, lifted);
            }
            return lift;
        };
        let mut lengths = first.lengths.clone();
        // One check of all lengths before the first element suffices. Data that is computed in
        // order stays with its own lengths, which are checked segment by segment.
        let in_order = rows.len() > 1 && rows.iter().any(|r| r.data.comes_in_order());
        for (k, other) in rows.iter().enumerate().skip(1) {
            let known = rows[..k].iter();
            let is_known = known
                .into_iter()
                .any(|r| Arc::ptr_eq(&r.lengths, &other.lengths));
            if !is_known && !in_order {
                lengths = Lift::agreed(b, &lengths, &other.lengths);
            }
        }
        let mut lift = Lift::new(lengths.clone());
        for (node, lifted) in self.parts {
            let lifted = match &lifted {
                Lifted::Rows(rows) => {
                    let data = match in_order {
                        true => lift.aligned(b, &lifted, &lengths),
                        false => rows.data.clone(),
                    };
                    let lengths = lengths.clone();
                    Lifted::Rows(Rows { lengths, data })
                }
                _ => lifted,
            };
            lift.stands_for(&node, lifted);
        }
        lift
    }
}
