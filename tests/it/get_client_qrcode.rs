//! `get_client_qrcode`: what the codes hold is read back from the drawings.

use crate::support::{Server, in_each_era, refusal, structured, with_clients};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use wg_easy_sim::{Canned, Fault, Matcher};

const SVG: &str = "/api/client/1/qrcode.svg";

/// Dark and light, row by row.
type Pixels = Vec<Vec<bool>>;

/// Reads a code back, enlarged so that the reader has something to see.
fn read(pixels: &Pixels, zoom: usize) -> String {
    let size = pixels.len() * zoom;
    let grey = |x: usize, y: usize| if pixels[y / zoom][x / zoom] { 0 } else { 255 };
    let mut image = rqrr::PreparedImage::prepare_from_greyscale(size, size, grey);
    let grids = image.detect_grids();
    assert_eq!(grids.len(), 1);
    grids[0].decode().unwrap().1
}

/// Draws the compact SVG: a path of horizontal strokes, each a run of dark modules.
fn draw(svg: &str) -> Pixels {
    let between = |before: &str, after: char| {
        let (_, rest) = svg.split_once(before).unwrap();
        rest.split_once(after).unwrap().0
    };
    let view_box: Vec<usize> = between("viewBox=\"", '"')
        .split(' ')
        .map(|number| number.parse().unwrap())
        .collect();
    let [0, 0, width, height] = view_box[..] else {
        panic!("{view_box:?}")
    };
    assert_eq!(width, height);
    let mut pixels = vec![vec![false; width]; height];
    let (mut x, mut y) = (0, 0);
    for stroke in between("stroke=\"#000\" d=\"", '"').split_inclusive('h') {
        // A stroke is `M4 4.5h7` or `m2 0h1`; what is split off here is `M4 4.5h` and `7m2 0h`.
        let stroke = stroke.strip_suffix('h').unwrap_or(stroke);
        let (length, pen) = match stroke.find(['M', 'm']) {
            Some(at) => stroke.split_at(at),
            None => (stroke, ""),
        };
        for _ in 0..length.parse().unwrap_or(0) {
            pixels[y][x] = true;
            x += 1;
        }
        if let Some(to) = pen.strip_prefix('M') {
            let (to_x, to_y) = to.split_once(' ').unwrap();
            x = to_x.parse().unwrap();
            y = to_y.strip_suffix(".5").unwrap().parse().unwrap();
        } else if let Some(by) = pen.strip_prefix('m') {
            x += by.strip_suffix(" 0").unwrap().parse::<usize>().unwrap();
        }
    }
    pixels
}

/// The PNG of the image block, which is for the person.
fn png(result: &Value) -> Pixels {
    let block = &result["content"][1];
    assert_eq!(block["type"], "image", "{block}");
    assert_eq!(block["mimeType"], "image/png");
    assert_eq!(block["annotations"], json!({"audience": ["user"]}));
    let bytes = STANDARD.decode(block["data"].as_str().unwrap()).unwrap();
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut image = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut image).unwrap();
    assert_eq!(info.color_type, png::ColorType::Grayscale);
    image
        .chunks(info.line_size)
        .map(|row| row.iter().map(|&grey| grey < 128).collect())
        .collect()
}

fn svg(result: &Value) -> &str {
    structured(result)["svg"].as_str().unwrap()
}

#[test]
fn both_drawings_of_a_real_configuration_hold_exactly_that_configuration() {
    let sim = with_clients(1);
    let configuration = sim.configuration(1).unwrap();
    assert!(configuration.len() > 350, "as long as a real one");
    in_each_era(|era| {
        let mut server = Server::of(&sim).era(era).start();
        let result = server.call("get_client_qrcode", json!({"clientId": 1}));
        assert!(svg(&result).len() < 60_000);
        assert_eq!(read(&draw(svg(&result)), 4), configuration);
        assert_eq!(read(&png(&result), 1), configuration);
        assert_eq!(result["content"].as_array().unwrap().len(), 2);
    });
}

#[test]
fn a_configuration_too_long_for_the_drawing_of_wg_easy_is_drawn_all_the_same() {
    let sim = with_clients(1);
    sim.update_client(1, |client| {
        client.allowed_ips = Some(vec!["10.20.30.0/24".to_owned(); 120]);
        client.post_up = "# Türöffner Ж".to_owned();
    });
    let configuration = sim.configuration(1).unwrap();
    let mut server = Server::of(&sim).start();
    let result = server.call("get_client_qrcode", json!({"clientId": 1}));
    assert_eq!(read(&draw(svg(&result)), 4), configuration);
    assert_eq!(read(&png(&result), 1), configuration);
}

#[test]
fn a_configuration_too_long_for_any_code_is_an_error_that_names_the_other_tool() {
    let sim = with_clients(1);
    sim.update_client(1, |client| {
        client.allowed_ips = Some(vec!["10.20.30.0/24".to_owned(); 300])
    });
    let mut server = Server::of(&sim).start();
    let result = server.call("get_client_qrcode", json!({"clientId": 1}));
    assert!(refusal(&result).contains("get_client_config"), "{result}");
    let result = server.call("get_client_config", json!({"clientId": 1}));
    assert_eq!(
        structured(&result)["configuration"],
        sim.configuration(1).unwrap()
    );
}

#[test]
fn a_drawing_that_fits_is_passed_on_byte_for_byte() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    for drawing in [
        "<svg viewBox=\"0 0 1 1\"><path d=\"M0 0h1v1H0Z\"/></svg>",
        "<?xml version=\"1.0\"?>\r\n<svg>\t<!-- \u{202e}\u{e0041} -->\n</svg>\n\n",
    ] {
        let canned = Canned::new(200).content_type("image/svg+xml").body(drawing);
        let fault = sim.fault(Matcher::new("GET", SVG), Fault::Instead(canned));
        let result = server.call("get_client_qrcode", json!({"clientId": 1}));
        assert_eq!(svg(&result), drawing);
        assert_eq!(read(&png(&result), 1), sim.configuration(1).unwrap());
        assert_eq!(fault.hits(), 1);
    }
}

#[test]
fn what_wg_easy_sends_in_the_place_of_a_drawing_is_never_passed_off_as_one() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    let image =
        |body: &str| Fault::Instead(Canned::new(200).content_type("image/svg+xml").body(body));
    for fault in [
        Fault::status(500),
        Fault::status(403),
        Fault::status(404),
        Fault::html(200),
        Fault::json("{}"),
        Fault::redirect("/login"),
        Fault::Reset,
        Fault::CutBody(1_000),
        image(""),
        image("<html><svg></svg></html>"),
        image("<svg>cut o"),
        image("[Interface]"),
    ] {
        let said = format!("{fault:?}");
        let handle = sim.fault(Matcher::new("GET", SVG).always(), fault);
        let result = server.call("get_client_qrcode", json!({"clientId": 1}));
        assert!(handle.hits() > 0, "{said}");
        assert_eq!(
            read(&draw(svg(&result)), 4),
            sim.configuration(1).unwrap(),
            "{said}"
        );
        handle.remove();
    }
}

#[test]
fn there_is_no_code_without_a_configuration() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    for fault in [Fault::status(500), Fault::html(200), Fault::empty()] {
        sim.fault(Matcher::new("GET", "/api/client/1/configuration"), fault);
        let result = server.call("get_client_qrcode", json!({"clientId": 1}));
        refusal(&result);
    }
    let result = server.call("get_client_qrcode", json!({"clientId": 99}));
    assert!(refusal(&result).contains("no client 99"), "{result}");
}
