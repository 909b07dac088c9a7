//! Loop cases: facts that hold while comparisons with the counter keep their answers.
//!
//! For example, `append` compares its index with a length, and `windows` keeps indices within an
//! array. While these answers stay constant, the body is simple: its reads are at a fixed distance
//! from the counter.

use super::{Access, InnerLoop, Region, Stride};
use livefusion_backend::facts;
use loop_lang::Loop;
use loop_lang::ir::{Atom, RateKind, Stmt, StmtKind, Type, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use rustc_hash::{FxHashMap, FxHashSet};

/// The maximum number of cases of one loop.
const MAX_CASES: usize = 4;
/// The maximum number of comparisons of a case.
const MAX_TESTS: usize = 64;
/// The maximum number of operators in a tracked value.
const MAX_SIZE: usize = 32;

/// Describes how a value changes with the counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Motion {
    /// Loop-invariant.
    Fixed,
    /// Up by one in each iteration.
    Up,
    /// Down by one.
    Down,
}

/// Describes how a value at a fixed distance from the counter is computed.
#[derive(Clone, Copy, Debug)]
pub enum Def {
    /// The sum of two values.
    Sum(Atom, Atom),
    /// The first minus the second.
    Difference(Atom, Atom),
    /// A copy.
    Same(Atom),
}

/// Describes a comparison `moving < edge` (`<=` if `inclusive`) and its answer.
///
/// `moving` changes by one with the counter; `edge` is loop-invariant.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    /// The varying operand.
    pub moving: Atom,
    /// Whether it decreases.
    pub down: bool,
    /// The invariant operand.
    pub edge: Atom,
    /// Whether equality also holds.
    pub inclusive: bool,
    /// The answer in this case.
    pub holds: bool,
}

impl Test {
    fn is_same_as(&self, other: &Test) -> bool {
        let key = |t: &Test| (t.moving, t.edge, t.inclusive);
        key(self) == key(other)
    }
}

/// Describes an access that is in bounds throughout a case.
#[derive(Clone, Copy, Debug)]
pub struct RequiredCapacity {
    /// The array: a parameter, or an array made by the loop.
    pub array: Var,
    /// The index.
    pub index: Var,
    /// Whether the index decreases.
    pub down: bool,
}

/// Holds one combination of answers and its consequences.
#[derive(Clone, Default)]
pub struct Case {
    /// The answers.
    pub tests: Vec<Test>,
    /// Accesses that need a capacity check when the case is entered.
    pub capacities: Vec<RequiredCapacity>,
    /// Loop-invariant conditions with assumed values; these are also checked when the case is
    /// entered.
    pub assumed: Vec<(Var, bool)>,
    /// Conditions with known values.
    pub known: FxHashMap<Var, bool>,
    /// Minima and maxima that equal one of their operands.
    pub same: FxHashMap<Var, Atom>,
    /// Invariant variables, and variables at a fixed distance from the counter.
    pub near: FxHashSet<Var>,
    /// Definitions in arms that are not taken.
    pub skipped: FxHashSet<Var>,
    /// Definitions with their operator counts.
    defs: FxHashMap<Var, (Def, usize)>,
}

impl Case {
    /// Tells whether it has comparisons or assumed conditions.
    pub fn asks(&self) -> bool {
        !self.tests.is_empty() || !self.assumed.is_empty()
    }

    /// Returns the capacity check of an access.
    pub fn capacity_of(&self, access: &Access) -> Option<&RequiredCapacity> {
        let place = (access.array, access.index);
        let mut capacities = self.capacities.iter();
        capacities.find(|capacity| (capacity.array, Atom::Var(capacity.index)) == place)
    }

    /// Returns how a value follows from values that are known before the loop.
    pub fn def(&self, a: Atom) -> Option<Def> {
        let def = self.defs.get(&a.var()?)?;
        Some(def.0)
    }

    /// Returns the case's value definitions without its other facts.
    pub fn defs_alone(&self) -> Case {
        Case {
            defs: self.defs.clone(),
            ..Case::default()
        }
    }
}

/// Holds the cases of an innermost loop.
#[derive(Clone, Default)]
pub struct Cases {
    /// One case per combination of answers. If these are too many, the case for the middle of a
    /// long loop.
    pub cases: Vec<Case>,
    /// The rest of the loop, if the cases do not cover it: comparisons that limit its ranges, and
    /// the definitions of their operands.
    pub general: Option<(Vec<Test>, Case)>,
}

