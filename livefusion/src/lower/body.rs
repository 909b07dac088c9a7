//! Inlining of closures: turns a closure's terms into statements of a section.
//!
//! Each statement goes into the region that sharing recovery chose.

use super::Lower;
use super::Source;
use super::emission::{Emission, RowIndex};
use super::placement::Point;
use super::reads::{self, KnownElements};
use super::scope::InputColumn;
use crate::ast::{Assert, Body, Term, TermId, divides_all};
use crate::fusion::rates::kept::within_segment;
use crate::sharing::place::{OUTER, PlacedBody, RegionId, RegionItem, place_results};
use crate::sharing::{FieldRef, NodeId};
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

/// Describes the body to inline and its target section.
#[derive(Clone, Debug)]
pub struct Inline {
    /// The node with the closure.
    pub id: NodeId,
    /// The index of the body among the node's bodies.
    pub body: usize,
    /// The combinator that owns the statements.
    pub comb: CombId,
    /// The section of the statements.
    pub section: Section,
    /// A mask of the demanded results; `None` for all.
    pub wanted: Option<Vec<bool>>,
}

impl Inline {
    /// Creates an inlining of all results of a body.
    pub fn new(id: NodeId, body: usize, comb: CombId, section: Section) -> Inline {
        Inline {
            id,
            body,
            comb,
            section,
            wanted: None,
        }
    }

    /// Restricts it to the demanded results.
    pub fn demanded(mut self, e: &Emission<'_>) -> Inline {
        self.wanted = Some(e.scope.demanded(self.id));
        self
    }

    fn wants(&self, result: usize) -> bool {
        self.wanted.as_ref().is_none_or(|w| w[result])
    }

    fn results(&self, body: &Body) -> Vec<TermId> {
        wanted_results(body, self.wanted.as_deref())
    }
}

/// Returns the elements for the parameters that the demanded results use.
///
/// Other parameters are zero.
pub fn used_args(
    e: &mut Emission<'_>,
    inline: &Inline,
    body: &Body,
    columns: &[InputColumn],
    at: Point,
) -> Lower<Vec<Atom>> {
    let mut args: Vec<Atom> = body.params.iter().map(|t| Const::zero(*t).into()).collect();
    for k in used_params(body, inline.wanted.as_deref()) {
        args[k] = e.elt(columns[k], at)?;
    }
    Ok(args)
}

/// Returns the parameters that the demanded results use.
///
/// `None` demands all results.
pub fn used_params(body: &Body, wanted: Option<&[bool]>) -> Vec<usize> {
    let results = wanted_results(body, wanted);
    let live = body.live_terms(results.into_iter());
    let terms = body.terms.iter().zip(live).filter(|(_, live)| *live);
    terms
        .filter_map(|(data, _)| match data.term {
            Term::Param(k) => Some(k as usize),
            _ => None,
        })
        .collect()
}

fn wanted_results(body: &Body, wanted: Option<&[bool]>) -> Vec<TermId> {
    let all = body.results.iter().enumerate();
    all.filter(|(i, _)| wanted.is_none_or(|w| w[*i]))
        .map(|(_, t)| *t)
        .collect()
}

/// Returns the columns whose parameters a body's results use.
pub fn used_columns(body: &Body, columns: &[InputColumn]) -> Vec<InputColumn> {
    let used = used_params(body, None).into_iter();
    used.filter_map(|k| columns.get(k).copied()).collect()
}

/// Inlines a body into a section.
///
/// Results without demand are zero.
pub fn inline(
    e: &mut Emission<'_>,
    inline: &Inline,
    body: &Body,
    args: &[Atom],
    base: &str,
) -> Lower<Vec<Atom>> {
    let (stmts, values) = statements(e, inline, body, args, base)?;
    e.push_all(inline.comb, inline.section, stmts);
    Ok(values)
}

/// Returns the statements of a body, and its results.
pub fn statements(
    e: &mut Emission<'_>,
    inline: &Inline,
    body: &Body,
    args: &[Atom],
    base: &str,
) -> Lower<(Vec<Stmt>, Vec<Atom>)> {
    statements_knowing(e, &mut KnownElements::default(), inline, body, args, base)
}

