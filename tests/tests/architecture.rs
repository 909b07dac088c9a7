//! The program that ARCHITECTURE.md shows on all floors.

use livefusion::prelude::*;
use livefusion::{Clustering, stages};
use livefusion_c::CBackend;
use livefusion_tile::region::Region;
use livefusion_tile::schedule::{Aim, choose};
use livefusion_tile::target::Target;
use loop_lang::state::Layout;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// The texts of the program's stages, on a machine with AVX2, by their names in ARCHITECTURE.md.
fn floors() -> HashMap<&'static str, String> {
    let xs = Array::from(vec![3i64, -1, 4, -1, 5, 9]);
    let total = xs.filter(|x| x.gt(0)).map(|x| x * 10).sum();
    let graph = stages::graph(&total).expect("a graph");
    let plan = graph.plan(Clustering::default());
    let plan_text = plan.to_string();
    let mut loops = plan.lower().expect("loops");
    let lowered = loops.to_string();
    loops.optimize();
    let program = loops.iter().next().expect("one loop").program.clone();
    let target = Target::avx2();
    let layout = Layout::of(&program);
    let region = Region::of(&program, &layout.arrays, &layout.held).expect("a region");
    let schedule = choose(&region, &target, Aim::Speed);
    let inner_loop = region.inner_loops().next().expect("an innermost loop");
    let tiles = livefusion_tile::lower::tiles(&region, inner_loop, &schedule).expect("a tile");
    let tile = tiles.iter().map(|t| t.show(&program).to_string()).collect();
    let c = CBackend::new().with_target(target).text(&program);
    HashMap::from([
        ("graph", graph.to_string()),
        ("plan", plan_text),
        ("loop", lowered),
        ("schedule", schedule.show(&program)),
        ("tile", tile),
        ("c", c.expect("the C")),
    ])
}

#[test]
fn architecture_shows_the_text_of_each_stage() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ARCHITECTURE.md");
    let page = fs::read_to_string(path).expect("ARCHITECTURE.md");
    let mut floors = floors();
    for fence in page.split("\n```text ").skip(1) {
        let (name, rest) = fence.split_once('\n').expect("a line");
        let (shown, _) = rest.split_once("\n```").expect("an end");
        let text = floors.remove(name).expect("a floor, shown once");
        let mut rest = text.as_str();
        for piece in shown.split("\n...\n") {
            let at = rest.find(piece);
            let at = at.unwrap_or_else(|| panic!("{name} has no lines\n{piece}\nbut\n{text}"));
            rest = &rest[at + piece.len()..];
        }
    }
    assert!(floors.is_empty(), "not shown: {:?}", floors.keys());
}
