//! The loop under construction: combinators, rates, blocks, parameters, and the naming conventions by
//! which combinators find each other (`elt_3`, `len_3`, `ix_3`).
//!
//! A combinator has a home: a rate and a stage of it. Its statements go to the places that its labels mean
//! there ([`Loop::place`]); when the loop is finished, labels of one place become synonyms in the alias
//! map, and so the blocks of combinators of one rate are one.

mod cursors;
mod elements;
mod instances;
mod params;
mod rates;

pub use cursors::Cursor;
pub use elements::Column;
pub use instances::Spot;

use super::lengths::Agreed;
use super::{Lowered, Naming, Source};
use crate::error::{Error, ErrorKind, Result};
use crate::fusion::{ClassId, Plan};
use crate::sharing::{FieldRef, Graph, NodeId};
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::Ty;
use loop_lang::verify::as_word;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// A loop under construction.
pub struct Anatomy<'g> {
    /// The recovered graph.
    pub graph: &'g Graph,
    /// The schedule.
    pub plan: &'g Plan,
    /// Which loop of the schedule this is.
    pub at: usize,
    /// The loop so far; its blocks are made at the end.
    pub program: Loop,
    naming: Naming<'g>,
    combs: Vec<NodeId>,
    combs_of: FxHashMap<NodeId, SmallVec<[CombId; 1]>>,
    sources: Vec<Source>,
    /// Which parameter has each source.
    param_of: FxHashMap<Source, usize>,
    /// The names that are taken, and the number to try first where one is wanted again.
    names: FxHashMap<String, u32>,
    /// The rates of each class, in the order in which one iteration runs them.
    instances: FxHashMap<ClassId, SmallVec<[RateId; 1]>>,
    /// The class of each rate.
    class_of: Vec<Option<ClassId>>,
    /// The combinator that opened each rate.
    openers: Vec<CombId>,
    /// What each field is, and from which spot on.
    elts: FxHashMap<Column, SmallVec<[(Spot, Atom); 1]>>,
    scalars: FxHashMap<FieldRef, Atom>,
    totals: FxHashMap<FieldRef, Atom>,
    lens: FxHashMap<NodeId, Atom>,
    array_lens: FxHashMap<Var, Var>,
    /// Arrays that this loop writes element by element.
    written: FxHashMap<FieldRef, (Var, RateId)>,
    /// Tests of subrates, by class and the rate in which they were made.
    tests: FxHashMap<(ClassId, RateId), Atom>,
    /// Lengths that segments were checked against, by class of their elements.
    checked: FxHashSet<(ClassId, Atom)>,
    /// Arrays whose lengths were taken for the numbers of segments' elements.
    told: Vec<Told>,
    /// What a rate runs over: arrays in memory, generators, and what it keeps in memory.
    run_over: Vec<(NodeId, RateId)>,
    /// Lengths that are equal wherever this loop comes to its end.
    pub agreed: Agreed,
    /// Generators whose indices the root may run over, while it is looked what they count.
    pub opening: FxHashSet<NodeId>,
    /// Arrays that scatters make, by field.
    pub scattered: FxHashMap<FieldRef, Var>,
    /// The node whose elements cannot be had where they are needed, if that is why lowering failed.
    pub in_the_way: Option<NodeId>,
    root: Option<RateId>,
    /// The sides of each zip that advances streams on demand.
    cursors: FxHashMap<NodeId, Vec<Cursor>>,
    /// The cursor in which what is lowered runs.
    inside: Option<RateId>,
    sections: FxHashMap<Place, Vec<Stmt>>,
    exits: FxHashMap<Place, Vec<Exit>>,
    updates: Vec<(Place, Stmt)>,
    results: Vec<(FieldRef, Atom)>,
    /// What says whether classes of taken elements go on, and where.
    ends: Vec<(NodeId, Atom)>,
    sizes: Vec<(ClassId, Atom)>,
}