/// Returns the same as [`statements`], given some known elements.
pub fn statements_knowing(
    e: &mut Emission<'_>,
    known: &mut KnownElements,
    inline: &Inline,
    body: &Body,
    args: &[Atom],
    base: &str,
) -> Lower<(Vec<Stmt>, Vec<Atom>)> {
    let placed = place_results(body, &inline.results(body), &|capture, field| {
        computes_traps(e, inline, capture, field)
    })?;
    let mut inliner = Inliner {
        e,
        known,
        inline,
        body: &placed.body,
        placed: &placed,
        values: vec![None; placed.body.terms.len()],
        names: result_names(&placed, inline, body, base),
    };
    for (i, data) in placed.body.terms.iter().enumerate() {
        if let Term::Param(k) = data.term {
            inliner.values[i] = Some(args[k as usize]);
        }
    }
    let stmts = inliner.region(OUTER)?;
    let mut values = Vec::with_capacity(body.results.len());
    let mut wanted = placed.results.iter().peekable();
    for (i, t) in body.results.iter().enumerate() {
        values.push(match wanted.next_if(|_| inline.wants(i)) {
            Some(t) => inliner.value(*t),
            None => Const::zero(body.ty(*t)).into(),
        });
    }
    Ok((stmts, values))
}

/// Whether reading an array may trap at any index, because the array is inlined and its function
/// may trap.
fn computes_traps(e: &Emission<'_>, inline: &Inline, capture: u32, field: u32) -> bool {
    let captures = &e.scope.graph.nodes[inline.id.index()].captures;
    let array = captures[inline.body][capture as usize];
    let (array, _) = e.scope.graph.resolve(array, field);
    e.scope.plan.inlining.may_trap(array)
}

/// Names for the terms of results: `elt`, or `elt0`, `elt1`, ... if there are several.
fn result_names(
    placed: &PlacedBody<'_>,
    inline: &Inline,
    body: &Body,
    base: &str,
) -> Vec<Option<String>> {
    let mut names = vec![None; placed.body.terms.len()];
    let wanted = (0..body.results.len()).filter(|i| inline.wants(*i));
    for (i, t) in wanted.zip(&placed.results) {
        let name = if body.results.len() == 1 {
            base.to_string()
        } else {
            format!("{base}{i}")
        };
        names[t.index()].get_or_insert(name);
    }
    names
}

struct Inliner<'a, 'g, 'b> {
    e: &'a mut Emission<'g>,
    known: &'a mut KnownElements,
    inline: &'b Inline,
    body: &'b Body,
    placed: &'b PlacedBody<'b>,
    values: Vec<Option<Atom>>,
    names: Vec<Option<String>>,
}

