//! The rate tree, and the slots of combinators in it.

use super::Faults;
use crate::ir::*;
use crate::types::Ty;
use rustc_hash::FxHashSet;

/// Checks the tree, and returns whether it is sound enough for places and gotos.
pub(super) fn check(l: &Loop, faults: &mut Faults) -> bool {
    let before = faults.0.len();
    parents(l, faults);
    stages(l, faults);
    slots(l, faults);
    let sound = faults.0.len() == before;
    counters(l, faults);
    streams(l, faults);
    sound
}

/// Checks that roots and children are listed once, by their parents.
fn parents(l: &Loop, faults: &mut Faults) {
    let mut listed = vec![0usize; l.rates.len()];
    for &root in &l.roots {
        listed[root.index()] += 1;
        if l.rate(root).kind.parent().is_some() {
            faults.add(&l.rate(root).name, "is listed as a root but has a parent");
        }
    }
    for (i, rate) in l.rates.iter().enumerate() {
        for part in &rate.parts {
            let Part::Child(c) = *part else { continue };
            listed[c.index()] += 1;
            if l.rate(c).kind.parent() != Some(RateId::new(i)) {
                let message = format!("is listed by `{}`, which is not its parent", rate.name);
                faults.add(&l.rate(c).name, message);
            }
        }
        if rate.kind.parent().is_some_and(|p| p.index() >= i) {
            faults.add(&rate.name, "comes before its parent");
        }
    }
    for (rate, times) in l.rates.iter().zip(listed) {
        let by = match rate.kind.parent() {
            Some(p) => format!("`{}`", l.rate(p).name),
            None => "the loop's roots".into(),
        };
        match times {
            0 => faults.add(&rate.name, format!("is not listed by {by}")),
            1 => {}
            _ => faults.add(&rate.name, format!("is listed {times} times")),
        }
    }
}

fn stages(l: &Loop, faults: &mut Faults) {
    for rate in &l.rates {
        let stages = rate.parts.iter().filter_map(|p| match p {
            Part::Stage(s) => Some(*s),
            Part::Child(_) => None,
        });
        let stages: Vec<u32> = stages.collect();
        if stages.is_empty() {
            faults.add(&rate.name, "has no stage");
        } else if !stages.iter().copied().eq(0..stages.len() as u32) {
            faults.add(&rate.name, "its stages must be 0, 1, ... in order");
        }
    }
}

fn slots(l: &Loop, faults: &mut Faults) {
    let mut taken: FxHashSet<Slot> = FxHashSet::default();
    for comb in &l.combs {
        let Some(slot) = comb.slot else { continue };
        taken.insert(slot);
        let rate = l.rate(slot.rate);
        // Stages are consecutive, so their number determines them.
        let stages = rate.parts.iter().filter(|p| matches!(p, Part::Stage(_)));
        if slot.stage as usize >= stages.count() {
            let message = format!(
                "is at stage {} of `{}`, which it has not",
                slot.stage, rate.name
            );
            faults.add(&comb.name, message);
        }
    }
    for (i, rate) in l.rates.iter().enumerate() {
        for part in &rate.parts {
            let Part::Stage(stage) = *part else { continue };
            let slot = Slot {
                rate: RateId::new(i),
                stage,
            };
            if !taken.contains(&slot) {
                let message = format!("no combinator has its slot in stage {stage}");
                faults.add(&rate.name, message);
            }
        }
    }
}

fn counters(l: &Loop, faults: &mut Faults) {
    let length = Type::Scalar(Ty::U64);
    for rate in &l.rates {
        let count = match rate.kind {
            RateKind::Sub { count, .. } => count,
            kind => kind.counter(),
        };
        if let Some(v) = count.filter(|v| l.ty(*v) != length) {
            let message = format!("its counter `{}` is not a u64", l.name(v));
            faults.add(&rate.name, message);
        }
        let bad = match rate.kind.bound() {
            Some(Atom::Var(v)) => l.ty(v) != length,
            Some(Atom::Const(c)) => c.ty != Ty::U64,
            None => false,
        };
        if bad {
            faults.add(&rate.name, "its bound is not a u64");
        }
    }
}

fn streams(l: &Loop, faults: &mut Faults) {
    for param in &l.params {
        let array = matches!(l.ty(param.var), Type::Array(_));
        match param.kind {
            ParamKind::Scalar if array => {
                faults.add(l.name(param.var), "an array is a stream or random");
            }
            ParamKind::Stream(_) | ParamKind::Random if !array => {
                faults.add(l.name(param.var), "only arrays are streams or random");
            }
            ParamKind::Stream(r) if l.rate(r).kind.is_sub() => {
                let message = format!(
                    "streams along `{}`, which is a sub rate: it has no counter",
                    l.rate(r).name
                );
                faults.add(l.name(param.var), message);
            }
            _ => {}
        }
    }
}
