//! Drawing a WireGuard configuration as a QR code: a compact SVG for the answer and a PNG for the
//! person.

use qrcodegen::{QrCode, QrCodeEcc};
use std::fmt::Write as _;

/// The light border that a scanner needs, in modules (ISO/IEC 18004 asks for four).
const QUIET_ZONE: i32 = 4;

/// Pixels of the PNG for each module: a code of 69 modules comes out 462 pixels wide, which a phone
/// reads off a screen at arm's length.
const PIXELS: u32 = 6;

/// A QR code.
pub struct Drawing(QrCode);

/// The text is too long for the largest QR code (2,953 bytes at the lowest error correction).
#[derive(Debug, PartialEq, Eq)]
pub struct TooLong;

impl Drawing {
    /// Encodes `text` in the smallest code there is for it: error correction is low unless more of it
    /// is free. The fewer modules, the larger each is on a screen.
    pub fn of(text: &str) -> Result<Self, TooLong> {
        QrCode::encode_text(text, QrCodeEcc::Low)
            .map(Self)
            .map_err(|_| TooLong)
    }

    /// The code as an SVG of one path, a horizontal stroke for each run of dark modules.
    pub fn svg(&self) -> String {
        let size = self.0.size();
        let width = size + 2 * QUIET_ZONE;
        let mut svg = format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {width}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h{width}v{width}H0z"/><path stroke="#000" d=""##
        );
        for y in 0..size {
            // Where the pen is, so that a move within the row is relative and short.
            let mut pen = None;
            let mut x = 0;
            while x < size {
                let length = (x..size).take_while(|&x| self.0.get_module(x, y)).count();
                let Ok(length @ 1..) = i32::try_from(length) else {
                    x += 1;
                    continue;
                };
                // Writing to a String cannot fail.
                let _ = match pen {
                    None => write!(svg, "M{} {}.5h{length}", x + QUIET_ZONE, y + QUIET_ZONE),
                    Some(pen) => write!(svg, "m{} 0h{length}", x - pen),
                };
                x += length;
                pen = Some(x);
            }
        }
        svg.push_str(r#""/></svg>"#);
        svg
    }

    /// The code as a PNG of one bit a pixel. `None` only if encoding fails, which memory alone can
    /// make it do.
    pub fn png(&self) -> Option<Vec<u8>> {
        let modules = u32::try_from(self.0.size() + 2 * QUIET_ZONE).ok()?;
        let width = modules * PIXELS;
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, width, width);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::One);
        encoder.set_compression(png::Compression::Balanced);
        let mut pixels = Vec::new();
        for y in 0..width {
            for byte in 0..width.div_ceil(8) {
                let bits = (0..8).fold(0u8, |bits, bit| {
                    let x = byte * 8 + bit;
                    bits << 1 | u8::from(x >= width || !self.dark_at(x, y))
                });
                pixels.push(bits);
            }
        }
        let mut writer = encoder.write_header().ok()?;
        writer.write_image_data(&pixels).ok()?;
        writer.finish().ok()?;
        Some(bytes)
    }

    fn dark_at(&self, x: u32, y: u32) -> bool {
        let module = |pixel: u32| i32::try_from(pixel / PIXELS).map_or(-1, |at| at - QUIET_ZONE);
        self.0.get_module(module(x), module(y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_text_that_fits_a_code_fits_the_budget_too() {
        let longest = "a".repeat(2953);
        let svg = Drawing::of(&longest).unwrap().svg();
        assert!(svg.len() < 60_000, "{}", svg.len());
        assert_eq!(Drawing::of(&"a".repeat(2954)).err(), Some(TooLong));
    }

    #[test]
    fn a_png_is_what_a_viewer_expects() {
        let png = Drawing::of("hello").unwrap().png().unwrap();
        let decoder = png::Decoder::new(std::io::Cursor::new(&png));
        let reader = decoder.read_info().unwrap();
        assert_eq!(reader.info().size(), ((21 + 8) * 6, (21 + 8) * 6));
    }
}
