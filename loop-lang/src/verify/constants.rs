//! Constants are canonical words of their types: backends write them to arrays and frames
//! unchanged.

use super::Faults;
use crate::ir::*;
use crate::types::canonical;
use crate::walk;

pub(super) fn check(l: &Loop, faults: &mut Faults) {
    let mut check = |place: &dyn Fn() -> String, a: Atom| {
        if let Atom::Const(c) = a
            && canonical(c.ty, c.bits) != c.bits
        {
            let message = format!("{:#x} is no `{}`", c.bits, c.ty);
            faults.add(place(), message);
        }
    };
    for (labels, block) in l.blocks.iter() {
        let name = || {
            labels
                .first()
                .map_or_else(String::new, |label| l.label_name(*label))
        };
        let mut see = |a| check(&name, a);
        let stmts = block.stmts.iter();
        stmts.for_each(|s| walk::summary(s, &mut see, &mut |_| {}));
        walk::leaving(block, &mut see);
    }
    for function in &l.functions {
        let name = || function.name.clone();
        let mut see = |a| check(&name, a);
        let stmts = function.body.iter();
        stmts.for_each(|s| walk::summary(s, &mut see, &mut |_| {}));
        function.results.iter().for_each(|a| see(*a));
    }
    for rate in &l.rates {
        let bound = rate.kind.bound().into_iter();
        bound.for_each(|a| check(&|| rate.name.clone(), a));
    }
    for group in &l.groups {
        let name = || {
            let first = group.vars.first();
            first.map_or_else(String::new, |v| l.name(*v).to_string())
        };
        let atoms = group.start.iter().chain(&group.identity);
        atoms.chain(&group.next).for_each(|a| check(&name, *a));
    }
}
