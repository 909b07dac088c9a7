//! Smaller programs that fail in the same way: for people who look for the cause.

use super::{Program, Step, Style, Term};
use crate::naive::{Data, Naive};
use loop_lang::types::Const;

/// The smallest program found for which `fails` holds.
pub fn shrink(program: &Program, mut fails: impl FnMut(&Program) -> bool) -> Program {
    let mut best = collected(program);
    if !fails(&best) {
        best = program.clone();
    }
    loop {
        let Some(smaller) = candidates(&best).into_iter().find(|p| fails(p)) else {
            return best;
        };
        best = smaller;
    }
}

fn candidates(p: &Program) -> Vec<Program> {
    let mut out = vec![];
    for i in 0..p.roots.len() {
        if p.roots.len() > 1 {
            let mut q = p.clone();
            q.roots.remove(i);
            out.push(collected(&q));
        }
    }
    for i in (0..p.steps.len()).rev() {
        out.extend(as_value(p, i));
    }
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
    out.extend(shorter(p));
    out
}

/// Whether another operator in its place might not be associative.
fn must_associate(step: &Step) -> bool {
    match step {
        Step::Fold(_, f) | Step::Scan(_, f, _) | Step::FoldS(.., f) | Step::ScanS(.., f, _) => {
            !matches!(f.style, Style::Sequential)
        }
        _ => false,
    }
}

/// Without what nothing needs.
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

/// With the value of a step in memory instead of the step.
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

/// With a term replaced by zero.
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
    let graph = q.build();
    graph
        .nodes
        .iter()
        .all(|n| n.error.is_none())
        .then(|| collected(&q))
}

/// With half of the data.
fn shorter(p: &Program) -> Vec<Program> {
    let halved = |keep: fn(usize) -> usize| {
        let mut q = p.clone();
        for step in &mut q.steps {
            if let Step::Data(columns) = step {
                columns
                    .iter_mut()
                    .for_each(|(_, c)| c.truncate(keep(c.len())));
            }
        }
        q
    };
    let size = |p: &Program| -> usize {
        p.steps
            .iter()
            .map(|s| {
                if let Step::Data(c) = s {
                    c[0].1.len()
                } else {
                    0
                }
            })
            .sum()
    };
    [halved(|n| n / 2), halved(|n| n.saturating_sub(1))]
        .into_iter()
        .filter(|q| size(q) < size(p) && q.build().nodes.iter().all(|n| n.error.is_none()))
        .collect()
}
