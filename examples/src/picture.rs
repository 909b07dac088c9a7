//! Gray pictures and their PNG files.

use crate::{Outcome, make_room};
use png::{BitDepth, ColorType, Compression, Decoder, Encoder};
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;

/// Holds a picture row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Plane<T> {
    /// Pixels in a row.
    pub width: usize,
    /// All pixels.
    pub pixels: Vec<T>,
}

impl<T: Copy> Plane<T> {
    /// Returns the number of rows.
    pub fn height(&self) -> usize {
        self.pixels.len() / self.width
    }

    /// Returns the pixels of a row.
    pub fn row(&self, y: usize) -> &[T] {
        &self.pixels[y * self.width..][..self.width]
    }

    /// Maps each pixel, given its column and the `N` rows around it.
    ///
    /// Rows outside the picture repeat the nearest row inside.
    pub fn map<R, const N: usize>(&self, f: impl Fn(usize, [&[T]; N]) -> R) -> Plane<R> {
        let (width, last) = (self.width, self.height().saturating_sub(1));
        let mut pixels = Vec::with_capacity(self.pixels.len());
        for y in 0..self.height() {
            let rows = std::array::from_fn(|k| self.row((y + k).saturating_sub(N / 2).min(last)));
            pixels.extend((0..width).map(|x| f(x, rows)));
        }
        Plane { width, pixels }
    }
}

/// Reads a picture of 8 bits per pixel.
pub fn read(path: &Path) -> Outcome<Plane<u8>> {
    let mut reader = Decoder::new(BufReader::new(File::open(path)?)).read_info()?;
    let size = reader
        .output_buffer_size()
        .ok_or("the picture is too large")?;
    let mut pixels = vec![0; size];
    let info = reader.next_frame(&mut pixels)?;
    if (info.color_type, info.bit_depth) != (ColorType::Grayscale, BitDepth::Eight) {
        return Err(format!(
            "expected 8 bits of gray a pixel, got {:?} of {:?}",
            info.color_type, info.bit_depth
        )
        .into());
    }
    pixels.truncate(info.buffer_size());
    Ok(Plane {
        width: info.width as usize,
        pixels,
    })
}

/// Writes a picture.
pub fn write(path: &Path, picture: &Plane<u8>) -> Outcome {
    make_room(path)?;
    let mut encoder = Encoder::new(
        BufWriter::new(File::create(path)?),
        picture.width as u32,
        picture.height() as u32,
    );
    encoder.set_color(ColorType::Grayscale);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::High);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&picture.pixels)?;
    Ok(writer.finish()?)
}
