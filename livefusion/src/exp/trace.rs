//! Untyped expressions, and the thread-local stack of closures in tracing.

use crate::ast::{Body, BodyBuilder, Node, Term, TermId, fits};
use crate::error::{Error, ErrorKind};
use crate::loc::Loc;
use loop_lang::eval::eval;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Represents a scalar expression whose type is known only at run time.
///
/// A closure sees an element as several of these fields. A field is a literal, a term of the
/// closure in tracing, or a mistake that the closure reports when it uses the field.
#[derive(Clone, Copy)]
pub struct Field {
    pub(super) scope: u64,
    /// The canonical word of a literal, the id of a term, or the index of a mistake.
    pub(super) word: u64,
    ty: Ty,
    not_send: PhantomData<*const ()>,
}

const LITERAL: u64 = 0;
const MISTAKE: u64 = u64::MAX;

impl Field {
    /// Makes a constant, which belongs to no closure.
    pub fn literal(c: Const) -> Field {
        Field::new(LITERAL, c.bits, c.ty)
    }

    pub(super) fn new(scope: u64, word: u64, ty: Ty) -> Field {
        Field {
            scope,
            word,
            ty,
            not_send: PhantomData,
        }
    }

    /// Returns the type.
    pub fn ty(self) -> Ty {
        self.ty
    }

    /// Returns the mistake in this field, if any, as an expression of type `ty`.
    pub(super) fn as_mistake(self, ty: Ty) -> Option<Field> {
        (self.scope == MISTAKE).then(|| Field::new(MISTAKE, self.word, ty))
    }

    /// Returns the constant in this field, if it is a literal.
    pub fn as_literal(self) -> Option<Const> {
        (self.scope == LITERAL).then_some(Const {
            ty: self.ty,
            bits: self.word,
        })
    }
}

/// Lists the fields of an expression.
///
/// Up to four need no allocation.
pub type Fields = SmallVec<[Field; 4]>;

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scope {
            LITERAL => write!(f, "{}({})", self.ty, Const::new(self.ty, self.word).bare()),
            MISTAKE => write!(f, "{}(mistake)", self.ty),
            _ => write!(f, "{}(term {})", self.ty, self.word),
        }
    }
}

/// A closure in tracing. Its number is unique among all threads.
#[derive(Default)]
struct TracedClosure {
    number: u64,
    body: BodyBuilder,
}

#[derive(Default)]
struct Arena {
    /// The [open](Arena::open) closures, followed by spare scopes whose memory is reused.
    scopes: Vec<TracedClosure>,
    open: usize,
    numbers: std::ops::Range<u64>,
    /// Mistakes made outside of any closure, without duplicates.
    mistakes: Vec<Error>,
}

thread_local!(static ARENA: RefCell<Arena> = RefCell::default());

/// The number of scope numbers that a thread reserves at a time.
const BLOCK: u64 = 1 << 16;
static NEXT_BLOCK: AtomicU64 = AtomicU64::new(1);

impl Arena {
    fn number(&mut self) -> u64 {
        if self.numbers.is_empty() {
            let block = NEXT_BLOCK.fetch_add(1, Ordering::Relaxed);
            self.numbers = block * BLOCK..(block + 1) * BLOCK;
        }
        self.numbers.next().unwrap_or(MISTAKE - 1)
    }

    /// Begins a closure with these parameters; returns its number.
    fn enter(&mut self, params: &[Ty]) -> u64 {
        let number = self.number();
        if self.open == self.scopes.len() {
            self.scopes.push(TracedClosure::default());
        }
        let scope = &mut self.scopes[self.open];
        scope.number = number;
        scope.body.begin(params);
        self.open += 1;
        number
    }

    /// Returns the innermost scope, and the fields as terms of it.
    #[inline]
    fn inside(&mut self, fields: &[Field], loc: Option<Loc>) -> Option<(&mut TracedClosure, Ids)> {
        let Arena {
            scopes,
            mistakes,
            open,
            ..
        } = self;
        let scope = scopes[..*open].last_mut()?;
        scope.body.locate(loc);
        let mut ids = Ids::new();
        for f in fields {
            ids.push(match f.scope == scope.number {
                true => TermId(f.word as u32),
                false => resolve(scope, mistakes, *f, loc),
            });
        }
        Some((scope, ids))
    }

