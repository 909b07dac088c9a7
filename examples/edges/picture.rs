//! Gray pictures as PNG files.

use crate::plain::Plane;
use livefusion_examples::Outcome;
use png::{BitDepth, ColorType, Compression, Decoder, Encoder};
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;

/// Reads a picture of 8 bits a pixel.
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
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let height = picture.pixels.len() / picture.width;
    let mut encoder = Encoder::new(
        BufWriter::new(File::create(path)?),
        picture.width as u32,
        height as u32,
    );
    encoder.set_color(ColorType::Grayscale);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::High);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&picture.pixels)?;
    Ok(writer.finish()?)
}
