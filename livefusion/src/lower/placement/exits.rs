//! Exits: how long each combinator of a loop is needed.
//!
//! A `take_while` ends its elements before their source ends. What only consumers of such elements ask for is
//! needed as long as the test goes on: its class *lives*. A loop rate in which nothing is needed any more is left at
//! its guard. Where other combinators go on, what is needed for the ended one alone runs in a subrate of its
//! own, which admits iterations while the class lives; so what lies behind an exit is neither computed nor can it
//! fail, whatever shares the loop.

mod apart;
mod asked;

use super::{Act, Context, Opening, Placer, Spot};
use crate::ast::Kind;
use crate::fusion::rates::{Selector, indexed_array};
use crate::fusion::{ClassId, ClassKind};
use crate::lower::Lower;
use crate::lower::scope::Scope;
use crate::sharing::{FieldRef, NodeId};
use apart::Apart;
use asked::{Asked, Needed, by_field, only};
use loop_lang::ir::RateId;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

pub use apart::Lives;

/// How long each combinator of a loop is needed.
#[derive(Default)]
pub struct Asking {
    /// Those that end their elements.
    ends: FxHashSet<NodeId>,
    /// By who asks for each.
    asked: Asked,
}

/// What is known of the exits of a phase.
#[derive(Debug, Default)]
pub struct Exits {
    /// Combinators of the loop that end their elements.
    ends: FxHashSet<NodeId>,
    /// What runs apart from others that go on.
    apart: Apart,
    /// What nobody asks for, though it may be counted.
    unasked: FxHashSet<NodeId>,
    /// What nobody asks for, or counts.
    idle: FxHashSet<NodeId>,
    /// How long the iterations of a class are needed.
    needed: FxHashMap<ClassId, Needed>,
    /// How long the phase is needed.
    all: Needed,
}

impl Asking {
    /// Finds it for a loop, of which these are the combinators, each behind what it needs.
    pub fn of(scope: &Scope<'_>, order: &[NodeId]) -> Asking {
        let ends = |n: &&NodeId| {
            scope.graph.node(**n).kind.facts().ends && scope.plan.rates.side_of(**n).is_none()
        };
        let mut asking = Asking {
            ends: order.iter().filter(ends).copied().collect(),
            asked: Asked::default(),
        };
        if !asking.ends.is_empty() {
            asking.asked = asking.asked(scope, order);
        }
        asking
    }

    /// How long each node is needed, by who asks for it.
    fn asked(&self, scope: &Scope<'_>, order: &[NodeId]) -> Asked {
        let (graph, rates) = (scope.graph, &scope.plan.rates);
        let mut asked = Asked::default();
        for field in &scope.plan.loops[scope.at].arrays {
            let class = match scope.is_scattered(field.0) {
                true => rates.runs_at(field.0),
                false => rates.output(field.0),
            };
            let result = Needed::Always.within(ending(scope, &self.ends, class));
            asked.field(*field, &result);
        }
        let zips = &scope.plan.loops[scope.at].zips;
        for used in graph.roots.iter().chain(zips) {
            let result = Needed::Always.within(ending(scope, &self.ends, rates.output(*used)));
            asked.makers(scope, *used, &result);
        }
        for id in order.iter().rev() {
            let runs_at = rates.runs_at(*id);
            let demanded = !scope.plan.demand.fields[id.index()].is_empty();
            if graph.node(*id).rank == 0 && runs_at.is_some() && demanded {
                let result = Needed::Always.within(ending(scope, &self.ends, runs_at));
                asked.node(*id, &result);
            }
            // Elements that end are asked for while they do not.
            let at = match self.ends.contains(id) {
                true => rates.output(*id),
                false => runs_at,
            };
            let ending = ending(scope, &self.ends, at);
            let needed = asked.nodes.entry(*id).or_default();
            *needed = std::mem::take(needed).within(ending);
            let needed = asked.counted(*id).within(ending);
            for decides in rates.deciding_above(*id, scope.root()) {
                asked.all(scope, decides, &needed);
            }
            // Elements in memory are consumed in step with those that the loop selects anew.
            for selects in rates.selecting_below(*id, scope.root()) {
                asked.node(selects, &needed);
            }
            for input in scope
                .inputs(*id)
                .iter()
                .copied()
                .chain(indexed_array(graph, *id))
            {
                asked.makers(scope, input, &needed);
            }
            asked.elements(scope, *id, ending);
        }
        asked
    }
}

