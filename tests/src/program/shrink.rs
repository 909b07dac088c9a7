//! Shrinking: smaller programs that fail in the same way.

use super::{Body, Fold, Length, Program, Step, Style, Term, body};
use crate::check::caught;
use crate::naive::{Data, Naive};
use crate::scalar;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::time::{Duration, Instant};

/// The limits on time and on candidates of a search.
const PATIENCE: (Duration, usize) = (Duration::from_secs(90), 4000);

/// Returns the smallest program found for which `fails` holds.
pub fn shrink(program: &Program, mut fails: impl FnMut(&Program) -> bool) -> Program {
    let mut best = collected(program);
    if !fails(&best) {
        best = program.clone();
    }
    let (until, mut left) = (Instant::now() + PATIENCE.0, PATIENCE.1);
    loop {
        let mut tried = |p: &Program| {
            left = left.saturating_sub(1);
            left > 0 && Instant::now() < until && fails(p)
        };
        let smaller = PASSES.iter().find_map(|pass| {
            let all = pass(&best);
            all.into_iter().find(&mut tried)
        });
        match smaller {
            Some(smaller) => best = smaller,
            None => return best,
        }
    }
}

/// Shrinking passes, the most effective first. Each result is smaller by some measure, so the
/// search terminates.
const PASSES: &[fn(&Program) -> Vec<Program>] = &[
    fewer_roots,
    other_roots,
    bypassed,
    as_values,
    shorter,
    plainer,
    simpler_terms,
    simpler_words,
];

fn fewer_roots(p: &Program) -> Vec<Program> {
    let without = |i: usize| {
        let mut q = p.clone();
        q.roots.remove(i);
        collected(&q)
    };
    let several = p.roots.len() > 1;
    (0..p.roots.len())
        .filter(|_| several)
        .map(without)
        .collect()
}

/// Replaces a result by one of its operands.
fn other_roots(p: &Program) -> Vec<Program> {
    let mut out = vec![];
    for (k, root) in p.roots.iter().enumerate() {
        for input in p.steps[*root].links() {
            let mut q = p.clone();
            q.roots[k] = input;
            let q = collected(&q);
            if q.steps.len() < p.steps.len() {
                out.push(q);
            }
        }
    }
    out
}

/// Replaces a step by one of its inputs.
fn bypassed(p: &Program) -> Vec<Program> {
    let nodes = p.build().nodes;
    let mut out = vec![];
    for (i, step) in p.steps.iter().enumerate().rev() {
        for input in step.inputs() {
            let (a, b) = (&nodes[i], &nodes[input]);
            if a.types == b.types && a.rank == b.rank {
                let mut number: Vec<usize> = (0..p.steps.len()).collect();
                number[i] = input;
                let mut q = p.clone();
                q.steps.iter_mut().for_each(|s| s.renumber(&number));
                q.roots.iter_mut().for_each(|r| *r = number[*r]);
                let q = collected(&q);
                out.extend(fitted(&q));
                out.push(q);
            }
        }
    }
    out.retain(is_sound);
    out
}

fn as_values(p: &Program) -> Vec<Program> {
    (0..p.steps.len())
        .rev()
        .filter_map(|i| as_value(p, i))
        .collect()
}

/// Whether a simplified program is valid. Its scalar loops might not terminate.
fn is_sound(p: &Program) -> bool {
    let built = caught(|| Ok(p.build()));
    built.is_ok_and(|built| built.nodes.iter().all(|n| n.error.is_none()))
}

/// Removes dead steps.
fn collected(p: &Program) -> Program {
    let mut needed = vec![false; p.steps.len()];
    p.roots.iter().for_each(|r| needed[*r] = true);
    for i in (0..p.steps.len()).rev() {
        if needed[i] {
            p.steps[i]
                .links()
                .into_iter()
                .for_each(|l| needed[l] = true);
        }
    }
    let mut number = vec![0; p.steps.len()];
    let mut q = Program::default();
    for (i, step) in p.steps.iter().enumerate().filter(|(i, _)| needed[*i]) {
        number[i] = q.steps.len();
        let mut step = step.clone();
        step.renumber(&number);
        q.steps.push(step);
    }
    q.roots = p.roots.iter().map(|r| number[*r]).collect();
    q
}

/// Replaces a step by its value in memory.
fn as_value(p: &Program, i: usize) -> Option<Program> {
    if matches!(p.steps[i], Step::Data(_) | Step::Constant(_)) {
        return None;
    }
    if p.steps
        .iter()
        .any(|s| matches!(s, Step::ScanTotal(of) if *of == i))
    {
        return None;
    }
    let node = p.build().plain[i].clone();
    let data = Naive::default().eval(&node).data.clone();
    let mut q = p.clone();
    q.steps[i] = match data {
        Data::Array(columns, _) => Step::Data(node.types.iter().copied().zip(columns).collect()),
        Data::Scalar(fields) => Step::Constant(
            node.types
                .iter()
                .zip(fields)
                .map(|(ty, bits)| Const { ty: *ty, bits })
                .collect(),
        ),
    };
    Some(collected(&q))
}