impl Inliner<'_, '_, '_> {
    /// The value of a term. Literals and captured scalars need no statement.
    fn value(&mut self, t: TermId) -> Atom {
        if let Some(v) = self.values[t.index()] {
            return v;
        }
        let data = &self.body.terms[t.index()];
        let value = match &data.term {
            Term::Lit(c) => self.literal(t, *c),
            Term::Scalar { capture, field } => {
                let field = self.captured(*capture, *field);
                self.e.delayed(field, self.inline.comb)
            }
            // All other terms are bound by the region that dominates this use.
            _ => Const::zero(data.ty).into(),
        };
        self.values[t.index()] = Some(value);
        value
    }

    fn literal(&mut self, t: TermId, c: Const) -> Atom {
        let node = &self.e.scope.graph.nodes[self.inline.id.index()];
        let given = node.constants.get(self.inline.body);
        let slot = given.zip(self.placed.origin(t));
        match slot.and_then(|(slots, t)| slots.get(&t.0)) {
            Some(slot) => self
                .e
                .scalar_param(Source::Constant(*slot), "k", self.inline.comb, c.ty),
            None => c.into(),
        }
    }

    fn captured(&self, capture: u32, field: u32) -> FieldRef {
        let node = &self.e.scope.graph.nodes[self.inline.id.index()];
        self.e
            .scope
            .graph
            .resolve(node.captures[self.inline.body][capture as usize], field)
    }

    fn define(&mut self, t: TermId) -> Var {
        let base = self.names[t.index()].take().unwrap_or_else(|| "t".into());
        let var = self.e.scalar(&base, self.inline.comb, self.body.ty(t));
        self.values[t.index()] = Some(var.into());
        var
    }

    fn stmt(&self, kind: StmtKind) -> Stmt {
        Stmt {
            comb: self.inline.comb,
            kind,
        }
    }

    fn region(&mut self, region: RegionId) -> Lower<Vec<Stmt>> {
        let placed = self.placed;
        let mut out = Vec::new();
        self.known.open();
        for item in &placed.placement.regions[region.0 as usize].items {
            match item {
                RegionItem::Loop(l) => self.scalar_loop(*l, region, &mut out)?,
                RegionItem::Term(t) => self.term(*t, region, &mut out)?,
            }
        }
        self.known.close();
        Ok(out)
    }

    fn term(&mut self, t: TermId, region: RegionId, out: &mut Vec<Stmt>) -> Lower {
        let body = self.body;
        match &body.terms[t.index()].term {
            Term::Op(op, args) => {
                let args: Args = args.iter().map(|a| self.value(*a)).collect();
                self.check_division(*op, &args, out);
                let var = self.define(t);
                out.push(self.stmt(StmtKind::Let(var, *op, args)));
            }
            Term::Flat(args) => {
                let [outer, inner, length] = [0, 1, 2].map(|k| self.value(args[k]));
                let row = self.e.scalar("row", self.inline.comb, Ty::U64);
                let start = Args::from_slice(&[outer, length]);
                out.push(self.stmt(StmtKind::Let(row, Op::Mul, start)));
                let var = self.define(t);
                let args = Args::from_slice(&[row.into(), inner]);
                out.push(self.stmt(StmtKind::Let(var, Op::Add, args)));
                let flat = RowIndex {
                    outer,
                    inner,
                    length,
                };
                self.e.values.flat.insert(var.into(), flat);
            }
            Term::At {
                capture,
                field,
                index,
                checked,
            } => {
                let at = self.value(*index);
                let array = self.captured(*capture, *field);
                if let Some((row, at)) = self.in_scratch(array, *index) {
                    let var = self.define(t);
                    out.push(self.stmt(StmtKind::ReadArray(var, row, at)));
                    return Ok(());
                }
                if self.e.scope.plan.inlining.is_inlined(array.0) {
                    return self.inlined(t, region, (array, *index), *checked, out);
                }
                let array = self.e.random(array);
                if *checked {
                    let len = self.e.array_len(array, self.inline.comb);
                    let inside = self.is_inside(at, len, out);
                    self.trap_outside(inside, at, len, out);
                }
                let var = self.define(t);
                out.push(self.stmt(StmtKind::ReadArray(var, array, at)));
            }
            Term::Assert(assert, args) => {
                let args: Args = args.iter().map(|a| self.value(*a)).collect();
                self.assert(*assert, &args, out);
                self.values[t.index()] = Some(args[0]);
            }
            Term::Cond(c, ..) => self.cond(t, region, *c, out)?,
            _ => {
                self.value(t);
            }
        }
        Ok(())
    }

    /// Emits a trap unless an assertion holds.
    fn assert(&mut self, assert: Assert, args: &Args, out: &mut Vec<Stmt>) {
        let [x, y] = [args[0], args[1]];
        let most = Atom::from(Const::u64(u64::MAX));
        let (kind, holds) = match assert {
            Assert::Below => (TrapKind::OutOfRange, self.ok(Op::Lt, [x, y], out)),
            Assert::Nonempty => (TrapKind::Empty, self.ok(Op::Lt, [x, y], out)),
            Assert::Equal => (TrapKind::LengthMismatch, self.ok(Op::Eq, [x, y], out)),
            Assert::Fits => (TrapKind::Segments, self.ok(Op::Le, [x, y], out)),
            Assert::Fills => (TrapKind::Segments, self.ok(Op::Eq, [x, y], out)),
            Assert::Inside => {
                let ordered = self.ok(Op::Le, [x, y], out);
                let inside = self.ok(Op::Le, [y, args[2]], out);
                (
                    TrapKind::SliceRange,
                    self.ok(Op::And, [ordered, inside], out),
                )
            }
            Assert::Adds => {
                let capacity = self.number(Op::Sub, [most, y], out);
                (TrapKind::LongSum, self.ok(Op::Le, [x, capacity], out))
            }
            Assert::Multiplies => {
                let some = self.number(Op::Max, [y, Const::u64(1).into()], out);
                let capacity = self.number(Op::Div, [most, some], out);
                (TrapKind::LongProduct, self.ok(Op::Le, [x, capacity], out))
            }
        };
        let payload: &[Atom] = match kind {
            TrapKind::Empty => &[],
            _ => args,
        };
        let comb = self.inline.comb;
        out.push(self.e.trap_stmt(comb, kind, holds, payload));
    }

    /// Emits a comparison.
    fn ok(&mut self, op: Op, args: [Atom; 2], out: &mut Vec<Stmt>) -> Atom {
        let ok = self.e.scalar("ok", self.inline.comb, Ty::Bool);
        out.push(self.stmt(StmtKind::Let(ok, op, Args::from_slice(&args))));
        ok.into()
    }

    /// Emits an operation on lengths.
    fn number(&mut self, op: Op, args: [Atom; 2], out: &mut Vec<Stmt>) -> Atom {
        let capacity = self.e.scalar("capacity", self.inline.comb, Ty::U64);
        out.push(self.stmt(StmtKind::Let(capacity, op, Args::from_slice(&args))));
        capacity.into()
    }

    /// Emits the test that an index is inside of an array.
    fn is_inside(&mut self, index: Atom, len: Atom, out: &mut Vec<Stmt>) -> Atom {
        self.ok(Op::Lt, [index, len], out)
    }

    /// The scratch memory from which the body takes an array, and an index in it.
    ///
    /// Other bodies in this loop may read the same array from memory.
    fn in_scratch(&mut self, array: FieldRef, index: TermId) -> Option<(Var, Atom)> {
        let (id, scope) = (self.inline.id, self.e.scope);
        let row = *self.e.values.scratch.get(&array)?;
        let (inner, _) = within_segment(scope.graph, id, self.body, index)?;
        let at = inner.map_or(Const::u64(0).into(), |t| self.value(t));
        scope
            .taken(id)
            .at_an_index
            .contains(&array)
            .then_some((row, at))
    }

    fn trap_outside(&mut self, inside: Atom, index: Atom, len: Atom, out: &mut Vec<Stmt>) {
        let comb = self.inline.comb;
        let kind = TrapKind::OutOfRange;
        out.push(self.e.trap_stmt(comb, kind, inside, &[index, len]));
    }

    /// Computes an element of an inlined array, together with the array's other fields that are
    /// read at this index in this region.
    fn inlined(
        &mut self,
        t: TermId,
        region: RegionId,
        (array, index): (FieldRef, TermId),
        checked: bool,
        out: &mut Vec<Stmt>,
    ) -> Lower {
        let at = self.value(index);
        let known = self.known.get(array, at).is_some();
        let inside = match checked || !(known || self.is_surely_inside(index, array.0)) {
            true => {
                let len = self.e.inlined_len(array.0, self.inline.comb);
                let inside = self.is_inside(at, len, out);
                if checked {
                    self.trap_outside(inside, at, len, out);
                }
                Some(inside)
            }
            false => None,
        };
        if !known {
            let fields = self.fields_read(region, array.0, index);
            let (comb, of) = (self.inline.comb, (array.0, &fields[..]));
            match inside {
                Some(inside) => {
                    reads::elements_inside(self.e, self.known, of, (at, inside), comb, out)?;
                }
                None => reads::elements(self.e, self.known, of, at, comb, out)?,
            }
        }
        self.values[t.index()] = self.known.get(array, at);
        Ok(())
    }

    /// Whether an index is inside of an array for all elements.
    fn is_surely_inside(&self, index: TermId, array: NodeId) -> bool {
        // A flat index was checked on each axis, or is inside by construction.
        if let Term::Flat(_) = self.body.terms[index.index()].term {
            return true;
        }
        let Inline { id, body, .. } = *self.inline;
        let graph = self.e.scope.graph;
        let is_main = body + 1 == graph.nodes[id.index()].captures.len();
        let inlining = &self.e.scope.plan.inlining;
        let given = self.placed.origin(index).filter(|_| is_main);
        given.is_some_and(|index| inlining.is_own_index(graph, id, index, array))
    }

    /// The fields of an array that a region reads at an index.
    fn fields_read(&self, region: RegionId, array: NodeId, at: TermId) -> Vec<u32> {
        let items = &self.placed.placement.regions[region.0 as usize].items;
        let read = items.iter().filter_map(|item| match item {
            RegionItem::Term(t) => match self.body.terms[t.index()].term {
                Term::At {
                    capture,
                    field,
                    index,
                    ..
                } if index == at => Some(self.captured(capture, field)),
                _ => None,
            },
            RegionItem::Loop(_) => None,
        });
        read.filter(|f| f.0 == array).map(|f| f.1).collect()
    }

    /// Traps on an integer division or remainder for which Rust panics, unless the divisor is a
    /// safe constant.
    fn check_division(&mut self, op: Op, args: &Args, out: &mut Vec<Stmt>) {
        if !op.may_trap(self.e.program.atom_ty(args[0])) {
            return;
        }
        if let Atom::Const(c) = args[1]
            && divides_all(c)
        {
            return;
        }
        let comb = self.inline.comb;
        let ok = self.e.scalar("ok", comb, Ty::Bool);
        out.push(self.stmt(StmtKind::Let(ok, Op::DivOk, args.clone())));
        out.push(
            self.e
                .trap_stmt(comb, TrapKind::Division, ok.into(), &[args[0], args[1]]),
        );
    }

    fn cond(
        &mut self,
        first: TermId,
        region: RegionId,
        test: TermId,
        out: &mut Vec<Stmt>,
    ) -> Lower {
        let Some((then_region, else_region)) = self.placed.placement.arms(first, region) else {
            return Ok(());
        };
        let cond = self.value(test);
        let fields = self.placed.placement.fields_of(first, region);
        // Both arms may bind the same term separately. An arm's values are the ones at its end.
        let mut arm =
            |region, pick: fn(&Term) -> Option<TermId>| -> Lower<(Vec<Stmt>, Vec<Atom>)> {
                let stmts = self.region(region)?;
                let body = self.body;
                let values = fields
                    .iter()
                    .filter_map(|t| pick(&body.terms[t.index()].term));
                Ok((stmts, values.map(|t| self.value(t)).collect()))
            };
        let (then, then_values) = arm(then_region, |t| {
            if let Term::Cond(_, x, _) = t {
                Some(*x)
            } else {
                None
            }
        })?;
        let (other, else_values) = arm(else_region, |t| {
            if let Term::Cond(_, _, y) = t {
                Some(*y)
            } else {
                None
            }
        })?;
        let values = then_values.into_iter().zip(else_values);
        let results = fields
            .iter()
            .zip(values)
            .map(|(t, (x, y))| (self.define(*t), x, y))
            .collect();
        out.push(self.stmt(StmtKind::If {
            cond,
            then,
            other,
            results,
        }));
        Ok(())
    }

    fn scalar_loop(&mut self, l: u32, region: RegionId, out: &mut Vec<Stmt>) -> Lower {
        let body = self.body;
        let Some((test_region, step_region)) = self.placed.placement.inside_loop(l, region) else {
            return Ok(());
        };
        let scalar_loop = &body.loops[l as usize];
        let mut state = Vec::new();
        for (start, ty) in scalar_loop.start.iter().zip(&scalar_loop.types) {
            let start = self.value(*start);
            state.push((self.e.scalar("w", self.inline.comb, *ty), start));
        }
        for (i, data) in body.terms.iter().enumerate() {
            match data.term {
                Term::LoopVar(m, k) | Term::LoopResult(m, k) if m == l => {
                    self.values[i] = Some(state[k as usize].0.into());
                }
                _ => {}
            }
        }
        let test = self.region(test_region)?;
        let cond = self.value(scalar_loop.test);
        let step = self.region(step_region)?;
        let next = scalar_loop.next.iter().map(|t| self.value(*t)).collect();
        out.push(self.stmt(StmtKind::While {
            state,
            test,
            cond,
            body: step,
            next,
        }));
        Ok(())
    }
}
