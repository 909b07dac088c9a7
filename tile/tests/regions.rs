//! Analyses of golden loops, as files.
//!
//! `LOOP_BLESS=1 cargo test -p livefusion-tile --test regions` rewrites them.

mod common;

use livefusion_tile::region::cost::{Cost, cost};
use livefusion_tile::region::{Index, Region};
use loop_lang::state::Layout;

fn golden(name: &str) {
    let program = common::loop_of(name);
    let layout = Layout::of(&program);
    let region = Region::of(&program, &layout.arrays, &layout.held).expect("a region");
    common::golden(&format!("{name}.region"), &region.to_string());
}

#[test]
fn a_filter_with_a_result_and_a_fold() {
    golden("filter_max");
}

#[test]
fn delays_and_another_scan_of_two_variables() {
    golden("delay");
}

#[test]
fn segments_inside_of_a_root() {
    golden("segmented");
}

#[test]
fn rows_inside_of_a_root() {
    golden("row_sums");
}

#[test]
fn an_append_that_reads_up_and_down() {
    golden("both_ways");
}

#[test]
fn a_read_anywhere_that_traps() {
    golden("gather_trap");
}

#[test]
fn values_joined_onto_elements_anywhere() {
    golden("scatter_min");
}

#[test]
fn a_scalar_loop() {
    golden("escape");
}

#[test]
fn a_take_that_ends_its_loop() {
    golden("exit_filter_take");
}

#[test]
fn a_mirror() {
    golden("mirror_scan");
}

/// Redundant facts about statements agree.
#[test]
fn regions_agree_with_themselves() {
    let (mut inner_loops, mut nests, mut in_regions) = (0, 0, 0);
    let (mut counts, mut unproven, mut rows) = (0, 0, 0);
    for folder in common::folders() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let program = match path.extension() {
                Some(e) if e == "loop" => common::read(&path),
                _ => continue,
            };
            let layout = Layout::of(&program);
            let region = Region::of(&program, &layout.arrays, &layout.held).expect("a region");
            nests += region.nests().len();
            for nest in region.nests() {
                let inner = nest.inner.iter().filter_map(|r| region.inner_loop(*r));
                for inner_loop in inner {
                    assert!(
                        nest.outer.arrays.is_superset(&inner_loop.arrays),
                        "{path:?}"
                    );
                }
            }
            for inner_loop in region.inner_loops() {
                inner_loops += 1;
                let by_step = (0..inner_loop.steps.len()).flat_map(|at| inner_loop.of_step(at));
                let ids: Vec<usize> = by_step.map(|s| s.id).collect();
                assert_eq!(
                    ids,
                    Vec::from_iter(0..inner_loop.statements.len()),
                    "{path:?}"
                );
                for s in &inner_loop.statements {
                    let mut sum = Cost::default();
                    for inner in inner_loop.within(s) {
                        sum += cost(&program, inner.stmt);
                    }
                    assert_eq!((s.cost, s.first <= s.id), (sum, true), "{path:?} {}", s.id);
                    in_regions += usize::from(!s.top);
                }
                for access in &inner_loop.accesses {
                    let index = access.index.var();
                    let proven =
                        index.is_some_and(|i| inner_loop.proven.contains(&(access.array, i)));
                    assert!(proven || !access.is_proven, "{path:?} {}", access.statement);
                    assert!(inner_loop.arrays.contains(&access.array));
                    assert!(access.is_proven || inner_loop.lengths.contains(&access.array));
                    let near = inner_loop.is_near(access);
                    assert!(!near || !access.is_proven, "{path:?} {}", access.statement);
                    rows += usize::from(near);
                    counts += usize::from(access.shape == Index::Count);
                    unproven += usize::from(!access.is_proven);
                }
            }
        }
    }
    let seen = [inner_loops, nests, in_regions, counts, unproven, rows];
    assert!(seen.iter().all(|n| *n >= 5), "{seen:?}");
}
