//! A QR code in a terminal: two modules a character, one above the other.

use crate::Problem;
use crate::screen::Screen;
use base64::Engine as _;

/// Light modules that stay around the code. The standard asks for four; phones do with two.
const BORDER: usize = 2;

/// Draws the PNG of a QR code.
pub(crate) fn draw(screen: Screen, base64_png: &str) -> Result<(), Problem> {
    let png = base64::engine::general_purpose::STANDARD
        .decode(base64_png)
        .map_err(|error| error.to_string())?;
    let modules = Modules::read(&png)?;
    for y in (0..modules.height()).step_by(2) {
        let row: String = (0..modules.width())
            .map(|x| match (modules.dark(x, y), modules.dark(x, y + 1)) {
                (true, true) => ' ',
                (true, false) => '▄',
                (false, true) => '▀',
                (false, false) => '█',
            })
            .collect();
        // Light modules are drawn, dark ones left out: right on a dark terminal even without colour.
        screen.line(if screen.colour() {
            format!("  \x1b[38;5;231;48;5;16m{row}\x1b[0m")
        } else {
            format!("  {row}")
        });
    }
    Ok(())
}

/// The picture, a value for each module.
struct Modules(Vec<Vec<bool>>);

impl Modules {
    /// Takes the picture apart. The light border around it says nothing of how large a module is; the
    /// first dark run does: it is the upper edge of a finder pattern, seven modules long.
    fn read(png: &[u8]) -> Result<Self, Problem> {
        let pixels = pixels(png)?;
        let first = pixels
            .iter()
            .position(|row| row.contains(&true))
            .ok_or("the picture is empty")?;
        let row = pixels.get(first).ok_or("the picture is empty")?;
        let left = row.iter().take_while(|dark| !**dark).count();
        let pixel = row.iter().skip(left).take_while(|dark| **dark).count() / 7;
        if pixel == 0 {
            return Err("the picture is no QR code".into());
        }
        let border = BORDER * pixel;
        let cut = |start: usize| start.saturating_sub(border) + pixel / 2;
        let modules = pixels
            .iter()
            .skip(cut(first))
            .take(pixels.len().saturating_sub(2 * (first - first.min(border))))
            .step_by(pixel)
            .map(|row| {
                let width = row.len().saturating_sub(2 * (left - left.min(border)));
                row.iter()
                    .skip(cut(left))
                    .take(width)
                    .step_by(pixel)
                    .copied()
                    .collect()
            })
            .collect();
        Ok(Self(modules))
    }

    fn height(&self) -> usize {
        self.0.len()
    }

    fn width(&self) -> usize {
        self.0.first().map_or(0, Vec::len)
    }

    fn dark(&self, x: usize, y: usize) -> bool {
        self.0
            .get(y)
            .and_then(|row| row.get(x))
            .copied()
            .unwrap_or_default()
    }
}

/// The picture, a value for each pixel.
fn pixels(png: &[u8]) -> Result<Vec<Vec<bool>>, Problem> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(png));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info()?;
    let (color, depth) = reader.output_color_type();
    if (color, depth) != (png::ColorType::Grayscale, png::BitDepth::Eight) {
        return Err("the picture is not black and white".into());
    }
    let mut pixels = Vec::new();
    while let Some(row) = reader.next_row()? {
        pixels.push(row.data().iter().map(|value| *value < 128).collect());
    }
    Ok(pixels)
}
