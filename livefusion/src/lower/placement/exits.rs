//! Loop exits: the live range of each combinator of a loop.
//!
//! A `take_while` or a `take` ends its elements before their source ends. Until then its class is
//! *live*. A combinator whose consumers all use such elements is needed only while the class is
//! live. A loop rate in which no combinator is needed is left at its guard. If other combinators
//! continue, a dead combinator is guarded: it runs in a subrate of its own that tests whether the
//! class is live. So code after an exit is neither run nor traps, even if other combinators are
//! fused into the loop. For example, in a loop of `xs.map(f).take_while(p).sum()` and `xs.max()`,
//! `map(f)` is guarded.

mod demand;
mod guarded;

use super::{Act, Context, Opening, Placer, Point};
use crate::ast::Kind;
use crate::fusion::rates::{Selector, indexed_array};
use crate::fusion::{ClassId, ClassKind};
use crate::lower::Lower;
use crate::lower::scope::LoopScope;
use crate::sharing::{FieldRef, NodeId};
use demand::{FieldDemand, Needed, by_field, only};
use guarded::GuardedCombs;
use loop_lang::ir::RateId;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

pub use guarded::Lives;

/// Holds the demand on each combinator of a loop.
#[derive(Default)]
pub struct LoopDemand {
    /// The combinators with an early exit.
    ends: FxHashSet<NodeId>,
    /// The demand on each combinator, by its consumers.
    fields: FieldDemand,
}

/// Holds the exits of a phase.
#[derive(Debug, Default)]
pub struct Exits {
    /// The loop's combinators with an early exit.
    ends: FxHashSet<NodeId>,
    /// The combinators that need a liveness guard, because others continue.
    guarded: GuardedCombs,
    /// Combinators without a consumer. They may still be counted.
    undemanded: FxHashSet<NodeId>,
    /// Combinators that have no consumer and are not counted.
    idle: FxHashSet<NodeId>,
    /// The live range of each class's iterations.
    needed: FxHashMap<ClassId, Needed>,
    /// The live range of the phase.
    all: Needed,
}

impl LoopDemand {
    /// Computes the demand in a loop.
    ///
    /// `order` lists its combinators in dependency order.
    pub fn of(scope: &LoopScope<'_>, order: &[NodeId]) -> LoopDemand {
        let ends = |n: &&NodeId| {
            scope.graph.node(**n).kind.facts().ends && scope.plan.rates.side_of(**n).is_none()
        };
        let mut loop_demand = LoopDemand {
            ends: order.iter().filter(ends).copied().collect(),
            fields: FieldDemand::default(),
        };
        if !loop_demand.ends.is_empty() {
            loop_demand.fields = loop_demand.by_consumers(scope, order);
        }
        loop_demand
    }

    /// The live range of each node, from its consumers.
    fn by_consumers(&self, scope: &LoopScope<'_>, order: &[NodeId]) -> FieldDemand {
        let (graph, rates) = (scope.graph, &scope.plan.rates);
        let mut demand = FieldDemand::default();
        for field in &scope.plan.loops[scope.at].arrays {
            let class = match scope.is_scattered(field.0) {
                true => rates.runs_at(field.0),
                false => rates.output(field.0),
            };
            let result = Needed::Always.within(ending(scope, &self.ends, class));
            demand.field(*field, &result);
        }
        let zips = &scope.plan.loops[scope.at].zips;
        for used in graph.roots.iter().chain(zips) {
            let result = Needed::Always.within(ending(scope, &self.ends, rates.output(*used)));
            demand.makers(scope, *used, &result);
        }
        for id in order.iter().rev() {
            let runs_at = rates.runs_at(*id);
            let demanded = !scope.plan.demand.fields[id.index()].is_empty();
            if graph.node(*id).rank == 0 && runs_at.is_some() && demanded {
                let result = Needed::Always.within(ending(scope, &self.ends, runs_at));
                demand.node(*id, &result);
            }
            // A combinator with an early exit is needed until it ends.
            let at = match self.ends.contains(id) {
                true => rates.output(*id),
                false => runs_at,
            };
            let ending = ending(scope, &self.ends, at);
            let needed = demand.nodes.entry(*id).or_default();
            *needed = std::mem::take(needed).within(ending);
            let needed = demand.counted(*id).within(ending);
            for decides in rates.deciding_above(*id, scope.root()) {
                demand.all(scope, decides, &needed);
            }
            // Arrays in memory are consumed in step with a selection that this loop recomputes.
            for selects in rates.selecting_below(*id, scope.root()) {
                demand.node(selects, &needed);
            }
            for input in scope
                .inputs(*id)
                .iter()
                .copied()
                .chain(indexed_array(graph, *id))
            {
                demand.makers(scope, input, &needed);
            }
            demand.elements(scope, *id, ending);
        }
        demand
    }
}

