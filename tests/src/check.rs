//! Runs programs on engines, and compares them with the naive evaluator and each other.

use crate::naive::order::Candidate;
use crate::naive::{self, Bound, Data, Evaluated, Expected, Naive, Schedule, Trap, order};
use crate::program::{Graph, Program, shrink};
use crate::rng::Rng;
use crate::scalar::{same, show, to_f64, to_i128};
use crate::threads;
use livefusion::Engine;
use livefusion::ast::{After, Node, Value};
use livefusion::error::{Error, ErrorKind};
use livefusion::runtime::{Explanation, force_nodes};
use loop_lang::ir::{Rate, RateId, RateKind, TrapKind};
use loop_lang::types::Ty;
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// Holds the outcome of a program.
pub struct Ran {
    /// The forced graph.
    pub graph: Graph,
    /// Its schedule.
    pub explanation: Explanation,
    /// The first loop that runs each step, and the step's combinator in it.
    pub places: HashMap<usize, (usize, u32)>,
    /// The loops that compute each step or elements of it, and its combinator in each.
    combs: HashMap<usize, Vec<(usize, u32)>>,
    /// Steps with inlined index functions.
    inlined: HashSet<usize>,
    /// The results, root by root.
    pub result: Result<Vec<Data>, Error>,
}

impl Schedule for Ran {
    fn place(&self, node: &Arc<Node>) -> Option<(usize, u32)> {
        self.places.get(&self.graph.step_of(node)?).copied()
    }
    fn combinators(
        &self,
        node: &Arc<Node>,
        at: usize,
        kind: TrapKind,
    ) -> Option<RangeInclusive<u32>> {
        let all = self.combs.get(&self.graph.step_of(node)?)?;
        let here = || all.iter().filter(|(l, _)| *l == at).map(|(_, comb)| *comb);
        let traps = &self.explanation.loops[at].program.traps;
        let is_its = |comb: &u32| traps.iter().any(|t| t.comb.0 == *comb && t.kind == kind);
        let first = here().filter(is_its).min().or_else(|| here().min())?;
        let last = here().filter(is_its).max().or_else(|| here().max())?;
        Some(first..=last)
    }
    fn runs_in_any_order(&self, at: usize) -> bool {
        let rates = &self.explanation.loops[at].program.rates;
        let is_inner =
            |r: &Rate| matches!(r.kind, RateKind::Nested { .. } | RateKind::Cursor { .. });
        let roots = rates
            .iter()
            .filter(|r| matches!(r.kind, RateKind::Root { .. }));
        rates.iter().any(is_inner) || roots.count() > 1
    }
    fn is_inlined(&self, node: &Arc<Node>) -> bool {
        let step = self.graph.step_of(node);
        step.is_some_and(|step| self.inlined.contains(&step))
    }
    fn is_kept(&self, node: &Arc<Node>) -> bool {
        let step = self.graph.step_of(node);
        let combs = step.and_then(|step| self.combs.get(&step));
        combs.into_iter().flatten().any(|(at, comb)| {
            let looped = &self.explanation.loops[*at];
            let id = looped.nodes[*comb as usize].id;
            looped.writes.iter().any(|w| w.node.id == id)
        })
    }
    fn built(&self, node: &Arc<Node>) -> Option<Arc<Node>> {
        let step = self.graph.step_of(node)?;
        // A consumer of a total requests all fields of its scan.
        let mut ended = self.graph.scans_of_totals(step);
        let own = ended.find(|n| !self.explanation.places_of(n).is_empty());
        Some(own.unwrap_or(&self.graph.nodes[step]).clone())
    }
}

