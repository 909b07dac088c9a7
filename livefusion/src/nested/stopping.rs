//! Loops over arrays whose segments take different numbers of steps.
//!
//! The state holds only the segments that still take steps, so a step never runs code for another.
//! When a segment stops, its final value moves to the results, which are further components of the
//! state. An array whose length steps change has no fixed place there: such arrays are appended in
//! the order in which their segments stop.

use super::align::read_at;
use super::lift::{ChosenRows, Lift, Lifted, Rows, SharedNode, rows};
use super::loops::{Component, LoopForm, StateForm, around, held, stand_in};
use crate::ast::{
    ArrayLoop, Assert, Axis, Body, BodyBuilder, Builder, Ends, Len, Node, TermId, identity,
};
use crate::iterate::StepTrace;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

impl Lift {
    /// A loop whose segments stop at different steps. Returns wider forms if the step needs them.
    pub(super) fn stopping(
        &mut self,
        b: Builder,
        of: &Arc<ArrayLoop>,
        form: LoopForm,
    ) -> Result<Vec<Lifted>, LoopForm> {
        let held = held(of, &form);
        let start = self.first_going(b, of, &held);
        let mut trace = StepTrace::begin(b, &start);
        stand_in(&mut trace, of, &held, head_nodes(of));
        let (head, state) = trace.state.split_at(head_nodes(of));
        let in_step = held.iter().map(|c| c.form.held_nodes()).sum();
        let (state, finals) = state.split_at(in_step);
        let mut step = self.of_going(b, of, head[0].clone());
        step.begin(b, of, &held, state);
        let wider = step.wider(b, of, &form, &held);
        let next = match wider {
            Some(_) => Vec::new(),
            None => self.next_going(b, of, &held, &mut step, [head, state, finals]),
        };
        self.forms = step.forms;
        if let Some(wider) = wider {
            return Err(wider);
        }
        let first = any(b, &start[0]);
        let goes_on = match of.is_side() {
            true => b.constant(&[Const::bool(false)]),
            false => any(b, &next[0]),
        };
        let ended = trace.ended(Ends::Unless(first), &next, Some(goes_on));
        let changed: Vec<Component> = held.into_iter().filter(|c| c.changes).collect();
        Ok(self.finals(b, of, &changed, &ended[head_nodes(of) + in_step..]))
    }

    /// The lifted form of all components, from the nodes that hold the final values.
    pub(super) fn finals(
        &mut self,
        b: Builder,
        of: &Arc<ArrayLoop>,
        changed: &[Component],
        finals: &[Arc<Node>],
    ) -> Vec<Lifted> {
        self.results(b, of, changed, finals, |lift, c, rest| {
            let (nodes, others) = rest.split_at(c.form.final_nodes());
            *rest = others;
            lift.final_value(b, of, c, nodes)
        })
    }

    /// The state before the first step: the numbers of the segments that take it, the number of
    /// steps if it is counted, the state of these segments, and the final values of all.
    fn first_going(
        &mut self,
        b: Builder,
        of: &Arc<ArrayLoop>,
        held: &[Component],
    ) -> Vec<Arc<Node>> {
        let goes_on = match &of.ends {
            Ends::After(n) => {
                let n = self.each_of(b, n);
                b.map(&[n], above(&b.constant(&[Const::u64(0)])))
            }
            Ends::Unless(first) => self.each_of(b, first),
        };
        let all = Len::Delayed(b.len(&self.segments));
        let going = b.pack(&b.generate(all, identity(&[Ty::U64])), &goes_on);
        let mut state = vec![going.clone()];
        if let Ends::After(_) = of.ends {
            state.push(b.constant(&[Const::u64(0)]));
        }
        let mut first = self.of_going(b, of, going);
        for c in held {
            state.extend(first.parts(b, *c, &of.start[c.k]));
        }
        self.forms = first.forms;
        for c in held.iter().filter(|c| c.changes) {
            state.extend(self.final_parts(b, *c, &of.start[c.k]));
        }
        state
    }

