//! What the interpreter runs: flat instructions over 64-bit registers.
//!
//! A variable's register is its number; constants and temporaries follow. Array operands are resolved
//! to a parameter or a slot of the frame.

use loop_lang::eval::eval;
use loop_lang::ir::{CombId, Exit, Place, Stmt, TrapId, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;

/// A register's number.
pub type Reg = u32;
/// A position in [`Code::instrs`].
pub type Pc = u32;

/// A binary operator that needs no look at types: words are canonical, so all integers compare alike.
#[derive(Clone, Copy, Debug)]
pub enum Fast {
    Add64,
    Sub64,
    Mul64,
    And,
    Or,
    Xor,
    Eq,
    Ne,
    LtS,
    LeS,
    GtS,
    GeS,
    LtU,
    LeU,
    GtU,
    GeU,
    AddF64,
    SubF64,
    MulF64,
    DivF64,
    EqF64,
    NeF64,
    LtF64,
    LeF64,
    GtF64,
    GeF64,
    AddF32,
    SubF32,
    MulF32,
    DivF32,
}

impl Fast {
    /// The fast form of an operator on operands of type `ty`, if it has one.
    pub fn of(op: Op, ty: Ty) -> Option<Fast> {
        use Op::*;
        let wide = matches!(ty, Ty::I64 | Ty::U64);
        let pick = |signed: Fast, unsigned: Fast, float: Fast| match ty {
            Ty::F64 => Some(float),
            Ty::F32 => None,
            _ if ty.is_signed() => Some(signed),
            _ => Some(unsigned),
        };
        let arith = |int: Fast, f64: Fast, f32: Fast| match ty {
            Ty::F64 => Some(f64),
            Ty::F32 => Some(f32),
            _ => wide.then_some(int),
        };
        match op {
            Add => arith(Fast::Add64, Fast::AddF64, Fast::AddF32),
            Sub => arith(Fast::Sub64, Fast::SubF64, Fast::SubF32),
            Mul => arith(Fast::Mul64, Fast::MulF64, Fast::MulF32),
            Div if ty == Ty::F64 => Some(Fast::DivF64),
            Div if ty == Ty::F32 => Some(Fast::DivF32),
            And => Some(Fast::And),
            Or => Some(Fast::Or),
            Xor => Some(Fast::Xor),
            Eq => pick(Fast::Eq, Fast::Eq, Fast::EqF64),
            Ne => pick(Fast::Ne, Fast::Ne, Fast::NeF64),
            Lt => pick(Fast::LtS, Fast::LtU, Fast::LtF64),
            Le => pick(Fast::LeS, Fast::LeU, Fast::LeF64),
            Gt => pick(Fast::GtS, Fast::GtU, Fast::GtF64),
            Ge => pick(Fast::GeS, Fast::GeU, Fast::GeF64),
            // By `eval`.
            Div | Rem | DivEuclid | RemEuclid | DivOk | Min | Max | Not | Shl | Shr | Select
            | Copy | Cast | Bitcast | Neg | Abs | Signum | CountOnes | LeadingZeros
            | TrailingZeros | Floor | Ceil | Round | RoundEven | Trunc | Sqrt | Cbrt | Exp
            | Exp2 | ExpM1 | Ln | Ln1p | Log2 | Log10 | Sin | Cos | Tan | Asin | Acos | Atan
            | Sinh | Cosh | Tanh | Asinh | Acosh | Atanh | Powf | Powi | Atan2 | Hypot
            | Copysign | MulAdd | SignBit => None,
        }
    }

    /// The operator's value.
    #[inline(always)]
    pub fn eval(self, a: u64, b: u64) -> u64 {
        let (x, y) = (f64::from_bits(a), f64::from_bits(b));
        let (u, v) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
        let single = |x: f32| u64::from(x.to_bits());
        match self {
            Fast::Add64 => a.wrapping_add(b),
            Fast::Sub64 => a.wrapping_sub(b),
            Fast::Mul64 => a.wrapping_mul(b),
            Fast::And => a & b,
            Fast::Or => a | b,
            Fast::Xor => a ^ b,
            Fast::Eq => u64::from(a == b),
            Fast::Ne => u64::from(a != b),
            Fast::LtS => u64::from((a as i64) < b as i64),
            Fast::LeS => u64::from(a as i64 <= b as i64),
            Fast::GtS => u64::from(a as i64 > b as i64),
            Fast::GeS => u64::from(a as i64 >= b as i64),
            Fast::LtU => u64::from(a < b),
            Fast::LeU => u64::from(a <= b),
            Fast::GtU => u64::from(a > b),
            Fast::GeU => u64::from(a >= b),
            Fast::AddF64 => (x + y).to_bits(),
            Fast::SubF64 => (x - y).to_bits(),
            Fast::MulF64 => (x * y).to_bits(),
            Fast::DivF64 => (x / y).to_bits(),
            Fast::EqF64 => u64::from(x == y),
            Fast::NeF64 => u64::from(x != y),
            Fast::LtF64 => u64::from(x < y),
            Fast::LeF64 => u64::from(x <= y),
            Fast::GtF64 => u64::from(x > y),
            Fast::GeF64 => u64::from(x >= y),
            Fast::AddF32 => single(u + v),
            Fast::SubF32 => single(u - v),
            Fast::MulF32 => single(u * v),
            Fast::DivF32 => single(u / v),
        }
    }
}

/// Where an array is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Array {
    /// A parameter, by position.
    Param(u32),
    /// A slot of the frame.
    Slot(u32),
}

