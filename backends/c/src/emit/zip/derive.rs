//! A zip's loops: one for each side, which packs what the side delivers into a buffer, and one for what
//! runs behind them, which reads the buffers in step.
//!
//! They share the variables of the loop that they are derived from. Rates keep their numbers; those that
//! are not below a root any more are left over.

use super::look::{Cursor, start};
use crate::facts::{self, Facts};
use loop_lang::Loop;
use loop_lang::gotos::Tree;
use loop_lang::ir::{
    Args, Atom, Block, Combine, End, Group, Label, Order, Param, ParamKind, Part, Place, RateId,
    RateKind, Section, Stmt, StmtKind, Type, Var,
};
use loop_lang::op::Op;
use loop_lang::passes::{constant_folding, copy_propagation};
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashSet;

/// The variables of a side's loop.
pub(super) struct Buffers {
    /// How many elements have been packed.
    pub count: Var,
    next: Var,
    /// A buffer for each value that the side delivers.
    pub arrays: Vec<Var>,
    /// What is packed of each.
    packed: Vec<Var>,
}

impl Buffers {
    /// Adds a side's variables to the loop.
    pub fn of(program: &mut Loop, cursor: &Cursor) -> Buffers {
        let name = program.name(cursor.counter).to_string();
        let count = program.new_var(format!("kept_{name}"), Type::Scalar(Ty::U64));
        let next = program.new_var(format!("next_kept_{name}"), Type::Scalar(Ty::U64));
        let (mut arrays, mut packed) = (Vec::new(), Vec::new());
        for v in &cursor.values {
            let (name, ty) = (program.name(*v).to_string(), program.ty(*v).elem());
            arrays.push(program.new_var(format!("all_{name}"), Type::Array(ty)));
            packed.push(program.new_var(format!("packed_{name}"), Type::Array(ty)));
        }
        Buffers {
            count,
            next,
            arrays,
            packed,
        }
    }
}

/// The loop of one side.
pub(super) fn side(
    program: &Loop,
    facts: &Facts,
    cursor: &Cursor,
    buffers: &Buffers,
) -> Option<Loop> {
    let mut side = program.clone();
    let done = Place::At {
        rate: cursor.rate,
        stage: 0,
        section: Section::Done,
    };
    let ended = label(facts, done)?;
    let tree = Tree::of(program);
    side.blocks.retain(|labels, _| {
        let place = labels.first().map(|l| tree.place(program, *l));
        match place {
            Some(Place::At { rate, section, .. }) => {
                let around = matches!(section, Section::Nest | Section::Done);
                program.is_within(rate, cursor.rate) && !(around && rate == cursor.rate)
            }
            Some(Place::Init) => true,
            _ => false,
        }
    });
    side.roots = vec![cursor.rate];
    side.rates[cursor.rate.index()].kind = RateKind::Root {
        counter: cursor.counter,
        bound: cursor.bound,
    };
    let one = Atom::from(Const::u64(1));
    let zero = Atom::from(Const::u64(0));
    let Place::At { rate: step, .. } = cursor.delivers else {
        return None;
    };
    side.groups.push(Group {
        vars: vec![buffers.count],
        owner: cursor.rate,
        step,
        start: vec![zero],
        identity: vec![zero],
        next: vec![buffers.next.into()],
        combine: Some(Combine::Op(Op::Add)),
        level: 0,
        circle: false,
        order: Order::Exact,
    });
    let comb = ended.comb;
    let stmt = |kind| Stmt { comb, kind };
    for block in side.blocks.values_mut() {
        for s in &mut block.stmts {
            if let StmtKind::Assign(v, a) = s.kind
                && let Some(k) = cursor.values.iter().position(|x| *x == v)
            {
                s.kind = StmtKind::WriteArray(buffers.arrays[k], buffers.count.into(), a);
            }
        }
    }
    let next = Tree::of(&side).next(&side, cursor.delivers)?;
    let next = label(facts, next)?;
    let delivers = side.blocks.get_mut(label(facts, cursor.delivers)?)?;
    let args = Args::from_slice(&[buffers.count.into(), one]);
    delivers.stmts.extend([
        stmt(StmtKind::Let(buffers.next, Op::Add, args)),
        stmt(StmtKind::Assign(buffers.count, buffers.next.into())),
    ]);
    delivers.end = End::Goto(next);
    let init = side.blocks.get_mut(label(facts, Place::Init)?)?;
    init.stmts.push(stmt(StmtKind::Carry(buffers.count, zero)));
    let mut last = Block {
        end: End::Return(Vec::new()),
        ..Block::default()
    };
    for (a, packed) in buffers.arrays.iter().zip(&buffers.packed) {
        let new = StmtKind::NewArray(*a, cursor.bound);
        init.stmts.push(stmt(new));
        let slice = StmtKind::SliceArray(*packed, *a, buffers.count.into());
        last.stmts.push(stmt(slice));
    }
    side.blocks.insert([ended], last).ok()?;
    Some(side)
}

