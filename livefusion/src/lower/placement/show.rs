//! Printing of a placement: the tree of rates, then the acts.

use super::{
    Act, Capacity, Check, InputColumn, LengthSource, Most, Opening, Over, Placement, Point, Sided,
    Total,
};
use crate::lower::Source;
use crate::sharing::{FieldRef, Graph, NodeId};
use loop_lang::ir::{Part, RateId};
use std::fmt::{self, Write};

/// Writes a placement in readable form.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn show(placement: &Placement, graph: &Graph, out: &mut dyn Write) -> fmt::Result {
    let show = Show { placement, graph };
    for (i, rate) in placement.tree.rates().iter().enumerate() {
        writeln!(
            out,
            "  r{i}: {}, {}",
            show.opening(i),
            show.parts(&rate.parts)
        )?;
    }
    for (node, act) in &placement.acts {
        if let Some(text) = show.act(*node, act) {
            writeln!(out, "  {text}")?;
        }
    }
    Ok(())
}

struct Show<'p> {
    placement: &'p Placement,
    graph: &'p Graph,
}

impl Show<'_> {
    fn node(&self, id: NodeId) -> String {
        format!("{id} {}", self.graph.node(id).name)
    }

    fn field(&self, (id, field): FieldRef) -> String {
        match field {
            super::DECISION => format!("whether {id} keeps it"),
            _ => format!("{id}.{field}"),
        }
    }

    fn column(&self, column: InputColumn) -> String {
        self.field(column.field)
    }

    fn point(&self, point: Point) -> String {
        let rate = point.rate.index();
        match self
            .placement
            .tree
            .rate(point.rate)
            .parts
            .get(point.position)
        {
            Some(Part::Child(child)) => format!("r{rate} behind r{}", child.index()),
            Some(Part::Stage(0)) | None => format!("r{rate}"),
            Some(Part::Stage(stage)) => format!("r{rate} stage {stage}"),
        }
    }

    fn parts(&self, parts: &[Part]) -> String {
        let part = |p: &Part| match p {
            Part::Stage(s) => format!("stage {s}"),
            Part::Child(r) => format!("r{}", r.index()),
        };
        parts.iter().map(part).collect::<Vec<_>>().join(", ")
    }

    fn opening(&self, i: usize) -> String {
        let rate = self.placement.tree.rate(RateId::new(i));
        let within = |what: String| match rate.parent {
            Some(parent) => format!("{what} in r{}", parent.index()),
            None => what,
        };
        within(match &rate.opening {
            Opening::Array(field) => format!("over {}", self.field(*field)),
            Opening::Indices(len) => {
                format!(
                    "over the indices of {}, {}",
                    self.node(rate.node),
                    self.length(*len)
                )
            }
            Opening::Attempts => format!("attempts of {}", self.node(rate.node)),
            Opening::Test(columns) if columns.is_empty() => {
                format!("elements that {} keeps", self.node(rate.node))
            }
            Opening::Test(columns) => {
                let columns: Vec<String> = columns.iter().map(|c| self.column(*c)).collect();
                format!(
                    "elements that {} keeps by {}",
                    self.node(rate.node),
                    columns.join(", ")
                )
            }
            Opening::While(_) => "elements not always demanded".into(),
            Opening::Decided => format!("elements that {} kept", self.node(rate.node)),
            Opening::Segments(lengths, total) => {
                let (lengths, total) = (self.column(*lengths), self.total(*total));
                format!("segments of lengths {lengths} {total}")
            }
            Opening::Rows(lengths, total) => {
                let (lengths, total) = (self.column(*lengths), self.total(*total));
                format!("rows of length {lengths} {total}")
            }
            Opening::SameSegments => "the same segments".into(),
            Opening::Cursor(sided, len) => {
                let over = match len {
                    Some(len) => self.length(*len),
                    None => format!("attempts of {}", self.node(rate.node)),
                };
                format!("{}, on demand, {over}", self.sided(*sided))
            }
            Opening::Elements(sided) => {
                format!("{}, on demand, elements of segments", self.sided(*sided))
            }
            Opening::Needed(sided) => format!("where {} is demanded", self.sided(*sided)),
            Opening::Part(part) => {
                format!("part {part} of {}, under way", self.node(rate.node))
            }
            Opening::UsedUp => "where a segment is used up".into(),
            Opening::Begins(elements, lengths, total) => {
                let (lengths, total) = (self.column(*lengths), self.total(*total));
                format!(
                    "segments for r{} of lengths {lengths} {total}",
                    elements.index()
                )
            }
        })
    }

    fn total(&self, total: Total) -> String {
        match total {
            Total::Length(len) => format!("with capacity {}", self.length(len)),
            Total::Any => "with any capacity".into(),
        }
    }

    fn sided(&self, sided: Sided) -> String {
        let side = format!("side {} of {}", sided.side, self.node(sided.zip));
        match sided.level {
            0 => side,
            level => format!("{side} level {level}"),
        }
    }

    fn length(&self, length: LengthSource) -> String {
        match length {
            LengthSource::Array(field) => format!("length of {}", self.field(field)),
            LengthSource::Param(Source::Length(id)) => format!("length of {}", self.node(id)),
            LengthSource::Param(_) => "a parameter".into(),
            LengthSource::Scalar(field) => format!("scalar {}", self.field(field)),
            LengthSource::Row(field) => format!("each row of {}", self.field(field)),
            LengthSource::Rows(field) => format!("all rows of {}", self.field(field)),
            LengthSource::Checked(id) => format!("checked length of {}", self.node(id)),
            LengthSource::Nothing => "0".into(),
        }
    }

    fn most(&self, most: &Most) -> String {
        let all = |all: &[Most]| -> Vec<String> { all.iter().map(|m| self.most(m)).collect() };
        match most {
            Most::Length(len) => self.length(*len),
            Most::Least(of) => format!("the least of {}", all(of).join(", ")),
            Most::Sum(of) => format!("({})", all(of).join(" and ")),
        }
    }

    fn capacity(&self, capacity: &Capacity, takes: &[NodeId]) -> String {
        let capacity = match capacity {
            Capacity::Bound(rate) => format!("r{}'s bound", rate.index()),
            Capacity::Rows(rate) => format!("all rows of r{}", rate.index()),
            Capacity::Row(rate) => format!("a row of r{}", rate.index()),
            Capacity::Array(leaf) => format!("length of {}", self.node(*leaf)),
            Capacity::Counted(rate) => format!("the count of r{} beforehand", rate.index()),
        };
        let takes = takes.iter().map(|n| self.node(*n));
        let all: Vec<String> = [capacity].into_iter().chain(takes).collect();
        all.join(" or ")
    }

    /// An act as text; `None` if the list of rates shows it already.
    fn act(&self, id: NodeId, act: &Act) -> Option<String> {
        let node = self.node(id);
        Some(match act {
            Act::Open(rate) => format!("r{} opens, by {node}", rate.index()),
            Act::Bound(Some(most)) => format!("{node} attempts as often as {}", self.most(most)),
            Act::Bound(None) => format!("{node} attempts as often as it can"),
            Act::Read(column, point) => {
                format!(
                    "{} is read from memory at {}",
                    self.column(*column),
                    self.point(*point)
                )
            }
            Act::Generate(column, point, _) => {
                format!(
                    "{} is computed from the index at {}",
                    self.column(*column),
                    self.point(*point)
                )
            }
            Act::Keep(field, point, capacity, takes) => {
                let at = self.point(*point);
                let field = self.field((id, *field));
                match capacity {
                    Some(capacity) => {
                        let capacity = self.capacity(capacity, takes);
                        format!("{field} is kept in memory at {at}, capacity: {capacity}")
                    }
                    None => format!("{field} is kept in memory at {at}"),
                }
            }
            Act::Memory(field, capacities, takes) => {
                let field = self.field((id, *field));
                let capacities: Vec<String> = capacities
                    .iter()
                    .map(|(r, t)| self.capacity(r, t))
                    .collect();
                let takes = takes.iter().map(|n| self.node(*n));
                let all: Vec<String> = [capacities.join(" and ")]
                    .into_iter()
                    .chain(takes)
                    .collect();
                format!("{field} has capacity: {}", all.join(", or "))
            }
            Act::Reread(column, point) => {
                format!(
                    "{} is read again at {}",
                    self.column(*column),
                    self.point(*point)
                )
            }
            Act::Contract(column, over, from, to) => {
                let field = self.column(*column);
                let (from, to) = (self.point(*from), self.point(*to));
                match over {
                    Over::Iteration => format!("{field} is contracted, from {from} to {to}"),
                    Over::Segment(capacity) | Over::Kept(capacity) => {
                        let capacity = self.capacity(capacity, &[]);
                        format!("{field} is contracted, from {from} to {to}, capacity: {capacity}")
                    }
                }
            }
            Act::Scratch(field, over, from) => {
                let (column, from) = (self.field((id, *field)), self.point(*from));
                match over {
                    Over::Iteration => format!("{column} is in scratch memory from {from}"),
                    Over::Segment(capacity) | Over::Kept(capacity) => {
                        let capacity = self.capacity(capacity, &[]);
                        format!("{column} is in scratch memory from {from}, capacity: {capacity}")
                    }
                }
            }
            Act::Deliver(delivery) => format!(
                "{} is delivered by r{} from {}",
                self.column(delivery.column),
                delivery.cursor.index(),
                self.point(delivery.from)
            ),
            Act::Align(point, _) => format!("{node} aligns its sides at {}", self.point(*point)),
            Act::Run(point) => format!("{node} runs at {}", self.point(*point)),
            Act::Sort(passes) => {
                let [from, between, to] =
                    [passes.from, passes.between, passes.to].map(|s| self.point(s));
                let capacity = self.capacity(&passes.capacity, &[]);
                format!(
                    "{node} sorts at {between} elements from {from}, for {to}, capacity: {capacity}"
                )
            }
            Act::Make(point, fields) => {
                let made = (0..fields.len()).filter(|f| fields[*f]);
                let made: Vec<String> = made.map(|f| f.to_string()).collect();
                format!(
                    "{node} makes fields {} at {}",
                    made.join(", "),
                    self.point(*point)
                )
            }
            Act::Enter => format!("{node} is computed before the loop"),
            Act::Finish => format!("{node} is computed behind the loop"),
            Act::Check(Check::Same(got, expected)) => format!(
                "{node} checks: {} is {}",
                self.length(*got),
                self.length(*expected)
            ),
            Act::Check(Check::Visited(rate, len)) => format!(
                "{node} checks: r{} visits {}",
                rate.index(),
                self.length(*len)
            ),
            Act::Check(Check::There(count)) => format!(
                "{node} checks: {} counts up to {}",
                self.point(count.at),
                self.length(count.len)
            ),
            Act::Check(Check::Counted(count)) => format!(
                "{node} checks: {} counts {}",
                self.point(count.at),
                self.length(count.len)
            ),
            Act::Leave(rate) => {
                let all = |group: &Vec<NodeId>| {
                    let names: Vec<String> = group.iter().map(|n| self.node(*n)).collect();
                    names.join(" and ")
                };
                let ends = self.placement.ends(*rate).unwrap_or_default();
                let any: Vec<String> = ends.iter().map(all).collect();
                format!("r{} goes on while {} does", rate.index(), any.join(", or "))
            }
        })
    }
}
