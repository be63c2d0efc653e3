//! PDF: one page with the size of the figure.

use std::fmt::Write as _;

use krilla::configure::{ConfigurationBuilder, PdfVersion};
use krilla::embed::{AssociationKind, EmbeddedFile, MimeType};
use krilla::geom::Size;
use krilla::metadata::Metadata;
use krilla::page::PageSettings;
use krilla::{Document, SerializeSettings};
use krilla_svg::{SurfaceExt as _, SvgSettings};
use sha2::{Digest as _, Sha256};

use super::spec_text;
use crate::spec::{FigureSpec, Layout};
use crate::theme::Theme;
use crate::{Drawing, SOFTWARE};

/// The first half of the SHA-256 of the data of the figure in hex, which is enough to distinguish figures.
fn data_hash(spec: &FigureSpec) -> String {
    // The spec without place, colors and method.
    let bare = FigureSpec::new(spec.figure.clone(), Layout::print(0.0), Theme::Print);
    let text = spec_text::spec_to_toml(&bare).unwrap_or_default();
    let mut hex = String::new();
    for byte in Sha256::digest(text.as_bytes()).iter().take(16) {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

pub(super) fn write(
    tree: &usvg::Tree,
    spec: &FigureSpec,
    drawing: &Drawing,
    toml: &str,
) -> Result<Vec<u8>, String> {
    let (width, height) = (drawing.width as f32, drawing.height as f32);
    let size = Size::from_wh(width, height).ok_or("a figure without a size")?;
    // pdfLaTeX writes this version and warns of figures of a later one.
    let configuration =
        ConfigurationBuilder::new().with_version(PdfVersion::Pdf15).finish().map_err(|e| format!("{e:?}"))?;
    let mut document = Document::new_with(SerializeSettings {
        configuration,
        // A drawing has no reading order.
        enable_tagging: false,
        ..SerializeSettings::default()
    });
    let mut page = document.start_page_with(PageSettings::new(size));
    let mut surface = page.surface();
    surface.draw_svg(tree, size, SvgSettings::default()).ok_or("a drawing that PDF cannot hold")?;
    surface.finish();
    page.finish();
    document.set_metadata(
        Metadata::new()
            .title(title(&drawing.svg))
            .description(drawing.summary.replace(['\r', '\n'], " "))
            .creator(SOFTWARE.to_owned())
            .producer(SOFTWARE.to_owned())
            .keywords(vec![format!("data {}", data_hash(spec))])
            .language("en".to_owned()),
    );
    // Not compressed, so that it can be found without parsing the file.
    let embedded = EmbeddedFile {
        path: "figure.toml".to_owned(),
        mime_type: MimeType::new("application/toml"),
        description: Some("The figure's spec, from which stamina makes it again".to_owned()),
        association_kind: AssociationKind::Source,
        data: spec_text::marked(toml).into_bytes().into(),
        modification_date: None,
        compress: Some(false),
        location: None,
    };
    document.embed_file(embedded).ok_or("the spec could not be attached")?;
    document.finish().map_err(|e| format!("{e:?}"))
}

/// The name in the drawing.
fn title(svg: &str) -> String {
    let name =
        svg.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>")).map(|(name, _)| name);
    name.map_or_else(|| "Figure".to_owned(), spec_text::unescaped)
}
