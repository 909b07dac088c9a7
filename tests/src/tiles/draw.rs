//! Random schedules: legal, then with one illegal decision.

use super::drawn::Drawn;
use crate::rng::Rng;
use livefusion_tile::region::{InnerLoop, Region, Role, Step};
use livefusion_tile::schedule::{Admit, Decision, Refused, Schedule, legal};
use loop_lang::Loop;
use loop_lang::ir::{RateId, RateKind};
use loop_lang::state::Layout;

/// Makes one decision of a schedule illegal, and checks that the verifier rejects it for that
/// reason.
fn spoil(region: &Region, schedule: &Schedule, rng: &mut Rng) {
    let rates = &region.program.rates;
    let is_loop = |at: &usize| !rates[*at].kind.is_sub();
    // A loop over scalars has no rates, and no decisions.
    let Some(a_loop) = (0..rates.len()).find(is_loop).map(RateId::new) else {
        return;
    };
    let mut decisions = schedule.decisions().to_vec();
    if decisions.is_empty() {
        decisions.push((a_loop, Decision::Admit(Admit::Branch)));
    }
    let at = rng.below(decisions.len());
    let once = schedule.decisions().is_empty() || !rng.chance(20);
    let (rule, spoilt) = match decisions[at] {
        (rate, Decision::Vectorise { unroll, .. }) if once && rng.chance(50) => {
            let lanes = rng.pick(&[0, 3, 24, 128]);
            let vectors = Decision::Vectorise { lanes, unroll };
            ("lanes are a power of two, from 2 to 64", (rate, vectors))
        }
        (rate, Decision::Vectorise { lanes, .. }) if once => {
            let unroll = rng.pick(&[0, 3, 12, 64]);
            let vectors = Decision::Vectorise { lanes, unroll };
            let rule = "vectors in a turn, or steps, are a power of two, at most 32";
            (rule, (rate, vectors))
        }
        (rate, Decision::Runs(_)) if once => {
            let lanes = rng.pick(&[0, 1, 3, 32]);
            let rule = "runs side by side are a power of two, from 2 to 16";
            (rule, (rate, Decision::Runs(lanes)))
        }
        (rate, Decision::Fission { wait, work, .. }) if once => {
            let steps = rng.pick(&[0, 100, 512]);
            let pieces = Decision::Fission { wait, work, steps };
            (
                "a buffer has a power of two of elements, at most 256, and those of a turn",
                (rate, pieces),
            )
        }
        (rate, Decision::Buffer(_)) if once => {
            let rule =
                "buffers have a power of two of elements, those of a turn, and 32 KiB at most";
            let elements = rng.pick(&[0, 100, 1 << 20]);
            (rule, (rate, Decision::Buffer(elements)))
        }
        (_, Decision::FastMinMax | Decision::Ask) => {
            let rule = "the rate is no sub rate of an innermost loop that tests";
            (rule, (a_loop, Decision::Admit(Admit::Mask)))
        }
        (_, Decision::Admit(how)) if once => {
            let rule = "the rate is no sub rate of an innermost loop that tests";
            (rule, (a_loop, Decision::Admit(how)))
        }
        same => {
            decisions.push(same);
            ("it was decided before", same)
        }
    };
    decisions[at] = spoilt;
    let all = decisions.into_iter();
    let illegal = all.fold(Schedule::new(), |s, (rate, d)| s.with(rate, d));
    let refused = legal(region, &illegal).expect_err("an illegal schedule");
    let found = |r: &Refused| {
        r.rule == rule && r.decision == spoilt.1 && r.rate == rates[spoilt.0.index()].name
    };
    let text = illegal.show(region.program);
    assert!(refused.iter().any(found), "{rule}: {refused:?}\n{text}");
}

/// Draws a legal schedule of a loop.
///
/// Each decision is proposed, and stays if the verifier accepts it. Then one of them is made
/// illegal, which the verifier must reject.
///
/// # Panics
/// Panics if no compiler accepts the loop, or if the verifier accepts an illegal decision.
pub fn draw(program: &Loop, rng: &mut Rng, drawn: &mut Drawn) -> Schedule {
    let layout = Layout::of(program);
    let region = Region::of(program, &layout.arrays, &layout.held).expect("a region");
    let mut schedule = Schedule::new();
    for inner_loop in region.inner_loops() {
        draw_of(&region, (&region, inner_loop), &mut schedule, rng, drawn);
    }
    for nest in region.nests() {
        let steps = Decision::UnrollJam(1 << (1 + rng.below(4)));
        let with = schedule.clone().with(nest.outer.rate, steps);
        if rng.chance(70) && legal(&region, &with).is_ok() {
            schedule = with;
        }
    }
    for zip in &region.zips().all {
        let elements = 1 << (2 + rng.below(7));
        let with = schedule.clone().with(zip.rate, Decision::Buffer(elements));
        if rng.chance(10) || legal(&region, &with).is_err() {
            continue;
        }
        schedule = with;
        let parts = zip.parts().expect("its parts");
        let packs = parts.sides.iter().map(|(packs, _)| packs);
        for part in packs.chain([&parts.behind]) {
            let inner_loop = part.inner_loop().expect("an innermost loop");
            draw_of(
                &region,
                (&part.region, inner_loop),
                &mut schedule,
                rng,
                drawn,
            );
        }
    }
    spoil(&region, &schedule, rng);
    schedule
}

