//! Legality rules: each with a loop and a decision that breaks it.

mod common;

use livefusion_tile::region::Region;
use livefusion_tile::schedule::{Admit, Decision, Refused, Schedule, legal};
use loop_lang::Loop;
use loop_lang::ir::RateId;
use loop_lang::state::Layout;
use std::collections::BTreeSet;

/// A golden loop, perhaps with some changed lines, and a schedule with an illegal last decision.
struct Case {
    rule: &'static str,
    name: &'static str,
    change: (&'static str, String),
    schedule: &'static str,
}

fn case(rule: &'static str, name: &'static str, schedule: &'static str) -> Case {
    changed(rule, name, ("", String::new()), schedule)
}

fn changed(
    rule: &'static str,
    name: &'static str,
    change: (&'static str, String),
    schedule: &'static str,
) -> Case {
    Case {
        rule,
        name,
        change,
        schedule,
    }
}

/// A scalar loop in the filter's body.
fn turns() -> String {
    "  let new_3 = add acc_3 elt_1
  while n_3 = elt_1 {
    let go_3 = gt n_3 one_1
  } cond go_3 do {
    let less_3 = shr n_3 one_1
  } next less_3
"
    .to_string()
}

/// A value behind the given number of nested arms.
fn arms(deep: usize) -> String {
    let open: String = (0..deep)
        .map(|k| format!("let c{k}_1 = lt elt_0 {k}.0\nif c{k}_1 {{\n"))
        .collect();
    let close: String = (0..deep)
        .rev()
        .map(|k| match k + 1 == deep {
            true => format!("}} else {{\n}} -> e{k}_1 = elt_0 | two_1\n"),
            false => format!("}} else {{\n}} -> e{k}_1 = e{}_1 | two_1\n", k + 1),
        })
        .collect();
    format!("{open}{close}  let twice_1 = mul e0_1 two_1")
}

/// Too many arms in a loop that folds in runs.
fn arms_of_runs() -> String {
    let arms = arms(18).replace("elt_0", "elt_2").replace("two_1", "k_2");
    let arms = arms.replace("_1", "_2");
    format!("{arms}\n  let short_3 = cast.f32 twice_2")
}

/// A group with a function as its combine.
fn by_a_function() -> String {
    "fn join_1(p_1: f64, q_1: f64) {
  let both_1 = add p_1 q_1
  return both_1
}
group acc_1 owner r0 step r0 start start_1 id -0.0 next new_1 combine join_1"
        .to_string()
}

fn cases() -> Vec<Case> {
    vec![
        case("a turn of one step", "map", "r0 unroll 1"),
        case(
            "segments go step by step, or in vectors",
            "segmented",
            "r1 unroll 8",
        ),
        case(
            "it has no extrema of floats in vectors that it may find again",
            "map_sum",
            "r0 vectorise 8 unroll 4\nr0 fastminmax",
        ),
        case(
            "it has no turns of several vectors that exits may end",
            "exit_filter_take",
            "r1 compact\nr0 vectorise 8 unroll 1\nr0 ask",
        ),
        case(
            "buffers have a power of two of elements, those of a turn, and 32 KiB at most",
            "zip_filters",
            "zs buffer 100",
        ),
        case(
            "buffers have a power of two of elements, those of a turn, and 32 KiB at most",
            "zip_filters",
            "kept_xs compact\nxs vectorise 8 unroll 4\nzs buffer 16",
        ),
        case(
            "buffers have a power of two of elements, those of a turn, and 32 KiB at most",
            "zip_filters",
            "zs buffer 8192",
        ),
        case(
            "the rate is no root whose cursors do no more than deliver",
            "map",
            "r0 buffer 64",
        ),
        case(
            "what is behind buffers is written a part at a time",
            "zip_filters",
            "zs buffer 64\nzs stream 0",
        ),
        case(
            "what runs through buffers runs a part at a time",
            "zip_filters",
            "zs buffer 64\nzs runs 8",
        ),
        case(
            "what runs through buffers has no segments in its steps",
            "zip_filters",
            "zs buffer 64\nzs unrolljam 8",
        ),
        case(
            "2, 4, 8 or 16 steps have one segment together",
            "column_sums",
            "r0 unrolljam 12",
        ),
        case(
            "2, 4, 8 or 16 steps have one segment together",
            "column_sums",
            "r0 unrolljam 32",
        ),
        case(
            "the rate is no root with one loop in its steps",
            "column_sums",
            "r1 unrolljam 4",
        ),
        case(
            "rows side by side are a power of two, from 2 to 16",
            "row_sums",
            "r0 rows 12",
        ),
        case(
            "the rate is no root with loops in its steps",
            "row_sums",
            "r1 rows 4",
        ),
        case(
            "what runs through buffers has no segments in its steps",
            "zip_filters",
            "zs buffer 64\nzs rows 8",
        ),
        case(
            "rows side by side write nothing in their inner loops",
            "column_sums",
            "r0 rows 4",
        ),
        case(
            "rows side by side have a segment each",
            "row_sums",
            "r0 unrolljam 4\nr0 rows 4",
        ),
        case(
            "rows side by side have no loops within their inner loops",
            "matrix_product",
            "r0 rows 4",
        ),
        changed(
            "rows side by side have no exits and admit every element",
            "short_rows",
            (
                "  unless more_1 | done_1\n",
                "  let few_1 = lt ix_1 100\n  unless more_1 | done_1\n  unless few_1 | done_1\n".into(),
            ),
            "r0 rows 4",
        ),
        changed(
            "rows side by side write at the root's counter",
            "row_sums",
            (
                "  writeArray out_2 ix_0 elt_2\n",
                "  let at_2 = rem ix_0 7\n  writeArray out_2 at_2 elt_2\n".into(),
            ),
            "r0 rows 4",
        ),
        changed(
            "a row would read what another one has yet to write",
            "row_sums",
            (
                "readArray arr_1 at_1\n",
                "readArray out_2 at_1\n".into(),
            ),
            "r0 rows 4",
        ),
        changed(
            "rows side by side change an array in one place",
            "row_sums",
            (
                "  writeArray out_2 ix_0 elt_2\n",
                "  writeArray out_2 ix_0 elt_2\n  scatterArray out_2 ix_0 elt_2 with add\n".into(),
            ),
            "r0 rows 4",
        ),
        changed(
            "a row would wait for the row before it",
            "short_rows",
            ("level 3 lanes 16", "level 3 lanes 2".into()),
            "r0 rows 4",
        ),
        case(
            "rows side by side begin anew, in 256 lanes at most",
            "row_sums",
            "r0 rows 16",
        ),
        case(
            "inner loops of other lengths are not side by side",
            "segment_filter",
            "r0 rows 4",
        ),
        case(
            "runs side by side are a power of two, from 2 to 16",
            "steepest",
            "r0 runs 12",
        ),
        case(
            "runs side by side are a power of two, from 2 to 16",
            "steepest",
            "r0 runs 32",
        ),
        case("the rate is no innermost loop", "filter_sum", "r2 runs 8"),
        case("runs side by side are those of a root", "rows", "r1 runs 8"),
        case(
            "beside runs side by side nothing else is decided",
            "steepest",
            "r0 fission wait 8 work 64 buffer 64\nr0 runs 8",
        ),
        changed(
            "a piece would read what another one has yet to write",
            "counts",
            (
                "  goto bottom_0\nbottom_0",
                "  let old_1 = readArray out_1 elt_0\n  writeArray out_1 elt_0 old_1\n  goto bottom_0\nbottom_0".into(),
            ),
            "r0 fission wait 8 work 64 buffer 64",
        ),
        case(
            "its guard has exits, which must be tested step by step",
            "exit_filter_take",
            "r0 runs 8",
        ),
        case(
            "it has sub rates, and runs are of steps that are all the same",
            "filter_sum",
            "r0 runs 8",
        ),
        case(
            "it carries what does not go in runs, all of them of as many steps",
            "map_sum",
            "r0 runs 8",
        ),
        changed(
            "it carries what does not go in runs, all of them of as many steps",
            "steepest",
            ("runs 128", "runs 64".into()),
            "r0 runs 8",
        ),
        changed(
            "a run that is taken beside others has from 8 to 256 steps",
            "map_sum",
            ("lanes 32", "runs 512".into()),
            "r0 runs 8",
        ),
        changed(
            "it does more than read, compute and fold",
            "map_sum",
            ("lanes 32", "runs 128".into()),
            "r0 runs 8",
        ),
        changed(
            "its arms are nested too deep",
            "steepest",
            ("  let short_3 = cast.f32 elt_2", arms_of_runs()),
            "r0 runs 8",
        ),
        case(
            "it was decided before",
            "map",
            "r0 vectorise 8 unroll 1\nr0 vectorise 4 unroll 1",
        ),
        case(
            "the rate is no innermost loop",
            "filter_sum",
            "r2 vectorise 8 unroll 1",
        ),
        case("the rate is no innermost loop", "filter_sum", "r2 stream 0"),
        case("the rate is no innermost loop", "filter_sum", "r2 partition"),
        case(
            "the rate is no innermost loop",
            "filter_sum",
            "r2 fission wait 8 work 64 buffer 64",
        ),
        case(
            "a buffer has a power of two of elements, at most 256, and those of a turn",
            "filter_sum",
            "r0 fission wait 8 work 64 buffer 512",
        ),
        case(
            "a buffer has a power of two of elements, at most 256, and those of a turn",
            "map",
            "r0 vectorise 8 unroll 4\nr0 fission wait 8 work 64 buffer 16",
        ),
        case(
            "its guard has exits, which must be tested step by step",
            "exit_filter_take",
            "r0 fission wait 8 work 64 buffer 64",
        ),
        case(
            "it is in a step of another loop, or another in its own",
            "normalise",
            "r1 fission wait 8 work 64 buffer 64",
        ),
        case(
            "its guard has exits, which must be tested step by step",
            "exit_filter_take",
            "r0 partition",
        ),
        case(
            "nothing that it asks or accesses goes with its counter",
            "filter_sum",
            "r0 partition",
        ),
        case(
            "what is streamed is written by a root",
            "rows",
            "r1 stream 0",
        ),
        case(
            "its guard has exits, which must be tested step by step",
            "exit_filter_take",
            "r0 stream 0",
        ),
        case(
            "it writes no result in step that it does nothing else with",
            "filter_sum",
            "r0 stream 0",
        ),
        case(
            "the rate is no sub rate of an innermost loop that tests",
            "map",
            "r0 mask",
        ),
        changed(
            "it writes elsewhere than at its count",
            "exit_filter_take",
            ("writeArray out_2 ix_1", "writeArray out_2 n_2".into()),
            "r1 compact",
        ),
        case(
            "it scans, which has no mask",
            "phases_of_filters",
            "r1 mask",
        ),
        changed(
            "it has a scalar loop, which may turn long for what is rejected",
            "filter_sum",
            ("  let new_3 = add acc_3 elt_1\n", turns()),
            "r2 mask",
        ),
        case(
            "lanes are a power of two, from 2 to 64",
            "map",
            "r0 vectorise 12 unroll 1",
        ),
        case(
            "lanes are a power of two, from 2 to 64",
            "map",
            "r0 vectorise 3 unroll 1",
        ),
        case(
            "lanes are a power of two, from 2 to 64",
            "map",
            "r0 vectorise 128 unroll 1",
        ),
        case(
            "vectors in a turn, or steps, are a power of two, at most 32",
            "map",
            "r0 vectorise 8 unroll 0",
        ),
        case(
            "vectors in a turn, or steps, are a power of two, at most 32",
            "map",
            "r0 vectorise 8 unroll 64",
        ),
        case(
            "packed steps are behind the vectors of their turn",
            "filter_sum",
            "r2 pack\nr0 vectorise 8 unroll 2\nr0 fission wait 8 work 64 buffer 64",
        ),
        case(
            "the packed steps of a turn are 256 at most",
            "filter_sum",
            "r2 pack\nr0 vectorise 16 unroll 32",
        ),
        changed(
            "what goes from one step to the next, in cases",
            "running",
            (
                "  let elt_0 = readArray arr_0 ix_0",
                "  let elt_0 = readArray arr_0 ix_0\n  let near_0 = lt ix_0 100".into(),
            ),
            "r0 partition\nr0 vectorise 8 unroll 1",
        ),
        case(
            "what goes from one step to the next is written for each lane",
            "running",
            "r0 vectorise 32 unroll 1",
        ),
        case(
            "vectors have more lanes than a group",
            "dot_product",
            "r0 vectorise 64 unroll 1",
        ),
        case(
            "it writes elsewhere than at the counter, or packed at a count",
            "to_percentages",
            "mfst vectorise 8 unroll 1",
        ),
        case(
            "it writes elsewhere than at the counter, or packed at a count",
            "to_percentages",
            "filt mask\nmfst vectorise 8 unroll 1",
        ),
        // A row is stored contiguously if its array has no other use.
        changed(
            "it writes elsewhere than at the counter, or packed at a count",
            "transpose",
            (
                "  writeArray out_2 to_2 elt_1\n",
                "  writeArray out_2 to_2 elt_1\n  writeArray out_2 ix_0 elt_1\n".into(),
            ),
            "r1 vectorise 4 unroll 1",
        ),
        changed(
            "it reads elements that other steps write",
            "transpose",
            (
                "  writeArray out_2 to_2 elt_1\n",
                "  let last_2 = min to_2 3\n  let old_2 = readArray out_2 last_2\n  writeArray out_2 ix_1 old_2\n".into(),
            ),
            "r1 vectorise 4 unroll 1",
        ),
        changed(
            "it joins onto several arrays, or by a function",
            "counts",
            (
                "out_1 elt_0 by_1 with add",
                "out_1, out_1 elt_0 by_1, by_1".into(),
            ),
            "r0 vectorise 8 unroll 1",
        ),
        changed(
            "it joins onto elements that it uses in another way, too",
            "counts",
            (
                "  goto bottom_0\nbottom_0",
                "  scatterArray out_1 elt_0 by_1\n  goto bottom_0\nbottom_0".into(),
            ),
            "r0 vectorise 8 unroll 1",
        ),
        changed(
            "it scans several variables, or by a function",
            "prefixes",
            (
                "group acc_1 owner r0 step r0 start start_1 id -0.0 next new_1 combine add",
                by_a_function(),
            ),
            "r0 vectorise 8 unroll 1",
        ),
        case(
            "vectors are no blocks of a scan",
            "prefixes",
            "r0 vectorise 4 unroll 1",
        ),
        changed(
            "it reads what a scan has come to before that goes on",
            "prefixes",
            (
                "  let whole_2 = cast.i64 new_1",
                "  let least_2 = add acc_2 1i64\n  let whole_2 = cast.i64 new_1".into(),
            ),
            "r0 vectorise 8 unroll 1",
        ),
        changed(
            "its arms are nested too deep",
            "map",
            ("  let twice_1 = mul elt_0 two_1", arms(18)),
            "r0 vectorise 8 unroll 1",
        ),
    ]
}

/// Cases in which a recurrence cannot be separated from the rest, or an exit cannot be tested for
/// several steps at once.
fn recurrences() -> Vec<Case> {
    let vectors = "r0 vectorise 8 unroll 1";
    let sum = "filter_prefix_sum";
    vec![
        changed(
            "its guard has exits that are neither flags of the step before nor limits of counts",
            "exit_filter_take",
            ("let few_2 = lt ix_1 n_2", "let few_2 = le ix_1 n_2".into()),
            vectors,
        ),
        case(
            "it carries runs, which vectors take side by side",
            "steepest",
            vectors,
        ),
        changed(
            "what goes from one step to the next decides where it goes",
            "exit_take_beside",
            ("  writeArray out_2 ix_1 elt_0\n", String::new()),
            vectors,
        ),
        changed(
            "what it carries goes from one step to the next in several sub rates",
            sum,
            (
                "  let elt_0 = readArray arr_0 ix_0",
                "  let elt_0 = readArray arr_0 ix_0\n  let late_0 = add elt_0 acc_2".into(),
            ),
            vectors,
        ),
    ]
}

/// Mappings that a device's threads do not support.
fn dealt() -> Vec<Case> {
    let sum = "row_sums";
    vec![
        case(
            "the rate is no root",
            "filter_sum",
            "r2 threads steps block 128 each 4",
        ),
        case(
            "a block has a power of two of threads, from 32 to 1024",
            "filter_sum",
            "r0 threads steps block 48 each 4",
        ),
        case(
            "a thread has from 1 to 64 steps of a tile",
            "filter_sum",
            "r0 threads steps block 128 each 65",
        ),
        case(
            "a thread has whole pieces of 16 bytes",
            "map",
            "r0 threads steps block 128 each 3",
        ),
        case(
            "a block shares 48 KiB at most",
            "filter_prefix_sum",
            "r0 threads steps block 512 each 20",
        ),
        case(
            "a team has one row of a tile",
            sum,
            "r0 threads teams block 128 each 2",
        ),
        case("no team may have its rows", "filter_sum", "r0 teams 65536"),
        case(
            "it has no path: no rate is nested",
            "map",
            "r0 threads path block 128 each 2",
        ),
        case(
            "it has no steps: rates are nested",
            sum,
            "r0 threads steps block 128 each 2",
        ),
    ]
}

fn judge(program: &Loop, schedule: &Schedule) -> Result<(), Vec<Refused>> {
    let layout = Layout::of(program);
    let region = Region::of(program, &layout.arrays, &layout.held).expect("a region");
    legal(&region, schedule)
}

#[test]
fn each_case_breaks_its_rule() {
    for Case {
        rule,
        name,
        change: (from, to),
        schedule,
    } in cases().into_iter().chain(recurrences()).chain(dealt())
    {
        let text = common::text_of(name);
        assert!(text.contains(from), "{name} has no {from}");
        let program = common::loop_of_text(&text.replacen(from, &to, 1));
        let schedule = Schedule::parse(schedule, &program).expect("a schedule");
        let (rate, decision) = *schedule.decisions().last().expect("a decision");
        let rate = program.rate(rate).name.clone();
        let refused = Refused {
            rate,
            decision,
            rule: rule.into(),
        };
        assert_eq!(judge(&program, &schedule), Err(vec![refused]), "{name}");
    }
}

#[test]
fn arms_are_nested_so_deep_and_no_deeper() {
    let text = common::text_of("map");
    let text = text.replacen("  let twice_1 = mul elt_0 two_1", &arms(17), 1);
    let program = common::loop_of_text(&text);
    let schedule = Schedule::parse("r0 vectorise 8 unroll 1", &program).expect("a schedule");
    assert_eq!(judge(&program, &schedule), Ok(()));
}

const STRANGER: &str = "the loop has no such rate";

#[test]
fn decisions_are_for_rates_of_the_loop() {
    let program = common::loop_of("map");
    let decision = Decision::Admit(Admit::Branch);
    let schedule = Schedule::new().with(RateId::new(9), decision);
    let refused = Refused {
        rate: "r9".into(),
        decision,
        rule: STRANGER.into(),
    };
    assert_eq!(judge(&program, &schedule), Err(vec![refused]));
}

#[test]
fn every_rule_has_a_case() {
    let sources = [
        include_str!("../src/schedule/legal.rs"),
        include_str!("../src/schedule/legal/rows.rs"),
        include_str!("../src/schedule/legal/runs.rs"),
        include_str!("../src/schedule/legal/vectors.rs"),
    ];
    let of_threads = [
        include_str!("../src/threads/mod.rs"),
        include_str!("../src/threads/shape.rs"),
        include_str!("../src/threads/form.rs"),
    ];
    let rules = (sources.iter()).flat_map(|source| source.split("Err(\"").skip(1));
    let requested = of_threads
        .iter()
        .flat_map(|source| source.split("Requested(\"").skip(1));
    let refused = of_threads
        .iter()
        .flat_map(|source| source.split(" no(\"").skip(1));
    let rules = rules.chain(requested).chain(refused);
    let rules: BTreeSet<&str> = rules.filter_map(|r| r.split('"').next()).collect();
    let mut cases: BTreeSet<&str> = cases().into_iter().map(|c| c.rule).collect();
    let told = |rule: &&str| !rule.starts_with("it has no ");
    cases.extend(dealt().into_iter().map(|c| c.rule).filter(told));
    cases.insert(STRANGER);
    assert_eq!(cases, rules);
}
