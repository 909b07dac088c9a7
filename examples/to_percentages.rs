//! What becomes of `map (* 100) (filter (>= 0.01) fractions)`, stage by stage: the AST, each
//! combinator's own loop, the merged loop, the C.
//!
//! ```text
//! cargo run --example to_percentages
//! ```

use livefusion::ast::{Body, Kind, Node, Term, TermId};
use livefusion::fusion::{Clustering, plan, rates::known_lengths};
use livefusion::lower::lower;
use livefusion::prelude::*;
use livefusion::sharing::{Graph, NodeId, recover};
use livefusion_backend::Backend;
use livefusion_c::CBackend;
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

    title("1. The AST, which is all that the calls have made");
    ast(percents.node(), 0);

    let graph = recover(&[percents.node().clone()])?;
    let plan = plan(&graph, &known_lengths(&graph, &[]), Clustering::default());
    let mut merged = lower(&graph, &plan, 0, &short_name)?.program;
    merged.name = "to_percentages".to_string();

    title("2. Each combinator's own loop: what it adds to the sections of its own name");
    for comb in 0..merged.combs.len() {
        println!("{}", own_sections(&merged, CombId(comb as u32)));
    }

    title("3. The merged loop: labels of one block are synonyms; the rate tree gave the gotos");
    println!("{merged}");

    title("4. After the passes");
    let mut optimised = merged.clone();
    loop_lang::passes::optimize(&mut optimised);
    if optimised.to_string() == merged.to_string() {
        println!("The same: they find nothing to improve.");
    } else {
        println!("{optimised}");
    }

    title("5. C");
    match CBackend::new().compile(&optimised) {
        Ok(kernel) => println!("{}", kernel.source().unwrap_or_default()),
        Err(e) => println!("none: {e}"),
    }

    title("6. The result");
    println!("{fractions} -> {}", percents.force()?);
    Ok(())
}

fn title(text: &str) {
    println!("\n=== {text} ===\n");
}

/// The names that the combinators have in the LiveFusion papers; others keep their numbers.
fn short_name(graph: &Graph, id: NodeId) -> Option<String> {
    let name = match graph.node(id).kind {
        Kind::Manifest => "mfst",
        Kind::Filter(_) => "filt",
        Kind::Map(_) => "map",
        _ => return None,
    };
    Some(name.to_string())
}

/// A node with its closure, and its inputs below it.
fn ast(node: &Node, depth: usize) {
    let closure = match &node.kind {
        Kind::Map(body) | Kind::Filter(body) => {
            format!(" (|x0| {})", term(body, body.results[0]))
        }
        _ => {
            let types: Vec<&str> = node.types.iter().map(|ty| ty.name()).collect();
            format!(" {}[{}]", types.join(", "), node.len.unwrap_or_default())
        }
    };
    println!("{:indent$}{}{closure}", "", node.name, indent = 4 * depth);
    node.inputs.iter().for_each(|input| ast(input, depth + 1));
}

/// A scalar term of parameters, literals and operators.
fn term(body: &Body, id: TermId) -> String {
    match &body.terms[id.index()].term {
        Term::Param(k) => format!("x{k}"),
        Term::Lit(c) => c.to_string(),
        Term::Op(op, args) => {
            let args: Vec<String> = args.iter().map(|a| term(body, *a)).collect();
            format!("{} {}", op.name(), args.join(" "))
        }
        other => format!("{other:?}"),
    }
}

/// The blocks of a loop with the statements of one combinator, under its labels alone.
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
            // Labels are taken from a map: none is there twice.
            let _ = own.blocks.insert(labels, block);
        }
    }
    let text = own.to_string();
    let blocks = text.lines().skip_while(|line| !line.ends_with(':'));
    blocks.collect::<Vec<_>>().join("\n") + "\n"
}
