//! Prepared programs: traced once, called many times with new inputs. What runs apart and depends on these is in them.

use super::apart::{call, lacks_a_result, run_apart};
use super::binding::There;
use super::engine::{Engine, force_nodes};
use super::explain::{ExplainedApart, ExplainedArrayLoop, ExplainedExternal, Explanation};
use super::iterate::{Spare, turns, word};
use super::part::{Given, Part, length_of};
use crate::ast::{After, Apart, ArrayLoop, Node, Value, Values};
use crate::error::{Error, ErrorKind, Result};
use crate::iterate::{sources, varying, waits};
use livefusion_backend::Buffer;
use loop_lang::types::Ty;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A program over inputs: what runs apart, one after the other, then what comes behind all that.
pub struct Prepared {
    engine: Engine,
    inputs: Vec<Arc<Node>>,
    given: Given,
    apart: Vec<PreparedApart>,
    last: Part,
}

/// The places that a part must leave as they are, if others come behind it.
const ALL: Range<usize> = 0..usize::MAX;

/// A loop over arrays of a program, or a call of a function.
struct PreparedApart {
    of: Apart,
    /// How many places are there before it.
    known: usize,
    /// What it begins with: of a loop the state, and how often it goes on, or whether it does.
    begin: Part,
    /// Which of its results are wanted.
    wanted: Vec<u32>,
    /// Which of them are results of the program, and which results: these bring memory for them.
    homes: Vec<(u32, usize)>,
    /// The places that nobody needs any more once it takes a step: what is there is let go of, so that it is the state alone.
    released: Vec<usize>,
    /// What a loop needs once it takes a step.
    steps: OnceLock<Steps>,
}

/// The steps of a loop.
struct Steps {
    /// What they need from outside.
    captured: Part,
    /// One step: its inputs are the state, then what is captured.
    step: Prepared,
}

/// What runs apart, and which nodes are which of its results.
type Ended = (Apart, Vec<(Arc<Node>, u32)>);

impl Prepared {
    /// Recovers the program of `roots`, for which calls bring the values of `inputs`. What runs apart and does not depend
    /// on these runs now.
    ///
    /// Errors: whatever went wrong while the graph was built, or in what ran; an input of another program in it.
    pub fn new(engine: &Engine, roots: Vec<Arc<Node>>, inputs: Vec<Arc<Node>>) -> Result<Prepared> {
        let own: FxHashSet<*const Node> = inputs.iter().map(Arc::as_ptr).collect();
        let varies = varying(&roots, &|node| own.contains(&Arc::as_ptr(node)));
        run_apart(engine, &roots, &varies)?;
        Prepared::whole(engine, roots, inputs, 0)
    }

    /// As [`new`](Prepared::new). What has not run is part of the program, whatever it depends on. Of its inputs
    /// the first few are its own, nobody needs them behind it.
    pub(super) fn whole(
        engine: &Engine,
        roots: Vec<Arc<Node>>,
        inputs: Vec<Arc<Node>>,
        own: usize,
    ) -> Result<Prepared> {
        let mut given = Given::new(&inputs);
        let mut apart = Vec::new();
        for (of, results) in apart_below(&roots, &given)? {
            let known = given.len();
            let nodes = of.begin().into_iter().cloned().collect();
            let begin = Part::new(nodes, &given, known, ALL)?;
            of.begin().into_iter().for_each(|node| given.add(node));
            results.iter().for_each(|(node, _)| given.add(node));
            apart.push(PreparedApart {
                of,
                known,
                begin,
                wanted: results.iter().map(|(_, component)| *component).collect(),
                homes: Vec::new(),
                released: Vec::new(),
                steps: OnceLock::new(),
            });
        }
        // Behind it nobody needs what was made on the way.
        let last = Part::new(roots, &given, given.len(), own..inputs.len())?;
        for (root, place) in last.passed_on() {
            // What has this place is the last one that begins before it.
            let at = apart.partition_point(|l: &PreparedApart| l.known <= place);
            if let Some(of) = at.checked_sub(1).and_then(|at| apart.get_mut(at)) {
                of.is_result(place, root);
            }
        }
        for (place, at) in last_uses(&apart, &last, &given).into_iter().enumerate() {
            if let Some(at) = at.and_then(|at| apart.get_mut(at)) {
                at.released.push(place);
            }
        }
        Ok(Prepared {
            engine: engine.clone(),
            last,
            inputs,
            given,
            apart,
        })
    }