/// The length of an array in memory, taken for the number of a rate's elements.
struct Told {
    leaf: NodeId,
    len: Atom,
    rate: RateId,
    comb: CombId,
}

/// Lowering fails with what went wrong; who is to blame is added by the caller.
pub type Lower<T = ()> = std::result::Result<T, ErrorKind>;

impl<'g> Anatomy<'g> {
    /// An empty loop.
    pub fn new(graph: &'g Graph, plan: &'g Plan, at: usize, naming: Naming<'g>) -> Self {
        Anatomy {
            graph,
            plan,
            at,
            program: Loop {
                name: format!("loop_{at}"),
                ..Loop::default()
            },
            naming,
            combs: Vec::new(),
            combs_of: FxHashMap::default(),
            sources: Vec::new(),
            param_of: FxHashMap::default(),
            names: FxHashMap::default(),
            instances: FxHashMap::default(),
            class_of: Vec::new(),
            openers: Vec::new(),
            elts: FxHashMap::default(),
            scalars: FxHashMap::default(),
            totals: FxHashMap::default(),
            lens: FxHashMap::default(),
            array_lens: FxHashMap::default(),
            written: FxHashMap::default(),
            tests: FxHashMap::default(),
            checked: FxHashSet::default(),
            told: Vec::new(),
            run_over: Vec::new(),
            agreed: Agreed::default(),
            opening: FxHashSet::default(),
            scattered: FxHashMap::default(),
            in_the_way: None,
            root: None,
            cursors: FxHashMap::default(),
            inside: None,
            sections: FxHashMap::default(),
            exits: FxHashMap::default(),
            updates: Vec::new(),
            results: Vec::new(),
            ends: Vec::new(),
            sizes: Vec::new(),
        }
    }

    /// The (first) combinator of a node, made on first use.
    pub fn comb(&mut self, id: NodeId) -> CombId {
        match self.combs_of.get(&id).and_then(|c| c.first()) {
            Some(c) => *c,
            None => self.new_comb(id),
        }
    }

    /// The combinator of a node at a home. A node that takes part at several has one at each.
    pub fn comb_at(&mut self, id: NodeId, spot: Spot) -> CombId {
        let home = self.home(spot);
        let all = self.combs_of.get(&id).cloned().unwrap_or_default();
        let at_home = |c: &&CombId| self.program.comb(**c).home.is_none_or(|h| h == home);
        let comb = match all.iter().find(at_home) {
            Some(c) => *c,
            None => self.new_comb(id),
        };
        self.program.combs[comb.index()].home = Some(home);
        comb
    }

    fn new_comb(&mut self, id: NodeId) -> CombId {
        let c = CombId::new(self.combs.len());
        let is_first = !self.combs_of.contains_key(&id);
        let node = self.graph.node(id);
        let name = (self.naming)(node).filter(|_| is_first);
        let kind = if self.is_in_memory(id) && !self.plan.pulls.is_pulled(id) {
            "manifest"
        } else {
            node.name
        };
        self.program.combs.push(Comb {
            name: name.unwrap_or_else(|| c.0.to_string()),
            kind: as_word(kind).into(),
            home: None,
        });
        self.combs.push(id);
        self.combs_of.entry(id).or_default().push(c);
        c
    }

    /// A combinator of a node that has no home yet, for opening a rate.
    pub fn unhomed_comb(&mut self, id: NodeId) -> CombId {
        let all = self.combs_of.get(&id).cloned().unwrap_or_default();
        let free = all.iter().find(|c| self.program.comb(**c).home.is_none());
        free.copied().unwrap_or_else(|| self.new_comb(id))
    }

    /// A trap behind the segment in whose loop a combinator runs.
    pub fn trap_after(&mut self, comb: CombId, kind: TrapKind, unless: Atom) {
        let stmt = self.trap_stmt(comb, kind, unless, &[]);
        self.push_after(comb, stmt);
    }

