//! From a loop, and what its [`Region`] knows of it, to Cranelift's intermediate form.
//!
//! | module | writes |
//! | --- | --- |
//! | `ops`, `floats` | scalar operators, constants, words |
//! | `stmt`, `arrays`, `groups` | statements, accesses to memory, carried groups |
//! | `totals` | what lanes come to, for readers after their loop |
//! | `machine` | the loop's blocks as a state machine |
//! | `tile` | tiles: innermost loops, nests and zips, which run without stops |
//! | `frame`, `chunk` | how the machine pauses and goes on; ends of chunks |
//! | `slots` | what stays in memory all the time |

mod arrays;
mod chunk;
mod floats;
mod frame;
mod groups;
mod machine;
mod ops;
mod slots;
mod stmt;
mod tile;
mod totals;

use cranelift_codegen::ir::{
    AbiParam, Block, Function, InstBuilder, MemFlagsData, Type, Value, types,
};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use livefusion_backend::facts::{self, Facts};
use livefusion_tile::ir::Tile;
use livefusion_tile::region::Region;
use livefusion_tile::schedule::{Aim, Schedule, choose};
use livefusion_tile::target::{Extension, Target};
use loop_lang::Loop;
use loop_lang::ir::{Atom, End, Group, GroupId, Order, Place, RateId, Var};
use loop_lang::state::Layout;
use loop_lang::types::Ty;
use rustc_hash::FxHashMap;
use tile::Calls;
use totals::Totals;

/// More lanes than this in one group are refused.
const MAX_LANES: u32 = 4096;
/// More lanes than this for all variables of one group, too.
const MAX_GROUP_WORDS: usize = 32 << 10;

/// Memory that is there, aligned, and in range: whoever emits the access has made sure of it.
const MEMORY: MemFlagsData = MemFlagsData::trusted();

/// What is to be compiled.
pub struct Request<'a> {
    /// The form of the loop.
    pub program: &'a Loop,
    /// The layout of its emit form.
    pub layout: &'a Layout,
    /// Whether this is a summary: the returning block does not run.
    pub summary: bool,
    /// Whether tiles are taken, and what these cannot do is left to the machine.
    pub fast: bool,
    /// How innermost loops run, if that is not to be chosen.
    pub schedule: Option<&'a Schedule>,
    /// What the machine can do.
    pub target: &'a Target,
    /// Its conventions.
    pub frontend: TargetFrontendConfig,
}

/// Words of scratch memory that a loop's kernels need: where lanes are joined.
pub fn scratch_words(program: &Loop) -> usize {
    let lanes = |g: &Group| g.order.lanes().unwrap_or(0) as usize;
    let words = program.groups.iter().map(|g| g.vars.len() * lanes(g));
    words.max().unwrap_or(0)
}

/// Writes a pass: a function of the run's address that gives an outcome.
pub fn function(
    function: &mut Function,
    context: &mut FunctionBuilderContext,
    request: Request<'_>,
) -> Result<(), String> {
    let Request {
        program, layout, ..
    } = request;
    check_lanes(program)?;
    let region = Region::of(program, &layout.arrays, &layout.held)?;
    let facts = &region.facts;
    check_targets(program, facts)?;
    function.signature.params.push(AbiParam::new(types::I64));
    function.signature.returns.push(AbiParam::new(types::I32));
    let chosen = || choose(&region, request.target, Aim::Start);
    let calls = match request.fast {
        true => Calls::of(&region, &request.schedule.cloned().unwrap_or_else(chosen)),
        false => Calls::default(),
    };
    // What zips are made of has variables of its own.
    let named = (!calls.zips.is_empty()).then(|| region.zips().named.as_ref());
    let program = named.flatten().unwrap_or(program);
    let builder = FunctionBuilder::new(function, context);
    let in_pieces = calls
        .inner_loops
        .iter()
        .any(|c| c.tiles.iter().any(Tile::is_in_pieces));
    let mut emit = Emit::new(builder, (program, facts), &request, in_pieces);
    let mut rates = layout.resume.iter();
    emit.turns_itself = !rates.all(|rate| calls.take(&region, *rate));
    emit.machine(&calls);
    emit.builder.finalize(request.frontend);
    Ok(())
}

fn check_lanes(program: &Loop) -> Result<(), String> {
    for g in &program.groups {
        if let Order::Lanes(l) | Order::Prefix(l) = g.order {
            let words = g.vars.len().saturating_mul(l as usize);
            if !l.is_power_of_two() || l > MAX_LANES || words > MAX_GROUP_WORDS {
                return Err(format!(
                    "a group of {} variables in {l} lanes",
                    g.vars.len()
                ));
            }
        }
    }
    Ok(())
}