/// Decisions for an innermost loop of a loop, or of a part of it.
fn draw_of(
    region: &Region,
    (part, inner_loop): (&Region, &InnerLoop),
    schedule: &mut Schedule,
    rng: &mut Rng,
    drawn: &mut Drawn,
) {
    let subs: Vec<RateId> = (inner_loop.steps.iter())
        .filter_map(|step| match step {
            Step::Enter(i) => part.rate_of_block(*i),
            _ => None,
        })
        .collect();
    let mut propose = |schedule: &mut Schedule, rate, decision| {
        let with = schedule.clone().with(rate, decision);
        match legal(region, &with) {
            Ok(()) => {
                *schedule = with;
                true
            }
            Err(refused) => {
                for r in refused {
                    *drawn.refused.entry(r.rule).or_insert(0) += 1;
                }
                false
            }
        }
    };
    // Runs exclude other decisions.
    let goes_in_runs = inner_loop.run(part.program).is_some();
    if goes_in_runs && rng.chance(85) {
        let runs = Decision::Runs(1 << (1 + rng.below(4)));
        propose(schedule, inner_loop.rate, runs);
    }
    // Vectors with a write at a count often need it packed, so that decision is proposed with them.
    let block = inner_loop.roles.values().find_map(|r| match r {
        Role::Scan(block) => Some(*block).filter(|b| *b > 1),
        _ => None,
    });
    // A scan's vectors are its blocks.
    let lanes = match block {
        Some(block) if rng.chance(80) => block,
        _ => 1 << (1 + rng.below(4)),
    };
    let most = inner_loop.roles.values().filter_map(|r| match r {
        Role::Lanes(lanes) => Some(*lanes),
        _ => None,
    });
    let turn = most.max().unwrap_or(1).max(lanes << rng.below(3));
    // Fewer steps per iteration leave a group's lanes in place.
    let unroll = match rng.chance(50) {
        true => (turn / lanes).max(1),
        false => 1 << rng.below(3),
    };
    let vectorise = Decision::Vectorise { lanes, unroll };
    // Partition resolves comparisons, so the parts may be vectorised. Inner loops may not support
    // both.
    let inner = matches!(
        part.program.rate(inner_loop.rate).kind,
        RateKind::Nested { .. }
    );
    if rng.chance(if inner { 40 } else { 60 }) {
        propose(schedule, inner_loop.rate, Decision::Partition);
    }
    let mut whole = schedule.clone();
    for sub in &subs {
        let how = match rng.below(6) {
            0 => Admit::Branch,
            1 => Admit::Mask,
            2 | 3 => Admit::Pack,
            _ => Admit::Compact,
        };
        propose(&mut whole, *sub, Decision::Admit(how));
    }
    let both = schedule.partitions(inner_loop.rate) && inner;
    if rng.chance(if both { 40 } else { 80 }) && propose(&mut whole, inner_loop.rate, vectorise) {
        *schedule = whole;
        if rng.chance(70) {
            propose(schedule, inner_loop.rate, Decision::FastMinMax);
        }
        if rng.chance(50) {
            propose(schedule, inner_loop.rate, Decision::Ask);
        }
    } else {
        for sub in subs {
            let how = rng.pick(&Admit::ALL);
            propose(schedule, sub, Decision::Admit(how));
        }
        if rng.chance(50) {
            let unroll = 1 << rng.below(5);
            let turn = Decision::Vectorise { lanes: 1, unroll };
            propose(schedule, inner_loop.rate, turn);
        }
    }
    // Random bodies are short, so fission is also tried for short waits.
    if rng.chance(50) {
        let (wait, work) = (rng.below(12) as u32, 2 + rng.below(20) as u32);
        let steps = 1 << (4 + rng.below(5));
        let pieces = Decision::Fission { wait, work, steps };
        propose(schedule, inner_loop.rate, pieces);
    }
    if rng.chance(50) {
        propose(
            schedule,
            inner_loop.rate,
            Decision::Stream(rng.below(40) as u64),
        );
    }
}
