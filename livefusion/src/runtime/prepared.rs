//! Prepared programs: traced once, called many times with new inputs.
//!
//! They include the external parts that depend on the inputs.

use super::apart::{call, lacks_a_result, run_apart};
use super::binding::There;
use super::engine::{Engine, force_nodes};
use super::explain::{ExplainedApart, ExplainedArrayLoop, ExplainedExternal, Explanation};
use super::iterate::{turns, word};
use super::part::{Available, ProgramPart, length_of};
use crate::ast::{After, ArrayLoop, ExternalPart, Node, Value, Values};
use crate::error::{Error, ErrorKind, Result};
use crate::force::Spare;
use crate::iterate::{CommonWork, varying, waits};
use livefusion_backend::Buffer;
use loop_lang::types::Ty;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Holds a program over inputs.
///
/// Its external parts run one after the other; the last part runs after them.
pub struct Prepared {
    engine: Engine,
    inputs: Vec<Arc<Node>>,
    given: Available,
    apart: Vec<PreparedApart>,
    last: ProgramPart,
}

/// The places that a part must not consume, if other parts follow.
const ALL: Range<usize> = 0..usize::MAX;

/// An external part: a loop over arrays, or a call of a function.
struct PreparedApart {
    of: ExternalPart,
    /// The values that a side of a choice shares with the program. They are computed with its
    /// operands.
    shared: Vec<Arc<Node>>,
    /// The number of places available before it.
    known: usize,
    /// Its operands, then the shared values. A loop's operands are its state and the trip count, or
    /// whether to run at all.
    begin: ProgramPart,
    /// Its results in use.
    wanted: Vec<u32>,
    /// Its results that are also results of the program, which bring memory for them.
    results: Vec<(u32, usize)>,
    /// Places without uses after this part. A loop drops them before its first step, so that it
    /// owns its state uniquely.
    released: Vec<usize>,
    /// The steps of a loop, recovered on first use.
    steps: OnceLock<Steps>,
}

/// The steps of a loop.
struct Steps {
    /// Their captured values.
    captured: ProgramPart,
    /// One step. Its inputs are the state, then the captured values.
    step: Prepared,
}

/// An external part with its result nodes and their numbers.
type Ended = (ExternalPart, Vec<(Arc<Node>, u32)>);

impl Prepared {
    /// Recovers the program of `roots` with `inputs` as its parameters.
    ///
    /// External parts that do not depend on the inputs run now.
    ///
    /// Errors: an error made while the graph was built or while a part ran; an input of another
    /// program.
    pub fn new(engine: &Engine, roots: Vec<Arc<Node>>, inputs: Vec<Arc<Node>>) -> Result<Prepared> {
        let own: FxHashSet<*const Node> = inputs.iter().map(Arc::as_ptr).collect();
        let varies = varying(&roots, &|node| own.contains(&Arc::as_ptr(node)));
        run_apart(engine, &roots, &varies)?;
        Prepared::whole(engine, roots, inputs, 0)
    }

