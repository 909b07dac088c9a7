//! Random well-typed scalar bodies over every operator.

use super::{Body, ScalarLoop, Term};
use crate::rng::Rng;
use crate::scalar;
use loop_lang::op::{Op, Sig};
use loop_lang::types::{Const, Ty};

/// Lists the nodes that a body may capture.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Delayed scalars: step, types.
    pub scalars: Vec<(usize, Vec<Ty>)>,
    /// Arrays: step, types, length.
    pub arrays: Vec<(usize, Vec<Ty>, usize)>,
    /// Whether terms must not trap.
    pub pure: bool,
    /// Whether conditions may have arms that share a trapping term.
    pub shares: bool,
}

/// Builds a body.
pub struct Maker<'a> {
    rng: &'a mut Rng,
    scope: &'a Scope,
    body: Body,
    types: Vec<Ty>,
    /// Whether each term is in scope: variables of finished loops are not.
    usable: Vec<bool>,
}

/// Returns a random body with parameters and results of these types.
pub fn random(rng: &mut Rng, scope: &Scope, params: &[Ty], results: &[Ty]) -> Body {
    let mut m = Maker::new(rng, scope, params);
    let depth = 1 + m.rng.below(3);
    let results = results.iter().map(|t| m.expr(*t, depth)).collect();
    m.finish(results)
}

/// Returns a body of literals.
pub fn literals(values: &[Const]) -> Body {
    Body {
        terms: values.iter().map(|c| Term::Lit(*c)).collect(),
        results: (0..values.len()).collect(),
        ..Body::default()
    }
}

