//! Loop derivation for zips: one loop per input, and one for the consumer.
//!
//! An input's loop packs its elements into a buffer. The consumer's loop reads the buffers at its
//! counter. All derived loops share the variables of the original loop. Rates keep their numbers.
//! Rates that are no longer below a root stay in the table unused.

use super::look::Cursor;
use livefusion_backend::facts::{self, Facts};
use loop_lang::Loop;
use loop_lang::gotos::Tree;
use loop_lang::ir::{
    Args, Atom, Block, Combine, End, Exit, Group, Label, Order, Param, ParamKind, Part, Place,
    RateId, RateKind, Section, Stmt, StmtKind, Type, Var,
};
use loop_lang::op::Op;
use loop_lang::passes::{constant_folding, copy_propagation};
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashSet;

/// Holds the new variables of an input's loops.
pub(super) struct SideVars {
    /// The number of packed or found elements.
    pub count: Var,
    next: Var,
    /// The number of elements to find, and whether some are missing.
    pub wanted: Var,
    few: Var,
    /// A buffer for each value of the input.
    pub buffers: Vec<Var>,
    /// The packed part of each buffer.
    packed: Vec<Var>,
}

impl SideVars {
    /// Adds an input's variables to the loop.
    pub fn of(program: &mut Loop, cursor: &Cursor) -> SideVars {
        let name = program.name(cursor.counter).to_string();
        let mut word = |what: &str, ty| program.new_var(format!("{what}_{name}"), Type::Scalar(ty));
        let (count, next) = (word("kept", Ty::U64), word("next_kept", Ty::U64));
        let (wanted, few) = (word("wanted", Ty::U64), word("few", Ty::Bool));
        let (mut buffers, mut packed) = (Vec::new(), Vec::new());
        for v in &cursor.values {
            let (name, ty) = (program.name(*v).to_string(), program.ty(*v).elem());
            buffers.push(program.new_var(format!("all_{name}"), Type::Array(ty)));
            packed.push(program.new_var(format!("packed_{name}"), Type::Array(ty)));
        }
        SideVars {
            count,
            next,
            wanted,
            few,
            buffers,
            packed,
        }
    }
}

/// Derives the loop that packs an input's elements.
pub(super) fn packs(
    program: &Loop,
    facts: &Facts,
    cursor: &Cursor,
    names: &SideVars,
) -> Option<Loop> {
    let mut packs = counts(program, facts, cursor, names)?;
    for s in packs.blocks.values_mut().flat_map(|b| &mut b.stmts) {
        if let StmtKind::Assign(v, a) = s.kind
            && let Some(k) = cursor.values.iter().position(|x| *x == v)
        {
            s.kind = StmtKind::WriteArray(names.buffers[k], names.count.into(), a);
        }
    }
    let ended = label(facts, end_of(cursor))?;
    let stmt = |kind| Stmt {
        comb: ended.comb,
        kind,
    };
    let arrays = || names.buffers.iter().zip(&names.packed);
    let init = packs.blocks.get_mut(label(facts, Place::Init)?)?;
    let new = |(a, _): (&Var, &Var)| stmt(StmtKind::NewArray(*a, cursor.bound));
    init.stmts.extend(arrays().map(new));
    let slice =
        |(a, packed): (&Var, &Var)| stmt(StmtKind::SliceArray(*packed, *a, names.count.into()));
    let last = packs.blocks.get_mut(ended)?;
    last.stmts.extend(arrays().map(slice));
    Some(packs)
}

/// Derives the loop that advances an input until the wanted number of elements is found.
pub(super) fn finds(
    program: &Loop,
    facts: &Facts,
    cursor: &Cursor,
    names: &SideVars,
) -> Option<Loop> {
    let mut finds = counts(program, facts, cursor, names)?;
    for block in finds.blocks.values_mut() {
        let delivers = |v: &Var| cursor.values.contains(v);
        block
            .stmts
            .retain(|s| !matches!(&s.kind, StmtKind::Assign(v, _) if delivers(v)));
    }
    finds.params.push(Param {
        var: names.wanted,
        kind: ParamKind::Scalar,
    });
    let guard = finds
        .blocks
        .get_mut(label(facts, facts::guard_of(cursor.rate))?)?;
    let ended = label(facts, end_of(cursor))?;
    let args = Args::from_slice(&[names.count.into(), names.wanted.into()]);
    guard.stmts.push(Stmt {
        comb: ended.comb,
        kind: StmtKind::Let(names.few, Op::Lt, args),
    });
    guard.exits.push(Exit {
        comb: ended.comb,
        unless: names.few.into(),
        target: Some(ended),
    });
    Some(finds)
}

fn end_of(cursor: &Cursor) -> Place {
    Place::At {
        rate: cursor.rate,
        stage: 0,
        section: Section::Done,
    }
}

/// Derives the loop that counts an input's elements.
fn counts(program: &Loop, facts: &Facts, cursor: &Cursor, names: &SideVars) -> Option<Loop> {
    let mut side = program.clone();
    let ended = label(facts, end_of(cursor))?;
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
        vars: vec![names.count],
        owner: cursor.rate,
        step,
        start: vec![zero],
        identity: vec![zero],
        next: vec![names.next.into()],
        combine: Some(Combine::Op(Op::Add)),
        level: 0,
        cycle: false,
        order: Order::Exact,
    });
    let comb = ended.comb;
    let stmt = |kind| Stmt { comb, kind };
    let next = Tree::of(&side).next(&side, cursor.delivers)?;
    let next = label(facts, next)?;
    let delivers = side.blocks.get_mut(label(facts, cursor.delivers)?)?;
    let args = Args::from_slice(&[names.count.into(), one]);
    delivers.stmts.extend([
        stmt(StmtKind::Let(names.next, Op::Add, args)),
        stmt(StmtKind::Assign(names.count, names.next.into())),
    ]);
    delivers.end = End::Goto(next);
    let init = side.blocks.get_mut(label(facts, Place::Init)?)?;
    init.stmts.push(stmt(StmtKind::Carry(names.count, zero)));
    let last = Block {
        end: End::Return(Vec::new()),
        ..Block::default()
    };
    side.blocks.insert([ended], last).ok()?;
    Some(side)
}

/// Derives the consumer's loop, and the limits of its counter.
pub(super) fn behind(
    program: &Loop,
    facts: &Facts,
    root: RateId,
    (cursors, names): (&[Cursor], &[SideVars]),
    ends: &[(Var, Const)],
) -> Option<(Loop, Vec<Atom>)> {
    let mut behind = program.clone();
    let tree = Tree::of(program);
    let cursor_of = |rate| {
        let mut rates = cursors.iter().map(|c| c.rate);
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
    let last = cursors.last()?.rate;
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
        let mut all = cursors.iter();
        all.any(|c| c.values.contains(v) || c.ends.contains(v))
    };
    init.stmts
        .retain(|s| !matches!(&s.kind, StmtKind::Carry(v, _) if gone(v)));
    // While no input has ended, the end flags keep their start values.
    for (v, start) in ends {
        let args = Args::from_slice(&[(*start).into()]);
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
    for (cursor, names) in cursors.iter().zip(names) {
        for (v, a) in cursor.values.iter().zip(&names.buffers) {
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

/// Arrays in memory end where the counter reaches their length: until then, its tests hold.
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

/// Returns the label of a place's block.
fn label(facts: &Facts, place: Place) -> Option<Label> {
    let block = &facts.blocks[*facts.at.get(&place)?];
    block.labels.first().copied()
}
