//! Loops with more live values than registers.
//!
//! They compile in near-linear time, pause anywhere, and give the interpreter's bits.

use crate::common::*;
use livefusion_backend::{Arg, Backend, Outcome, View};
use livefusion_interp::InterpBackend;
use livefusion_jit::JitBackend;
use loop_lang::Loop;
use loop_lang::gotos::{complete_blocks, derive_gotos};
use loop_lang::verify::verify;
use std::fmt::Write;

/// Writes a chain of `n` filters with a scan of each filter's elements. All of them are results.
fn filters_and_scans(n: usize) -> Loop {
    let mut combs = String::from("comb 0 manifest at r0\n");
    let (mut rates, mut groups) = (String::new(), String::new());
    let (mut init, mut blocks, mut done) = (String::new(), String::new(), String::new());
    let mut results = String::new();
    for i in 1..=n {
        let (f, s, over) = (2 * i - 1, 2 * i, 2 * i - 2);
        let child = if i < n {
            format!("; child r{}", i + 1)
        } else {
            String::new()
        };
        write!(combs, "comb {f} filter at r{i}\ncomb {s} scan at r{i}\n").unwrap();
        let above = i - 1;
        writeln!(
            rates,
            "rate r{i} sub r{above} count n_{f} {{ stage 0{child} }}"
        )
        .unwrap();
        let by = "combine add level";
        writeln!(
            groups,
            "group n_{f} owner r0 step r{i} start 0 id 0 next m_{f} {by} {over} exact"
        )
        .unwrap();
        writeln!(
            groups,
            "group acc_{s} owner r0 step r{i} start 0.5 id -0.0 next x_{s} {by} {over} prefix 1"
        )
        .unwrap();
        write!(
            init,
            "  carry n_{f} = 0\n  carry acc_{s} = 0.5\n  let out_{s} = newArray f64 len_0\n"
        )
        .unwrap();
        write!(
            blocks,
            "guard_{f}:\n  let p_{f} = gt x_{over} {i}.0\n  unless p_{f}\n\
             body_{f}:\n  let x_{s} = scan acc_{s} with x_{over}\n\
             yield_{f}:\n  writeArray out_{s} n_{f} x_{s}\n  let m_{f} = add n_{f} 1\n  n_{f} := m_{f}\n"
        )
        .unwrap();
        writeln!(done, "  let res_{s} = sliceArray out_{s} n_{f}").unwrap();
        write!(results, " res_{s} acc_{s}").unwrap();
    }
    let text = format!(
        "loop many\n{combs}param arr_0: [f64] stream r0\n\
         rate r0 root ix_0 < len_0 {{ stage 0; child r1 }}\n{rates}{groups}\
         init_0:\n  let len_0 = arrayLength arr_0\n  carry ix_0 = 0\n{init}\
         guard_0:\n  let more_0 = lt ix_0 len_0\n  unless more_0\n\
         body_0:\n  let x_0 = readArray arr_0 ix_0\n{blocks}\
         bottom_0:\n  let nix_0 = add ix_0 1\n  ix_0 := nix_0\n\
         done_0:\n{done}  return{results}\n"
    );
    let mut program = loop_lang::parse::parse(&text).unwrap();
    complete_blocks(&mut program);
    derive_gotos(&mut program);
    assert_eq!(verify(&program), Ok(()));
    program
}

#[test]
fn large_frame_without_registers_is_paused_and_resumed() {
    for n in [2, 5, 40] {
        let program = filters_and_scans(n);
        let data: Vec<f64> = (0..17_000)
            .map(|i| f64::from(i * 7919 % 101) / 7.0)
            .collect();
        let args = [Arg::Array(View::new(&data))];
        let interp = InterpBackend::new().compile(&program).unwrap();
        let jit = JitBackend::new().compile(&program).unwrap();
        let want = run(&*interp, &args);
        assert_eq!(want.0, Outcome::Done);
        for spans in [&[u64::MAX][..], &[16384], &[5000, 1, 31]] {
            for kernels in [&[&*jit][..], &[&*interp, &*jit]] {
                let got = run_by_turns(kernels, spans, &args);
                assert!(got == want, "{n} filters in spans {spans:?}");
            }
        }
    }
}
