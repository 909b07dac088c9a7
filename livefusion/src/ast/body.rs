//! Scalar bodies: a builder that hash-conses and checks terms.
//!
//! Traced closures use it; the shell and tests may use it directly.

use crate::ast::{
    Args, Assert, Body, Capture, Node, Parts, ScalarLoop, Term, TermData, TermId, Types, body_cache,
};
use crate::error::{Error, ErrorKind};
use crate::loc::Loc;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

/// The number of entries up to which a linear scan beats a table.
const SMALL: usize = 16;

/// Translates a field of a capture: as a value, or at an index (checked or not).
pub(crate) type ReadCapture<'a> =
    &'a mut dyn FnMut(&mut BodyBuilder, &Capture, u32, Option<(TermId, bool)>) -> TermId;

/// Builds a [`Body`] term by term.
///
/// Equal terms are one term. A mistake does not panic: the body keeps the first one, and its node
/// passes it on to `force`.
///
/// ```
/// use livefusion::ast::{BodyBuilder, Builder};
/// use loop_lang::{Const, Op, Ty};
/// let mut body = BodyBuilder::new(&[Ty::F64]);
/// let x = body.param(0);
/// let two = body.lit(Const::f64(2.0));
/// let twice = body.op(Op::Mul, &[two, x]);
/// let body = body.finish(&[twice]);
/// assert_eq!(body.result_types()[..], [Ty::F64]);
/// ```
#[derive(Debug, Default)]
pub struct BodyBuilder {
    body: Parts,
    loc: Option<Loc>,
    terms: FxHashMap<(Term, Ty), TermId>,
    captures: FxHashMap<(*const Node, bool), u32>,
    open: Vec<u32>,
}

impl BodyBuilder {
    /// Creates a body with these scalar parameters.
    ///
    /// Tuples are flattened, field by field.
    pub fn new(params: &[Ty]) -> BodyBuilder {
        let mut b = BodyBuilder::default();
        b.begin(params);
        b
    }

    /// Begins a new body after one that has [ended](BodyBuilder::end).
    pub(crate) fn begin(&mut self, params: &[Ty]) {
        self.loc = None;
        self.body.params = Types::from_slice(params);
        self.body.terms.reserve(params.len() + 7);
        for (k, ty) in params.iter().enumerate() {
            self.body.terms.push(TermData {
                term: Term::Param(k as u32),
                ty: *ty,
                loc: None,
                power: None,
            });
        }
    }

    /// Ends the body with these results. Returns a recent body if it is equal. The builder keeps
    /// only its memory.
    pub(crate) fn end(&mut self, results: &[TermId]) -> Body {
        self.close(results);
        self.terms.clear();
        self.captures.clear();
        self.open.clear();
        match body_cache::find(&self.body) {
            Some(known) => {
                self.body.terms.clear();
                self.body.results.clear();
                known
            }
            None => std::mem::take(&mut self.body).into(),
        }
    }

    /// Sets the source location of the terms that follow.
    pub fn locate(&mut self, loc: Option<Loc>) -> &mut BodyBuilder {
        self.loc = loc;
        self
    }

    /// Returns the k-th parameter.
    pub fn param(&mut self, k: u32) -> TermId {
        if (k as usize) < self.body.params.len() {
            return TermId(k);
        }
        let got = format!("number {k} of {}", self.body.params.len());
        self.malformed(Ty::U64, "a parameter of the body", got)
    }

    /// Returns the first parameters, of these types, which depend on a nonzero number.
    ///
    /// So a computation can depend on a check whose result is a length.
    pub(crate) fn all_if_nonzero(&mut self, n: TermId, types: &[Ty]) -> Vec<TermId> {
        let zero = self.lit(Const::u64(0));
        let is_there = self.op(Op::Ne, &[n, zero]);
        let of = |(k, ty): (u32, &Ty)| {
            let (x, none) = (self.param(k), self.lit(Const::zero(*ty)));
            self.cond(is_there, x, none)
        };
        (0..).zip(types).map(of).collect()
    }