/// Every block must end, and go to blocks that are there.
fn check_targets(program: &Loop, facts: &Facts) -> Result<(), String> {
    for placed in &facts.blocks {
        if matches!(placed.block.end, End::Open) {
            return Err(format!("the block at {:?} has no end", placed.place));
        }
        for target in facts::targets(placed.block) {
            let place = facts.tree.place(program, target);
            if !facts.at.contains_key(&place) {
                return Err(format!("no block at {place:?}"));
            }
        }
    }
    Ok(())
}

/// What a variable of the generated function holds of a loop's variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Facet {
    /// The value that reads see; of groups with a local part, the prefix.
    Value,
    /// The next value, where an update waits for the guard.
    Next,
    /// Of a `Prefix` group: the value that reads see.
    Now,
    /// Of a `Prefix` group: the running total of finished blocks.
    Total,
    /// Of a `Prefix` group: the last local value.
    Last,
    /// Of a `Lanes` group: the total, for readers after the loop.
    Joined,
    /// An array's elements.
    Data,
    /// An array's length.
    Length,
}

/// A function being written.
struct Emit<'a, 'f> {
    builder: FunctionBuilder<'f>,
    program: &'a Loop,
    facts: &'a Facts<'a>,
    layout: &'a Layout,
    summary: bool,
    target: &'a Target,
    frontend: TargetFrontendConfig,
    variables: FxHashMap<(Var, Facet), Variable>,
    /// The words of what stays in the frame.
    slots: FxHashMap<(Var, Facet), usize>,
    /// Where each parameter is in the run's tables.
    params: FxHashMap<Var, usize>,
    /// Parameters and arrays that are in registers.
    near: FxHashMap<(Var, Facet), Value>,
    /// Values of the frame that are in registers in the loop that is written.
    taken: FxHashMap<(Var, Facet), Variable>,
    /// Next values that a pause must keep beside the old ones, by word.
    held: FxHashMap<Var, usize>,
    /// Where the block that is written is in the rate tree.
    place: Place,
    /// Whether anything in the loop can trap.
    traps: bool,
    run: Value,
    words: Value,
    /// The tables of arrays that the loop makes, of those that it is given, and of its scalar parameters.
    made: Value,
    inputs: Value,
    scalars: Value,
    /// The step count at which the span ends.
    limit: Value,
    steps: Variable,
    /// The step at which to stop and look.
    event: Variable,
    trapped: Variable,
    /// Whether the loop was left early, if that can be.
    early: Option<Variable>,
    /// Cranelift's blocks by the loop's.
    blocks: Vec<Block>,
    /// Jumps to each block that are still to be written.
    awaited: Vec<usize>,
    event_block: Block,
    paused_block: Block,
    trapped_block: Block,
    no_memory_block: Block,
    /// Whether a loop rate that updates lanes has others below it.
    joins_above: bool,
    /// Whether the machine turns for long itself, since some loop rate is no innermost loop: what calls in other places
    /// want kept is in no registers there.
    turns_itself: bool,
    /// Where lanes are joined for readers after their loop.
    totals: Totals,
}