    /// Records a mistake made outside of any closure, and returns an expression that refers to it.
    fn mistake(&mut self, ty: Ty, kind: ErrorKind, loc: Option<Loc>) -> Field {
        let error = Error {
            combinator: "closure",
            row: None,
            element: None,
            location: loc,
            kind,
        };
        let at = self
            .mistakes
            .iter()
            .position(|e| *e == error)
            .unwrap_or_else(|| {
                self.mistakes.push(error);
                self.mistakes.len() - 1
            });
        Field::new(MISTAKE, at as u64, ty)
    }

    /// Returns the mistake of an operation outside of any closure with operands that are not
    /// literals.
    fn outside(&mut self, ty: Ty, args: &[Field], loc: Option<Loc>) -> Field {
        match args.iter().find(|f| f.scope == MISTAKE) {
            Some(f) => Field::new(MISTAKE, f.word, ty),
            None => self.mistake(ty, ErrorKind::LeakedExp, loc),
        }
    }
}

type Ids = SmallVec<[TermId; 4]>;

/// Converts a field from another scope to a term of this scope. A leaked term is a mistake of the
/// scope.
fn resolve(scope: &mut TracedClosure, mistakes: &[Error], f: Field, loc: Option<Loc>) -> TermId {
    if let Some(c) = f.as_literal() {
        return scope.body.lit(c);
    }
    let known = if f.scope == MISTAKE {
        mistakes.get(f.word as usize).cloned()
    } else {
        None
    };
    let leaked = Error {
        combinator: "closure",
        row: None,
        element: None,
        location: loc,
        kind: ErrorKind::LeakedExp,
    };
    scope.body.fail(known.unwrap_or(leaked));
    scope.body.lit(Const::zero(f.ty))
}

/// Applies an operator to expressions. `to` is the result type.
pub(crate) fn op(op: Op, args: &[Field], to: Ty, loc: Loc) -> Field {
    ARENA.with_borrow_mut(|arena| {
        if let Some((scope, ids)) = arena.inside(args, Some(loc)) {
            let id = match op {
                Op::Cast => scope.body.cast(ids[0], to),
                Op::Bitcast => scope.body.bitcast(ids[0], to),
                _ => scope.body.op(op, &ids),
            };
            return Field::new(scope.number, id.0 as u64, to);
        }
        let literals: Option<SmallVec<[Const; 3]>> = args.iter().map(|f| f.as_literal()).collect();
        match literals {
            Some(args) => match fold(op, &args, to) {
                Ok(c) => Field::literal(c),
                Err(kind) => arena.mistake(to, kind, Some(loc)),
            },
            None => arena.outside(to, args, Some(loc)),
        }
    })
}

/// Marks an expression as a power with this exponent, expanded to products.
pub(crate) fn is_power(product: Field, exponent: NonZeroU32, loc: Loc) {
    ARENA.with_borrow_mut(|arena| {
        if let Some((scope, ids)) = arena.inside(&[product], Some(loc)) {
            scope.body.is_power(ids[0], exponent);
        }
    });
}

/// Evaluates an operator on literals, outside of any closure.
fn fold(op: Op, args: &[Const], to: Ty) -> Result<Const, ErrorKind> {
    let words: SmallVec<[u64; 3]> = args.iter().map(|c| c.bits).collect();
    let from = args[if op == Op::Select { 1 } else { 0 }].ty;
    if op.may_trap(from) && eval(Op::DivOk, from, Ty::Bool, &words) == 0 {
        let [dividend, divisor] = [0, 1].map(|i| args[i].integer().unwrap_or(0));
        return Err(ErrorKind::Division { dividend, divisor });
    }
    Ok(Const::new(to, eval(op, from, to, &words)))
}

/// `if c { a } else { b }`, field by field. Only the selected arm is computed.
pub(crate) fn cond(c: Field, arms: &[(Field, Field)], loc: Loc) -> Vec<Field> {
    ARENA.with_borrow_mut(|arena| {
        let one = |&(a, b): &(Field, Field)| {
            if let Some((scope, ids)) = arena.inside(&[c, a, b], Some(loc)) {
                let id = scope.body.cond(ids[0], ids[1], ids[2]);
                return Field::new(scope.number, id.0 as u64, a.ty);
            }
            match c.as_literal() {
                Some(c) if c.bits != 0 => a,
                Some(_) => b,
                None => arena.outside(a.ty, &[c], Some(loc)),
            }
        };
        arms.iter().map(one).collect()
    })
}

