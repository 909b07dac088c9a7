//! The table of programs: loops, counters and intermediate arrays of each under every clustering, and
//! whether the optimal one is proven: `cargo run --release -p livefusion-tests --bin programs`.

use livefusion::{Clustering, Result};
use livefusion_tests::catalog::shape::Shape;
use livefusion_tests::catalog::{Program, all};

const STRATEGIES: [Clustering; 3] = [
    Clustering::Unfused,
    Clustering::Greedy,
    Clustering::Optimal {
        steps: Clustering::STEPS,
    },
];

fn main() -> Result<()> {
    println!("| program | combinators | unfused | greedy | optimal | gap |");
    println!("| --- | --: | --: | --: | --: | --- |");
    for program in all() {
        println!("{}", row(&program)?);
    }
    Ok(())
}

fn row(program: &Program) -> Result<String> {
    let mut cells = vec![program.name.to_string(), program.combinators()?.to_string()];
    let mut last = None;
    for strategy in STRATEGIES {
        let shape = Shape::of(&program.roots, strategy)?;
        cells.push(shape.to_string());
        last = Some(shape);
    }
    cells.extend(last.map(|optimal| optimal.gap()));
    Ok(format!("| {} |", cells.join(" | ")))
}
