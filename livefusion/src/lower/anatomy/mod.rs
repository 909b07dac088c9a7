//! The loop under construction: combinators, rates, blocks, parameters, and the naming conventions by
//! which combinators find each other (`elt_3`, `len_3`, `ix_3`).

mod elements;
mod params;
mod rates;

use super::{Lowered, Naming, Source};
use crate::error::{Error, ErrorKind, Result};
use crate::fusion::{ClassId, Plan};
use crate::sharing::{FieldRef, Graph, NodeId};
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::Ty;
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

    /// Adds a result.
    pub fn result(&mut self, field: FieldRef, value: Atom) {
        self.results.push((field, value));
    }

    /// The finished loop: gotos derived, levels set. Backends verify it.
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
        crate::lower::operators::set_levels(&mut self.program);
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
