//! Black-Scholes option pricing: a large map, checked against plain Rust.
//!
//! ```text
//! cargo run --release --example black_scholes [NUMBER_OF_OPTIONS]
//! ```

use livefusion::prelude::*;
use livefusion_examples::{Outcome, best_of, timed};

const RISK_FREE: f32 = 0.02;
const VOLATILITY: f32 = 0.30;
const COEFFICIENTS: [f32; 5] = [
    0.319_381_54,
    -0.356_563_78,
    1.781_477_9,
    -1.821_255_9,
    1.330_274_5,
];
const RSQRT_2PI: f32 = 0.398_942_3;

/// Price, strike price and years of an option.
type Option3 = (f32, f32, f32);
/// The values of a call and a put.
type CallPut = (f32, f32);

fn main() -> Outcome {
    let n: usize = match std::env::args().nth(1) {
        Some(n) => n.parse()?,
        None => 1_000_000,
    };
    let engine = Engine::builder().build();
    let data = options(n);
    let options = Array::from(data.clone());

    let (result, first) = timed(|| black_scholes(&options).force_with(&engine));
    let result = result?;
    let again = best_of(20, || Ok(black_scholes(&options).force_with(&engine)?))?;
    let counters = engine.counters();
    let expected: Vec<CallPut> = data.iter().map(plain).collect();
    let plain_time = best_of(20, || Ok(data.iter().map(plain).collect::<Vec<CallPut>>()))?;

    let worst = worst_difference(&result, &expected);
    println!("{n} options; {:?} call and put of the first", result.row(0));
    println!("largest difference from the plain loop: {worst:.1e} of a price up to 100");
    assert!(worst < 1e-3, "the prices differ");
    let per = |t: std::time::Duration| t.as_secs_f64() * 1e9 / n.max(1) as f64;
    println!("  first force, with compiling  {first:>9.1?}");
    println!(
        "  cached (best of 20)          {again:>9.1?}  {:6.2} ns per option",
        per(again)
    );
    println!(
        "  plain Rust (best of 20)      {plain_time:>9.1?}  {:6.2} ns per option",
        per(plain_time)
    );
    println!("  kernel cache                 {counters}");
    Ok(())
}

/// Prices all options. `cnd` is a function called twice; its terms are shared within each call.
fn black_scholes(options: &Array<Option3>) -> Array<CallPut> {
    options.map(|(price, strike, years)| {
        let v_sqrt_t = VOLATILITY * years.sqrt();
        let drift = RISK_FREE + 0.5 * VOLATILITY * VOLATILITY;
        let d1 = ((price / strike).ln() + drift * years) / v_sqrt_t;
        let d2 = d1 - v_sqrt_t;
        let (cnd_d1, cnd_d2) = (cnd(d1), cnd(d2));
        let x_exp_rt = strike * (-RISK_FREE * years).exp();
        (
            price * cnd_d1 - x_exp_rt * cnd_d2,
            x_exp_rt * (1.0 - cnd_d2) - price * (1.0 - cnd_d1),
        )
    })
}

/// Cumulative normal distribution.
fn cnd(d: Exp<f32>) -> Exp<f32> {
    let k = 1.0 / (1.0 + 0.231_641_9 * d.abs());
    let poly = COEFFICIENTS
        .iter()
        .rev()
        .fold(Exp::lit(0.0), |sum, c| k * (*c + sum));
    let c = RSQRT_2PI * (-0.5 * d * d).exp() * poly;
    d.gt(0.0).cond(1.0 - c, c)
}

/// The same in plain Rust.
fn plain(&(price, strike, years): &Option3) -> CallPut {
    let v_sqrt_t = VOLATILITY * years.sqrt();
    let drift = RISK_FREE + 0.5 * VOLATILITY * VOLATILITY;
    let d1 = ((price / strike).ln() + drift * years) / v_sqrt_t;
    let d2 = d1 - v_sqrt_t;
    let (cnd_d1, cnd_d2) = (plain_cnd(d1), plain_cnd(d2));
    let x_exp_rt = strike * (-RISK_FREE * years).exp();
    (
        price * cnd_d1 - x_exp_rt * cnd_d2,
        x_exp_rt * (1.0 - cnd_d2) - price * (1.0 - cnd_d1),
    )
}

fn plain_cnd(d: f32) -> f32 {
    let k = 1.0 / (1.0 + 0.231_641_9 * d.abs());
    let poly = COEFFICIENTS.iter().rev().fold(0.0, |sum, c| k * (c + sum));
    let c = RSQRT_2PI * (-0.5 * d * d).exp() * poly;
    if d > 0.0 { 1.0 - c } else { c }
}

/// Options within fixed bounds, the same in every run.
fn options(n: usize) -> Vec<Option3> {
    let mut state = 5347u64;
    let mut between = |low: f32, high: f32| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        low + (high - low) * ((state >> 40) as f32 / (1u64 << 24) as f32)
    };
    (0..n)
        .map(|_| (between(5.0, 30.0), between(1.0, 100.0), between(0.25, 10.0)))
        .collect()
}

/// The largest absolute difference of any price.
fn worst_difference(got: &Manifest<CallPut>, expected: &[CallPut]) -> f32 {
    let apart = |(a, b): (CallPut, &CallPut)| (a.0 - b.0).abs().max((a.1 - b.1).abs());
    got.iter().zip(expected).map(apart).fold(0.0, f32::max)
}
