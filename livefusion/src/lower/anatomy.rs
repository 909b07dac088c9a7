//! The loop under construction: combinators, rates, blocks, parameters, and the naming conventions by
//! which combinators find each other (`elt_3`, `len_3`, `ix_3`).

use super::{Lowered, Naming, Source};
use crate::ast::Kind;
use crate::error::{Error, ErrorKind, Result};
use crate::fusion::{ClassId, Plan};
use crate::sharing::{FieldRef, Graph, NodeId};
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
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
    /// The loop so far.
    pub program: Loop,
    naming: Naming<'g>,
    combs: Vec<NodeId>,
    comb_of: FxHashMap<NodeId, CombId>,
    sources: Vec<Source>,
    source_vars: FxHashMap<Source, Var>,
    names: FxHashSet<String>,
    rates: FxHashMap<ClassId, RateId>,
    /// The combinator that opened each rate.
    openers: Vec<CombId>,
    elts: FxHashMap<FieldRef, Atom>,
    scalars: FxHashMap<FieldRef, Atom>,
    totals: FxHashMap<FieldRef, Atom>,
    lens: FxHashMap<NodeId, Atom>,
    array_lens: FxHashMap<Var, Var>,
    /// Arrays that scatters make, by field.
    pub scattered: FxHashMap<FieldRef, Var>,
    root: Option<RateId>,
    updates: Vec<(CombId, Section, StmtKind)>,
    results: Vec<(FieldRef, Atom)>,
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
            comb_of: FxHashMap::default(),
            sources: Vec::new(),
            source_vars: FxHashMap::default(),
            names: FxHashSet::default(),
            rates: FxHashMap::default(),
            openers: Vec::new(),
            elts: FxHashMap::default(),
            scalars: FxHashMap::default(),
            totals: FxHashMap::default(),
            lens: FxHashMap::default(),
            array_lens: FxHashMap::default(),
            scattered: FxHashMap::default(),
            root: None,
            updates: Vec::new(),
            results: Vec::new(),
        }
    }

    // ---- combinators and labels ----

    /// The combinator of a node, made on first use.
    pub fn comb(&mut self, id: NodeId) -> CombId {
        if let Some(c) = self.comb_of.get(&id) {
            return *c;
        }
        let c = CombId::new(self.combs.len());
        let name = (self.naming)(self.graph, id).unwrap_or_else(|| c.0.to_string());
        let node = self.graph.node(id);
        let kind = if self.is_in_memory(id) {
            "manifest"
        } else {
            node.name
        };
        self.program.combs.push(Comb {
            name,
            kind: kind.into(),
            home: None,
        });
        self.combs.push(id);
        self.comb_of.insert(id, c);
        let first = Label {
            section: Section::Init,
            comb: CombId(0),
        };
        self.alias(
            first,
            Label {
                section: Section::Init,
                comb: c,
            },
        );
        c
    }

    /// Makes `label` a synonym of `of`, or a block of its own if `of` has none yet.
    fn alias(&mut self, of: Label, label: Label) {
        if !self.program.blocks.add_synonym(of, label) {
            let _ = self.program.blocks.insert([label], Block::default());
        }
    }

    /// The sections that combinators of one rate share.
    const SHARED: [Section; 4] = [
        Section::Guard,
        Section::Body,
        Section::Yield,
        Section::Bottom,
    ];

    /// Gives a combinator its home: its labels become synonyms of those of the rate's opener.
    pub fn join(&mut self, comb: CombId, rate: RateId) {
        self.program.combs[comb.index()].home = Some(Home { rate, stage: 0 });
        let opener = self.openers[rate.index()];
        for section in Self::SHARED {
            let of = Label {
                section,
                comb: opener,
            };
            self.alias(of, Label { section, comb });
        }
        self.join_done(comb);
    }

    /// Makes a combinator's `done` the loop's last block.
    pub fn join_done(&mut self, comb: CombId) {
        let of = Label {
            section: Section::Done,
            comb: CombId(0),
        };
        // The first combinator may have no home yet; its `done` is this block all the same.
        self.alias(
            of,
            Label {
                section: Section::Done,
                comb: CombId(0),
            },
        );
        self.alias(
            of,
            Label {
                section: Section::Done,
                comb,
            },
        );
    }

    /// Adds a statement to a section of a combinator.
    pub fn push(&mut self, comb: CombId, section: Section, kind: StmtKind) {
        self.push_all(comb, section, vec![Stmt { comb, kind }]);
    }

    /// Adds statements to a section of a combinator.
    pub fn push_all(&mut self, comb: CombId, section: Section, stmts: Vec<Stmt>) {
        if section == Section::Done {
            self.join_done(comb);
        }
        let label = Label { section, comb };
        debug_assert!(
            self.program.blocks.get(label).is_some(),
            "no block {label:?}"
        );
        if let Some(block) = self.program.blocks.get_mut(label) {
            block.stmts.extend(stmts);
        }
    }

    // ---- variables ----

    /// A new scalar variable `base_comb`.
    pub fn scalar(&mut self, base: &str, comb: CombId, ty: Ty) -> Var {
        self.var(base, comb, Type::Scalar(ty))
    }

    /// A new variable `base_comb`, numbered if the name is taken.
    pub fn var(&mut self, base: &str, comb: CombId, ty: Type) -> Var {
        let suffix = &self.program.combs[comb.index()].name;
        let mut name = format!("{base}_{suffix}");
        let mut n = 1;
        while self.names.contains(&name) {
            name = format!("{base}{n}_{suffix}");
            n += 1;
        }
        self.names.insert(name.clone());
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

    // ---- parameters ----

    /// The parameter for a source, made on first use.
    pub fn param(
        &mut self,
        source: Source,
        base: &str,
        comb: CombId,
        ty: Type,
        kind: ParamKind,
    ) -> Var {
        if let Some(v) = self.source_vars.get(&source) {
            // An array that is read in step as well as at random is a random-access parameter.
            let at = self.sources.iter().position(|s| *s == source);
            if let Some(p) = at.and_then(|at| self.program.params.get_mut(at))
                && kind == ParamKind::Random
            {
                p.kind = kind;
            }
            return *v;
        }
        let var = self.var(base, comb, ty);
        self.sources.push(source);
        self.source_vars.insert(source, var);
        self.program.params.push(Param { var, kind });
        var
    }

    /// A scalar parameter.
    pub fn scalar_param(&mut self, source: Source, base: &str, comb: CombId, ty: Ty) -> Atom {
        Atom::Var(self.param(source, base, comb, Type::Scalar(ty), ParamKind::Scalar))
    }

    /// A delayed scalar's field: computed in this loop's `done`, or a parameter.
    pub fn delayed(&mut self, field: FieldRef, comb: CombId) -> Atom {
        if let Some(a) = self.scalars.get(&field) {
            return *a;
        }
        let node = &self.graph.nodes[field.0.index()];
        let source = match node.node.kind {
            Kind::Len if !node.leaf => Source::Length(self.graph.resolve(node.inputs[0], 0).0),
            _ => Source::Scalar(field),
        };
        let ty = node.node.types[field.1 as usize];
        self.scalar_param(source, "s", comb, ty)
    }

    /// Says what a delayed scalar's field is in this loop's `done`.
    pub fn set_delayed(&mut self, field: FieldRef, value: Atom) {
        self.scalars.insert(field, value);
    }

    /// An array for random access.
    pub fn random(&mut self, field: FieldRef) -> Var {
        let comb = self.comb(field.0);
        let ty = self.graph.node(field.0).types[field.1 as usize];
        self.param(
            Source::Array(field),
            "arr",
            comb,
            Type::Array(ty),
            ParamKind::Random,
        )
    }

    /// The length of an array variable, taken in `init` on first use.
    pub fn array_len(&mut self, array: Var, comb: CombId) -> Atom {
        if let Some(v) = self.array_lens.get(&array) {
            return Atom::Var(*v);
        }
        let len = self.scalar("len", comb, Ty::U64);
        self.push(comb, Section::Init, StmtKind::ArrayLength(len, array));
        self.array_lens.insert(array, len);
        Atom::Var(len)
    }

    // ---- rates ----

    /// Opens the root rate: a counter from 0 to `bound`.
    pub fn open_root(&mut self, comb: CombId, bound: Atom) -> RateId {
        let class = self.plan.loops[self.at].root;
        let name = self.rate_name(comb);
        let counter = self.scalar("ix", comb, Ty::U64);
        let kind = RateKind::Root { counter, bound };
        let rate = self.new_rate(name, kind, class, comb);
        self.program.roots.push(rate);
        self.root = Some(rate);
        self.push(
            comb,
            Section::Init,
            StmtKind::Carry(counter, Const::u64(0).into()),
        );
        let more = self.emit(
            comb,
            Section::Guard,
            "more",
            Op::Lt,
            &[counter.into(), bound],
        );
        self.exit(comb, more.into());
        let next = self.emit(
            comb,
            Section::Bottom,
            "nix",
            Op::Add,
            &[counter.into(), Const::u64(1).into()],
        );
        self.update(comb, rate, counter, next.into());
        rate
    }

    /// Opens a subrate. Its guard's test is added with [`Anatomy::exit`].
    pub fn open_sub(&mut self, comb: CombId, parent: RateId, class: ClassId) -> RateId {
        let name = self.rate_name(comb);
        let rate = self.new_rate(
            name,
            RateKind::Sub {
                parent,
                count: None,
            },
            Some(class),
            comb,
        );
        self.program.rates[parent.index()]
            .parts
            .push(Part::Child(rate));
        rate
    }

    fn rate_name(&self, comb: CombId) -> String {
        let name = &self.program.combs[comb.index()].name;
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            format!("r{name}")
        } else {
            name.clone()
        }
    }

    fn new_rate(
        &mut self,
        name: String,
        kind: RateKind,
        class: Option<ClassId>,
        comb: CombId,
    ) -> RateId {
        let rate = RateId::new(self.program.rates.len());
        self.program.rates.push(Rate {
            name,
            kind,
            parts: vec![Part::Stage(0)],
        });
        self.openers.push(comb);
        if let Some(class) = class {
            self.rates.insert(class, rate);
        }
        for section in Self::SHARED {
            let _ = self
                .program
                .blocks
                .insert([Label { section, comb }], Block::default());
        }
        self.program.combs[comb.index()].home = Some(Home { rate, stage: 0 });
        self.join_done(comb);
        rate
    }

    /// Leaves the iteration (or the loop, at a root) unless the guard's test holds.
    pub fn exit(&mut self, comb: CombId, unless: Atom) {
        if let Some(block) = self.program.blocks.get_mut(Label {
            section: Section::Guard,
            comb,
        }) {
            block.exits.push(Exit {
                comb,
                unless,
                target: None,
            });
        }
    }

    /// The rate of a class, if it is open.
    pub fn rate(&self, class: ClassId) -> Option<RateId> {
        self.rates.get(&class).copied()
    }

    /// The rate at which a node runs. Opens the root from the node's inputs if nothing has yet.
    pub fn rate_of(&mut self, id: NodeId, inputs: &[NodeId]) -> Lower<RateId> {
        for input in inputs {
            self.enter(*input)?;
        }
        let rate = self
            .plan
            .rates
            .runs_at(id)
            .and_then(|class| self.rate(class));
        rate.or(self.root).ok_or_else(|| ErrorKind::Malformed {
            expected: "an array to run over".into(),
            got: "none".into(),
        })
    }

    /// Makes sure that the rate of an input is open.
    pub fn enter(&mut self, input: NodeId) -> Lower {
        if self.root.is_some() {
            return Ok(());
        }
        match self.graph.fields(input).first() {
            Some(field) => self.open_from(*field),
            None => Ok(()),
        }
    }

    fn open_from(&mut self, field: FieldRef) -> Lower {
        if self.is_in_memory(field.0) {
            super::manifest::open(self, field);
            Ok(())
        } else {
            super::generate::lower(self, field.0)
        }
    }

    /// Whether a node is in memory when this loop starts.
    pub fn is_in_memory(&self, id: NodeId) -> bool {
        self.graph.nodes[id.index()].leaf
            || self.plan.loop_of[id.index()].is_some_and(|l| l < self.at)
    }

    /// The root rate, if it is open.
    pub fn root(&self) -> Option<RateId> {
        self.root
    }

    /// The rate that owns what is carried through `rate`: the root, whose `init` starts it.
    pub fn owner(&self, rate: RateId) -> RateId {
        self.root.unwrap_or(rate)
    }

    /// The root's counter and bound.
    pub fn root_counter(&self) -> Option<(Var, Atom)> {
        let kind = self.program.rate(self.root?).kind;
        Some((kind.counter()?, kind.bound()?))
    }

    /// The index of the current element of a rate: a root's counter, or the count of a subrate, which
    /// is added when it is first asked for.
    pub fn index(&mut self, rate: RateId) -> Var {
        match self.program.rate(rate).kind {
            RateKind::Root { counter, .. }
            | RateKind::Nested { counter, .. }
            | RateKind::Cursor { counter, .. } => counter,
            RateKind::Sub {
                count: Some(count), ..
            } => count,
            RateKind::Sub {
                parent,
                count: None,
            } => {
                let comb = self.openers[rate.index()];
                let count = self.scalar("ix", comb, Ty::U64);
                let (zero, one) = (Const::u64(0).into(), Const::u64(1).into());
                self.push(comb, Section::Init, StmtKind::Carry(count, zero));
                let next = self.scalar("nix", comb, Ty::U64);
                let add = StmtKind::Let(next, Op::Add, Args::from_slice(&[count.into(), one]));
                self.updates.push((comb, Section::Yield, add));
                self.update(comb, rate, count, next.into());
                self.program.rates[rate.index()].kind = RateKind::Sub {
                    parent,
                    count: Some(count),
                };
                self.program.groups.push(Group {
                    vars: vec![count],
                    owner: self.owner(rate),
                    step: rate,
                    start: vec![zero],
                    identity: vec![zero],
                    next: vec![next.into()],
                    combine: Some(Combine::Op(Op::Add)),
                    level: 0,
                    order: Order::Exact,
                });
                count
            }
        }
    }

    /// Updates a carried variable of a combinator that runs at `rate`: at a loop rate's `bottom`, in a
    /// subrate's `yield`. Updates are the last statements of their section.
    pub fn update(&mut self, comb: CombId, rate: RateId, carried: Var, value: Atom) {
        let is_sub = self.program.rate(rate).kind.is_sub();
        let section = if is_sub {
            Section::Yield
        } else {
            Section::Bottom
        };
        self.updates
            .push((comb, section, StmtKind::Assign(carried, value)));
    }

    // ---- elements ----

    /// The current element's field: made in this loop, or read from memory at the root's counter.
    pub fn elt(&mut self, field: FieldRef) -> Lower<Atom> {
        // Filters pass their input's elements on: follow them without recursion.
        let (mut at, mut passed) = (field, Vec::new());
        let value = loop {
            if let Some(a) = self.elts.get(&at) {
                break *a;
            }
            let node = &self.graph.nodes[at.0.index()];
            if self.is_in_memory(at.0) {
                break super::manifest::read(self, at)?;
            }
            match node.node.kind {
                Kind::Filter(_) | Kind::Pack => {
                    passed.push(at);
                    at = self.graph.resolve(node.inputs[0], at.1);
                }
                Kind::Generate(..) => {
                    super::generate::lower(self, at.0)?;
                    break self
                        .elts
                        .get(&at)
                        .copied()
                        .ok_or_else(|| missing(self.graph, at))?;
                }
                _ => return Err(missing(self.graph, at)),
            }
        };
        for p in passed {
            self.elts.insert(p, value);
        }
        Ok(value)
    }

    /// Says what a field's element is in each iteration.
    pub fn set_elt(&mut self, field: FieldRef, value: Atom) {
        self.elts.insert(field, value);
    }

    /// The columns of a node's inputs, resolved.
    pub fn columns(&self, inputs: &[NodeId]) -> Vec<FieldRef> {
        inputs.iter().flat_map(|i| self.graph.fields(*i)).collect()
    }

    /// The length of a root-rate array, as this loop knows it when it starts.
    pub fn len(&mut self, input: NodeId) -> Lower<Atom> {
        if let Some(a) = self.lens.get(&input) {
            return Ok(*a);
        }
        let fields = self.graph.fields(input);
        let Some(first) = fields.first().copied() else {
            return Ok(Const::u64(0).into());
        };
        if self.is_in_memory(first.0) {
            return Ok(super::manifest::len(self, first));
        }
        if let Some(a) = self.lens.get(&first.0) {
            return Ok(*a);
        }
        if let Kind::Generate(..) = self.graph.node(first.0).kind {
            super::generate::lower(self, first.0)?;
            if let Some(a) = self.lens.get(&first.0) {
                return Ok(*a);
            }
        }
        self.root_counter()
            .map(|(_, bound)| bound)
            .ok_or_else(|| missing(self.graph, first))
    }

    /// Says how long a root-rate array is.
    pub fn set_len(&mut self, id: NodeId, len: Atom) {
        self.lens.insert(id, len);
    }

    /// Says where a scan's field ends up.
    pub fn set_scan_total(&mut self, field: FieldRef, value: Atom) {
        self.totals.insert(field, value);
    }

    /// Where a scan's field ends up, read after the loop.
    pub fn scan_total(&self, field: FieldRef) -> Lower<Atom> {
        self.totals
            .get(&field)
            .copied()
            .ok_or_else(|| missing(self.graph, field))
    }

    // ---- results ----

    /// Adds a result.
    pub fn result(&mut self, field: FieldRef, value: Atom) {
        self.results.push((field, value));
    }

    /// The finished loop: gotos derived, levels set, verified in debug builds.
    pub fn finish(mut self) -> Result<Lowered> {
        if self.combs.is_empty() {
            let missing = ErrorKind::Malformed {
                expected: "a combinator".into(),
                got: "none".into(),
            };
            return Err(Error {
                combinator: "force",
                location: None,
                kind: missing,
            });
        }
        for (comb, section, kind) in std::mem::take(&mut self.updates) {
            self.push(comb, section, kind);
        }
        self.join_done(CombId(0));
        let values = self.results.iter().map(|(_, v)| *v).collect();
        let last = Label {
            section: Section::Done,
            comb: CombId(0),
        };
        if let Some(block) = self.program.blocks.get_mut(last) {
            block.end = End::Return(values);
        }
        loop_lang::gotos::derive_gotos(&mut self.program);
        super::operators::set_levels(&mut self.program);
        #[cfg(debug_assertions)]
        if let Err(faults) = loop_lang::verify::verify(&self.program) {
            let faults: Vec<String> = faults
                .iter()
                .map(|f| format!("{}: {}", f.place, f.message))
                .collect();
            panic!(
                "lowering made a loop that does not verify:\n{}\n{}",
                faults.join("\n"),
                self.program
            );
        }
        Ok(Lowered {
            program: self.program,
            sources: self.sources,
            combs: self.combs,
            results: self.results.into_iter().map(|(f, _)| f).collect(),
        })
    }
}

fn missing(graph: &Graph, field: FieldRef) -> ErrorKind {
    ErrorKind::Malformed {
        expected: format!("an element of `{}`", graph.node(field.0).name),
        got: "a node that is not in this loop".into(),
    }
}
