//! The QR code as wg-easy draws it: error correction level H, two units a module, a border of two
//! modules, one path of one-unit squares. About 250 KB for an ordinary configuration.

use std::fmt::Write as _;

use qrcodegen::{QrCode, QrCodeEcc, QrSegment, Version};

const SCALE: i32 = 2;
const BORDER: i32 = 2;

/// The SVG of a text; `None` when the text is too long for a QR code.
pub(crate) fn svg(text: &str) -> Option<String> {
    let segments = [QrSegment::make_bytes(text.as_bytes())];
    let high = QrCodeEcc::High;
    let code =
        QrCode::encode_segments_advanced(&segments, high, Version::MIN, Version::MAX, None, false)
            .ok()?;
    let size = (code.size() + 2 * BORDER) * SCALE;
    let mut out =
        format!(r#"<svg viewBox="0 0 {size} {size}" xmlns="http://www.w3.org/2000/svg"><path d=""#);
    let mut previous: Option<(i32, i32)> = None;
    for y in 0..size {
        for x in 0..size {
            if !code.get_module(x.div_euclid(SCALE) - BORDER, y.div_euclid(SCALE) - BORDER) {
                continue;
            }
            square(&mut out, (x, y), previous);
            previous = Some((x, y));
        }
    }
    out.push_str(r#""/></svg>"#);
    Some(out)
}

/// One unit square; the shorter of the relative and the absolute spelling.
fn square(out: &mut String, (x, y): (i32, i32), previous: Option<(i32, i32)>) {
    let absolute = format!("M{x} {y}");
    let start = match previous.map(|(px, py)| format!("m{} {}", x - px, y - py)) {
        Some(relative) if relative.len() <= absolute.len() => relative,
        _ => absolute,
    };
    let _ = if x < 10 {
        write!(out, "{start}h1v1H{x}Z")
    } else {
        write!(out, "{start}h1v1h-1Z")
    };
}

#[cfg(test)]
mod tests {
    use super::svg;

    #[test]
    fn an_ordinary_configuration_has_the_measured_size() {
        let drawing = svg(&"k".repeat(383)).unwrap();
        assert!(drawing.starts_with(r#"<svg viewBox="0 0 210 210" xmlns="http://www.w3.org/2000/svg"><path d="M4 4h1v1H4Zm1 0h1v1H5Z"#));
        assert!(
            (200_000..300_000).contains(&drawing.len()),
            "{}",
            drawing.len()
        );
    }

    #[test]
    fn too_much_text_has_no_code() {
        assert!(svg(&"k".repeat(1273)).is_some());
        assert!(svg(&"k".repeat(1274)).is_none());
    }
}