/// An instruction. Operands that do not fit are in the tables of [`Code`].
#[derive(Clone, Copy, Debug)]
pub enum Instr {
    /// `d = a`.
    Copy { d: Reg, a: Reg },
    /// `d = a op b`.
    Fast { op: Fast, d: Reg, a: Reg, b: Reg },
    /// `d = if c then a else b`.
    Select { d: Reg, c: Reg, a: Reg, b: Reg },
    /// `d = op a`.
    Op1 {
        op: Op,
        from: Ty,
        to: Ty,
        d: Reg,
        a: Reg,
    },
    /// `d = op a b`.
    Op2 {
        op: Op,
        from: Ty,
        to: Ty,
        d: Reg,
        a: Reg,
        b: Reg,
    },
    /// A ternary operator, in `ops3`.
    Op3(u32),
    /// `d` = element `i` of an array, or zero.
    ReadParam { d: Reg, array: u32, i: Reg },
    /// As `ReadParam`, of an array that the loop made.
    ReadSlot { d: Reg, array: u32, i: Reg },
    /// Element `i` of an array = `x`, if it is inside.
    Write { array: u32, i: Reg, x: Reg },
    /// Goes to `to`.
    Jump { to: Pc },
    /// Another turn of a scalar loop, unless the run is to stop.
    Turn { to: Pc },
    /// Goes to `to` if `c` is false.
    Unless { c: Reg, to: Pc },
    /// Arrival at the guard of a loop rate, by its position in `Layout::resume`.
    Arrive { guard: u32 },
    /// A guard's test was passed.
    Step,
    /// Leaves the run if a trap was recorded: the end of `init`, `nest` or `done`.
    EndPart,
    /// `d` = the lane of a group's variable for this counter.
    GetLane {
        d: Reg,
        lanes: u32,
        counter: Reg,
        mask: u32,
    },
    /// The lane of a group's variable for this counter = `a`.
    SetLane {
        lanes: u32,
        counter: Reg,
        mask: u32,
        a: Reg,
    },
    /// Register `d` = `a` when `scope` is committed.
    Later { scope: u32, d: Reg, a: Reg },
    /// A lane = `a` when the scope is committed, in `late_lanes`.
    LaterLane(u32),
    /// Updates that waited for the end of an iteration of this loop rate take effect.
    Commit { scope: u32 },
    /// Records a trap if `ok` is false, in `traps`.
    Check { ok: Reg, site: u32 },
    /// One more for a counter of counting mode.
    Count { counter: u32 },
    /// Tells the observer of a step, in `watched`.
    Watch(u32),
    /// Anything else, in `rare`.
    Rare(u32),
    /// The loop was left early.
    Exited,
    /// Ends the run (or a function).
    End,
}

/// A ternary operator's application.
#[derive(Clone, Copy, Debug)]
pub struct Op3 {
    pub op: Op,
    pub from: Ty,
    pub to: Ty,
    pub d: Reg,
    pub args: [Reg; 3],
}

/// What is reported if a check fails.
#[derive(Clone, Debug)]
pub struct TrapSite {
    pub trap: TrapId,
    pub payload: Vec<(Ty, Reg)>,
}

/// A step of which an observer is told.
#[derive(Clone, Debug)]
pub struct Watched {
    pub place: Place,
    pub step: Watch,
    /// Variables that matter to it, with the registers of their values.
    pub values: Vec<(Var, Reg)>,
}

/// What a step is, in the loop.
#[derive(Clone, Debug)]
pub enum Watch {
    Enter,
    Statement(Box<Stmt>),
    Exit(Exit),
    Return,
}

/// A lane that is updated at the end of the iteration.
#[derive(Clone, Copy, Debug)]
pub struct LateLane {
    pub scope: u32,
    pub lanes: u32,
    pub counter: Reg,
    pub mask: u32,
    pub a: Reg,
}

