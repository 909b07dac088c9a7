//! Mutations that respect types, scopes and places, so that most results are valid loops.
//!
//! | module | contents |
//! | --- | --- |
//! | `scope` | scopes of variables |
//! | `uses` | uses of scalars |
//! | `statements` | operands, operators, statements |
//! | `effects` | writes, scatters, traps, exits, results |
//! | `groups` | carried groups |
//! | `rates` | rates, bounds, types |
//! | `cursors` | targets of cursors, new cursors |

mod cursors;
mod effects;
mod groups;
mod rates;
mod scope;
mod statements;
mod uses;

use crate::rng::Rng;
use crate::scalar;
use loop_lang::Loop;
use loop_lang::gotos::order_blocks;
use loop_lang::ir::{Atom, Block, CombId, Stmt, StmtKind, Type, Var};
use loop_lang::levels::required_levels;
use loop_lang::types::{Const, Ty, canonical};
use scope::{Point, Scope};

/// A kind of mutation.
pub(super) struct Edit {
    /// Its name in summaries.
    pub(super) name: &'static str,
    /// Its weight among the kinds.
    weight: usize,
    /// Applies it. Returns `None` if it finds nothing to change.
    run: fn(&mut Changing) -> Option<()>,
}

/// All kinds of mutations.
pub(super) const EDITS: &[Edit] = &[
    edit("operand", 16, Changing::operand),
    edit("literal", 6, Changing::constant),
    edit("operator", 12, Changing::operator),
    edit("array", 5, Changing::array),
    edit("value", 14, Changing::value),
    edit("region", 5, Changing::region),
    edit("move", 8, Changing::move_statement),
    edit("copy", 5, Changing::copy_statement),
    edit("delete", 5, Changing::delete_statement),
    edit("write", 8, Changing::write),
    edit("scatter", 4, Changing::combine),
    edit("trap", 3, Changing::trap),
    edit("exit", 5, Changing::exit),
    edit("delivery", 5, Changing::delivery),
    edit("result", 3, Changing::result),
    edit("group", 8, Changing::new_group),
    edit("group order", 5, Changing::group_order),
    edit("group operator", 4, Changing::group_operator),
    edit("group copy", 4, Changing::copy_group),
    edit("group removal", 3, Changing::remove_group),
    edit("group in phases", 4, Changing::phase_update),
    edit("bound", 6, Changing::bound),
    edit("rate", 4, Changing::rate),
    edit("uniform", 2, Changing::uniform),
    edit("type", 5, Changing::retype),
    edit("count", 5, Changing::count),
];

const fn edit(name: &'static str, weight: usize, run: fn(&mut Changing) -> Option<()>) -> Edit {
    Edit { name, weight, run }
}

/// Applies one mutation if possible. Returns its kind, as an index in [`EDITS`].
pub(super) fn change(l: &mut Loop, rng: &mut Rng) -> Option<usize> {
    order_blocks(l);
    let weights: Vec<usize> = EDITS.iter().map(|e| e.weight).collect();
    for _ in 0..8 {
        let kind = rng.weighted(&weights);
        let mut changing = Changing {
            scope: Scope::of(l),
            l: l.clone(),
            rng: rng.clone(),
        };
        let changed = (EDITS[kind].run)(&mut changing).is_some();
        *rng = changing.rng;
        if changed {
            *l = changing.l;
            agree(l);
            return Some(kind);
        }
    }
    None
}

/// Updates group declarations to match the statements.
fn agree(l: &mut Loop) {
    let mut carried = vec![None; l.vars.len()];
    let mut assigned: Vec<Vec<(usize, Atom)>> = vec![Vec::new(); l.vars.len()];
    let places: Vec<usize> = (l.blocks.iter())
        .map(|(labels, _)| {
            let slot = labels.first().and_then(|label| l.comb(label.comb).slot);
            slot.map_or(usize::MAX, |h| l.root_of(h.rate).index())
        })
        .collect();
    for ((_, block), root) in l.blocks.iter().zip(places) {
        for stmt in &block.stmts {
            match stmt.kind {
                StmtKind::Carry(v, a) => carried[v.index()] = Some(a),
                StmtKind::Assign(v, a) => assigned[v.index()].push((root, a)),
                _ => {}
            }
        }
    }
    for g in 0..l.groups.len() {
        let root = l.root_of(l.groups[g].step).index();
        let group = &mut l.groups[g];
        for (k, v) in group.vars.iter().enumerate() {
            if let (Some(start), Some(to)) = (carried[v.index()], group.start.get_mut(k)) {
                *to = start;
            }
            let mut in_slot = assigned[v.index()].iter().filter(|(r, _)| *r == root);
            if let (Some((_, next)), Some(to)) = (in_slot.next(), group.next.get_mut(k)) {
                *to = *next;
            }
        }
    }
    for (g, (level, cycle)) in required_levels(l).into_iter().enumerate() {
        let group = &mut l.groups[g];
        group.level = group.level.max(level);
        group.cycle |= cycle;
    }
}

