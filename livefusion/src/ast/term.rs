//! Scalar terms: the traced form of closures.
//!
//! Bodies are hash-consed, flat, and in dependency order. [`crate::sharing`] later decides where
//! each term is computed.

use crate::ast::Node;
use crate::error::Error;
use crate::loc::Loc;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use smallvec::SmallVec;
use std::fmt;
use std::num::NonZeroU32;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, LazyLock};

/// Holds the types of an element's fields.
///
/// Up to 16 need no heap memory.
pub type Types = SmallVec<[Ty; 16]>;

/// Identifies a term of a body by position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct TermId(pub u32);

impl TermId {
    /// Returns the position in the terms of a [`Body`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Holds the operands of an operator, at most three.
///
/// Further operands are dropped. The builder rejects such an operator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Args {
    count: u8,
    /// Entries beyond `count` are zero.
    ids: [TermId; 3],
}

impl Args {
    /// Creates a list of these operands.
    pub fn new(ids: &[TermId]) -> Args {
        ids.iter().copied().collect()
    }

    /// Returns the operands.
    pub fn as_slice(&self) -> &[TermId] {
        self.ids.get(..self.count as usize).unwrap_or_default()
    }
}

impl FromIterator<TermId> for Args {
    fn from_iter<I: IntoIterator<Item = TermId>>(ids: I) -> Args {
        let mut args = Args::default();
        for (place, id) in args.ids.iter_mut().zip(ids) {
            *place = id;
            args.count += 1;
        }
        args
    }
}

impl Deref for Args {
    type Target = [TermId];
    fn deref(&self) -> &[TermId] {
        self.as_slice()
    }
}

impl fmt::Debug for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

/// Represents a scalar term.
///
/// Operands precede their users.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Term {
    /// The k-th scalar parameter of the body.
    Param(u32),
    /// A constant.
    Lit(Const),
    /// A strict operator. Integer division and remainder trap where Rust panics.
    Op(Op, Args),
    /// `outer * length + inner` of (outer, inner, length), all `u64`: the flat index of an element
    /// among rows of one length. Splitting it again costs nothing, since `inner` is below `length`.
    Flat(Args),
    /// `if c { a } else { b }`: only one arm is computed.
    Cond(TermId, TermId, TermId),
    /// The k-th state variable of a while loop, within its test and step.
    LoopVar(u32, u32),
    /// The k-th state variable of a while loop after its exit.
    LoopResult(u32, u32),
    /// A field of a captured delayed scalar.
    Scalar {
        /// The number of the capture.
        capture: u32,
        /// The number of the field.
        field: u32,
    },
    /// A field of an element of a captured array.
    At {
        /// The number of the capture.
        capture: u32,
        /// The number of the field.
        field: u32,
        /// The index, `u64`.
        index: TermId,
        /// Whether an index out of bounds traps. Unchecked ones, in range by construction, give
        /// zero.
        checked: bool,
    },
    /// The first operand after an assertion over all operands, all `u64`. Traps if the assertion
    /// fails.
    Assert(Assert, Args),
}

/// Lists the assertions of terms.
///
/// A failed one traps like the combinators that check the same condition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Assert {
    /// (index, length): the index is below the length, else it is out of range.
    Below,
    /// (index, length): the index of an end is below the length, else there is no element.
    Nonempty,
    /// (length, length expected): they are equal, else lengths differ.
    Equal,
    /// (needed, capacity): at most the capacity is needed, else segments do not match their data.
    Fits,
    /// (needed, capacity): exactly the capacity is needed, else segments do not match their data.
    Fills,
    /// (start, end, length): a slice is in order and inside.
    Inside,
    /// (length, length): their sum fits a `u64`.
    Adds,
    /// (length, length): their product fits a `u64`.
    Multiplies,
}

impl Assert {
    /// Returns its name in texts.
    pub fn name(self) -> &'static str {
        match self {
            Assert::Below => "below",
            Assert::Nonempty => "nonempty",
            Assert::Equal => "equal",
            Assert::Fits => "fits",
            Assert::Fills => "fills",
            Assert::Inside => "inside",
            Assert::Adds => "adds",
            Assert::Multiplies => "multiplies",
        }
    }

    /// Returns the number of its operands.
    pub fn operands(self) -> usize {
        match self {
            Assert::Inside => 3,
            _ => 2,
        }
    }
}

