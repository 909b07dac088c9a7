//! Which schedule a loop gets: ideas, each with the condition under which it is thought to be the faster. What the judge
//! refuses is not taken.

use super::legal::allows;
use super::{Admit, Decision, MAX_LANES, Schedule};
use crate::region::cost::{is_cheap, waits};
use crate::region::zip::Zip;
use crate::region::{Aside, Region, Role, Statement, Step, Sweep};
use crate::target::{Extension, Masks, Target};
use livefusion_backend::facts;
use loop_lang::ir::{Atom, Combine, RateId, RateKind, Stmt, StmtKind, Var};
use loop_lang::math;
use loop_lang::op::Op;
use loop_lang::types::Ty;

/// Bytes that a loop reads and writes in step from which on its results go past the caches: there is no room for them all, and
/// to write them there each line would be read before. Below, whoever reads them next may find them.
const LARGE: u64 = 4 << 20;
/// Cycles that a piece of a body waits for one thing after the other: it has as many operations that are ready in the
/// elements of which a processor thinks at a time.
const WAIT: u32 = 32;
/// More vectors of lanes than this for each register of the machine are not in the code of one turn.
const MAX_HELD: usize = 24;
/// What there is to do in a piece at most.
const WORK: u32 = 128;
/// Elements in a buffer between pieces.
const BUFFER: u32 = 256;
/// Elements in a buffer behind a cursor: as many as fit.
const BUFFERED: [u32; 3] = [1024, 512, 256];
/// More statements than this cost more than a branch.
const MAX_MASKED: usize = 24;
/// Code that is to start soon has no more statements of a turn than this, if the turn is more than one vector.
const LITTLE: usize = 40;
/// Statements that are as much code as a write which packs, or a scan.
const LONG: usize = 8;
/// Vectors of elements that a scalar loop takes side by side: one waits for its own last turn.
const IN_FLIGHT: u32 = 4;

/// What code is made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Aim {
    /// To run soon: what takes longer to compile has to win much.
    Start,
    /// To run fast, however long that takes to compile.
    Speed,
}

/// The schedule of a loop on a machine: step by step, or in vectors where there are some, and that is legal and thought to
/// be faster.
pub fn choose(region: &Region, target: &Target, aim: Aim) -> Schedule {
    let mut schedule = Schedule::new();
    for sweep in region.sweeps() {
        schedule = schedule.and(&of_sweep(region, sweep, target, aim));
        if aim == Aim::Speed {
            schedule = past_the_caches(region, sweep, &schedule).unwrap_or(schedule);
        }
    }
    if aim == Aim::Speed {
        for zip in &region.zips().all {
            schedule = through_buffers(region, zip, &schedule, target).unwrap_or(schedule);
        }
    }
    schedule
}

/// The schedule of a sweep.
fn of_sweep(region: &Region, sweep: &Sweep, target: &Target, aim: Aim) -> Schedule {
    let split = split(region, sweep, aim).unwrap_or_default();
    let wide = match aim {
        _ if turns(sweep) => turns_side_by_side(region, sweep, target, aim),
        Aim::Start => block_by_block(region, sweep, target, &split)
            .or_else(|| side_by_side(region, sweep, target, &split)),
        Aim::Speed => many_side_by_side(region, sweep, target, &split)
            .or_else(|| segments_side_by_side(region, sweep, target)),
    };
    let schedule = wide.unwrap_or_else(|| match aim {
        // An exit may ask how many were admitted: branches foresee that, and nothing waits for it.
        Aim::Start if !sweep.exits.is_empty() => split,
        Aim::Start | Aim::Speed => step_by_step(region, sweep, split),
    });
    let pieces = match aim {
        // Few steps are taken one by one then: the rest of vectors.
        Aim::Start if schedule.vectors(sweep.rate).0 == 1 => None,
        Aim::Start | Aim::Speed => in_pieces(region, sweep, &schedule),
    };
    pieces.unwrap_or(schedule)
}

