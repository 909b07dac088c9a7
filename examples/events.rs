//! Particle pairs: a histogram of the masses of all pairs within each event.
//!
//! A nest of three loops computes it without storing any pair. Plain Rust computes the same for
//! comparison.
//!
//! ```text
//! cargo run --release --example events [NUMBER_OF_EVENTS] [MASSES.svg]
//! ```
//!
//! The events are simulated: particles in all directions. One event of four also has two particles
//! from the decay of one heavier particle, of about 91 GeV. The picture is written to
//! `target/masses.svg` by default.

use livefusion::prelude::*;
use livefusion_examples::{Outcome, best_of, timed, write_svg};
use std::fmt::Write;

/// The largest mass in the histogram, in GeV, and the number of bins.
const HIGHEST: f64 = 150.0;
const BINS: usize = 75;

/// A particle: transverse momentum, pseudorapidity, angle around the beam. It is so fast that its
/// mass is negligible.
type Particle = (f64, f64, f64);

/// The histogram of the masses of all pairs within one event.
fn masses(events: &Segmented<Particle>) -> Array<u64> {
    let pairs = events.combinations();
    let mass = pairs.map(|((p, eta, phi), (q, other_eta, other_phi))| {
        let (apart, around) = (eta - other_eta, phi - other_phi);
        (2.0 * p * q * (apart.cosh() - around.cos())).sqrt()
    });
    mass.data().histogram_uniform(0.0, HIGHEST, BINS)
}

fn main() -> Outcome {
    let mut args = std::env::args().skip(1);
    let n: usize = match args.next() {
        Some(n) => n.parse()?,
        None => 200_000,
    };
    let path = args.next().unwrap_or_else(|| "target/masses.svg".into());
    let engine = Engine::builder().build();
    let (lengths, particles) = simulated(n)?;
    let events = Segmented::new(&Array::from(&lengths), &Array::from(&particles[..]));

    let explained = engine.explain(&[masses(&events).node().clone()])?;
    let (counts, first) = timed(|| masses(&events).force_with(&engine));
    let counts = counts?;
    let pairs: u64 = lengths.iter().map(|n| n * n.saturating_sub(1) / 2).sum();
    println!(
        "{n} events, {} particles, {pairs} pairs of one event\n",
        particles.len()
    );
    let width = HIGHEST / BINS as f64;
    let most = counts
        .iter()
        .enumerate()
        .skip(BINS / 2)
        .max_by_key(|(_, count)| **count);
    let (peak, _) = most.ok_or("there are no masses")?;
    println!(
        "  the heavier particle is at {:.0} to {:.0} GeV\n",
        peak as f64 * width,
        (peak + 1) as f64 * width
    );
    println!("{explained}");

    let again = best_of(5, || Ok(masses(&events).force_with(&engine)?))?;
    let expected = plain(&lengths, &particles);
    let plain_time = best_of(5, || Ok(plain(&lengths, &particles)))?;
    let per = |time: std::time::Duration| time.as_secs_f64() * 1e9 / pairs.max(1) as f64;
    println!("  first force, with compiling     {first:>10.1?}");
    println!(
        "  cached (best of 5)              {again:>10.1?}  {:6.2} ns a pair",
        per(again)
    );
    println!(
        "  plain Rust (best of 5)          {plain_time:>10.1?}  {:6.2} ns a pair",
        per(plain_time)
    );
    // A mass at a bin edge may be rounded to either side: the last bits of std's functions may
    // differ.
    let differ: u64 = counts
        .iter()
        .zip(&expected)
        .map(|(a, b)| a.abs_diff(*b))
        .sum();
    if differ > 4 + pairs / 1_000_000 {
        return Err(format!("plain Rust counts {expected:?}").into());
    }
    write_svg(&path, &svg(&counts))?;
    println!("\nThe picture is in {path}.");
    Ok(())
}

