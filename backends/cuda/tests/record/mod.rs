//! Random loops with their arguments, from loop generators and from random programs.

pub mod inexact;

use crate::wide_loops;
use livefusion::Engine;
use livefusion_backend::{Arg, Backend, Buffer, CompileError, Frame, Kernel, Outcome, Pass};
use livefusion_cuda::emit::{self, Kernel as CudaKernel};
use livefusion_interp::{InterpBackend, InterpKernel};
use livefusion_tests::loops::{Argument, RandomLoop, joined, left, nested, plain, random};
use livefusion_tests::program::{self, Options, Way, buffer};
use livefusion_tests::rng::Rng;
use livefusion_tile::schedule::Schedule;
use livefusion_tile::threads::phases::Phases;
use livefusion_tile::threads::{Requested, Threads, Who, allows};
use loop_lang::Loop;
use loop_lang::ir::{Atom, RateId, RateKind, StmtKind};
use loop_lang::op::Op;
use loop_lang::state::Layout;
use loop_lang::types::Ty;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Holds a loop with its arguments.
pub struct Case {
    /// Its source.
    pub name: String,
    /// The loop.
    pub program: Loop,
    args: Vec<Argument>,
}

impl Case {
    /// Returns the arguments.
    pub fn args(&self) -> Vec<Arg<'_>> {
        self.args.iter().map(Argument::arg).collect()
    }

    /// Returns the arguments, which may be far.
    pub fn far_args(&self) -> Vec<Arg<'_>> {
        let arg = |arg| match arg {
            &Argument::Scalar(c) => Arg::Scalar(c),
            Argument::Array(array) => Arg::Far(array),
        };
        self.args.iter().map(arg).collect()
    }
}

/// Lengths of several tiles, and parts of one.
const LONG: Options = Options {
    steps: 7,
    lengths: &[0, 1, 31, 500, 1024, 1025, 2500],
    way: Way::Drawn,
};

/// Seeds of each generator.
const SEEDS: u64 = 110;
/// One in this many cases has many groups, and compiles slowly.
const WIDE: usize = 10;

/// Seeds of loops with nests.
const NESTS: u64 = 40;

/// Returns the multiplier of the number of cases.
pub fn times() -> usize {
    let requested = std::env::var("LIVEFUSION_CUDA_HUNT").ok();
    requested.and_then(|n| n.parse().ok()).unwrap_or(1)
}

/// Holds a loop that has a kernel.
pub struct Accepted {
    /// The loop, with a unique name.
    pub case: Case,
    /// Its thread mapping, if it differs from the default.
    pub schedule: Schedule,
    /// Its kernels.
    pub kernels: Vec<CudaKernel>,
}

/// Lists all loops that have kernels.
///
/// Refused loops are counted, and only a part of each kind may be refused.
pub fn accepted() -> Vec<Accepted> {
    let (mut all, mut refused) = (Vec::new(), BTreeMap::new());
    let mut counts: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    let (mut rng, mut dealt) = (Rng::new(7), BTreeMap::new());
    for (kind, mut case) in cases() {
        case.program.name = format!("loop_{}", all.len());
        let kernels = emit::kernels(&case.program);
        counts.entry(kind).or_default()[usize::from(kernels.is_err())] += 1;
        match kernels {
            Ok(best) => {
                let schedule = draw(&case.program, &mut rng, &mut dealt);
                let kernels = match schedule.decisions() {
                    [] => best,
                    _ => under(&case.program, &schedule),
                };
                all.push(Accepted {
                    case,
                    schedule,
                    kernels,
                });
            }
            Err(why) => *refused.entry((kind, why.to_string())).or_insert(0) += 1,
        }
    }
    println!("have kernels, and have none: {counts:?}\n{refused:#?}\ndealt out {dealt:?}");
    for who in Who::ALL {
        assert!(dealt.get(who.name()) > Some(&3), "{dealt:?}");
    }
    let least = |kind: &str| match kind {
        "plain" => 72,
        "program" => 45,
        "wide" => 100,
        _ => 2,
    };
    let all_kernels = || all.iter().flat_map(|a| &a.kernels);
    let settle = all_kernels().filter(|k| k.settles).count();
    let wide = all_kernels().filter(|k| k.wide).count();
    println!("overwrite: {settle}, wide: {wide}");
    assert!(settle >= 5 * times() && wide >= 8 * times());
    for (kind, [has, none]) in counts {
        assert!(
            100 * has >= least(kind) * (has + none),
            "{kind}: {has} of {}",
            has + none
        );
    }
    all
}