/// The innermost class that one of these ends around or at another.
fn ending(scope: &Scope<'_>, ends: &FxHashSet<NodeId>, class: Option<ClassId>) -> Option<ClassId> {
    std::iter::successors(class, |c| scope.above(*c)).find(|c| end_of(scope, ends, *c).is_some())
}

/// What ends a class, if it is one of these.
fn end_of(scope: &Scope<'_>, ends: &FxHashSet<NodeId>, class: ClassId) -> Option<NodeId> {
    match scope.plan.rates.kind(class) {
        ClassKind::Sub(_, Selector::While(id)) => Some(id).filter(|id| ends.contains(id)),
        _ => None,
    }
}

impl Exits {
    /// Finds the exits of a phase, by who asks for the loop's combinators. So many sets of classes live in earlier
    /// phases.
    pub fn of(scope: &Scope<'_>, asking: &Asking, order: &[NodeId], earlier: u32) -> Exits {
        let mut exits = Exits {
            ends: asking.ends.clone(),
            ..Exits::default()
        };
        let Some(phase) = scope.phase.filter(|_| !asking.ends.is_empty()) else {
            return exits;
        };
        let rates = &scope.plan.rates;
        let runs_here: FxHashSet<NodeId> = phase.nodes.iter().copied().collect();
        let here: Vec<NodeId> = order
            .iter()
            .filter(|n| runs_here.contains(n))
            .copied()
            .collect();
        // What makes a part is needed as long as who asks for it; what consumes it adds nothing to that. Where a part
        // is read from memory, the append asks for that.
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
        // What consumes a part is needed while its elements go on.
        let within = |n: &NodeId| ending(scope, &asking.ends, appended(n));
        let elements = |n: &NodeId| ending(scope, &asking.ends, rates.output(*n));
        let asked = asking.asked.of(&here, within, elements);
        for id in &here {
            let mut class = rates.runs_at(*id);
            // What runs in no iteration needs none.
            let Some(needed) = asked.nodes.get(id).filter(|_| class.is_some()) else {
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
        let is_asked = |id: &NodeId| asked.nodes.get(id).is_some_and(|n| *n != Needed::Never);
        let in_steps = here.iter().filter(|id| rates.runs_at(**id).is_some());
        exits.unasked = in_steps.filter(|id| !is_asked(id)).copied().collect();
        let idle = |id: &&NodeId| asking.asked.counted(**id) == Needed::Never;
        exits.idle = exits.unasked.iter().filter(idle).copied().collect();
        exits.apart = Apart::of(scope, &here, &asked, &exits, earlier);
        exits
    }

    /// How many sets of classes live, those of earlier phases included.
    pub fn lives(&self, earlier: u32) -> u32 {
        earlier + self.apart.count()
    }

    /// What ends a class.
    fn end_of(&self, scope: &Scope<'_>, class: ClassId) -> Option<NodeId> {
        end_of(scope, &self.ends, class)
    }

    /// How long the iterations over a segment are needed, if that may end in the midst of one.
    fn needed_within(&self, scope: &Scope<'_>, class: ClassId) -> Option<&Needed> {
        let needed = self.needed.get(&class)?;
        let inside = |c: &ClassId| scope.is_within(*c, class);
        matches!(needed, Needed::While(all) if all.iter().any(inside)).then_some(needed)
    }

    /// Of which class the subrate is an instance in which what is needed while some live runs.
    pub fn top(&self, lives: Lives) -> Option<ClassId> {
        self.apart.top(lives)
    }

    /// While which live a node is needed, and others go on.
    pub fn alone(&self, id: NodeId) -> Option<Lives> {
        self.apart.node(id)
    }

    /// The same, of a field of one that computes each for itself; none if nobody asks for the field.
    fn field_alone(&self, field: FieldRef) -> Option<Option<Lives>> {
        match self.ends.is_empty() {
            true => Some(None),
            false => self.apart.field(field),
        }
    }
}

/// Which fields of a node are computed in a context.
type InContext = (Option<Context>, Vec<bool>);

impl Placer<'_> {
    /// In which contexts the fields that are asked for of a node are computed, which computes each for itself: its own
    /// is the first.
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

    /// Whether what is placed runs while some live, and a node that it uses runs for longer.
    pub fn is_apart_from(&self, id: NodeId) -> bool {
        matches!(self.inside, Some(Context::While(_))) && self.context_of(id) != self.inside
    }

    /// The test of a subrate tells when its elements end.
    pub fn set_tells(&mut self, rate: RateId) {
        self.placed.telling.insert(rate);
    }

    /// Whether nobody asks for anything of a node, nor counts it: it is not placed in this phase.
    pub fn is_idle(&self, id: NodeId) -> bool {
        self.exits().idle.contains(&id)
    }

    /// Whether nobody asks for anything of a node, though it may be counted.
    pub fn is_unasked(&self, id: NodeId) -> bool {
        self.exits().unasked.contains(&id)
    }

    /// Places the work of a node that computes each field for itself, if it is one: in each context where the fields
    /// are that are made there, and in its own first where something is to be checked. `place` finds the elements that
    /// some fields need, and where they are; it is told which is the first.
    pub fn make_fields(
        &mut self,
        id: NodeId,
        is_checked: bool,
        mut place: impl FnMut(&mut Self, &[bool], bool) -> Lower<Spot>,
    ) -> Lower {
        for (k, (context, fields)) in self.contexts(id).into_iter().enumerate() {
            let (is_first, any) = (k == 0, fields.contains(&true));
            let all = fields == self.scope.demanded(id);
            if !(any || is_first && (is_checked || all)) {
                continue;
            }
            let outside = self.go_inside(context);
            let spot = place(self, &fields, is_first)?;
            self.go_inside(outside);
            if all {
                self.run(id, spot);
                self.know_all(id, spot);
            } else if any {
                let made = (0..fields.len()).filter(|f| fields[*f]);
                made.for_each(|f| self.know((id, f as u32).into(), spot));
                self.act(id, Act::Make(spot, fields));
            }
        }
        Ok(())
    }

    /// In what a field is computed.
    pub fn context_of_field(&self, (id, field): FieldRef) -> Option<Context> {
        match by_field(&self.scope, id) {
            Some(_) => self.exits().field_alone((id, field))?.map(Context::While),
            None => self.context_of(id),
        }
    }

    /// Opens an instance of a class that runs while others live, behind what is needed.
    pub fn open_while(
        &mut self,
        id: NodeId,
        lives: Lives,
        class: ClassId,
        needs: &[Spot],
    ) -> Lower<Spot> {
        let around = self.exits().apart.around(&self.scope, lives);
        let inside = self.go_inside(around.map(Context::While));
        let spot = self.spot_for_child(id, class, needs);
        self.go_inside(inside);
        let first = self.open_within(id, spot?, class, Opening::While(lives));
        Ok(first)
    }

    /// What takes only so many of the elements that a loop rate has, for a subrate below it.
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

    /// What ends a class, and the classes around it that this loop ends.
    fn ends_around(&self, class: ClassId) -> Vec<NodeId> {
        let around = std::iter::successors(Some(class), |c| self.scope.above(*c));
        around
            .filter_map(|c| self.exits().end_of(&self.scope, c))
            .collect()
    }

    /// Places the exits of all loop rates in which everything ends, and the tests of what runs while a class lives.
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

    /// A rate is left unless, of one of these groups of combinators, the elements of all go on.
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
                let classes = self.exits().apart.classes(lives).iter();
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
