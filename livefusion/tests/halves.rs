//! 16-bit floats: all of them, and rounding edges, against the crate `half`.
#![cfg(feature = "half")]

use crate::common::{engines, shape};
use livefusion::half::{Half, bf16, f16};
use livefusion::prelude::*;

/// Compares all halves, widened on each backend, with the crate's bits.
fn widened<H: Half>(to_f32: fn(H) -> f32) {
    let all: Vec<H> = (0..=u16::MAX).map(H::of_bits).collect();
    let expected: Vec<u32> = all.iter().map(|h| to_f32(*h).to_bits()).collect();
    let array = Array::from(all);
    for engine in engines() {
        let got = array
            .to_f32()
            .map(|x| x.to_bits())
            .force_with(&engine)
            .unwrap();
        for (bits, (got, expected)) in got.iter().zip(&expected).enumerate() {
            assert_eq!(got, expected, "{bits:#x}");
        }
    }
}

/// Returns `f32`s at each rounding edge, and others.
fn floats<H: Half>(to_f32: fn(H) -> f32) -> Vec<f32> {
    let edges = (0..=u16::MAX).flat_map(|bits| {
        let here = to_f32(H::of_bits(bits)).to_bits();
        let next = to_f32(H::of_bits(bits.wrapping_add(1))).to_bits();
        let middle = here.wrapping_add(next.wrapping_sub(here) / 2);
        [here, middle.wrapping_sub(1), middle, middle.wrapping_add(1)]
    });
    let others = (0..200_000u32).map(|k| k.wrapping_mul(0x9e37_79b9));
    edges.chain(others).map(f32::from_bits).collect()
}

fn narrowed<H: Half>(to_f32: fn(H) -> f32, of_f32: fn(f32) -> H) {
    let xs = floats(to_f32);
    let expected: Vec<u16> = xs.iter().map(|x| of_f32(*x).bits()).collect();
    let halves: Array<H> = Array::from(xs.clone()).to_half();
    for engine in engines() {
        let got = halves.map(|h| h.bits()).force_with(&engine).unwrap();
        for ((x, got), expected) in xs.iter().zip(&got).zip(&expected) {
            assert_eq!(got, expected, "{x} ({:#x})", x.to_bits());
        }
    }
}

#[test]
fn all_are_widened_bit_for_bit() {
    widened::<f16>(f16::to_f32);
    widened::<bf16>(bf16::to_f32);
}

#[test]
fn floats_are_rounded_to_the_nearest() {
    narrowed::<f16>(f16::to_f32, f16::from_f32);
    narrowed::<bf16>(bf16::to_f32, bf16::from_f32);
}

#[test]
fn halves_are_stored_and_computed_with_in_one_loop() {
    let stored = Array::from([0.5, 1.0, -2.0].map(f16::from_f32).to_vec());
    let scaled: Array<f16> = stored.to_f32().map(|x| x * 3.0).to_half();
    assert_eq!(shape(&[scaled.node()]).unwrap(), (1, 1));
    let scaled = scaled.force().unwrap();
    assert_eq!(
        scaled.to_vec().unwrap(),
        [1.5, 3.0, -6.0].map(f16::from_f32)
    );
    assert_eq!(scaled.to_string(), "[1.5, 3.0, -6.0]");
    let table = stored.reshape([3, 1]).to_f32();
    assert_eq!(table.along(0).sum().to_vec().unwrap(), [-0.5]);
}