/// Draws a legal thread mapping other than the default, for about half of all loops.
fn draw(program: &Loop, rng: &mut Rng, dealt: &mut BTreeMap<&str, usize>) -> Schedule {
    let mut schedule = Schedule::new();
    for root in &program.roots {
        if rng.chance(50) {
            continue;
        }
        let rates = (0..program.rates.len()).map(RateId::new);
        let mut own = rates.filter(|r| program.root_of(*r) == *root);
        let nested = |r: RateId| matches!(program.rate(r).kind, RateKind::Nested { .. });
        let who: &[Who] = match own.any(nested) {
            true => &[Who::Path, Who::Teams, Who::Rows],
            false => &[Who::Steps],
        };
        let threads = Threads {
            who: rng.pick(who),
            block: 32 << rng.below(4),
            each: 1 + rng.below(24) as u32,
        };
        let requested = Requested {
            threads: Some(threads),
            teams: Some(1 << rng.below(8)).filter(|_| rng.chance(50)),
        };
        // A team has one row, and partial writes need whole units.
        let eights = |each: u32| each.next_multiple_of(8);
        let tries = [
            threads.each,
            eights(threads.each),
            2 * eights(threads.each),
            1,
        ];
        let tries = tries.map(|each| Threads { each, ..threads });
        let mut tries = tries.iter().flat_map(|threads| {
            let threads = Some(*threads);
            [requested.teams, None].map(|teams| Requested { threads, teams })
        });
        if let Some(requested) = tries.find(|requested| allows(program, *root, *requested).is_ok())
        {
            *dealt.entry(threads.who.name()).or_insert(0) += 1;
            schedule = schedule.with_threads(*root, requested);
        }
    }
    schedule
}

/// Returns the kernels of a loop under a schedule.
fn under(program: &Loop, schedule: &Schedule) -> Vec<CudaKernel> {
    let phases = Phases::of(program);
    let shapes = phases
        .under(|root| schedule.threads(root))
        .expect("it is legal");
    shapes.iter().map(emit::kernel_of).collect()
}

fn cases() -> Vec<(&'static str, Case)> {
    let seeds = || 0..SEEDS * times() as u64;
    let plain = seeds().map(|seed| {
        (
            "plain",
            stretched(seed, case(format!("plain {seed}"), plain(seed))),
        )
    });
    let random = seeds().map(|seed| ("random", case(format!("random {seed}"), random(seed))));
    let programs = seeds().flat_map(of_program);
    let programs = programs.map(|case| ("program", case));
    let nests = (0..NESTS * times() as u64).flat_map(nests);
    let phases = (0..NESTS * times() as u64).filter_map(phases);
    let wide = seeds().step_by(WIDE).map(|seed| ("wide", wide(seed)));
    let all = plain.chain(random).chain(programs).chain(wide);
    all.chain(nests).chain(phases).collect()
}

/// Returns a loop with nests, and the same loop with an early exit.
fn nests(seed: u64) -> Vec<(&'static str, Case)> {
    let whole = case(format!("nested {seed}"), nested(seed));
    let ended = left(nested(seed), seed).map(|made| case(format!("left {seed}"), made));
    let ended = ended.map(|case| ("left", case));
    [("nested", whole)].into_iter().chain(ended).collect()
}

/// Returns two loops as phases of one. At least one of them has nests.
fn phases(seed: u64) -> Option<(&'static str, Case)> {
    let other = match seed % 3 {
        0 => plain(seed),
        _ => nested(seed + 1000),
    };
    let (first, second) = match seed % 2 {
        0 => (nested(seed), other),
        _ => (other, nested(seed)),
    };
    let program = joined(&first.program, &second.program)?;
    let args = first.args.into_iter().chain(second.args).collect();
    let name = format!("phases {seed}");
    Some((
        "phases",
        Case {
            name,
            program,
            args,
        },
    ))
}

