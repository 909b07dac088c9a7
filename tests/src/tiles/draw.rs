//! Random schedules: legal, then with one illegal decision.

use crate::rng::Rng;
use livefusion_tile::ir::{Memory, Operand, Stmt, StmtKind, Tile, each_stmt};
use livefusion_tile::region::{InnerLoop, Region, Role, Step};
use livefusion_tile::schedule::{Admit, Decision, Refused, Schedule, legal};
use loop_lang::Loop;
use loop_lang::ir::{RateId, RateKind};
use loop_lang::state::Layout;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Counts the decisions of random schedules.
#[derive(Default, Debug)]
pub struct Drawn {
    /// Tiles that took steps under each decision, and under each pair of decisions on nested rates:
    /// `compact`, `compact in vectorise 8`, `compact in mask`.
    pub ran: BTreeMap<String, u64>,
    /// Features of tiles that took steps, concerning loop-carried values.
    pub said: BTreeSet<&'static str>,
    /// Decisions that the verifier rejected, by its rule.
    pub refused: BTreeMap<Cow<'static, str>, u64>,
    /// Exits of tiles within their range.
    pub left: u64,
    /// Exits of tiles with a dry run.
    pub rolled_back: u64,
    /// Steps of tiles with segments.
    pub in_segments: u64,
    /// Steps that went through buffers.
    pub zipped: u64,
    /// Decisions under which compiled code finished with results, by backend. After a trap, only
    /// the trap is compared.
    pub ended: BTreeMap<&'static str, BTreeSet<String>>,
}

impl Drawn {
    /// Counts the decisions under which an innermost loop's tile took steps.
    pub fn count(&mut self, program: &Loop, schedule: &Schedule, inner_loop: RateId) {
        let of = |rate: RateId| {
            let mut all = schedule.decisions().iter();
            all.find(|(r, _)| *r == rate).map(|(_, d)| name(d))
        };
        for (rate, decision) in schedule.decisions() {
            // A decision for a cursor counts for the zip around it.
            let around = program.loop_rate(*rate);
            let cursor = matches!(program.rate(around).kind, RateKind::Cursor { .. });
            if around != inner_loop && !(cursor && program.is_within(around, inner_loop)) {
                continue;
            }
            let name = name(decision);
            let is_sub = program.rate(*rate).kind.is_sub();
            let around = match is_sub {
                true => vec![Some(around), program.rate(*rate).kind.parent()],
                false => Vec::new(),
            };
            let around: BTreeSet<String> = around.into_iter().flatten().filter_map(of).collect();
            let pairs = around.into_iter().map(|a| format!("{name} in {a}"));
            for name in pairs.chain([name.clone()]) {
                *self.ran.entry(name).or_insert(0) += 1;
            }
        }
    }

