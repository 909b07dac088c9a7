//! What an item depends on: whether its inputs may be made in its loop, and what must be complete before that starts.

use super::super::problem::{Class, Item, Stream};
use super::super::reason::Reason;
use super::Builder;
use crate::ast::{Capture, Kind};
use crate::fusion::rates::indexed_array;
use crate::sharing::{FieldRef, NodeId};

impl Builder<'_> {
    /// Links an item to what makes a node's inputs.
    pub(super) fn link_inputs(&mut self, id: NodeId, item: &mut Item) {
        let node = &self.graph.nodes[id.index()];
        for (i, input) in node.inputs.iter().enumerate() {
            let base = node.node.kind.facts().has_base && i == 0;
            let beside = self.rates.is_beside(id, i);
            let appends = matches!(node.node.kind, Kind::Append);
            let in_order = || {
                let class = self.rates.output(id);
                class.is_some_and(|c| self.rates.families().may_compute(c, i))
            };
            let in_memory = appends && !in_order();
            let twin = self
                .rates
                .twin_of(id)
                .and_then(|z| self.built.item_of[z.index()]);
            let prevents = match (base, beside || in_memory) {
                (true, _) => Some(Reason::ScatterBase),
                (_, true) if twin.is_none() => Some(Reason::RatesDiffer),
                _ => None,
            };
            self.link_to(*input, prevents, item);
            self.link_position(id, i, item);
            // A zip that checks lengths does so before its elements are used.
            if let Some(checked) = self.built.item_of[input.index()] {
                item.link(checked, None);
            }
            // What another zip's sides deliver is had at that one's class.
            if let (Some(maker), Some(class)) = (twin, self.rates.runs_at(id)) {
                let class = self.class_for(id, class);
                item.link(maker, None);
                item.stream(Stream {
                    maker: Some(maker),
                    class,
                });
            }
            // What a node reads from memory at its own counter is in step with nothing.
            if !base && !beside && !appends {
                let class = self.rates.output(*input);
                let class = class.map(|c| self.class_for(id, c));
                self.stream(*input, class, item);
            }
            let runs_over = if appends { *input } else { id };
            self.link_free(*input, runs_over, item);
            // The copy of a base is made before the loop, a class of its own is as long as what it goes over, and what is
            // beside another class is held against that.
            if base || in_memory || beside && twin.is_none() {
                self.link_lengths_before(*input, item);
            }
        }
    }

    /// Links an item to the makers of a node's fields.
    pub(super) fn link_to(&self, n: NodeId, prevents: Option<Reason>, item: &mut Item) {
        for (n, _) in self.graph.fields(n) {
            self.link_to_maker(n, prevents, item);
        }
    }

    /// Links an item to the node that makes a field.
    pub(super) fn link_to_maker(&self, n: NodeId, prevents: Option<Reason>, item: &mut Item) {
        if let Some(maker) = self.built.item_of[n.index()] {
            let scattered = matches!(self.graph.node(n).kind, Kind::Scatter(..));
            let complete = scattered.then_some(Reason::ScatterResult);
            item.link(maker, prevents.or(complete));
        }
    }

    /// An input that is consumed in step, at the class of this number.
    pub(super) fn stream(&mut self, input: NodeId, at: Option<usize>, item: &mut Item) {
        let Some(at) = at else {
            return;
        };
        for field in 0..self.graph.node(input).types.len() as u32 {
            let named = self.rates.named(self.graph, (input, field));
            // What a zip advances on demand is had from the zip, at its class.
            if let Some(maker) = named.zip.map(|z| self.built.item_of[z.index()]) {
                item.stream(Stream { maker, class: at });
                continue;
            }
            let (n, beside) = (named.field.0, named.beside.is_some());
            let maker = self.built.item_of[n.index()];
            // In the cursors of a zip's side each element is come to, though their classes are subrates of its attempts.
            let on_side = matches!(self.built.problem.classes[at], Class::Sub(_));
            let read = beside || on_side && self.graph.nodes[n.index()].leaf;
            if maker.is_none() && (self.free[n.index()] || read) {
                continue;
            }
            // Under another name, columns may be used at another class than they are made at; and in a zip's cursors.
            if let (Some(maker), Some(made)) = (maker, self.rates.output(n))
                && (beside || self.class_for(n, made) != at)
            {
                item.link(maker, Some(Reason::NoCommonRate));
            }
            item.stream(Stream { maker, class: at });
        }
    }

    /// A free generator brings along what it captures, and its length, to where another node runs.
    pub(super) fn link_free(&self, input: NodeId, at: NodeId, item: &mut Item) {
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

    /// What a merge reads at positions of its own is made before, or computed there from what was.
    pub(super) fn link_position(&self, id: NodeId, input: usize, item: &mut Item) {
        if self.rates.is_at_position(self.graph, id, input) {
            let read = self.graph.nodes[id.index()].inputs[input];
            self.link_captured(read, Some(Reason::RatesDiffer), item);
        }
    }

    pub(super) fn link_captures(&self, id: NodeId, item: &mut Item) {
        let node = &self.graph.nodes[id.index()];
        let is_scalar = self.rates.runs_at(id).is_none();
        let kind = &node.node.kind;
        for ((role, body), captures) in kind.bodies_by_role().iter().zip(&node.captures) {
            for (capture, n) in body.captures.iter().zip(captures) {
                let prevents = match capture {
                    // A delayed scalar computed from others may be computed where they are.
                    Capture::Scalar(_) if is_scalar => None,
                    Capture::Scalar(_) if role.runs_for_elements() => self.captured_scalar(*n, id),
                    Capture::Scalar(_) => Some(self.scalar_reason(*n)),
                    Capture::Array(_) => Some(Reason::RandomAccess),
                };
                self.link_captured(*n, prevents, item);
            }
        }
    }

    /// As [`link_to`](Self::link_to), of what a closure captures: what is pulled is computed where it is
    /// read, from what was made before.
    fn link_captured(&self, n: NodeId, prevents: Option<Reason>, item: &mut Item) {
        for (n, _) in self.graph.fields(n) {
            if !self.pulls.stands_for_others(n) {
                let costly = self.pulls.is_costly(n) && prevents == Some(Reason::RandomAccess);
                let prevents = if costly {
                    Some(Reason::Costly)
                } else {
                    prevents
                };
                self.link_to(n, prevents, item);
                continue;
            }
            for behind in self.pulls.behind(n) {
                let reason = match self.graph.node(*behind).rank {
                    0 => self.scalar_reason(*behind),
                    _ => Reason::RandomAccess,
                };
                self.link_to(*behind, Some(reason), item);
            }
        }
    }

    /// A delayed length is known before the loop; that of an array that a loop has to find out is known
    /// wherever the array is.
    pub(super) fn link_length(&self, id: NodeId, item: &mut Item) {
        let mut generator = id;
        while let Some(length) = self.graph.nodes[generator.index()].length {
            match indexed_array(self.graph, generator) {
                Some(array) if !self.pulls.is_in_no_loop(length) => {
                    self.link_to(array, None, item);
                    if !self.free[array.index()] {
                        return;
                    }
                    // It is in no loop itself: whatever tells its length does.
                    generator = array;
                }
                _ => return self.link_captured(length, Some(Reason::Length), item),
            }
        }
    }

    /// As [`link_length`](Self::link_length) of free generators among an input's fields whose lengths, whatever tells
    /// them, are needed before the loop.
    pub(super) fn link_lengths_before(&self, input: NodeId, item: &mut Item) {
        for (generator, _) in self.graph.fields(input) {
            let length = self.graph.nodes[generator.index()].length;
            if let Some(length) = length.filter(|_| self.free[generator.index()]) {
                self.link_captured(length, Some(Reason::Length), item);
            }
        }
    }

    /// The lengths of segments are there before their elements, and tags before what they leave, and so is what decides
    /// over the classes around, up to where the item's loop knows of none. What depends on the item has no item yet.
    pub(super) fn link_deciding(&self, item: &mut Item) {
        for class in item.at.clone() {
            let above = |c: usize| self.built.problem.classes[c].parent();
            let path = || std::iter::successors(Some(class), |c| above(*c));
            // Numbers fall on the way up.
            let floor = item.floor.filter(|f| path().any(|c| c == *f));
            let is_below = |c: &usize| floor.is_none_or(|f| *c > f);
            let mut decided = self.decided[class];
            while let Some(number) = decided.filter(is_below) {
                decided = above(number).and_then(|c| self.decided[c]);
                let c = self.built.classes[number];
                let Some((decides, _)) = self.rates.kind(c).decided_by() else {
                    continue;
                };
                // What is of another class than it decides over is read from memory beside that.
                let beside = self.rates.output(decides) != self.rates.parent(c);
                let prevents = beside.then_some(Reason::RatesDiffer);
                self.link_to_maker(decides, prevents, item);
                // Lengths that belong to no loop are computed in this one, from what is there before it.
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

    /// Why a delayed scalar that a node captures must be there before its loop; none if it may be folded by an earlier
    /// phase of that.
    fn captured_scalar(&self, scalar: NodeId, by: NodeId) -> Option<Reason> {
        let class = self.rates.runs_at(by).or(self.rates.output(by));
        let over = class.map(|c| self.rates.top(c));
        let is_known = |n: NodeId| {
            let kind = &self.graph.node(n).kind;
            let folds = matches!(kind, Kind::Fold(_) | Kind::ScanTotal | Kind::Len);
            let root = self.rates.runs_at(n).map(|c| self.rates.top(c));
            let plain = |n: NodeId| self.rates.cursors_of(n).is_none();
            let both = root.zip(over).filter(|_| folds && plain(n) && plain(by));
            both.is_some_and(|(root, over)| self.rates.families().is_before(root, over))
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
