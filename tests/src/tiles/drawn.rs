//! Counts of the decisions and features that tiles of random schedules cover.

use livefusion_tile::ir::{Memory, Operand, Stmt, StmtKind, Tile, each_stmt};
use livefusion_tile::schedule::{Admit, Decision, Schedule};
use loop_lang::Loop;
use loop_lang::ir::{RateId, RateKind};
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
                StmtKind::Store {
                    into: Memory::Buffer(_),
                    value: Operand::Const(_),
                    ..
                } => Some("guard within guards"),
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
        Decision::Rows(_) => "rows".to_string(),
        Decision::Threads(threads) => format!("threads {}", threads.who),
        Decision::Teams(_) => "teams".to_string(),
    }
}