/// The innermost class with an early exit at or around a class.
fn ending(
    scope: &LoopScope<'_>,
    ends: &FxHashSet<NodeId>,
    class: Option<ClassId>,
) -> Option<ClassId> {
    std::iter::successors(class, |c| scope.above(*c)).find(|c| end_of(scope, ends, *c).is_some())
}

/// The combinator that ends a class, if it is in `ends`.
fn end_of(scope: &LoopScope<'_>, ends: &FxHashSet<NodeId>, class: ClassId) -> Option<NodeId> {
    match scope.plan.rates.kind(class) {
        ClassKind::Sub(_, Selector::While(id)) => Some(id).filter(|id| ends.contains(id)),
        _ => None,
    }
}

impl Exits {
    /// Finds the exits of a phase.
    ///
    /// `earlier` counts the live sets of earlier phases.
    pub fn of(
        scope: &LoopScope<'_>,
        loop_demand: &LoopDemand,
        order: &[NodeId],
        earlier: u32,
    ) -> Exits {
        let mut exits = Exits {
            ends: loop_demand.ends.clone(),
            ..Exits::default()
        };
        let Some(phase) = scope.phase.filter(|_| !loop_demand.ends.is_empty()) else {
            return exits;
        };
        let rates = &scope.plan.rates;
        let runs_here: FxHashSet<NodeId> = phase.nodes.iter().copied().collect();
        let here: Vec<NodeId> = order
            .iter()
            .filter(|n| runs_here.contains(n))
            .copied()
            .collect();
        // The producer of a part is needed as long as its consumers; consumers of the part add
        // nothing to the phase's live range. Where a part is read from memory, the append itself
        // adds its own demand.
        let appended = |n: &NodeId| rates.runs_at(*n).filter(|c| scope.is_appended(*c));
        let reads = |n: &NodeId| {
            let is_append = matches!(scope.graph.node(*n).kind, Kind::Append);
            let class = rates.output(*n).filter(|_| is_append);
            let part = class.and_then(|c| phase.part(c)).map(|(part, _)| part);
            part.is_some_and(|part| {
                let makers = scope.graph.fields(scope.inputs(*n)[part]);
                !makers.iter().any(|f| runs_here.contains(&f.0))
            })
        };
        // A consumer of a part is needed until the part's elements end.
        let within = |n: &NodeId| ending(scope, &loop_demand.ends, appended(n));
        let elements = |n: &NodeId| ending(scope, &loop_demand.ends, rates.output(*n));
        let demand = loop_demand.fields.of(&here, within, elements);
        for id in &here {
            let mut class = rates.runs_at(*id);
            // Combinators outside of any iteration need none.
            let Some(needed) = demand.nodes.get(id).filter(|_| class.is_some()) else {
                continue;
            };
            if appended(id).is_none() || reads(id) {
                exits.all.join(needed);
            }
            while let Some(c) = class {
                exits.needed.entry(c).or_default().join(needed);
                class = match rates.kind(c) {
                    ClassKind::Append(_) => None,
                    _ => scope.above(c),
                };
            }
        }
        let is_demanded = |id: &NodeId| demand.nodes.get(id).is_some_and(|n| *n != Needed::Never);
        let in_steps = here.iter().filter(|id| rates.runs_at(**id).is_some());
        exits.undemanded = in_steps.filter(|id| !is_demanded(id)).copied().collect();
        let idle = |id: &&NodeId| loop_demand.fields.counted(**id) == Needed::Never;
        exits.idle = exits.undemanded.iter().filter(idle).copied().collect();
        exits.guarded = GuardedCombs::of(scope, &here, &demand, &exits, earlier);
        exits
    }

