//! Kernels on the shim give what the interpreter gives, and what is wrong with them is found.

mod operators;
#[path = "shim/mod.rs"]
mod shimmed;
#[path = "../../interp/tests/support/mod.rs"]
mod support;

use livefusion_cuda::emit::{self, PRELUDE};
use loop_lang::types::Ty;
use shimmed::{Shim, can_compile, differs, long_args};
use support::{Rng, borrow, golden_texts, parse};

#[test]
fn golden_loops_give_what_the_interpreter_gives() {
    if !can_compile() {
        return;
    }
    let mut rng = Rng(11);
    let (mut ran, mut refused) = (Vec::new(), Vec::new());
    for (name, text) in golden_texts() {
        // Which of several least elements is found hangs on the order in which its parts are joined.
        if name == "min_index" {
            continue;
        }
        let program = parse(&text);
        let kernel = match emit::kernel(&program) {
            Ok(kernel) => kernel,
            Err(why) => {
                refused.push(format!("{name}: {why}"));
                continue;
            }
        };
        let shim = Shim::of(&name, &program, &kernel);
        for len in [0, 1, 31, 1000, 5000] {
            let args = long_args(&program, len, &mut rng);
            let apart = differs(&shim, &program, &kernel, &borrow(&args));
            assert_eq!(apart, None, "{name} of {len}");
        }
        ran.push(name);
    }
    println!("ran: {}\nrefused:\n{}", ran.join(", "), refused.join("\n"));
    assert!(ran.len() >= 5, "{ran:?}");
}

/// Each operator is that of the interpreter, for each type.
#[test]
fn operators_give_what_the_interpreter_gives() {
    if !can_compile() {
        return;
    }
    let mut rng = Rng(5);
    for ty in Ty::ALL {
        let program = parse(&operators::text(ty));
        let kernel = emit::kernel(&program).expect("it runs in parallel");
        let shim = Shim::of(&format!("operators_{ty}"), &program, &kernel);
        let args = long_args(&program, 700, &mut rng);
        let apart = differs(&shim, &program, &kernel, &borrow(&args));
        assert_eq!(apart, None, "{ty}");
    }
}

/// A prelude with a fault: what it is, what stands there, what stands there now, and what is said of it.
type Fault = (&'static str, &'static str, &'static str, &'static str);

/// Faults of kernels that write wrong results, wait for ever, or use memory that is not theirs.
const FAULTS: &[Fault] = &[
    (
        "a barrier is left out",
        "  if (lane == 0) room[warp] = in_warp.all;\n  __syncthreads();",
        "  if (lane == 0) room[warp] = in_warp.all;",
        "of a shared array, which nobody wrote",
    ),
    (
        "a tile is told what its neighbour alone came to",
        "lf_publish(told.through + tile * words, Group::join(p, before, own));",
        "lf_publish(told.through + tile * words, own);",
        "result ",
    ),
    (
        "blocks take the tile of their own number",
        "ticket = atomicAdd(launch.ticket, 1u);",
        "ticket = blockIdx.x;",
        "threads wait for each other",
    ),
    (
        "what a tile comes to is read before it is there",
        "== LF_NOTHING) lf_wait();",
        "== 7) lf_wait();",
        "of what tiles come to, which nobody wrote",
    ),
    (
        "the flag is up before the value is there",
        "      lf_publish(told.own + tile * words, own);\n      lf_store_release(told.state + tile, LF_OWN);",
        "      lf_store_release(told.state + tile, LF_OWN);\n      lf_publish(told.own + tile * words, own);",
        "of what tiles come to, which nobody wrote",
    ),
    (
        "the second half of a warp is left out",
        "for (u32 reach = 1; reach < LF_WARP; reach *= 2) {\n    const Part earlier",
        "for (u32 reach = 1; reach < LF_WARP / 2; reach *= 2) {\n    const Part earlier",
        "result ",
    ),
    (
        "the element behind one is read",
        "return i < a.length ? a.at[i] : T(0);",
        "return i < a.length ? a.at[i + 1] : T(0);",
        "a read of 4 bytes in no array, 0 bytes behind arr_0",
    ),
    (
        "the element behind one is written",
        "if (i < a.length) a.at[i] = x;",
        "if (i < a.length) a.at[a.length] = x;",
        "a write of 4 bytes in no array, 0 bytes behind out_2",
    ),
    (
        "what is written is read before",
        "if (i < a.length) a.at[i] = x;",
        "if (i < a.length) a.at[i] = a.at[i] + x;",
        ", which nobody wrote",
    ),
    (
        "no thread writes what its warp comes to",
        "  if (lane == 0) room[warp] = in_warp.all;",
        "  if (lane == 32) room[warp] = in_warp.all;",
        "of a shared array, which nobody wrote",
    ),
    (
        "a warp writes outside of the room",
        "  if (lane == 0) room[warp] = in_warp.all;",
        "  if (lane == 0) room[warp + 29] = in_warp.all;",
        ", and behind them",
    ),
];

#[test]
fn faults_are_found_and_named() {
    if !can_compile() {
        return;
    }
    let program = support::golden("filter_sum");
    let kernel = emit::kernel(&program).expect("it runs in parallel");
    let mut rng = Rng(3);
    let args = long_args(&program, 9000, &mut rng);
    let args = borrow(&args);
    // In the order of some seeds; what is said of each that goes wrong.
    let said = |shim: &Shim| -> Vec<String> {
        let runs = (0..8).filter_map(|_| differs(shim, &program, &kernel, &args));
        runs.collect()
    };
    let sound = said(&Shim::of("sound", &program, &kernel));
    assert!(sound.is_empty(), "{sound:?}");
    for (k, (what, from, to, named)) in FAULTS.iter().enumerate() {
        assert_eq!(PRELUDE.matches(from).count(), 1, "{what}");
        let prelude = PRELUDE.replace(from, to);
        let mut shim = Shim::with(&format!("fault_{k}"), &program, &kernel, &prelude);
        shim.turns = 2_000_000;
        let said = said(&shim);
        assert!(said.iter().any(|s| s.contains(named)), "{what}: {said:#?}");
    }
}