/// Simplifies folds to plain sums, and maps to conversions.
fn plainer(p: &Program) -> Vec<Program> {
    let nodes = p.build().nodes;
    let mut out = vec![];
    for (i, step) in p.steps.iter().enumerate() {
        let elem = |input: usize| nodes[input].types.to_vec();
        let plain = match step {
            Step::Fold(d, _) => Step::Fold(*d, sum(&elem(*d))),
            Step::Scan(d, _, kind) => Step::Scan(*d, sum(&elem(*d)), *kind),
            Step::FoldS(l, d, _) => Step::FoldS(*l, *d, sum(&elem(*d))),
            Step::ScanS(l, d, _, kind) => Step::ScanS(*l, *d, sum(&elem(*d)), *kind),
            Step::Map(inputs, b) => {
                let results = nodes[i].types.to_vec();
                Step::Map(inputs.clone(), converting(&b.params, &results))
            }
            Step::Generate(Length::Known(n), b) => {
                Step::Generate(Length::Known(*n), converting(&b.params, &nodes[i].types))
            }
            _ => continue,
        };
        // A fold's result may have had another type.
        let size = |s: &Step| s.bodies().iter().map(|b| b.terms.len()).sum::<usize>();
        if size(&plain) < size(step) && plain.build(i, &nodes).types == nodes[i].types {
            let mut q = p.clone();
            q.steps[i] = plain;
            out.push(collected(&q));
        }
    }
    out.retain(is_sound);
    out
}

fn sum(elem: &[Ty]) -> Fold {
    let n = elem.len();
    let params = [elem, elem].concat();
    let mut terms: Vec<Term> = (0..2 * n as u32).map(Term::Param).collect();
    let op = |ty: &Ty| if *ty == Ty::Bool { Op::Or } else { Op::Add };
    terms.extend((0..n).map(|k| Term::Op(op(&elem[k]), vec![k, k + n])));
    let zeros: Vec<Const> = elem.iter().map(|t| Const::zero(*t)).collect();
    Fold {
        start: body::literals(&zeros),
        step: Body {
            params,
            terms,
            results: (2 * n..3 * n).collect(),
            ..Body::default()
        },
        style: Style::Associative,
    }
}

/// A body whose results are parameters, converted if necessary.
fn converting(params: &[Ty], results: &[Ty]) -> Body {
    let mut terms: Vec<Term> = (0..params.len() as u32).map(Term::Param).collect();
    let mut all = vec![];
    for (k, ty) in results.iter().enumerate() {
        let from = k % params.len();
        if params[from] == *ty {
            all.push(from);
        } else {
            terms.push(Term::Cast(from, *ty));
            all.push(terms.len() - 1);
        }
    }
    Body {
        params: params.to_vec(),
        terms,
        results: all,
        ..Body::default()
    }
}

/// Whether the step needs an associative operator.
fn must_associate(step: &Step) -> bool {
    match step {
        Step::Fold(_, f) | Step::Scan(_, f, _) | Step::FoldS(.., f) | Step::ScanS(.., f, _) => {
            !matches!(f.style, Style::Sequential)
        }
        _ => false,
    }
}

fn simpler_terms(p: &Program) -> Vec<Program> {
    let mut out = vec![];
    for (i, step) in p.steps.iter().enumerate() {
        if must_associate(step) {
            continue;
        }
        for (b, body) in step.bodies().iter().enumerate() {
            for t in 0..body.terms.len() {
                out.extend(simpler_term(p, i, b, t));
            }
        }
    }
    out
}

/// Replaces a term by zero.
fn simpler_term(p: &Program, i: usize, b: usize, t: usize) -> Option<Program> {
    let nodes = p.build().nodes;
    let body = p.steps[i].bodies()[b].clone();
    if t < body.params.len() {
        return None;
    }
    let ty = match &body.terms[t] {
        Term::Cast(_, ty) | Term::Bitcast(_, ty) => *ty,
        Term::Op(..) | Term::Cond(..) | Term::Scalar(..) | Term::At(..) => {
            let mut alone = body.clone();
            alone.results = vec![t];
            alone.build(&nodes).result_types().first().copied()?
        }
        _ => return None,
    };
    let mut q = p.clone();
    let body = q.steps[i].bodies_mut().into_iter().nth(b)?;
    body.terms[t] = Term::Lit(Const::zero(ty));
    is_sound(&q).then(|| collected(&q))
}

