//! What is known of a sweep while comparisons with its counter keep their answers.
//!
//! `append` asks whether its index is below a length, `windows` keeps indices within an array. Over a
//! range of the counter on which these answers stay what they are, the body is plain: what it reads
//! is at a fixed distance from the counter.

use super::{Access, Region, Stride, Sweep};
use livefusion_backend::facts;
use loop_lang::Loop;
use loop_lang::ir::{Atom, RateKind, Stmt, StmtKind, Type, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use rustc_hash::{FxHashMap, FxHashSet};

/// More versions than this of one sweep are not told apart.
const MAX_CASES: usize = 4;
/// Comparisons in one case.
const MAX_TESTS: usize = 64;
/// Values of more operators than this are not followed.
const MAX_SIZE: usize = 32;

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
pub enum Def {
    /// Two values added.
    Sum(Atom, Atom),
    /// One less another.
    Difference(Atom, Atom),
    /// Another value.
    Same(Atom),
}

/// Whether `moving < edge` (`<=` if `inclusive`), where one goes with the counter and one is fixed.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    /// What goes with the counter.
    pub moving: Atom,
    /// Whether it goes down.
    pub down: bool,
    /// What it is compared with.
    pub edge: Atom,
    /// Whether it may be equal.
    pub inclusive: bool,
    /// The answer in this case.
    pub holds: bool,
}

impl Test {
    fn asks_same(&self, other: &Test) -> bool {
        let key = |t: &Test| (t.moving, t.edge, t.inclusive);
        key(self) == key(other)
    }
}

/// An access that cannot miss in a case.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// The array: a parameter, or one that the loop makes.
    pub array: Var,
    /// Where it is read or written.
    pub index: Var,
    /// Whether the index goes down.
    pub down: bool,
}

/// One combination of answers, and what follows from it.
#[derive(Clone, Default)]
pub struct Case {
    /// The answers.
    pub tests: Vec<Test>,
    /// Accesses that whoever enters the case makes sure of.
    pub rooms: Vec<Room>,
    /// Conditions that are the same in the whole sweep, and are taken to be so; whoever enters the case makes sure of them, too.
    pub assumed: Vec<(Var, bool)>,
    /// Conditions whose value is known.
    pub known: FxHashMap<Var, bool>,
    /// Minima and maxima that are one of their operands.
    pub same: FxHashMap<Var, Atom>,
    /// Variables at a fixed distance from the counter, and fixed ones.
    pub near: FxHashSet<Var>,
    /// What is defined in arms that are not taken.
    pub skipped: FxHashSet<Var>,
    /// Definitions, and of how many operators each is made.
    defs: FxHashMap<Var, (Def, usize)>,
}

impl Case {
    /// Whether anything is asked, before a row or in it.
    pub fn asks(&self) -> bool {
        !self.tests.is_empty() || !self.assumed.is_empty()
    }

    /// The room that an access has in it.
    pub fn room_of(&self, access: &Access) -> Option<&Room> {
        let place = (access.array, access.index);
        let mut rooms = self.rooms.iter();
        rooms.find(|room| (room.array, Atom::Var(room.index)) == place)
    }

    /// How a value is computed from others that are known before the sweep, if it is.
    pub fn def(&self, a: Atom) -> Option<Def> {
        let def = self.defs.get(&a.var()?)?;
        Some(def.0)
    }

    /// What computes values in this case, and nothing else of it.
    pub fn defs_alone(&self) -> Case {
        Case {
            defs: self.defs.clone(),
            ..Case::default()
        }
    }
}

/// What is known of a sweep range by range.
#[derive(Clone, Default)]
pub struct Cases {
    /// One for each combination of answers, or, where these are many, the one for the middle of a long sweep.
    pub cases: Vec<Case>,
    /// What else there is where the cases are not all: comparisons up to whose next change nothing is known, and what computes
    /// them.
    pub general: Option<(Vec<Test>, Case)>,
}

impl Cases {
    /// Whether they tell more than what is known anyway.
    pub fn tell(&self, sweep: &Sweep) -> bool {
        let near = |r: &Room| r.index != sweep.counter;
        self.ask() || self.cases.iter().any(|c| c.rooms.iter().any(near))
    }

    /// Whether anything is compared.
    pub fn ask(&self) -> bool {
        self.cases.iter().any(|c| !c.tests.is_empty())
    }

