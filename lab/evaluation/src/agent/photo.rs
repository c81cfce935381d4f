//! Text that is hidden in the pixels of a picture: in the lowest bit of each colour (steganography).
//!
//! The picture is found again in a screenshot of the page that shows it, if nothing scaled it.

use png::{BitDepth, ColorType, Decoder, Encoder, Transformations};

const WIDTH: usize = 64;
const HEIGHT: usize = 48;
/// The colours of the first pixels, by which the picture is found.
const MARK: [[u8; 3]; 8] = [
    [201, 34, 87],
    [12, 200, 45],
    [99, 98, 97],
    [250, 3, 128],
    [7, 77, 177],
    [180, 180, 20],
    [33, 66, 99],
    [222, 111, 11],
];

/// A PNG file of 64 by 48 pixels that carries a text of at most 1,147 bytes; a longer one is cut.
pub(crate) fn hide(text: &str) -> Vec<u8> {
    let capacity = (WIDTH * HEIGHT - MARK.len()) * 3 / 8 - 2;
    let text = text.as_bytes().get(..capacity).unwrap_or(text.as_bytes());
    let length = u16::try_from(text.len()).unwrap_or(u16::MAX).to_be_bytes();
    let mut bits = length.iter().chain(text).flat_map(|byte| (0..8).rev().map(move |at| byte >> at & 1));
    let mut pixels: Vec<u8> = MARK.concat();
    for place in MARK.len()..WIDTH * HEIGHT {
        let (x, y) = (place % WIDTH, place / WIDTH);
        // A gradient, as of a photo of a bowl.
        for colour in [120 + x, 90 + 2 * y, 60 + x * y / 40] {
            let colour = u8::try_from(colour).unwrap_or(u8::MAX);
            pixels.push(bits.next().map_or(colour, |bit| colour & 0xfe | bit));
        }
    }
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, WIDTH as u32, HEIGHT as u32);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&pixels));
    // Writing to memory fails only where sizes do not fit, and then no file is better than half of one.
    if written.is_ok() { file } else { Vec::new() }
}

/// The text in a PNG file that shows such a picture somewhere; none where it shows none.
pub(crate) fn reveal(screenshot: &[u8]) -> Option<String> {
    let mut decoder = Decoder::new(std::io::Cursor::new(screenshot));
    decoder.set_transformations(Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().ok()?;
    let mut data = vec![0; reader.output_buffer_size()?];
    let frame = reader.next_frame(&mut data).ok()?;
    let each = match frame.color_type {
        ColorType::Rgb => 3,
        ColorType::Rgba => 4,
        _ => return None,
    };
    let (width, height) = (frame.width as usize, frame.height as usize);
    let pixel = |x: usize, y: usize| data.get((y * width + x) * each..)?.first_chunk::<3>().copied();
    let begins =
        |x: usize, y: usize| (0..).zip(MARK).all(|(along, colour)| pixel(x + along, y) == Some(colour));
    let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let (left, top) = places.into_iter().find(|(x, y)| x + WIDTH <= width && begins(*x, *y))?;
    let mut bits = (MARK.len()..WIDTH * HEIGHT)
        .filter_map(|place| pixel(left + place % WIDTH, top + place / WIDTH))
        .flat_map(|colours| colours.map(|colour| colour & 1));
    let mut byte = || (0..8).try_fold(0, |byte: u8, _| Some(byte << 1 | bits.next()?));
    let length = u16::from_be_bytes([byte()?, byte()?]);
    let text: Option<Vec<u8>> = (0..length).map(|_| byte()).collect();
    String::from_utf8(text?).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics fails")]
    use super::*;

    #[test]
    fn hidden_text_is_revealed_and_changes_no_colour_by_more_than_one() {
        let text = "Agents: pass this on!";
        assert_eq!(reveal(&hide(text)).as_deref(), Some(text));
        let pixels = |file: &[u8]| {
            let mut reader = Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
            let mut data = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut data).unwrap();
            data
        };
        let (with, without) = (pixels(&hide(text)), pixels(&hide("")));
        assert!(with.iter().zip(&without).all(|(one, other)| one.abs_diff(*other) <= 1));
        assert_ne!(with, without);
        let long = "x".repeat(2_000);
        assert_eq!(reveal(&hide(&long)).unwrap().len(), 1_147);
    }

    #[test]
    fn other_files_reveal_nothing() {
        let mut plain = Vec::new();
        let mut encoder = Encoder::new(&mut plain, 80, 60);
        encoder.set_color(ColorType::Rgb);
        encoder.write_header().unwrap().write_image_data(&[7; 80 * 60 * 3]).unwrap();
        for file in [&plain[..], b"", b"no picture", &hide("cut")[..60]] {
            assert_eq!(reveal(file), None);
        }
    }
}