/// A loop under mutation.
struct Changing {
    l: Loop,
    scope: Scope,
    rng: Rng,
}

impl Changing {
    fn pick<T: Clone>(&mut self, of: &[T]) -> Option<T> {
        of.get(self.rng.below(of.len())).cloned()
    }

    fn block(&self, b: usize) -> &Block {
        self.l.blocks.iter().nth(b).expect("there is one").1
    }

    fn block_mut(&mut self, b: usize) -> &mut Block {
        self.l.blocks.values_mut().nth(b).expect("there is one")
    }

    /// A random program point in one of some blocks.
    fn point_in(&mut self, blocks: &[usize]) -> Option<Point> {
        let b = self.pick(blocks)?;
        let at = self.block(b).stmts.len();
        Some((b, self.rng.range(0, at)))
    }

    fn point(&mut self) -> Option<Point> {
        // Mostly at elements.
        let elements = self.scope.element_blocks();
        if self.rng.chance(70) && !elements.is_empty() {
            return self.point_in(&elements);
        }
        let all: Vec<usize> = (0..self.scope.places.len()).collect();
        self.point_in(&all)
    }

    fn insert(&mut self, (b, at): Point, kind: StmtKind) {
        let comb = self.scope.combs[b];
        self.block_mut(b).stmts.insert(at, Stmt { comb, kind });
    }

    /// A new variable, named after its combinator.
    fn fresh(&mut self, base: &str, comb: CombId, ty: Type) -> Var {
        let name = format!("{base}{}_{}", self.l.vars.len(), self.l.comb(comb).name);
        self.scope.declare(ty);
        self.l.new_var(name, ty)
    }

    fn fresh_at(&mut self, base: &str, point: Point, ty: Ty) -> Var {
        self.fresh(base, self.scope.combs[point.0], Type::Scalar(ty))
    }

    fn literal(&mut self, ty: Ty) -> Atom {
        let small = [0, 1, 2, 3, 5, 7, 8, 31, 32, 33, 64, 100];
        let bits = match ty {
            Ty::Bool => self.rng.word(),
            _ if self.rng.chance(25) => scalar::random(&mut self.rng, ty),
            Ty::F32 => u64::from((self.rng.pick(&small) as f32 * 0.5).to_bits()),
            Ty::F64 => (self.rng.pick(&small) as f64 * 0.5).to_bits(),
            _ => self.rng.pick(&small),
        };
        Const::new(ty, canonical(ty, bits)).into()
    }

    /// A scalar of a type at a program point: mostly a variable.
    fn atom(&mut self, ty: Ty, point: Point, open: &[Var]) -> Atom {
        let vars = self.scope.vars(Type::Scalar(ty), point, open);
        match self.rng.chance(75) {
            true => self
                .pick(&vars)
                .map_or_else(|| self.literal(ty), Atom::from),
            false => self.literal(ty),
        }
    }

    /// A scalar type, mostly of a value visible at a program point.
    fn type_at(&mut self, point: Point) -> Ty {
        let all = 0..self.l.vars.len();
        let seen: Vec<Ty> = all
            .map(Var::new)
            .filter(|v| self.scope.usable(*v, point, &[]))
            .filter_map(|v| self.scope.ty(v.into()))
            .collect();
        match self.rng.chance(85) {
            true => self.pick(&seen).unwrap_or(Ty::F64),
            false => self.rng.pick(&Ty::ALL),
        }
    }

    /// Adds a use of a newly defined variable.
    fn use_somewhere(&mut self, v: Var) {
        self.scope = Scope::of(&self.l);
        let Some(ty) = self.scope.ty(v.into()) else {
            return;
        };
        let uses = uses::uses(&mut self.l);
        let fits = |i: &usize| {
            let of = &uses[*i];
            self.scope.ty(of.atom) == Some(ty)
                && !self.is_fixed(of)
                && self.scope.usable(v, of.point, &of.open)
        };
        let places: Vec<usize> = (0..uses.len()).filter(fits).collect();
        if let Some(place) = self.pick(&places) {
            uses::set(&mut self.l, place, v.into());
        }
    }

    /// Whether the verifier requires this operand.
    fn is_fixed(&self, of: &uses::Use) -> bool {
        let (b, i) = of.point;
        let fixed = |v: Var| self.scope.fixed[v.index()];
        match self.block(b).stmts.get(i) {
            Some(stmt) => match stmt.kind {
                StmtKind::Let(v, ..) | StmtKind::Assign(v, _) => fixed(v),
                _ => false,
            },
            None => of.atom.var().is_some_and(fixed),
        }
    }
}