impl Ran {
    /// Returns whether a zip advances one of its inputs on demand.
    pub fn is_on_demand(&self, program: &Program, step: usize) -> bool {
        let Some((at, _)) = self.places.get(&step) else {
            return false;
        };
        let looped = &self.explanation.loops[*at].program;
        let is_side = |(l, comb): &(usize, u32)| {
            let slot = looped.combs.get(*comb as usize).and_then(|c| c.slot);
            let rate = slot.filter(|_| l == at).map(|h| h.rate);
            let kind = |r: &RateId| looped.rates[r.index()].kind;
            std::iter::successors(rate, |r| kind(r).parent())
                .any(|r| matches!(kind(&r), RateKind::Cursor { .. }))
        };
        let inputs = program.steps[step].inputs();
        inputs.iter().any(|i| self.combs[i].iter().any(is_side))
    }

    /// Returns the step that reported inputs of different lengths.
    pub fn misfit(&self, program: &Program) -> Option<usize> {
        let error = self.result.as_ref().err()?;
        let is_it = |at: &usize| self.graph.plain[*at].name == error.combinator;
        match error.kind {
            ErrorKind::LengthMismatch { .. } | ErrorKind::Segments { .. } => {
                (0..program.steps.len()).find(is_it)
            }
            _ => None,
        }
    }
}

/// Runs a program on an engine.
///
/// Returns an error if the program could not be planned or compiled.
pub fn run(program: &Program, engine: &Engine) -> Result<Ran, String> {
    run_graph(program, program.build(), engine)
}

/// Forces a separate graph if part of it is external. Later loops are planned after the external
/// part has run, so it must run in the explained graph too.
fn run_graph(program: &Program, graph: Graph, engine: &Engine) -> Result<Ran, String> {
    let below = naive::reachable(&graph.roots).into_iter();
    let apart: Vec<Arc<Node>> = below
        .filter(|n| matches!(n.after, After::Apart(..)))
        .collect();
    let forced = match apart.is_empty() {
        true => graph.roots.clone(),
        false => {
            force_nodes(engine, &apart).map_err(|e| format!("what runs apart: {e}"))?;
            program.build().roots
        }
    };
    let explanation = engine
        .explain(&graph.roots)
        .map_err(|e| format!("explain: {e}"))?;
    // This precedes the force, because forced nodes are in memory and in no loop.
    let steps = || graph.nodes.iter().enumerate();
    let combs: HashMap<usize, Vec<(usize, u32)>> = steps()
        .map(|(i, n)| {
            let own_scans = graph.scans_of_totals(i);
            let all = std::iter::once(n).chain(own_scans);
            (i, all.flat_map(|n| explanation.places_of(n)).collect())
        })
        .collect();
    let inlined: HashSet<usize> = steps()
        .filter(|(_, n)| explanation.is_pulled(n))
        .map(|(i, _)| i)
        .collect();
    // A combinator has no rate if its elements are only inlined, or if only its lengths are
    // checked.
    let has_rate = |(l, comb): &&(usize, u32)| {
        let comb = &explanation.loops[*l].program.combs[*comb as usize];
        comb.slot.is_some()
    };
    let first = |(i, all): (&usize, &Vec<(usize, u32)>)| {
        let anywhere = all.first().filter(|_| !inlined.contains(i));
        Some((*i, *all.iter().find(has_rate).or(anywhere)?))
    };
    let places = combs.iter().filter_map(first).collect();
    let result = force_nodes(engine, &forced).map(|values| values.iter().map(data).collect());
    Ok(Ran {
        graph,
        explanation,
        places,
        combs,
        inlined,
        result,
    })
}

/// Converts a value to words.
pub fn data(value: &Value) -> Data {
    match value {
        Value::Scalar(fields) => Data::Scalar(fields.iter().map(|c| c.bits).collect()),
        Value::Array(columns) => {
            let n = columns.first().map_or(0, |c| c.len());
            let words = |c: &Arc<livefusion_backend::Buffer>| {
                let c = c.here().expect("the device works");
                (0..c.len())
                    .map(|i| c.get_word(i).unwrap_or_default())
                    .collect()
            };
            Data::Array(columns.iter().map(words).collect(), n)
        }
    }
}