impl Term {
    /// Calls a function with each operand; a condition's test comes first. The terms of a scalar
    /// loop are not operands.
    pub(crate) fn each_operand(&self, mut each: impl FnMut(TermId)) {
        match self {
            Term::Op(_, args) | Term::Flat(args) | Term::Assert(_, args) => {
                args.iter().for_each(|a| each(*a));
            }
            Term::At { index, .. } => each(*index),
            Term::Cond(c, a, b) => [*c, *a, *b].into_iter().for_each(each),
            Term::Param(_) | Term::Lit(_) | Term::Scalar { .. } => {}
            Term::LoopVar(..) | Term::LoopResult(..) => {}
        }
    }

    /// The term with other operands.
    pub(crate) fn renamed(self, to: impl Fn(TermId) -> TermId) -> Term {
        let all = |args: &Args| -> Args { args.iter().map(|a| to(*a)).collect() };
        match self {
            Term::Op(op, args) => Term::Op(op, all(&args)),
            Term::Flat(args) => Term::Flat(all(&args)),
            Term::Assert(assert, args) => Term::Assert(assert, all(&args)),
            Term::Cond(c, a, b) => Term::Cond(to(c), to(a), to(b)),
            Term::At {
                capture,
                field,
                index,
                checked,
            } => Term::At {
                capture,
                field,
                index: to(index),
                checked,
            },
            Term::Param(_) | Term::Lit(_) | Term::Scalar { .. } => self,
            Term::LoopVar(..) | Term::LoopResult(..) => self,
        }
    }
}

/// Whether computing a term may trap or diverge, given the operands that may. Such a term must
/// neither be removed nor speculated.
pub(crate) fn may_trap(term: &Term, ty: Ty, operand: impl Fn(TermId) -> bool) -> bool {
    match term {
        Term::Op(op, args) => op.may_trap(ty) || args.iter().any(|a| operand(*a)),
        Term::Flat(args) => args.iter().any(|a| operand(*a)),
        Term::At { index, checked, .. } => *checked || operand(*index),
        Term::Cond(c, a, b) => [c, a, b].into_iter().any(|t| operand(*t)),
        Term::LoopResult(..) | Term::Assert(..) => true,
        Term::Param(_) | Term::Lit(_) | Term::Scalar { .. } | Term::LoopVar(..) => false,
    }
}

/// Whether every integer can be divided by this one without a trap.
pub(crate) fn divides_all(divisor: Const) -> bool {
    divisor.bits != 0 && (!divisor.ty.is_signed() || divisor.bits != u64::MAX)
}

/// Pairs a term with its type and source location.
///
/// Location and exponent are not part of its identity.
#[derive(Clone, Copy, Debug)]
pub struct TermData {
    /// The term.
    pub term: Term,
    /// Its type.
    pub ty: Ty,
    /// The location of the operator's call.
    pub loc: Option<Loc>,
    /// The exponent of a power that was expanded into products. This is the last product.
    pub power: Option<NonZeroU32>,
}

/// Describes a scalar loop, `while test(state) { state = next(state) }`.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ScalarLoop {
    /// Types of the state variables.
    pub types: Vec<Ty>,
    /// Starting values, terms outside the loop.
    pub start: Vec<TermId>,
    /// The condition to continue, a `bool` term over the loop variables.
    pub test: TermId,
    /// Next values, terms over the loop variables.
    pub next: Vec<TermId>,
}

/// Refers to a delayed node that a closure uses.
#[derive(Clone, Debug)]
pub enum Capture {
    /// A delayed scalar (an `Ix0` node), by value.
    Scalar(Arc<Node>),
    /// An array, by random access.
    Array(Arc<Node>),
}

impl Capture {
    /// Returns the captured node.
    pub fn node(&self) -> &Arc<Node> {
        match self {
            Capture::Scalar(n) | Capture::Array(n) => n,
        }
    }
}

/// Represents a traced closure by parameters, terms and results.
///
/// Clones share their parts until one is changed.
#[derive(Clone, Debug)]
pub struct Body(Arc<Parts>);

/// The body without parts. It is shared, so taking the body of a dropped node allocates nothing.
static EMPTY: LazyLock<Body> = LazyLock::new(|| Body::from(Parts::default()));

impl Default for Body {
    fn default() -> Body {
        EMPTY.clone()
    }
}

