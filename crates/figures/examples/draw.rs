//! Draws a figure: a `FigureSpec` as JSON on standard input, its SVG on standard output.
//!
//! `cargo run -p figures --example draw < spec.json > figure.svg`

use std::io::Write as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let spec: figures::FigureSpec = serde_json::from_reader(std::io::stdin().lock())?;
    std::io::stdout().lock().write_all(figures::draw(&spec).svg.as_bytes())?;
    Ok(())
}