/// Runs a program, and compares it with the naive evaluator.
pub fn against_naive(program: &Program, engine: &Engine) -> Result<Ran, String> {
    let graph = program.build();
    let plain = |r: &usize| graph.plain[*r].clone();
    let roots: Vec<Arc<Node>> = program.roots.iter().map(plain).collect();
    // The naive evaluator runs first, because it rejects programs that would take too long.
    let mut naive = Naive::default();
    roots.iter().for_each(|r| drop(naive.eval(r)));
    let ran = run_graph(program, graph, engine)?;
    if let Err(e) = &ran.result
        && (lengths_differ(&naive, &ran, e) || hangs_on_bits(&naive, &ran, e))
    {
        return Ok(ran);
    }
    match (&ran.result, order::expected(&naive, &roots, &ran)) {
        (_, Expected::Unknown) => {}
        (Ok(values), Expected::Values | Expected::ValuesOr(_)) => {
            values_fit(&roots, naive, values)?;
        }
        (Ok(_), Expected::Traps(t)) => return Err(format!("gave values, expected {}", list(&t))),
        (Ok(_), Expected::SomeTrap) => return Err("gave values, expected a trap".into()),
        (Err(_), Expected::SomeTrap) => {}
        (Err(e), Expected::Values) => return Err(format!("expected values, got: {e}")),
        (Err(e), Expected::Traps(candidates) | Expected::ValuesOr(candidates)) => {
            if !candidates.iter().any(|c| is_candidate(&ran, e, c)) {
                return Err(format!("expected {}, got: {e}", list(&candidates)));
            }
        }
    }
    Ok(ran)
}

/// Forces the steps of a program one by one, in a random order.
///
/// Each force finds earlier results in memory. Steps that may trap are skipped.
pub fn one_by_one(program: &Program, engine: &Engine, seed: u64) -> Result<(), String> {
    let graph = program.build();
    let mut rng = Rng::new(seed);
    let mut order: Vec<usize> = (0..program.steps.len()).collect();
    for at in (1..order.len()).rev() {
        order.swap(at, rng.below(at + 1));
    }
    let mut naive = Naive::default();
    let (mut forced, mut values) = (vec![], vec![]);
    for step in order {
        let plain = &graph.plain[step];
        if naive.eval(plain).may_trap {
            continue;
        }
        let value = force_nodes(engine, std::slice::from_ref(&graph.nodes[step]))
            .map_err(|e| format!("expected values, got: {e}"))?;
        values.extend(value.iter().map(data));
        forced.push(plain.clone());
    }
    values_fit(&forced, naive, &values)
}

/// Whether an error reports a true mismatch of lengths. The first loop with both lengths checks
/// them, before other errors occur in the consumer's loop.
fn lengths_differ(naive: &Naive, ran: &Ran, e: &Error) -> bool {
    let nodes = ran.graph.plain.iter();
    let mut traps = nodes.filter_map(|n| Some((n, naive.get(n)?)));
    match e.kind {
        // A cursor, or a node below a filter, may have seen fewer elements so far.
        ErrorKind::LengthMismatch { expected, got } => traps.any(|(n, evaluated)| {
            let fits = |t: &Trap| {
                let lengths = t.kind == TrapKind::LengthMismatch && got != expected;
                lengths && got <= t.payload[0].bits && expected <= t.payload[1].bits
            };
            n.name == e.combinator && evaluated.traps.iter().any(fits)
        }),
        // If a surplus length is dropped, lengths within these segments do not fit either.
        ErrorKind::Segments { .. } => traps.any(|(_, evaluated)| {
            let lengths = |k| matches!(k, TrapKind::Segments | TrapKind::LengthMismatch);
            evaluated.traps.iter().any(|t| lengths(t.kind))
        }),
        _ => false,
    }
}

/// Whether an error belongs to a step with an input that is not exact to the bit, such as the count
/// of a filter on it.
fn hangs_on_bits(naive: &Naive, ran: &Ran, e: &Error) -> bool {
    let mut named = ran.graph.plain.iter().filter(|n| n.name == e.combinator);
    named.any(|n| naive.get(n).is_some_and(|e| e.tainted))
}