    /// Adds a constant.
    pub fn lit(&mut self, c: Const) -> TermId {
        self.term(Term::Lit(Const::new(c.ty, c.bits)), c.ty)
    }

    /// Applies an operator to terms.
    ///
    /// For casts see [`BodyBuilder::cast`].
    pub fn op(&mut self, op: Op, args: &[TermId]) -> TermId {
        self.op_to(op, args, None)
    }

    /// Converts to another type, as Rust's `as`.
    pub fn cast(&mut self, x: TermId, to: Ty) -> TermId {
        if self.known(x) && self.body.ty(x) == to {
            return x;
        }
        self.op_to(Op::Cast, &[x], Some(to))
    }

    /// Reinterprets the bits as another type.
    ///
    /// Floats and unsigned integers of equal width are allowed.
    pub fn bitcast(&mut self, x: TermId, to: Ty) -> TermId {
        self.op_to(Op::Bitcast, &[x], Some(to))
    }

    fn op_to(&mut self, op: Op, args: &[TermId], target: Option<Ty>) -> TermId {
        if !args.iter().all(|a| self.known(*a)) {
            return self.unknown_term();
        }
        match self.body.operator_type(op, args, target) {
            Some(ty) => self.term(Term::Op(op, Args::new(args)), ty),
            None => self.mistyped(op, args, target),
        }
    }

    #[cold]
    fn mistyped(&mut self, op: Op, args: &[TermId], target: Option<Ty>) -> TermId {
        let types: Vec<Ty> = args.iter().map(|a| self.body.ty(*a)).collect();
        let fallback = target.or(types.first().copied()).unwrap_or(Ty::U64);
        let expected = format!("operands that `{}` takes", op.name());
        self.malformed(fallback, &expected, show_types(&types))
    }

    /// Computes the flat index of an element among rows of one length.
    ///
    /// It is `outer * length + inner`. The inner index is below the length.
    pub fn flat(&mut self, outer: TermId, inner: TermId, length: TermId) -> TermId {
        self.flattened(&[outer, inner, length])
    }

    /// Computes the flat index, with a bounds check on the inner index.
    ///
    /// It is as [`flat`](BodyBuilder::flat), but traps if the inner index is not below the length.
    pub fn flat_checked(&mut self, outer: TermId, inner: TermId, length: TermId) -> TermId {
        let inner = self.ensure(Assert::Below, &[inner, length]);
        self.flat(outer, inner, length)
    }

    fn flattened(&mut self, args: &[TermId]) -> TermId {
        if !args.iter().all(|a| self.known(*a)) {
            return self.unknown_term();
        }
        let types: Vec<Ty> = args.iter().map(|a| self.body.ty(*a)).collect();
        if types != [Ty::U64; 3] {
            return self.malformed(Ty::U64, "indices of type u64", show_types(&types));
        }
        self.term(Term::Flat(Args::new(args)), Ty::U64)
    }

    /// Selects `a` if `c`, else `b`.
    ///
    /// Only one arm is computed.
    pub fn cond(&mut self, c: TermId, a: TermId, b: TermId) -> TermId {
        if !self.known(c) || !self.known(a) || !self.known(b) {
            return self.unknown_term();
        }
        let (tc, ta, tb) = (self.body.ty(c), self.body.ty(a), self.body.ty(b));
        if tc != Ty::Bool || ta != tb {
            return self.malformed(
                ta,
                "a bool and two arms of one type",
                show_types(&[tc, ta, tb]),
            );
        }
        self.term(Term::Cond(c, a, b), ta)
    }

    /// Inlines another body with these terms as its parameters. Returns its results; none if it has
    /// a mistake.
    pub(crate) fn embed(&mut self, body: &Body, params: &[TermId]) -> Option<Vec<TermId>> {
        self.embed_with(body, params, &mut |b, capture, field, at| match at {
            None => b.scalar(capture.node(), field),
            Some((index, checked)) => b.at(capture.node(), field, index, checked),
        })
    }

