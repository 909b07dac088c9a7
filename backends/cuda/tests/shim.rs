//! Kernels on the shim give the interpreter's results, and seeded faults are found.

use crate::shimmed::{OnShim, long_args};
use crate::support::{Owned, Rng, golden_texts, parse};
use livefusion_cuda::emit;
use livefusion_cuda_shim::{Cxx, Shim, can_compile};
use loop_lang::ir::RateKind;
use loop_lang::types::{Const, Ty};

#[test]
fn golden_loops_give_what_the_interpreter_gives() {
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(11);
    let (mut ran, mut refused) = (Vec::new(), Vec::new());
    for (name, text) in golden_texts() {
        // With several equal minima, the index depends on the order of joins.
        if name == "min_index" {
            continue;
        }
        let program = parse(&text);
        // Loops with nested rates have their own tests, with matching lengths.
        let mut rates = program.rates.iter();
        if rates.any(|r| matches!(r.kind, RateKind::Nested { .. })) {
            continue;
        }
        let kernel = match emit::kernel(&program) {
            Ok(kernel) => kernel,
            Err(why) => {
                refused.push(format!("{name}: {why}"));
                continue;
            }
        };
        let shim = OnShim::of(&cxx, &program);
        let tile = kernel.tiles.threads as usize * kernel.tiles.elements as usize;
        for len in [0, 1, 31, tile - 1, tile, tile + 1, 4 * tile + 77] {
            let args = long_args(&program, len, &mut rng);
            assert_eq!(shim.differs(&program, &args), None, "{name} of {len}");
        }
        ran.push(name);
    }
    println!("ran: {}\nrefused:\n{}", ran.join(", "), refused.join("\n"));
    assert!(ran.len() >= 5, "{ran:?}");
}

/// Each operator gives the interpreter's results, for each type.
#[test]
fn operators_give_what_the_interpreter_gives() {
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(5);
    for ty in Ty::ALL {
        let program = parse(&crate::operators::text(ty));
        let shim = OnShim::of(&cxx, &program);
        let args = long_args(&program, 700, &mut rng);
        assert_eq!(shim.differs(&program, &args), None, "{ty}");
    }
}

/// A fault of the prelude: its name, a text, its replacement, and the expected message.
type Fault = (&'static str, &'static str, &'static str, &'static str);

