//! The function of a loop in vectors.

use super::fit::{Update, Vectors};
use super::pack::Shape;
use crate::emit::plan::Plan;
use crate::emit::unit::Unit;
use crate::facts;
use crate::names::Part;
use livefusion_tile::region::Step;
use loop_lang::ir::{Atom, GroupId, Order, StmtKind, Var};
use loop_lang::types::Ty;
use rustc_hash::FxHashMap;

/// The body of a loop in vectors, being written.
pub(super) struct Body<'u, 'a> {
    pub unit: &'u mut Unit<'a>,
    pub plan: &'u Plan<'u>,
    pub vectors: &'u Vectors,
    pub shape: Shape,
    /// The subrates around the next statement, by the steps that enter them.
    pub subs: Vec<usize>,
    /// The group whose folds are written, if these have a loop of their own.
    pub pass: Option<GroupId>,
    /// Whether everything else is written beside them.
    pub rest: bool,
    /// Whether the group's minimum or maximum is taken the quick way.
    pub fast: bool,
    /// Whether all folds are in one loop with the rest.
    pub fused: bool,
    /// How many lanes are at fixed places of a strip.
    fixed: Option<u32>,
    /// How far apart elements of a vector are, if they are no neighbours.
    pub apart: Option<u64>,
    /// Truth that needs no mask.
    pub known: FxHashMap<Var, bool>,
}

impl Vectors {
    /// Elements in a vector.
    pub fn elements(&self, unit: &Unit) -> usize {
        Shape(self.widest).elements(unit.helpers)
    }

    /// Elements that are taken in one go.
    pub fn granule(&self, unit: &Unit) -> usize {
        let elements = self.elements(unit);
        match self.widest >= 4 {
            true => 2 * elements,
            false => elements,
        }
    }

    /// Writes the loop between the function's head and the end of it.
    pub fn write(&self, unit: &mut Unit, plan: &Plan) {
        Body::of(unit, plan, self).write();
    }
}

impl<'u, 'a> Body<'u, 'a> {
    /// The body of a loop.
    pub fn of(unit: &'u mut Unit<'a>, plan: &'u Plan, vectors: &'u Vectors) -> Body<'u, 'a> {
        Body {
            unit,
            plan,
            vectors,
            shape: Shape(vectors.widest),
            subs: Vec::new(),
            pass: None,
            rest: false,
            fast: false,
            fused: false,
            fixed: None,
            apart: None,
            known: FxHashMap::default(),
        }
    }

    fn write(&mut self) {
        let elements = self.vectors.elements(self.unit);
        self.prepare();
        if self.vectors.slices.is_empty() {
            self.all_vectors();
        } else {
            self.elements_and_folds(elements);
        }
        self.finish(elements);
    }

    /// Folds in one loop with the rest where there are registers for all lanes, else in loops of their own
    /// over elements that are still in the first-level cache.
    fn elements_and_folds(&mut self, elements: usize) {
        if self.unit.helpers.target.vector_bytes() == 64 {
            self.fused = true;
            self.strips("from", "end", elements);
            self.fused = false;
            return;
        }
        self.unit
            .open("for (u64 lf_tile = from; lf_tile < end; lf_tile += 1024) {");
        self.unit
            .line("const u64 lf_stop = lf_least(end, lf_tile + 1024);");
        // One group's lanes and everything else fit into registers; what else there is has loops of its own.
        self.rest = true;
        for (g, slice) in &self.vectors.slices {
            self.pass = Some(*g);
            match slice.extremum {
                Some((_, op, _)) => self.extremes(slice.var, op, elements),
                None => self.strips("lf_tile", "lf_stop", elements),
            }
            self.rest = false;
        }
        self.pass = None;
        self.unit.close();
    }

    /// The loop, where no folds keep their lanes in registers.
    fn all_vectors(&mut self) {
        let counter = self.unit.names.var(self.plan.sweep.counter).to_string();
        let (elements, granule) = (
            self.vectors.elements(self.unit),
            self.vectors.granule(self.unit),
        );
        self.unit.open(format!(
            "for (u64 strip = from; strip < end; strip += {granule}) {{"
        ));
        if granule == elements {
            self.unit.line(format!("const u64 {counter} = strip;"));
            self.vector();
        } else {
            self.unit.line("#pragma GCC unroll 2");
            self.unit.open(format!(
                "for (u64 lane = 0; lane < {granule}; lane += {elements}) {{"
            ));
            self.unit
                .line(format!("const u64 {counter} = strip + lane;"));
            self.vector();
            self.unit.close();
        }
        self.unit.close();
    }

