//! Monte Carlo: the value of an option on a year's mean price.
//!
//! The mean is that of weekly prices. One loop computes half a million paths without storing them.
//! The result is checked against a formula for the geometric mean, and against plain Rust.
//!
//! ```text
//! cargo run --release --example monte_carlo [NUMBER_OF_PATHS]
//! ```

use livefusion::prelude::*;
use livefusion_examples::{Outcome, best_of, timed};

const PRICE: f64 = 100.0;
const STRIKE: f64 = 105.0;
const RATE: f64 = 0.03;
const VOLATILITY: f64 = 0.25;
const WEEKS: u64 = 52;
const KEY: u64 = 2026;

/// The weekly change of the price's logarithm: a fixed part, plus a normal number times the
/// deviation below.
const DRIFT: f64 = (RATE - VOLATILITY * VOLATILITY / 2.0) / WEEKS as f64;

fn deviation() -> f64 {
    VOLATILITY / (WEEKS as f64).sqrt()
}

/// The discounted payoffs for the arithmetic mean of the prices, and for their geometric mean,
/// which has a formula.
type Payoffs = (f64, f64);

/// The payoffs of paths. A path is a loop of two weeks per step, since normal numbers come in
/// pairs.
fn payoffs(paths: u64) -> Array<Payoffs> {
    generate(paths, |path| {
        let start = (0u64, 0.0f64, 0.0f64, 0.0f64);
        let (_, _, sum, sum_of_logs) = iterate(WEEKS / 2, start, |(step, log, sum, logs)| {
            let (a, b) = random::normal2_at(KEY, path * (WEEKS / 2) + step);
            let first = log + (DRIFT + deviation() * a);
            let second = first + (DRIFT + deviation() * b);
            let sum = sum + first.exp() + second.exp();
            (step + 1, second, sum, logs + first + second)
        });
        let weeks = WEEKS as f64;
        let pays = |mean: Exp<f64>| (-RATE).exp() * (PRICE * mean - STRIKE).max(0.0);
        (pays(sum / weeks), pays((sum_of_logs / weeks).exp()))
    })
}

/// A delayed number.
type Number = Array<f64, Ix0>;

/// The means of the payoff, of its square, and of the payoff for the geometric mean.
fn estimates(paths: u64) -> (Number, Number, Number) {
    let pays = payoffs(paths);
    let mean = |f: fn(Exp<f64>, Exp<f64>) -> Exp<f64>| pays.map(|(a, g)| f(a, g)).mean();
    (mean(|a, _| a), mean(|a, _| a * a), mean(|_, g| g))
}

fn main() -> Outcome {
    let paths: u64 = match std::env::args().nth(1) {
        Some(n) => n.parse()?,
        None => 500_000,
    };
    if paths < 2 {
        return Err("an estimate needs two paths or more".into());
    }
    let engine = Engine::builder().build();
    let mut nodes = Vec::new();
    estimates(paths).nodes(&mut nodes);
    let explained = engine.explain(&nodes)?;
    let (result, first) = timed(|| estimates(paths).force_with(&engine));
    let (worth, squares, estimate) = result?;
    let variance = squares - worth * worth;
    let error = (variance / paths as f64).sqrt();
    let formula = geometric_formula();

    println!(
        "A call at {STRIKE} on the mean of {WEEKS} weekly prices, from {PRICE}; {paths} paths\n"
    );
    println!("  it is worth          {worth:8.4} +- {error:.4}");
    println!("  geometric mean       {estimate:8.4}   formula {formula:.4}");
    let written: usize = explained.loops.iter().map(|l| l.arrays_written).sum();
    println!(
        "  loops {}, arrays in memory {written}",
        explained.loops.len()
    );

    let again = best_of(3, || Ok(estimates(paths).force_with(&engine)?))?;
    let threads = std::thread::available_parallelism()?;
    let (plain, plain_time) = timed(|| plain(paths));
    println!("\n  first force, with compiling     {first:>8.1?}");
    println!("  cached (best of 3)              {again:>8.1?}  on at most {threads} threads");
    println!("  plain Rust, on one              {plain_time:>8.1?}");
    if (worth - plain).abs() > 1e-9 * plain.abs().max(1.0) {
        return Err(format!("plain Rust says {plain}").into());
    }
    if (estimate - formula).abs() > 6.0 * error + 1e-3 {
        return Err(format!("the formula says {formula}").into());
    }
    Ok(())
}

/// The formula for the geometric mean, whose logarithm is normal (A. Kemna and A. Vorst, "A pricing
/// method for options based on average asset values", 1990).
fn geometric_formula() -> f64 {
    let n = WEEKS as f64;
    let mean = PRICE.ln() + (RATE - VOLATILITY * VOLATILITY / 2.0) * (n + 1.0) / (2.0 * n);
    let variance = VOLATILITY * VOLATILITY * (n + 1.0) * (2.0 * n + 1.0) / (6.0 * n * n);
    let d1 = (mean - STRIKE.ln() + variance) / variance.sqrt();
    let above = (mean + variance / 2.0).exp() * below(d1);
    (-RATE).exp() * (above - STRIKE * below(d1 - variance.sqrt()))
}

/// The share of normal numbers below `x`, by Simpson's rule.
fn below(x: f64) -> f64 {
    let steps = 2000;
    let width = (x + 10.0) / f64::from(steps);
    let density = |k: i32| {
        let at = -10.0 + width * f64::from(k);
        let weight = match k {
            0 => 1.0,
            k if k == steps => 1.0,
            k if k % 2 == 1 => 4.0,
            _ => 2.0,
        };
        weight * (-at * at / 2.0).exp()
    };
    (0..=steps).map(density).sum::<f64>() * width / 3.0 / std::f64::consts::TAU.sqrt()
}

/// The same in plain Rust, with the same generator.
fn plain(paths: u64) -> f64 {
    let mut total = 0.0;
    for path in 0..paths {
        let (mut log, mut sum) = (0.0f64, 0.0);
        for step in 0..WEEKS / 2 {
            for x in normal_pair(KEY, path * (WEEKS / 2) + step) {
                log += DRIFT + deviation() * x;
                sum += log.exp();
            }
        }
        total += (-RATE).exp() * (PRICE * (sum / WEEKS as f64) - STRIKE).max(0.0);
    }
    total / paths as f64
}

/// Two normal numbers from the words of Philox4x32-10 for a key and an index.
fn normal_pair(key: u64, index: u64) -> [f64; 2] {
    let high = |x: u64| (x >> 32) as u32;
    let [mut a, mut b, mut c, mut d] = [index as u32, high(index), 0, 0];
    let [mut k, mut l] = [key as u32, high(key)];
    for _ in 0..10 {
        let (p, q) = (0xd251_1f53 * u64::from(a), 0xcd9e_8d57 * u64::from(c));
        (a, b, c, d) = (high(q) ^ b ^ k, q as u32, high(p) ^ d ^ l, p as u32);
        (k, l) = (k.wrapping_add(0x9e37_79b9), l.wrapping_add(0xbb67_ae85));
    }
    let unit = |low: u32, high: u32| {
        let word = u64::from(high) << 32 | u64::from(low);
        (word >> 11) as f64 / (1u64 << 53) as f64
    };
    let radius = (-2.0 * (1.0 - unit(a, b)).ln()).sqrt();
    let angle = std::f64::consts::TAU * unit(c, d);
    [radius * angle.cos(), radius * angle.sin()]
}