/// Holds the parts of a body.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// Types of the scalar parameters (tuples are flattened, field by field).
    pub params: Types,
    /// Terms in dependency order. The first `params.len()` are the parameters.
    pub terms: Vec<TermData>,
    /// While loops, by number.
    pub loops: Vec<ScalarLoop>,
    /// Captured arrays and delayed scalars.
    pub captures: Vec<Capture>,
    /// Results, field by field.
    pub results: SmallVec<[TermId; 4]>,
    /// The first mistake made while tracing, such as a leaked expression.
    pub error: Option<Box<Error>>,
    /// Whether it is well formed and already simplified.
    pub(super) sound: bool,
}

impl From<Parts> for Body {
    fn from(parts: Parts) -> Body {
        Body(Arc::new(parts))
    }
}

impl Deref for Body {
    type Target = Parts;
    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl DerefMut for Body {
    /// A mutable borrow clears the sound mark, so that the body is checked again.
    fn deref_mut(&mut self) -> &mut Parts {
        let parts = Arc::make_mut(&mut self.0);
        parts.sound = false;
        parts
    }
}

impl Body {
    /// Whether computing it may trap or diverge. Division by a literal that is neither 0 nor -1
    /// cannot.
    pub(crate) fn may_trap(&self) -> bool {
        let is_fine = |term: &Term| match term {
            Term::Op(_, args) => args.get(1).is_some_and(
                |by| matches!(self.terms[by.index()].term, Term::Lit(c) if divides_all(c)),
            ),
            _ => false,
        };
        let mut terms = self.terms.iter();
        terms.any(|t| may_trap(&t.term, t.ty, |_| false) && !is_fine(&t.term))
    }

    /// Whether its results are literals.
    pub(crate) fn is_literal(&self) -> bool {
        let literal = |t: &TermId| {
            matches!(
                self.terms.get(t.index()).map(|d| d.term),
                Some(Term::Lit(_))
            )
        };
        self.results.iter().all(literal)
    }

    /// Whether it was marked well formed and simple, and not changed since.
    pub(super) fn is_sound(&self) -> bool {
        self.0.sound
    }

    /// Marks it well formed and simple, if it is uniquely owned.
    pub(super) fn found_sound(&mut self) {
        if let Some(parts) = Arc::get_mut(&mut self.0) {
            parts.sound = true;
        }
    }

    /// Whether two bodies share their parts.
    pub(crate) fn is(&self, other: &Body) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The captures, if the body is uniquely owned.
    pub(super) fn into_captures(self) -> Vec<Capture> {
        Arc::into_inner(self.0).map_or_else(Vec::new, |parts| parts.captures)
    }
}

impl Parts {
    /// Returns the type of a term.
    pub fn ty(&self, t: TermId) -> Ty {
        self.terms[t.index()].ty
    }
    /// The type of an operator on these terms; none if it rejects them.
    pub(super) fn operator_type(&self, op: Op, args: &[TermId], target: Option<Ty>) -> Option<Ty> {
        let mut types = [Ty::Bool; 3];
        let types = types.get_mut(..args.len())?;
        for (ty, arg) in types.iter_mut().zip(args) {
            *ty = self.terms.get(arg.index())?.ty;
        }
        op.result(types, target)
    }

    /// Returns the types of the results.
    pub fn result_types(&self) -> Types {
        self.results.iter().map(|r| self.ty(*r)).collect()
    }

    /// Marks the terms that the given results need.
    pub fn live_terms(&self, results: impl Iterator<Item = TermId>) -> Vec<bool> {
        let mut live = vec![false; self.terms.len()];
        results.for_each(|r| live[r.index()] = true);
        let mut loop_done = vec![false; self.loops.len()];
        // Operands precede their users, except in scalar loops, whose results come last.
        for i in (0..self.terms.len()).rev() {
            if !live[i] {
                continue;
            }
            let term = &self.terms[i].term;
            term.each_operand(|t| live[t.index()] = true);
            if let Term::LoopResult(l, _) = term
                && !std::mem::replace(&mut loop_done[*l as usize], true)
            {
                let l = &self.loops[*l as usize];
                let inside = l.start.iter().chain(&l.next).chain([&l.test]);
                inside.for_each(|t| live[t.index()] = true);
            }
        }
        live
    }
}
