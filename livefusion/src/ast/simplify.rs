//! Simplification of scalar bodies, once, when a node is made.
//!
//! The pass folds constants with Rust's semantics and drops operations without effect, such as `x +
//! 0`, `x * 1.0`, `!!b` and `x.min(x)`. It folds operators on equal operands (`x - x`, `x <= x`, a
//! check of both) and integers times zero. It selects the arm of a known condition and joins the
//! constants of associative operators. It collects sums of integers, such as `x + y - y`. It unifies
//! equal terms and removes terms and captures that no result needs.
//!
//! Rules respect the type: `x * 0.0` is not 0.0 (`x` may be NaN), `x + 0.0` is not `x` (`x` may be
//! -0.0). A division that would trap is kept. `sharing::algebra` finds equal lengths of different
//! nodes.
//!
//! One pass runs from operands to users. Every operand is simplified before its user, so a second
//! pass finds nothing (a property test checks this). The cost is linear in the number of terms.

use crate::ast::{
    Args, Assert, Body, Capture, Parts, ScalarLoop, Term, TermData, TermId, may_trap,
};
use loop_lang::eval::eval;
use loop_lang::op::Op;
use loop_lang::op::sums::{Sum, SumPart, SumView, collect};
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Simplifies a body.
///
/// Parameters and results stay the same. So do the traps in terms that results need.
pub fn simplify(body: Body) -> Body {
    if body.error.is_some() || is_simple(&body) {
        return body;
    }
    let rewritten = Rewriter::new(&body).run(&body);
    prune(rewritten).into()
}

/// Bodies of at most so many terms are inspected before anything is copied.
const SMALL: usize = 24;

/// Whether a small body is already simple. Most bodies are.
fn is_simple(body: &Body) -> bool {
    let terms = body.terms.as_slice();
    if terms.len() > SMALL || !body.loops.is_empty() {
        return false;
    }
    let mut traps = 0u32;
    for (i, data) in terms.iter().enumerate() {
        let before = &terms[..i];
        let may = |t: TermId| traps >> t.0 & 1 != 0;
        let changes = match &data.term {
            Term::Param(_) => false,
            Term::Op(op, args) => !matches!(simpler(before, may, *op, args, data.ty), Simpler::No),
            Term::Cond(c, a, b) => lit(before, *c).is_some() || a == b && !may(*c),
            Term::Assert(assert, args) => always_holds(*assert, args),
            _ => false,
        };
        let again = |d: &TermData| d.ty == data.ty && d.term == data.term;
        if changes || before.iter().any(again) {
            return false;
        }
        traps |= u32::from(may_fail(&data.term, data.ty, may)) << i;
    }
    let dead = !live_bits(body) & !(u32::MAX << terms.len());
    dead >> body.params.len() == 0
}

/// The terms that the results of a small body without loops need, as bits.
fn live_bits(body: &Body) -> u32 {
    let mut live = 0u32;
    let mark = |live: &mut u32, t: TermId| *live |= 1 << t.0;
    body.results.iter().for_each(|r| mark(&mut live, *r));
    for (i, data) in body.terms.iter().enumerate().rev() {
        if live >> i & 1 == 0 {
            continue;
        }
        data.term.each_operand(|t| mark(&mut live, t));
    }
    live
}

struct Rewriter {
    out: Vec<TermData>,
    /// Whether each term or one of its operands may trap. Such a term must be kept.
    traps: Vec<bool>,
    known: FxHashMap<(Term, Ty), TermId>,
    to: Vec<TermId>,
}

impl Rewriter {
    fn new(body: &Body) -> Rewriter {
        Rewriter {
            out: Vec::with_capacity(body.terms.len()),
            traps: Vec::with_capacity(body.terms.len()),
            known: FxHashMap::default(),
            to: Vec::with_capacity(body.terms.len()),
        }
    }

    fn run(mut self, body: &Body) -> Parts {
        for data in &body.terms {
            let id = self.term(data);
            self.to.push(id);
        }
        let to = |t: &TermId| self.to[t.index()];
        let loops = body.loops.iter().map(|l| ScalarLoop {
            types: l.types.clone(),
            start: l.start.iter().map(to).collect(),
            test: to(&l.test),
            next: l.next.iter().map(to).collect(),
        });
        Parts {
            params: body.params.clone(),
            loops: loops.collect(),
            captures: body.captures.clone(),
            results: body.results.iter().map(to).collect(),
            terms: self.out,
            ..Parts::default()
        }
    }