    /// Returns the number of live sets, earlier phases included.
    pub fn lives(&self, earlier: u32) -> u32 {
        earlier + self.guarded.count()
    }

    /// The combinator that ends a class.
    fn end_of(&self, scope: &LoopScope<'_>, class: ClassId) -> Option<NodeId> {
        end_of(scope, &self.ends, class)
    }

    /// The live range of the iterations over a segment, if they may end inside of a segment.
    fn needed_within(&self, scope: &LoopScope<'_>, class: ClassId) -> Option<&Needed> {
        let needed = self.needed.get(&class)?;
        let inside = |c: &ClassId| scope.is_within(*c, class);
        matches!(needed, Needed::While(all) if all.iter().any(inside)).then_some(needed)
    }

    /// Returns the class of which a live set's subrate is an instance.
    pub fn top(&self, lives: Lives) -> Option<ClassId> {
        self.guarded.top(lives)
    }

    /// Returns the live set that guards a node, if others continue.
    pub fn alone(&self, id: NodeId) -> Option<Lives> {
        self.guarded.node(id)
    }

    /// The live set that guards a field of a node with separate fields. The outer `None` means that
    /// the field has no consumer.
    fn field_alone(&self, field: FieldRef) -> Option<Option<Lives>> {
        match self.ends.is_empty() {
            true => Some(None),
            false => self.guarded.field(field),
        }
    }
}

/// The fields of a node that are computed in a context.
type InContext = (Option<Context>, Vec<bool>);

