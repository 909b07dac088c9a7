//! Loop recovery: turns elementwise loops over arrays into scalar loops.
//!
//! A loop over arrays that only maps them elementwise becomes a scalar loop in one map. A loop over
//! delayed scalars becomes a scalar loop alone. (The Accelerate chapter, on loop recovery.)

use super::sources_in;
use crate::ast::{
    ArrayLoop, Axis, Body, BodyBuilder, Builder, Capture, Ends, Kind, Len, Node, Shape, TermId,
    Value,
};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Returns the final components of a loop's state, if a scalar loop can compute them: arrays of
/// rank 1, and delayed scalars.
pub(super) fn recovered(builder: Builder, of: &ArrayLoop) -> Option<Vec<Arc<Node>>> {
    let components = 0..of.inputs.len();
    let (fixed, changed): (Vec<usize>, Vec<usize>) =
        components.partition(|k| Arc::ptr_eq(&of.step[*k], &of.inputs[*k]));
    let rank = of.inputs[*changed.first()?].rank;
    let counts = matches!(of.ends, Ends::After(_));
    if changed.iter().any(|k| of.inputs[*k].rank != rank) || rank > 0 && !counts {
        return None;
    }
    let mut recovery = LoopRecovery {
        of,
        builder,
        instead: fixed
            .iter()
            .map(|k| (address(&of.inputs[*k]), of.start[*k].clone()))
            .collect(),
        varies: FxHashSet::default(),
        seen: FxHashSet::default(),
        flats: FxHashMap::default(),
        is_scalar: rank == 0,
        inputs: Vec::new(),
    };
    let order = recovery.order()?;
    let start = changed.iter().map(|k| recovery.flattened(&of.start[*k]));
    recovery.inputs = start.collect();
    let state = recovery.inputs.len();
    for node in &order {
        recovery.invariants(node)?;
    }
    if recovery.inputs.len() > 1 && rank > 0 {
        let len = recovery.inputs[0].known_len()?;
        if recovery.inputs.iter().any(|n| n.known_len() != Some(len)) {
            return None;
        }
    }
    let body = recovery.body(&changed, &order, state)?;
    let all = match rank {
        0 => builder.compute(body),
        _ => builder.map(&recovery.inputs, body),
    };
    let mut ended = of.start.clone();
    let mut field = 0;
    for k in changed {
        let next = field + of.inputs[k].types.len() as u32;
        ended[k] = builder.fields(&all, field..next);
        field = next;
    }
    Some(ended)
}

fn address(node: &Arc<Node>) -> *const Node {
    Arc::as_ptr(node)
}

/// The array behind other shapes of the same elements.
fn base(mut node: &Arc<Node>) -> &Arc<Node> {
    while let (Kind::Zip, [of], false) = (&node.kind, node.inputs.as_slice(), node.is_leaf()) {
        node = of;
    }
    node
}

struct LoopRecovery<'a> {
    of: &'a ArrayLoop,
    builder: Builder,
    /// The values outside of the loop, by node: for components that no step changes, their start,
    /// and for nodes that depend on them, such nodes over the start.
    instead: FxHashMap<*const Node, Arc<Node>>,
    /// The nodes that differ from step to step.
    varies: FxHashSet<*const Node>,
    /// The visited nodes of the step.
    seen: FxHashSet<*const Node>,
    /// Arrays of higher rank, each with its elements in row-major order.
    flats: FxHashMap<*const Node, [Arc<Node>; 2]>,
    /// Whether the state consists of delayed scalars.
    is_scalar: bool,
    /// The mapped arrays: first those of the state, then loop-invariant inputs of the step.
    inputs: Vec<Arc<Node>>,
}

