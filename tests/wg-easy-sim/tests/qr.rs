//! The QR code is read back from the SVG that is served.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod support;

use support::admin;
use wg_easy_sim::{Settings, Simulator};

/// Draws the one kind of path that wg-easy writes: `M` or `m`, then a unit square.
fn draw(svg: &str) -> Vec<Vec<bool>> {
    let size = svg
        .split('"')
        .nth(1)
        .and_then(|view_box| view_box.split(' ').nth(2))
        .unwrap();
    let size: usize = size.parse().unwrap();
    let mut pixels = vec![vec![false; size]; size];
    let path = svg
        .split(" d=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap();
    let (mut x, mut y) = (0_i64, 0_i64);
    for square in path.split_terminator('Z') {
        let (start, rest) = square.split_once('h').unwrap();
        assert!(rest.starts_with("1v1"), "{square}");
        let (px, py) = start[1..].split_once(' ').unwrap();
        let (px, py): (i64, i64) = (px.parse().unwrap(), py.parse().unwrap());
        (x, y) = if start.starts_with('M') {
            (px, py)
        } else {
            (x + px, y + py)
        };
        pixels[usize::try_from(y).unwrap()][usize::try_from(x).unwrap()] = true;
    }
    pixels
}

/// Reads a drawing, enlarged so that the reader has something to see.
fn read(pixels: &[Vec<bool>]) -> String {
    const ZOOM: usize = 2;
    let size = pixels.len() * ZOOM;
    let grey = |x: usize, y: usize| if pixels[y / ZOOM][x / ZOOM] { 0 } else { 255 };
    let mut image = rqrr::PreparedImage::prepare_from_greyscale(size, size, grey);
    let grids = image.detect_grids();
    grids[0].decode().unwrap().1
}

#[test]
fn the_code_holds_the_configuration() {
    let sim = Simulator::start(Settings {
        clients: 1,
        ..Settings::default()
    });
    let answer = admin(&sim, "GET", "/api/client/1/qrcode.svg", "");
    assert_eq!(answer.header("content-type"), Some("image/svg+xml"));
    assert_eq!(read(&draw(&answer.text())), sim.configuration(1).unwrap());
}

#[test]
fn too_much_text_or_nobody_is_500() {
    let sim = Simulator::start(Settings {
        clients: 1,
        ..Settings::default()
    });
    assert_eq!(
        admin(&sim, "GET", "/api/client/2/qrcode.svg", "").status,
        500
    );
    sim.update_client(1, |client| {
        client.allowed_ips = Some(vec!["10.0.0.0/8".to_owned(); 200])
    });
    assert_eq!(
        admin(&sim, "GET", "/api/client/1/qrcode.svg", "").status,
        500
    );
    assert_eq!(
        admin(&sim, "GET", "/api/client/1/configuration", "").status,
        200
    );
}
