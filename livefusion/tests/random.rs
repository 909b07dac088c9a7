//! Random numbers: published words, equal bits on all backends, and cost.

use livefusion::ast::{BodyBuilder, Builder, Const, Len};
use livefusion::prelude::*;
use livefusion::{Engine, Result};

/// The generator as in its paper.
fn philox([mut a, mut b, mut c, mut d]: [u32; 4], [mut k, mut l]: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let (p, q) = (0xd251_1f53 * u64::from(a), 0xcd9e_8d57 * u64::from(c));
        let high = |x: u64| (x >> 32) as u32;
        (a, b, c, d) = (high(q) ^ b ^ k, q as u32, high(p) ^ d ^ l, p as u32);
        (k, l) = (k.wrapping_add(0x9e37_79b9), l.wrapping_add(0xbb67_ae85));
    }
    [a, b, c, d]
}

fn words(key: u64, index: u64, stream: u32) -> [u64; 2] {
    let halves = |x: u64| [x as u32, (x >> 32) as u32];
    let [low, high] = halves(index);
    let [a, b, c, d] = philox([low, high, stream, 0], halves(key)).map(u64::from);
    [b << 32 | a, d << 32 | c]
}

/// The known answers of Random123, whose counters are arbitrary words.
#[test]
fn the_generator_is_the_published_one() {
    let kat = [
        (
            [0; 4],
            [0; 2],
            [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8],
        ),
        (
            [u32::MAX; 4],
            [u32::MAX; 2],
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd],
        ),
        (
            [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
            [0xa409_3822, 0x299f_31d0],
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
        ),
    ];
    for (counter, key, expected) in kat {
        assert_eq!(philox(counter, key), expected);
    }
}

const KEYS: [u64; 4] = [0, 7, u64::MAX, 0x0123_4567_89ab_cdef];

#[test]
fn bits_bits_at_split_and_split_at__on_every_backend__are_words_of_the_generator() -> Result<()> {
    let engines = [
        Engine::interp(),
        Engine::default_engine().clone(),
        Engine::builder().only_c().build(),
        Engine::builder().threads(1).build(),
    ];
    for key in KEYS {
        let expected: Vec<u64> = (0..300).map(|i| words(key, i, 0)[0]).collect();
        let far = u64::MAX - 5;
        for engine in &engines {
            assert_eq!(random::bits(key, 300).force_with(engine)?, expected[..]);
            let at = generate(5, |i| random::bits_at(key, i + far));
            let expected: Vec<u64> = (0..5).map(|i| words(key, far + i, 0)[0]).collect();
            assert_eq!(at.force_with(engine)?, expected[..]);
            let split = random::split(key, 3).force_with(engine)?;
            assert_eq!(split, words(key, 3, 1)[0]);
            let inside = generate(4, |i| random::split_at(key, i));
            assert_eq!(inside.force_with(engine)?[3], split);
        }
    }
    Ok(())
}

#[test]
fn uniform_uniform2_integers_normal_and_normal2__of_a_key__are_made_of_words() -> Result<()> {
    let (key, n) = (42u64, 1000u64);
    let unit = |x: u64| (x >> 11) as f64 / (1u64 << 53) as f64;
    let pairs = (0..n).map(|i| words(key, i, 0));
    let expected: Vec<(f64, f64)> = pairs.clone().map(|[a, b]| (unit(a), unit(b))).collect();
    assert_eq!(random::uniform2(key, n).force()?.to_vec()?, expected);
    let at = generate(n, |i| random::uniform2_at(key, i));
    assert_eq!(at.to_vec()?, expected);
    let bells = generate(n, |i| random::normal2_at(key, i));
    assert_eq!(bells.to_vec()?, random::normal2(key, n).to_vec()?);
    let firsts: Vec<f64> = expected.iter().map(|(a, _)| *a).collect();
    assert_eq!(random::uniform(key, n).force()?, firsts[..]);
    let ends = [
        (0, 1),
        (1, 7),
        (-5, 1 << 33),
        (i64::MIN, i64::MAX),
        (3, 3),
        (9, -9),
    ];
    for (low, high) in ends {
        let span = (i128::from(high) - i128::from(low)).max(0) as u128;
        let above = |x: u64| ((u128::from(x) * span) >> 64) as i128;
        let drawn = |x| (i128::from(low) + above(x)) as i64;
        let expected: Vec<i64> = pairs.clone().map(|[a, _]| drawn(a)).collect();
        assert_eq!(random::integers(key, n, low, high).force()?, expected[..]);
    }
    let (both, one) = (random::normal2(key, n), random::normal(key, n));
    let bell = |(a, b): &(f64, f64)| {
        let (radius, angle) = ((-2.0 * (1.0 - a).ln()).sqrt(), std::f64::consts::TAU * b);
        (radius * angle.cos(), radius * angle.sin())
    };
    let near = |x: f64, y: f64| (x - y).abs() <= 1e-12 * (1.0 + y.abs());
    for ((x, y), pair) in both.force()?.to_vec()?.into_iter().zip(&expected) {
        let (a, b) = bell(pair);
        assert!(near(x, a) && near(y, b), "{x} {y} for {a} {b}");
    }
    assert_eq!(one.force()?, both.map(|(x, _)| x).force()?);
    Ok(())
}