    /// As [`embed`](BodyBuilder::embed), but `read` translates each field of a capture, as a value
    /// or at an index (checked or not).
    pub(crate) fn embed_with(
        &mut self,
        body: &Body,
        params: &[TermId],
        read: ReadCapture<'_>,
    ) -> Option<Vec<TermId>> {
        if body.error.is_some() || params.len() != body.params.len() {
            return None;
        }
        let loops = self.body.loops.len();
        let types = |l: &ScalarLoop| ScalarLoop {
            types: l.types.clone(),
            ..ScalarLoop::default()
        };
        self.body.loops.extend(body.loops.iter().map(types));
        let mut here: Vec<TermId> = Vec::with_capacity(body.terms.len());
        for data in &body.terms {
            self.loc = data.loc.or(self.loc);
            let to = |t: &TermId| here[t.index()];
            let term = match &data.term {
                Term::Param(k) => params[*k as usize],
                Term::Lit(c) => self.lit(*c),
                Term::Op(op, args) => {
                    let args: Args = args.iter().map(to).collect();
                    self.op_to(*op, &args, Some(data.ty))
                }
                Term::Flat(args) => {
                    let args: Args = args.iter().map(to).collect();
                    self.flattened(&args)
                }
                Term::Cond(c, x, y) => self.cond(to(c), to(x), to(y)),
                Term::Assert(assert, args) => {
                    let args: Args = args.iter().map(to).collect();
                    self.ensure(*assert, &args)
                }
                Term::Scalar { capture, field } => {
                    read(self, &body.captures[*capture as usize], *field, None)
                }
                Term::At {
                    capture,
                    field,
                    index,
                    checked,
                } => {
                    let at = Some((to(index), *checked));
                    read(self, &body.captures[*capture as usize], *field, at)
                }
                Term::LoopVar(l, k) => self.term(Term::LoopVar(loops as u32 + l, *k), data.ty),
                Term::LoopResult(l, k) => {
                    self.term(Term::LoopResult(loops as u32 + l, *k), data.ty)
                }
            };
            if let Some(exponent) = data.power {
                self.is_power(term, exponent);
            }
            here.push(term);
        }
        let to = |t: &TermId| here[t.index()];
        for (l, of) in self.body.loops[loops..].iter_mut().zip(&body.loops) {
            l.start = of.start.iter().map(to).collect();
            l.test = to(&of.test);
            l.next = of.next.iter().map(to).collect();
        }
        Some(body.results.iter().map(to).collect())
    }

    /// Asserts a relation of `u64` terms and returns the first term.
    ///
    /// A failed assertion traps.
    pub fn ensure(&mut self, assert: Assert, args: &[TermId]) -> TermId {
        if !args.iter().all(|a| self.known(*a)) {
            return self.unknown_term();
        }
        let types: Vec<Ty> = args.iter().map(|a| self.body.ty(*a)).collect();
        if args.len() != assert.operands() || types.iter().any(|t| *t != Ty::U64) {
            let expected = format!("operands of type u64 for `{}`", assert.name());
            return self.malformed(Ty::U64, &expected, show_types(&types));
        }
        self.term(Term::Assert(assert, Args::new(args)), Ty::U64)
    }

    /// Adds two lengths.
    ///
    /// Traps if the sum does not fit a `u64`.
    pub fn sum_of_lengths(&mut self, one: TermId, other: TermId) -> TermId {
        let one = self.ensure(Assert::Adds, &[one, other]);
        self.op(Op::Add, &[one, other])
    }

    /// Multiplies lengths.
    ///
    /// Traps if the product does not fit a `u64`. A length of 0 makes it 0.
    pub fn product_of_lengths(&mut self, lengths: &[TermId]) -> TermId {
        let one = self.lit(Const::u64(1));
        let mut some = one;
        for n in lengths {
            let is_some = self.op(Op::Min, &[*n, one]);
            some = self.op(Op::Mul, &[some, is_some]);
        }
        let mut all = some;
        for n in lengths {
            let n = self.op(Op::Mul, &[*n, some]);
            let counted = self.ensure(Assert::Multiplies, &[all, n]);
            all = self.op(Op::Mul, &[counted, n]);
        }
        all
    }