    /// Runs the program on these inputs. Results may be written into `spare` arrays, of each root its
    /// columns: those that are used are taken out.
    ///
    /// Errors: an input whose type is not the placeholder's; traps.
    pub fn call(&self, inputs: &[&Value], spare: &mut [Vec<Arc<Buffer>>]) -> Result<Values> {
        self.check(inputs)?;
        self.run(&mut [], inputs, spare)
    }

    /// Runs the program on inputs of the right types: on its own first, and on those of others.
    pub(super) fn run(
        &self,
        own: &mut [Value],
        inputs: &[&Value],
        spare: &mut [Vec<Arc<Buffer>>],
    ) -> Result<Values> {
        let mut made = Vec::new();
        for one in &self.apart {
            one.run(&self.engine, &self.given, (own, inputs), &mut made, spare)?;
        }
        let there = There {
            own,
            inputs,
            made: &mut made,
        };
        self.last.call(&self.engine, there, spare)
    }

    /// Into which loops a call with these inputs fuses. Nothing runs.
    ///
    /// Errors: an input whose type is not the placeholder's; what the backend says.
    pub fn explain(&self, inputs: &[&Value]) -> Result<Explanation> {
        self.check(inputs)?;
        let lengths = inputs.iter().map(|value| length_of(value));
        self.explain_with(lengths.collect())
    }

    /// As [`explain`](Prepared::explain), where arrays have these lengths, as far as they are known. States are taken to
    /// be as long as they are at the start.
    pub(super) fn explain_with(&self, mut lengths: Vec<Option<u64>>) -> Result<Explanation> {
        let mut apart = Vec::new();
        for one in &self.apart {
            let (explained, begun) = one.explain(&self.engine, &self.given, &lengths)?;
            apart.push(explained);
            let ended: Vec<Option<u64>> =
                one.wanted.iter().map(|k| one.length(*k, &begun)).collect();
            lengths.extend(begun);
            lengths.extend(ended);
        }
        let (mut explanation, _) = self.last.explain(&self.engine, &lengths)?;
        explanation.apart = apart;
        Ok(explanation)
    }

    fn check(&self, inputs: &[&Value]) -> Result<()> {
        if inputs.len() != self.inputs.len() {
            return Err(malformed(
                format!("{} inputs", self.inputs.len()),
                inputs.len().to_string(),
            ));
        }
        for (node, value) in self.inputs.iter().zip(inputs) {
            let wanted = node.types.iter().copied();
            let (rank, fits) = match value {
                Value::Scalar(fields) => (0, wanted.eq(fields.iter().map(|c| c.ty))),
                Value::Array(fields) => (1, wanted.eq(fields.iter().map(|b| b.ty()))),
            };
            if rank != node.rank || !fits {
                let types: Vec<Ty> = match value {
                    Value::Scalar(fields) => fields.iter().map(|c| c.ty).collect(),
                    Value::Array(fields) => fields.iter().map(|b| b.ty()).collect(),
                };
                return Err(malformed(
                    format!("rank {} of {:?}", node.rank, node.types),
                    format!("rank {rank} of {types:?}"),
                ));
            }
        }
        Ok(())
    }
}

impl PreparedApart {
    /// What is at a place of its is a result of the program.
    fn is_result(&mut self, place: usize, root: usize) {
        let behind = self.known + self.of.begin().len();
        let wanted = place.checked_sub(behind).and_then(|at| self.wanted.get(at));
        self.homes
            .extend(wanted.map(|component| (*component, root)));
    }

