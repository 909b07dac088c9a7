//! Interpreter code: flat instructions over 64-bit registers.
//!
//! A variable's register is its number. Registers of constants and temporaries follow. Array
//! operands are resolved to a parameter or a slot of the frame.

use loop_lang::eval::eval;
use loop_lang::ir::{CombId, Exit, Place, RateId, Stmt, TrapId, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;

/// Identifies a register.
pub type Reg = u32;
/// Identifies a position in [`Code::instrs`].
pub type Pc = u32;

/// Lists the binary operators that need no type at run time.
///
/// Words are canonical, so all integers compare alike.
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
    /// Returns the fast form of an operator on operands of type `ty`, if any.
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
            // These use `eval`.
            Div | Rem | DivEuclid | RemEuclid | DivOk | Min | Max | Not | Shl | Shr | Select
            | Copy | Cast | Bitcast | Neg | Abs | Signum | CountOnes | LeadingZeros
            | TrailingZeros | Floor | Ceil | Round | RoundEven | Trunc | Sqrt | Cbrt | Exp
            | Exp2 | ExpM1 | Ln | Ln1p | Log2 | Log10 | Sin | Cos | Tan | Asin | Acos | Atan
            | Sinh | Cosh | Tanh | Asinh | Acosh | Atanh | Powf | Powi | Atan2 | Hypot
            | Copysign | MulAdd | SignBit => None,
        }
    }

    /// Evaluates the operator.
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

/// Locates an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Array {
    /// A parameter, by position.
    Param(u32),
    /// A slot of the frame.
    Slot(u32),
}

/// Lists the instructions.
///
/// Long operands are in the tables of [`Code`].
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
    /// As `ReadParam`, for an array that the loop made.
    ReadSlot { d: Reg, array: u32, i: Reg },
    /// Element `i` of an array = `x`, if `i` is in bounds.
    Write { array: u32, i: Reg, x: Reg },
    /// Jumps to `to`.
    Jump { to: Pc },
    /// Starts another iteration of a scalar loop, unless the run is to stop.
    Turn { to: Pc },
    /// Jumps to `to` if `c` is false.
    Unless { c: Reg, to: Pc },
    /// Arrives at the guard of a loop rate, by its position in `Layout::resume`.
    Arrive { guard: u32 },
    /// Counts a step: a guard's test was passed.
    Step,
    /// Ends the run if a trap was recorded, at the end of `init`, `nest` or `done`.
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
    /// Commits the deferred updates of this loop rate at the end of an iteration.
    Commit { scope: u32 },
    /// Records a trap if `ok` is false, in `traps`.
    Check { ok: Reg, site: u32 },
    /// Increments a counter of counting mode.
    Count { counter: u32 },
    /// Reports a step to the observer, in `watched`.
    Watch(u32),
    /// Any other instruction, in `rare`.
    Rare(u32),
    /// Records an early exit of the loop.
    Exited,
    /// Ends the run (or a function).
    End,
}

/// Holds the operands of a ternary operator.
#[derive(Clone, Copy, Debug)]
pub struct Op3 {
    pub op: Op,
    pub from: Ty,
    pub to: Ty,
    pub d: Reg,
    pub args: [Reg; 3],
}

/// Describes the report of a failed check.
#[derive(Clone, Debug)]
pub struct TrapSite {
    pub trap: TrapId,
    pub payload: Vec<(Ty, Reg)>,
    /// The loop rates around it, outermost first, with their counters and bounds.
    pub nest: Vec<(RateId, Reg, Reg)>,
}

/// Describes a step that is reported to an observer.
#[derive(Clone, Debug)]
pub struct Watched {
    pub place: Place,
    pub step: Watch,
    /// The variables to report, with the registers of their values.
    pub values: Vec<(Var, Reg)>,
}

/// Describes the kind of a reported step.
#[derive(Clone, Debug)]
pub enum Watch {
    Enter,
    Statement(Box<Stmt>),
    Exit(Exit),
    Return,
}

/// Describes a lane update that waits for the end of the iteration.
#[derive(Clone, Copy, Debug)]
pub struct LateLane {
    pub scope: u32,
    pub lanes: u32,
    pub counter: Reg,
    pub mask: u32,
    pub a: Reg,
}