    /// Reads a field of a delayed scalar.
    pub fn scalar(&mut self, node: &Arc<Node>, field: u32) -> TermId {
        let Some(ty) = self.field_type(node, field, 0) else {
            if node.error.is_some() {
                return self.mistaken(node, false);
            }
            return self.malformed(
                Ty::U64,
                "a field of a delayed scalar",
                show_field(node, field),
            );
        };
        let capture = self.capture(node, false);
        self.term(Term::Scalar { capture, field }, ty)
    }

    /// Reads a field of an array element by random access.
    ///
    /// With `checked`, an index out of bounds traps; without, it gives zero.
    pub fn at(&mut self, node: &Arc<Node>, field: u32, index: TermId, checked: bool) -> TermId {
        let Some(ty) = self.field_type(node, field, 1) else {
            if node.error.is_some() {
                return self.mistaken(node, true);
            }
            return self.malformed(Ty::U64, "a field of an array", show_field(node, field));
        };
        if !self.known(index) {
            return self.unknown_term();
        }
        if self.body.ty(index) != Ty::U64 {
            let got = show_types(&[self.body.ty(index)]);
            return self.malformed(ty, "an index of type u64", got);
        }
        let capture = self.capture(node, true);
        self.term(
            Term::At {
                capture,
                field,
                index,
                checked,
            },
            ty,
        )
    }

    /// Begins `while test(state) { state = next(state) }`.
    ///
    /// Returns the loop's number and its state variables. Loops nest: the last one opened is closed
    /// first.
    pub fn open_loop(&mut self, start: &[TermId]) -> (u32, Vec<TermId>) {
        let start: Vec<TermId> = start
            .iter()
            .map(|t| {
                if self.known(*t) {
                    *t
                } else {
                    self.unknown_term()
                }
            })
            .collect();
        let types: Vec<Ty> = start.iter().map(|t| self.body.ty(*t)).collect();
        let number = self.body.loops.len() as u32;
        let vars = types
            .iter()
            .zip(0..)
            .map(|(ty, k)| self.term(Term::LoopVar(number, k), *ty))
            .collect();
        self.body.loops.push(ScalarLoop {
            types,
            start,
            ..ScalarLoop::default()
        });
        self.open.push(number);
        (number, vars)
    }

    /// Ends a loop.
    ///
    /// Returns the state for which the test failed.
    pub fn close_loop(&mut self, number: u32, test: TermId, next: &[TermId]) -> Vec<TermId> {
        if self.open.last() != Some(&number) {
            self.malformed(
                Ty::U64,
                "the innermost open loop to be closed",
                format!("loop {number}"),
            );
            return Vec::new();
        }
        self.open.pop();
        let types = self.body.loops[number as usize].types.clone();
        let fits = self.known(test)
            && self.body.ty(test) == Ty::Bool
            && next.iter().all(|t| self.known(*t))
            && next
                .iter()
                .map(|t| self.body.ty(*t))
                .eq(types.iter().copied());
        if fits {
            let l = &mut self.body.loops[number as usize];
            (l.test, l.next) = (test, next.to_vec());
        } else {
            self.malformed(
                Ty::U64,
                "a bool test and next values of the state's types",
                "others".to_string(),
            );
        }
        types
            .iter()
            .zip(0..)
            .map(|(ty, k)| self.term(Term::LoopResult(number, k), *ty))
            .collect()
    }

    /// Records a mistake.
    ///
    /// Only the first one is kept.
    pub fn fail(&mut self, error: Error) {
        self.body.error.get_or_insert_with(|| Box::new(error));
    }

    /// Returns the type of a term.
    pub fn ty(&self, t: TermId) -> Option<Ty> {
        self.body.terms.get(t.index()).map(|d| d.ty)
    }

    /// Finishes the body with these results, field by field.
    pub fn finish(mut self, results: &[TermId]) -> Body {
        self.close(results);
        body_cache::find(&self.body).unwrap_or_else(|| self.body.into())
    }

    fn close(&mut self, results: &[TermId]) {
        if !self.open.is_empty() {
            self.malformed(
                Ty::U64,
                "every loop to be closed",
                "an open loop".to_string(),
            );
        }
        for r in results {
            let known = match self.known(*r) {
                true => *r,
                false => self.unknown_term(),
            };
            self.body.results.push(known);
        }
    }