/// The mistake of using delayed values outside of a closure.
fn no_closure() -> ErrorKind {
    ErrorKind::Malformed {
        expected: "a use inside of a combinator's closure".to_string(),
        got: "one outside of any closure".to_string(),
    }
}

/// Reads a field of a delayed scalar.
pub(crate) fn scalar(node: &Arc<Node>, field: u32, ty: Ty, loc: Loc) -> Field {
    ARENA.with_borrow_mut(|arena| match arena.inside(&[], Some(loc)) {
        Some((scope, _)) => Field::new(scope.number, scope.body.scalar(node, field).0 as u64, ty),
        None => arena.mistake(ty, no_closure(), Some(loc)),
    })
}

/// Reads a field of an array element by random access. An index out of range traps.
pub(crate) fn at(node: &Arc<Node>, field: u32, ty: Ty, index: Field, loc: Loc) -> Field {
    read(node, field, ty, index, true, loc)
}

/// As [`at`], without a bounds check. The index must be in range wherever the value is used.
pub(crate) fn at_unchecked(node: &Arc<Node>, field: u32, ty: Ty, index: Field, loc: Loc) -> Field {
    read(node, field, ty, index, false, loc)
}

/// Returns an expression that reports a malformed use.
pub(crate) fn malformed(ty: Ty, expected: String, got: String, loc: Loc) -> Field {
    let kind = ErrorKind::Malformed { expected, got };
    ARENA.with_borrow_mut(|arena| arena.mistake(ty, kind, Some(loc)))
}

/// Returns the position of an element in rows of equal length: `outer * length + inner`. With
/// `checked`, an inner index that is not below the length traps.
pub(crate) fn flat([outer, inner, length]: [Field; 3], checked: bool, loc: Loc) -> Field {
    let args = [outer, inner, length];
    ARENA.with_borrow_mut(|arena| match arena.inside(&args, Some(loc)) {
        Some((scope, ids)) => {
            let [outer, inner, length] = [0, 1, 2].map(|k| scope.body.cast(ids[k], Ty::U64));
            let at = match checked {
                true => scope.body.flat_checked(outer, inner, length),
                false => scope.body.flat(outer, inner, length),
            };
            Field::new(scope.number, at.0 as u64, Ty::U64)
        }
        None => arena.mistake(Ty::U64, no_closure(), Some(loc)),
    })
}

/// Returns `i + offset`, and a test if it is within an array of `n` elements.
pub(crate) fn neighbour(i: Field, n: Field, offset: i128, loc: Loc) -> (Field, Field) {
    let far = Field::literal(Const::u64(offset.unsigned_abs() as u64));
    if offset < 0 {
        let inside = op(Op::Ge, &[i, far], Ty::Bool, loc);
        return (op(Op::Sub, &[i, far], Ty::U64, loc), inside);
    }
    if offset == 0 {
        return (i, op(Op::Lt, &[i, n], Ty::Bool, loc));
    }
    // `i + far < n` could wrap.
    let room = op(Op::Sub, &[n, i], Ty::U64, loc);
    (
        op(Op::Add, &[i, far], Ty::U64, loc),
        op(Op::Lt, &[far, room], Ty::Bool, loc),
    )
}

fn read(node: &Arc<Node>, field: u32, ty: Ty, index: Field, checked: bool, loc: Loc) -> Field {
    ARENA.with_borrow_mut(|arena| match arena.inside(&[index], Some(loc)) {
        Some((scope, ids)) => {
            let index = scope.body.cast(ids[0], Ty::U64);
            Field::new(
                scope.number,
                scope.body.at(node, field, index, checked).0 as u64,
                ty,
            )
        }
        None => arena.mistake(ty, no_closure(), Some(loc)),
    })
}