    /// Whether an access is to neighbours, in each case that does it.
    pub fn prove(&self, sweep: &Sweep, access: &Access) -> bool {
        let read = match &sweep.statements[access.statement].stmt.kind {
            StmtKind::ReadArray(v, ..) => Some(*v),
            _ => None,
        };
        let proves =
            |c: &Case| read.is_some_and(|v| c.skipped.contains(&v)) || c.room_of(access).is_some();
        !self.cases.is_empty() && self.cases.iter().all(proves)
    }
}

impl Region<'_> {
    /// The cases of a sweep.
    pub fn cases(&self, sweep: &Sweep) -> Cases {
        let mut cases = Vec::new();
        let mut open = vec![Vec::new()];
        while let Some(answers) = open.pop() {
            match self.case(sweep, &answers, false) {
                Ok(case) => cases.push(case),
                Err(_) => {
                    for answer in [false, true] {
                        open.push(answers.iter().copied().chain([answer]).collect());
                    }
                }
            }
            if cases.len() + open.len() > MAX_CASES {
                let Some(middle) = self.middle(sweep) else {
                    return Cases::default();
                };
                return Cases {
                    general: Some((middle.tests.clone(), middle.defs_alone())),
                    cases: vec![middle],
                };
            }
        }
        Cases {
            cases,
            general: None,
        }
    }

    /// The only case of an inner loop that asks nothing, with what it accesses beside its counter, if it does. Its segments ask for
    /// that room, too.
    pub fn in_segments(&self, sweep: &Sweep) -> Option<Case> {
        let is_inner = matches!(self.program.rate(sweep.rate).kind, RateKind::Nested { .. });
        if !is_inner || !sweep.exits.is_empty() {
            return None;
        }
        let mut case = self.case(sweep, &[], false).ok()?;
        case.rooms.retain(|room| room.index != sweep.counter);
        let known = |index: &Var| *index == sweep.counter || case.near.contains(index);
        let mut joined: Vec<(Var, Var)> = sweep.joined.iter().copied().collect();
        joined.retain(|(_, index)| known(index));
        joined.sort();
        case.rooms
            .extend(joined.into_iter().map(|(array, index)| Room {
                array,
                index,
                down: false,
            }));
        (!case.rooms.is_empty()).then_some(case)
    }

    /// The case for the middle of a long sweep, if there are not too many comparisons.
    pub fn middle(&self, sweep: &Sweep) -> Option<Case> {
        self.middle_if(sweep, false)
    }

    /// The case for the middle of a long row that is as most are thought to be: where a condition is the same in all of a row, the
    /// arm is taken that reads, and nothing traps.
    pub fn middle_of_row(&self, sweep: &Sweep) -> Option<Case> {
        self.middle_if(sweep, true)
    }

    fn middle_if(&self, sweep: &Sweep, assumes: bool) -> Option<Case> {
        let mut answers = Vec::new();
        while answers.len() <= MAX_TESTS {
            match self.case(sweep, &answers, assumes) {
                Ok(case) => return Some(case),
                Err(test) => answers.push(is_before_in_the_middle(sweep, &test)),
            }
        }
        None
    }

    /// What is known of a sweep under answers to its comparisons, in the order of their statements; the comparison
    /// that wants one more answer, if these are too few.
    fn case(&self, sweep: &Sweep, answers: &[bool], assumes: bool) -> Result<Case, Test> {
        let mut walk = Walk {
            region: self,
            sweep,
            answers,
            assumes,
            shapes: FxHashMap::from_iter([(sweep.counter, Shape::Up)]),
            case: Case::default(),
            undecided: None,
        };
        for i in sweep.blocks() {
            walk.stmts(&self.facts.blocks[i].block.stmts);
        }
        match walk.undecided {
            Some(test) => Err(test),
            None => Ok(walk.case),
        }
    }
}

/// The answer to a comparison in the middle of a long sweep: how far that has come is beyond what is asked near the beginning,
/// such as constants, and what lies ahead is well before the end.
fn is_before_in_the_middle(sweep: &Sweep, test: &Test) -> bool {
    let come = sweep.affine(test.moving);
    let has_come = come
        .is_some_and(|sum| sum.step == Stride::By(1) && sum.base.iter().all(|term| term.times < 0));
    !test.down && !has_come && matches!(test.edge, Atom::Var(_))
}