/// The same in plain Rust.
fn plain(lengths: &[u64], particles: &[Particle]) -> Vec<u64> {
    let mut counts = vec![0; BINS];
    let mut rest = particles;
    for n in lengths {
        let (event, behind) = rest.split_at(*n as usize);
        rest = behind;
        for (i, (p, eta, phi)) in event.iter().enumerate() {
            for (q, other_eta, other_phi) in &event[i + 1..] {
                let (apart, around) = (eta - other_eta, phi - other_phi);
                let mass = (2.0 * p * q * (apart.cosh() - around.cos())).sqrt();
                let bin = (mass / (HIGHEST / BINS as f64)) as usize;
                if mass == HIGHEST {
                    counts[BINS - 1] += 1;
                } else if let Some(count) = counts.get_mut(bin) {
                    *count += 1;
                }
            }
        }
    }
    counts
}

/// The number of particles of each event, and all particles. The library draws the random numbers.
fn simulated(n: usize) -> Outcome<(Vec<u64>, Vec<Particle>)> {
    let mut drawn = 0;
    let mut uniform = {
        let mut numbers = Vec::new().into_iter();
        move || -> Outcome<f64> {
            loop {
                if let Some(x) = numbers.next() {
                    return Ok(x);
                }
                numbers = random::uniform(drawn, 1 << 20)
                    .force()?
                    .to_vec()?
                    .into_iter();
                drawn += 1;
            }
        }
    };
    let turn = std::f64::consts::TAU;
    let (mut lengths, mut particles) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let others = (uniform()? * 7.0) as u64;
        for _ in 0..others {
            let momentum = 5.0 - 15.0 * (1.0 - uniform()?).ln();
            particles.push((momentum, 5.0 * uniform()? - 2.5, turn * uniform()?));
        }
        let heavier = uniform()? < 0.25;
        if heavier {
            // A heavier particle at rest decays into two of half its mass, back to back. Its mass
            // varies slightly.
            let half = (91.2 + 1.25 * (turn / 2.0 * (0.98 * uniform()? - 0.49)).tan()) / 2.0;
            let (along, phi) = (1.8 * uniform()? - 0.9, turn * uniform()?);
            let (across, eta) = (half * (1.0 - along * along).sqrt(), along.atanh());
            particles.push((across, eta, phi));
            particles.push((across, -eta, phi + turn / 2.0));
        }
        lengths.push(others + 2 * u64::from(heavier));
    }
    Ok((lengths, particles))
}

/// Draws the histogram as bars.
fn svg(counts: &[u64]) -> String {
    let (width, height, left, bottom) = (600.0, 300.0, 60.0, 40.0);
    let most = counts.iter().copied().max().unwrap_or(0).max(1) as f64;
    let wide = (width - left - 20.0) / counts.len() as f64;
    let high = |count: f64| (height - bottom - 10.0) * count / most;
    let mut bars = String::new();
    for (k, count) in counts.iter().enumerate() {
        let (x, h) = (left + wide * k as f64, high(*count as f64));
        let _ = write!(
            bars,
            r##"<rect x="{x:.1}" y="{:.1}" width="{:.1}" height="{h:.1}"/>"##,
            height - bottom - h,
            wide - 0.5
        );
    }
    let mut marks = String::new();
    for gev in [0.0, 30.0, 60.0, 90.0, 120.0, 150.0] {
        let x = left + (width - left - 20.0) * gev / HIGHEST;
        let _ = write!(
            marks,
            r##"<text x="{x:.1}" y="{:.1}" text-anchor="middle">{gev}</text>"##,
            height - bottom + 16.0
        );
    }
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, sans-serif" font-size="12">
<rect width="{width}" height="{height}" fill="white"/><g fill="#1f5fa8">{bars}</g>{marks}
<text x="{middle}" y="{low}" text-anchor="middle">mass of a pair in GeV</text>
<text x="{label}" y="18" text-anchor="end">{most}</text>
<text x="14" y="{mid}" transform="rotate(-90 14 {mid})" text-anchor="middle">pairs</text>
</svg>
"##,
        middle = left + (width - left) / 2.0,
        low = height - 6.0,
        label = left - 6.0,
        mid = (height - bottom) / 2.0,
    )
}