    fn known(&self, t: TermId) -> bool {
        t.index() < self.body.terms.len()
    }

    fn field_type(&self, node: &Node, field: u32, rank: u8) -> Option<Ty> {
        if node.rank != rank {
            return None;
        }
        node.types.get(field as usize).copied()
    }

    /// Records a malformed use and returns a placeholder term.
    #[cold]
    fn malformed(&mut self, ty: Ty, expected: &str, got: String) -> TermId {
        let kind = ErrorKind::Malformed {
            expected: expected.to_string(),
            got,
        };
        self.fail(Error {
            combinator: "closure",
            row: None,
            element: None,
            location: self.loc,
            kind,
        });
        self.lit(Const::zero(ty))
    }

    /// Captures a node with a mistake, of any types and rank, so that its error is reported.
    #[cold]
    fn mistaken(&mut self, node: &Arc<Node>, array: bool) -> TermId {
        self.capture(node, array);
        self.lit(Const::zero(Ty::U64))
    }

    #[cold]
    fn unknown_term(&mut self) -> TermId {
        self.malformed(Ty::U64, "terms of this body", "another".to_string())
    }

    /// The id of a term, old or new.
    fn term(&mut self, term: Term, ty: Ty) -> TermId {
        let params = self.body.params.len();
        let made = &self.body.terms[params..];
        if made.len() <= SMALL {
            if let Some(p) = made.iter().rposition(|d| d.ty == ty && d.term == term) {
                return TermId((params + p) as u32);
            }
        } else {
            if self.terms.is_empty() {
                let old = made.iter().zip(params as u32..);
                self.terms
                    .extend(old.map(|(d, i)| ((d.term, d.ty), TermId(i))));
            }
            if let Some(id) = self.terms.get(&(term, ty)) {
                return *id;
            }
        }
        let id = TermId(self.body.terms.len() as u32);
        if !self.terms.is_empty() {
            self.terms.insert((term, ty), id);
        }
        self.body.terms.push(TermData {
            term,
            ty,
            loc: self.loc,
            power: None,
        });
        id
    }

    /// Marks a product as a power with this exponent, written out as multiplications.
    pub(crate) fn is_power(&mut self, product: TermId, exponent: NonZeroU32) {
        if let Some(data) = self.body.terms.get_mut(product.index())
            && data.loc == self.loc
        {
            data.power = Some(exponent);
        }
    }

    /// The number of a capture, old or new. One node is captured at most once by value and once as
    /// an array.
    fn capture(&mut self, node: &Arc<Node>, array: bool) -> u32 {
        let is =
            |c: &Capture| Arc::ptr_eq(c.node(), node) && matches!(c, Capture::Array(_)) == array;
        let captures = &self.body.captures;
        if captures.len() <= SMALL {
            if let Some(p) = captures.iter().position(is) {
                return p as u32;
            }
        } else {
            if self.captures.is_empty() {
                let key = |c: &Capture| (Arc::as_ptr(c.node()), matches!(c, Capture::Array(_)));
                self.captures
                    .extend(captures.iter().zip(0..).map(|(c, i)| (key(c), i)));
            }
            if let Some(p) = self.captures.get(&(Arc::as_ptr(node), array)) {
                return *p;
            }
        }
        let p = self.body.captures.len() as u32;
        if !self.captures.is_empty() {
            self.captures.insert((Arc::as_ptr(node), array), p);
        }
        let node = node.clone();
        self.body.captures.push(if array {
            Capture::Array(node)
        } else {
            Capture::Scalar(node)
        });
        p
    }
}

/// Types in a message: `(f64, bool)`.
pub(crate) fn show_types(types: &[Ty]) -> String {
    let names: Vec<&str> = types.iter().map(|t| t.name()).collect();
    match names.as_slice() {
        [one] => one.to_string(),
        _ => format!("({})", names.join(", ")),
    }
}

fn show_field(node: &Node, field: u32) -> String {
    format!(
        "field {field} of {} of rank {}",
        show_types(&node.types),
        node.rank
    )
}
