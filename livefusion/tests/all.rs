//! Library tests that share one process.
//!
//! Tests with a process of their own state the reason.
#![allow(
    non_snake_case,
    reason = "names of tests say feature, situation, expectation"
)]

mod common;

mod arguments;
mod begin_short;
mod by_index;
mod call_into;
mod calls;
mod clustering;
mod co_consumers;
mod comparisons;
mod complex;
mod conditions;
mod contracted;
mod cursors;
mod custom;
mod deep;
mod delays;
mod direction;
mod equal_zips;
mod exits;
mod explain;
mod force;
mod foreign;
mod gemm;
mod generate;
mod groups;
mod growth;
mod halves;
mod held;
mod histograms;
mod identities;
mod in_place;
mod inline;
mod io;
mod iterate;
mod joined_scans;
mod joins;
mod kept_segments;
mod kernels;
mod lengths;
mod lowering;
mod merges;
mod messages;
mod mixtures;
mod moments;
mod nested;
mod nested_random;
mod over;
mod pairs;
mod parallel;
mod phases;
mod quantiles;
mod random;
mod ranked;
mod rates;
mod recognised;
mod recompute;
mod replay;
mod results;
mod scatter;
mod schedules;
mod search;
mod segments;
mod semantics;
mod sharing;
mod simplify;
mod small;
mod sort;
mod sort_along;
mod sort_by;
mod stages;
mod streams;
mod streams_of_segments;
mod streams_that_end;
mod tiers;
mod too_long;
mod top_k;
mod traps;
mod typed;
mod widened;
mod zip;
mod zip_shortest;
