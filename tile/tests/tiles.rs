//! Tiles of golden loops under given schedules: `golden/NAME.schedule` makes `golden/NAME.tile`.
//!
//! `LOOP_BLESS=1 cargo test -p livefusion-tile --test tiles` rewrites the tiles.

mod common;

use livefusion_tile::ir::Tile;
use livefusion_tile::lower;
use livefusion_tile::parse::parse;
use livefusion_tile::region::Region;
use livefusion_tile::schedule::Schedule;
use livefusion_tile::verify::verify;
use loop_lang::state::Layout;

fn golden(name: &str) {
    let program = common::loop_of(name);
    let layout = Layout::of(&program);
    let region = Region::of(&program, &layout.arrays, &layout.held).expect("a region");
    let file = common::path("golden").join(format!("{name}.schedule"));
    let text = std::fs::read_to_string(file).expect("the schedule's file");
    let schedule = Schedule::parse(&text, &program).expect("a schedule");
    assert_eq!(schedule.show(&program), text, "the schedule's own text");
    let mut got = String::new();
    let mut show = |tile: Tile| {
        let text = tile.show(&program).to_string();
        assert_eq!(verify(&tile, &program), Ok(()), "{text}");
        assert_eq!(parse(&text, &program), Ok(tile));
        got += &text;
    };
    let inner_loops = region.inner_loops();
    for inner_loop in inner_loops {
        let tiles = lower::tiles(&region, inner_loop, &schedule).expect("tiles");
        tiles.into_iter().for_each(&mut show);
    }
    let nests = region.nests().iter();
    // Segments run step by step.
    let nests = nests.filter_map(|n| lower::nest(&region, n, &schedule).ok());
    nests.flatten().for_each(&mut show);
    common::golden(&format!("{name}.tile"), &got);
}

#[test]
fn a_map_in_vectors() {
    golden("map");
}

#[test]
fn a_fold_in_lanes() {
    golden("dot_product");
}

#[test]
fn a_filter_that_packs() {
    golden("to_percentages");
}

#[test]
fn a_filter_with_a_result_and_a_fold() {
    golden("filter_sum");
}

#[test]
fn a_filter_with_a_filter_in_packed_steps() {
    golden("nested_filter");
}

#[test]
fn runs_side_by_side() {
    golden("steepest");
}

#[test]
fn arms_side_by_side() {
    golden("both_ways");
}

#[test]
fn a_scalar_loop_under_a_mask() {
    golden("escape");
}

#[test]
fn joins_lane_by_lane() {
    golden("counts");
}

#[test]
fn scans_a_block_at_a_time() {
    golden("prefixes");
}

#[test]
fn delays_slide_and_other_scans_go_lane_by_lane() {
    golden("delay");
}

#[test]
fn a_scan_of_what_a_filter_keeps() {
    golden("filter_scan_sum");
}

#[test]
fn a_scan_step_by_step() {
    golden("narrow_prefixes");
}

#[test]
fn a_long_body_in_pieces() {
    golden("long_chain");
}

#[test]
fn a_long_condition_in_pieces() {
    golden("filters_of_scans");
}

#[test]
fn segments_with_a_filter() {
    golden("segment_filter");
}

#[test]
fn segments_with_lanes() {
    golden("row_sums");
}

#[test]
fn segments_in_vectors() {
    golden("normalise");
}

#[test]
fn segments_that_are_written_in_vectors() {
    golden("transpose");
}

#[test]
fn segments_of_contracted_arrays() {
    golden("segment_buffer");
}

#[test]
fn segments_with_a_scan() {
    golden("segmented");
}

#[test]
fn segments_with_a_dry_run() {
    golden("pairs_in_groups");
}

#[test]
fn segments_with_an_exit() {
    golden("exit_of_segments");
}

#[test]
fn an_exit() {
    golden("exit_filter_take");
}

#[test]
fn a_read_anywhere_that_traps_step_by_step() {
    golden("gather_trap");
}

#[test]
fn a_phase_that_writes_behind_another() {
    golden("append");
}

#[test]
fn the_middle_of_a_row_and_its_ends() {
    golden("stencil");
}

#[test]
fn the_middle_of_a_row_that_is_as_most_are() {
    golden("stencil_zeros");
}

#[test]
fn the_middle_of_a_row_in_lanes() {
    golden("stencil_sums");
}

/// In the middle of a row, the index differs and has its own capacity check.
#[test]
fn the_middle_of_a_row_that_is_written_further_on() {
    golden("moved_sums");
}

#[test]
fn rows_that_are_joined_onto_one_in_vectors() {
    golden("column_sums");
}

#[test]
fn reads_from_the_end() {
    golden("mirror_phases");
}

#[test]
fn lanes_from_the_end() {
    golden("mirror_scan");
}

/// A register that is only reduced is a vector all the same: printers emit it as one.
#[test]
fn a_register_that_is_only_joined_is_a_vector() {
    let program = common::loop_of("filter_sum");
    let text = "tile t at r0\n  range from .. end\n  given zero_2: i32\n  register sums: i32x4\n  \
                set sums = zero_2 @0\n  let all: i32 = halves add sums\n";
    let tile = parse(text, &program).expect("a tile");
    assert_eq!(tile.lanes(), 4);
}

/// The tile of a fold of rows, step by step.
fn rows_step_by_step(text: &str) -> String {
    let program = common::loop_of_text(text);
    let layout = Layout::of(&program);
    let region = Region::of(&program, &layout.arrays, &layout.held).expect("a region");
    let schedule = Schedule::parse("", &program).expect("a schedule");
    let nests = region.nests().iter();
    let tiles = nests.flat_map(|n| lower::nest(&region, n, &schedule).expect("tiles"));
    let show = |tile: Tile| {
        assert_eq!(verify(&tile, &program), Ok(()));
        tile.show(&program).to_string()
    };
    tiles.map(show).collect()
}

#[test]
fn an_extremum_of_each_row_in_one_lane() {
    let sums = common::text_of("row_sums");
    let maxima = sums
        .replace("id -0.0", "id nan")
        .replace("combine add", "combine max")
        .replace("add acc_2", "max acc_2");
    let [sums, maxima] = [sums, maxima].map(|text| rows_step_by_step(&text));
    assert!(sums.contains("let half"), "{sums}");
    assert!(
        maxima.contains("max acc_2") && !maxima.contains("half"),
        "{maxima}"
    );
}

#[test]
fn exclusive_scans_of_exclusive_scans() {
    golden("scans_of_scans");
}