    /// Adds a statement behind the inner loop in which a combinator runs.
    pub(super) fn push_after(&mut self, comb: CombId, stmt: Stmt) {
        let place = self.program.place(Label {
            section: Section::Done,
            comb,
        });
        self.sections.entry(place).or_default().push(stmt);
    }

    /// Whether it is checked at the end how many elements there were: then all must be visited.
    pub fn counts_all(&self) -> bool {
        let last = self.sections.get(&Place::Return);
        last.into_iter().flatten().any(|s| match s.kind {
            StmtKind::Trap { trap, .. } => matches!(
                self.program.traps[trap.index()].kind,
                TrapKind::Segments | TrapKind::LengthMismatch
            ),
            _ => false,
        })
    }

    /// Where a section of a combinator is. `done` is what runs last of all.
    fn place(&self, comb: CombId, section: Section) -> Place {
        match section {
            Section::Done => Place::Return,
            _ => self.program.place(Label { section, comb }),
        }
    }

    /// Adds a statement to a section of a combinator.
    pub fn push(&mut self, comb: CombId, section: Section, kind: StmtKind) {
        self.push_all(comb, section, vec![Stmt { comb, kind }]);
    }

    /// Adds statements to a section of a combinator.
    pub fn push_all(&mut self, comb: CombId, section: Section, stmts: Vec<Stmt>) {
        let place = self.place(comb, section);
        self.sections.entry(place).or_default().extend(stmts);
    }

    /// A new scalar variable `base_comb`.
    pub fn scalar(&mut self, base: &str, comb: CombId, ty: Ty) -> Var {
        self.var(base, comb, Type::Scalar(ty))
    }

    /// A new variable `base_comb`, numbered if the name is taken.
    pub fn var(&mut self, base: &str, comb: CombId, ty: Type) -> Var {
        let suffix = &self.program.combs[comb.index()].name;
        let mut name = format!("{base}_{suffix}");
        if let Some(mut n) = self.names.get(&name).copied() {
            let wanted = name;
            name = loop {
                let numbered = format!("{base}{n}_{suffix}");
                n += 1;
                if !self.names.contains_key(&numbered) {
                    break numbered;
                }
            };
            self.names.insert(wanted, n);
        }
        self.names.insert(name.clone(), 1);
        self.program.new_var(name, ty)
    }

    /// `let base_comb = op args` in a section.
    pub fn emit(
        &mut self,
        comb: CombId,
        section: Section,
        base: &str,
        op: Op,
        args: &[Atom],
    ) -> Var {
        let types: SmallVec<[Ty; 3]> = args.iter().map(|a| self.program.atom_ty(*a)).collect();
        let ty = op.result(&types, None).unwrap_or(types[0]);
        let v = self.scalar(base, comb, ty);
        self.push(comb, section, StmtKind::Let(v, op, Args::from_slice(args)));
        v
    }

    /// A trap of a combinator.
    pub fn trap(
        &mut self,
        comb: CombId,
        section: Section,
        kind: TrapKind,
        unless: Atom,
        payload: &[Atom],
    ) {
        let stmt = self.trap_stmt(comb, kind, unless, payload);
        self.push_all(comb, section, vec![stmt]);
    }

    /// The statement of a new trap.
    pub fn trap_stmt(
        &mut self,
        comb: CombId,
        kind: TrapKind,
        unless: Atom,
        payload: &[Atom],
    ) -> Stmt {
        self.program.traps.push(Trap { comb, kind });
        let trap = TrapId::new(self.program.traps.len() - 1);
        Stmt {
            comb,
            kind: StmtKind::Trap {
                unless,
                trap,
                payload: SmallVec::from_slice(payload),
            },
        }
    }

    /// Adds a result.
    pub fn result(&mut self, field: FieldRef, value: Atom) {
        self.results.push((field, value));
    }

