//! A value that is read from a file: its first line, or the QR code in a picture.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

use png::{ColorType, Decoder, Transformations};
use portcullis::sirl::Field;
use portcullis::vault::Secret;
use zeroize::Zeroizing;

use crate::failure::Failure;

/// The most bytes of a line.
const LONGEST: usize = 4096;
/// The most points of a picture, so that a small file cannot fill the memory.
const MOST_POINTS: usize = 40_000_000;
/// The first bytes of every PNG.
const PNG: [u8; 8] = *b"\x89PNG\r\n\x1a\n";

/// Reads a value. A picture is for the seed of one-time codes alone.
pub fn read(path: &Path, field: Field) -> Result<Secret, Failure> {
    let unread = |error: std::io::Error| Failure::Input(format!("{}: {error}", path.display()));
    let mut file = File::open(path).map_err(unread)?;
    let mut beginning = [0; PNG.len()];
    let is_picture = file.read(&mut beginning).map_err(unread)? == PNG.len() && beginning == PNG;
    file.rewind().map_err(unread)?;
    if !is_picture {
        return Secret::read_line(&mut file, LONGEST).map_err(unread);
    }
    if field != Field::OneTimeCode {
        let field = field.as_str();
        return Err(Failure::Input(format!(
            "{} is a picture, and {field} is a line of text",
            path.display()
        )));
    }
    seed_in(file).map_err(|what| Failure::Input(format!("{}: {what}", path.display())))
}

/// The text of the one QR code in a picture.
fn seed_in(file: File) -> Result<Secret, &'static str> {
    let unreadable = "the picture cannot be read; save it again as a PNG";
    let mut decoder = Decoder::new(BufReader::new(file));
    decoder.set_transformations(Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(|_| unreadable)?;
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    if width.saturating_mul(height) > MOST_POINTS {
        return Err("the picture is too large; cut it down to the code");
    }
    let mut points = Zeroizing::new(vec![0; reader.output_buffer_size().ok_or(unreadable)?]);
    let frame = reader.next_frame(&mut points).map_err(|_| unreadable)?;
    let colours = match frame.color_type {
        ColorType::Grayscale => 1,
        ColorType::GrayscaleAlpha => 2,
        ColorType::Rgb => 3,
        ColorType::Rgba => 4,
        ColorType::Indexed => return Err(unreadable),
    };
    // Transparent points count as white. The green of a point stands for its light.
    let light = |x: usize, y: usize| {
        let at = (y * width + x) * colours;
        let point = points.get(at..at + colours).unwrap_or_default();
        let is_clear = colours % 2 == 0 && point.last().is_some_and(|alpha| *alpha < 128);
        if is_clear { 255 } else { point.get(usize::from(colours > 2)).copied().unwrap_or(255) }
    };
    let mut prepared = rqrr::PreparedImage::prepare_from_greyscale(width, height, light);
    let grids = prepared.detect_grids();
    let [grid] = grids.as_slice() else {
        let none = "no QR code is found in the picture; cut it down to the code, with its white edge";
        return Err(if grids.is_empty() {
            none
        } else {
            "the picture has several QR codes; cut it down to one"
        });
    };
    let (_, text) = grid.decode().map_err(|_| "the QR code cannot be read; take a sharper picture")?;
    Ok(Secret::new(text))
}
