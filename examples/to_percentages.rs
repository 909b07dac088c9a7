//! Stages of compilation: the fate of `map (* 100) (filter (>= 0.01) fractions)`.
//!
//! It prints the graph, the plan, each combinator's own loop, the merged loop and the C code.
//!
//! ```text
//! cargo run --example to_percentages
//! ```

use livefusion::ast::{Kind, Node};
use livefusion::prelude::*;
use livefusion::{Clustering, stages};
use livefusion_examples::Outcome;
use loop_lang::Loop;
use loop_lang::alias_map::AliasMap;
use loop_lang::ir::{Block, CombId, End, Label};

fn to_percentages(fractions: &Array<f64>) -> Array<f64> {
    let significant = fractions.filter(|x| x.ge(0.01));
    significant.map(|x| x * 100.0)
}

fn main() -> Outcome {
    let fractions = Array::from(vec![0.5, 0.004, 0.25, 0.0, 0.24, 0.006]);
    let percents = to_percentages(&fractions);

    let graph = stages::graph(&percents)?;
    title("1. The graph that the calls have made");
    print!("{graph}");

    let plan = graph.plan(Clustering::default());
    title("2. The plan: which combinators share a loop");
    print!("{plan}");

    let mut loops = plan.lower_named(short_name)?;
    let merged = loops.iter().next().ok_or("no loop")?.program.clone();
    title("3. Each combinator's own loop: what it adds to the sections of its own name");
    for comb in 0..merged.combs.len() {
        println!("{}", own_sections(&merged, CombId(comb as u32)));
    }

    title("4. The merged loop: labels of one block are synonyms; the rate tree gave the gotos");
    print!("{merged}");

    title("5. After the passes");
    loops.optimize();
    if loops.to_string() == merged.to_string() {
        println!("The same: they find nothing to improve.");
    } else {
        print!("{loops}");
    }

    title("6. C");
    match loops.code(&Engine::c()) {
        Ok(code) => print!("{code}"),
        Err(e) => println!("none: {e}"),
    }

    title("7. The result");
    println!("{fractions} -> {}", percents.force()?);
    Ok(())
}

fn title(text: &str) {
    println!("\n=== {text} ===\n");
}

/// The combinators' names in the LiveFusion papers. Others keep their numbers.
fn short_name(node: &Node) -> Option<String> {
    let name = match node.kind {
        Kind::Manifest => "mfst",
        Kind::Filter(_) => "filt",
        Kind::Map(_) => "map",
        _ => return None,
    };
    Some(name.to_string())
}

/// The blocks of a loop with the statements of one combinator, under its labels only.
fn own_sections(merged: &Loop, comb: CombId) -> String {
    let mut own = Loop {
        blocks: AliasMap::new(),
        ..merged.clone()
    };
    for (labels, block) in merged.blocks.iter() {
        let labels: Vec<Label> = labels.iter().copied().filter(|l| l.comb == comb).collect();
        let block = Block {
            stmts: block
                .stmts
                .iter()
                .filter(|s| s.comb == comb)
                .cloned()
                .collect(),
            exits: block
                .exits
                .iter()
                .filter(|e| e.comb == comb)
                .copied()
                .collect(),
            end: End::Open,
        };
        let empty = block.stmts.is_empty() && block.exits.is_empty();
        if !labels.is_empty() && !empty {
            // Labels come from a map, so they are unique.
            let _ = own.blocks.insert(labels, block);
        }
    }
    let text = own.to_string();
    let blocks = text.lines().skip_while(|line| !line.ends_with(':'));
    blocks.collect::<Vec<_>>().join("\n") + "\n"
}
