//! Loops in which a counter test leaves a rate in the middle of an iteration.
//!
//! The test is in a stage of the root, or of a rate nested in it.

use super::RandomLoop;
use crate::rng::Rng;
use loop_lang::gotos::Tree;
use loop_lang::ir::{Atom, Exit, Place, RateId, RateKind, Section, Stmt, StmtKind, Type};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

/// Adds such an exit to a loop with one root.
///
/// The exit leaves the root, or a nested rate, when a counter reaches a number. Returns `None` if
/// there is no place for it.
pub fn left(mut made: RandomLoop, seed: u64) -> Option<RandomLoop> {
    let mut rng = Rng::new(seed);
    let program = &mut made.program;
    let [root] = program.roots[..] else {
        return None;
    };
    let tree = Tree::of(program);
    let places: Vec<_> = program
        .blocks
        .iter()
        .filter_map(|(labels, _)| Some((*labels.first()?, tree.place(program, *labels.first()?))))
        .collect();
    let is_stage = |place: &Place| {
        matches!(
            place,
            Place::At {
                section: Section::Body | Section::Yield,
                ..
            }
        )
    };
    let stages = places.iter().copied().filter(|(_, p)| is_stage(p));
    let stages: Vec<_> = stages.collect();
    let (label, place) = stages[rng.below(stages.len())];
    let Place::At { rate, .. } = place else {
        return None;
    };
    // All surrounding rates that are loops.
    let mut around = Vec::new();
    let mut next = Some(tree.loop_rate(rate));
    while let Some(loops) = next {
        around.push(loops);
        next = program.rate(loops).kind.parent().map(|p| tree.loop_rate(p));
    }
    let end = tree.way_out(program, rng.pick(&around));
    let (target, _) = places.iter().copied().find(|(_, place)| *place == end)?;
    // The root's counter, or a nearer one.
    let near = tree.loop_rate(rate);
    let counts: RateId = if rng.chance(50) { root } else { near };
    let (RateKind::Root { counter, .. } | RateKind::Nested { counter, .. }) =
        program.rate(counts).kind
    else {
        return None;
    };
    let name = format!("stays_{}", program.comb(label.comb).name);
    let stays = program.new_var(name, Type::Scalar(Ty::Bool));
    let last = Const::u64(rng.below(50) as u64);
    let block = program.blocks.get_mut(label)?;
    let args = [Atom::Var(counter), Atom::Const(last)];
    block.stmts.push(Stmt {
        comb: label.comb,
        kind: StmtKind::Let(stays, Op::Lt, args.into_iter().collect()),
    });
    block.exits.push(Exit {
        comb: label.comb,
        unless: Atom::Var(stays),
        target: Some(target),
    });
    loop_lang::levels::set_levels(program);
    loop_lang::chunkable::raise_levels(program);
    loop_lang::verify::verify(program).ok()?;
    made.text = program.to_string();
    Some(made)
}