    /// Updates a carried variable of a combinator that runs at `rate`: at a loop's `bottom`, in the `yield`
    /// of a subrate or cursor. Updates are the last statements of their section.
    pub fn update(&mut self, comb: CombId, rate: RateId, carried: Var, value: Atom) {
        // Where a cursor delivers, its bottom is skipped.
        let section = match self.program.rate(rate).kind {
            RateKind::Sub { .. } | RateKind::Cursor { .. } => Section::Yield,
            _ => Section::Bottom,
        };
        self.push_last(comb, section, StmtKind::Assign(carried, value));
    }

    /// Adds statements before all others of a section.
    pub fn push_first(&mut self, comb: CombId, section: Section, stmts: Vec<Stmt>) {
        let place = self.place(comb, section);
        self.sections.entry(place).or_default().splice(0..0, stmts);
    }

    /// Adds a statement behind all others of a section.
    pub fn push_last(&mut self, comb: CombId, section: Section, kind: StmtKind) {
        let place = self.place(comb, section);
        self.updates.push((place, Stmt { comb, kind }));
    }

    /// Notes that the elements of a node are over once this is false.
    pub fn ends(&mut self, id: NodeId, go: Atom) {
        self.ends.push((id, go));
    }

    /// What says of nodes whether their elements go on.
    pub fn all_ends(&self) -> &[(NodeId, Atom)] {
        &self.ends
    }

    /// Leaves the loop at the end of a body unless this holds.
    pub fn leave_unless(&mut self, comb: CombId, unless: Atom) {
        let place = self.place(comb, Section::Body);
        let target = Some(Label {
            section: Section::Done,
            comb,
        });
        self.exits.entry(place).or_default().push(Exit {
            comb,
            unless,
            target,
        });
    }

    /// The finished loop: blocks made, gotos derived, levels set. Backends verify it.
    pub fn finish(mut self) -> Result<Lowered> {
        if self.combs.is_empty() {
            let missing = ErrorKind::Malformed {
                expected: "a combinator".into(),
                got: "none".into(),
            };
            return Err(Error {
                combinator: "force",
                element: None,
                location: None,
                kind: missing,
            });
        }
        for (place, stmt) in std::mem::take(&mut self.updates) {
            self.sections.entry(place).or_default().push(stmt);
        }
        self.drop_empty_stages();
        self.make_blocks();
        let sizing = self.sizing();
        let values = self.results.iter().map(|(_, v)| *v).collect();
        finish_loop(&mut self.program, values);
        Ok(Lowered {
            program: self.program,
            sizing,
            sources: self.sources,
            combs: self.combs,
            results: self.results.into_iter().map(|(f, _)| f).collect(),
        })
    }

    /// Drops stages that were made for a combinator that had nothing to do there in the end, and numbers
    /// the others anew.
    fn drop_empty_stages(&mut self) {
        let homes: FxHashSet<Home> = self.program.combs.iter().filter_map(|c| c.home).collect();
        let mut number: FxHashMap<Home, u32> = FxHashMap::default();
        for (i, rate) in self.program.rates.iter_mut().enumerate() {
            let home = |stage| Home {
                rate: RateId::new(i),
                stage,
            };
            rate.parts
                .retain(|p| !matches!(p, Part::Stage(s) if *s > 0 && !homes.contains(&home(*s))));
            let mut next = 0;
            for part in &mut rate.parts {
                if let Part::Stage(s) = part {
                    number.insert(home(*s), next);
                    *s = next;
                    next += 1;
                }
            }
        }
        let renumber = |rate, stage: &mut u32| {
            if let Some(n) = number.get(&Home {
                rate,
                stage: *stage,
            }) {
                *stage = *n;
            }
        };
        for home in self
            .program
            .combs
            .iter_mut()
            .filter_map(|c| c.home.as_mut())
        {
            renumber(home.rate, &mut home.stage);
        }
        let staged = |mut place: Place| {
            if let Place::At {
                rate,
                stage,
                section: Section::Body | Section::Yield,
            } = &mut place
            {
                renumber(*rate, stage);
            }
            place
        };
        let sections = std::mem::take(&mut self.sections);
        self.sections = sections.into_iter().map(|(p, s)| (staged(p), s)).collect();
        let exits = std::mem::take(&mut self.exits);
        self.exits = exits.into_iter().map(|(p, e)| (staged(p), e)).collect();
    }

