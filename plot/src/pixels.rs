//! Pixel pictures that charts are drawn on, and their PNG files.

use crate::Error;
use crate::axis::LARGE;
use crate::font::{LETTER, columns_of};
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendTextStyle, DrawingBackend, DrawingErrorKind, FontTransform,
};
use std::convert::Infallible;

/// Holds a picture row by row.
///
/// Each pixel has three bytes.
pub struct Pixels<'a> {
    width: u32,
    height: u32,
    rgb: &'a mut [u8],
}

/// Draws on a white picture with `draw`.
///
/// Returns the contents of a PNG file.
pub fn png(
    (width, height): (u32, u32),
    draw: impl FnOnce(Pixels<'_>) -> Result<(), Error>,
) -> Result<Vec<u8>, Error> {
    let mut rgb = vec![255; width as usize * height as usize * 3];
    let pixels = Pixels {
        width,
        height,
        rgb: &mut rgb,
    };
    draw(pixels)?;
    encoded((width, height), &rgb).map_err(|e| Error::new("a PNG file", e.to_string()))
}

fn encoded((width, height): (u32, u32), rgb: &[u8]) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(rgb)?;
    writer.finish()?;
    Ok(bytes)
}

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

impl DrawingBackend for Pixels<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> Drawn {
        let inside = |at: i32, size: u32| u32::try_from(at).ok().filter(|at| *at < size);
        if let (Some(x), Some(y)) = (inside(x, self.width), inside(y, self.height)) {
            let at = (y as usize * self.width as usize + x as usize) * 3;
            let (r, g, b) = color.rgb;
            for (old, new) in self.rgb[at..at + 3].iter_mut().zip([r, g, b]) {
                let mixed = f64::from(*old) * (1.0 - color.alpha) + f64::from(new) * color.alpha;
                *old = mixed.round() as u8;
            }
        }
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        (x, y): BackendCoord,
    ) -> Drawn {
        let scale = scale_of(style);
        let (width, height) = size_of(text, scale);
        let left = match style.anchor().h_pos {
            HPos::Left => 0,
            HPos::Center => -(width as i32) / 2,
            HPos::Right => -(width as i32),
        };
        let top = match style.anchor().v_pos {
            VPos::Top => 0,
            VPos::Center => -(height as i32) / 2,
            VPos::Bottom => -(height as i32),
        };
        let turned = |(right, down): (i32, i32)| match style.transform() {
            FontTransform::None => (x + right, y + down),
            FontTransform::Rotate90 => (x - down, y + right),
            FontTransform::Rotate180 => (x - right, y - down),
            FontTransform::Rotate270 => (x + down, y - right),
        };
        for (k, letter) in (0..).zip(text.chars()) {
            for (column, bits) in (0..).zip(columns_of(letter)) {
                for row in (0..LETTER.1).filter(|row| bits >> row & 1 == 1) {
                    let at = left + k * advance(scale) + column * scale;
                    let first = (at, top + row * scale);
                    let last = (first.0 + scale - 1, first.1 + scale - 1);
                    let (a, b) = (turned(first), turned(last));
                    let corners = ((a.0.min(b.0), a.1.min(b.1)), (a.0.max(b.0), a.1.max(b.1)));
                    self.draw_rect(corners.0, corners.1, &style.color(), true)?;
                }
            }
        }
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        Ok(size_of(text, scale_of(style)))
    }
}

/// The width of a letter's dot in pixels.
fn scale_of(style: &impl BackendTextStyle) -> i32 {
    match style.size() >= f64::from(LARGE) {
        true => 2,
        false => 1,
    }
}

/// The distance between letters.
fn advance(scale: i32) -> i32 {
    (LETTER.0 + 1) * scale
}

fn size_of(text: &str, scale: i32) -> (u32, u32) {
    let width = text.chars().count() as u32 * advance(scale) as u32;
    (width, (LETTER.1 * scale) as u32)
}
