//! A picture of pixels that charts are drawn on, and its file. Numbers at axes have letters of their own, as there is no font.

use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};
use std::convert::Infallible;

/// A picture, row by row, three bytes for each pixel.
pub struct Pixels<'a> {
    width: u32,
    height: u32,
    rgb: &'a mut [u8],
}

/// A white picture on which `draw` draws, as the bytes of a PNG file.
pub fn png<E: ToString>(
    (width, height): (u32, u32),
    draw: impl FnOnce(Pixels<'_>) -> Result<(), E>,
) -> Result<Vec<u8>, String> {
    let mut rgb = vec![255; width as usize * height as usize * 3];
    let pixels = Pixels {
        width,
        height,
        rgb: &mut rgb,
    };
    draw(pixels).map_err(|e| e.to_string())?;
    encoded((width, height), &rgb).map_err(|e| e.to_string())
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
        let (width, height) = size_of(text);
        let left = match style.anchor().h_pos {
            HPos::Left => x,
            HPos::Center => x - width as i32 / 2,
            HPos::Right => x - width as i32,
        };
        let top = match style.anchor().v_pos {
            VPos::Top => y,
            VPos::Center => y - height as i32 / 2,
            VPos::Bottom => y - height as i32,
        };
        for (k, letter) in (0..).zip(text.chars()) {
            for (row, bits) in (0..).zip(rows_of(letter)) {
                for column in (0..LETTER.0).filter(|c| bits >> (LETTER.0 - 1 - c) & 1 == 1) {
                    let at = left + k * ADVANCE + column * SCALE;
                    let first = (at, top + row * SCALE);
                    let last = (first.0 + SCALE - 1, first.1 + SCALE - 1);
                    self.draw_rect(first, last, &style.color(), true)?;
                }
            }
        }
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        _: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        Ok(size_of(text))
    }
}

/// How wide and high a letter is in dots, how wide a dot is in pixels, and how far letters are from each other.
const LETTER: (i32, i32) = (5, 7);
const SCALE: i32 = 2;
const ADVANCE: i32 = (LETTER.0 + 1) * SCALE;

fn size_of(text: &str) -> (u32, u32) {
    let width = text.chars().count() as u32 * ADVANCE as u32;
    (width, (LETTER.1 * SCALE) as u32)
}

/// The dots of what numbers are written with, from the top row to the bottom row; nothing of other letters.
fn rows_of(letter: char) -> [u8; LETTER.1 as usize] {
    match letter {
        '0' => [0x0e, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0e],
        '1' => [0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e],
        '2' => [0x0e, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1f],
        '3' => [0x1f, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0e],
        '4' => [0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02],
        '5' => [0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e],
        '6' => [0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e],
        '7' => [0x1f, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08],
        '8' => [0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e],
        '9' => [0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c],
        '-' => [0x00, 0x00, 0x00, 0x1f, 0x00, 0x00, 0x00],
        '.' => [0x00, 0x00, 0x00, 0x00, 0x00, 0x0c, 0x0c],
        'e' => [0x00, 0x00, 0x0e, 0x11, 0x1f, 0x10, 0x0e],
        _ => [0; LETTER.1 as usize],
    }
}
