//! Scopes in a verified loop: visibility of variables.

use loop_lang::Loop;
use loop_lang::dominators::Dominators;
use loop_lang::gotos::Tree;
use loop_lang::ir::{
    Atom, Block, CombId, End, Order, Place, RateKind, Section, StmtKind, Type, Var,
};
use loop_lang::walk;

/// A program point: a block and the position in it.
pub(super) type Point = (usize, usize);

/// The definition of a variable.
#[derive(Clone, Copy, PartialEq)]
enum Site {
    Nowhere,
    Param,
    At(Point),
    Inner,
}

/// A snapshot of a loop whose blocks are in execution order.
pub(super) struct Scope {
    /// By block.
    pub(super) places: Vec<Place>,
    /// A combinator for each block.
    pub(super) combs: Vec<CombId>,
    types: Vec<Type>,
    sites: Vec<Site>,
    dominators: Dominators,
    /// Variables that hold a lane, or depend on one.
    lanes: Vec<bool>,
    /// Variables whose definitions a rate's guard or counter requires.
    pub(super) fixed: Vec<bool>,
    /// Arrays that the loop allocates.
    made: Vec<bool>,
    /// The points where arrays are sliced; they are dead after that.
    sliced: Vec<Option<Point>>,
}

impl Scope {
    pub(super) fn of(l: &Loop) -> Scope {
        let tree = Tree::of(l);
        let blocks: Vec<(&[_], &Block)> = l.blocks.iter().collect();
        let place = |labels: &[_]| {
            labels
                .first()
                .map_or(Place::Return, |label| tree.place(l, *label))
        };
        let successors = |block: &Block| {
            let mut to: Vec<usize> = Vec::new();
            let mut go = |label| to.extend(l.blocks.slot(label));
            block
                .exits
                .iter()
                .filter_map(|e| e.target)
                .for_each(&mut go);
            match block.end {
                End::Goto(label) => go(label),
                End::Branch(_, yes, no) => [yes, no].into_iter().for_each(go),
                End::Open | End::Return(_) => {}
            }
            to
        };
        let flow: Vec<Vec<usize>> = blocks.iter().map(|(_, b)| successors(b)).collect();
        let n = l.vars.len();
        let mut scope = Scope {
            places: blocks.iter().map(|(labels, _)| place(labels)).collect(),
            combs: blocks
                .iter()
                .map(|(labels, _)| labels.first().map_or(CombId(0), |label| label.comb))
                .collect(),
            types: l.vars.iter().map(|v| v.ty).collect(),
            sites: vec![Site::Nowhere; n],
            dominators: Dominators::of(&flow),
            lanes: vec![false; n],
            fixed: vec![false; n],
            made: vec![false; n],
            sliced: vec![None; n],
        };
        scope.define(l, &blocks);
        scope.pin(l, &blocks);
        scope
    }

    fn define(&mut self, l: &Loop, blocks: &[(&[loop_lang::ir::Label], &Block)]) {
        for param in &l.params {
            self.sites[param.var.index()] = Site::Param;
        }
        for group in l.groups.iter().filter(|g| g.order.lanes().is_some()) {
            group.vars.iter().for_each(|v| self.lanes[v.index()] = true);
        }
        for (b, (_, block)) in blocks.iter().enumerate() {
            for (i, stmt) in block.stmts.iter().enumerate() {
                let mut lane = false;
                walk::each(stmt, &mut |s| {
                    let mut read = |a: Atom| lane |= a.var().is_some_and(|v| self.lanes[v.index()]);
                    walk::operands(&s.kind, &mut read);
                    walk::handed_out(&s.kind, &mut read);
                    walk::definitions(&s.kind, &mut |v| self.sites[v.index()] = Site::Inner);
                });
                walk::definitions(&stmt.kind, &mut |v| {
                    self.sites[v.index()] = Site::At((b, i));
                    self.lanes[v.index()] |= lane;
                });
                match stmt.kind {
                    StmtKind::NewArray(v, _)
                    | StmtKind::FillArray(v, ..)
                    | StmtKind::CopyArray(v, _) => self.made[v.index()] = true,
                    StmtKind::SliceArray(_, a, _) => self.sliced[a.index()] = Some((b, i)),
                    _ => {}
                }
            }
        }
        for function in &l.functions {
            let inner = &mut |v: Var| self.sites[v.index()] = Site::Inner;
            function.params.iter().for_each(|v| inner(*v));
            for stmt in &function.body {
                walk::each(stmt, &mut |s| walk::definitions(&s.kind, inner));
            }
        }
    }