    fn term(&mut self, data: &TermData) -> TermId {
        let to = |t: &TermId| self.to[t.index()];
        let term = match &data.term {
            Term::Op(op, args) => {
                let args: Args = args.iter().map(to).collect();
                let traps = |t: TermId| self.traps[t.index()];
                match simpler(&self.out, traps, *op, &args, data.ty) {
                    Simpler::Is(t) => return t,
                    Simpler::Constant(c) => Term::Lit(c),
                    Simpler::Op(op, parts) => {
                        let part = |part| match part {
                            SumPart::Of(t) => t,
                            SumPart::Is(c) => {
                                self.add(Term::Lit(c), &TermData { ty: c.ty, ..*data })
                            }
                        };
                        Term::Op(op, parts.into_iter().map(part).collect())
                    }
                    Simpler::No => Term::Op(*op, args),
                }
            }
            Term::Cond(c, a, b) => {
                let (c, a, b) = (to(c), to(a), to(b));
                match lit(&self.out, c) {
                    Some(known) => return if known.bits != 0 { a } else { b },
                    None if a == b && !self.traps[c.index()] => return a,
                    None => Term::Cond(c, a, b),
                }
            }
            Term::Assert(assert, args) => {
                let args: Args = args.iter().map(to).collect();
                if always_holds(*assert, &args) {
                    return args[0];
                }
                Term::Assert(*assert, args)
            }
            other => other.renamed(|t| to(&t)),
        };
        self.add(term, data)
    }

    /// Adds a term with the type and location of `data`, or finds an equal one.
    fn add(&mut self, term: Term, data: &TermData) -> TermId {
        let key = (term, data.ty);
        if let Some(id) = self.known.get(&key) {
            return *id;
        }
        let id = TermId(self.out.len() as u32);
        let traps = may_fail(&key.0, data.ty, |t| self.traps[t.index()]);
        self.traps.push(traps);
        self.out.push(TermData {
            term: key.0,
            ..*data
        });
        self.known.insert(key, id);
        id
    }
}

/// Whether a term may fail. A delayed scalar may fail elsewhere, and is not demanded if its term is
/// removed.
fn may_fail(term: &Term, ty: Ty, operand: impl Fn(TermId) -> bool) -> bool {
    matches!(term, Term::Scalar { .. }) || may_trap(term, ty, operand)
}

/// Whether a check always holds because its operands are equal.
fn always_holds(assert: Assert, args: &[TermId]) -> bool {
    let equal = args.windows(2).all(|pair| pair[0] == pair[1]);
    let strict = matches!(assert, Assert::Below | Assert::Nonempty);
    equal && !strict && !matches!(assert, Assert::Adds | Assert::Multiplies)
}

enum Simpler {
    Is(TermId),
    Constant(Const),
    /// An operator on two parts.
    Op(Op, [SumPart<TermId>; 2]),
    No,
}

/// The constant value of a term.
fn lit(terms: &[TermData], t: TermId) -> Option<Const> {
    match terms[t.index()].term {
        Term::Lit(c) => Some(c),
        _ => None,
    }
}

/// Finds a replacement for an operator on these terms, some of which may trap.
fn simpler(
    terms: &[TermData],
    traps: impl Fn(TermId) -> bool,
    op: Op,
    args: &[TermId],
    ty: Ty,
) -> Simpler {
    let lit = |t: TermId| lit(terms, t);
    if args.iter().all(|a| lit(*a).is_some())
        && let Some(c) = fold(op, args.iter().filter_map(|a| lit(*a)).collect(), ty)
    {
        return Simpler::Constant(c);
    }
    match args {
        [x] => unary(&terms[x.index()], op, *x, ty),
        [x, y] if x == y => of_equals(op, *x, terms[x.index()].ty, traps),
        [x, y] if absorbs(op, [lit(*x), lit(*y)], ty) && !traps(*x) && !traps(*y) => {
            Simpler::Constant(Const::zero(ty))
        }
        [x, y] => match identity(op, *x, lit(*x), *y, lit(*y)) {
            Simpler::No => match joined(terms, &traps, op, [*x, *y], ty) {
                Simpler::No => collected(terms, traps, op, [*x, *y], ty),
                simpler => simpler,
            },
            simpler => simpler,
        },
        [c, a, b] if op == Op::Select => match lit(*c) {
            Some(known) if known.bits != 0 && !traps(*b) => Simpler::Is(*a),
            Some(known) if known.bits == 0 && !traps(*a) => Simpler::Is(*b),
            None if a == b && !traps(*c) => Simpler::Is(*a),
            _ => Simpler::No,
        },
        _ => Simpler::No,
    }
}