    /// The state after a step. No step reads that of a side of a choice, whose segments all stop.
    fn next_going(
        &mut self,
        b: Builder,
        of: &Arc<ArrayLoop>,
        held: &[Component],
        step: &mut Lift,
        [head, state, finals]: [&[Arc<Node>]; 3],
    ) -> Vec<Arc<Node>> {
        let (mut next, stopped) = match of.is_side() {
            true => {
                let (ids, stops) = (head[0].clone(), None);
                ([head, state].concat(), Stopped { ids, stops })
            }
            false => self.going_on(b, of, held, step, head),
        };
        let mut rest = finals;
        for c in held.iter().filter(|c| c.changes) {
            let (old, others) = rest.split_at(c.form.final_nodes());
            rest = others;
            next.extend(self.finished(b, of, step, *c, old, &stopped));
        }
        next
    }

    /// The state of the segments that take another step, and the segments that stop.
    fn going_on(
        &mut self,
        b: Builder,
        of: &Arc<ArrayLoop>,
        held: &[Component],
        step: &mut Lift,
        head: &[Arc<Node>],
    ) -> (Vec<Arc<Node>>, Stopped) {
        let count = head.get(1).map(|taken| one_more(b, taken));
        let goes_on = match (&of.ends, &count) {
            (Ends::After(n), Some(count)) => {
                let n = self.each_of(b, n);
                let n = step.chosen(b, &self.segments, &n);
                b.map(&[n], above(count))
            }
            (Ends::After(first) | Ends::Unless(first), _) => {
                step.each_of(b, of.step.last().unwrap_or(first))
            }
        };
        let mut next = vec![b.pack(&head[0], &goes_on)];
        next.extend(count);
        for c in held {
            let nodes = step.parts(b, *c, &of.step[c.k]);
            next.extend(step.kept(b, *c, &of.step[c.k], nodes, &goes_on));
        }
        let stops = b.map(std::slice::from_ref(&goes_on), not());
        let ids = b.pack(&head[0], &stops);
        let stops = Some(stops);
        (next, Stopped { ids, stops })
    }

    /// A lift of the step onto the segments of these numbers, which still take steps.
    fn of_going(&mut self, b: Builder, of: &Arc<ArrayLoop>, going: Arc<Node>) -> Lift {
        self.of_some(of, going, |lift, step, lifted| match lifted {
            Lifted::Same(node) => Lifted::Same(node),
            Lifted::Each(each) => Lifted::Each(step.chosen(b, &lift.segments, &each)),
            Lifted::Rows(all) => {
                let begins = lift.offsets(b, &all);
                let lengths = step.chosen(b, &lift.segments, &all.lengths);
                let begins = step.chosen(b, &lift.segments, &begins);
                rows(lengths.clone(), elements(b, &lengths, &begins, &all.data))
            }
        })
    }

    /// A lift onto the segments of these numbers. `some` gives their part of a value of all
    /// segments.
    pub(super) fn of_some(
        &mut self,
        of: &Arc<ArrayLoop>,
        numbers: Arc<Node>,
        mut some: impl FnMut(&mut Lift, &mut Lift, Lifted) -> Lifted,
    ) -> Lift {
        let mut part = self.of_step(of, numbers);
        part.chosen = match self.chosen {
            ChosenRows::All => ChosenRows::Numbered,
            ChosenRows::Numbered | ChosenRows::Some => ChosenRows::Some,
        };
        for node in around(of) {
            let all = self.lifted(node);
            let some = some(self, &mut part, all);
            part.takes(node, some);
        }
        part
    }

    /// The values of this lift's segments among those of all. The segments of this lift are
    /// numbers of those segments.
    fn chosen(&mut self, b: Builder, all: &Arc<Node>, each: &Arc<Node>) -> Arc<Node> {
        if let Some(length) = Axis::of_rows(each) {
            return self.constant_axis(b, &length);
        }
        self.once(SharedNode::Chosen(Arc::as_ptr(each)), &[each], |lift| {
            let mut body = BodyBuilder::new(&[Ty::U64]);
            body.locate(Some(b.loc()));
            let mut at = body.param(0);
            if !Arc::ptr_eq(all, each) {
                let [expected, got] = [all, each].map(|n| b.len(n));
                let lengths = [body.scalar(&got, 0), body.scalar(&expected, 0)];
                // The number is below the length. The minimum only adds a dependency on the check.
                let checked = body.ensure(Assert::Equal, &lengths);
                at = body.op(Op::Min, &[at, checked]);
            }
            let fields = 0..each.types.len() as u32;
            let fields: Vec<TermId> = fields.map(|f| body.at(each, f, at, false)).collect();
            b.map(std::slice::from_ref(&lift.segments), body.finish(&fields))
        })
    }

