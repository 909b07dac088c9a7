//! A spectrum of a year of hourly temperatures: window, Fourier transform, power, peaks.
//!
//! Plain Rust computes the same for comparison.
//!
//! ```text
//! cargo run --release --features fft --example spectrum [SPECTRUM.svg]
//! ```
//!
//! The picture is written to `target/spectrum.svg` by default.

use livefusion::io;
use livefusion::prelude::*;
use livefusion_examples::{Outcome, best_of, data, timed, write_svg};
use realfft::RealFftPlanner;
use std::f64::consts::TAU;
use std::fmt::Write;

/// A frequency is strong if its power exceeds this share of the largest power.
const SHARE: f64 = 1e-4;

/// The power of each frequency, and the strong frequencies as numbers of cycles per year. The mean
/// and the window fuse into the loops before the transform, the power and the selection into those
/// after it.
type Spectrum = (Array<f64>, Array<(u64, f64)>);

fn spectrum(temperatures: &Array<f64>) -> Spectrum {
    let (n, mean) = (temperatures.len(), temperatures.mean());
    let windowed = temperatures.enumerate().map(|(hour, x)| {
        let turn = hour.cast::<f64>() * (TAU / n.value().cast::<f64>());
        (x - &mean) * (0.5 - 0.5 * turn.cos())
    });
    let power = windowed.rfft().norm_sqr();
    let most = power.max();
    let strong = power.enumerate().filter(|(_, p)| p.gt(SHARE * &most));
    (power, strong)
}

fn main() -> Outcome {
    let path = std::env::args().nth(1);
    let path = path.unwrap_or_else(|| "target/spectrum.svg".into());
    let hours = io::csv(data("seattle-temps.csv"))
        .read()?
        .column::<f64>("temp")?;
    let hours = hours.to_vec()?;
    let n = hours.len() as f64;
    let engine = Engine::builder().build();
    let temperatures = Array::from(&hours);
    let (power, strong) = spectrum(&temperatures);

    let mut nodes = Vec::new();
    (&power, &strong).nodes(&mut nodes);
    let explained = engine.explain(&nodes)?;
    let (results, first) = timed(|| (&power, &strong).force_with(&engine));
    let (power, strong) = results?;
    let strong = strong.to_vec()?;

    println!("{n} hours at Seattle in 2010: rhythms with much power\n");
    println!("  cycles   period in hours   swing in degrees");
    for (cycles, p) in peaks(&strong) {
        // A wave of this swing has that power after the window, which halves it.
        let swing = 8.0 * p.sqrt() / n;
        println!(
            "  {cycles:>6}   {:>15.2}   {swing:>16.2}",
            n / cycles as f64
        );
    }
    println!("\n{explained}");

    let again = best_of(20, || {
        let (power, strong) = spectrum(&temperatures);
        Ok((&power, &strong).force_with(&engine)?)
    })?;
    let (plain_power, plain_strong) = plain(&hours)?;
    let plain_time = best_of(20, || plain(&hours))?;
    println!("  first force, with compiling     {first:>10.1?}");
    println!("  cached (best of 20)             {again:>10.1?}");
    println!("  plain Rust, the same transform  {plain_time:>10.1?}");
    let most = plain_power.iter().copied().fold(0.0, f64::max);
    let differs = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-9 * most;
    let cycles = |s: &[(u64, f64)]| s.iter().map(|(k, _)| *k).collect::<Vec<_>>();
    if power.iter().zip(&plain_power).any(differs) || cycles(&strong) != cycles(&plain_strong) {
        return Err("plain Rust has another spectrum".into());
    }
    write_svg(&path, &svg(&plain_power))?;
    println!("\nThe picture is in {path}.");
    Ok(())
}

/// The strongest of each run of neighbouring frequencies.
fn peaks(strong: &[(u64, f64)]) -> Vec<(u64, f64)> {
    let groups = strong.chunk_by(|(a, _), (b, _)| a + 1 == *b);
    groups
        .filter_map(|g| g.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)))
        .collect()
}

/// The power of each frequency, and the strong frequencies with their power.
type Plain = (Vec<f64>, Vec<(u64, f64)>);

/// The same in plain Rust.
fn plain(hours: &[f64]) -> Outcome<Plain> {
    let n = hours.len() as f64;
    let mean = hours.iter().sum::<f64>() / n;
    let window =
        |(hour, x): (usize, &f64)| (x - mean) * (0.5 - 0.5 * (hour as f64 * (TAU / n)).cos());
    let mut windowed: Vec<f64> = hours.iter().enumerate().map(window).collect();
    let transform = RealFftPlanner::new().plan_fft_forward(hours.len());
    let mut numbers = transform.make_output_vec();
    transform.process(&mut windowed, &mut numbers)?;
    let power: Vec<f64> = numbers.iter().map(|z| z.norm_sqr()).collect();
    let most = power.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let all = power.iter().enumerate().map(|(k, p)| (k as u64, *p));
    let strong = all.filter(|(_, p)| *p > SHARE * most).collect();
    Ok((power, strong))
}

/// Draws the relative power over the number of cycles, with logarithmic axes.
fn svg(power: &[f64]) -> String {
    let (width, height, left, bottom) = (640.0, 300.0, 60.0, 40.0);
    let most = power
        .iter()
        .copied()
        .fold(f64::MIN_POSITIVE, f64::max)
        .log10();
    let lowest = most - 9.0;
    let x =
        |cycles: f64| left + (width - left - 10.0) * cycles.log10() / (power.len() as f64).log10();
    let y = |log: f64| 10.0 + (height - bottom - 10.0) * (most - log.max(lowest)) / (most - lowest);
    let mut line = String::new();
    for (k, p) in power.iter().enumerate().skip(1) {
        let _ = write!(line, "{:.1},{:.1} ", x(k as f64), y(p.log10()));
    }
    let mut marks = String::new();
    for (name, cycles) in [
        ("a year", 1.0),
        ("a month", 12.0),
        ("a week", 52.1),
        ("a day", 365.0),
        ("12 h", 730.0),
    ] {
        let (x, low) = (x(cycles), height - bottom);
        let _ = write!(
            marks,
            r##"<line x1="{x:.1}" y1="10" x2="{x:.1}" y2="{low}" stroke="#ddd"/><text x="{x:.1}" y="{:.1}" text-anchor="middle">{name}</text>"##,
            low + 18.0
        );
    }
    for (name, log) in [("1", 0.0), ("10⁻³", -3.0), ("10⁻⁶", -6.0), ("10⁻⁹", -9.0)] {
        let (y, right) = (y(most + log), width - 10.0);
        let _ = write!(
            marks,
            r##"<line x1="{left}" y1="{y:.1}" x2="{right}" y2="{y:.1}" stroke="#ddd"/><text x="{:.1}" y="{:.1}" text-anchor="end">{name}</text>"##,
            left - 6.0,
            y + 4.0
        );
    }
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, sans-serif" font-size="12">
<rect width="{width}" height="{height}" fill="white"/>{marks}
<text x="14" y="{mid}" transform="rotate(-90 14 {mid})" text-anchor="middle">power</text>
<polyline points="{line}" fill="none" stroke="#1f5fa8" stroke-width="1"/>
</svg>
"##,
        mid = (height - bottom) / 2.0,
    )
}
