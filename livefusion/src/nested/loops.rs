//! Loops over arrays in a closure: one loop, whose step works on all segments.
//!
//! If all segments take equally many steps, the loop is in [`Lift::together`]. Otherwise it is in
//! [`super::stopping`]. A state that exceeds the caches is in [`super::blocks`].

use super::lift::{Lift, Lifted, no_rule, rows};
use crate::ast::{ArrayLoop, Axis, Builder, Ends, Kind, Len, Node};
use crate::iterate::StepTrace;
use std::sync::Arc;

/// Describes how the loop over all segments holds a component of the state. Each form holds more
/// cases than the one before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum StateForm {
    /// The same value for all segments. The closure's own node stands for it in a step, so that
    /// invariants of the closure stay as they are.
    Same,
    /// A delayed scalar of each segment.
    Each,
    /// An array of each segment, whose length no step changes. Held: the data.
    Fixed,
    /// An array of each segment, with one length for all. Held: the length and the data.
    Uniform,
    /// An array of each segment. Held: the lengths and the data.
    Varying,
}

/// Describes a loop over all segments.
#[derive(Clone, Debug)]
pub(super) struct LoopForm {
    /// Whether the number of steps depends on the segment.
    pub(super) stops_apart: bool,
    /// The form of each component.
    pub(super) forms: Vec<StateForm>,
}

/// A component of the state.
#[derive(Clone, Copy)]
pub(super) struct Component {
    /// Its number.
    pub(super) k: usize,
    pub(super) form: StateForm,
    /// Whether steps change it.
    pub(super) changes: bool,
}

impl Lift {
    /// Lifts a component of the final state of a loop.
    pub(super) fn loop_result(&mut self, node: &Node, of: &Arc<ArrayLoop>, k: u32) -> Lifted {
        let name = Arc::as_ptr(of);
        if !self.ended.contains_key(&name) {
            let ended = self.array_loop(of);
            self.ended.insert(name, ended);
        }
        let ended = self.ended.get(&name).and_then(|all| all.get(k as usize));
        ended.cloned().unwrap_or_else(|| no_rule(node))
    }

    /// Lifts a loop. Tries the narrowest forms first. A step that does not keep them shows wider
    /// ones, which are also the first ones of the next trial, if the loop is in another.
    pub(super) fn array_loop(&mut self, of: &Arc<ArrayLoop>) -> Vec<Lifted> {
        let b = Builder::at(of.name, of.loc);
        loop {
            let form = self.loop_form(of);
            let ended = match self.block_of(of, &form) {
                Some(rows) => self.in_blocks(of, &form, rows),
                None if form.stops_apart => self.stopping(b, of, form),
                None => self.together(b, of, form),
            };
            match ended {
                Ok(ended) => return ended,
                Err(wider) => _ = self.forms.insert(Arc::as_ptr(of), wider),
            }
        }
    }

    /// The narrowest form that a loop may have.
    fn loop_form(&self, of: &Arc<ArrayLoop>) -> LoopForm {
        let stops_apart = match &of.ends {
            Ends::After(n) => self.common(n).is_none(),
            Ends::Unless(first) => !self.is_same(first),
        };
        let known = self.forms.get(&Arc::as_ptr(of));
        let stops_apart = stops_apart || known.is_some_and(|known| known.stops_apart);
        let forms = of.inputs.iter().zip(&of.start).enumerate();
        let forms = forms.map(|(k, (input, start))| {
            let may_differ = stops_apart && input.rank > 0 && !Arc::ptr_eq(input, &of.step[k]);
            let least = match (input.rank, self.lifted(start)) {
                (_, Lifted::Same(_)) if !may_differ => StateForm::Same,
                (0, _) => StateForm::Each,
                _ => StateForm::Fixed,
            };
            known.map_or(least, |known| known.forms[k].max(least))
        });
        LoopForm {
            stops_apart,
            forms: forms.collect(),
        }
    }

    /// The number of steps, if all segments have the same.
    fn common(&self, n: &Arc<Node>) -> Option<Arc<Node>> {
        match self.lifted(n) {
            Lifted::Same(n) => Some(n),
            Lifted::Each(each) => Axis::of_rows(&each).map(|n| n.node().clone()),
            Lifted::Rows(_) => None,
        }
    }

