//! Exits: how long each combinator of a loop is needed.
//!
//! A `take_while` ends its elements before their source ends. What only consumers of such elements ask for is
//! needed as long as the test goes on: its class *lives*. A loop rate in which nothing is needed any more is left at
//! its guard. Where other combinators go on, what is needed for the ended one alone runs in a subrate of its
//! own, which admits iterations while the class lives; so what lies behind an exit is neither computed nor can it
//! fail, whatever shares the loop.

use super::{Act, Context, Opening, Placer, Spot};
use crate::ast::Kind;
use crate::fusion::rates::{Selector, indexed_array};
use crate::fusion::{ClassId, ClassKind};
use crate::lower::Lower;
use crate::lower::scope::Scope;
use crate::sharing::NodeId;
use loop_lang::ir::RateId;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

/// How long something is needed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
enum Needed {
    /// Nobody asks for it.
    #[default]
    Never,
    /// While one of these classes lives. They end their elements.
    While(SmallVec<[ClassId; 1]>),
    /// To the end of the loop.
    Always,
}

/// More classes than these are not told apart.
const MOST: usize = 32;

impl Needed {
    fn join(&mut self, other: &Needed) {
        match (&mut *self, other) {
            (Needed::Always, _) | (_, Needed::Never) => {}
            (_, Needed::Always) | (Needed::Never, _) => *self = other.clone(),
            (Needed::While(mine), Needed::While(theirs)) => {
                let new = theirs.iter().filter(|c| !mine.contains(c)).copied();
                let new: SmallVec<[ClassId; 1]> = new.collect();
                mine.extend(new);
                if mine.len() > MOST {
                    *self = Needed::Always;
                }
            }
        }
    }

    /// The same, of what is asked for within a class that ends.
    fn within(self, ends: Option<ClassId>) -> Needed {
        match (self, ends) {
            (Needed::Always, Some(class)) => Needed::While(smallvec![class]),
            (needed, _) => needed,
        }
    }
}

/// Who uses the fields of a zip needs the lengths that it checks, too.
fn join_aliases(
    scope: &Scope<'_>,
    needed: &mut FxHashMap<NodeId, Needed>,
    input: NodeId,
    asked: &Needed,
) {
    let mut aliases = vec![input];
    while let Some(alias) = aliases.pop() {
        if let Kind::Zip | Kind::Fields(_) = scope.graph.node(alias).kind {
            needed.entry(alias).or_default().join(asked);
            aliases.extend(scope.inputs(alias));
        }
    }
}

/// How long each combinator of a loop is needed.
#[derive(Debug, Default)]
pub struct Needs {
    /// Those that end their elements.
    ends: FxHashSet<NodeId>,
    /// By who asks for each.
    needed: FxHashMap<NodeId, Needed>,
}

/// What is known of the exits of a phase.
#[derive(Debug, Default)]
pub struct Exits {
    /// Combinators of the loop that end their elements.
    ends: FxHashSet<NodeId>,
    /// The subrate's class in which what is needed for a class alone runs, and of which class it is an instance.
    alone: FxHashMap<ClassId, ClassId>,
    /// For which class alone a node is needed.
    alone_of: FxHashMap<NodeId, ClassId>,
    /// How long the iterations of a class are needed.
    needed: FxHashMap<ClassId, Needed>,
    /// How long the phase is needed.
    all: Needed,
}

impl Needs {
    /// Finds them for a loop, of which these are the combinators, each behind what it needs.
    pub fn of(scope: &Scope<'_>, order: &[NodeId]) -> Needs {
        let ends = |n: &&NodeId| {
            scope.graph.node(**n).kind.ends() && scope.plan.rates.side_of(**n).is_none()
        };
        let mut needs = Needs {
            ends: order.iter().filter(ends).copied().collect(),
            needed: FxHashMap::default(),
        };
        if !needs.ends.is_empty() {
            needs.needed = needs.needed_of(scope, order);
        }
        needs
    }