/// Cursors through buffers: from element to element there is a branch that is as good as random.
fn through_buffers(
    region: &Region,
    zip: &Zip,
    schedule: &Schedule,
    target: &Target,
) -> Option<Schedule> {
    let buffer = |elements: &u32| with(region, schedule, zip.rate, Decision::Buffer(*elements));
    let mut schedule = BUFFERED.iter().find_map(buffer)?;
    let parts = zip.parts()?;
    let packs = parts.sides.iter().map(|(packs, _)| packs);
    for part in packs.chain([&parts.behind]) {
        schedule = schedule.and(&of_sweep(&part.region, part.sweep()?, target, Aim::Speed));
    }
    Some(schedule)
}

/// From how many steps on a sweep's results are large.
pub fn large(region: &Region, sweep: &Sweep) -> u64 {
    let size = |a: &Var| region.program.ty(*a).elem().size() as u64;
    let bytes: u64 = sweep.arrays.iter().map(size).sum();
    LARGE / bytes.max(1)
}

/// Bodies in which more waits for each other than a processor looks ahead are cut in pieces, and those of which compilers
/// would make a long function. Around one thing that takes as long as the rest, as a lone exponential, cuts are of no use.
fn in_pieces(region: &Region, sweep: &Sweep, schedule: &Schedule) -> Option<Schedule> {
    let (lanes, unroll) = schedule.vectors(sweep.rate);
    let whole = sweep.cost();
    let mut alone = sweep.all_tops().map(|s| s.cost.wait);
    let waits = waits(whole, 2) && alone.all(|one| 2 * one <= whole.wait);
    if turns(sweep) || !waits && whole.work <= 2 * u64::from(WORK) {
        return None;
    }
    let pieces = Decision::Distribute {
        wait: WAIT,
        work: WORK,
        steps: BUFFER.max(lanes * unroll),
    };
    with(region, schedule, sweep.rate, pieces)
}

/// Large results past the caches, if that is legal. What a filter keeps goes through them beside it, and what turns for long
/// does not wait for memory.
fn past_the_caches(region: &Region, sweep: &Sweep, schedule: &Schedule) -> Option<Schedule> {
    let stream = Decision::Stream(large(region, sweep));
    let streams =
        (sweep.is_plain() && !turns(sweep)).then(|| with(region, schedule, sweep.rate, stream));
    streams.flatten()
}

/// A sweep range by range, if that is legal. Rows are left to the loop around them, unless they ask something; segments are,
/// since they may be short. Each case is code of its own, which takes long to compile if there are several.
fn split(region: &Region, sweep: &Sweep, aim: Aim) -> Option<Schedule> {
    let asks = || region.cases(sweep).ask();
    let fits = match region.program.rate(sweep.rate).kind {
        RateKind::Root { .. } if aim == Aim::Start => {
            sweep.accesses.iter().any(|a| !a.is_proven) && !asks()
        }
        RateKind::Root { .. } => true,
        RateKind::Nested { .. } if aim == Aim::Start => false,
        RateKind::Nested { uniform, .. } => uniform && sweep.groups.is_empty() && asks(),
        RateKind::Sub { .. } | RateKind::Cursor { .. } => false,
    };
    let schedule = Schedule::new();
    fits.then(|| with(region, &schedule, sweep.rate, Decision::Split))?
}

/// The sub rates of a sweep, by the steps that enter them.
fn subs(region: &Region, sweep: &Sweep) -> Vec<(usize, RateId)> {
    let steps = sweep.steps.iter().enumerate();
    let entered = steps.filter_map(|(k, step)| match step {
        Step::Enter(i) => Some((k, region.rate_of_block(*i)?)),
        _ => None,
    });
    entered.collect()
}

/// What is packed side by side needs no second look; what updates alone is kept back by a mask.
const SIDE_BY_SIDE: [Admit; 2] = [Admit::Compact, Admit::Mask];

/// The schedule in which each sub rate of a sweep in vectors of so many lanes admits in the first of these ways that is legal;
/// none if one has none.
fn admitting(
    region: &Region,
    sweep: &Sweep,
    ways: [Admit; 2],
    lanes: u32,
    mut schedule: Schedule,
) -> Option<Schedule> {
    let vectors = Decision::Vectorise { lanes, unroll: 1 };
    for (_, rate) in subs(region, sweep) {
        let around = schedule.clone().with(sweep.rate, vectors);
        let is_legal = |how: &Admit| allows(region, &around, rate, Decision::Admit(*how)).is_ok();
        let how = ways.into_iter().find(is_legal)?;
        schedule = schedule.with(rate, Decision::Admit(how));
    }
    Some(schedule)
}