    /// Notes the features of a tile that took steps.
    pub fn note(&mut self, program: &Loop, tile: &Tile) {
        let vectors = tile.granule() > 1;
        self.note_around_segments(tile);
        let mut computed = Vec::new();
        tile.each_stmt(&mut |s| {
            if let StmtKind::Let { to, .. } = s.kind {
                computed.push(Operand::from(to));
            }
            if let StmtKind::Segment {
                step, capacities, ..
            } = &s.kind
                && capacities.iter().any(|(_, index)| computed.contains(index))
            {
                self.said.insert(match step {
                    1 => "capacity at a sum",
                    _ => "capacity at a sum in vectors",
                });
            }
            if let StmtKind::Segment {
                body,
                epilogue,
                scalar_epilogue,
                ..
            } = &s.kind
            {
                self.note_segment([body, epilogue, scalar_epilogue]);
                let one_by_one = epilogue.is_empty() && lanes_beside_few(program, tile, body);
                (self.said).extend(one_by_one.then_some("shared lanes beside few"));
            }
            self.said.extend(match &s.kind {
                StmtKind::Leave { .. } if vectors => Some("leave in vectors"),
                StmtKind::Put { lanes: 1, .. } => Some("put"),
                StmtKind::Put { .. } => Some("put in lanes"),
                StmtKind::Gather { to, .. } if !tile.shape(*to).is_scalar() => {
                    Some("gather in lanes")
                }
                StmtKind::Scan { .. } => Some("scan"),
                StmtKind::Slide { .. } => Some("slide"),
                StmtKind::Reverse { .. } => Some("reverse"),
                StmtKind::Across { .. } => Some("across"),
                StmtKind::Beat { .. } => Some("beat"),
                StmtKind::Lane { .. } => Some("lane"),
                StmtKind::SetLane { .. } => Some("set lane"),
                StmtKind::DryRun { .. } => Some("dryrun"),
                StmtKind::Segment { again: true, .. } => Some("segment again"),
                StmtKind::Segment { aligned: true, .. } => Some("segment aligned"),
                StmtKind::Segment {
                    single_trip: true, ..
                } => Some("single-trip segment"),
                StmtKind::Halves { beats: true, .. } => Some("halves beat"),
                StmtKind::Segment { body, .. } if has_segments(body) => {
                    Some("segment in a segment")
                }
                StmtKind::Segment { step: 2.., .. } => Some("segment in vectors"),
                StmtKind::Segment { body, .. } if leaves(body) => Some("leave of a segment"),
                StmtKind::Load {
                    from: Memory::Tree(_),
                    ..
                } => Some("tree"),
                StmtKind::Load {
                    from: Memory::Buffer(_),
                    ..
                } => Some("buffer"),
                _ => None,
            });
        });
    }

    /// Notes features that occur only in segment bodies.
    fn note_segment(&mut self, [body, epilogue, scalar_epilogue]: [&[Stmt]; 3]) {
        let shares = |stmts: &[Stmt]| {
            let mut shares = false;
            each_stmt(stmts, &mut |s| {
                shares |= matches!(s.kind.memory(), Some(Memory::Lanes(_)));
            });
            shares
        };
        let said = [
            (!scalar_epilogue.is_empty(), "scalar epilogue"),
            (shares(epilogue), "shared lanes in vectors"),
            (epilogue.is_empty() && shares(body), "shared lanes"),
            (
                shares(epilogue) && !scalar_epilogue.is_empty(),
                "scalar epilogue beside shared lanes",
            ),
            // A short segment runs entirely in its epilogue, and has lanes of its own.
            (
                shares(epilogue) && body.is_empty(),
                "shared lanes beside few in vectors",
            ),
        ];
        self.said
            .extend(said.into_iter().filter_map(|(is, word)| is.then_some(word)));
    }

    /// Notes the code next to segments in the steps of a tile.
    fn note_around_segments(&mut self, tile: &Tile) {
        tile.each_stmt(&mut |s| {
            let StmtKind::For { body, step, .. } = &s.kind else {
                return;
            };
            if !tile.is_range(&s.kind) || !has_segments(body) {
                return;
            }
            self.said
                .extend((*step > 1).then_some("one segment for several steps"));
            let sets = |s: &Stmt| match s.kind {
                StmtKind::Set { to, .. } => tile.value(to).origin.is_state(),
                _ => false,
            };
            let mut vectors = false;
            each_stmt(body, &mut |s| {
                vectors |= matches!(s.kind, StmtKind::Segment { step: 2.., .. });
            });
            self.said.extend(body.iter().filter_map(|s| match &s.kind {
                StmtKind::Leave { .. } if vectors => Some("exit around segments in vectors"),
                StmtKind::If { then, .. } if !has_segments(then) && then.iter().any(sets) => {
                    Some("filter beside segments")
                }
                _ => None,
            }));
        });
    }