/// Whether an error may be this trap.
fn is_candidate(ran: &Ran, e: &Error, c: &Candidate) -> bool {
    let combs = |n: &Arc<Node>| ran.combs.get(&ran.graph.step_of(n)?);
    let named = ran.graph.plain.iter().find(|n| n.name == e.combinator);
    // Equal steps are unified, and the result may have the name of either.
    named.and_then(combs) == combs(&c.node) && same_trap(&e.kind, c.kind, &c.payload)
}

fn list(candidates: &[Candidate]) -> String {
    candidates
        .iter()
        .map(Candidate::to_string)
        .collect::<Vec<_>>()
        .join(" or ")
}

/// Whether an error reports the same as a trap.
fn same_trap(error: &ErrorKind, kind: TrapKind, payload: &[loop_lang::Const]) -> bool {
    let word = |i: usize| payload[i].bits;
    // A word lost the sign of a widened negative number; an error keeps it.
    let widened = |n: i128| n as u64;
    let expected = match kind {
        TrapKind::OutOfRange => {
            return matches!(error, ErrorKind::OutOfRange { index, len }
                if (widened(*index), *len) == (word(0), word(1)));
        }
        TrapKind::Division => ErrorKind::Division {
            dividend: to_i128(payload[0]),
            divisor: to_i128(payload[1]),
        },
        TrapKind::LengthMismatch => ErrorKind::LengthMismatch {
            got: word(0),
            expected: word(1),
        },
        TrapKind::Segments => {
            return matches!(error, ErrorKind::Segments { needed, room }
                if (widened(*needed), *room) == (word(0), word(1)));
        }
        // Errors for failed searches differ only in wording.
        TrapKind::Empty => return matches!(error, ErrorKind::Empty | ErrorKind::NotFound),
        TrapKind::LongSum | TrapKind::LongProduct => {
            return matches!(error, ErrorKind::Malformed { .. });
        }
        TrapKind::SliceRange => ErrorKind::SliceRange {
            start: word(0),
            end: word(1),
            len: word(2),
        },
    };
    *error == expected
}

fn values_fit(roots: &[Arc<Node>], mut naive: Naive, values: &[Data]) -> Result<(), String> {
    let loose = |e: &Evaluated| e.bounds.iter().any(|b| *b != Bound::Exact);
    let anchors: HashMap<*const Node, Data> = roots
        .iter()
        .zip(values)
        .filter(|(r, _)| naive.get(r).is_some_and(|e| loose(e)))
        .map(|(r, v)| (Arc::as_ptr(r), v.clone()))
        .collect();
    if !anchors.is_empty() {
        // Values that depend on a reassociated float are computed from the engine's own bits.
        naive = Naive::with_anchors(anchors);
    }
    for (k, (root, got)) in roots.iter().zip(values).enumerate() {
        let e = naive.eval(root);
        data_fits(&root.types, &e, got)
            .map_err(|why| format!("result {k} (`{}`): {why}", root.name))?;
    }
    Ok(())
}

fn data_fits(types: &[Ty], e: &Evaluated, got: &Data) -> Result<(), String> {
    let (want, got) = match (&e.data, got) {
        (Data::Scalar(a), Data::Scalar(b)) => {
            let column = |w: &Vec<u64>| w.iter().map(|x| vec![*x]).collect::<Vec<_>>();
            (column(a), column(b))
        }
        (Data::Array(a, n), Data::Array(b, m)) if n == m => (a.clone(), b.clone()),
        (a, b) => return Err(format!("expected length {}, got {}", a.len(), b.len())),
    };
    for (f, ty) in types.iter().enumerate() {
        for (i, (w, g)) in want[f].iter().zip(&got[f]).enumerate() {
            let fits = match e.bounds.get(f) {
                Some(Bound::Within(b)) => close(*ty, *w, *g, b[i]),
                _ => same(*ty, *w, *g),
            };
            if !fits {
                let (w, g) = (show(*ty, *w), show(*ty, *g));
                return Err(format!("field {f}, element {i}: expected {w}, got {g}"));
            }
        }
    }
    Ok(())
}

