//! Dependencies of an item: fusible operands, and operands that must be complete.

use super::super::problem::{Class, ClusterItem, StreamRead};
use super::super::reason::Reason;
use super::ProblemBuilder;
use crate::ast::{Capture, Kind};
use crate::fusion::rates::indexed_array;
use crate::sharing::{FieldRef, NodeId};

impl ProblemBuilder<'_> {
    /// Links an item to the makers of a node's inputs.
    pub(super) fn link_inputs(&mut self, id: NodeId, item: &mut ClusterItem) {
        let node = &self.graph.nodes[id.index()];
        let taken = self.rates.taken(self.graph, id).in_step;
        for (i, input) in node.inputs.iter().enumerate() {
            let base = node.node.kind.facts().has_base && i == 0;
            let unfused = self.rates.is_unfused(id, i);
            let appends = matches!(node.node.kind, Kind::Append);
            let in_order = || {
                let class = self.rates.output(id);
                class.is_some_and(|c| self.rates.families().may_compute(c, i))
            };
            let in_memory = appends && !in_order();
            let first_zip = self
                .rates
                .equal_zip(id)
                .and_then(|z| self.built.item_of[z.index()]);
            let prevents = match (base, unfused || in_memory) {
                (true, _) => Some(Reason::ScatterBase),
                (_, true) if first_zip.is_none() && !self.is_among(&taken, *input) => {
                    Some(Reason::RatesDiffer)
                }
                _ => None,
            };
            self.link_to(*input, prevents, item);
            if appends {
                self.link_read_from_memory(*input, item);
            }
            self.link_position(id, i, item);
            // A zip that checks lengths does so before its elements are used.
            if let Some(checked) = self.built.item_of[input.index()] {
                item.link(checked, None);
            }
            // A column that another zip's inputs deliver comes from that zip, at its class.
            if let (Some(maker), Some(class)) = (first_zip, self.rates.runs_at(id)) {
                let class = self.class_for(id, class);
                item.link(maker, None);
                item.stream(StreamRead {
                    maker: Some(maker),
                    class,
                });
            }
            // Memory that a node reads at its own counter imposes no rate.
            if !base && !unfused && !appends {
                let class = self.rates.output(*input);
                let class = class.map(|c| self.class_for(id, c));
                self.stream(*input, class, item);
            }
            let runs_over = if appends { *input } else { id };
            self.link_free(*input, runs_over, item);
            // Three kinds of inputs must have a known length before the loop. The loop copies a
            // base first. A class of its own has the length of its input. The length of an unfused
            // input is checked against the loop's.
            if base || in_memory || unfused && first_zip.is_none() {
                self.link_lengths_before(*input, item);
            }
        }
    }

    /// Links an item to the makers of a node's fields.
    pub(super) fn link_to(&self, n: NodeId, prevents: Option<Reason>, item: &mut ClusterItem) {
        for (n, _) in self.graph.fields(n) {
            self.link_to_maker(n, prevents, item);
        }
    }

    /// Links an append to the makers of a part's columns that a zip reads from memory.
    fn link_read_from_memory(&self, part: NodeId, item: &mut ClusterItem) {
        for field in 0..self.graph.node(part).types.len() as u32 {
            let named = self.rates.named(self.graph, (part, field));
            if named.zip.is_none() && named.unfused_at.is_some() {
                self.link_to_maker(named.field.0, Some(Reason::RatesDiffer), item);
            }
        }
    }

    /// Links an item to the node that makes a field.
    pub(super) fn link_to_maker(
        &self,
        n: NodeId,
        prevents: Option<Reason>,
        item: &mut ClusterItem,
    ) {
        if let Some(maker) = self.built.item_of[n.index()] {
            let scattered = matches!(self.graph.node(n).kind, Kind::Scatter(..));
            let complete = scattered.then_some(Reason::ScatterResult);
            item.link(maker, prevents.or(complete));
        }
    }

    /// Adds an input that is consumed element by element, at the class of this number.
    pub(super) fn stream(&mut self, input: NodeId, at: Option<usize>, item: &mut ClusterItem) {
        let Some(at) = at else {
            return;
        };
        for field in 0..self.graph.node(input).types.len() as u32 {
            let named = self.rates.named(self.graph, (input, field));
            // A column that a zip advances on demand comes from the zip, at its class.
            if let Some(maker) = named.zip.map(|z| self.built.item_of[z.index()]) {
                item.stream(StreamRead { maker, class: at });
                continue;
            }
            let (n, unfused) = (named.field.0, named.unfused_at.is_some());
            let maker = self.built.item_of[n.index()];
            // The cursors of a zip input visit each element, though their classes are subrates of
            // the zip's attempts.
            let on_side = matches!(self.built.problem.classes[at], Class::Sub(_));
            let read = unfused || on_side && self.graph.nodes[n.index()].leaf;
            if maker.is_none() && (self.free[n.index()] || read) {
                continue;
            }
            // An alias, or a zip's cursor, may use a column at another class than its producer's.
            if let (Some(maker), Some(made)) = (maker, self.rates.output(n))
                && (unfused || self.class_for(n, made) != at)
            {
                let read_at = named.unfused_at.unwrap_or(made);
                let reason = match self.rates.is_apart(self.graph, made, read_at) {
                    _ if self.rates.passes(self.graph, n, read_at) => None,
                    true => Some(Reason::RandomAccess),
                    false => Some(Reason::NoCommonRate),
                };
                item.link(maker, reason);
            }
            item.stream(StreamRead { maker, class: at });
        }
    }

    /// Links a free generator's captures and length to the loop of its user.
    pub(super) fn link_free(&self, input: NodeId, at: NodeId, item: &mut ClusterItem) {
        for (n, _) in self.graph.fields(input) {
            if self.free[n.index()] {
                let node = &self.graph.nodes[n.index()];
                let roles = node.node.kind.bodies_by_role().into_iter();
                for ((role, _), captures) in roles.zip(&node.captures) {
                    for captured in captures {
                        let prevents = match role.runs_for_elements() {
                            true => self.captured_scalar(*captured, at),
                            false => Some(self.scalar_reason(*captured)),
                        };
                        self.link_captured(*captured, prevents, item);
                    }
                }
                self.link_length(n, item);
            }
        }
    }

    /// A merge reads some inputs at positions of its own. Such an input is complete before the
    /// loop, or inlined from complete operands.
    pub(super) fn link_position(&self, id: NodeId, input: usize, item: &mut ClusterItem) {
        if self.rates.is_at_position(self.graph, id, input) {
            let read = self.graph.nodes[id.index()].inputs[input];
            self.link_captured(read, Some(Reason::RatesDiffer), item);
        }
    }

    pub(super) fn link_captures(&self, id: NodeId, item: &mut ClusterItem) {
        let node = &self.graph.nodes[id.index()];
        let is_scalar = self.rates.runs_at(id).is_none();
        let kind = &node.node.kind;
        let taken = self.rates.taken(self.graph, id).at_an_index;
        for ((role, body), captures) in kind.bodies_by_role().iter().zip(&node.captures) {
            for (capture, n) in body.captures.iter().zip(captures) {
                let prevents = match capture {
                    // A delayed scalar may be computed in the same loop as its operands.
                    Capture::Scalar(_) if is_scalar => None,
                    Capture::Scalar(_) if role.runs_for_elements() => self.captured_scalar(*n, id),
                    Capture::Scalar(_) => Some(self.scalar_reason(*n)),
                    Capture::Array(_) if self.is_among(&taken, *n) => None,
                    Capture::Array(_) => Some(Reason::RandomAccess),
                };
                self.link_captured(*n, prevents, item);
            }
        }
    }

    /// Whether all fields of an array are among these.
    fn is_among(&self, taken: &[FieldRef], array: NodeId) -> bool {
        let fields = self.graph.fields(array);
        fields.iter().all(|f| taken.contains(f))
    }

    /// As [`link_to`](Self::link_to), for a captured node. An inlined array is computed at each
    /// read, from operands that are complete.
    fn link_captured(&self, n: NodeId, prevents: Option<Reason>, item: &mut ClusterItem) {
        for (n, _) in self.graph.fields(n) {
            if prevents == Some(Reason::Length) && self.inlining.is_at_entry(n) {
                self.link_to(n, None, item);
                continue;
            }
            if !self.inlining.stands_for_others(n) {
                let costly = self.inlining.is_costly(n) && prevents == Some(Reason::RandomAccess);
                let prevents = if costly {
                    Some(Reason::Costly)
                } else {
                    prevents
                };
                self.link_to(n, prevents, item);
                continue;
            }
            for behind in self.inlining.behind(n) {
                let reason = match self.graph.node(*behind).rank {
                    0 => self.scalar_reason(*behind),
                    _ => Reason::RandomAccess,
                };
                self.link_to(*behind, Some(reason), item);
            }
        }
    }

    /// Links a delayed length. It must be known before the loop. The length of an array that a loop
    /// discovers is known wherever the array is.
    pub(super) fn link_length(&self, id: NodeId, item: &mut ClusterItem) {
        let mut generator = id;
        while let Some(length) = self.graph.nodes[generator.index()].length {
            match indexed_array(self.graph, generator) {
                Some(array) if !self.inlining.is_in_no_loop(length) => {
                    self.link_to(array, None, item);
                    if !self.free[array.index()] {
                        return;
                    }
                    // The array is in no loop itself, but its length has a producer.
                    generator = array;
                }
                _ => return self.link_captured(length, Some(Reason::Length), item),
            }
        }
    }

    /// As [`link_length`](Self::link_length), for free generators among an input's fields. Their
    /// lengths must be known before the loop.
    pub(super) fn link_lengths_before(&self, input: NodeId, item: &mut ClusterItem) {
        for (generator, _) in self.graph.fields(input) {
            let length = self.graph.nodes[generator.index()].length;
            if let Some(length) = length.filter(|_| self.free[generator.index()]) {
                self.link_captured(length, Some(Reason::Length), item);
            }
        }
    }

    /// Links the arrays that decide an item's classes: lengths of segments and tags of filters.
    /// They are ready before the elements that they select. The links stop at the item's floor,
    /// because its loop has no classes above that. Dependents of the item have no item yet.
    pub(super) fn link_deciding(&self, item: &mut ClusterItem) {
        for class in item.at.clone() {
            let above = |c: usize| self.built.problem.classes[c].parent();
            let path = || std::iter::successors(Some(class), |c| above(*c));
            // A parent class has a smaller number than its children.
            let floor = item.floor.filter(|f| path().any(|c| c == *f));
            let is_below = |c: &usize| floor.is_none_or(|f| *c > f);
            let mut decided = self.decided[class];
            while let Some(number) = decided.filter(is_below) {
                decided = above(number).and_then(|c| self.decided[c]);
                let c = self.built.classes[number];
                let Some((decides, _)) = self.rates.kind(c).decided_by() else {
                    continue;
                };
                // An array of another class than the one that it decides about is read from memory.
                let unfused = self.rates.output(decides) != self.rates.parent(c);
                let prevents = unfused.then_some(Reason::RatesDiffer);
                self.link_to_maker(decides, prevents, item);
                // Lengths that belong to no loop are computed in this loop, from complete operands.
                if self.free[decides.index()] {
                    let captures = self.graph.nodes[decides.index()].captures.iter();
                    for captured in captures.flatten() {
                        let reason = self.scalar_reason(*captured);
                        self.link_captured(*captured, Some(reason), item);
                    }
                    self.link_length(decides, item);
                }
            }
        }
    }

    /// The reason that a captured delayed scalar must be ready before the loop. None if the same
    /// loop may compute it at its entry, or fold it in an earlier phase.
    fn captured_scalar(&self, scalar: NodeId, by: NodeId) -> Option<Reason> {
        let class = self.rates.runs_at(by).or(self.rates.output(by));
        let over = class.map(|c| self.rates.top(c));
        let is_known = |n: NodeId| {
            let kind = &self.graph.node(n).kind;
            let folds = matches!(kind, Kind::Fold(_) | Kind::ScanTotal | Kind::Len);
            let root = self.rates.runs_at(n).map(|c| self.rates.top(c));
            let plain = |n: NodeId| self.rates.cursors_of(n).is_none();
            let both = root.zip(over).filter(|_| folds && plain(n) && plain(by));
            self.inlining.is_at_entry(n)
                || both.is_some_and(|(root, over)| self.rates.families().is_before(root, over))
        };
        let mut fields = self.graph.fields(scalar).into_iter();
        match fields.all(|(n, _)| is_known(n)) {
            true => None,
            false => Some(self.scalar_reason(scalar)),
        }
    }

    fn scalar_reason(&self, n: NodeId) -> Reason {
        let computed = |(n, _): &FieldRef| matches!(self.graph.node(*n).kind, Kind::Compute(_));
        if self.graph.fields(n).iter().all(computed) {
            Reason::Scalar
        } else {
            Reason::Fold
        }
    }
}