#[test]
fn uniform_at_uniform2_at_normal_at_and_normal2_at__of_each_index__are_the_elements() -> Result<()>
{
    let key = 42u64;
    for n in [0u64, 1, 100] {
        let uniform = generate(n, |i| random::uniform_at(key, i));
        assert_eq!(uniform.to_vec()?, random::uniform(key, n).to_vec()?);
        let pairs = generate(n, |i| random::uniform2_at(key, i));
        assert_eq!(pairs.to_vec()?, random::uniform2(key, n).to_vec()?);
        let normal = generate(n, |i| random::normal_at(key, i));
        assert_eq!(normal.to_vec()?, random::normal(key, n).to_vec()?);
        let pairs = generate(n, |i| random::normal2_at(key, i));
        assert_eq!(pairs.to_vec()?, random::normal2(key, n).to_vec()?);
    }
    let other = generate(9, |i| random::uniform_at(key + 1, i));
    assert_ne!(other.force()?, random::uniform(key, 9).force()?);
    Ok(())
}

/// One loop, and no array in memory.
#[test]
fn they_fuse() -> Result<()> {
    let n = 10_000u64;
    let inside = random::uniform2(3, n).count(|(x, y)| (x * x + y * y).lt(1.0));
    let explained = inside.explain()?;
    assert_eq!(explained.loops.len(), 1, "{explained}");
    let l = &explained.loops[0];
    assert_eq!((l.arrays_written, l.reads.len()), (0, 0), "{explained}");
    let all = inside.force()? as f64 / n as f64;
    assert!((all - std::f64::consts::FRAC_PI_4).abs() < 0.02, "{all}");
    // A key is not part of the code, except for simplifications of keys with zero words.
    let engine = Engine::builder().build();
    for key in 1..5u64 {
        random::normal(key, n).sum().force_with(&engine)?;
    }
    assert_eq!(engine.counters().misses, 1);
    Ok(())
}

#[test]
fn a_program_draws_others_in_each_call() -> Result<()> {
    let program = prepare(|key: Array<u64, Ix0>| random::uniform(&key, 100).sum())?;
    let sum = |key: u64| program.call(&Array::scalar(key));
    assert_eq!(sum(5)?, random::uniform(5, 100).sum().force()?);
    assert_ne!(sum(5)?, sum(6)?);
    Ok(())
}

#[test]
fn permutation__of_each_length__has_each_number_once() -> Result<()> {
    for n in [0u64, 1, 2, 1000] {
        let order = random::permutation(9, n);
        let all: Vec<u64> = (0..n).collect();
        assert_eq!(order.sort().force()?, all[..]);
    }
    assert_ne!(
        random::permutation(9, 100).force()?,
        random::permutation(10, 100).force()?
    );
    // Each index comes first about equally often.
    let firsts: Vec<u64> = (0..600u64)
        .map(|key| random::permutation(key, 3).first().force())
        .collect::<Result<_>>()?;
    for k in 0..3 {
        let times = firsts.iter().filter(|x| **x == k).count();
        assert!((150..250).contains(&times), "{k}: {times}");
    }
    Ok(())
}

#[test]
fn mistakes_are_errors() -> Result<()> {
    let error = random::uniform(1, -1i64).force().expect_err("no length");
    assert_eq!(error.combinator, "uniform");
    let mut b = BodyBuilder::new(&[]);
    let two = [1, 2].map(|k| b.lit(Const::u64(k)));
    let node = Builder::named("bits").random_bits(Len::Known(3), &b.finish(&two));
    let error = livefusion::runtime::force_nodes(Engine::default_engine(), &[node]);
    let text = "expected one integer, got 2 fields";
    assert!(error.expect_err("two keys").to_string().ends_with(text));
    Ok(())
}