    /// As many vectors in a row as there are of lanes, which stay in registers; then the rest.
    pub fn strips(&mut self, from: &str, end: &str, elements: usize) {
        let counter = self.unit.names.var(self.plan.sweep.counter).to_string();
        let orders = self.lanes().into_iter().map(|(g, _)| {
            let order = self.unit.program.groups[g.index()].order;
            if let Order::Lanes(l) = order { l } else { 1 }
        });
        let lanes = orders.max().unwrap_or(1);
        self.unit.open("{");
        self.unit.line(format!("u64 strip = {from};"));
        self.unit.open(format!(
            "for (; !(strip & {}) && {end} - strip >= {lanes}; strip += {lanes}) {{",
            lanes - 1
        ));
        self.unit.line("#pragma GCC unroll 8");
        self.unit.open(format!(
            "for (u64 lane = 0; lane < {lanes}; lane += {elements}) {{"
        ));
        self.unit
            .line(format!("const u64 {counter} = strip + lane;"));
        self.fixed = Some(lanes);
        self.vector();
        self.fixed = None;
        self.unit.close();
        self.unit.close();
        self.unit
            .open(format!("for (; strip < {end}; strip += {elements}) {{"));
        self.unit.line(format!("const u64 {counter} = strip;"));
        self.vector();
        self.unit.close();
        self.unit.close();
    }

    /// One vector of elements.
    pub(super) fn vector(&mut self) {
        self.unit.comb = None;
        for (g, v) in self.lanes() {
            let ty = facts::elem(self.unit.program, v);
            let (vector, lane) = (self.vector_of(ty), self.lane(g, v));
            let name = self.unit.names.var(v).to_string();
            self.unit.line(format!("const {vector} {name} = {lane};"));
        }
        for (at, step) in self.plan.sweep.steps.iter().enumerate() {
            match *step {
                Step::Block(_) => self.block(at),
                Step::Enter(i) => self.enter(at, i),
                Step::Leave => {
                    self.subs.pop();
                }
            }
        }
        if self.pass.is_some() && !self.rest {
            return;
        }
        self.subs.clear();
        self.counts();
    }

    /// What the loop needs before it starts: sums and flags.
    fn prepare(&mut self) {
        let updates = self.sorted();
        for (v, update) in updates {
            if let Update::Join(op, _) = update {
                let ty = facts::elem(self.unit.program, v);
                let (vector, all) = (self.vector_of(ty), self.shape.all(self.unit.helpers, ty));
                // The old value is in what is joined anyway: where that changes nothing, lanes start from it.
                let start = match op.identity(ty).filter(|_| !op.is_idempotent()) {
                    Some(c) => self.unit.helpers.constant(c),
                    None => self.unit.names.var(v).to_string(),
                };
                let sum = self.sum(v);
                self.unit.line(format!("{vector} {sum} = {all}({start});"));
            }
        }
        if self.traps() {
            let mask = self.shape.mask(self.unit.helpers);
            self.unit.line(format!("{mask} lf_stuck = {{0}};"));
        }
    }

    /// What comes after the loop.
    fn finish(&mut self, elements: usize) {
        for (v, update) in self.sorted() {
            if let Update::Join(op, _) = update {
                let (ty, sum) = (facts::elem(self.unit.program, v), self.sum(v));
                let name = self.unit.names.var(v).to_string();
                let operands = [name.clone(), format!("{sum}[lf_k]")];
                let value = self.unit.helpers.op(op, ty, ty, &operands);
                self.unit.line(format!(
                    "for (u64 lf_k = 0; lf_k < {elements}; lf_k++) {name} = {value};"
                ));
            }
        }
        if self.traps() {
            let bits = self.shape.bits(self.unit.helpers);
            self.unit.line(format!("trapped |= {bits}(lf_stuck) != 0;"));
        }
    }

    fn sorted(&self) -> Vec<(Var, Update)> {
        let updates = self.vectors.updates.iter().map(|(v, u)| (*v, *u));
        let mut updates: Vec<_> = updates.collect();
        updates.sort_by_key(|(v, _)| *v);
        updates
    }

    fn traps(&self) -> bool {
        !self.unit.program.traps.is_empty()
    }

    fn lanes(&self) -> Vec<(GroupId, Var)> {
        let groups = &self.unit.program.groups;
        let vars = |g: &GroupId| {
            let g = *g;
            groups[g.index()].vars.iter().map(move |v| (g, *v))
        };
        let here = |g: &&GroupId| match self.pass {
            Some(pass) => pass == **g || self.rest && !self.vectors.slices.contains_key(g),
            None => self.fused || !self.vectors.slices.contains_key(g),
        };
        self.vectors
            .lanes
            .iter()
            .filter(here)
            .flat_map(vars)
            .collect()
    }