    /// A loop whose steps all segments take together. Returns wider forms if the step needs them.
    fn together(
        &mut self,
        b: Builder,
        of: &Arc<ArrayLoop>,
        form: LoopForm,
    ) -> Result<Vec<Lifted>, LoopForm> {
        let held = held(of, &form);
        let mut start = Vec::new();
        for c in &held {
            start.extend(self.parts(b, *c, &of.start[c.k]));
        }
        let mut trace = StepTrace::begin(b, &start);
        stand_in(&mut trace, of, &held, 0);
        let mut step = self.of_step(of, self.segments.clone());
        for node in around(of) {
            step.takes(node, self.lifted(node));
        }
        step.begin(b, of, &held, &trace.state);
        let wider = step.wider(b, of, &form, &held);
        let (next, goes_on) = match wider {
            Some(_) => (Vec::new(), None),
            None => step.next(b, of, &held),
        };
        self.forms = step.forms;
        if let Some(wider) = wider {
            return Err(wider);
        }
        let ends = match &of.ends {
            Ends::After(n) => Ends::After(self.common(n).unwrap_or_else(|| n.clone())),
            Ends::Unless(first) => match self.lifted(first) {
                Lifted::Same(first) => Ends::Unless(first),
                _ => Ends::Unless(first.clone()),
            },
        };
        let ended = trace.ended(ends, &next, goes_on);
        Ok(self.results(b, of, &held, &ended, |lift, c, rest| {
            match lift.held(b, of, c, rest) {
                Lifted::Same(node) => lift.of_each_segment(b, &node),
                held => held,
            }
        }))
    }

    /// The lifted form of all components. `value` gives that of a held one, whose nodes it takes
    /// from the rest of the state.
    pub(super) fn results(
        &mut self,
        b: Builder,
        of: &Arc<ArrayLoop>,
        held: &[Component],
        ended: &[Arc<Node>],
        mut value: impl FnMut(&mut Lift, Component, &mut &[Arc<Node>]) -> Lifted,
    ) -> Vec<Lifted> {
        if let Some(wrong) = ended.iter().find(|n| n.error.is_some()) {
            let fault = |n: &Arc<Node>| Lifted::Same(b.mistaken(wrong, &n.types, n.rank));
            return of.inputs.iter().map(fault).collect();
        }
        let mut all: Vec<Lifted> = of.start.iter().map(|n| self.lifted(n)).collect();
        let mut rest = ended;
        for c in held {
            let value = value(self, *c, &mut rest);
            if c.changes {
                all[c.k] = value;
            }
        }
        all
    }

    /// An invariant that the closure does not know, as a value of each segment.
    fn of_each_segment(&mut self, b: Builder, node: &Arc<Node>) -> Lifted {
        match node.rank {
            0 => Lifted::Each(self.repeated(b, node)),
            _ => {
                let lengths = self.constant_len(b, node);
                let data = self.aligned(b, &Lifted::Same(node.clone()), &lengths);
                rows(lengths, data)
            }
        }
    }

    /// A lift of a step onto these segments. It knows nothing of the closure yet.
    pub(super) fn of_step(&mut self, of: &Arc<ArrayLoop>, segments: Arc<Node>) -> Lift {
        let mut step = Lift::new(segments);
        step.chosen = self.chosen;
        step.forms = std::mem::take(&mut self.forms);
        step.kept.extend(of.step.iter().cloned());
        step
    }

    /// Makes the step's inputs stand for the current state. The captures and the start are known.
    pub(super) fn begin(
        &mut self,
        b: Builder,
        of: &Arc<ArrayLoop>,
        held: &[Component],
        state: &[Arc<Node>],
    ) {
        for (input, start) in of.inputs.iter().zip(&of.start) {
            self.stands_for(input, self.lifted(start));
        }
        let mut rest = state;
        for c in held {
            let held = self.held(b, of, *c, &mut rest);
            self.stands_for(&of.inputs[c.k], held);
        }
    }

    /// Lifts a step. Returns the forms of its results, if they are wider than the current ones.
    pub(super) fn wider(
        &mut self,
        b: Builder,
        of: &Arc<ArrayLoop>,
        form: &LoopForm,
        held: &[Component],
    ) -> Option<LoopForm> {
        let mut wider = form.clone();
        for c in held {
            self.lift(&of.step[c.k]);
            wider.forms[c.k] = self.form(b, of, *c);
        }
        if let Ends::Unless(_) = of.ends
            && let Some(goes_on) = of.step.last()
        {
            self.lift(goes_on);
            wider.stops_apart |= !self.is_same(goes_on);
        }
        let same = wider.forms == form.forms && wider.stops_apart == form.stops_apart;
        (!same).then_some(wider)
    }