    /// The length of a result, as far as that is known before; of a state it is taken to be what it is at the start.
    fn length(&self, result: u32, begun: &[Option<u64>]) -> Option<u64> {
        let like = match &self.of {
            Apart::Loop(_) => result as usize,
            Apart::External(of) => of.gives.like?,
        };
        begun.get(like).copied().flatten()
    }

    /// Runs it, and adds what it began with and its results to what was made. Memory of old results of the program is there
    /// for what becomes new ones of a loop.
    fn run(
        &self,
        engine: &Engine,
        given: &Given,
        (own, inputs): (&mut [Value], &[&Value]),
        made: &mut Vec<Value>,
        old: &mut [Vec<Arc<Buffer>>],
    ) -> Result<()> {
        let there = There { own, inputs, made };
        let begun = self.begin.call(engine, there, &mut [])?;
        made.extend(begun.iter().cloned());
        let results = match &self.of {
            Apart::External(of) => Values::from_iter([call(engine, of, &begun)?]),
            Apart::Loop(of) => self.ended(engine, of, given, begun, ((own, inputs), made), old)?,
        };
        for result in &self.wanted {
            let value = results.get(*result as usize).cloned();
            made.push(value.ok_or_else(|| lacks_a_result(&self.of))?);
        }
        Ok(())
    }

    /// The last state of a loop that has begun.
    fn ended(
        &self,
        engine: &Engine,
        of: &ArrayLoop,
        given: &Given,
        mut state: Values,
        ((own, inputs), made): ((&mut [Value], &[&Value]), &mut Vec<Value>),
        old: &mut [Vec<Arc<Buffer>>],
    ) -> Result<Values> {
        let left = word(state.pop());
        if left > 0 {
            let steps = self.steps(engine, of, given)?;
            let there = There { own, inputs, made };
            let captured = steps.captured.call(engine, there, &mut [])?;
            let mut there = There { own, inputs, made };
            self.released.iter().for_each(|at| there.release(*at));
            let mut spare = Spare::from_elem(Vec::new(), of.step.len());
            for (component, root) in &self.homes {
                if let Some(columns) = old.get_mut(*root) {
                    spare[*component as usize] = std::mem::take(columns);
                }
            }
            let step = (&steps.step, &captured[..]);
            state = turns(engine, of, step, (state, left), spare)?;
        }
        Ok(state)
    }

    /// Its steps, recovered when the first one is taken. What they need, and what no call changes, is computed then.
    fn steps(&self, engine: &Engine, of: &ArrayLoop, given: &Given) -> Result<&Steps> {
        if let Some(steps) = self.steps.get() {
            return Ok(steps);
        }
        let captures = &of.captures;
        let varies = varying(captures, &|node| given.place(node, self.known).is_some());
        let is_fixed = |node: &&Arc<Node>| !varies.contains(&Arc::as_ptr(node));
        let fixed: Vec<Arc<Node>> = captures.iter().filter(is_fixed).cloned().collect();
        force_nodes(engine, &fixed)?;
        let steps = self.recovered(engine, of, given)?;
        Ok(self.steps.get_or_init(|| steps))
    }

    fn recovered(&self, engine: &Engine, of: &ArrayLoop, given: &Given) -> Result<Steps> {
        let is_missing = |node: &&Arc<Node>| node.value.get().is_none();
        let captures = of.captures.iter().filter(is_missing);
        let captures: Vec<Arc<Node>> = captures.cloned().collect();
        let inputs = of.inputs.iter().chain(&captures).cloned().collect();
        Ok(Steps {
            step: Prepared::whole(engine, of.step.clone(), inputs, of.inputs.len())?,
            captured: Part::new(captures, given, self.known, ALL)?,
        })
    }

