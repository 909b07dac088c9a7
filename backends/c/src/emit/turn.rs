//! One turn of a scalar loop that runs for several elements: both arms of each condition computed, what is the
//! same for all of the elements apart from the rest.

use super::unit::Unit;
use crate::facts;
use loop_lang::ir::{Atom, Stmt, StmtKind, Var};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashSet;

/// One thing that is computed.
pub(super) enum Step<'s> {
    /// As a statement without regions says.
    Plain(&'s Stmt),
    /// One of two values that both are there.
    Pick(Var, Atom, [Atom; 2]),
}

/// A variable of a scalar loop, where it starts, and its next value.
pub(super) type State = (Var, Atom, Atom);

/// What a scalar loop computes in a turn.
pub(super) struct Turn<'s> {
    /// Its state: where it starts, what it is next.
    pub states: Vec<State>,
    pub test: Vec<Step<'s>>,
    pub body: Vec<Step<'s>>,
    /// Variables of the loop that may be another for each element.
    pub varies: FxHashSet<Var>,
    /// What must hold, all of it, for another turn, and whether it may be another for each element.
    conditions: Vec<(Atom, bool)>,
}

impl<'s> Turn<'s> {
    /// The turn of a scalar loop; `moves` says whether a variable from outside is another for each element.
    pub(super) fn of(s: &'s Stmt, moves: impl Fn(Var) -> bool) -> Option<Turn<'s>> {
        let StmtKind::While {
            state,
            test,
            cond,
            body,
            next,
        } = &s.kind
        else {
            return None;
        };
        let states = state.iter().zip(next).map(|((v, a), b)| (*v, *a, *b));
        let mut turn = Turn {
            states: states.collect(),
            test: Vec::new(),
            body: Vec::new(),
            varies: FxHashSet::default(),
            conditions: Vec::new(),
        };
        flatten(test, &mut turn.test);
        flatten(body, &mut turn.body);
        let moves = |varies: &FxHashSet<Var>, a: &Atom| match a {
            Atom::Const(_) => false,
            Atom::Var(v) => varies.contains(v) || moves(*v),
        };
        loop {
            let before = turn.varies.len();
            let varies = &mut turn.varies;
            for (v, start, next) in &turn.states {
                if moves(varies, start) || moves(varies, next) {
                    varies.insert(*v);
                }
            }
            for step in turn.test.iter().chain(&turn.body) {
                if step.uses().iter().any(|a| moves(varies, a)) {
                    varies.insert(step.defines());
                }
            }
            if varies.len() == before {
                break;
            }
        }
        let conditions = turn.conditions_of(*cond).into_iter();
        turn.conditions = conditions.map(|a| (a, moves(&turn.varies, &a))).collect();
        Some(turn)
    }

    /// A condition as conditions that must all hold.
    fn conditions_of(&self, cond: Atom) -> Vec<Atom> {
        let no = Atom::Const(Const::zero(Ty::Bool));
        let (mut open, mut found) = (vec![cond], Vec::new());
        while let Some(a) = open.pop() {
            let step = self.test.iter().find(|s| Atom::Var(s.defines()) == a);
            match step {
                Some(Step::Pick(_, c, [a, b])) if *b == no => open.extend([*a, *c]),
                Some(Step::Plain(Stmt {
                    kind: StmtKind::Let(_, Op::And, of),
                    ..
                })) => open.extend(of.iter().rev()),
                _ => found.push(a),
            }
        }
        found
    }

    /// Whether a step gives another value for each element.
    pub(super) fn step_varies(&self, step: &Step) -> bool {
        self.varies.contains(&step.defines())
    }

    /// States that may be another for each element.
    pub(super) fn varying_states(&self) -> impl Iterator<Item = &State> {
        self.states.iter().filter(|s| self.varies.contains(&s.0))
    }

    /// States that are the same for all elements.
    pub(super) fn common_states(&self) -> impl Iterator<Item = &State> {
        self.states.iter().filter(|s| !self.varies.contains(&s.0))
    }

    /// The conditions that vary, or those that do not, as one; none if there are none.
    pub(super) fn all_of(&self, unit: &mut Unit, varying: bool) -> Option<String> {
        let conditions = self.conditions.iter();
        let of = conditions.filter(|(_, varies)| *varies == varying);
        let of: Vec<String> = of.map(|(a, _)| unit.atom(*a)).collect();
        (!of.is_empty()).then(|| of.join(" & "))
    }
}

impl Step<'_> {
    fn defines(&self) -> Var {
        match self {
            Step::Pick(v, ..) => *v,
            Step::Plain(s) => {
                let mut defined = Var::new(0);
                facts::each_def(s, &mut |v| defined = v);
                defined
            }
        }
    }

    fn uses(&self) -> Vec<Atom> {
        match self {
            Step::Pick(_, c, [a, b]) => vec![*c, *a, *b],
            Step::Plain(s) => {
                let mut uses = Vec::new();
                facts::each_use(s, &mut |v| uses.push(Atom::Var(v)));
                uses
            }
        }
    }
}

/// Statements with both arms of each condition computed.
fn flatten<'s>(stmts: &'s [Stmt], into: &mut Vec<Step<'s>>) {
    for s in stmts {
        let StmtKind::If {
            cond,
            then,
            other,
            results,
        } = &s.kind
        else {
            into.push(Step::Plain(s));
            continue;
        };
        flatten(then, into);
        flatten(other, into);
        into.extend(
            results
                .iter()
                .map(|(v, a, b)| Step::Pick(*v, *cond, [*a, *b])),
        );
    }
}

impl Unit<'_> {
    /// Writes steps.
    pub(super) fn steps<'t, 's: 't>(&mut self, steps: impl Iterator<Item = &'t Step<'s>>) {
        for step in steps {
            let (v, cond, a, b) = match step {
                Step::Plain(s) => {
                    self.stmts(std::slice::from_ref(*s));
                    continue;
                }
                Step::Pick(v, cond, [a, b]) => (*v, *cond, *a, *b),
            };
            let (cond, a, b) = (self.atom(cond), self.atom(a), self.atom(b));
            let define = self.define(v);
            match facts::elem(self.program, v) {
                Ty::Bool => self.line(format!("{define} = ({cond} & {a}) | (({cond} ^ 1) & {b});")),
                _ => self.line(format!("{define} = {cond} ? {a} : {b};")),
            }
        }
    }
}