fn close(ty: Ty, want: u64, got: u64, bound: f64) -> bool {
    let (w, g) = (to_f64(ty, want), to_f64(ty, got));
    bound.is_infinite() || same(ty, want, got) || (w - g).abs() <= bound
}

/// Compares two runs of a program bit for bit.
pub fn agree(a: &Ran, b: &Ran) -> Result<(), String> {
    match (&a.result, &b.result) {
        (Err(x), Err(y)) if x == y => Ok(()),
        (Ok(x), Ok(y)) => {
            for (k, root) in a.graph.roots.iter().enumerate() {
                let exact = Evaluated {
                    data: x[k].clone(),
                    bounds: vec![],
                    traps: vec![],
                    reads: vec![],
                    may_trap: false,
                    origin: vec![],
                    taken: vec![],
                    looked_at: None,
                    tainted: false,
                };
                data_fits(&root.types, &exact, &y[k])
                    .map_err(|why| format!("result {k}: {why}"))?;
            }
            Ok(())
        }
        (x, y) => {
            let show = |r: &Result<Vec<Data>, Error>| match r {
                Ok(_) => "values".to_string(),
                Err(e) => e.to_string(),
            };
            Err(format!("one gave {}, the other {}", show(x), show(y)))
        }
    }
}

/// Converts a panic to an error.
pub fn caught<T>(f: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    std::panic::catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        Err(format!("panic: {}", text.unwrap_or_default()))
    })
}

/// The number of programs per thread that are checked ahead of the results.
const WINDOW: usize = 8;

/// Checks programs on all threads, and passes on the results in order.
///
/// Panics with the smallest program that fails like the first failing one.
pub fn check_all<T: Send>(
    programs: impl IntoIterator<Item = (u64, Program)>,
    check: impl Fn(u64, &Program) -> Result<T, String> + Sync,
    mut passed: impl FnMut(&Program, T),
) {
    let mut programs = programs.into_iter();
    loop {
        let window = threads::count() * WINDOW;
        let window: Vec<(u64, Program)> = programs.by_ref().take(window).collect();
        if window.is_empty() {
            return;
        }
        let given = threads::map(&window, |(seed, p)| caught(|| check(*seed, p)));
        for ((seed, program), given) in window.iter().zip(given) {
            match given {
                Ok(t) => passed(program, t),
                Err(why) => panic!("{}", smallest(*seed, program, &why, &check)),
            }
        }
    }
}

/// Finds the smallest program with the same failure.
///
/// Returns it as text with its loops.
pub fn smallest<T>(
    seed: u64,
    program: &Program,
    why: &str,
    check: impl Fn(u64, &Program) -> Result<T, String>,
) -> String {
    let check = |p: &Program| caught(|| check(seed, p));
    let kind = kind_of(why);
    let small = shrink(program, |p| check(p).is_err_and(|w| kind_of(&w) == kind));
    let why = check(&small).err().unwrap_or_else(|| why.to_string());
    format!("seed {seed}: {why}\n\n{small}\n{}", loops(&small))
}

/// Returns a key for failures with the same cause.
///
/// It is the first line of the message without digits.
pub fn kind_of(why: &str) -> String {
    let first = why.lines().next().unwrap_or_default().chars();
    first.filter(|c| !c.is_ascii_digit()).take(200).collect()
}

/// The loops of a program as text.
fn loops(program: &Program) -> String {
    let explained = caught(|| {
        let graph = program.build();
        Engine::interp()
            .explain(&graph.roots)
            .map_err(|e| e.to_string())
    });
    match explained {
        Ok(e) => e
            .loops
            .iter()
            .map(|l| l.program.to_string())
            .collect::<Vec<_>>()
            .join("\n"),
        Err(why) => why,
    }
}