/// The schedule with a decision more, if that is legal.
fn with(
    region: &Region,
    schedule: &Schedule,
    rate: RateId,
    decision: Decision,
) -> Option<Schedule> {
    let is_legal = allows(region, schedule, rate, decision).is_ok();
    is_legal.then(|| schedule.clone().with(rate, decision))
}

/// Step by step. What is rejected is computed too where that costs less than a mispredicted branch: which elements pass
/// is often as good as random.
fn step_by_step(region: &Region, sweep: &Sweep, mut schedule: Schedule) -> Schedule {
    for (step, rate) in subs(region, sweep) {
        if needs_no_branch(region, sweep, step)
            && let Some(more) = with(region, &schedule, rate, Decision::Admit(Admit::Compact))
        {
            schedule = more;
        }
    }
    schedule
}

/// Whether a sub rate only computes cheaply, updates, and writes at its own count.
fn needs_no_branch(region: &Region, sweep: &Sweep, enter: usize) -> bool {
    let inside: Vec<_> = (sweep.all_tops())
        .filter(|s| s.sub == Some(enter) && s.step != enter)
        .collect();
    let steps = sweep.steps.iter().skip(enter + 1);
    let innermost = (steps.take_while(|s| !matches!(s, Step::Leave)))
        .all(|step| matches!(step, Step::Block(_)));
    let assigned = |v: Var| {
        let mut all = inside.iter();
        all.any(|s| matches!(s.stmt.kind, StmtKind::Assign(a, _) if a == v))
    };
    innermost
        && inside.len() <= MAX_MASKED
        && inside.iter().all(|s| match &s.stmt.kind {
            StmtKind::Assign(..) => true,
            StmtKind::WriteArray(_, Atom::Var(index), _) => assigned(*index),
            _ => is_cheap(region.program, s.stmt),
        })
}

/// Steps side by side, in vectors; none if that is not legal, or thought to be no faster.
fn side_by_side(
    region: &Region,
    sweep: &Sweep,
    target: &Target,
    split: &Schedule,
) -> Option<Schedule> {
    let (narrowest, widest) = widths(region, sweep)?;
    // What is twice as wide is two vectors. What fills a part of one costs as much as what fills it.
    let lanes = target.vector_bytes() as u32 / narrowest;
    // Inner loops are often shorter than what it takes to begin with vectors.
    let root = matches!(region.program.rate(sweep.rate).kind, RateKind::Root { .. });
    if !target.has_vectors() || widest > 2 * narrowest || !root || goes_on(sweep) {
        return None;
    }
    // What is read anywhere is read lane by lane, which takes longer to compile than it wins.
    let aside = aside(region, sweep, split);
    if aside != Aside::Nowhere || !all_in_vectors(region, sweep, (target, Aim::Start)) {
        return None;
    }
    vectors_of(region, sweep, lanes, split)
}

/// Scans a block at a time. What goes from step to step takes longer than what vectors do lane by lane for want of an
/// operator, or make wider and narrower.
fn block_by_block(
    region: &Region,
    sweep: &Sweep,
    target: &Target,
    split: &Schedule,
) -> Option<Schedule> {
    let lanes = block(sweep).filter(|_| target.has_vectors())?;
    let program = region.program;
    let fits = |s: &Stmt| match &s.kind {
        StmtKind::While { .. } | StmtKind::ScatterArray { .. } => false,
        StmtKind::Scan { group, elems, .. } => {
            match (program.groups[group.index()].combine, elems.first()) {
                (Some(Combine::Op(op)), Some(x)) => {
                    let ty = program.atom_ty(*x);
                    op.vectorises(ty, ty)
                }
                _ => false,
            }
        }
        _ => true,
    };
    let root = matches!(region.program.rate(sweep.rate).kind, RateKind::Root { .. });
    match root && sweep.statements.iter().all(|s| fits(s.stmt)) {
        true => vectors_of(region, sweep, lanes, split),
        false => None,
    }
}

/// Whether something goes from one element to the next, which takes longer to compile than it wins.
fn goes_on(sweep: &Sweep) -> bool {
    let serial = |role: &Role| matches!(role, Role::Serial | Role::Scan(1));
    running(sweep) || sweep.roles.values().any(serial)
}