impl Placer<'_> {
    /// The contexts in which a node's demanded fields are computed, if it computes fields
    /// separately. The node's own context comes first.
    fn contexts(&self, id: NodeId) -> SmallVec<[InContext; 1]> {
        let demanded = self.scope.demanded(id);
        let own = self.context_of(id);
        if by_field(&self.scope, id).is_none() {
            return smallvec![(own, demanded)];
        }
        let mut all: SmallVec<[InContext; 1]> = smallvec![(own, vec![false; demanded.len()])];
        for f in (0..demanded.len()).filter(|f| demanded[*f]) {
            let Some(alone) = self.exits().field_alone((id, f as u32)) else {
                continue;
            };
            let context = alone.map(Context::While);
            match all.iter_mut().find(|(c, _)| *c == context) {
                Some((_, fields)) => fields[f] = true,
                None => all.push((context, only(f, demanded.len()))),
            }
        }
        all
    }

    /// Returns whether the placed combinator is guarded and an operand lives longer.
    pub fn is_apart_from(&self, id: NodeId) -> bool {
        matches!(self.inside, Some(Context::While(_))) && self.context_of(id) != self.inside
    }

    /// Notes that a subrate's test defines the end of its elements.
    pub fn set_tells(&mut self, rate: RateId) {
        self.placed.telling.insert(rate);
    }

    /// Returns whether a node has no consumer and is not counted.
    ///
    /// Such a node is not placed in this phase.
    pub fn is_idle(&self, id: NodeId) -> bool {
        self.exits().idle.contains(&id)
    }

    /// Returns whether a node has no consumer.
    ///
    /// It may still be counted.
    pub fn is_undemanded(&self, id: NodeId) -> bool {
        self.exits().undemanded.contains(&id)
    }

    /// Places a node that computes its fields separately.
    ///
    /// Each context gets the fields that are made there. The node's own context comes first, even
    /// without fields if there is a check. `place` finds the operands of some fields and returns
    /// their program point. Its last argument is true for the first context.
    pub fn make_fields(
        &mut self,
        id: NodeId,
        is_checked: bool,
        mut place: impl FnMut(&mut Self, &[bool], bool) -> Lower<Point>,
    ) -> Lower {
        for (k, (context, fields)) in self.contexts(id).into_iter().enumerate() {
            let (is_first, any) = (k == 0, fields.contains(&true));
            let all = fields == self.scope.demanded(id);
            if !(any || is_first && (is_checked || all)) {
                continue;
            }
            let outside = self.go_inside(context);
            let point = place(self, &fields, is_first)?;
            self.go_inside(outside);
            if all {
                self.run(id, point);
                self.know_all(id, point);
            } else if any {
                let made = (0..fields.len()).filter(|f| fields[*f]);
                made.for_each(|f| self.know((id, f as u32).into(), point));
                self.act(id, Act::Make(point, fields));
            }
        }
        Ok(())
    }

    /// Returns the context in which a field is computed.
    pub fn context_of_field(&self, (id, field): FieldRef) -> Option<Context> {
        match by_field(&self.scope, id) {
            Some(_) => self.exits().field_alone((id, field))?.map(Context::While),
            None => self.context_of(id),
        }
    }

    /// Opens a guarded instance of a class, after the points in `needs`.
    pub fn open_while(
        &mut self,
        id: NodeId,
        lives: Lives,
        class: ClassId,
        needs: &[Point],
    ) -> Lower<Point> {
        let around = self.exits().guarded.around(&self.scope, lives);
        let inside = self.go_inside(around.map(Context::While));
        let point = self.point_for_child(id, class, needs);
        self.go_inside(inside);
        let first = self.open_within(id, point?, class, Opening::While(lives));
        Ok(first)
    }

    /// Returns the takes that limit a loop rate's elements, for a subrate below it.
    pub fn takes_around(&self, rate: RateId) -> Vec<NodeId> {
        let tree = &self.placed.tree;
        let up = |r: &RateId| tree.parent(*r).filter(|_| tree.rate(*r).opening.is_sub());
        let classes = std::iter::successors(Some(rate), up).filter_map(|r| tree.rate(r).class);
        let taken = classes.filter_map(|c| self.exits().end_of(&self.scope, c));
        let graph = self.scope.graph;
        let mut takes: Vec<NodeId> = taken
            .filter(|id| matches!(graph.node(*id).kind, Kind::Take(_)))
            .collect();
        takes.dedup();
        takes
    }

    /// The combinators that end a class or a class around it.
    fn ends_around(&self, class: ClassId) -> Vec<NodeId> {
        let around = std::iter::successors(Some(class), |c| self.scope.above(*c));
        around
            .filter_map(|c| self.exits().end_of(&self.scope, c))
            .collect()
    }

    /// Places all exits.
    ///
    /// These are exits of loop rates in which everything ends, and the tests of liveness guards.
    pub fn place_exits(&mut self) {
        if self.exits().ends.is_empty() {
            return;
        }
        let mut leaves = Vec::new();
        for phase in 0..self.phases() {
            self.go_to_phase(phase);
            self.exits_of_phase(&mut leaves);
        }
        for (rate, ends) in leaves {
            self.leave(rate, ends);
        }
    }

    /// Adds an exit to a rate.
    ///
    /// It is taken unless, in one of these groups, all combinators continue.
    pub fn leave(&mut self, rate: RateId, ends: Vec<Vec<NodeId>>) {
        let node = self.placed.tree.rate(rate).node;
        self.placed.ends.insert(rate, ends);
        self.act(node, Act::Leave(rate));
    }

    fn exits_of_phase(&self, leaves: &mut Vec<(RateId, Vec<Vec<NodeId>>)>) {
        let tree = &self.placed.tree;
        let here = |r: &RateId| Some(tree.root_of(*r)) == self.open_root();
        let all = (0..tree.rates().len()).map(RateId::new);
        for id in all.filter(here) {
            let rate = tree.rate(id);
            if let Opening::While(lives) = rate.opening {
                let classes = self.exits().guarded.classes(lives).iter();
                let any = classes.map(|c| self.ends_around(*c)).collect();
                leaves.push((id, any));
                continue;
            }
            let needed = match rate.parent {
                None => Some(&self.exits().all),
                Some(_) if rate.opening.is_nested() => rate
                    .class
                    .and_then(|c| self.exits().needed_within(&self.scope, c)),
                Some(_) => None,
            };
            if let Some(Needed::While(classes)) = needed {
                let any = classes.iter().map(|c| self.ends_around(*c)).collect();
                leaves.push((id, any));
            }
        }
    }
}