/// A body that is looked at under answers given in order; none are left at `undecided`.
struct Walk<'w> {
    region: &'w Region<'w>,
    sweep: &'w Sweep<'w>,
    answers: &'w [bool],
    assumes: bool,
    shapes: FxHashMap<Var, Shape>,
    case: Case,
    undecided: Option<Test>,
}

impl Walk<'_> {
    fn shape(&self, a: Atom) -> Option<Shape> {
        match a {
            Atom::Const(_) => Some(Shape::Fixed),
            Atom::Var(v) => match self.shapes.get(&v) {
                Some(shape) => Some(*shape),
                None => (self.is_outside(v) && self.is_word(v)).then_some(Shape::Fixed),
            },
        }
    }

    /// Whether the body neither defines nor updates a variable, and it is no lane of a loop before.
    fn is_outside(&self, v: Var) -> bool {
        let facts = &self.region.facts;
        self.sweep.leaves(v) && facts.local_group(self.program(), v).is_none()
    }

    fn program(&self) -> &Loop {
        self.region.program
    }

    fn is_word(&self, v: Var) -> bool {
        self.program().ty(v) == Type::Scalar(Ty::U64)
    }

    fn known(&self, a: Atom) -> Option<bool> {
        match a {
            // A word has no truth value: `not` and `and` of words are of their bits.
            Atom::Const(c) => (c.ty == Ty::Bool).then_some(c.bits != 0),
            Atom::Var(v) => self.case.known.get(&v).copied(),
        }
    }

    /// Statements that run in each iteration; those in arms may, if their condition is not known.
    fn stmts(&mut self, stmts: &[Stmt]) {
        let mut work: Vec<(&[Stmt], bool)> = vec![(stmts, true)];
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
                StmtKind::ReadArray(_, a, Atom::Var(i))
                | StmtKind::WriteArray(a, Atom::Var(i), _)
                    if sure =>
                {
                    self.access(*a, *i);
                }
                StmtKind::Trap { unless, .. } => self.assume(*unless, true),
                StmtKind::If {
                    cond, then, other, ..
                } => match self
                    .known(*cond)
                    .or_else(|| self.assume_arm(*cond, then, other))
                {
                    Some(true) => {
                        self.skip(other);
                        work.push((then, sure));
                    }
                    Some(false) => {
                        self.skip(then);
                        work.push((other, sure));
                    }
                    None => work.extend([(&other[..], false), (&then[..], false)]),
                },
                _ => {}
            }
        }
    }

    /// Takes a condition to be such that the arm is taken that reads, if only one does.
    fn assume_arm(&mut self, cond: Atom, then: &[Stmt], other: &[Stmt]) -> Option<bool> {
        let reads = |arm: &[Stmt]| {
            let mut reads = false;
            facts::each_stmt(arm, &mut |s| {
                reads |= matches!(s.kind, StmtKind::ReadArray(..))
            });
            reads
        };
        if reads(then) != reads(other) {
            self.assume(cond, reads(then));
        }
        self.known(cond)
    }

    /// Takes a condition that is the same in the whole sweep to be so, if nothing is known of it.
    fn assume(&mut self, cond: Atom, truth: bool) {
        let fixed = |v: &Var| self.assumes && self.is_outside(*v) && self.known(cond).is_none();
        if let Some(v) = cond.var().filter(fixed) {
            self.case.known.insert(v, truth);
            self.case.assumed.push((v, truth));
        }
    }

    fn let_op(&mut self, v: Var, op: Op, args: &[Atom]) {
        use Shape::{Down, Fixed, Up};
        match (op, args) {
            (Op::Not, [a]) if self.known(*a).is_some() => {
                let value = self.known(*a).map(|x| !x);
                self.case.known.extend(value.map(|x| (v, x)));
            }
            (Op::And | Op::Or, [a, b]) if self.program().ty(v) == Type::Scalar(Ty::Bool) => {
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
        if moving == Atom::Var(self.sweep.counter) && edge == self.sweep.bound && !inclusive {
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

    /// Statements of an arm that is not taken.
    fn skip(&mut self, stmts: &[Stmt]) {
        facts::each_stmt(stmts, &mut |s| {
            facts::each_def(s, &mut |v| {
                self.case.skipped.insert(v);
            });
        });
    }

    fn access(&mut self, array: Var, index: Var) {
        let Some(shape @ (Shape::Up | Shape::Down)) = self.shape(Atom::Var(index)) else {
            return;
        };
        self.case.rooms.push(Room {
            array: self.region.owner(array),
            index,
            down: shape == Shape::Down,
        });
    }
}
