//! Two tables joined by a key: the airports of each state, and their density.
//!
//! Plain Rust computes the same for comparison.
//!
//! ```text
//! cargo run --release --example airports_by_state
//! ```

use livefusion::io;
use livefusion::prelude::*;
use livefusion_examples::{Outcome, best_of, data, timed};
use std::collections::HashMap;

/// Airports with their states, and a table of states.
struct Tables {
    /// The state of each airport, as a key.
    of: Vec<u16>,
    /// The key of each state.
    states: Vec<u16>,
    names: Vec<String>,
    square_miles: Vec<f64>,
}

/// The number of states printed, in descending order of airports per 10,000 square miles.
const MOST: usize = 10;

fn main() -> Outcome {
    let tables = read()?;
    let engine = Engine::builder().build();
    let (of, states) = (Array::from(&tables.of), Array::from(&tables.states));
    let area = Array::from(&tables.square_miles);
    let program = || {
        let pairs = of.left_join(&states);
        let n = tables.states.len();
        // An airport without a state is counted in an extra bin at the end.
        let state = pairs.map(|(_, state, is_there)| is_there.cond(state, n as u64));
        let counts = state.bincount(n + 1);
        let of_states = counts.take(n);
        let density = of_states.zip_with(&area, |count, area| count.cast::<f64>() / area * 1e4);
        (counts, density.argtop_k(MOST), density)
    };
    let (counts, most, density) = program();
    let all = (&counts, &most, &density);
    let mut nodes = Vec::new();
    all.nodes(&mut nodes);
    let explained = engine.explain(&nodes)?;
    let (results, first) = timed(|| all.force_with(&engine));
    let (counts, most, density) = results?;
    let without = counts.iter().last().copied().unwrap_or_default();

    println!(
        "{} airports, {} states\n",
        tables.of.len(),
        tables.states.len()
    );
    println!("  state                   airports   on 10,000 square miles");
    for state in most.iter().map(|state| *state as usize) {
        println!(
            "  {:<22} {:>9}   {:>22.1}",
            tables.names[state], counts[state], density[state]
        );
    }
    println!("\n{without} airports are in no state.\n");
    println!("{explained}");

    let again = best_of(20, || {
        let (counts, most, density) = program();
        Ok((&counts, &most, &density).force_with(&engine)?)
    })?;
    let (plain_counts, plain_most) = plain(&tables);
    let plain_time = best_of(20, || Ok(plain(&tables)))?;
    println!("  first force, with compiling     {first:>10.1?}");
    println!("  cached (best of 20)             {again:>10.1?}");
    println!("  plain Rust (best of 20)         {plain_time:>10.1?}  (a hash map, a sort)");
    if counts != plain_counts[..] || most != plain_most[..] {
        return Err(format!("plain Rust says {plain_most:?}").into());
    }
    Ok(())
}

/// The same in plain Rust.
fn plain(tables: &Tables) -> (Vec<u64>, Vec<u64>) {
    let n = tables.states.len();
    let states: HashMap<u16, usize> = tables.states.iter().copied().zip(0..).collect();
    let mut counts = vec![0; n + 1];
    for key in &tables.of {
        counts[states.get(key).copied().unwrap_or(n)] += 1;
    }
    let density = |s: &u64| counts[*s as usize] as f64 / tables.square_miles[*s as usize];
    let mut order: Vec<u64> = (0..n as u64).collect();
    order.sort_by(|a, b| density(b).total_cmp(&density(a)));
    order.truncate(MOST);
    (counts, order)
}

fn read() -> Outcome<Tables> {
    let airports = io::csv(data("airports.csv")).read()?;
    let states = io::csv(data("states.csv")).read()?;
    Ok(Tables {
        of: airports.text("state")?.map(key).collect(),
        states: states.text("state")?.map(key).collect(),
        names: states.text("name")?.map(str::to_string).collect(),
        square_miles: states.column::<f64>("square_miles")?.to_vec()?,
    })
}

/// Two letters as a number. Any other text is no state's code.
fn key(code: &str) -> u16 {
    match code.as_bytes() {
        [a, b] => u16::from_be_bytes([*a, *b]),
        _ => 0,
    }
}
