//! Quantiles of groups: the temperatures of each month, grouped by a key.
//!
//! Plain Rust computes the same for comparison.
//!
//! ```text
//! cargo run --release --example quantiles
//! ```

use livefusion::io::{self, DateTime};
use livefusion::prelude::*;
use livefusion_examples::{Outcome, best_of, data, timed};

const SHARES: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 0.9];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// The months in the data, and for each share the quantile of each month's temperatures.
fn program(month: &Array<u8>, fahrenheit: &Array<f64>) -> (Array<u8>, Vec<Array<f64>>) {
    let celsius = fahrenheit.map(|f| (f - 32.0) / 1.8);
    let (months, hours) = celsius.group_by_key(month);
    (months, SHARES.map(|share| hours.quantile(share)).to_vec())
}

fn main() -> Outcome {
    let table = io::csv(data("seattle-temps.csv")).read()?;
    let fahrenheit = table.column::<f64>("temp")?.to_vec()?;
    let hours = table.times::<DateTime>("date")?.to_vec()?;
    let month: Vec<u8> = hours.iter().map(|h| h.date().parts().1 as u8).collect();
    let engine = Engine::builder().build();
    let (keys, degrees) = (Array::from(&month), Array::from(&fahrenheit));

    let (months, quantiles) = program(&keys, &degrees);
    let mut nodes = Vec::new();
    (&months, &quantiles[..]).nodes(&mut nodes);
    let explained = engine.explain(&nodes)?;
    let (results, first) = timed(|| (&months, &quantiles[..]).force_with(&engine));
    let (months, quantiles) = results?;

    println!(
        "Seattle 2010, degrees Celsius of {} hours\n",
        fahrenheit.len()
    );
    println!("  month     10 %    25 %  median    75 %    90 %");
    for (row, month) in months.iter().enumerate() {
        print!("  {}  ", MONTHS[usize::from(*month) - 1]);
        quantiles.iter().for_each(|q| print!("  {:6.2}", q[row]));
        println!();
    }
    println!("\n{explained}");

    let again = best_of(20, || {
        let (months, quantiles) = program(&keys, &degrees);
        Ok((&months, &quantiles[..]).force_with(&engine)?)
    })?;
    let expected = plain(&month, &fahrenheit);
    let plain_time = best_of(20, || Ok(plain(&month, &fahrenheit)))?;
    println!("  first force, with compiling     {first:>10.1?}");
    println!("  cached (best of 20)             {again:>10.1?}");
    println!("  plain Rust (best of 20)         {plain_time:>10.1?}");
    for (q, share) in quantiles.iter().enumerate() {
        let expected: Vec<f64> = expected.iter().map(|month| month[q]).collect();
        if share
            .iter()
            .zip(&expected)
            .any(|(a, b)| (a - b).abs() > 1e-12)
        {
            return Err(format!("plain Rust says {expected:?}").into());
        }
    }
    Ok(())
}

/// The same in plain Rust: the quantiles of each month.
fn plain(month: &[u8], fahrenheit: &[f64]) -> Vec<Vec<f64>> {
    let mut hours = vec![Vec::new(); 12];
    for (month, f) in month.iter().zip(fahrenheit) {
        hours[usize::from(*month) - 1].push((f - 32.0) / 1.8);
    }
    hours.retain(|hours| !hours.is_empty());
    let of_month = |mut hours: Vec<f64>| {
        hours.sort_unstable_by(f64::total_cmp);
        let quantile = |share: f64| {
            let place = share * (hours.len() - 1) as f64;
            let low = hours[place as usize];
            let high = hours[(place as usize + 1).min(hours.len() - 1)];
            low + (high - low) * place.fract()
        };
        SHARES.map(quantile).to_vec()
    };
    hours.into_iter().map(of_month).collect()
}