/// Whether sums run through a sweep. In vectors of few lanes they take more than one after the other.
fn running(sweep: &Sweep) -> bool {
    let mut roles = sweep.roles.values();
    roles.any(|role| matches!(role, Role::Running { .. }))
}

/// How many elements a sweep's scans take at a time, if it has some.
fn block(sweep: &Sweep) -> Option<u32> {
    sweep.roles.values().find_map(|role| match role {
        Role::Scan(block) if *block > 1 => Some(*block),
        _ => None,
    })
}

/// Vectors of so many lanes, if that is legal; what is rejected has no effect.
fn vectors_of(region: &Region, sweep: &Sweep, lanes: u32, split: &Schedule) -> Option<Schedule> {
    let schedule = admitting(region, sweep, SIDE_BY_SIDE, lanes, split.clone())?;
    // Of little, what counts and tests is a large part. More takes longer to compile than it wins.
    let most = LITTLE / size(sweep).max(1);
    let fits = |unroll: &u32| *unroll == 1 || *unroll as usize <= most;
    [4, 2, 1].into_iter().filter(fits).find_map(|unroll| {
        let vectorise = Decision::Vectorise { lanes, unroll };
        with(region, &schedule, sweep.rate, vectorise)
    })
}

/// How much code a vector of a sweep is, in statements.
fn size(sweep: &Sweep) -> usize {
    let writes = sweep.accesses.iter().filter(|a| !a.is_read);
    let packed = writes.filter(|a| a.index != Atom::Var(sweep.counter));
    let scans = sweep.roles.values().filter(|r| matches!(r, Role::Scan(_)));
    sweep.all_tops().count() + LONG * (packed.count() + scans.count())
}

/// Steps side by side in vectors as wide as the widest element wants, so many in a turn that lanes stay in registers; none
/// if that is not legal, or thought to be no faster.
fn many_side_by_side(
    region: &Region,
    sweep: &Sweep,
    target: &Target,
    split: &Schedule,
) -> Option<Schedule> {
    let (_, widest) = widths(region, sweep)?;
    let lanes = match block(sweep) {
        Some(block) => block,
        None => target.vector_bytes() as u32 / widest,
    };
    // In a nest, what the root does with its segments counts.
    let mut nests = region.nests().iter();
    let alone = !nests.any(|n| n.inner.contains(&sweep.rate));
    // To scan step by step takes longer than to do the rest lane by lane. What is joined onto elements anywhere costs the same
    // lane by lane.
    let scans = block(sweep).is_some();
    let code = (target, Aim::Speed);
    let cheap = |s: &Statement| match &s.stmt.kind {
        StmtKind::While { .. } => false,
        StmtKind::ScatterArray { .. } => true,
        _ if scans => true,
        _ => in_vectors(region, sweep, s.stmt, code) || is_cheap(region.program, s.stmt),
    };
    let aside = aside(region, sweep, split);
    let few = match running(sweep) || aside == Aside::Anywhere || sweep.scatters {
        true => 4,
        false => 2,
    };
    if !target.has_vectors() || lanes < few || !alone || !scans && aside == Aside::Near {
        return None;
    }
    if !sweep.statements.iter().all(cheap) || !is_little_chained(region, sweep, target, lanes) {
        return None;
    }
    let schedule = admitting(region, sweep, SIDE_BY_SIDE, lanes, split.clone())?;
    let mut turns = [all_lanes(region, sweep, target, lanes), 2, 1].into_iter();
    let schedule = turns.find_map(|unroll| {
        let vectorise = Decision::Vectorise { lanes, unroll };
        with(region, &schedule, sweep.rate, vectorise)
    })?;
    Some(quick(region, sweep, schedule))
}