    /// Marks definitions that the verifier requires of counters and guards.
    fn pin(&mut self, l: &Loop, blocks: &[(&[loop_lang::ir::Label], &Block)]) {
        let counters: Vec<Var> = l.rates.iter().filter_map(|r| r.kind.counter()).collect();
        for (b, (_, block)) in blocks.iter().enumerate() {
            for stmt in &block.stmts {
                match &stmt.kind {
                    StmtKind::Assign(v, Atom::Var(next)) if counters.contains(v) => {
                        self.fixed[v.index()] = true;
                        self.fixed[next.index()] = true;
                    }
                    StmtKind::Let(v, _, args) => {
                        let Place::At {
                            rate,
                            section: Section::Guard,
                            ..
                        } = self.places[b]
                        else {
                            continue;
                        };
                        let counter = l.rate(rate).kind.counter().map(Atom::Var);
                        if args.first().copied() == counter && counter.is_some() {
                            self.fixed[v.index()] = true;
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Adds a variable without a definition.
    pub(super) fn declare(&mut self, ty: Type) {
        self.types.push(ty);
        self.sites.push(Site::Nowhere);
        self.sliced.push(None);
        for flags in [&mut self.lanes, &mut self.fixed, &mut self.made] {
            flags.push(false);
        }
    }

    pub(super) fn ty(&self, a: Atom) -> Option<loop_lang::Ty> {
        match a {
            Atom::Const(c) => Some(c.ty),
            Atom::Var(v) => match self.types[v.index()] {
                Type::Scalar(ty) => Some(ty),
                Type::Array(_) => None,
            },
        }
    }

    fn reaches(&self, (db, di): Point, (b, i): Point) -> bool {
        match db == b {
            true => di < i,
            false => self.dominators.dominates(db, b),
        }
    }

    /// Whether a variable is visible at a program point. `open` lists the variables of enclosing
    /// regions.
    pub(super) fn visible(&self, v: Var, point: Point, open: &[Var]) -> bool {
        if self.sliced[v.index()].is_some_and(|at| at < point) {
            return false;
        }
        open.contains(&v)
            || match self.sites[v.index()] {
                Site::Param => true,
                Site::At(site) => self.reaches(site, point),
                Site::Nowhere | Site::Inner => false,
            }
    }

    /// Whether a variable may be used outside of lane updates: visible, and not a lane unless the
    /// loop has ended.
    pub(super) fn usable(&self, v: Var, point: Point, open: &[Var]) -> bool {
        let ended = self.places[point.0] == Place::Return;
        (ended || !self.lanes[v.index()]) && self.visible(v, point, open)
    }

    /// Whether a definition at one program point may be used at another.
    pub(super) fn known_at(&self, from: Point, to: Point) -> bool {
        self.reaches(from, to)
    }

    /// The variables of a type that may be used at a program point.
    pub(super) fn vars(&self, ty: Type, point: Point, open: &[Var]) -> Vec<Var> {
        let fits = |v: &Var| self.types[v.index()] == ty && self.usable(*v, point, open);
        (0..self.types.len()).map(Var::new).filter(fits).collect()
    }

    /// Whether a variable is an array that the loop allocates.
    pub(super) fn is_made(&self, v: Var) -> bool {
        self.made[v.index()]
    }

    /// The block of a place.
    pub(super) fn block(&self, place: Place) -> Option<usize> {
        self.places.iter().position(|p| *p == place)
    }

    /// The rate of a block.
    pub(super) fn rate(&self, block: usize) -> Option<loop_lang::ir::RateId> {
        match self.places[block] {
            Place::At { rate, .. } => Some(rate),
            Place::Init | Place::Return => None,
        }
    }

    /// Blocks with elements: bodies and yields.
    pub(super) fn element_blocks(&self) -> Vec<usize> {
        let inside = |b: &usize| {
            matches!(
                self.places[*b],
                Place::At {
                    section: Section::Body | Section::Yield,
                    ..
                }
            )
        };
        (0..self.places.len()).filter(inside).collect()
    }

    /// Whether a group's variables may be read while its loop runs.
    pub(super) fn is_plain(order: Order) -> bool {
        order.lanes().is_none()
    }
}

/// Whether a rate is a root.
pub(super) fn is_root(kind: RateKind) -> bool {
    matches!(kind, RateKind::Root { .. })
}