    /// The lanes of a variable that belong to the vector's elements.
    pub fn lane(&mut self, g: GroupId, v: Var) -> String {
        let group = &self.unit.program.groups[g.index()];
        let lanes = match group.order {
            Order::Lanes(l) => l,
            _ => 1,
        };
        let vector = self.vector_of(facts::elem(self.unit.program, v));
        let names = self.unit.names;
        let (counter, lane) = (
            names.var(self.plan.sweep.counter),
            names.part(v, Part::Lanes),
        );
        match self.fixed {
            _ if self.fast && self.fixed.is_some() => format!("*({vector}_at *)(lf_lane + lane)"),
            _ if self.fast => format!("*({vector}_at *)(lf_lane + ({counter} & {}))", lanes - 1),
            Some(fixed) if fixed == lanes => format!("*({vector}_at *)({lane} + lane)"),
            _ => format!("*({vector}_at *)({lane} + ({counter} & {}))", lanes - 1),
        }
    }

    pub fn sum(&self, v: Var) -> String {
        format!("lf_sum_{}", v.index())
    }

    /// The vector type of a variable's values; of truth, the mask.
    pub fn vector_of(&mut self, ty: Ty) -> String {
        match ty {
            Ty::Bool => self.shape.mask(self.unit.helpers),
            _ => self.shape.vector(self.unit.helpers, ty),
        }
    }

    /// Whether a value is the same for all elements.
    pub fn is_uniform(&self, a: Atom) -> bool {
        match a {
            Atom::Const(_) => true,
            Atom::Var(v) => self.plan.sweep.scalars.contains(&v),
        }
    }

    /// The vector of a value.
    pub fn value(&mut self, a: Atom) -> String {
        let ty = self.unit.program.atom_ty(a);
        if a == Atom::Var(self.plan.sweep.counter) {
            let counter = self.unit.names.var(self.plan.sweep.counter).to_string();
            let all = self.shape.all(self.unit.helpers, ty);
            let positions = self.shape.positions(self.unit.helpers);
            let apart = self.apart.map_or(String::new(), |n| format!(" * {n}"));
            return format!("({all}({counter}) + {positions}(){apart})");
        }
        if !self.is_uniform(a) {
            return self.unit.atom(a);
        }
        let scalar = self.unit.atom(a);
        match ty {
            Ty::Bool => {
                let whole = super::pack::signed(self.shape.0);
                let all = self.shape.all(self.unit.helpers, whole);
                format!("{all}(-({}){scalar})", whole.name())
            }
            _ => {
                let all = self.shape.all(self.unit.helpers, ty);
                format!("{all}({scalar})")
            }
        }
    }

    /// Defines the vector of a variable.
    pub fn define(&mut self, v: Var, value: &str) {
        let vector = self.vector_of(facts::elem(self.unit.program, v));
        let name = self.unit.names.var(v).to_string();
        self.unit.line(format!("const {vector} {name} = {value};"));
    }

    /// The mask of the subrate that statements are in.
    pub fn mask(&self) -> Option<String> {
        self.subs.last().map(|at| format!("lf_in_{at}"))
    }

    /// The bits of the mask of a subrate.
    pub fn kept(&self, sub: Option<usize>) -> String {
        sub.map_or("~0ul".to_string(), |at| format!("lf_kept_{at}"))
    }

    /// The guard of a subrate: which elements it admits.
    fn enter(&mut self, at: usize, i: usize) {
        self.block(at);
        let pass = self.pass.filter(|_| !self.rest);
        let slice = pass.and_then(|g| self.vectors.slices.get(&g));
        if slice.is_some_and(|s| !s.subs.contains(&at)) {
            self.subs.push(at);
            return;
        }
        let block = self.unit.facts.blocks[i].block;
        let mut tests: Vec<String> = self.mask().into_iter().collect();
        for exit in &block.exits {
            let test = self.value(exit.unless);
            tests.push(test);
        }
        let mask = self.shape.mask(self.unit.helpers);
        if tests.is_empty() {
            tests.push(format!("~({mask}){{0}}"));
        }
        self.unit
            .line(format!("const {mask} lf_in_{at} = {};", tests.join(" & ")));
        if slice.is_none() {
            let bits = self.shape.bits(self.unit.helpers);
            self.unit
                .line(format!("const u64 lf_kept_{at} = {bits}(lf_in_{at});"));
        }
        self.subs.push(at);
    }

    /// A step's statements.
    fn block(&mut self, at: usize) {
        for s in self.plan.sweep.tops(at) {
            self.stmt(s.stmt);
        }
    }

    /// The counts after the vector.
    fn counts(&mut self) {
        for s in self.plan.sweep.all_tops() {
            if let StmtKind::Assign(v, _) = s.stmt.kind
                && let Some(Update::Count) = self.vectors.updates.get(&v)
            {
                let name = self.unit.names.var(v).to_string();
                let more = match s.sub {
                    Some(at) => format!("__builtin_popcountl(lf_kept_{at})"),
                    None => self.vectors.elements(self.unit).to_string(),
                };
                self.unit.line(format!("{name} += {more};"));
            }
        }
    }
}