    /// The nodes that hold a component, for the segments that go on only.
    fn kept(
        &mut self,
        b: Builder,
        c: Component,
        value: &Arc<Node>,
        nodes: Vec<Arc<Node>>,
        goes_on: &Arc<Node>,
    ) -> Vec<Arc<Node>> {
        let tags = match c.form {
            StateForm::Same | StateForm::Each => goes_on.clone(),
            StateForm::Fixed | StateForm::Uniform | StateForm::Varying => {
                let lengths = self.rows_of(b, value).lengths;
                self.spread(b, &lengths, goes_on)
            }
        };
        match (c.form, nodes.as_slice()) {
            (StateForm::Each | StateForm::Fixed, [values]) => vec![b.pack(values, &tags)],
            (StateForm::Uniform, [length, data]) => vec![length.clone(), b.pack(data, &tags)],
            (StateForm::Varying, [lengths, data]) => {
                vec![b.pack(lengths, goes_on), b.pack(data, &tags)]
            }
            _ => nodes,
        }
    }

    /// The nodes that hold the final values of a component. They begin as those of the start.
    pub(super) fn final_parts(
        &mut self,
        b: Builder,
        c: Component,
        start: &Arc<Node>,
    ) -> Vec<Arc<Node>> {
        match c.form {
            StateForm::Same | StateForm::Each => vec![self.each_of(b, start)],
            StateForm::Fixed => vec![self.rows_of(b, start).data],
            StateForm::Uniform | StateForm::Varying => {
                let all = self.rows_of(b, start);
                vec![all.lengths.clone(), self.offsets(b, &all), all.data]
            }
        }
    }

    /// The final values after a step: `old`, and those of the segments that stop.
    fn finished(
        &mut self,
        b: Builder,
        of: &Arc<ArrayLoop>,
        step: &mut Lift,
        c: Component,
        old: &[Arc<Node>],
        stopped: &Stopped,
    ) -> Vec<Arc<Node>> {
        let next = &of.step[c.k];
        match (c.form, old) {
            (StateForm::Same | StateForm::Each, [old]) => {
                let each = step.each_of(b, next);
                vec![stopped.written(b, old, &each)]
            }
            (StateForm::Fixed, [old]) => {
                let all = step.rows_of(b, next);
                let begins = self.rows_of(b, &of.start[c.k]);
                let begins = self.offsets(b, &begins);
                let begins = step.chosen(b, &self.segments, &begins);
                let at = b.expand(&all.lengths, &[begins], sum());
                let [at, data] = stopped.elements(b, step, &all.lengths, [at, all.data]);
                vec![b.scatter_within(old, &at, &data, None)]
            }
            (_, [lengths, begins, data]) => {
                let all = step.rows_of(b, next);
                let taken = stopped.each(b, &all.lengths);
                let [new] = stopped.elements(b, step, &all.lengths, [all.data]);
                let first = b.len(data);
                let mut body = BodyBuilder::new(&[Ty::U64]);
                let (first, more) = (body.scalar(&first, 0), body.param(0));
                let begin = body.op(Op::Add, &[first, more]);
                let at = b.map(&[b.offsets(&taken)], body.finish(&[begin]));
                vec![
                    b.scatter_within(lengths, &stopped.ids, &taken, None),
                    b.scatter_within(begins, &stopped.ids, &at, None),
                    b.append(&[data.clone(), new]),
                ]
            }
            _ => old.to_vec(),
        }
    }

    /// The value of a component after the loop.
    fn final_value(
        &mut self,
        b: Builder,
        of: &Arc<ArrayLoop>,
        c: Component,
        nodes: &[Arc<Node>],
    ) -> Lifted {
        match (c.form, nodes) {
            (StateForm::Fixed, [data]) => {
                let Rows { lengths, .. } = self.rows_of(b, &of.start[c.k]);
                rows(lengths, data.clone())
            }
            (_, [lengths, begins, data]) => {
                rows(lengths.clone(), elements(b, lengths, begins, data))
            }
            _ => Lifted::Each(nodes[0].clone()),
        }
    }
}