/// Removes data: half of the elements, or one element, of all arrays of one length. Dependent
/// lengths are adapted, unless the failure is a length mismatch.
fn shorter(p: &Program) -> Vec<Program> {
    let mut lengths: Vec<usize> = data(p).map(|columns| columns[0].1.len()).collect();
    lengths.sort_unstable();
    lengths.dedup();
    let mut out = vec![];
    for n in lengths.into_iter().rev().filter(|n| *n > 0) {
        let halves = [0..n / 2, n / 2..n];
        let ones = (0..n.min(20)).map(|i| i..i + 1);
        for gone in halves.into_iter().chain(ones).filter(|r| !r.is_empty()) {
            let mut q = p.clone();
            for step in &mut q.steps {
                let Step::Data(columns) = step else { continue };
                if columns[0].1.len() == n {
                    columns
                        .iter_mut()
                        .for_each(|(_, c)| drop(c.drain(gone.clone())));
                }
            }
            out.extend(fitted(&q));
            out.push(q);
        }
    }
    let size = |p: &Program| data(p).map(|columns| columns[0].1.len()).sum::<usize>();
    out.retain(|q| size(q) < size(p) && is_sound(q));
    out
}

fn data(p: &Program) -> impl Iterator<Item = &Vec<(Ty, Vec<u64>)>> {
    p.steps.iter().filter_map(|step| match step {
        Step::Data(columns) => Some(columns),
        _ => None,
    })
}

/// Resizes arrays in memory so that lengths fit. Returns `None` if they already fit, or cannot.
fn fitted(p: &Program) -> Option<Program> {
    let mut q = p.clone();
    let mut changed = false;
    for _ in 0..4 * p.steps.len() {
        if !is_sound(&q) && !fit_once(&mut q, false) {
            return None;
        }
        if is_sound(&q) && !fit_once(&mut q, true) {
            return changed.then_some(q);
        }
        changed = true;
    }
    None
}

/// Adapts the lengths of one step's inputs, if one of them is in memory. Returns whether it changed
/// anything.
fn fit_once(q: &mut Program, sound: bool) -> bool {
    let nodes = q.build();
    let mut naive = Naive::default();
    for i in 0..q.steps.len() {
        if !sound && nodes.nodes[i].error.is_some() && q.steps[i].inputs().is_empty() {
            return false;
        }
        let inputs = q.steps[i].inputs();
        let mut len = |s: usize| naive.eval(&nodes.plain[s]).data.len();
        let base = usize::from(nodes.plain[i].kind.facts().has_base);
        let together: &[usize] = match (&q.steps[i], q.steps[i].cut()) {
            (_, Some((l, Some(d)))) => {
                let n = len(d);
                let lengths = naive.eval(&nodes.plain[l]).data.clone();
                let all: u64 = lengths.columns()[0]
                    .iter()
                    .fold(0, |a, b| a.saturating_add(*b));
                if all == n as u64 {
                    continue;
                }
                if let Step::Data(columns) = &mut q.steps[l] {
                    let words = &mut columns[0].1;
                    let mut left = n as u64;
                    for w in words.iter_mut() {
                        *w = left.min(*w);
                        left -= *w;
                    }
                    if let Some(last) = words.last_mut() {
                        *last += left;
                        return true;
                    }
                    return false;
                }
                if all < 1000 && resize(&mut q.steps[d], all as usize) {
                    return true;
                }
                continue;
            }
            (Step::ZipShortest(_) | Step::Merge(..) | Step::Append(_) | Step::Part(..), _) => {
                continue;
            }
            _ => inputs.get(base..).unwrap_or_default(),
        };
        if together.len() < 2 {
            continue;
        }
        let lengths: Vec<usize> = together.iter().map(|s| len(*s)).collect();
        let together = together.to_vec();
        let of_memory = |s: &usize| matches!(q.steps[*s], Step::Data(_));
        // The computed length decides.
        let tells = (0..together.len()).find(|k| !of_memory(&together[*k]));
        let n = lengths[tells.unwrap_or(0)];
        for s in together.iter().zip(&lengths).filter(|(_, len)| **len != n) {
            if resize(&mut q.steps[*s.0], n) {
                return true;
            }
        }
    }
    false
}

/// Resizes an array in memory.
fn resize(step: &mut Step, n: usize) -> bool {
    let Step::Data(columns) = step else {
        return false;
    };
    for (_, c) in columns.iter_mut() {
        let last = c.last().copied().unwrap_or(0);
        c.resize(n, last);
    }
    true
}

/// Replaces a word in memory by 0, 1 or 2.
fn simpler_words(p: &Program) -> Vec<Program> {
    let mut out = vec![];
    for (i, step) in p.steps.iter().enumerate() {
        let Step::Data(columns) = step else { continue };
        for (c, (ty, words)) in columns.iter().enumerate() {
            let simple = |x: u64| match ty.is_float() {
                true => scalar::float(*ty, x as f64),
                false => x,
            };
            for (k, w) in words.iter().enumerate().take(20) {
                let known = (0..3).position(|x| simple(x) == *w).unwrap_or(3) as u64;
                for x in (0..known).filter(|x| *ty != Ty::Bool || *x < 2) {
                    let mut q = p.clone();
                    if let Step::Data(columns) = &mut q.steps[i] {
                        columns[c].1[k] = simple(x);
                    }
                    out.push(q);
                }
            }
        }
    }
    out
}