impl LoopRecovery<'_> {
    /// The nodes that differ from step to step, operands first. None if one cannot be computed for
    /// a single element.
    fn order(&mut self) -> Option<Vec<Arc<Node>>> {
        let mut order = Vec::new();
        let mut stack: Vec<(Arc<Node>, bool)> =
            self.of.step.iter().map(|n| (n.clone(), false)).collect();
        while let Some((node, ready)) = stack.pop() {
            let at = address(&node);
            if ready {
                let sources = sources_in(self.of, &node);
                let is_among = |n: &&&Arc<Node>| self.varies.contains(&address(n));
                let depends = sources.iter().any(|n| is_among(&n));
                let is_replaced = sources
                    .iter()
                    .any(|n| self.instead.contains_key(&address(n)));
                let is_state = !self.instead.contains_key(&at)
                    && self.of.inputs.iter().any(|n| Arc::ptr_eq(n, &node));
                if is_state || depends {
                    self.varies.insert(at);
                }
                if depends {
                    let has_form = match node.kind {
                        Kind::Map(_) | Kind::Zip | Kind::Fields(_) => !self.is_scalar,
                        Kind::Compute(_) => self.is_scalar,
                        _ => false,
                    };
                    has_form.then(|| order.push(node))?;
                } else if is_replaced {
                    let outside = self.rebuilt(&node)?;
                    self.instead.insert(at, outside);
                }
                continue;
            }
            if node.value.get().is_none() && self.seen.insert(at) {
                stack.push((node.clone(), true));
                stack.extend(
                    sources_in(self.of, &node)
                        .into_iter()
                        .map(|n| (n.clone(), false)),
                );
            }
        }
        Some(order)
    }

    fn is_fixed(&self, node: &Arc<Node>) -> bool {
        !self.varies.contains(&address(node))
    }

    /// The node's value outside of the loop.
    fn outside(&self, node: &Arc<Node>) -> Arc<Node> {
        self.instead.get(&address(node)).unwrap_or(node).clone()
    }

    /// A node over the start values of components that no step changes. None for a kind that is
    /// not built from its operands alone.
    fn rebuilt(&self, node: &Arc<Node>) -> Option<Arc<Node>> {
        let builder = Builder::like(node);
        let inputs: Vec<Arc<Node>> = node.inputs.iter().map(|n| self.outside(n)).collect();
        let made = match (&node.kind, inputs.as_slice()) {
            (Kind::Map(body), inputs) => builder.map(inputs, self.over_start(body)),
            (Kind::Compute(body), _) => builder.compute(self.over_start(body)),
            (Kind::Fields(range), [input]) => builder.fields(input, range.clone()),
            (Kind::Zip, [input]) => builder.reshape(input, self.shape(node)?),
            (Kind::Zip, inputs) => builder.zip(inputs),
            (Kind::Len, [input]) => builder.len(input),
            (Kind::Generate(len, body), _) => {
                let len = match len {
                    Len::Known(n) => Len::Known(*n),
                    Len::Delayed(n) => Axis::delayed(self.outside(n)).len(),
                    Len::Checked(_) => return None,
                };
                builder.generate(len, self.over_start(body))
            }
            _ => return None,
        };
        made.error.is_none().then_some(made)
    }

    /// A body over the start values of captured components.
    fn over_start(&self, body: &Body) -> Body {
        let mut body = body.clone();
        let is_replaced = |c: &Capture| self.instead.contains_key(&address(c.node()));
        if body.captures.iter().any(is_replaced) {
            for Capture::Scalar(node) | Capture::Array(node) in &mut body.captures {
                *node = self.outside(node);
            }
        }
        body
    }

    /// A node's shape over the start values. None if an axis is no operand of the step.
    fn shape(&self, node: &Node) -> Option<Option<Shape>> {
        let Some(shape) = &node.shape else {
            return Some(None);
        };
        let axes = shape.axes().iter().map(|axis| {
            let (at, n) = (address(axis.node()), axis.node());
            let is_there = n.value.get().is_some()
                || self.instead.contains_key(&at)
                || self.seen.contains(&at) && !self.varies.contains(&at);
            is_there.then(|| Axis::delayed(self.outside(n)))
        });
        let axes: Option<Vec<Axis>> = axes.collect();
        Some(Some(Shape::new(axes?)))
    }

    /// A node's elements in row-major order. Equal arrays give one node.
    fn flat(&self, node: &Arc<Node>) -> Arc<Node> {
        let base = base(node);
        match self.flats.get(&address(base)) {
            Some([_, flat]) => flat.clone(),
            None => base.clone(),
        }
    }

    /// As [`flat`](LoopRecovery::flat), made on first use.
    fn flattened(&mut self, node: &Arc<Node>) -> Arc<Node> {
        let base = base(node);
        if base.rank > 1 {
            let flat = || [base.clone(), self.builder.reshape(base, None)];
            self.flats.entry(address(base)).or_insert_with(flat);
        }
        self.flat(node)
    }

    /// Adds a node's loop-invariant inputs. None if a capture differs from step to step.
    fn invariants(&mut self, node: &Arc<Node>) -> Option<()> {
        if self.is_scalar {
            return Some(());
        }
        let arrays = node.inputs.iter().filter(|n| self.is_fixed(n));
        let arrays: Vec<Arc<Node>> = arrays.map(|n| self.outside(n)).collect();
        for array in arrays {
            let flat = self.flattened(&array);
            if !self.inputs.iter().any(|n| Arc::ptr_eq(n, &flat)) {
                self.inputs.push(flat);
            }
        }
        match &node.kind {
            Kind::Map(body) => body
                .captures
                .iter()
                .all(|c| self.is_fixed(c.node()))
                .then_some(()),
            _ => Some(()),
        }
    }

    /// The body of the map or of the computation. The first `state` inputs belong to the state.
    fn body(&self, changed: &[usize], order: &[Arc<Node>], state: usize) -> Option<Body> {
        let types = |n: &Arc<Node>| n.types.to_vec();
        let params: Vec<Ty> = match self.is_scalar {
            true => Vec::new(),
            false => self.inputs.iter().flat_map(types).collect(),
        };
        let mut b = BodyBuilder::new(&params);
        b.locate(Some(self.builder.loc()));
        let mut known: FxHashMap<*const Node, Vec<TermId>> = FxHashMap::default();
        let mut param = 0;
        let mut start = Vec::new();
        for (k, input) in self.inputs.iter().enumerate() {
            let fields: Vec<TermId> = match self.is_scalar {
                true => (0..input.types.len() as u32)
                    .map(|f| b.scalar(input, f))
                    .collect(),
                false => (0..input.types.len() as u32)
                    .map(|f| b.param(param + f))
                    .collect(),
            };
            param += fields.len() as u32;
            if k < state {
                start.extend(&fields);
            }
            // A step may also capture the start.
            known.insert(address(input), fields);
        }
        // The first loop variable is the step count, or the result of the test.
        let (first, limit) = match &self.of.ends {
            Ends::After(times) => {
                let known = match times.literal() {
                    Some(Value::Scalar(fields)) => fields.first().map(|c| b.lit(*c)),
                    _ => None,
                };
                let times = known.unwrap_or_else(|| b.scalar(times, 0));
                (b.lit(Const::u64(0)), Some(times))
            }
            Ends::Unless(first) => (b.scalar(first, 0), None),
        };
        let all: Vec<TermId> = [first].into_iter().chain(start).collect();
        let (number, vars) = b.open_loop(&all);
        let mut field = 1;
        for k in changed {
            let n = self.of.inputs[*k].types.len();
            known.insert(
                address(&self.of.inputs[*k]),
                vars[field..field + n].to_vec(),
            );
            field += n;
        }
        let test = match limit {
            Some(limit) => b.op(Op::Lt, &[vars[0], limit]),
            None => vars[0],
        };
        let counted = limit.map(|_| {
            let one = b.lit(Const::u64(1));
            b.op(Op::Add, &[vars[0], one])
        });
        for node in order {
            let fields = self.of_node(&mut b, &known, node)?;
            known.insert(address(node), fields);
        }
        let first = match counted {
            Some(counted) => counted,
            None => *self.fields(&mut b, &known, self.of.step.last()?)?.first()?,
        };
        let mut next = vec![first];
        for k in changed {
            next.extend(self.fields(&mut b, &known, &self.of.step[*k])?);
        }
        let ended = b.close_loop(number, test, &next);
        Some(b.finish(&ended[1..]))
    }

    /// The fields of an operand, for the current element.
    fn fields(
        &self,
        b: &mut BodyBuilder,
        known: &FxHashMap<*const Node, Vec<TermId>>,
        node: &Arc<Node>,
    ) -> Option<Vec<TermId>> {
        if let Some(fields) = known.get(&address(node)) {
            return Some(fields.clone());
        }
        let outside = self.outside(node);
        if node.rank == 0 {
            return Some(
                (0..node.types.len() as u32)
                    .map(|f| b.scalar(&outside, f))
                    .collect(),
            );
        }
        known.get(&address(&self.flat(&outside))).cloned()
    }

    /// The fields of a node, computed from those of its operands.
    fn of_node(
        &self,
        b: &mut BodyBuilder,
        known: &FxHashMap<*const Node, Vec<TermId>>,
        node: &Arc<Node>,
    ) -> Option<Vec<TermId>> {
        let mut operands = Vec::new();
        for input in &node.inputs {
            operands.extend(self.fields(b, known, input)?);
        }
        match &node.kind {
            Kind::Zip => Some(operands),
            Kind::Fields(range) => operands
                .get(range.start as usize..range.end as usize)
                .map(<[TermId]>::to_vec),
            Kind::Map(body) | Kind::Compute(body) => {
                b.embed_with(body, &operands, &mut |b, capture, field, at| {
                    let outside = self.outside(capture.node());
                    match (capture, at) {
                        (Capture::Array(_), Some((index, checked))) => {
                            b.at(&outside, field, index, checked)
                        }
                        _ => match known.get(&address(capture.node())) {
                            Some(fields) => fields[field as usize],
                            None => b.scalar(&outside, field),
                        },
                    }
                })
            }
            _ => None,
        }
    }
}