/// Steps of segments side by side, so many in a turn that it takes all lanes; none if that is not legal, or thought to be no
/// faster. Segments are short: what they fold is worth it, since lanes are joined for each of them.
fn segments_side_by_side(region: &Region, sweep: &Sweep, target: &Target) -> Option<Schedule> {
    // Inner ones come first.
    let mut around = region.nests().iter().rev();
    let nest = around.find(|n| n.inside(region).iter().any(|s| s.rate == sweep.rate))?;
    let inner = nest.sweeps(region).into_iter();
    let folds = |s: &&Sweep| {
        let mut roles = s.roles.values();
        roles.any(|r| matches!(r, Role::Lanes(_) | Role::Join(..)))
    };
    let scans = sweep.roles.values().any(|r| matches!(r, Role::Scan(_)));
    if !target.has_vectors()
        || !folds(&sweep)
        || scans
        || goes_on(sweep)
        || !sweep.exits.is_empty()
        || !all_in_vectors(region, sweep, (target, Aim::Speed))
    {
        return None;
    }
    // Vectors of one tile have as many lanes.
    let widest = inner.filter(folds).filter_map(|s| widths(region, s));
    let lanes = target.vector_bytes() as u32 / widest.map(|w| w.1).max()?;
    match sweep.reads_aside(|_| false) {
        Aside::Near => return None,
        Aside::Anywhere if lanes < 4 => return None,
        _ => {}
    }
    let groups = sweep.roles.values().filter_map(|role| match role {
        Role::Lanes(of) => Some(of / lanes.max(1)),
        _ => None,
    });
    let unroll = groups.max().unwrap_or(1);
    let schedule = admitting(region, sweep, SIDE_BY_SIDE, lanes, Schedule::new())?;
    let vectorise = Decision::Vectorise { lanes, unroll };
    let schedule = with(region, &schedule, sweep.rate, vectorise)?;
    Some(quick(region, sweep, schedule))
}

/// Whether what goes from one element to the next leaves vectors enough to do: it seldom changes, or there is more beside
/// it, which vectors do not take apart as well.
fn is_little_chained(region: &Region, sweep: &Sweep, target: &Target, lanes: u32) -> bool {
    let chain = match region.chain(sweep) {
        Ok(Some(chain)) if chain.changes.is_none() => chain,
        Ok(_) => return true,
        Err(_) => return false,
    };
    let program = region.program;
    let beside = |s: &&Statement| {
        let computes = matches!(s.stmt.kind, StmtKind::Let(..) | StmtKind::If { .. });
        let mut varies = false;
        facts::each_def(s.stmt, &mut |v| varies |= !is_next_count(sweep, v));
        computes && varies && !chain.held.contains(&s.id)
    };
    // The guard's test is none of it.
    let beside = sweep
        .all_tops()
        .filter(|s| s.step > 0)
        .filter(beside)
        .count();
    let apart = |s: &Statement| match &s.stmt.kind {
        StmtKind::Let(v, Op::Cast, args) => {
            let (from, to) = (program.atom_ty(args[0]), program.ty(*v).elem());
            let wide = from.size() == 8 || to.size() == 8;
            wide && from.is_float() != to.is_float() && target.masks() != Masks::Registers
        }
        _ => false,
    };
    lanes >= 4 && beside > 0 && !sweep.statements.iter().any(apart)
}

/// Extrema of floats take one instruction where they may: the range is seldom gone through again.
fn quick(region: &Region, sweep: &Sweep, schedule: Schedule) -> Schedule {
    with(region, &schedule, sweep.rate, Decision::Quick).unwrap_or(schedule)
}

/// How many vectors take all lanes of groups, if these are not so many that compilers take long for it, or extrema are the
/// quicker for it; else one.
fn all_lanes(region: &Region, sweep: &Sweep, target: &Target, lanes: u32) -> u32 {
    let groups: Vec<u32> = (sweep.roles.values())
        .filter_map(|role| match role {
            Role::Lanes(of) => Some(of / lanes),
            _ => None,
        })
        .collect();
    let taken: u32 = groups.iter().sum();
    match groups.iter().max() {
        Some(most) if taken as usize <= MAX_HELD * target.registers() => *most,
        Some(most) if !region.extrema(sweep).is_empty() => *most,
        Some(_) => 1,
        None => 2,
    }
}

/// Whether a sweep has scalar loops.
fn turns(sweep: &Sweep) -> bool {
    let mut all = sweep.statements.iter();
    all.any(|s| matches!(s.stmt.kind, StmtKind::While { .. }))
}