    /// Returns decisions and pairs under which no tile took steps.
    pub fn undecided(&self) -> Vec<String> {
        let vectors = [2, 4, 8, 16].map(|n| format!("vectorise {n}"));
        let admits = Admit::ALL.map(|a| a.name().to_string());
        let mut all: Vec<String> = vectors.iter().chain(&admits).cloned().collect();
        all.extend(
            [
                "unroll",
                "fastminmax",
                "ask",
                "stream",
                "partition",
                "fission",
            ]
            .map(str::to_string),
        );
        for around in vectors.iter().chain(&admits) {
            all.extend(admits.iter().map(|a| format!("{a} in {around}")));
        }
        all.retain(|name| !self.ran.contains_key(name));
        all
    }

    /// Returns decisions under which a backend's code never finished with results.
    pub fn never_ended(&self, backend: &str, names: &[&str]) -> Vec<String> {
        let ended = self.ended.get(backend);
        let lacks = |name: &&&str| ended.is_none_or(|all| !all.contains(**name));
        names
            .iter()
            .filter(lacks)
            .map(ToString::to_string)
            .collect()
    }

    /// Returns decisions and features that no tile covered.
    pub fn missing(&self) -> Vec<String> {
        let mut all = self.undecided();
        let words = [
            "put",
            "put in lanes",
            "gather in lanes",
            "scan",
            "slide",
            "reverse",
            "beat",
            "lane",
            "set lane",
            "leave in vectors",
            "tree",
            "buffer",
        ];
        let unsaid = words.into_iter().filter(|w| !self.said.contains(w));
        all.extend(unsaid.map(str::to_string));
        all.extend((self.left == 0).then(|| "leave".to_string()));
        all
    }
}

/// Whether the steps of a segment fold into lanes of its own, few for a short one, and into as many
/// shared lanes.
fn lanes_beside_few(program: &Loop, tile: &Tile, steps: &[Stmt]) -> bool {
    let (mut shared, mut own) = (BTreeSet::new(), BTreeSet::new());
    each_stmt(steps, &mut |s| match s.kind.memory() {
        Some(Memory::Lanes(v)) => {
            let group = program.group_of(v).map(|g| &program.groups[g.index()]);
            shared.extend(group.and_then(|g| g.order.lanes()));
        }
        Some(Memory::Buffer(v)) => {
            own.insert(tile.shape(v).lanes);
        }
        _ => {}
    });
    own.iter().any(|of| *of > 16 && shared.contains(of))
}

/// Whether statements contain segments.
fn has_segments(stmts: &[Stmt]) -> bool {
    let mut has = false;
    each_stmt(stmts, &mut |s| {
        has |= matches!(s.kind, StmtKind::Segment { .. })
    });
    has
}

/// Whether statements exit their segment.
fn leaves(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|s| {
        let mut bodies = s.kind.bodies().into_iter();
        matches!(s.kind, StmtKind::Leave { .. }) || bodies.any(leaves)
    })
}

/// The name under which a decision is counted.
fn name(d: &Decision) -> String {
    match d {
        Decision::Vectorise { lanes: 1, .. } => "unroll".to_string(),
        Decision::Vectorise { lanes, .. } => format!("vectorise {lanes}"),
        Decision::Stream(_) => "stream".to_string(),
        Decision::Partition => "partition".to_string(),
        Decision::Fission { .. } => "fission".to_string(),
        Decision::Buffer(_) => "buffer".to_string(),
        Decision::Admit(how) => how.name().to_string(),
        Decision::FastMinMax => "fastminmax".to_string(),
        Decision::Ask => "ask".to_string(),
        Decision::Runs(lanes) => format!("runs {lanes}"),
        Decision::UnrollJam(_) => "unrolljam".to_string(),
        Decision::Threads(threads) => format!("threads {}", threads.who),
        Decision::Teams(_) => "teams".to_string(),
    }
}

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
        let how = match rng.below(4) {
            0 => Admit::Branch,
            1 => Admit::Mask,
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
            let how = Admit::ALL[rng.below(3)];
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
