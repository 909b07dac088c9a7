//! Random programs with CUDA kernels on the host's processor.
//!
//! They are compared with the naive evaluator, and every memory access is checked.
//! `LIVEFUSION_CUDA_HUNT=n` runs n times as many programs.

use livefusion::Engine;
use livefusion::error::ErrorKind;
use livefusion_backend::{Backend, CompileError, Kernel};
use livefusion_cuda::CudaBackend;
use livefusion_cuda::device::session::Session;
use livefusion_cuda::run::Phase;
use livefusion_cuda_shim::{Call, Cxx, Shim, Stub, can_compile};
use livefusion_interp::InterpBackend;
use livefusion_tests::check::{Ran, against_naive, caught, check_all, one_by_one, run};
use livefusion_tests::program::{Options, Program, Way, programs, programs_of};
use livefusion_tile::threads::Requested;
use loop_lang::Loop;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The number of programs of one size.
const PROGRAMS: u64 = 60;

/// The number of programs with parts of several combinators.
const PARTS: u64 = 20;

/// The number of programs that are forced step by step.
const STEPWISE: u64 = 25;

/// Several tiles, and partial tiles.
const LONG: Options = Options {
    steps: 6,
    lengths: &[0, 1, 31, 1000, 1024, 6000],
    way: Way::Drawn,
};

/// The factor on the usual numbers.
fn times() -> u64 {
    let asked = std::env::var("LIVEFUSION_CUDA_HUNT").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(1)
}

/// The interpreter, recording the loops that it compiles.
#[derive(Default)]
struct Listing(Mutex<Vec<Loop>>);

impl Backend for Listing {
    fn name(&self) -> &'static str {
        "listing"
    }

    fn compile(&self, program: &Loop) -> Result<Arc<dyn Kernel>, CompileError> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(program.clone());
        InterpBackend::new().compile(program)
    }
}

/// A device, and an engine on it with precompiled kernels for the programs' loops.
fn device(
    programs: &[(u64, Program)],
    doing: impl Fn(u64, &Program, &Engine) -> Result<(), String>,
) -> (Arc<Stub>, Engine) {
    let listing = Arc::new(Listing::default());
    let engine = Engine::new(listing.clone());
    for (seed, program) in programs {
        // Errors are left to the test itself.
        let _ = caught(|| doing(*seed, program, &engine));
    }
    let all = listing.0.lock().unwrap_or_else(PoisonError::into_inner);
    let phases = all
        .iter()
        .filter_map(|l| Phase::all(l, |_| Requested::default()).ok())
        .flatten();
    let kernels: Vec<_> = phases.map(|phase| phase.kernel).collect();
    let cxx = Cxx::new().expect("the shim compiles");
    let texts = kernels.iter().map(|kernel| &kernel.text[..]);
    cxx.prepare(texts).expect("they compile");
    let driver = Shim::default().driver();
    let session = Session::new(driver.clone(), Box::new(cxx));
    // Unwritten memory is only detected if memory is not reused.
    session.pool().set_limit(0);
    let backend = CudaBackend::on(session, Arc::new(InterpBackend::new()));
    (driver, Engine::new(Arc::new(backend)))
}

/// The reason why a loop runs on the host, without names.
fn kind(why: &str) -> String {
    let has_name = |word: &str| word.contains(|c: char| c == '`' || c == '_' || c.is_ascii_digit());
    let words = why.split(' ').filter(|word| !has_name(word));
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn devices_give_what_programs_mean() {
    if !can_compile() {
        return;
    }
    let small = Options {
        steps: 9,
        ..Options::SMALL
    };
    let programs: Vec<_> = programs(PROGRAMS * times(), small)
        .chain(programs(PROGRAMS * times(), LONG))
        .chain(programs(PARTS * times(), Options::PARTS))
        .collect();
    // Loops after external parts are planned once these have run.
    let (driver, engine) = device(&programs, |_, p, engine| run(p, engine).map(drop));
    let check = |_, program: &Program| {
        let ran = against_naive(program, &engine)?;
        match &ran.result {
            Err(e) if matches!(e.kind, ErrorKind::Backend(_)) => Err(e.to_string()),
            _ if driver.unwritten() > 0 => Err("the host read what nobody wrote".into()),
            _ => Ok(ran),
        }
    };
    let (mut ran, mut refused) = (0, BTreeMap::new());
    check_all(programs, check, |_, one: Ran| {
        for each in &one.explanation.loops {
            let tier = each.tier.as_deref().unwrap_or_default();
            match tier.split_once(": ") {
                None => ran += 1,
                Some((_, why)) => *refused.entry(kind(why)).or_insert(0) += 1,
            }
        }
    });
    let all: usize = ran + refused.values().sum::<usize>();
    println!("{ran} of {all} loops ran on the device; others: {refused:#?}");
    assert!(3 * ran >= all, "{ran} of {all}");
}

/// Steps find the results of earlier steps on the device.
#[test]
fn devices_give_what_programs_mean_step_by_step() {
    if !can_compile() {
        return;
    }
    let programs: Vec<_> = programs_of(7000..7000 + STEPWISE * times(), LONG).collect();
    let (driver, engine) = device(&programs, |seed, p, engine| one_by_one(p, engine, seed));
    let check = |seed, program: &Program| one_by_one(program, &engine, seed);
    check_all(programs, check, |_, ()| {});
    let calls = |call| driver.calls(call);
    let launched = calls(Call::Launch);
    println!(
        "{launched} launches, {} arrays came back",
        calls(Call::ToHost)
    );
    assert!(launched > STEPWISE, "{launched}");
    assert_eq!(driver.unwritten(), 0);
}