/// The loop behind the sides, and what its counter must stay below.
pub(super) fn behind(
    program: &Loop,
    facts: &Facts,
    root: RateId,
    sides: &[(Cursor, Buffers)],
) -> Option<(Loop, Vec<Atom>)> {
    let mut behind = program.clone();
    let tree = Tree::of(program);
    let cursor_of = |rate| {
        let mut rates = sides.iter().map(|(c, _)| c.rate);
        rates.find(|c| program.is_within(rate, *c))
    };
    behind.blocks.retain(|labels, _| {
        let place = labels.first().map(|l| tree.place(program, *l));
        !matches!(place, Some(Place::At { rate, .. }) if cursor_of(rate).is_some())
    });
    for i in 0..behind.rates.len() {
        if cursor_of(RateId::new(i)).is_some() {
            behind.rates[i].kind = RateKind::Sub {
                parent: root,
                count: None,
            };
        }
    }
    let parts = &mut behind.rates[root.index()].parts;
    parts.retain(|p| !matches!(p, Part::Child(r) if cursor_of(*r).is_some()));
    let RateKind::Root { counter, .. } = program.rate(root).kind else {
        return None;
    };
    let last = sides.last()?.0.rate;
    let after = label(facts, facts.tree.after(program, last)?)?;
    for block in behind.blocks.values_mut() {
        let into = |l: &Label| matches!(tree.place(program, *l), Place::At { rate, .. } if cursor_of(rate).is_some());
        if let End::Goto(to) = &mut block.end
            && into(to)
        {
            *to = after;
        }
    }
    let init = behind.blocks.get_mut(label(facts, Place::Init)?)?;
    let gone = |v: &Var| {
        sides
            .iter()
            .any(|(c, _)| c.values.contains(v) || c.ends.contains(v))
    };
    init.stmts
        .retain(|s| !matches!(&s.kind, StmtKind::Carry(v, _) if gone(v)));
    // While all go on, what tells so is as it was at the start.
    for v in sides.iter().flat_map(|(c, _)| &c.ends) {
        let args = Args::from_slice(&[start(program, *v)?.into()]);
        let kind = StmtKind::Let(*v, Op::Copy, args);
        init.stmts.insert(
            0,
            Stmt {
                comb: after.comb,
                kind,
            },
        );
    }
    let block = behind.blocks.get_mut(after)?;
    for (cursor, buffers) in sides {
        for (v, a) in cursor.values.iter().zip(&buffers.arrays) {
            let kind = StmtKind::ReadArray(*v, *a, counter.into());
            block.stmts.insert(
                0,
                Stmt {
                    comb: after.comb,
                    kind,
                },
            );
            let kind = ParamKind::Stream(root);
            behind.params.push(Param { var: *a, kind });
        }
    }
    let limits = limits(program, facts, root, counter, &mut behind);
    constant_folding::run(&mut behind);
    copy_propagation::run(&mut behind);
    Some((behind, limits))
}

/// Arrays in memory end where the counter meets their length: until then, the tests of it hold.
fn limits(
    program: &Loop,
    facts: &Facts,
    root: RateId,
    counter: Var,
    behind: &mut Loop,
) -> Vec<Atom> {
    let mut set: FxHashSet<Var> = FxHashSet::default();
    for placed in &facts.blocks {
        if matches!(placed.place, Place::At { rate, .. } if program.is_within(rate, root)) {
            facts::each_stmt(&placed.block.stmts, &mut |s| {
                facts::each_def(s, &mut |v| {
                    set.insert(v);
                });
                facts::each_update(program, s, &mut |v| {
                    set.insert(v);
                });
            });
        }
    }
    let fixed = |a: Atom| !matches!(a, Atom::Var(v) if set.contains(&v));
    let mut limits = Vec::new();
    let tree = Tree::of(behind);
    let places: Vec<Option<Place>> = behind
        .blocks
        .iter()
        .map(|(labels, _)| labels.first().map(|l| tree.place(behind, *l)))
        .collect();
    for (block, place) in behind.blocks.values_mut().zip(places) {
        let tests = matches!(place, Some(Place::At { rate, section, .. })
            if rate == root && section != Section::Guard);
        if !tests || block.exits.is_empty() {
            continue;
        }
        for s in &mut block.stmts {
            if let StmtKind::Let(v, Op::Lt, args) = &s.kind
                && args[0] == Atom::Var(counter)
                && fixed(args[1])
            {
                limits.push(args[1]);
                let yes = Args::from_slice(&[Const::bool(true).into()]);
                s.kind = StmtKind::Let(*v, Op::Copy, yes);
            }
        }
    }
    limits
}

/// The label by which gotos name a place's block.
fn label(facts: &Facts, place: Place) -> Option<Label> {
    let block = &facts.blocks[*facts.at.get(&place)?];
    block.labels.first().copied()
}