/// `while test(state) { state = next(state) }`.
pub(crate) fn while_loop(
    start: &[Field],
    test: impl FnOnce(&[Field]) -> Field,
    next: impl FnOnce(&[Field]) -> Fields,
    loc: Loc,
) -> Vec<Field> {
    let opened = ARENA.with_borrow_mut(|arena| {
        let (scope, ids) = arena.inside(start, Some(loc))?;
        let (number, vars) = scope.body.open_loop(&ids);
        Some((number, in_scope(scope.number, &vars, start)))
    });
    let Some((number, vars)) = opened else {
        return ARENA.with_borrow_mut(|arena| {
            start
                .iter()
                .map(|f| arena.mistake(f.ty, no_closure(), Some(loc)))
                .collect()
        });
    };
    let mut fields = Fields::from_slice(&[test(&vars)]);
    fields.extend(next(&vars));
    ARENA.with_borrow_mut(|arena| match arena.inside(&fields, Some(loc)) {
        Some((scope, ids)) => {
            let results = scope.body.close_loop(number, ids[0], &ids[1..]);
            in_scope(scope.number, &results, start)
        }
        None => start.to_vec(),
    })
}

fn in_scope(scope: u64, ids: &[TermId], like: &[Field]) -> Vec<Field> {
    ids.iter()
        .zip(like)
        .map(|(id, f)| Field::new(scope, id.0 as u64, f.ty))
        .collect()
}

/// On a panic in a closure, leaves the scopes that it entered.
struct Leave {
    depth: usize,
}

impl Drop for Leave {
    fn drop(&mut self) {
        let left = ARENA.with_borrow_mut(|arena| {
            arena.open = self.depth.min(arena.open);
            arena.scopes.split_off(arena.open)
        });
        drop(left);
    }
}

/// Traces a closure to a body with parameters of these types.
///
/// The closure runs once, on expressions that represent the parameters.
///
/// ```
/// use livefusion::ast::{Builder, Field, Fields, Len, Op, Ty, trace};
/// let loc = livefusion::Loc::in_text("squares.txt", 1, 6);
/// let square = trace(&[Ty::U64], |i| Fields::from_elem(Field::op(Op::Mul, &[i[0], i[0]], loc), 1));
/// let squares = Builder::at("generate", loc).generate(Len::Known(4), square);
/// assert_eq!(squares.types[..], [Ty::U64]);
/// ```
pub fn trace(params: &[Ty], f: impl FnOnce(&[Field]) -> Fields) -> Body {
    let (number, depth) = ARENA.with_borrow_mut(|arena| (arena.enter(params), arena.open - 1));
    let leave = Leave { depth };
    let mut fields = Fields::new();
    for ty in params {
        fields.push(Field::new(number, fields.len() as u64, *ty));
    }
    let results = f(&fields);
    let body = ARENA.with_borrow_mut(|arena| {
        let (scope, ids) = arena.inside(&results, None)?;
        let body = scope.body.end(&ids);
        arena.open = depth;
        Some(body)
    });
    std::mem::forget(leave);
    body.unwrap_or_default()
}

impl Field {
    /// Inlines a body into the closure in tracing, with `args` for its parameters.
    ///
    /// Results that are literals stay literals. A mistake in the body becomes one of the closure.
    pub fn apply(body: &Body, args: &[Field], loc: Loc) -> Fields {
        let types = body.result_types_or_none();
        ARENA.with_borrow_mut(|arena| {
            let Some((scope, ids)) = arena.inside(args, Some(loc)) else {
                let one = |ty: &Ty| arena.mistake(*ty, no_closure(), Some(loc));
                return types.iter().map(one).collect();
            };
            let params: Vec<Ty> = args.iter().map(|f| f.ty).collect();
            let wrong = fits(body, "a function", &params, None).err();
            let wrong = wrong.map(|kind| Error {
                combinator: "closure",
                row: None,
                element: None,
                location: Some(loc),
                kind,
            });
            if let Some(error) = wrong.or_else(|| body.error.as_deref().cloned()) {
                scope.body.fail(error);
                let zero = |ty: &Ty| Field::literal(Const::zero(*ty));
                return types.iter().map(zero).collect();
            }
            let results = scope.body.embed(body, &ids).unwrap_or_default();
            let all = results.iter().zip(&body.results).zip(&types);
            let field = |((id, result), ty): ((&TermId, &TermId), &Ty)| match body.terms
                [result.index()]
            .term
            {
                Term::Lit(c) => Field::literal(c),
                _ => Field::new(scope.number, id.0.into(), *ty),
            };
            all.map(field).collect()
        })
    }
}
