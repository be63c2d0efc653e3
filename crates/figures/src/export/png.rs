//! PNG at 300 dots per inch, with its size on paper.

use resvg::tiny_skia::{Pixmap, Transform};

use super::{PNG_DPI, spec_text};
use crate::{Drawing, SOFTWARE};

/// The most painted pixels. A3 at 300 dots per inch has 17 million.
const MOST_PIXELS: f64 = 120e6;

pub(super) fn write(
    tree: &usvg::Tree,
    print: bool,
    drawing: &Drawing,
    toml: &str,
) -> Result<Vec<u8>, String> {
    // A drawing for the screen in px, 96 per inch, has the same size in a file as on the screen.
    let scale = PNG_DPI / if print { 72.0 } else { 96.0 };
    let (width, height) = ((drawing.width * scale).round(), (drawing.height * scale).round());
    if width * height > MOST_PIXELS {
        return Err(format!("{width} × {height} pixels are too many; take a smaller width or height"));
    }
    let mut pixmap = Pixmap::new(width as u32, height as u32).ok_or("a figure without a size")?;
    // usvg uses px with 96 per inch for any unit of the drawing.
    let per_unit = (width / f64::from(tree.size().width())) as f32;
    let per_unit_y = (height / f64::from(tree.size().height())) as f32;
    resvg::render(tree, Transform::from_scale(per_unit, per_unit_y), &mut pixmap.as_mut());

    let mut out = Vec::new();
    let mut encoder = ::png::Encoder::new(&mut out, pixmap.width(), pixmap.height());
    encoder.set_color(::png::ColorType::Rgba);
    encoder.set_depth(::png::BitDepth::Eight);
    let per_meter = (PNG_DPI / 0.0254).round() as u32;
    encoder.set_pixel_dims(Some(::png::PixelDimensions {
        xppu: per_meter,
        yppu: per_meter,
        unit: ::png::Unit::Meter,
    }));
    let failed = |e: ::png::EncodingError| e.to_string();
    encoder.add_text_chunk("Software".to_owned(), SOFTWARE.to_owned()).map_err(failed)?;
    encoder.add_itxt_chunk("Stamina Lab figure".to_owned(), spec_text::marked(toml)).map_err(failed)?;
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(&pixmap.take_demultiplied()).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(out)
}