/// Faults that give wrong results, hang, or access foreign memory.
const FAULTS: &[Fault] = &[
    (
        "a barrier is left out",
        "  if (lane == LF_WARP - 1) room[warp] = in_warp;\n  __syncthreads();",
        "  if (lane == LF_WARP - 1) room[warp] = in_warp;",
        "of a shared array, which nobody wrote",
    ),
    (
        "a tile is told what its neighbour alone came to",
        "2 * number + LF_THROUGH, Group::join(p, before, own));",
        "2 * number + LF_THROUGH, own);",
        "result ",
    ),
    (
        "blocks take the tile of their own number",
        "if (threadIdx.x == 0) tickets[0] = following.taken;",
        "if (threadIdx.x == 0) tickets[0] = blockIdx.x;",
        "",
    ),
    (
        "what a tile comes to is read before it is there",
        "return is_whole && tag / 2 == number;",
        "return true;",
        "a read of 8 bytes in no array",
    ),
    (
        "an old launch's value is taken for this one's",
        "return is_whole && tag / 2 == number;",
        "return is_whole && tag != 0;",
        "a read of 8 bytes in no array",
    ),
    (
        "a value is taken that is half of one and half of another",
        "heard.is_whole = heard.is_whole && (k == 0 || cell.tag == heard.tag);",
        "",
        "result ",
    ),
    (
        "the second half of a warp is left out",
        "for (u32 reach = 1; reach < THREADS; reach *= 2) {",
        "for (u32 reach = 1; reach < THREADS / 2; reach *= 2) {",
        "result ",
    ),
    (
        "an element of a room is another thread's",
        "[threadIdx.x * (bytes / each) + k];\n      memcpy(reinterpret_cast<u8 *>(x)",
        "[(threadIdx.x ^ 1) * (bytes / each) + k];\n      memcpy(reinterpret_cast<u8 *>(x)",
        "result ",
    ),
    (
        "nobody waits for a tile's elements",
        "    following.show();\n    lf_copies_done();",
        "    following.show();",
        "of a shared array, which nobody wrote",
    ),
    (
        "threads do not wait for each other's copies",
        "uses the last one's memory.\n    __syncthreads();",
        "uses the last one's memory.",
        "of a shared array, which nobody wrote",
    ),
    (
        "a tile comes into the room of the one before it",
        "rooms.side((side + 2) % 3));",
        "rooms.side((side + 1) % 3));",
        "",
    ),
    (
        "a room is written to before all have taken their elements",
        "  lf_take<L>(p, room, in);\n  if (L::STORES) __syncthreads();",
        "  lf_take<L>(p, room, in);",
        "result ",
    ),
    (
        "what is kept is fetched before all have put it there",
        "  if (L::KEEPS) __syncthreads();\n  L::keeps(p, before, after, [&](const auto &array, auto, u64 begin, u64 end) {",
        "  L::keeps(p, before, after, [&](const auto &array, auto, u64 begin, u64 end) {",
        "",
    ),
    (
        "the last part of a tile is taken for a whole one",
        "  return inside;",
        "  return true;",
        "a read of 16 bytes in no array",
    ),
    (
        "tickets do not begin anew",
        "taken = lf_take_ticket(launch.ticket, u32(tiles) + 3 * gridDim.x);",
        "taken = lf_take_ticket(launch.ticket, u32(tiles) + 3 * gridDim.x + 1);",
        "tickets are left",
    ),
    (
        "the element behind one is read",
        "return i < a.length ? a.at[i] : T(0);",
        "return i < a.length ? a.at[i + 1] : T(0);",
        "a read of 8 bytes in no array, 0 bytes behind arr_0",
    ),
    (
        "the element behind what is kept is written",
        "if (at + k * L::THREADS < count) to[k * L::THREADS] = x[k];",
        "if (at + k * L::THREADS < count) array.at[array.length] = x[k];",
        "a write of 8 bytes in no array, 0 bytes behind out_2",
    ),
    (
        "what is written is read before",
        "if (at + k * L::THREADS < count) to[k * L::THREADS] = x[k];",
        "if (at + k * L::THREADS < count) to[k * L::THREADS] += x[k];",
        " of out_2, which nobody wrote",
    ),
    (
        "the element behind one is kept",
        "kept.room[u32(i) - kept.begin] = x;",
        "kept.room[u32(i) - kept.begin + 1] = x;",
        "result ",
    ),
    (
        "no thread writes what its warp comes to",
        "  if (lane == LF_WARP - 1) room[warp] = in_warp;",
        "  if (lane == LF_WARP) room[warp] = in_warp;",
        "of a shared array, which nobody wrote",
    ),
    (
        "a warp writes outside of the room",
        "  if (lane == LF_WARP - 1) room[warp] = in_warp;",
        "  if (lane == LF_WARP - 1) room[warp + 29] = in_warp;",
        ", and behind them",
    ),
];

#[test]
fn faults_are_found_and_named() {
    if !can_compile() {
        return;
    }
    let program = crate::support::golden("filter_max");
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(3);
    let mut args = long_args(&program, 20_000, &mut rng);
    // `(+ 1)` and `(> 0)`: half of the elements are kept, and so are those beyond the end.
    for (k, x) in [(1, 1), (2, 0)] {
        args[k] = Owned::Scalar(Const::new(Ty::I64, x));
    }
    // Returns the messages of failing runs, over several seeds.
    let said = |cxx: &Cxx, turns| -> Vec<String> {
        let shim = Shim {
            turns,
            ..Shim::default()
        };
        let shim = OnShim::on(cxx, &program, shim);
        (0..8)
            .filter_map(|_| shim.differs(&program, &args))
            .collect()
    };
    let sound = said(&cxx, Shim::default().turns);
    assert!(sound.is_empty(), "{sound:?}");
    let mut missed = Vec::new();
    for (what, from, to, named) in FAULTS {
        let said = said(&cxx.tampered(from, to), 2_000_000);
        if !said.iter().any(|s| s.contains(named)) {
            missed.push(format!("{what}: {said:#?}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