/// Returns a loop with more groups than tiles look back for.
fn wide(seed: u64) -> Case {
    let mut rng = Rng::new(seed);
    let text = wide_loops::random(&mut rng);
    let mut program = loop_lang::parse::parse(&text).expect("a loop");
    loop_lang::gotos::derive_gotos(&mut program);
    let mut length = rng.pick(LONG.lengths);
    let mut args = Vec::new();
    for p in &program.params {
        let ty = program.ty(p.var).elem();
        let mut word = || match ty {
            Ty::U64 => rng.below(9) as u64,
            _ => rng.word(),
        };
        let words: Vec<u64> = (0..length).map(|_| word()).collect();
        args.push(Argument::Array(buffer(ty, &words)));
        if ty == Ty::U64 {
            // The elements of segments with these lengths.
            length = words.iter().sum::<u64>() as usize;
        }
    }
    Case {
        name: format!("wide {seed}"),
        program,
        args,
    }
}

/// Makes some of the loops run for several tiles, over longer arrays.
fn stretched(seed: u64, mut case: Case) -> Case {
    let by = [1, 9, 30][seed as usize % 3];
    let Loop { vars, blocks, .. } = &mut case.program;
    let stmts = blocks.values_mut().flat_map(|b| &mut b.stmts);
    for stmt in stmts {
        if let StmtKind::Let(v, Op::Copy, args) = &mut stmt.kind
            && vars[v.index()].name == "len_0"
            && let [Atom::Const(n)] = &mut args[..]
        {
            n.bits *= by;
        }
    }
    for arg in &mut case.args {
        if let Argument::Array(b) = arg
            && b.len() >= 200
        {
            let words: Vec<u64> = (0..b.len() * by as usize)
                .map(|i| b.get_word(i % b.len()).unwrap_or(0))
                .collect();
            *b = buffer(b.ty(), &words);
        }
    }
    case
}

fn case(name: String, made: RandomLoop) -> Case {
    Case {
        name,
        program: made.program,
        args: made.args,
    }
}

/// Returns the loops that a program runs.
fn of_program(seed: u64) -> Vec<Case> {
    let runs = Arc::new(Mutex::new(Vec::new()));
    let recorder = Recorder { runs: runs.clone() };
    let engine = Engine::builder().backend(Arc::new(recorder)).threads(1);
    let program = program::random(seed, LONG).build();
    // At a trap, the loops that ran before are kept.
    let _ = livefusion::runtime::force_nodes(&engine.build(), &program.roots);
    let runs = std::mem::take(&mut *runs.lock().expect("no panic"));
    let named = runs.into_iter().enumerate();
    let case = |(k, (program, args))| Case {
        name: format!("program {seed}, loop {k}"),
        program,
        args,
    };
    named.map(case).collect()
}

type Runs = Arc<Mutex<Vec<(Loop, Vec<Argument>)>>>;

/// The interpreter, with a record of its arguments.
struct Recorder {
    runs: Runs,
}

impl Backend for Recorder {
    fn name(&self) -> &'static str {
        "recorder"
    }

    fn compile(&self, program: &Loop) -> Result<Arc<dyn Kernel>, CompileError> {
        Ok(Arc::new(Recorded {
            kernel: InterpBackend::new().compile_kernel(program)?,
            program: program.clone(),
            runs: self.runs.clone(),
        }))
    }
}

struct Recorded {
    kernel: InterpKernel,
    program: Loop,
    runs: Runs,
}

impl Kernel for Recorded {
    fn layout(&self) -> &Layout {
        self.kernel.layout()
    }

    fn run(&self, pass: Pass, steps: u64, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Outcome {
        // A buffer given for update in place is no argument.
        if pass == Pass::Emit && frame.words[0] == 0 && frame.given.is_empty() {
            let own = |arg: &Arg<'_>| {
                let view = match arg {
                    Arg::Scalar(c) => return Argument::Scalar(*c),
                    Arg::Array(view) => *view,
                    Arg::Far(array) => array.here().expect("it is here").view(),
                };
                Argument::Array(Arc::new(Buffer::copy_of(view).expect("memory")))
            };
            let args = args.iter().map(own).collect();
            let mut runs = self.runs.lock().expect("no panic");
            runs.push((self.program.clone(), args));
        }
        self.kernel.run(pass, steps, frame, args)
    }
}
