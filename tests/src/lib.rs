//! Shared code of the cross-crate tests.
//!
//! | module | contents |
//! | --- | --- |
//! | [`naive`] | the unfused evaluator, which defines the results of a graph |
//! | [`program`] | random programs, and shrinking of failing ones |
//! | [`loops`] | random loops over random rate trees |
//! | [`mutants`] | the golden loops, and mutations of their text |
//! | [`check`] | comparison of engines with the naive evaluator and each other |
//! | [`coverage`] | pairs of combinators that shared a loop |
//! | [`patterns`] | rates and uses of arrays |
//! | [`backends`] | kernels split into spans, kernels compiled in batches |
//! | [`catalog`] | programs of the literature, and their loops |
//! | [`forms`] | the loops of a program, and the shapes that C gives them |
//! | [`driver`] | passes of loops as stand-alone programs, for other machines |
//! | [`chunked`] | a backend that runs chunks in random order |
//! | [`threads`] | work on all threads |
//! | [`exact`] | correctly rounded references, by arbitrary-precision numbers |
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