    /// The form of a component that holds its current and its next value.
    fn form(&mut self, b: Builder, of: &Arc<ArrayLoop>, c: Component) -> StateForm {
        let next = &of.step[c.k];
        match (c.form, of.inputs[c.k].rank) {
            (StateForm::Same, _) if self.is_same(next) => StateForm::Same,
            (StateForm::Same | StateForm::Each, 0) => StateForm::Each,
            (StateForm::Varying, _) => StateForm::Varying,
            (form, _) => {
                let from = self.rows_of(b, &of.start[c.k]).lengths;
                let to = self.rows_of(b, next).lengths;
                let axes = (Axis::of_rows(&from), Axis::of_rows(&to));
                let is_kept = match &axes {
                    (Some(from), Some(to)) => from.is(to),
                    _ => Arc::ptr_eq(&from, &to),
                };
                match axes {
                    _ if form <= StateForm::Fixed && is_kept => StateForm::Fixed,
                    (Some(_), Some(_)) => StateForm::Uniform,
                    _ => StateForm::Varying,
                }
            }
        }
    }

    /// The next state, and its test if all segments stop together.
    fn next(
        &mut self,
        b: Builder,
        of: &Arc<ArrayLoop>,
        held: &[Component],
    ) -> (Vec<Arc<Node>>, Option<Arc<Node>>) {
        let mut next = Vec::new();
        for c in held {
            next.extend(self.parts(b, *c, &of.step[c.k]));
        }
        let goes_on = match &of.ends {
            Ends::After(_) => None,
            Ends::Unless(_) => of.step.last().map(|goes_on| match self.lifted(goes_on) {
                Lifted::Same(goes_on) => goes_on,
                _ => goes_on.clone(),
            }),
        };
        (next, goes_on)
    }

    /// The nodes that hold the value of a component.
    pub(super) fn parts(&mut self, b: Builder, c: Component, value: &Arc<Node>) -> Vec<Arc<Node>> {
        match c.form {
            StateForm::Same => match self.lifted(value) {
                Lifted::Same(node) if node.rank > 1 => vec![b.reshape(&node, None)],
                Lifted::Same(node) | Lifted::Each(node) => vec![node],
                Lifted::Rows(all) => vec![all.data],
            },
            StateForm::Each => vec![self.each_of(b, value)],
            StateForm::Fixed => vec![self.rows_of(b, value).data],
            StateForm::Uniform => {
                let all = self.rows_of(b, value);
                let length = Axis::of_rows(&all.lengths);
                let length = length.map_or(all.lengths, |length| length.node().clone());
                vec![length, all.data]
            }
            StateForm::Varying => {
                let all = self.rows_of(b, value);
                vec![all.lengths, all.data]
            }
        }
    }

    /// The value of a component from the nodes that hold it, the first ones of `rest`.
    pub(super) fn held(
        &mut self,
        b: Builder,
        of: &Arc<ArrayLoop>,
        c: Component,
        rest: &mut &[Arc<Node>],
    ) -> Lifted {
        let (held, others) = rest.split_at(c.form.held_nodes());
        *rest = others;
        let (first, last) = (held[0].clone(), held[held.len() - 1].clone());
        match c.form {
            StateForm::Same => Lifted::Same(first),
            StateForm::Each => Lifted::Each(first),
            StateForm::Fixed => rows(self.rows_of(b, &of.start[c.k]).lengths, last),
            StateForm::Uniform => rows(self.constant_scalar(b, &first), last),
            StateForm::Varying => rows(first, last),
        }
    }
}

/// The nodes from around a loop that its lifted step may use: the captures, the start, and the
/// lengths of generators among these, since a rule takes such a length for that of the generator.
pub(super) fn around(of: &ArrayLoop) -> impl Iterator<Item = &Arc<Node>> {
    of.captures.iter().chain(&of.start).flat_map(|node| {
        let length = match &node.kind {
            Kind::Generate(Len::Delayed(n), _) => Some(n),
            _ => None,
        };
        [node].into_iter().chain(length)
    })
}

/// The components that are part of the new state.
pub(super) fn held(of: &ArrayLoop, form: &LoopForm) -> Vec<Component> {
    let all = form.forms.iter().zip(&of.step).zip(&of.inputs).enumerate();
    let all = all.map(|(k, ((form, next), input))| Component {
        k,
        form: *form,
        changes: !Arc::ptr_eq(next, input),
    });
    all.filter(|c| c.changes || c.form == StateForm::Same)
        .collect()
}

/// Lets the closure's own nodes stand for components that are the same for all segments. The nodes
/// of the components begin at `first`.
pub(super) fn stand_in(
    trace: &mut StepTrace<'_>,
    of: &ArrayLoop,
    held: &[Component],
    first: usize,
) {
    let mut at = first;
    for c in held {
        if c.form == StateForm::Same {
            trace.stands_for(at, &of.inputs[c.k]);
        }
        at += c.form.held_nodes();
    }
}
