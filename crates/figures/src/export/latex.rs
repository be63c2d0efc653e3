//! A drawing as a picture of LaTeX's pgf, for `\input`: the shapes of the SVG, texts in the fonts of the paper.
//!
//! It needs `pgf` (or `tikz`) and nothing else. Its bounding box is exactly as large as the drawing. The fonts of a paper have
//! other widths than the one that layouts are measured in, so a text that would be wider than its place is condensed, or
//! shrinks where it would be much wider: no text leaves the picture or meets another. Colors have names that a paper may
//! define for itself.

use std::fmt::Write as _;

use plotters::style::RGBColor;

use crate::font::text_width;
use crate::latex_text::{NEEDS, escape};
use crate::scene::{Anchor, Item, Paint, Position, Scene, Text, px, unit};
use crate::theme::{Theme, Tokens};
use crate::{Drawing, SOFTWARE};

/// What a picture is made with, local to it. A paper that defines one of these before keeps its own.
const COMMANDS: &str = "\\providecommand\\staminafont{}%
% x, y, anchor, angle, size, the most that it may be wide, color, text
\\providecommand\\staminatext[8]{%
  \\pgftext[#3,x=#1bp,y=#2bp,rotate=#4]{%
    \\sbox2{\\staminafont\\fontsize{#5}{#5}\\selectfont\\color{#7}#8}%
    \\ifdim.85\\wd2>#6bp\\resizebox{#6bp}{!}{\\usebox2}%
    \\else\\ifdim\\wd2>#6bp\\resizebox{#6bp}{\\height}{\\usebox2}\\else\\usebox2\\fi\\fi}}%
";

/// The figure as LaTeX, without its spec. `theme` has names for the colors.
pub(super) fn write(drawing: &Drawing, theme: Theme) -> String {
    let mut picture = Picture::new(unit(drawing.height), theme.tokens());
    picture.paint(&drawing.scene);
    let mut out = format!(
        "% Made by {SOFTWARE}. Needs: \\usepackage{{pgf}} (tikz and pgfplots have it, too).\n\
         % A paper may define these colors and \\staminafont before its figures: \\newcommand\\staminafont{{\\sffamily}}\n\
         \\begingroup\n{NEEDS}{COMMANDS}"
    );
    for ((r, g, b), name) in &picture.colors {
        let _ = writeln!(out, "\\providecolor{{{name}}}{{HTML}}{{{r:02X}{g:02X}{b:02X}}}%");
    }
    // The miter limit is SVG's.
    let _ = write!(
        out,
        "\\begin{{pgfpicture}}%\n\
         \\pgfpathrectangle{{\\pgfpointorigin}}{{\\pgfqpoint{{{}bp}}{{{}bp}}}}%\n\
         \\pgfusepath{{use as bounding box}}%\n\
         \\pgfsetmiterlimit{{4}}%\n{}\\end{{pgfpicture}}%\n\\endgroup%\n",
        px(unit(drawing.width)),
        px(unit(drawing.height)),
        picture.out
    );
    out
}

type Rgb = (u8, u8, u8);

/// Where a picture keeps what it fills with, and what it draws lines with.
const FILL: usize = 0;
const STROKE: usize = 1;

/// The commands of a picture while they are written, and what holds at their end.
struct Picture {
    out: String,
    /// pgf counts from below, and drawings count from above.
    height: i32,
    /// Names of colors by what they are for.
    names: Vec<(Rgb, String)>,
    /// Colors in use.
    colors: Vec<(Rgb, String)>,
    /// Color and opacity of fills, and of lines.
    inks: [(Option<Rgb>, i32); 2],
    line_width: Option<i32>,
    dashes: String,
}

impl Picture {
    fn new(height: i32, tokens: &Tokens) -> Self {
        let single = [
            (tokens.paper, "Paper"),
            (tokens.label, "Ink"),
            (tokens.axis, "Axis"),
            (tokens.muted, "Muted"),
            (tokens.rule, "Rule"),
            (tokens.censored, "Censored"),
        ];
        let numbered = |colors: &[RGBColor], word: &str| -> Vec<(RGBColor, String)> {
            colors.iter().enumerate().map(|(i, color)| (*color, format!("{word}{}", i + 1))).collect()
        };
        let names = single
            .into_iter()
            .map(|(color, word)| (color, word.to_owned()))
            .chain(numbered(&tokens.series, "Series"))
            .chain(numbered(&tokens.series_text, "Name"))
            .map(|(RGBColor(r, g, b), word)| ((r, g, b), format!("stamina{word}")))
            .collect();
        Self {
            out: String::new(),
            height,
            names,
            colors: Vec::new(),
            inks: [(None, 100); 2],
            line_width: None,
            dashes: String::new(),
        }
    }

    fn paint(&mut self, scene: &Scene) {
        for item in &scene.items {
            match item {
                Item::Part(name) => self.line(&format!("% {name}")),
                Item::Path { points, closed, paint } => {
                    if points.len() < 2 {
                        continue;
                    }
                    self.set(paint);
                    self.path(points, *closed);
                    self.finish(paint);
                }
                Item::Rectangle { corner: (x, y), size: (width, height), paint } => {
                    self.set(paint);
                    let corner = self.point((*x, y + height));
                    let [width, height] = [*width, *height].map(px);
                    self.command(&format!(
                        "\\pgfpathrectangle{{{corner}}}{{\\pgfqpoint{{{width}bp}}{{{height}bp}}}}"
                    ));
                    self.finish(paint);
                }
                Item::Circle { center, radius, paint } => {
                    self.set(paint);
                    let center = self.point(*center);
                    self.command(&format!("\\pgfpathcircle{{{center}}}{{{}bp}}", px(*radius)));
                    self.finish(paint);
                }
                Item::Text(text) => self.text(text),
            }
        }
    }

    /// A line of the file.
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// A command in a line of its own, whose end is no space.
    fn command(&mut self, command: &str) {
        self.line(&format!("{command}%"));
    }

    fn point(&self, (x, y): Position) -> String {
        format!("\\pgfqpoint{{{}bp}}{{{}bp}}", px(x), px(self.height - y))
    }

    /// The name of a color, which is in use from now on.
    fn color(&mut self, rgb: Rgb) -> String {
        if let Some((_, name)) = self.colors.iter().find(|(known, _)| *known == rgb) {
            return name.clone();
        }
        let known = self.names.iter().find(|(known, _)| *known == rgb).map(|(_, name)| name.clone());
        let others = self.colors.iter().filter(|(_, name)| name.starts_with("staminaColor")).count();
        let name = known.unwrap_or_else(|| format!("staminaColor{}", others + 1));
        self.colors.push((rgb, name.clone()));
        name
    }

    /// Sets what a shape is painted with, where something else holds.
    fn set(&mut self, paint: &Paint) {
        let (place, kind, color) = match paint {
            Paint::Fill(color) => (FILL, "fill", *color),
            Paint::Stroke { color, .. } => (STROKE, "stroke", *color),
        };
        if self.inks[place].0.replace(color.rgb) != Some(color.rgb) {
            let name = self.color(color.rgb);
            self.command(&format!("\\pgfset{kind}color{{{name}}}"));
        }
        self.set_opacity(place, kind, color.opacity);
        let Paint::Stroke { width, dashes, .. } = paint else { return };
        if self.line_width.replace(*width) != Some(*width) {
            self.command(&format!("\\pgfsetlinewidth{{{}bp}}", px(*width)));
        }
        if self.dashes != *dashes {
            let lengths: Vec<String> =
                dashes.split_whitespace().map(|length| format!("{{{length}bp}}")).collect();
            let lengths = lengths.concat();
            self.command(&format!("\\pgfsetdash{{{lengths}}}{{0bp}}"));
            self.dashes.clone_from(dashes);
        }
    }

    fn set_opacity(&mut self, place: usize, kind: &str, opacity: i32) {
        if std::mem::replace(&mut self.inks[place].1, opacity) != opacity {
            self.command(&format!("\\pgfset{kind}opacity{{{}}}", px(opacity)));
        }
    }

    fn path(&mut self, points: &[Position], closed: bool) {
        for (i, corner) in points.iter().enumerate() {
            let (segment, corner) = (if i == 0 { "move" } else { "line" }, self.point(*corner));
            self.command(&format!("\\pgfpath{segment}to{{{corner}}}"));
        }
        if closed {
            self.command("\\pgfpathclose");
        }
    }

    fn finish(&mut self, paint: &Paint) {
        let kind = if matches!(paint, Paint::Fill(_)) { "fill" } else { "stroke" };
        self.command(&format!("\\pgfusepath{{{kind}}}"));
    }

    fn text(&mut self, text: &Text) {
        let size = f64::from(text.size) / 100.0;
        // Fonts come in whole points; between them LaTeX warns and takes another.
        let whole = size.round().clamp(5.0, 10.0);
        let mut content = escape(&text.content);
        if (size / whole - 1.0).abs() > 0.01 {
            content = format!("\\scalebox{{{}}}{{{content}}}", px(unit(size / whole)));
        }
        let anchor = match text.anchor {
            Anchor::Start => "left,base",
            Anchor::Middle => "base",
            Anchor::End => "right,base",
        };
        // Letters are filled shapes.
        self.set_opacity(FILL, "fill", text.color.opacity);
        let color = self.color(text.color.rgb);
        let [x, y] = [text.position.0, self.height - text.position.1].map(px);
        self.command(&format!(
            "\\staminatext{{{x}}}{{{y}}}{{{anchor}}}{{{}}}{{{whole}}}{{{}}}{{{color}}}{{{content}}}",
            if text.upright { 90 } else { 0 },
            px(unit(text_width(&text.content, size)))
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Color;

    fn text(words: &str, size: i32) -> Item {
        Item::Text(Text {
            content: words.to_owned(),
            position: (100, 250),
            anchor: Anchor::End,
            size,
            color: Color { rgb: (0, 0x72, 0xB2), opacity: 100 },
            upright: true,
        })
    }

    fn written(items: Vec<Item>) -> String {
        let scene = Scene { items };
        let (width, height) = (20.0, 10.0);
        let drawing = Drawing {
            svg: String::new(),
            scene,
            width,
            height,
            hits: Vec::new(),
            marks: Vec::new(),
            ticks: Vec::new(),
            summary: String::new(),
        };
        write(&drawing, Theme::Print)
    }

    #[test]
    fn shapes_stand_upside_up_and_repeat_no_setting() {
        let band = Color { rgb: (0, 0x72, 0xB2), opacity: 16 };
        let line = |y: i32| Item::Path {
            points: vec![(0, y), (2_000, y)],
            closed: false,
            paint: Paint::Stroke { color: band, width: 50, dashes: "2 3".to_owned() },
        };
        let out = written(vec![
            Item::Part("band".to_owned()),
            line(100),
            line(1_000),
            Item::Rectangle {
                corner: (0, 0),
                size: (500, 250),
                paint: Paint::Fill(Color { rgb: (1, 2, 3), opacity: 100 }),
            },
        ]);
        let (_, picture) = out.split_once("\\pgfsetmiterlimit{4}%\n").unwrap();
        assert_eq!(
            picture,
            "% band\n\\pgfsetstrokecolor{staminaSeries1}%\n\\pgfsetstrokeopacity{0.16}%\n\\pgfsetlinewidth{0.5bp}%\n\
             \\pgfsetdash{{2bp}{3bp}}{0bp}%\n\\pgfpathmoveto{\\pgfqpoint{0bp}{9bp}}%\n\
             \\pgfpathlineto{\\pgfqpoint{20bp}{9bp}}%\n\\pgfusepath{stroke}%\n\\pgfpathmoveto{\\pgfqpoint{0bp}{0bp}}%\n\
             \\pgfpathlineto{\\pgfqpoint{20bp}{0bp}}%\n\\pgfusepath{stroke}%\n\\pgfsetfillcolor{staminaColor1}%\n\
             \\pgfpathrectangle{\\pgfqpoint{0bp}{7.5bp}}{\\pgfqpoint{5bp}{2.5bp}}%\n\\pgfusepath{fill}%\n\
             \\end{pgfpicture}%\n\\endgroup%\n"
        );
        assert!(out.contains("\\providecolor{staminaSeries1}{HTML}{0072B2}%"), "{out}");
        assert!(out.contains("\\providecolor{staminaColor1}{HTML}{010203}%"), "{out}");
    }

    #[test]
    fn a_text_behind_a_pale_shape_is_not_pale() {
        let pale = Paint::Fill(Color { rgb: (1, 2, 3), opacity: 20 });
        let out = written(vec![
            Item::Rectangle { corner: (0, 0), size: (500, 250), paint: pale.clone() },
            text("a", 600),
            text("b", 600),
            Item::Rectangle { corner: (0, 0), size: (500, 250), paint: pale },
        ]);
        let opacities: Vec<&str> =
            out.lines().filter(|l| l.contains("opacity") || l.starts_with("\\staminatext{")).collect();
        assert_eq!(opacities.len(), 5, "{opacities:?}");
        assert_eq!(opacities[0], "\\pgfsetfillopacity{0.2}%");
        assert_eq!(opacities[1], "\\pgfsetfillopacity{1}%");
        assert_eq!(opacities[4], "\\pgfsetfillopacity{0.2}%");
    }

    #[test]
    fn texts_have_whole_sizes_and_no_commands() {
        let out = written(vec![text("50 % \\x{}", 795), text("0", 650), text("0", 300)]);
        let texts: Vec<&str> = out.lines().filter(|line| line.starts_with("\\staminatext{")).collect();
        let begin = "\\staminatext{1}{7.5}{right,base}{90}";
        assert!(texts[0].starts_with(&format!("{begin}{{8}}")), "{texts:?}");
        assert!(texts[0].ends_with("{staminaSeries1}{50 \\% \\textbackslash{}x\\{\\}}%"), "{texts:?}");
        assert!(
            texts[1].starts_with(&format!("{begin}{{7}}")) && texts[1].contains("\\scalebox{0.93}{0}"),
            "{texts:?}"
        );
        assert!(
            texts[2].starts_with(&format!("{begin}{{5}}")) && texts[2].contains("\\scalebox{0.6}{0}"),
            "{texts:?}"
        );
    }
}