/// The segments that stop in a step.
struct Stopped {
    /// Their numbers among all segments.
    ids: Arc<Node>,
    /// Whether each segment of the step stops. None if all of them do.
    stops: Option<Arc<Node>>,
}

impl Stopped {
    /// Values of all segments, with the new ones of these segments.
    fn written(&self, b: Builder, all: &Arc<Node>, each: &Arc<Node>) -> Arc<Node> {
        b.scatter_within(all, &self.ids, &self.each(b, each), None)
    }

    /// Values of these segments, among those of the step.
    fn each(&self, b: Builder, each: &Arc<Node>) -> Arc<Node> {
        match &self.stops {
            Some(stops) => b.pack(each, stops),
            None => each.clone(),
        }
    }

    /// Elements of these segments, among those of the step.
    fn elements<const N: usize>(
        &self,
        b: Builder,
        step: &mut Lift,
        lengths: &Arc<Node>,
        data: [Arc<Node>; N],
    ) -> [Arc<Node>; N] {
        match &self.stops {
            Some(stops) => {
                let tags = step.spread(b, lengths, stops);
                data.map(|data| b.pack(&data, &tags))
            }
            None => data,
        }
    }
}

impl StateForm {
    /// The number of nodes that hold a component in a step.
    pub(super) fn held_nodes(self) -> usize {
        match self {
            StateForm::Same | StateForm::Each | StateForm::Fixed => 1,
            StateForm::Uniform | StateForm::Varying => 2,
        }
    }

    /// The number of nodes that hold the final values of a component.
    pub(super) fn final_nodes(self) -> usize {
        match self {
            StateForm::Same | StateForm::Each | StateForm::Fixed => 1,
            StateForm::Uniform | StateForm::Varying => 3,
        }
    }
}

/// The number of nodes of the state before its components.
fn head_nodes(of: &ArrayLoop) -> usize {
    match of.ends {
        Ends::After(_) => 2,
        Ends::Unless(_) => 1,
    }
}

/// The elements of segments that begin at these indices of the data, and are inside of it.
fn elements(b: Builder, lengths: &Arc<Node>, begins: &Arc<Node>, data: &Arc<Node>) -> Arc<Node> {
    read_at(b, data, lengths, std::slice::from_ref(begins), |body| {
        let [index, begin] = [0, 1].map(|k| body.param(k));
        body.op(Op::Add, &[begin, index])
    })
}

/// The sum of two indices.
fn sum() -> Body {
    let mut b = BodyBuilder::new(&[Ty::U64; 2]);
    let [x, y] = [0, 1].map(|k| b.param(k));
    let sum = b.op(Op::Add, &[x, y]);
    b.finish(&[sum])
}

/// The negation of a flag.
fn not() -> Body {
    let mut b = BodyBuilder::new(&[Ty::Bool]);
    let flag = b.param(0);
    let not = b.op(Op::Not, &[flag]);
    b.finish(&[not])
}

/// Whether a number is above a delayed one.
fn above(least: &Arc<Node>) -> Body {
    let mut b = BodyBuilder::new(&[Ty::U64]);
    let (least, n) = (b.scalar(least, 0), b.param(0));
    let is_above = b.op(Op::Lt, &[least, n]);
    b.finish(&[is_above])
}

/// One more than a delayed number.
fn one_more(builder: Builder, n: &Arc<Node>) -> Arc<Node> {
    let mut b = BodyBuilder::new(&[]);
    let (n, one) = (b.scalar(n, 0), b.lit(Const::u64(1)));
    let more = b.op(Op::Add, &[n, one]);
    builder.compute(b.finish(&[more]))
}

/// Whether an array has elements.
fn any(builder: Builder, array: &Arc<Node>) -> Arc<Node> {
    let len = builder.len(array);
    let mut b = BodyBuilder::new(&[]);
    let (len, zero) = (b.scalar(&len, 0), b.lit(Const::u64(0)));
    let is_any = b.op(Op::Ne, &[len, zero]);
    builder.compute(b.finish(&[is_any]))
}
