//! One turn of a scalar loop that runs for several elements: both arms of each condition computed, what is the
//! same for all of the elements apart from the rest.

use livefusion_backend::facts;
use loop_lang::ir::{Atom, Stmt, StmtKind, Var};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashSet;

/// One thing that is computed.
pub enum Act<'s> {
    /// As a statement without regions says.
    Plain(&'s Stmt),
    /// One of two values that both are there.
    Pick(Var, Atom, [Atom; 2]),
}

/// A variable of a scalar loop, where it starts, and its next value.
pub type State = (Var, Atom, Atom);

/// What a scalar loop computes in a turn.
pub struct Turn<'s> {
    /// Its state: where it starts, what it is next.
    pub states: Vec<State>,
    /// What the test computes.
    pub test: Vec<Act<'s>>,
    /// What the body computes.
    pub body: Vec<Act<'s>>,
    /// Variables of the loop that may be another for each element.
    pub varies: FxHashSet<Var>,
    /// What must hold, all of it, for another turn, and whether it may be another for each element.
    conditions: Vec<(Atom, bool)>,
}

impl<'s> Turn<'s> {
    /// The turn of a scalar loop; `moves` says whether a variable from outside is another for each element.
    pub fn of(s: &'s Stmt, moves: impl Fn(Var) -> bool) -> Option<Turn<'s>> {
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
            for act in turn.test.iter().chain(&turn.body) {
                if act.uses().iter().any(|a| moves(varies, a)) {
                    varies.insert(act.defines());
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
            let act = self.test.iter().find(|s| Atom::Var(s.defines()) == a);
            match act {
                Some(Act::Pick(_, c, [a, b])) if *b == no => open.extend([*a, *c]),
                Some(Act::Plain(Stmt {
                    kind: StmtKind::Let(_, Op::And, of),
                    ..
                })) => open.extend(of.iter().rev()),
                _ => found.push(a),
            }
        }
        found
    }

    /// Whether an act gives another value for each element.
    pub fn act_varies(&self, act: &Act) -> bool {
        self.varies.contains(&act.defines())
    }

    /// States that may be another for each element.
    pub fn varying_states(&self) -> impl Iterator<Item = &State> {
        self.states.iter().filter(|s| self.varies.contains(&s.0))
    }

    /// States that are the same for all elements.
    pub fn common_states(&self) -> impl Iterator<Item = &State> {
        self.states.iter().filter(|s| !self.varies.contains(&s.0))
    }

    /// The conditions that may be another for each element, or those that are not.
    pub fn conditions(&self, varying: bool) -> impl Iterator<Item = Atom> {
        let of = self.conditions.iter().filter(move |c| c.1 == varying);
        of.map(|c| c.0)
    }
}

impl Act<'_> {
    fn defines(&self) -> Var {
        match self {
            Act::Pick(v, ..) => *v,
            Act::Plain(s) => {
                let mut defined = Var::new(0);
                facts::each_def(s, &mut |v| defined = v);
                defined
            }
        }
    }

    fn uses(&self) -> Vec<Atom> {
        match self {
            Act::Pick(_, c, [a, b]) => vec![*c, *a, *b],
            Act::Plain(s) => {
                let mut uses = Vec::new();
                facts::each_use(s, &mut |v| uses.push(Atom::Var(v)));
                uses
            }
        }
    }
}

/// Statements with both arms of each condition computed.
fn flatten<'s>(stmts: &'s [Stmt], into: &mut Vec<Act<'s>>) {
    for s in stmts {
        let StmtKind::If {
            cond,
            then,
            other,
            results,
        } = &s.kind
        else {
            into.push(Act::Plain(s));
            continue;
        };
        flatten(then, into);
        flatten(other, into);
        into.extend(
            results
                .iter()
                .map(|(v, a, b)| Act::Pick(*v, *cond, [*a, *b])),
        );
    }
}