/// Instructions that run seldom, or are worth no form of their own.
#[derive(Clone, Debug)]
pub enum Rare {
    /// A new array in a slot.
    New {
        comb: CombId,
        slot: u32,
        ty: Ty,
        len: Reg,
        value: Option<Reg>,
        count: Option<u32>,
    },
    /// A copy of an array in a slot.
    CopyArray {
        comb: CombId,
        slot: u32,
        from: Array,
        ty: Ty,
        counts: Vec<u32>,
    },
    /// Shortens an array.
    Truncate { slot: u32, len: Reg },
    /// Length of an array.
    Length { d: Reg, array: Array },
    /// Joins values onto the elements of arrays.
    Scatter {
        slots: Vec<u32>,
        index: Reg,
        values: Vec<Reg>,
        join: Option<Join>,
    },
    /// Puts rows of arrays in order.
    Sort {
        comb: CombId,
        slots: Vec<u32>,
        rows: Reg,
    },
    /// Starts a variable of a group with a local part.
    Start { group: u32, var: u32, value: Reg },
    /// A group's variables with its lanes joined.
    Total { group: u32, to: Vec<Reg> },
    /// Joins an element onto a `Prefix` group.
    Scan {
        group: u32,
        counter: Reg,
        elems: Vec<Reg>,
        results: Vec<Reg>,
    },
    /// The loop's results.
    Return(Vec<ResultSite>),
}

/// Where a result comes from.
#[derive(Clone, Copy, Debug)]
pub enum ResultSite {
    /// A register.
    Scalar(Ty, Reg),
    /// An array, to be moved out or (if it is needed once more) copied.
    Array {
        comb: CombId,
        array: Array,
        ty: Ty,
        last: bool,
    },
}

/// A binary operator that joins.
#[derive(Clone, Copy, Debug)]
pub struct JoinOp {
    pub op: Op,
    pub ty: Ty,
    pub fast: Option<Fast>,
}

impl JoinOp {
    /// Joins two values, `left` earlier.
    #[inline(always)]
    pub fn eval(self, left: u64, right: u64) -> u64 {
        match self.fast {
            Some(fast) => fast.eval(left, right),
            None => eval(self.op, self.ty, self.ty, &[left, right]),
        }
    }
}

/// How two values are joined.
#[derive(Clone, Debug)]
pub enum Join {
    /// A binary operator.
    Op(JoinOp),
    /// A function of left values, then right values.
    Function { function: u32, params: Vec<Reg> },
}

/// A group with a local part.
#[derive(Clone, Debug)]
pub struct GroupCode {
    /// Register of each variable.
    pub vars: Vec<Reg>,
    /// Word of each variable's prefix.
    pub words: Vec<u32>,
    /// First word of each variable's local part.
    pub local: Vec<u32>,
    /// Register of each variable's identity.
    pub identity: Vec<Reg>,
    /// Lanes, or elements of a block.
    pub width: u32,
    /// `Lanes`, else `Prefix`.
    pub lanes: bool,
    /// Steps after which the second of two lanes is joined onto the first.
    pub run: Option<u64>,
    /// How values are joined.
    pub join: Join,
}

/// A loop rate's guard.
#[derive(Clone, Debug, Default)]
pub struct GuardCode {
    /// Where its test begins, behind the `Arrive`; 0 if the guard has no code.
    pub test: Pc,
    /// Groups that are joined here after a chunk.
    pub joins: Vec<u32>,
    /// `Prefix` groups whose update may be waiting here, with the scope that it waits for.
    pub waiting: Vec<(u32, u32)>,
    /// Held variables (by position in `Layout::held`) with the scope that their update waits for.
    pub held: Vec<(u32, u32)>,
}

/// A compiled loop.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// Where `init` begins.
    pub entry: Pc,
    pub instrs: Vec<Instr>,
    pub ops3: Vec<Op3>,
    pub traps: Vec<TrapSite>,
    pub late_lanes: Vec<LateLane>,
    pub rare: Vec<Rare>,
    /// Combine functions: where they begin, and the registers of their results.
    pub functions: Vec<(Pc, Vec<Reg>)>,
    /// By `GroupId`; none for groups without a local part.
    pub groups: Vec<Option<GroupCode>>,
    /// By position in `Layout::resume`.
    pub guards: Vec<GuardCode>,
    /// Number of registers.
    pub registers: u32,
    /// Constants with their registers.
    pub consts: Vec<(Reg, u64)>,
    /// Saved variables that live in registers: register, type, word.
    pub saved: Vec<(Reg, Ty, u32)>,
    /// Current values of `Prefix` groups: register, type, word.
    pub current: Vec<(Reg, Ty, u32)>,
    /// Held variables: register, word of the value that waits.
    pub held: Vec<(Reg, Ty, u32)>,
    /// What an observer is told of.
    pub watched: Vec<Watched>,
    /// What counting mode counts, by counter.
    pub counters: Vec<crate::counts::Counted>,
}