fn unary(data: &TermData, op: Op, x: TermId, ty: Ty) -> Simpler {
    match (&data.term, op) {
        (_, Op::Copy) => Simpler::Is(x),
        (_, Op::Cast) if data.ty == ty => Simpler::Is(x),
        (Term::Op(inner, args), Op::Not | Op::Neg) if *inner == op => Simpler::Is(args[0]),
        _ => Simpler::No,
    }
}

/// Simplifies `x op x` to `x` or to a constant. A constant must not hide a trap. Floats may be NaN.
fn of_equals(op: Op, x: TermId, ty: Ty, traps: impl Fn(TermId) -> bool) -> Simpler {
    match op {
        _ if ty.is_float() => Simpler::No,
        _ if op.is_idempotent() => Simpler::Is(x),
        _ if traps(x) => Simpler::No,
        Op::Sub | Op::Xor => Simpler::Constant(Const::zero(ty)),
        Op::Eq | Op::Le | Op::Ge => Simpler::Constant(Const::bool(true)),
        Op::Ne | Op::Lt | Op::Gt => Simpler::Constant(Const::bool(false)),
        _ => Simpler::No,
    }
}

/// Folds an operator on constants. None where Rust would panic, or where a negative number would
/// lose its sign.
fn fold(op: Op, args: SmallVec<[Const; 3]>, ty: Ty) -> Option<Const> {
    let from = args[if op == Op::Select { 1 } else { 0 }].ty;
    let words: SmallVec<[u64; 3]> = args.iter().map(|c| c.bits).collect();
    if op.may_trap(from) && eval(Op::DivOk, from, Ty::Bool, &words) == 0 {
        return None;
    }
    // A negative index must stay visible in the bounds error.
    if op == Op::Cast && ty == Ty::U64 && args[0].integer().is_some_and(|n| n < 0) {
        return None;
    }
    Some(Const::new(ty, eval(op, from, ty, &words)))
}

/// Simplifies `x op y` if one side is an identity.
fn identity(op: Op, x: TermId, x_lit: Option<Const>, y: TermId, y_lit: Option<Const>) -> Simpler {
    if y_lit.is_some_and(|c| is_right_identity(op, c)) {
        return Simpler::Is(x);
    }
    if op.commutes() && x_lit.is_some_and(|c| is_right_identity(op, c)) {
        return Simpler::Is(y);
    }
    Simpler::No
}

/// Rewrites `(x op c) op d` to `x op (c op d)`, with the constants on any side. The operator must
/// associate, which excludes floats, since they round. Gives `x` alone if the constants cancel, and
/// a constant if they absorb an `x` that cannot trap.
fn joined(
    terms: &[TermData],
    traps: impl Fn(TermId) -> bool,
    op: Op,
    args: [TermId; 2],
    ty: Ty,
) -> Simpler {
    let [x, y] = match (lit(terms, args[0]), lit(terms, args[1])) {
        (None, Some(_)) => args,
        (Some(_), None) => [args[1], args[0]],
        _ => return Simpler::No,
    };
    let (inner, last) = (&terms[x.index()], lit(terms, y));
    let (Term::Op(first, of), Some(last)) = (&inner.term, last) else {
        return Simpler::No;
    };
    if *first != op || !op.joins_in_any_order(ty) || inner.ty != ty || last.ty != ty {
        return Simpler::No;
    }
    let (x, c) = match of.as_slice() {
        [x, c] if lit(terms, *c).is_some() => (*x, lit(terms, *c)),
        [c, x] => (*x, lit(terms, *c)),
        _ => return Simpler::No,
    };
    let both = c.and_then(|c| fold(op, [c, last].into_iter().collect(), ty));
    match both {
        Some(both) if is_right_identity(op, both) => Simpler::Is(x),
        Some(both) if absorbs(op, [None, Some(both)], ty) && !traps(x) => {
            Simpler::Constant(Const::zero(ty))
        }
        Some(both) => Simpler::Op(op, [SumPart::Of(x), SumPart::Is(both)]),
        None => Simpler::No,
    }
}