impl Cases {
    /// Tells whether the cases add facts about the loop.
    pub fn tell(&self, inner_loop: &InnerLoop) -> bool {
        let near = |r: &RequiredCapacity| r.index != inner_loop.counter;
        self.ask() || self.cases.iter().any(|c| c.capacities.iter().any(near))
    }

    /// Tells whether any case has comparisons.
    pub fn ask(&self) -> bool {
        self.cases.iter().any(|c| !c.tests.is_empty())
    }

    /// Tells whether an access is in bounds in each case that executes it.
    pub fn prove(&self, inner_loop: &InnerLoop, access: &Access) -> bool {
        let read = match &inner_loop.statements[access.statement].stmt.kind {
            StmtKind::ReadArray(v, ..) => Some(*v),
            _ => None,
        };
        let proves = |c: &Case| {
            read.is_some_and(|v| c.skipped.contains(&v)) || c.capacity_of(access).is_some()
        };
        !self.cases.is_empty() && self.cases.iter().all(proves)
    }
}

impl Region<'_> {
    /// Computes the cases of an innermost loop.
    pub fn cases(&self, inner_loop: &InnerLoop) -> Cases {
        let mut cases = Vec::new();
        let mut open = vec![Vec::new()];
        while let Some(answers) = open.pop() {
            match self.case(inner_loop, &answers, false) {
                Ok(case) => cases.push(case),
                Err(_) => {
                    for answer in [false, true] {
                        open.push(answers.iter().copied().chain([answer]).collect());
                    }
                }
            }
            if cases.len() + open.len() > MAX_CASES {
                let Some(middle) = self.middle(inner_loop) else {
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

    /// Returns the only case of an inner loop without comparisons.
    ///
    /// The case lists the loop's accesses at indices other than its counter. Its segments check the
    /// capacity for them too. The result is none without such accesses.
    pub fn in_segments(&self, inner_loop: &InnerLoop) -> Option<Case> {
        let is_inner = matches!(
            self.program.rate(inner_loop.rate).kind,
            RateKind::Nested { .. }
        );
        if !is_inner || !inner_loop.exits.is_empty() {
            return None;
        }
        let mut case = self.case(inner_loop, &[], false).ok()?;
        case.capacities
            .retain(|capacity| capacity.index != inner_loop.counter);
        let known = |index: &Var| *index == inner_loop.counter || case.near.contains(index);
        let mut joined: Vec<(Var, Var)> = inner_loop.joined.iter().copied().collect();
        joined.retain(|(_, index)| known(index));
        joined.sort();
        case.capacities
            .extend(joined.into_iter().map(|(array, index)| RequiredCapacity {
                array,
                index,
                down: false,
            }));
        (!case.capacities.is_empty()).then_some(case)
    }

    /// Returns the case for the middle of a long loop.
    ///
    /// The result is none if there are too many comparisons.
    pub fn middle(&self, inner_loop: &InnerLoop) -> Option<Case> {
        self.middle_if(inner_loop, false)
    }

    /// Returns the case for the middle of a typical long row.
    ///
    /// Where a condition is constant in a row, the arm that reads is assumed taken, and traps are
    /// assumed not to occur.
    pub fn middle_of_row(&self, inner_loop: &InnerLoop) -> Option<Case> {
        self.middle_if(inner_loop, true)
    }

    fn middle_if(&self, inner_loop: &InnerLoop, assumes: bool) -> Option<Case> {
        let mut answers = Vec::new();
        while answers.len() <= MAX_TESTS {
            match self.case(inner_loop, &answers, assumes) {
                Ok(case) => return Some(case),
                Err(test) => answers.push(is_before_in_the_middle(inner_loop, &test)),
            }
        }
        None
    }

    /// Computes the case for given answers to comparisons, in statement order. If answers are
    /// missing, it returns the first open comparison as an error.
    fn case(&self, inner_loop: &InnerLoop, answers: &[bool], assumes: bool) -> Result<Case, Test> {
        let mut walk = CaseWalk {
            region: self,
            inner_loop,
            answers,
            assumes,
            shapes: FxHashMap::from_iter([(inner_loop.counter, Motion::Up)]),
            case: Case::default(),
            undecided: None,
        };
        for i in inner_loop.blocks() {
            walk.stmts(&self.facts.blocks[i].block.stmts);
        }
        match walk.undecided {
            Some(test) => Err(test),
            None => Ok(walk.case),
        }
    }
}

/// Returns the answer to a comparison in the middle of a long loop. There, the counter has passed
/// all bounds near the start, such as constants. It is well before all bounds near the end.
fn is_before_in_the_middle(inner_loop: &InnerLoop, test: &Test) -> bool {
    let come = inner_loop.affine(test.moving);
    let has_come = come
        .is_some_and(|sum| sum.step == Stride::By(1) && sum.base.iter().all(|term| term.times < 0));
    !test.down && !has_come && matches!(test.edge, Atom::Var(_))
}

/// Walks a body under answers given in order. `undecided` holds the comparison that lacks an
/// answer.
struct CaseWalk<'w> {
    region: &'w Region<'w>,
    inner_loop: &'w InnerLoop<'w>,
    answers: &'w [bool],
    assumes: bool,
    shapes: FxHashMap<Var, Motion>,
    case: Case,
    undecided: Option<Test>,
}

impl CaseWalk<'_> {
    fn shape(&self, a: Atom) -> Option<Motion> {
        match a {
            Atom::Const(_) => Some(Motion::Fixed),
            Atom::Var(v) => match self.shapes.get(&v) {
                Some(shape) => Some(*shape),
                None => (self.is_outside(v) && self.is_word(v)).then_some(Motion::Fixed),
            },
        }
    }

    /// Tells whether the body neither defines nor updates a variable, and it is no lane of an
    /// earlier loop.
    fn is_outside(&self, v: Var) -> bool {
        let facts = &self.region.facts;
        self.inner_loop.leaves(v) && facts.local_group(self.program(), v).is_none()
    }

    fn program(&self) -> &Loop {
        self.region.program
    }

    fn is_word(&self, v: Var) -> bool {
        self.program().ty(v) == Type::Scalar(Ty::U64)
    }

    fn known(&self, a: Atom) -> Option<bool> {
        match a {
            // Words have no truth value: `not` and `and` of words are bitwise.
            Atom::Const(c) => (c.ty == Ty::Bool).then_some(c.bits != 0),
            Atom::Var(v) => self.case.known.get(&v).copied(),
        }
    }

    /// Walks statements of every iteration. Arms with an unknown condition may or may not run.
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

    /// Assumes that the arm with reads is taken, if only one arm reads.
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

    /// Assumes the value of a loop-invariant condition, if it is unknown.
    fn assume(&mut self, cond: Atom, truth: bool) {
        let fixed = |v: &Var| self.assumes && self.is_outside(*v) && self.known(cond).is_none();
        if let Some(v) = cond.var().filter(fixed) {
            self.case.known.insert(v, truth);
            self.case.assumed.push((v, truth));
        }
    }

    fn let_op(&mut self, v: Var, op: Op, args: &[Atom]) {
        use Motion::{Down, Fixed, Up};
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

    fn set(&mut self, v: Var, shape: Motion, def: Def) {
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

    /// Answers a comparison. `x` is the shape of `a`; one operand is loop-invariant.
    fn compare(&mut self, op: Op, a: Atom, b: Atom, x: Motion) -> Option<bool> {
        let (moving, edge, mirrored) = match x {
            Motion::Fixed => (b, a, true),
            Motion::Up | Motion::Down => (a, b, false),
        };
        // Normalises to `<` and `<=` with the varying operand on the left.
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
        if moving == Atom::Var(self.inner_loop.counter)
            && edge == self.inner_loop.bound
            && !inclusive
        {
            return Some(!negated);
        }
        let mut test = Test {
            moving,
            down: self.shape(moving)? == Motion::Down,
            edge,
            inclusive,
            holds: false,
        };
        let known = self.case.tests.iter().find(|t| t.is_same_as(&test));
        let holds = match (known, self.answers.get(self.case.tests.len())) {
            (Some(known), _) => known.holds,
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

    /// Records the definitions of an arm that is not taken.
    fn skip(&mut self, stmts: &[Stmt]) {
        facts::each_stmt(stmts, &mut |s| {
            facts::each_def(s, &mut |v| {
                self.case.skipped.insert(v);
            });
        });
    }

    fn access(&mut self, array: Var, index: Var) {
        let Some(shape @ (Motion::Up | Motion::Down)) = self.shape(Atom::Var(index)) else {
            return;
        };
        self.case.capacities.push(RequiredCapacity {
            array: self.region.owner(array),
            index,
            down: shape == Motion::Down,
        });
    }
}