/// Scalar loops of several elements side by side, each under a mask of the elements that go on; none if that is not legal,
/// or if they do what vectors do one lane after the other.
fn turns_side_by_side(
    region: &Region,
    sweep: &Sweep,
    target: &Target,
    aim: Aim,
) -> Option<Schedule> {
    let root = matches!(region.program.rate(sweep.rate).kind, RateKind::Root { .. });
    let mut inside = sweep.statements.iter().filter(|s| !s.top);
    let fits = inside.all(|s| in_vectors(region, sweep, s.stmt, (target, aim)));
    if !target.has_vectors() || !root || !fits {
        return None;
    }
    let (_, widest) = widths(region, sweep)?;
    // Each vector is code of its own.
    let in_flight = match aim {
        Aim::Start if IN_FLIGHT as usize * sweep.statements.len() > LITTLE => IN_FLIGHT / 2,
        Aim::Start | Aim::Speed => IN_FLIGHT,
    };
    let in_flight = in_flight * target.vector_bytes() as u32 / widest;
    let lanes = block(sweep).unwrap_or(in_flight.min(MAX_LANES));
    // Who is rejected by all lanes has no turns.
    let ways = [Admit::Branch, Admit::Compact];
    let schedule = admitting(region, sweep, ways, lanes, Schedule::new())?;
    let vectorise = Decision::Vectorise { lanes, unroll: 1 };
    with(region, &schedule, sweep.rate, vectorise)
}

/// The widths of what differs from step to step, the smallest and the largest; none if there is nothing of the kind.
fn widths(region: &Region, sweep: &Sweep) -> Option<(u32, u32)> {
    let differ =
        (sweep.defs.iter()).filter(|v| sweep.varies(Atom::Var(**v)) && !is_next_count(sweep, **v));
    let elem = |v: Var| region.program.ty(v).elem();
    let stored = sweep.accesses.iter().map(|a| elem(a.array));
    let all = differ.map(|v| elem(*v)).chain(stored);
    // Truth values are as wide as what was compared. In memory they are bytes, which counts where there is nothing else.
    let (truths, others): (Vec<Ty>, Vec<Ty>) = all.partition(|ty| *ty == Ty::Bool);
    let widths = match others.is_empty() {
        true => truths,
        false => others,
    };
    let widths = widths.iter().map(|ty| ty.size() as u32);
    Some((widths.clone().min()?, widths.max()?))
}

/// Whether a variable is what a counter or a count is next: vectors do not compute it.
fn is_next_count(sweep: &Sweep, v: Var) -> bool {
    let updated = |u: &Var| {
        sweep
            .updates
            .get(u)
            .is_some_and(|next| next[..] == [Some(v)])
    };
    sweep.next_of(v).is_some_and(|u| updated(&u))
}

/// Whether all operators have vectors, and no lane waits for another's scalar loop.
fn all_in_vectors(region: &Region, sweep: &Sweep, code: (&Target, Aim)) -> bool {
    let mut all = sweep.statements.iter();
    all.all(|s| in_vectors(region, sweep, s.stmt, code))
}

/// What a sweep reads that does not lie side by side.
fn aside(region: &Region, sweep: &Sweep, split: &Schedule) -> Aside {
    let cases = split.splits(sweep.rate).then(|| region.cases(sweep));
    sweep.reads_aside(|a| cases.as_ref().is_some_and(|c| c.prove(sweep, a)))
}

/// Whether a statement is one of vectors, and not of one lane after the other.
fn in_vectors(region: &Region, sweep: &Sweep, s: &Stmt, code: (&Target, Aim)) -> bool {
    let program = region.program;
    match &s.kind {
        // Lanes are joined onto elements one after the other.
        StmtKind::While { .. } | StmtKind::ScatterArray { .. } => false,
        StmtKind::Let(v, op, args) => {
            let typed = args[usize::from(args.len() == 3)];
            let mut known = true;
            facts::each_use(s, &mut |u| known &= !sweep.varies(Atom::Var(u)));
            let (from, to) = (program.atom_ty(typed), program.ty(*v).elem());
            known || op.vectorises(from, to) || is_written_out(*op, from, code)
        }
        _ => true,
    }
}

/// Whether an operator is a function whose body is written out in vectors. That takes too long for code that is to start soon.
fn is_written_out(op: Op, ty: Ty, (target, aim): (&Target, Aim)) -> bool {
    aim == Aim::Speed && target.has(Extension::Fma) && math::keeps_width(op, ty)
}