/// Collects a sum of integers. An operand that cancels must not hide a trap.
fn collected(
    terms: &[TermData],
    traps: impl Fn(TermId) -> bool,
    op: Op,
    args: [TermId; 2],
    ty: Ty,
) -> Simpler {
    match collect(op, ty, args, |t| view(terms, t), |t| !traps(t)) {
        Some(Sum::One(SumPart::Of(t))) => Simpler::Is(t),
        Some(Sum::One(SumPart::Is(c))) => Simpler::Constant(c),
        Some(Sum::Two(op, a, b)) => Simpler::Op(op, [a, b]),
        None => Simpler::No,
    }
}

/// A term as an operand of a sum.
pub(super) fn view(terms: &[TermData], t: TermId) -> SumView<TermId> {
    match &terms[t.index()].term {
        Term::Lit(c) => SumView::Constant(*c),
        Term::Op(op, args) => match args.as_slice() {
            [x] => SumView::One(*op, *x),
            [x, y] => SumView::Two(*op, *x, *y),
            _ => SumView::Other,
        },
        _ => SumView::Other,
    }
}

/// Whether a constant operand makes the result zero, or `false`. Floats may be NaN.
fn absorbs(op: Op, args: [Option<Const>; 2], ty: Ty) -> bool {
    let has_zero = || args.contains(&Some(Const::zero(ty)));
    matches!(op, Op::Mul | Op::And) && !ty.is_float() && has_zero()
}

fn is_right_identity(op: Op, c: Const) -> bool {
    op.right_identity(c.ty) == Some(c)
}

/// Removes the terms and captures that no result needs. Dead state of live loops is kept.
fn prune(body: Parts) -> Parts {
    let live = body.live_terms(body.results.iter().copied());
    let params = body.params.len();
    if live.iter().skip(params).all(|l| *l) {
        return body;
    }
    let mut to = vec![TermId::default(); body.terms.len()];
    let mut terms = Vec::new();
    let mut capture_to: FxHashMap<u32, u32> = FxHashMap::default();
    let mut captures: Vec<Capture> = Vec::new();
    let mut keep_capture = |old: u32| {
        *capture_to.entry(old).or_insert_with(|| {
            captures.push(body.captures[old as usize].clone());
            captures.len() as u32 - 1
        })
    };
    let keep_loop: Vec<bool> = kept_loops(&body, &live);
    for (i, data) in body.terms.iter().enumerate() {
        let in_kept_loop = matches!(data.term, Term::LoopVar(l, _) if keep_loop[l as usize]);
        if i >= params && !live[i] && !in_kept_loop {
            continue;
        }
        to[i] = TermId(terms.len() as u32);
        let at = |t: &TermId| to[t.index()];
        let mut term = data.term.renamed(|t| at(&t));
        if let Term::Scalar { capture, .. } | Term::At { capture, .. } = &mut term {
            *capture = keep_capture(*capture);
        }
        terms.push(TermData { term, ..*data });
    }
    let at = |t: &TermId| to[t.index()];
    let loops = body
        .loops
        .iter()
        .zip(&keep_loop)
        .map(|(l, keep)| match keep {
            true => ScalarLoop {
                types: l.types.clone(),
                start: l.start.iter().map(at).collect(),
                test: at(&l.test),
                next: l.next.iter().map(at).collect(),
            },
            false => ScalarLoop::default(),
        });
    let loops = loops.collect();
    let results = body.results.iter().map(at).collect();
    Parts {
        params: body.params,
        terms,
        loops,
        captures,
        results,
        ..Parts::default()
    }
}

fn kept_loops(body: &Parts, live: &[bool]) -> Vec<bool> {
    let mut keep = vec![false; body.loops.len()];
    for (data, live) in body.terms.iter().zip(live) {
        if let (Term::LoopResult(l, _), true) = (&data.term, live) {
            keep[*l as usize] = true;
        }
    }
    keep
}
