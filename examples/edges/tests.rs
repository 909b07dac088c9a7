//! Tests: the detector and plain Rust find the same pixels.

use crate::detect::{self, Detector};
use crate::plain;
use crate::{NONE, STRONG, WEAK, array};
use livefusion::prelude::*;
use livefusion_examples::data;
use livefusion_examples::picture::{self, Plane};

/// A picture of disks and noise.
fn disks(width: usize, height: usize) -> Plane<u8> {
    let mut state = 7u64;
    let mut noise = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 60) as u8
    };
    let pixel = |p: usize| {
        let (x, y) = ((p % width) as i64, (p / width) as i64);
        let is_in = |cx: i64, cy: i64, r: i64| (x - cx).pow(2) + (y - cy).pow(2) < r * r;
        let light = if is_in(12, 9, 7) {
            200
        } else if is_in(25, 20, 11) {
            90
        } else {
            30
        };
        light + noise()
    };
    Plane {
        width,
        pixels: (0..width * height).map(pixel).collect(),
    }
}

#[test]
fn the_same_pixels() {
    for engine in [Engine::interp(), Engine::builder().build()] {
        let detector = Detector::new(&engine).unwrap();
        for (width, height) in [(40, 31), (7, 50), (33, 2), (1, 9), (3, 1), (1, 1)] {
            let photo = disks(width, height);
            let expected = plain::marks(&photo);
            let marks = detector.marks(&array(&photo)).unwrap();
            assert_eq!(
                marks.to_vec().unwrap(),
                expected.pixels,
                "{width} x {height}"
            );
            let (edges, _) = detector.link(marks).unwrap();
            assert_eq!(
                edges.to_vec().unwrap(),
                plain::link(expected).pixels,
                "{width} x {height}"
            );
        }
    }
}

/// One step reaches one pixel further.
#[test]
fn weak_pixels_in_a_row() {
    let photo = Plane {
        width: 6,
        pixels: vec![STRONG, WEAK, WEAK, WEAK, NONE, WEAK],
    };
    let detector = Detector::new(&Engine::interp()).unwrap();
    let (edges, steps) = detector.link(array(&photo)).unwrap();
    assert_eq!(
        (edges.to_vec().unwrap(), steps),
        (vec![0, 0, 0, 0, 255, 255], 4)
    );
}

#[test]
fn a_loop_for_each_stencil() {
    let [marks, step, test] = detect::explain(&Engine::interp(), &array(&disks(40, 31))).unwrap();
    assert_eq!(marks.loops.len(), 4, "{marks}");
    assert_eq!(step.loops.len(), 1, "{step}");
    assert_eq!(test.loops.len(), 1, "{test}");
}

#[test]
fn pictures_are_read_as_they_are_written() {
    let photo = picture::read(&data("camera.png")).unwrap();
    assert_eq!((photo.width, photo.pixels.len()), (512, 512 * 512));
    let path = std::env::temp_dir().join(format!("livefusion-edges-{}.png", std::process::id()));
    picture::write(&path, &photo).unwrap();
    let again = picture::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(photo == again);
}
