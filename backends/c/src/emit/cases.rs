//! Cases of a straight loop: comparisons with the counter that do not change over a range.
//!
//! `append` asks whether its index is below a length, `windows` keeps indices within an array. Over a
//! range of the counter on which these answers stay what they are, the body is plain: what it reads
//! is at a fixed distance from the counter, and compilers vectorise it. So a plan gets a version for each
//! combination of answers, or, where these are many, one for the middle of a long loop beside the
//! general form. The caller ends the range where an answer changes.

use super::plan::Plan;
use super::unit::Unit;
use loop_lang::Loop;
use loop_lang::ir::{Atom, Stmt, StmtKind, Type, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use rustc_hash::{FxHashMap, FxHashSet};

/// More versions than this of one loop are not written.
const MAX_CASES: usize = 4;
/// Values of more operators than this are not followed.
const MAX_SIZE: usize = 32;
/// Comparisons in one case.
const MAX_TESTS: usize = 64;

/// How a value goes with the counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    /// Not at all.
    Fixed,
    /// Up by one in each iteration.
    Up,
    /// Down by one.
    Down,
}

/// How a value at a fixed distance is computed from others.
#[derive(Clone, Copy, Debug)]
enum Def {
    Sum(Atom, Atom),
    Difference(Atom, Atom),
    Same(Atom),
}

/// Whether `moving < edge` (`<=` if `inclusive`), where one goes with the counter and one is fixed.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    moving: Atom,
    down: bool,
    edge: Atom,
    inclusive: bool,
    /// The answer in this case.
    holds: bool,
}

impl Test {
    fn asks_same(&self, other: &Test) -> bool {
        let key = |t: &Test| (t.moving, t.edge, t.inclusive);
        key(self) == key(other)
    }
}

/// A read that cannot miss in a case.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    array: Var,
    index: Atom,
    down: bool,
}

/// One combination of answers, and what follows from it.
#[derive(Clone, Default)]
pub struct Case {
    /// The answers.
    pub tests: Vec<Test>,
    /// Reads that the caller makes sure of.
    pub rooms: Vec<Room>,
    /// Conditions whose value is known.
    pub known: FxHashMap<Var, bool>,
    /// Minima and maxima that are one of their operands.
    pub same: FxHashMap<Var, Atom>,
    /// Variables at a fixed distance from the counter, and fixed ones.
    pub near: FxHashSet<Var>,
    /// Definitions, and of how many operators each is made.
    defs: FxHashMap<Var, (Def, usize)>,
}

/// A body that is looked at under answers given in order; none are left at `undecided`.
struct Walk<'p> {
    program: &'p Loop,
    counter: Var,
    bound: Atom,
    /// What the body neither defines nor updates.
    outside: &'p dyn Fn(Var) -> bool,
    owner: &'p dyn Fn(Var) -> Var,
    answers: &'p [bool],
    shapes: FxHashMap<Var, Shape>,
    case: Case,
    undecided: Option<Test>,
}

/// The versions of a plan, the general form last if they do not cover everything.
pub fn cases(
    program: &Loop,
    plan: Plan,
    blocks: &[&[Stmt]],
    outside: &dyn Fn(Var) -> bool,
    owner: &dyn Fn(Var) -> Var,
) -> Vec<Plan> {
    let walk = |answers: &[bool]| -> Result<Case, Test> {
        let mut walk = Walk {
            program,
            counter: plan.counter,
            bound: plan.bound,
            outside,
            owner,
            answers,
            shapes: FxHashMap::from_iter([(plan.counter, Shape::Up)]),
            case: Case::default(),
            undecided: None,
        };
        for stmts in blocks {
            walk.stmts(stmts, true);
        }
        match walk.undecided {
            Some(test) => Err(test),
            None => Ok(walk.case),
        }
    };
    let mut found = Vec::new();
    let mut open = vec![Vec::new()];
    while let Some(answers) = open.pop() {
        match walk(&answers) {
            Ok(case) => found.push(case),
            Err(_) => {
                for answer in [false, true] {
                    open.push(answers.iter().copied().chain([answer]).collect());
                }
            }
        }
        if found.len() + open.len() > MAX_CASES {
            return middle(&plan, walk);
        }
    }
    found.into_iter().map(|case| plan.in_case(case)).collect()
}

/// The version for the middle of a long loop, and the general form, which stops before it.
fn middle(plan: &Plan, walk: impl Fn(&[bool]) -> Result<Case, Test>) -> Vec<Plan> {
    let mut answers = Vec::new();
    while answers.len() <= MAX_TESTS {
        match walk(&answers) {
            Ok(case) => {
                let mut general = plan.clone();
                general.stops.clone_from(&case.tests);
                general.case.defs.clone_from(&case.defs);
                return vec![plan.in_case(case), general];
            }
            // The counter is beyond what is asked near the beginning, and well before the end.
            Err(test) => answers.push(!test.down && test.moving != Atom::Var(plan.counter)),
        }
    }
    vec![plan.clone()]
}

