//! Axes: ranges, numbers, and texts that fit next to them.

use crate::Error;
use std::ops::Range;

/// Finds the range of the finite numbers.
///
/// It is never empty, since an axis is divided into parts.
pub fn range(numbers: impl Iterator<Item = f64>) -> Result<Range<f64>, Error> {
    let finite = numbers.filter(|x| x.is_finite());
    let ends = finite.fold(None, |ends: Option<(f64, f64)>, x| match ends {
        Some((low, high)) => Some((low.min(x), high.max(x))),
        None => Some((x, x)),
    });
    let Some((low, high)) = ends else {
        return Err(Error::new("finite numbers to plot", "none"));
    };
    let size = low.abs().max(high.abs());
    if size > 1e300 {
        return Err(Error::new("numbers below 1e300", format!("{size:e}")));
    }
    match high - low < (size * 1e-9).max(1e-300) {
        true => {
            let around = (size * 1e-3).max(0.5);
            Ok(low - around..high + around)
        }
        false => Ok(low..high),
    }
}

/// Adds a margin at both ends of a range.
pub fn padded(range: Range<f64>) -> Range<f64> {
    let room = (range.end - range.start) * 0.03;
    range.start - room..range.end + room
}

/// Formats a number at an axis, in ASCII.
///
/// It is as short as its space requires.
pub fn short(x: f64, axis: &Range<f64>) -> String {
    // Steps along an axis miss zero slightly.
    let is_zero = x.abs() < (axis.end - axis.start).abs() * 1e-9;
    let x = if is_zero { 0.0 } else { x };
    let size = x.abs();
    match size == 0.0 || (1e-4..1e6).contains(&size) {
        true => {
            let text = format!("{x:.4}");
            let text = text.trim_end_matches('0').trim_end_matches('.');
            text.to_string()
        }
        false => {
            // Numbers far from zero differ in their later digits.
            let far = (size / (axis.end - axis.start).abs()).log10().ceil();
            let digits = (far + 2.0).clamp(3.0, 5.0) as usize;
            let text = format!("{x:.digits$e}");
            match text.split_once('e') {
                Some((digits, power)) => {
                    let digits = digits.trim_end_matches('0').trim_end_matches('.');
                    format!("{digits}e{power}")
                }
                None => text,
            }
        }
    }
}

/// Bounds the width of a letter of size [`LARGE`] or more.
///
/// Smaller sizes have `SMALL_LETTER`.
pub const LETTER: u32 = 12;
const SMALL_LETTER: u32 = 6;
pub const LARGE: u32 = 14;
const SMALL: u32 = 10;

/// Fits a text into a width in pixels.
///
/// A text that is too long gets a smaller size, and is then cut if necessary. Returns the text and
/// its size.
pub fn fitted(text: &str, room: u32, size: u32) -> (String, u32) {
    let n = text.chars().count() as u32;
    let most = room / SMALL_LETTER;
    match () {
        () if n * LETTER <= room => (text.to_string(), size),
        () if n <= most => (text.to_string(), SMALL),
        () => {
            let kept = text.chars().take((most as usize).saturating_sub(3));
            (kept.chain("...".chars()).collect(), SMALL)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_at_axes() {
        let shown = [1e-17, 1.5, -2.0, 1e-7, 123456.0, 2.5e12].map(|x| short(x, &(0.0..1e-6)));
        assert_eq!(shown, ["0", "1.5", "-2", "1e-7", "123456", "2.5e12"]);
        let far = [1e12, 1.0005e12].map(|x| short(x, &(1e12..1.001e12)));
        assert_eq!(far, ["1e12", "1.0005e12"]);
    }

    #[test]
    fn ranges_are_never_empty() {
        let of = |numbers: &[f64]| range(numbers.iter().copied());
        assert_eq!(of(&[3.0, f64::NAN]), Ok(2.5..3.5));
        assert_eq!(of(&[1e20]), Ok(1e20 - 1e17..1e20 + 1e17));
        assert_eq!(of(&[1.0, f64::INFINITY, -2.0]), Ok(-2.0..1.0));
        assert!(of(&[]).is_err() && of(&[f64::MAX]).is_err());
    }

    #[test]
    fn texts_that_are_too_long_are_small_then_cut() {
        assert_eq!(fitted("title", 60, 20), ("title".into(), 20));
        assert_eq!(fitted("title", 59, 20), ("title".into(), 10));
        assert_eq!(fitted("a longer title", 60, 20), ("a longe...".into(), 10));
    }
}