    /// How long each node is needed, by who asks for it.
    fn needed_of(&self, scope: &Scope<'_>, order: &[NodeId]) -> FxHashMap<NodeId, Needed> {
        let (graph, rates) = (scope.graph, &scope.plan.rates);
        let mut needed: FxHashMap<NodeId, Needed> = FxHashMap::default();
        let results = scope.plan.loops[scope.at].arrays.iter().map(|f| f.0);
        for id in results {
            let class = match scope.is_scattered(id) {
                true => rates.runs_at(id),
                false => rates.output(id),
            };
            let result = Needed::Always.within(ending(scope, &self.ends, class));
            needed.entry(id).or_default().join(&result);
        }
        for root in &graph.roots {
            let result = Needed::Always.within(ending(scope, &self.ends, rates.output(*root)));
            join_aliases(scope, &mut needed, *root, &result);
        }
        for id in order.iter().rev() {
            let runs_at = rates.runs_at(*id);
            let demanded = !scope.plan.demand.fields[id.index()].is_empty();
            if graph.node(*id).rank == 0 && runs_at.is_some() && demanded {
                let result = Needed::Always.within(ending(scope, &self.ends, runs_at));
                needed.entry(*id).or_default().join(&result);
            }
            // Elements that end are asked for while they do not.
            let at = match self.ends.contains(id) {
                true => rates.output(*id),
                false => runs_at,
            };
            let asked = needed.entry(*id).or_default();
            *asked = std::mem::take(asked).within(ending(scope, &self.ends, at));
            let asked = asked.clone();
            let lengths = rates.lengths_above(*id, scope.root());
            let inputs = scope.inputs(*id).iter().copied().chain(lengths);
            for input in inputs.chain(indexed_array(graph, *id)) {
                join_aliases(scope, &mut needed, input, &asked);
                for (maker, _) in graph.fields(input) {
                    needed.entry(maker).or_default().join(&asked);
                    if let Some(array) = indexed_array(graph, maker) {
                        needed.entry(array).or_default().join(&asked);
                    }
                }
            }
        }
        needed
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
    /// Finds the exits of a phase, of what is needed of the loop's combinators.
    pub fn of(scope: &Scope<'_>, needs: &Needs, order: &[NodeId]) -> Exits {
        let mut exits = Exits {
            ends: needs.ends.clone(),
            ..Exits::default()
        };
        let Some(phase) = scope.phase.filter(|_| !needs.ends.is_empty()) else {
            return exits;
        };
        let runs_here: FxHashSet<NodeId> = phase.nodes.iter().copied().collect();
        let here = || order.iter().filter(|n| runs_here.contains(n));
        // What makes a part is needed as long as who asks for it; what consumes it adds nothing to that. Where a part
        // is read from memory, the append asks for that.
        let appended = |class: Option<ClassId>| class.is_some_and(|c| scope.is_appended(c));
        let reads = |n: &NodeId| {
            let is_append = matches!(scope.graph.node(*n).kind, Kind::Append);
            let class = scope.plan.rates.output(*n).filter(|_| is_append);
            let part = class.and_then(|c| phase.part(c)).map(|(part, _)| part);
            part.is_some_and(|part| {
                let makers = scope.graph.fields(scope.inputs(*n)[part]);
                !makers.iter().any(|f| runs_here.contains(&f.0))
            })
        };
        let asks = |n: &NodeId| !appended(scope.plan.rates.runs_at(*n)) || reads(n);
        let needed = |id: &NodeId| {
            let needed = needs.needed.get(id)?.clone();
            let own = scope.plan.rates.runs_at(*id).filter(|c| appended(Some(*c)));
            Some(needed.within(ending(scope, &exits.ends, own)))
        };
        let needed: FxHashMap<NodeId, Needed> =
            here().filter_map(|n| Some((*n, needed(n)?))).collect();
        for id in here() {
            let Some(needed) = needed.get(id) else {
                continue;
            };
            if asks(id) {
                exits.all.join(needed);
            }
            let mut class = scope.plan.rates.runs_at(*id);
            while let Some(c) = class {
                exits.needed.entry(c).or_default().join(needed);
                class = match scope.plan.rates.kind(c) {
                    ClassKind::Append(_) => None,
                    _ => scope.above(c),
                };
            }
        }
        for id in here() {
            if let Some(Needed::While(classes)) = needed.get(id) {
                exits.run_alone(scope, *id, classes);
            }
        }
        exits
    }

    /// A node is needed for a class alone. If other things go on where it runs, they do so without it.
    fn run_alone(&mut self, scope: &Scope<'_>, id: NodeId, classes: &[ClassId]) {
        let own = scope.plan.rates.runs_at(id);
        let (Some(own), Some((class, others))) = (own, classes.split_first()) else {
            return;
        };
        // Of the classes that end for all who ask, and at whose end others go on: the outermost that the node is
        // not within itself, or else the innermost that it is within.
        let around = std::iter::successors(Some(*class), |c| scope.above(*c));
        let ends: Vec<ClassId> = around
            .filter(|c| others.iter().all(|other| scope.is_within(*other, *c)))
            .filter(|c| self.ends_class(scope, *c).is_some() && !self.is_left(scope, *c))
            .collect();
        let is_inside = |c: &&ClassId| scope.is_within(own, **c);
        if let Some(class) = ends.iter().rev().find(|c| !is_inside(c)) {
            self.alone_of.insert(id, *class);
            let top = self.alone.entry(*class).or_insert(own);
            while !scope.is_within(own, *top) {
                let Some(above) = scope.above(*top) else {
                    break;
                };
                *top = above;
            }
        } else if let Some(class) = ends.iter().find(is_inside) {
            self.alone_of.insert(id, *class);
        }
    }

    /// What ends a class.
    fn ends_class(&self, scope: &Scope<'_>, class: ClassId) -> Option<NodeId> {
        end_of(scope, &self.ends, class)
    }

    /// Whether a loop rate is left when a class ends, in whose iterations it is.
    fn is_left(&self, scope: &Scope<'_>, class: ClassId) -> bool {
        let around = std::iter::successors(scope.above(class), |c| scope.above(*c));
        let is_sub = |c: &ClassId| {
            let kind = scope.plan.rates.kind(*c);
            matches!(kind, ClassKind::Sub(..) | ClassKind::Append(_))
        };
        let needed = match around.into_iter().find(|c| !is_sub(c)) {
            Some(around) if Some(around) != scope.root() => self.needed.get(&around),
            _ => Some(&self.all),
        };
        match needed {
            Some(Needed::While(all)) => all.iter().all(|c| scope.is_within(*c, class)),
            _ => false,
        }
    }

    /// How long the iterations over a segment are needed, if that may end in the midst of one.
    fn needed_within(&self, scope: &Scope<'_>, class: ClassId) -> Option<&Needed> {
        let needed = self.needed.get(&class)?;
        let inside = |c: &ClassId| scope.is_within(*c, class);
        matches!(needed, Needed::While(all) if all.iter().any(inside)).then_some(needed)
    }

    /// The class for which alone a node is needed, while others go on.
    pub fn alone(&self, id: NodeId) -> Option<ClassId> {
        self.alone_of.get(&id).copied()
    }

    /// The class of which the subrate is an instance, in which what is needed for a class alone runs.
    pub fn top(&self, class: ClassId) -> Option<ClassId> {
        self.alone.get(&class).copied()
    }
}

impl Placer<'_> {
    /// Opens an instance of a class that runs while another lives, behind what is needed.
    pub fn open_while(
        &mut self,
        id: NodeId,
        lives: ClassId,
        class: ClassId,
        needs: &[Spot],
    ) -> Lower<Spot> {
        let around = self.scope.above(lives);
        let around = std::iter::successors(around, |c| self.scope.above(*c));
        let context = around
            .into_iter()
            .find(|c| self.exits().alone.contains_key(c));
        let inside = self.go_inside(context.map(Context::While));
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
        let taken = classes.filter_map(|c| self.exits().ends_class(&self.scope, c));
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
            .filter_map(|c| self.exits().ends_class(&self.scope, c))
            .collect()
    }

    /// Places the exits of all loop rates in which everything ends, and the tests of what runs while a class lives.
    pub fn place_exits(&mut self) {
        if self.exits().ends.is_empty() {
            return;
        }
        let mut acts = Vec::new();
        for phase in 0..self.phases() {
            self.go_to_phase(phase);
            self.exits_of_phase(&mut acts);
        }
        for (node, act) in acts {
            self.act(node, act);
        }
    }

    fn exits_of_phase(&self, acts: &mut Vec<(NodeId, Act)>) {
        let tree = &self.placed.tree;
        let here = |r: &RateId| Some(tree.root_of(*r)) == self.open_root();
        let all = (0..tree.rates().len()).map(RateId::new);
        for id in all.filter(here) {
            let rate = tree.rate(id);
            if let Opening::While(class) = rate.opening {
                acts.push((rate.node, Act::Leave(id, vec![self.ends_around(class)])));
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
                acts.push((rate.node, Act::Leave(id, any)));
            }
        }
    }
}