impl Walk<'_> {
    fn shape(&self, a: Atom) -> Option<Shape> {
        match a {
            Atom::Const(_) => Some(Shape::Fixed),
            Atom::Var(v) => match self.shapes.get(&v) {
                Some(shape) => Some(*shape),
                None => ((self.outside)(v) && self.is_word(v)).then_some(Shape::Fixed),
            },
        }
    }

    fn is_word(&self, v: Var) -> bool {
        self.program.ty(v) == Type::Scalar(Ty::U64)
    }

    fn known(&self, a: Atom) -> Option<bool> {
        match a {
            // A word has no truth value: `not` and `and` of words are of their bits.
            Atom::Const(c) => (c.ty == Ty::Bool).then_some(c.bits != 0),
            Atom::Var(v) => self.case.known.get(&v).copied(),
        }
    }

    /// Statements that run in each iteration, or under conditions that are not `sure`.
    fn stmts(&mut self, stmts: &[Stmt], sure: bool) {
        let mut work: Vec<(&[Stmt], bool)> = vec![(stmts, sure)];
        while let Some((stmts, sure)) = work.pop() {
            let Some((s, rest)) = stmts.split_first() else {
                continue;
            };
            if self.undecided.is_some() {
                return;
            }
            work.push((rest, sure));
            match &s.kind {
                StmtKind::Let(v, op, args) => self.let_op(*v, *op, args),
                StmtKind::ReadArray(_, a, Atom::Var(i)) if sure => self.read(*a, *i),
                StmtKind::If {
                    cond, then, other, ..
                } => match self.known(*cond) {
                    Some(true) => work.push((then, sure)),
                    Some(false) => work.push((other, sure)),
                    None => work.extend([(&other[..], false), (&then[..], false)]),
                },
                _ => {}
            }
        }
    }

    fn let_op(&mut self, v: Var, op: Op, args: &[Atom]) {
        use Shape::{Down, Fixed, Up};
        match (op, args) {
            (Op::Not, [a]) if self.known(*a).is_some() => {
                let value = self.known(*a).map(|x| !x);
                self.case.known.extend(value.map(|x| (v, x)));
            }
            (Op::And | Op::Or, [a, b]) if self.program.ty(v) == Type::Scalar(Ty::Bool) => {
                let decides = op == Op::Or;
                let value = match (self.known(*a), self.known(*b)) {
                    (Some(x), _) | (_, Some(x)) if x == decides => Some(decides),
                    (Some(_), Some(_)) => Some(!decides),
                    _ => None,
                };
                self.case.known.extend(value.map(|x| (v, x)));
            }
            (Op::Select, [c, a, b]) if self.is_word(v) => {
                let taken = self.known(*c).map(|c| if c { *a } else { *b });
                if let Some((a, shape)) = taken.and_then(|a| Some((a, self.shape(a)?))) {
                    self.set(v, shape, Def::Same(a));
                }
            }
            (_, [a, b]) => {
                let (Some(x), Some(y)) = (self.shape(*a), self.shape(*b)) else {
                    return;
                };
                match (op, x, y) {
                    (Op::Add, s, Fixed) | (Op::Add, Fixed, s) => {
                        self.set(v, s, Def::Sum(*a, *b));
                    }
                    (Op::Sub, s, Fixed) => self.set(v, s, Def::Difference(*a, *b)),
                    (Op::Sub, Fixed, Up) => self.set(v, Down, Def::Difference(*a, *b)),
                    (Op::Sub, Fixed, Down) => self.set(v, Up, Def::Difference(*a, *b)),
                    (Op::Sub, x, y) if x == y => self.set(v, Fixed, Def::Difference(*a, *b)),
                    (Op::Min | Op::Max, ..) if (x == Fixed) != (y == Fixed) => {
                        if let Some(less) = self.compare(Op::Lt, *a, *b, x) {
                            let one = if less == (op == Op::Min) { *a } else { *b };
                            let shape = if one == *a { x } else { y };
                            self.set(v, shape, Def::Same(one));
                            self.case.same.insert(v, one);
                        }
                    }
                    (Op::Lt | Op::Le | Op::Gt | Op::Ge, ..) if (x == Fixed) != (y == Fixed) => {
                        if let Some(answer) = self.compare(op, *a, *b, x) {
                            self.case.known.insert(v, answer);
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn set(&mut self, v: Var, shape: Shape, def: Def) {
        let size = |a: Atom| match a {
            Atom::Var(v) => self.case.defs.get(&v).map_or(0, |d| d.1),
            Atom::Const(_) => 0,
        };
        let size = match def {
            Def::Sum(a, b) | Def::Difference(a, b) => 1 + size(a) + size(b),
            Def::Same(a) => size(a),
        };
        if self.is_word(v) && size <= MAX_SIZE {
            self.shapes.insert(v, shape);
            self.case.near.insert(v);
            self.case.defs.insert(v, (def, size));
        }
    }

    /// The answer to a comparison; `x` is the shape of `a`, and one of the two is fixed.
    fn compare(&mut self, op: Op, a: Atom, b: Atom, x: Shape) -> Option<bool> {
        let (moving, edge, mirrored) = match x {
            Shape::Fixed => (b, a, true),
            Shape::Up | Shape::Down => (a, b, false),
        };
        // Everything is said by `<` and `<=` of what moves.
        let (inclusive, negated) = match (op, mirrored) {
            (Op::Lt, false) => (false, false),
            (Op::Le, false) => (true, false),
            (Op::Gt, false) => (true, true),
            (Op::Ge, false) => (false, true),
            (Op::Gt, true) => (false, false),
            (Op::Ge, true) => (true, false),
            (Op::Lt, true) => (true, true),
            _ => (false, true),
        };
        if moving == Atom::Var(self.counter) && edge == self.bound && !inclusive {
            return Some(!negated);
        }
        let mut test = Test {
            moving,
            down: self.shape(moving)? == Shape::Down,
            edge,
            inclusive,
            holds: false,
        };
        let asked = self.case.tests.iter().find(|t| t.asks_same(&test));
        let holds = match (asked, self.answers.get(self.case.tests.len())) {
            (Some(asked), _) => asked.holds,
            (None, Some(answer)) => {
                test.holds = *answer;
                self.case.tests.push(test);
                *answer
            }
            (None, None) => {
                self.undecided = Some(test);
                return None;
            }
        };
        Some(holds != negated)
    }

    fn read(&mut self, array: Var, index: Var) {
        let Some(shape @ (Shape::Up | Shape::Down)) = self.shape(Atom::Var(index)) else {
            return;
        };
        self.case.rooms.push(Room {
            array: (self.owner)(array),
            index: Atom::Var(index),
            down: shape == Shape::Down,
        });
    }
}

impl Plan {
    fn in_case(&self, case: Case) -> Plan {
        let mut plan = self.clone();
        for room in &case.rooms {
            if let Atom::Var(i) = room.index {
                plan.proven.insert((room.array, i));
            }
        }
        plan.case = case;
        plan
    }

    /// What must be so before the loop is entered in this case, as a C condition.
    pub(super) fn condition(&self, unit: &mut Unit) -> String {
        let mut all = String::new();
        for test in self.case.tests.clone() {
            let (moving, edge) = (self.value(unit, test.moving), self.value(unit, test.edge));
            let sign = match (test.inclusive, test.holds) {
                (false, true) => "<",
                (true, true) => "<=",
                (false, false) => ">=",
                (true, false) => ">",
            };
            all.push_str(&format!(" && {moving} {sign} {edge}"));
        }
        all
    }

    /// How many iterations the case lasts, as C expressions of which the least counts.
    pub(super) fn lasts(&self, unit: &mut Unit) -> Vec<String> {
        let mut all = Vec::new();
        for test in self.case.tests.iter().chain(&self.stops) {
            let (moving, edge) = (self.value(unit, test.moving), self.value(unit, test.edge));
            let edge = match test.inclusive {
                true => format!("{edge} + 1"),
                false => edge,
            };
            let way = if test.down { "down" } else { "up" };
            all.push(format!("lf_same_{way}({moving}, {edge})"));
        }
        let mut seen = FxHashSet::default();
        for room in &self.case.rooms {
            // What is read at the counter is proven like what is written there.
            if room.index == Atom::Var(self.counter) {
                continue;
            }
            let (length, index) = (unit.length(room.array), self.value(unit, room.index));
            let text = match room.down {
                true => format!("{index} < {length} ? {index} + 1 : 0"),
                false => format!("lf_room({length}, {index})"),
            };
            if seen.insert(text.clone()) {
                all.push(text);
            }
        }
        all
    }

    /// A value as the caller computes it, before the first iteration.
    fn value(&self, unit: &mut Unit, a: Atom) -> String {
        let def = match a {
            Atom::Var(v) => self.case.defs.get(&v).copied(),
            Atom::Const(_) => None,
        };
        match def.map(|d| d.0) {
            Some(Def::Sum(a, b)) => {
                format!("({} + {})", self.value(unit, a), self.value(unit, b))
            }
            Some(Def::Difference(a, b)) => {
                format!("({} - {})", self.value(unit, a), self.value(unit, b))
            }
            Some(Def::Same(a)) => self.value(unit, a),
            None => unit.atom(a),
        }
    }
}
