//! What the tests of the whole project share.
//!
//! | module | room for |
//! | --- | --- |
//! | [`naive`] | the unfused evaluator that says what a graph must give |
//! | [`program`] | random programs, and smaller ones that fail in the same way |
//! | [`loops`] | random loops over random rate trees |
//! | [`mutants`] | the golden loops, and what becomes of their text by small changes |
//! | [`check`] | engines against the naive evaluator and each other |
//! | [`coverage`] | which pairs of combinators shared a loop |
//! | [`patterns`] | which rates arrays have, and how they are consumed |
//! | [`backends`] | kernels cut into spans, kernels compiled in batches |
//! | [`catalog`] | the programs of the literature, and what becomes of them |
//! | [`forms`] | the loops of a program, and the shapes that C gives them |
//! | [`driver`] | passes of loops as programs of their own, for machines that are not here |
//! | [`chunked`] | a backend that runs chunks in random order |
//! | [`threads`] | work on all threads |
//! | [`exact`] | values that are rounded once, by numbers of any size |
//! | [`rng`], [`scalar`] | random numbers and words, equality of words |

pub mod backends;
pub mod catalog;
pub mod check;
pub mod chunked;
pub mod coverage;
pub mod driver;
pub mod exact;
pub mod forms;
pub mod fuzz;
pub mod loops;
pub mod mutants;
pub mod naive;
pub mod patterns;
pub mod program;
pub mod rng;
pub mod scalar;
pub mod threads;
pub mod tiles;