impl<'a, 'f> Emit<'a, 'f> {
    fn new(
        mut builder: FunctionBuilder<'f>,
        (program, facts): (&'a Loop, &'a Facts<'a>),
        request: &Request<'a>,
        in_pieces: bool,
    ) -> Emit<'a, 'f> {
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        builder.seal_block(entry);
        let run = builder.block_params(entry)[0];
        let blocks = facts.blocks.iter().map(|_| builder.create_block());
        let blocks = blocks.collect();
        let mut emit = Emit {
            program,
            facts,
            layout: request.layout,
            summary: request.summary,
            target: request.target,
            frontend: request.frontend,
            variables: FxHashMap::default(),
            slots: slots::slots(program, request.layout, in_pieces),
            params: program.params.iter().map(|p| p.var).zip(0..).collect(),
            near: FxHashMap::default(),
            taken: FxHashMap::default(),
            held: request.layout.held.iter().copied().collect(),
            place: Place::Init,
            traps: !program.traps.is_empty(),
            run,
            words: run,
            made: run,
            inputs: run,
            scalars: run,
            limit: run,
            steps: builder.declare_var(types::I64),
            event: builder.declare_var(types::I64),
            trapped: builder.declare_var(types::I8),
            early: None,
            blocks,
            awaited: Vec::new(),
            event_block: builder.create_block(),
            paused_block: builder.create_block(),
            trapped_block: builder.create_block(),
            no_memory_block: builder.create_block(),
            joins_above: false,
            turns_itself: false,
            totals: Totals::of(program, facts),
            builder,
        };
        emit.joins_above = emit.any_joins_above();
        emit
    }

    /// Whether rounding to integers is an instruction.
    fn rounds(&self) -> bool {
        self.target.has(Extension::Sse41) || self.target.has(Extension::Neon)
    }

    /// Whether a multiplication with addition is one.
    fn fuses(&self) -> bool {
        self.target.has(Extension::Fma) || self.target.has(Extension::Neon)
    }

    /// The type of registers that hold a scalar.
    fn register(ty: Ty) -> Type {
        match ty {
            Ty::Bool | Ty::I8 | Ty::U8 => types::I8,
            Ty::I16 | Ty::U16 => types::I16,
            Ty::I32 | Ty::U32 => types::I32,
            Ty::I64 | Ty::U64 => types::I64,
            Ty::F32 => types::F32,
            Ty::F64 => types::F64,
        }
    }

    fn variable(&mut self, v: Var, facet: Facet) -> Variable {
        let ty = match facet {
            Facet::Data | Facet::Length => types::I64,
            _ => Self::register(facts::elem(self.program, v)),
        };
        let builder = &mut self.builder;
        let known = self.variables.entry((v, facet));
        *known.or_insert_with(|| builder.declare_var(ty))
    }

    fn get(&mut self, v: Var, facet: Facet) -> Value {
        if let Some(value) = self.near.get(&(v, facet)) {
            return *value;
        }
        if let Some(i) = self.params.get(&v) {
            return self.load_param(*i, facet);
        }
        if let Some(slot) = self.slot(v, facet) {
            return self.entry(self.made, slot, facet);
        }
        if let Some(variable) = self.taken.get(&(v, facet)) {
            return self.builder.use_var(*variable);
        }
        if let Some(word) = self.slots.get(&(v, facet)).copied() {
            return self.load_slot(v, word);
        }
        let variable = self.variable(v, facet);
        self.builder.use_var(variable)
    }

    fn set(&mut self, v: Var, facet: Facet, value: Value) {
        if let Some(variable) = self.taken.get(&(v, facet)) {
            self.builder.def_var(*variable, value);
            return;
        }
        if let Some(word) = self.slots.get(&(v, facet)).copied() {
            self.store_slot(v, word, value);
            return;
        }
        let variable = self.variable(v, facet);
        self.builder.def_var(variable, value);
    }

    /// The value of an operand as readers see it.
    fn atom(&mut self, a: Atom) -> Value {
        let v = match a {
            Atom::Const(c) => return self.constant(c),
            Atom::Var(v) => v,
        };
        match self.facts.local_group(self.program, v) {
            Some((_, _, Order::Prefix(_))) => self.get(v, Facet::Now),
            Some((g, i, _)) if self.inside(g) => self.load_lane(g, i),
            Some(_) => self.get(v, Facet::Joined),
            None => self.get(v, Facet::Value),
        }
    }

    /// Whether the block that is written runs inside of the loop that updates `g`.
    fn inside(&self, g: GroupId) -> bool {
        self.facts.inside(self.program, g, self.place)
    }

    /// The innermost loop rate around the block that is written.
    fn loop_rate(&self) -> Option<RateId> {
        self.facts.chain(self.program, self.place).first().copied()
    }

    /// The variable whose memory an array is in: slices share their array's.
    fn owner(&self, a: Var) -> Var {
        self.facts.owner(self.program, &self.layout.arrays, a)
    }

    fn data(&mut self, a: Var) -> Value {
        let owner = self.owner(a);
        self.get(owner, Facet::Data)
    }

    fn length(&mut self, a: Var) -> Value {
        let owner = self.owner(a);
        self.get(owner, Facet::Length)
    }

    /// Notes that something failed, if `ok` is false.
    fn trap_unless(&mut self, ok: Value) {
        let failed = self.builder.ins().bxor_imm_u(ok, 1);
        let trapped = self.builder.use_var(self.trapped);
        let trapped = self.builder.ins().bor(trapped, failed);
        self.builder.def_var(self.trapped, trapped);
    }

    fn u64(&mut self, x: u64) -> Value {
        self.builder.ins().iconst(types::I64, x as i64)
    }

    /// Goes on in a new block, to which everything so far leads.
    fn begin(&mut self, block: Block) {
        self.builder.switch_to_block(block);
        self.builder.seal_block(block);
    }

    /// A loop over `0 .. count` with a body that is given the index.
    fn repeat(&mut self, count: Value, body: impl FnOnce(&mut Self, Value)) {
        let index = self.builder.declare_var(types::I64);
        let zero = self.u64(0);
        self.builder.def_var(index, zero);
        let head = self.builder.create_block();
        let inside = self.builder.create_block();
        let after = self.builder.create_block();
        self.builder.ins().jump(head, &[]);
        self.builder.switch_to_block(head);
        let i = self.builder.use_var(index);
        let more = self.less(i, count);
        self.builder.ins().brif(more, inside, &[], after, &[]);
        self.begin(inside);
        body(self, i);
        let next = self.builder.ins().iadd_imm_u(i, 1);
        self.builder.def_var(index, next);
        self.builder.ins().jump(head, &[]);
        self.builder.seal_block(head);
        self.begin(after);
    }
}