/// Lists instructions that run seldom or need no form of their own.
#[derive(Clone, Debug)]
pub enum Rare {
    /// Makes an array in a slot.
    New {
        comb: CombId,
        slot: u32,
        ty: Ty,
        len: Reg,
        value: Option<Reg>,
        count: Option<u32>,
    },
    /// Copies an array into a slot.
    CopyArray {
        comb: CombId,
        slot: u32,
        from: Array,
        ty: Ty,
        counts: Vec<u32>,
    },
    /// Shortens an array.
    Truncate { slot: u32, len: Reg },
    /// Reads the length of an array.
    Length { d: Reg, array: Array },
    /// Joins values onto the elements of arrays.
    Scatter {
        slots: Vec<u32>,
        index: Reg,
        values: Vec<Reg>,
        join: Option<Join>,
    },
    /// Sorts rows of arrays.
    Sort {
        comb: CombId,
        slots: Vec<u32>,
        rows: Reg,
    },
    /// Starts a variable of a group with a local part.
    Start { group: u32, var: u32, value: Reg },
    /// Reads a group's variables with its lanes joined.
    Total { group: u32, to: Vec<Reg> },
    /// Joins an element onto a `Prefix` group.
    Scan {
        group: u32,
        counter: Reg,
        elems: Vec<Reg>,
        results: Vec<Reg>,
    },
    /// Returns the loop's results.
    Return(Vec<ResultSite>),
}

/// Locates a result.
#[derive(Clone, Copy, Debug)]
pub enum ResultSite {
    /// A register.
    Scalar(Ty, Reg),
    /// An array. It is moved out at its last use, and copied before.
    Array {
        comb: CombId,
        array: Array,
        ty: Ty,
        last: bool,
    },
}

/// Describes a binary operator that joins.
#[derive(Clone, Copy, Debug)]
pub struct JoinOp {
    pub op: Op,
    pub ty: Ty,
    pub fast: Option<Fast>,
}

impl JoinOp {
    /// Joins two values, `left` first.
    #[inline(always)]
    pub fn eval(self, left: u64, right: u64) -> u64 {
        match self.fast {
            Some(fast) => fast.eval(left, right),
            None => eval(self.op, self.ty, self.ty, &[left, right]),
        }
    }
}

/// Describes how two values are joined.
#[derive(Clone, Debug)]
pub enum Join {
    /// A binary operator.
    Op(JoinOp),
    /// A function of left values, then right values.
    Function { function: u32, params: Vec<Reg> },
}

/// Describes a group with a local part.
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
    /// Number of lanes, or of elements in a block.
    pub width: u32,
    /// Whether the order is `Lanes`. Otherwise it is `Prefix`.
    pub lanes: bool,
    /// Steps after which the second of two lanes is joined onto the first.
    pub run: Option<u64>,
    /// How values are joined.
    pub join: Join,
}

/// Describes a loop rate's guard.
#[derive(Clone, Debug, Default)]
pub struct GuardCode {
    /// Start of its test, after the `Arrive`. 0 if the guard has no code.
    pub test: Pc,
    /// Groups that are joined here after a chunk.
    pub joins: Vec<u32>,
    /// `Prefix` groups whose update may be pending here, with the scope that commits it.
    pub waiting: Vec<(u32, u32)>,
    /// Held variables (by position in `Layout::held`), with the scope that commits their update.
    pub held: Vec<(u32, u32)>,
}

/// Holds a compiled loop.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// Start of `init`.
    pub entry: Pc,
    pub instrs: Vec<Instr>,
    pub ops3: Vec<Op3>,
    pub traps: Vec<TrapSite>,
    pub late_lanes: Vec<LateLane>,
    pub rare: Vec<Rare>,
    /// Combine functions: their start, and the registers of their results.
    pub functions: Vec<(Pc, Vec<Reg>)>,
    /// By `GroupId`. `None` for groups without a local part.
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
    /// Held variables: register, word of the pending value.
    pub held: Vec<(Reg, Ty, u32)>,
    /// Steps reported to an observer.
    pub watched: Vec<Watched>,
    /// The event that each counter of counting mode counts.
    pub counters: Vec<crate::counts::Counted>,
}