    /// What becomes of it, and the lengths of what it begins with.
    fn explain(
        &self,
        engine: &Engine,
        given: &Given,
        lengths: &[Option<u64>],
    ) -> Result<(ExplainedApart, Vec<Option<u64>>)> {
        let (start, begun) = self.begin.explain(engine, lengths)?;
        let of = match &self.of {
            Apart::Loop(of) => of,
            Apart::External(of) => {
                let explained = ExplainedExternal {
                    name: of.name,
                    loc: of.loc,
                    why: of.function.why().to_string(),
                    is_reproducible: of.function.is_reproducible(),
                    inputs: start,
                };
                return Ok((ExplainedApart::External(Box::new(explained)), begun));
            }
        };
        let recovered;
        let steps = match self.steps.get() {
            Some(steps) => steps,
            None => {
                recovered = self.recovered(engine, of, given)?;
                &recovered
            }
        };
        let (captured, beside) = steps.captured.explain(engine, lengths)?;
        let state = begun.iter().take(of.inputs.len()).copied();
        let explained = ExplainedArrayLoop {
            name: of.name,
            loc: of.loc,
            start,
            captured,
            step: steps.step.explain_with(state.chain(beside).collect())?,
        };
        Ok((ExplainedApart::Loop(Box::new(explained)), begun))
    }
}

/// Of each place what runs apart and is the last to need what is there, or behind which nobody has needed it; none if what comes
/// behind all that does.
fn last_uses(apart: &[PreparedApart], last: &Part, given: &Given) -> Vec<Option<usize>> {
    let mut uses: Vec<Option<usize>> = vec![Some(0); given.len()];
    for (at, one) in apart.iter().enumerate() {
        let behind = apart.get(at + 1).map_or(given.len(), |l| l.known);
        // What it begins with is the state. Its results are there for who comes.
        uses[one.known..behind].fill(Some(at));
        let mut needs = |place: usize| uses[place] = Some(at);
        one.begin.places().iter().copied().for_each(&mut needs);
        let mut seen: FxHashSet<*const Node> = FxHashSet::default();
        let mut stack: Vec<&Arc<Node>> = one.of.captures().iter().collect();
        while let Some(node) = stack.pop() {
            match given.place(node, one.known) {
                Some(place) => needs(place),
                None if node.value.get().is_none() && seen.insert(Arc::as_ptr(node)) => {
                    stack.extend(sources(node));
                }
                None => {}
            }
        }
    }
    last.places().iter().for_each(|place| uses[*place] = None);
    uses
}

/// What runs apart, that nodes need, and that has not run: what others need comes first.
///
/// Errors: none of this, but one that a node has.
fn apart_below(roots: &[Arc<Node>], given: &Given) -> Result<Vec<Ended>> {
    let mut apart: Vec<Ended> = Vec::new();
    let mut places: FxHashMap<usize, usize> = FxHashMap::default();
    let mut seen: FxHashSet<*const Node> = FxHashSet::default();
    let mut stack: Vec<(&Arc<Node>, bool)> = roots.iter().rev().map(|n| (n, false)).collect();
    while let Some((node, ready)) = stack.pop() {
        if ready {
            if let After::Apart(of, result) = &node.after {
                let at = *places.entry(of.address()).or_insert_with(|| {
                    apart.push((of.clone(), Vec::new()));
                    apart.len() - 1
                });
                apart[at].1.push((node.clone(), *result));
            }
            continue;
        }
        if let Some(error) = &node.error {
            return Err((**error).clone());
        }
        let is_there = given.place(node, given.len()).is_some();
        if waits(node) && !is_there && seen.insert(Arc::as_ptr(node)) {
            stack.push((node, true));
            stack.extend(sources(node).into_iter().map(|from| (from, false)));
        }
    }
    Ok(apart)
}

fn malformed(expected: String, got: String) -> Error {
    Error {
        combinator: "prepare",
        element: None,
        location: None,
        kind: ErrorKind::Malformed { expected, got },
    }
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let apart = self.apart.len();
        write!(
            f,
            "Prepared({} nodes, {apart} apart, {:?})",
            self.last.nodes(),
            self.engine
        )
    }
}
