//! What is known of golden loops, as files: `LOOP_BLESS=1 cargo test -p livefusion-tile --test regions` writes them
//! anew.

use livefusion_tile::region::cost::Cost;
use livefusion_tile::region::{Index, Region};
use loop_lang::Loop;
use loop_lang::state::Layout;
use std::path::{Path, PathBuf};

/// Where the loop language's golden loops are, and the C backend's.
fn folders() -> [PathBuf; 2] {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [
        "../loop-lang/tests/files/golden",
        "../backends/c/tests/loops",
    ];
    folders.map(|f| root.join(f))
}

fn loop_of(name: &str) -> Loop {
    let files = folders().map(|f| f.join(format!("{name}.loop")));
    let file = files.iter().find(|f| f.exists());
    read(file.expect("the loop's file"))
}

fn read(file: &Path) -> Loop {
    let text = std::fs::read_to_string(file).expect("readable");
    let text = text.split("\n# ----").next().unwrap_or_default();
    let mut program = loop_lang::parse::parse(text).expect("a loop");
    loop_lang::gotos::derive_gotos(&mut program);
    loop_lang::verify::verify(&program).expect("well formed");
    program
}

fn golden(name: &str) {
    let program = loop_of(name);
    let layout = Layout::of(&program);
    let region = Region::of(&program, &layout.arrays, &layout.held).expect("a region");
    let got = region.to_string();
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let path = path.join("tests/golden").join(format!("{name}.region"));
    if std::env::var_os("LOOP_BLESS").is_some() {
        std::fs::write(&path, &got).expect("golden file");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(got, expected, "{path:?}; LOOP_BLESS=1 writes it anew");
}

#[test]
fn a_filter_with_a_result_and_a_fold() {
    golden("filter_max");
}

#[test]
fn segments_inside_of_a_root() {
    golden("segmented");
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

/// What is said of statements in several ways is the same in all of them.
#[test]
fn regions_agree_with_themselves() {
    let (mut sweeps, mut nests, mut in_regions, mut counts, mut unproven) = (0, 0, 0, 0, 0);
    for folder in folders() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let program = match path.extension() {
                Some(e) if e == "loop" => read(&path),
                _ => continue,
            };
            let layout = Layout::of(&program);
            let region = Region::of(&program, &layout.arrays, &layout.held).expect("a region");
            nests += region.nests().len();
            for nest in region.nests() {
                let inner = nest.inner.iter().filter_map(|r| region.sweep(*r));
                for sweep in inner {
                    assert!(nest.outer.arrays.is_superset(&sweep.arrays), "{path:?}");
                }
            }
            for sweep in region.sweeps() {
                sweeps += 1;
                let by_step = (0..sweep.steps.len()).flat_map(|at| sweep.of_step(at));
                let ids: Vec<usize> = by_step.map(|s| s.id).collect();
                assert_eq!(ids, Vec::from_iter(0..sweep.statements.len()), "{path:?}");
                for s in &sweep.statements {
                    let mut cost = Cost::default();
                    for inner in sweep.within(s) {
                        cost += livefusion_tile::region::cost::cost(&program, inner.stmt);
                    }
                    assert_eq!((s.cost, s.first <= s.id), (cost, true), "{path:?} {}", s.id);
                    in_regions += usize::from(!s.top);
                }
                for access in &sweep.accesses {
                    let index = access.index.var();
                    let proven = index.is_some_and(|i| sweep.proven.contains(&(access.array, i)));
                    assert!(proven || !access.is_proven, "{path:?} {}", access.statement);
                    assert!(sweep.arrays.contains(&access.array));
                    assert!(access.is_proven || sweep.lengths.contains(&access.array));
                    counts += usize::from(access.shape == Index::Count);
                    unproven += usize::from(!access.is_proven);
                }
            }
        }
    }
    let seen = [sweeps, nests, in_regions, counts, unproven];
    assert!(seen.iter().all(|n| *n >= 5), "{seen:?}");
}