impl<'a> Maker<'a> {
    /// Creates a body with these parameters and no other terms.
    pub fn new(rng: &'a mut Rng, scope: &'a Scope, params: &[Ty]) -> Maker<'a> {
        let terms = (0..params.len() as u32).map(Term::Param).collect();
        let body = Body {
            params: params.to_vec(),
            terms,
            ..Body::default()
        };
        let (types, usable) = (params.to_vec(), vec![true; params.len()]);
        Maker {
            rng,
            scope,
            body,
            types,
            usable,
        }
    }

    /// Returns the body.
    pub fn finish(mut self, results: Vec<usize>) -> Body {
        self.body.results = results;
        self.body
    }

    /// Adds a term.
    pub fn push(&mut self, term: Term, ty: Ty) -> usize {
        self.body.terms.push(term);
        self.types.push(ty);
        self.usable.push(true);
        self.types.len() - 1
    }

    /// Returns the type of a term.
    pub fn ty(&self, term: usize) -> Ty {
        self.types[term]
    }

    /// Adds an operator.
    pub fn op(&mut self, op: Op, args: &[usize], ty: Ty) -> usize {
        self.push(Term::Op(op, args.to_vec()), ty)
    }

    /// Adds a literal.
    pub fn lit(&mut self, c: Const) -> usize {
        self.push(Term::Lit(c), c.ty)
    }

    fn random_lit(&mut self, ty: Ty) -> usize {
        let c = Const {
            ty,
            bits: scalar::random(self.rng, ty),
        };
        self.lit(c)
    }

    fn existing(&mut self, ty: Ty) -> Option<usize> {
        let fit: Vec<usize> = (0..self.types.len())
            .filter(|i| self.usable[*i] && self.types[*i] == ty)
            .collect();
        (!fit.is_empty()).then(|| self.rng.pick(&fit))
    }

    /// Adds an expression of a type.
    pub fn expr(&mut self, ty: Ty, depth: usize) -> usize {
        if depth == 0 || self.types.len() > 40 {
            if self.rng.chance(75)
                && let Some(t) = self.existing(ty)
            {
                return t;
            }
            if self.rng.chance(40) {
                let from = self.rng.pick(&Ty::ALL);
                if let Some(t) = self.existing(from).filter(|_| from != ty) {
                    return self.push(Term::Cast(t, ty), ty);
                }
            }
            return self.random_lit(ty);
        }
        let sharing = 12 * usize::from(self.scope.shares && !self.scope.pure);
        match self.rng.weighted(&[60, 8, 10, 6, 8, 8, sharing]) {
            1 => self.cond(ty, depth),
            6 => self.sharing_conds(ty, depth),
            2 => self.capture(ty, depth),
            3 => self.scalar_loop(ty, depth),
            4 => {
                let from = self.rng.pick(&Ty::ALL);
                let x = self.expr(from, depth - 1);
                if from == ty {
                    x
                } else {
                    self.push(Term::Cast(x, ty), ty)
                }
            }
            5 => self.expr(ty, 0),
            _ => self.operator(ty, depth),
        }
    }

    fn operator(&mut self, ty: Ty, depth: usize) -> usize {
        let fits = |op: &&Op| match op.sig() {
            Sig::Num2 | Sig::Num1 => ty.is_num(),
            Sig::Int2 | Sig::Int1 => ty.is_int(),
            Sig::Bits2 | Sig::Bits1 => !ty.is_float(),
            Sig::Float1 | Sig::Float2 | Sig::Float3 | Sig::FloatInt => ty.is_float(),
            Sig::Cmp | Sig::IntTest | Sig::FloatTest => ty == Ty::Bool,
            Sig::Select => true,
            Sig::Any1 | Sig::Cast => false,
            Sig::Bitcast => matches!(ty, Ty::U32 | Ty::U64 | Ty::F32 | Ty::F64),
        };
        let ops: Vec<Op> = Op::ALL.iter().filter(fits).copied().collect();
        let op = self.rng.pick(&ops);
        let d = depth - 1;
        let args = match op.sig() {
            Sig::FloatInt => vec![self.expr(ty, d), self.expr(Ty::I32, d)],
            Sig::Cmp => {
                let t = self.rng.pick(&Ty::ALL);
                vec![self.expr(t, d), self.expr(t, d)]
            }
            Sig::IntTest => {
                let t = self.rng.pick(&Ty::ALL[1..9]);
                vec![self.expr(t, d), self.expr(t, d)]
            }
            Sig::FloatTest => {
                let t = self.rng.pick(&[Ty::F32, Ty::F64]);
                vec![self.number(t, d)]
            }
            Sig::Select => vec![self.expr(Ty::Bool, d), self.expr(ty, d), self.expr(ty, d)],
            Sig::Bitcast => {
                let from = match ty {
                    Ty::U32 => Ty::F32,
                    Ty::U64 => Ty::F64,
                    Ty::F32 => Ty::U32,
                    _ => Ty::U64,
                };
                let x = if from.is_float() {
                    self.number(from, d)
                } else {
                    self.expr(from, d)
                };
                return self.push(Term::Bitcast(x, ty), ty);
            }
            _ => (0..op.arity()).map(|_| self.expr(ty, d)).collect(),
        };
        self.finish_operator(op, args, ty)
    }

    fn finish_operator(&mut self, op: Op, mut args: Vec<usize>, ty: Ty) -> usize {
        if op == Op::Copysign {
            args[1] = self.no_nan(args[1]);
        }
        let divides = matches!(op, Op::Div | Op::Rem | Op::DivEuclid | Op::RemEuclid);
        if divides && ty.is_int() && (self.scope.pure || self.rng.chance(70)) {
            args[1] = self.safe_divisor(args[1], ty);
        }
        self.op(op, &args, ty)
    }

    /// A divisor that is neither 0 nor -1.
    fn safe_divisor(&mut self, x: usize, ty: Ty) -> usize {
        let mask = self.lit(Const::int(ty, 0x3e));
        let masked = self.op(Op::And, &[x, mask], ty);
        let one = self.lit(Const::int(ty, 1));
        self.op(Op::Or, &[masked, one], ty)
    }

    fn number(&mut self, ty: Ty, depth: usize) -> usize {
        let x = self.expr(ty, depth);
        self.no_nan(x)
    }

    /// Replaces NaN. Its sign and payload carry no meaning, so operators that inspect bits must not
    /// see it.
    fn no_nan(&mut self, x: usize) -> usize {
        let ty = self.types[x];
        let ok = self.op(Op::Eq, &[x, x], Ty::Bool);
        let one = self.lit(Const {
            ty,
            bits: scalar::float(ty, 1.0),
        });
        self.op(Op::Select, &[ok, x, one], ty)
    }

    fn cond(&mut self, ty: Ty, depth: usize) -> usize {
        let c = self.expr(Ty::Bool, depth - 1);
        let (x, y) = (self.expr(ty, depth - 1), self.expr(ty, depth - 1));
        self.push(Term::Cond(c, x, y), ty)
    }

    /// Two conditions with arms that share a trapping term. The second test may depend on the first
    /// condition.
    fn sharing_conds(&mut self, ty: Ty, depth: usize) -> usize {
        let d = depth - 1;
        let divided = if ty.is_int() { ty } else { Ty::I64 };
        let args = vec![self.expr(divided, d), self.expr(divided, d)];
        let quotient = self.finish_operator(Op::Div, args, divided);
        let shared = match divided == ty {
            true => quotient,
            false => self.push(Term::Cast(quotient, ty), ty),
        };
        let (c, x) = (self.expr(Ty::Bool, 0), self.expr(ty, 0));
        let first = self.push(Term::Cond(c, shared, x), ty);
        let c = match self.rng.chance(25) {
            true => self.op(Op::Eq, &[first, x], Ty::Bool),
            false => self.expr(Ty::Bool, 0),
        };
        let other = self.rng.pick(&[shared, first, x]);
        let arms = self.rng.pick(&[[shared, other], [other, shared]]);
        let second = self.push(Term::Cond(c, arms[0], arms[1]), ty);
        let c = self.expr(Ty::Bool, 0);
        self.op(Op::Select, &[c, first, second], ty)
    }

    fn capture(&mut self, ty: Ty, depth: usize) -> usize {
        let scope = self.scope;
        let field = |types: &[Ty]| types.iter().position(|t| *t == ty);
        let scalars: Vec<(usize, usize)> = scope
            .scalars
            .iter()
            .filter_map(|(s, t)| Some((*s, field(t)?)))
            .collect();
        let arrays: Vec<(usize, usize, usize)> = scope
            .arrays
            .iter()
            .filter_map(|(s, t, n)| Some((*s, field(t)?, *n)))
            .collect();
        if !scalars.is_empty() && (arrays.is_empty() || self.rng.chance(50)) {
            let (s, f) = self.rng.pick(&scalars);
            return self.push(Term::Scalar(s, f as u32), ty);
        }
        if arrays.is_empty() {
            return self.expr(ty, depth - 1);
        }
        let (s, f, n) = self.rng.pick(&arrays);
        self.at(s, f as u32, ty, n, depth)
    }

    /// Adds a read of an array at a random index, mostly in bounds.
    pub fn at(&mut self, step: usize, field: u32, ty: Ty, len: usize, depth: usize) -> usize {
        let x = self.expr(Ty::U64, depth - 1);
        let inside = len > 0 && self.rng.chance(85);
        let index = if inside {
            let n = self.lit(Const::u64(len as u64));
            self.op(Op::Rem, &[x, n], Ty::U64)
        } else {
            x
        };
        let checked = !self.scope.pure && self.rng.chance(if inside { 60 } else { 40 });
        self.push(Term::At(step, field, index, checked), ty)
    }

    /// A few iterations over a random state, bounded by a counter.
    fn scalar_loop(&mut self, ty: Ty, depth: usize) -> usize {
        let zero = self.lit(Const::u64(0));
        let mut types = vec![Ty::U64, ty];
        let mut start = vec![zero, self.expr(ty, depth - 1)];
        if self.rng.chance(30) {
            let other = self.rng.pick(&Ty::ALL);
            types.push(other);
            start.push(self.expr(other, depth - 1));
        }
        let most = Const::u64(self.rng.below(5) as u64);
        let most = self.lit(most);
        let l = self.body.loops.len();
        self.body.loops.push(ScalarLoop {
            start,
            ..ScalarLoop::default()
        });
        let outside = self.types.len();
        let vars: Vec<usize> = (0..types.len())
            .map(|k| self.push(Term::LoopVar(l, k), types[k]))
            .collect();
        let mut test = self.op(Op::Lt, &[vars[0], most], Ty::Bool);
        if self.rng.chance(30) {
            let also = self.expr(Ty::Bool, depth - 1);
            test = self.op(Op::And, &[test, also], Ty::Bool);
        }
        let one = self.lit(Const::u64(1));
        let mut next = vec![self.op(Op::Add, &[vars[0], one], Ty::U64)];
        next.extend(
            types[1..]
                .iter()
                .map(|t| self.expr(*t, depth - 1))
                .collect::<Vec<_>>(),
        );
        (self.body.loops[l].test, self.body.loops[l].next) = (test, next);
        self.usable[outside..].fill(false);
        let results: Vec<usize> = (0..types.len())
            .map(|k| self.push(Term::LoopResult(l, k), types[k]))
            .collect();
        results[1]
    }
}