    /// Makes synonyms of all labels that mean one place, and gives each place its statements.
    fn make_blocks(&mut self) {
        let mut first: FxHashMap<Place, Label> = FxHashMap::default();
        for (i, comb) in self.program.combs.iter().enumerate() {
            let comb_id = CombId::new(i);
            for &section in sections(&self.program, comb.home) {
                let label = Label {
                    section,
                    comb: comb_id,
                };
                let place = self.program.place(label);
                match first.get(&place) {
                    Some(of) => {
                        self.program.blocks.add_synonym(*of, label);
                    }
                    None => {
                        first.insert(place, label);
                        let block = Block {
                            stmts: self.sections.remove(&place).unwrap_or_default(),
                            exits: self.exits.remove(&place).unwrap_or_default(),
                            end: End::Open,
                        };
                        // The label is new, so this cannot fail.
                        let _ = self.program.blocks.insert([label], block);
                    }
                }
            }
        }
        debug_assert!(self.sections.is_empty(), "{:?}", self.sections);
        self.connect_cursors(&first);
    }

    /// The loop that finds how many elements there are where nothing else says so: this one, with these
    /// numbers as its only results. It does not trap: this one will, if there is a reason.
    fn sizing(&self) -> Option<Loop> {
        if self.sizes.is_empty() {
            return None;
        }
        let mut program = self.program.clone();
        program.name = format!("size_{}", self.at);
        for block in program.blocks.values_mut() {
            remove_traps(&mut block.stmts);
        }
        finish_loop(&mut program, self.sizes.iter().map(|s| s.1).collect());
        Some(program)
    }
}

fn remove_traps(stmts: &mut Vec<Stmt>) {
    stmts.retain(|s| !matches!(s.kind, StmtKind::Trap { .. }));
    for stmt in stmts {
        match &mut stmt.kind {
            StmtKind::If { then, other, .. } => [then, other].map(remove_traps),
            StmtKind::While { test, body, .. } => [test, body].map(remove_traps),
            _ => continue,
        };
    }
}

/// Gives a loop its results, its gotos and its groups' levels.
fn finish_loop(program: &mut Loop, results: Vec<Atom>) {
    let last = (0..program.combs.len()).map(|i| Label {
        section: Section::Done,
        comb: CombId::new(i),
    });
    let last = last
        .into_iter()
        .find(|l| program.place(*l) == Place::Return);
    if let Some(block) = last.and_then(|l| program.blocks.get_mut(l)) {
        block.end = End::Return(results);
    }
    loop_lang::gotos::derive_gotos(program);
    crate::lower::operators::set_levels(program);
    crate::lower::operators::set_runs(program);
}

/// The sections that a combinator has at a home.
fn sections(program: &Loop, home: Option<Home>) -> &'static [Section] {
    let Some(home) = home else {
        return &[Section::Init, Section::Done];
    };
    let rate = program.loop_rate(home.rate);
    match program.rate(rate).kind {
        RateKind::Root { .. } => &[
            Section::Init,
            Section::Guard,
            Section::Body,
            Section::Yield,
            Section::Bottom,
            Section::Done,
        ],
        _ => &Section::ALL,
    }
}

fn missing(graph: &Graph, field: FieldRef) -> ErrorKind {
    ErrorKind::Malformed {
        expected: format!("an element of `{}`", graph.node(field.0).name),
        got: "a node that is not in this loop".into(),
    }
}