    /// Works as [`new`](Prepared::new), but runs nothing now.
    ///
    /// All pending external parts belong to the program. The first `own` inputs are its own: it may
    /// consume them.
    pub(super) fn whole(
        engine: &Engine,
        roots: Vec<Arc<Node>>,
        inputs: Vec<Arc<Node>>,
        own: usize,
    ) -> Result<Prepared> {
        let mut given = Available::new(&inputs);
        let mut apart = Vec::new();
        let work = CommonWork::below(&roots, &|node| given.place(node, given.len()).is_some());
        for (of, results) in apart_below(&roots, &given, &work)? {
            let known = given.len();
            let shared = work.of(&of).to_vec();
            let nodes: Vec<Arc<Node>> = of.begin().into_iter().chain(&shared).cloned().collect();
            let begin = ProgramPart::new(nodes.clone(), &given, known, ALL)?;
            nodes.iter().for_each(|node| given.add(node));
            results.iter().for_each(|(node, _)| given.add(node));
            apart.push(PreparedApart {
                of,
                shared,
                known,
                begin,
                wanted: results.iter().map(|(_, component)| *component).collect(),
                results: Vec::new(),
                released: Vec::new(),
                steps: OnceLock::new(),
            });
        }
        // The last part may consume all intermediates.
        let last = ProgramPart::new(roots, &given, given.len(), own..inputs.len())?;
        for (root, place) in last.passed_on() {
            // The place belongs to the last external part that begins before it.
            let at = apart.partition_point(|l: &PreparedApart| l.known <= place);
            if let Some(of) = at.checked_sub(1).and_then(|at| apart.get_mut(at)) {
                of.is_result(place, root);
            }
        }
        let uses = last_uses(&apart, &last, &given, &work);
        for (place, at) in uses.into_iter().enumerate() {
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

    /// Runs the program on these inputs.
    ///
    /// Results may be written into `spare` arrays, the columns of each root. Used arrays are taken
    /// out.
    ///
    /// Errors: an input of another type than its placeholder; traps.
    pub fn call(&self, inputs: &[&Value], spare: &mut [Vec<Arc<Buffer>>]) -> Result<Values> {
        self.check(inputs)?;
        let mut values = Values::new();
        self.run(&mut [], inputs, spare, &mut values)?;
        Ok(values)
    }

    /// Runs the program on inputs of the right types, its own inputs first. Appends the results.
    pub(crate) fn run(
        &self,
        own: &mut [Value],
        inputs: &[&Value],
        spare: &mut [Vec<Arc<Buffer>>],
        values: &mut Values,
    ) -> Result<()> {
        let mut made = Vec::new();
        for one in &self.apart {
            one.run(&self.engine, &self.given, (own, inputs), &mut made, spare)?;
        }
        let there = There {
            own,
            inputs,
            made: &mut made,
        };
        self.last.call(&self.engine, there, spare, values)
    }

    /// Explains the loops of a call with these inputs.
    ///
    /// Nothing runs.
    ///
    /// Errors: an input of another type than its placeholder; those of the backend.
    pub fn explain(&self, inputs: &[&Value]) -> Result<Explanation> {
        self.check(inputs)?;
        let lengths = inputs.iter().map(|value| length_of(value));
        self.explain_with(lengths.collect())
    }

    /// Works as [`explain`](Prepared::explain) for arrays of these lengths.
    ///
    /// `None` stands for an unknown length. States are assumed to keep their initial lengths.
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
            let wanted = node.types.len();
            let mut types = node.types.iter();
            let mut is_next = |ty: Ty| types.next() == Some(&ty);
            let (rank, fits) = match value {
                Value::Scalar(fields) => (
                    0,
                    fields.len() == wanted && fields.iter().all(|c| is_next(c.ty)),
                ),
                Value::Array(fields) => (
                    1,
                    fields.len() == wanted && fields.iter().all(|b| is_next(b.ty())),
                ),
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
    /// The number of places available before its first step.
    fn begun(&self) -> usize {
        self.known + self.of.begin().len() + self.shared.len()
    }

    /// Records that one of its places is a result of the program.
    fn is_result(&mut self, place: usize, root: usize) {
        let wanted = place
            .checked_sub(self.begun())
            .and_then(|at| self.wanted.get(at));
        self.results
            .extend(wanted.map(|component| (*component, root)));
    }

    /// Returns the length of a result if it is known beforehand.
    ///
    /// A state is assumed to keep its initial length, except that of a side of a choice.
    fn length(&self, result: u32, begun: &[Option<u64>]) -> Option<u64> {
        let like = match &self.of {
            ExternalPart::Loop(of) if of.is_side() => return None,
            ExternalPart::Loop(_) => result as usize,
            ExternalPart::External(of) => of.gives.like?,
        };
        begun.get(like).copied().flatten()
    }

    /// Runs the part, and appends its operands and results to `made`.
    ///
    /// A loop may reuse the memory of the program's old results for new ones.
    fn run(
        &self,
        engine: &Engine,
        given: &Available,
        (own, inputs): (&mut [Value], &[&Value]),
        made: &mut Vec<Value>,
        old: &mut [Vec<Arc<Buffer>>],
    ) -> Result<()> {
        let there = There { own, inputs, made };
        let mut begun = Values::new();
        self.begin.call(engine, there, &mut [], &mut begun)?;
        made.extend(begun.iter().cloned());
        begun.truncate(self.of.begin().len());
        let results = match &self.of {
            ExternalPart::External(of) => Values::from_iter([call(engine, of, &begun)?]),
            ExternalPart::Loop(of) => {
                self.ended(engine, of, given, begun, ((own, inputs), made), old)?
            }
        };
        for result in &self.wanted {
            let value = results.get(*result as usize).cloned();
            made.push(value.ok_or_else(|| lacks_a_result(&self.of))?);
        }
        Ok(())
    }

    /// Returns the last state of a loop.
    fn ended(
        &self,
        engine: &Engine,
        of: &ArrayLoop,
        given: &Available,
        mut state: Values,
        ((own, inputs), made): ((&mut [Value], &[&Value]), &mut Vec<Value>),
        old: &mut [Vec<Arc<Buffer>>],
    ) -> Result<Values> {
        let left = word(state.pop());
        if left > 0 {
            let steps = self.steps(engine, of, given)?;
            let there = There { own, inputs, made };
            let mut captured = Values::new();
            steps.captured.call(engine, there, &mut [], &mut captured)?;
            let mut there = There { own, inputs, made };
            self.released.iter().for_each(|at| there.release(*at));
            let mut spare = Spare::from_elem(Vec::new(), of.step.len());
            for (component, root) in &self.results {
                if let Some(columns) = old.get_mut(*root) {
                    spare[*component as usize] = std::mem::take(columns);
                }
            }
            let step = (&steps.step, &captured[..]);
            state = turns(engine, of, step, (state, left), spare)?;
        }
        Ok(state)
    }

    /// Returns the steps of a loop, recovered before the first one.
    ///
    /// Captured values that no call changes are computed at that point.
    fn steps(&self, engine: &Engine, of: &ArrayLoop, given: &Available) -> Result<&Steps> {
        if let Some(steps) = self.steps.get() {
            return Ok(steps);
        }
        let captures = &of.captures;
        let varies = varying(captures, &|node| given.place(node, self.begun()).is_some());
        let is_fixed = |node: &&Arc<Node>| !varies.contains(&Arc::as_ptr(node));
        let fixed: Vec<Arc<Node>> = captures.iter().filter(is_fixed).cloned().collect();
        force_nodes(engine, &fixed)?;
        let steps = self.recovered(engine, of, given)?;
        Ok(self.steps.get_or_init(|| steps))
    }

    fn recovered(&self, engine: &Engine, of: &ArrayLoop, given: &Available) -> Result<Steps> {
        let is_shared = |node: &Arc<Node>| self.shared.iter().any(|s| Arc::ptr_eq(s, node));
        let captures = of.captures.iter().filter(|node| !is_shared(node));
        let captures = captures.chain(&self.shared);
        let captures = captures.filter(|node| node.value.get().is_none());
        let captures: Vec<Arc<Node>> = captures.cloned().collect();
        let inputs = of.inputs.iter().chain(&captures).cloned().collect();
        Ok(Steps {
            step: Prepared::whole(engine, of.step.clone(), inputs, of.inputs.len())?,
            captured: ProgramPart::new(captures, given, self.begun(), ALL)?,
        })
    }

    /// Explains the part, and returns the lengths of its operands.
    fn explain(
        &self,
        engine: &Engine,
        given: &Available,
        lengths: &[Option<u64>],
    ) -> Result<(ExplainedApart, Vec<Option<u64>>)> {
        let (start, begun) = self.begin.explain(engine, lengths)?;
        let of = match &self.of {
            ExternalPart::Loop(of) => of,
            ExternalPart::External(of) => {
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
            is_side: of.is_side(),
        };
        Ok((ExplainedApart::Loop(Box::new(explained)), begun))
    }
}

/// Returns for each place its last use: the number of an external part, or none for the last part.
///
/// A place without uses counts as last used by the part that makes it.
fn last_uses(
    apart: &[PreparedApart],
    last: &ProgramPart,
    given: &Available,
    shared: &CommonWork,
) -> Vec<Option<usize>> {
    let mut uses: Vec<Option<usize>> = vec![Some(0); given.len()];
    for (at, one) in apart.iter().enumerate() {
        let behind = apart.get(at + 1).map_or(given.len(), |l| l.known);
        // Its operands include the state. Its results are for later parts.
        uses[one.known..behind].fill(Some(at));
        let mut needs = |place: usize| uses[place] = Some(at);
        one.begin.places().iter().copied().for_each(&mut needs);
        let mut seen: FxHashSet<*const Node> = FxHashSet::default();
        let mut stack: Vec<&Arc<Node>> = one.of.captures().iter().collect();
        while let Some(node) = stack.pop() {
            match given.place(node, one.begun()) {
                Some(place) => needs(place),
                None if node.value.get().is_none() && seen.insert(Arc::as_ptr(node)) => {
                    stack.extend(shared.sources(node));
                }
                None => {}
            }
        }
    }
    last.places().iter().for_each(|place| uses[*place] = None);
    uses
}

/// Lists the pending external parts below these nodes, producers first.
///
/// Errors: the error of a node below.
fn apart_below(roots: &[Arc<Node>], given: &Available, shared: &CommonWork) -> Result<Vec<Ended>> {
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
            let below = shared.sources(node).into_iter();
            stack.extend(below.map(|from| (from, false)));
        }
    }
    Ok(apart)
}

fn malformed(expected: String, got: String) -> Error {
    Error {
        combinator: "prepare",
        row: None,
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
