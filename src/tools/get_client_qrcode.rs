//! `get_client_qrcode`: the same configuration as a QR code.

use super::get_client_config::read;
use super::{Answer, Arguments, Failure, Hints, Run, Tool, schema};
use crate::qr::Drawing;
use crate::wg_easy::WgEasy;

pub(super) static TOOL: Tool = Tool {
    name: "get_client_qrcode",
    title: "Get a client's QR code",
    description: "Returns the configuration of a client as a QR code for the WireGuard apps: an SVG, and a PNG for \
        the user to scan. It ENCODES THE PRIVATE KEY: treat the answer as a credential, and call this only when \
        the user asked for the code.",
    essential: false,
    in_read_only_mode: false,
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    input: || schema::arguments(&[("clientId", schema::client_id())], &["clientId"]),
    output: || {
        schema::answer(
            &[
                (
                    "svg",
                    schema::text("The QR code as SVG markup; it encodes the private key"),
                ),
                (
                    "warning",
                    schema::text("What to know about the code; absent when there is nothing"),
                ),
            ],
            &["svg"],
        )
    },
    run: Run::Read(|arguments, wg_easy| Box::pin(run(arguments, wg_easy))),
};

async fn run(arguments: Arguments, wg_easy: WgEasy) -> Result<Answer, Failure> {
    arguments.only(&["clientId"])?;
    let id = arguments.client_id()?;
    let (configuration, svg) = tokio::join!(read(&wg_easy, id), wg_easy.qrcode(id));
    let configuration = configuration?;
    let drawing = Drawing::of(configuration.text()).map_err(|_| Failure::TooLongForCode)?;
    // wg-easy's own drawing of a real configuration has about 250,000 characters and does not fit; one
    // that cannot be had at all (it answers 500 where the text is long) is no loss either.
    let original = svg
        .ok()
        .and_then(|body| body.into_svg().ok())
        .map(|file| Answer::from_wg_easy().with_file("svg", file))
        .filter(Answer::fits);
    let mut answer = match original {
        Some(answer) => answer,
        None => Answer::from_wg_easy().with_made("svg", drawing.svg()),
    };
    if let Some(warning) = configuration.warning() {
        answer = answer.with("warning", warning);
    }
    Ok(match drawing.png() {
        Some(png) => answer.with_image(png),
        None => answer,
    })
}
