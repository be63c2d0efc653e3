//! Figures as files: every file of every kind can be drawn again from its spec, and has its data.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test that cannot go on has failed")]

use figures::export::{Format, export, spec_from_toml, spec_in, spec_to_toml};
use figures::table::{PARQUET_SPEC_KEY, data_table};
use figures::{Figure, FigureSpec, Layout, Theme, draw};

use crate::cases;
use crate::kinds;

fn spec(figure: Figure) -> FigureSpec {
    FigureSpec::new(figure, Layout::print(234.0), Theme::Print)
}

#[test]
fn every_file_of_every_kind_gives_the_same_bytes_again() {
    for (name, figure) in kinds::all() {
        let spec = spec(figure);
        for &format in Format::ALL {
            let file = export(&spec, format).unwrap();
            assert!(!file.bytes.is_empty(), "{name} {format:?}");
            assert!(export(&spec, format).unwrap() == file, "{name} {format:?} twice");
            if format == Format::Csv {
                continue;
            }
            // The same spec is the same bytes, as the line above says.
            let carried = spec_in(&file.bytes).unwrap_or_else(|e| panic!("{name} {format:?}: {e}"));
            assert_eq!(carried, spec, "{name} {format:?}");
        }
    }
}

#[test]
fn any_file_gives_any_other() {
    let spec = FigureSpec { theme: Theme::Grey, ..spec(Figure::Survival(cases::normal())) };
    let files: Vec<_> = Format::ALL.iter().map(|format| export(&spec, *format).unwrap()).collect();
    for source_file in files.iter().filter(|f| !f.bytes.starts_with(b"run,")) {
        let carried = spec_in(&source_file.bytes).unwrap();
        for (&format, file) in Format::ALL.iter().zip(&files) {
            assert!(export(&carried, format).unwrap() == *file, "{format:?}");
        }
    }
}

/// The cells of a CSV, as whoever opens it has them.
fn cells(csv: &str) -> Vec<String> {
    let (mut cells, mut cell, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut chars = csv.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if is_quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' | '\n' if !is_quoted => cells.push(std::mem::take(&mut cell)),
            '\r' if !is_quoted && chars.peek() == Some(&'\n') => {}
            c => cell.push(c),
        }
    }
    cells
}

#[test]
// docs/security.md: Pages, terminals and files that others open
fn hostile_names_neither_break_nor_forge_a_file() {
    let marks = "\n# Stamina Lab figure spec: begin\nversion = 9\n# Stamina Lab figure spec: end\n";
    let names = [
        "a & b <c> \"d\" 'e' \\f{g} $h$ %i #j ~k^ _l | [m]",
        marks,
        "''' \"\"\" \u{0}\u{1b}[31m\u{7f} \u{FFFD} \u{202e}",
        "]]></metadata></svg><script>alert(1)</script>",
        "\r\n% \\input{x}\n\\end{pgfpicture}",
        "=HYPERLINK(\"http://x.example\",\"here\")",
        "+1+cmd|' /C calc'!A0",
        "-2+3",
        "@SUM(1;2)",
        "\t=1+1",
        "\r=1+1",
        &"long ".repeat(100),
    ];
    for name in names {
        let mut run = cases::normal();
        run.name = name.to_owned();
        let figures = [Figure::Survival(run.clone()), kinds::named(name)];
        for figure in figures {
            let spec = spec(figure);
            for &format in Format::ALL {
                let file = export(&spec, format).unwrap();
                if format != Format::Csv {
                    assert_eq!(spec_in(&file.bytes).unwrap(), spec, "{name:?} {format:?}");
                }
                if format == Format::Csv {
                    let cells = cells(&String::from_utf8(file.bytes).unwrap());
                    let is_calculated = |cell: &&String| {
                        cell.starts_with(['=', '+', '-', '@', '\t', '\r'])
                            && cell.len() > 1
                            && cell.parse::<f64>().is_err()
                    };
                    assert_eq!(cells.iter().find(is_calculated), None, "{name:?}");
                    if name.starts_with(['=', '+', '-', '@']) {
                        let guarded = format!("'{name}");
                        assert!(cells.iter().any(|cell| cell.starts_with(&guarded)), "{name:?}: {cells:?}");
                    }
                } else if format == Format::Svg {
                    let text = String::from_utf8(file.bytes).unwrap();
                    usvg::roxmltree::Document::parse(&text).unwrap_or_else(|e| panic!("{name:?}: {e}"));
                    assert!(!text.contains("<script") && !text.contains('\u{202e}'), "{name:?}");
                } else if format == Format::Tex {
                    let text = String::from_utf8(file.bytes).unwrap();
                    let code: Vec<&str> = text.lines().filter(|l| !l.starts_with("% ")).collect();
                    let ends = code.iter().filter(|l| l.contains("\\end{pgfpicture}")).count();
                    assert_eq!(ends, 1, "{name:?}");
                    assert!(!code.iter().any(|l| l.contains("\\input")), "{name:?}");
                    assert!(!text.contains('\u{202e}'), "{name:?}");
                }
            }
        }
    }
}

#[test]
fn numbers_are_the_same_after_toml() {
    let mut run = cases::normal();
    for (point, value) in
        run.points.iter_mut().zip([0.1 + 0.2, 1.0 / 3.0, f64::MIN_POSITIVE, 1e-17, 0.999_999_999_999_999_9])
    {
        point.survival = value;
        point.ci_low = Some(value / 7.0);
    }
    let spec = spec(Figure::Survival(run));
    assert_eq!(spec_from_toml(&spec_to_toml(&spec).unwrap()).unwrap(), spec);
}

/// A caption said "The horizon is τ = 0 turns" where nobody was at risk: earlier versions wrote a horizon of 0 there.
#[test]
fn a_horizon_of_0_in_an_old_spec_is_none() {
    let mut run = cases::normal();
    run.summary.restricted_mean.tau = Some(0);
    let curves = cases::many::survival(cases::many::runs(3, 20, 9), 0);
    for figure in [Figure::Survival(run), curves] {
        let mut old = spec(figure);
        old.method.tau = Some(0);
        let text = spec_to_toml(&old).unwrap();
        assert!(text.contains("tau = 0"), "{text}");
        let read = spec_from_toml(&text).unwrap();
        assert_eq!(read.method.tau, None);
        assert!(!figures::caption(&read).contains('τ'), "{}", figures::caption(&read));
        assert!(!draw(&read).svg.contains("τ = 0"));
    }
}

#[test]
fn what_has_no_spec_is_told_so() {
    let no_spec =
        ["", "hello", "<svg/>", "PAR1", "%PDF-1.7", "version = 99", "version = 1\nfigure = 3", "\u{0}\u{1}"];
    for text in no_spec {
        let message = spec_in(text.as_bytes()).unwrap_err().to_string();
        assert!(message.contains("spec"), "{text:?}: {message}");
    }
    // A cut file gives its complete spec, or none, but never another one.
    let whole = spec(Figure::Survival(cases::normal()));
    for &format in Format::ALL {
        let file = export(&whole, format).unwrap().bytes;
        let (mut given, mut refused) = (0, 0);
        for cut in (0..file.len()).step_by(file.len() / 40 + 1) {
            match spec_in(&file[..cut]) {
                Ok(found) => {
                    assert_eq!(found, whole, "{format:?} cut at {cut}");
                    given += 1;
                }
                Err(error) => {
                    assert!(error.to_string().contains("spec"), "{format:?} cut at {cut}: {error}");
                    refused += 1;
                }
            }
        }
        assert!(refused > 0, "{format:?}: {given} given, {refused} refused");
    }
}

#[test]
fn a_png_has_its_size_on_paper() {
    let file = export(&spec(Figure::Survival(cases::normal())), Format::Png).unwrap();
    let info = png::Decoder::new(std::io::Cursor::new(&file.bytes)).read_info().unwrap();
    let info = info.info();
    assert_eq!(info.width, 975, "3.25 in at 300 dots an inch");
    let dims = info.pixel_dims.unwrap();
    assert_eq!((dims.xppu, dims.unit), (11811, png::Unit::Meter));
}

#[test]
fn the_data_behind_is_whole() {
    let table = data_table(&Figure::Survival(cases::normal()));
    let csv = table.to_csv();
    assert_eq!(csv.lines().count(), 16);
    assert!(csv.starts_with("run,simulated,turn,at_risk,events,censored,survival,ci_low,ci_high\r\n"));
    assert!(csv.lines().nth(1).unwrap().starts_with("Claude-Opus-4.8 · terminus-2,false,1,25,6,0,0.76,0.5"));
    for (name, figure) in kinds::all() {
        let table = data_table(&figure);
        assert!(!table.rows.is_empty(), "{name}");
        assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "{name}");
        for text in [table.to_csv(), table.to_latex(), table.to_markdown(), table.to_html()] {
            assert!(!text.contains("NaN") && !text.contains("inf,"), "{name}");
        }
    }
}

#[test]
fn letters_that_no_font_here_has_are_told() {
    let mut run = cases::normal();
    // The name of a run is drawn by figures of several runs.
    run.name = "模型".to_owned();
    let named_spec = spec(kinds::named("模型 א"));
    let svg = draw(&named_spec).svg;
    assert!(svg.contains('模'));
    for format in [Format::Svg, Format::Pdf, Format::Png, Format::Tex] {
        let message = export(&named_spec, format).unwrap().warnings.join(" ");
        assert!(message.contains("letters"), "{format:?}: {message}");
    }
    assert!(export(&spec(kinds::named("plain")), Format::Pdf).unwrap().warnings.is_empty());
}

/// The pixels of a PNG, without other data of the file.
fn pixels(file: &[u8]) -> Vec<u8> {
    let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    pixels
}

#[test]
fn letters_of_other_scripts_are_painted_or_missed_aloud() {
    let png = |name: &str| {
        let file = export(&spec(kinds::named(name)), Format::Png).unwrap();
        (pixels(&file.bytes), file.warnings.join(" "))
    };
    for name in ["通义千问", "מודל", "نموذج"] {
        assert!(
            draw(&spec(kinds::named(name))).svg.contains(name),
            "{name} is text in the SVG, in its own order"
        );
        // As many letters for private use, which no font has, show the placeholder glyph.
        let nothing: String = ('\u{F0000}'..).take(name.chars().count()).collect();
        let (placeholders, message) = png(&nothing);
        assert!(message.contains("No font on this machine has the letters"), "{message}");
        let (painted, message) = png(name);
        // Without fonts for these letters, only the warning is tested. CI has the fonts.
        if message.contains("No font on this machine has the letters") {
            assert!(
                std::env::var("CI").map_or(true, |ci| ci != "true"),
                "{message}. On Debian and Ubuntu: sudo apt-get install fonts-dejavu-core fonts-wqy-microhei"
            );
            continue;
        }
        assert!(message.contains("are set in fonts of this machine"), "{name}: {message}");
        assert!(painted != placeholders, "{name} is painted as placeholders, and nothing says so");
    }
}

#[test]
// docs/security.md: A file that is loaded as settings
fn a_file_that_is_no_spec_is_not_quoted() {
    // The last ones are TOML with keys of a spec.
    for text in [
        "first = 1\ntoken: hunter2-canary\n",
        "first = 1\ntoken = hunter2-canary\n",
        "version = 1\ntheme = \"hunter2-canary\"\n",
        "version = 1\nlayout = \"hunter2-canary\"\n",
    ] {
        let error = spec_from_toml(text).unwrap_err().to_string();
        assert!(error.contains("line 2") && !error.contains("hunter2"), "{error}");
    }
    let newer = spec_from_toml("version = 99\n").unwrap_err().to_string();
    assert!(newer.contains("version 99 is not known here"), "{newer}");
}

/// A Parquet file of a schema, with these pairs of a key and a value.
fn parquet(schema: &[&[u8]], pairs: &[(&str, &str)]) -> Vec<u8> {
    fn number(mut number: usize, out: &mut Vec<u8>) {
        while number > 0x7f {
            out.push(number as u8 | 0x80);
            number >>= 7;
        }
        out.push(number as u8);
    }
    fn text(text: &str, out: &mut Vec<u8>) {
        out.push(0x18);
        number(text.len(), out);
        out.extend(text.as_bytes());
    }
    // The version, the schema, the number of rows, no row groups, the pairs.
    let mut footer = vec![0x15, 2, 0x19, 0xfc];
    number(schema.len(), &mut footer);
    footer.extend(schema.concat());
    footer.extend([0x16, 0, 0x19, 0x0c, 0x19, 0xfc]);
    number(pairs.len(), &mut footer);
    for (key, value) in pairs {
        text(key, &mut footer);
        text(value, &mut footer);
        footer.push(0);
    }
    footer.push(0);
    let length = u32::try_from(footer.len()).unwrap().to_le_bytes();
    [b"PAR1", &footer[..], &length, b"PAR1"].concat()
}

#[test]
// docs/security.md: A file with a figure
fn a_parquet_gives_its_spec_whatever_its_schema_asks_for() {
    let spec = spec(Figure::Survival(cases::normal()));
    let toml = spec_to_toml(&spec).unwrap();
    let carried = [("other", "1"), (PARQUET_SPEC_KEY, toml.as_str())];
    // An element without a type that states one child, and one that states two billion.
    let nested: &[u8] = &[0x35, 0, 0x18, 0, 0x15, 2, 0];
    let wide: &[u8] = &[0x48, 0, 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0];
    for schema in [&vec![nested; 100_000][..], &[wide]] {
        assert_eq!(spec_in(&parquet(schema, &carried)).unwrap(), spec);
        let none = spec_in(&parquet(schema, &carried[..1])).unwrap_err().to_string();
        assert!(none.contains("no figure spec"), "{none}");
    }
    let whole = parquet(&[wide], &carried);
    for cut in 0..60 {
        spec_in(&[b"PAR1", &whole[whole.len() - cut..]].concat()).unwrap_err();
    }
}

#[test]
// docs/security.md: A file with a figure
fn a_spec_that_would_take_gigabytes_is_not_parsed() {
    let ones = format!("version = 1\nx = [{}1]\n", "1,".repeat(4 << 20));
    let error = spec_in(ones.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("figure spec") && error.contains("values"), "{error}");
    let pairs = (0..1_200_000).fold(String::new(), |pairs, n| pairs + &format!("\"{n}\"={{}}\n"));
    let error = spec_in(format!("version = 1\n{pairs}").as_bytes()).unwrap_err().to_string();
    assert!(error.contains("values"), "{error}");
    let long = format!("version = 1\nx = \"{}\"\n", "x".repeat(17 << 20));
    let error = spec_in(long.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("bytes"), "{error}");
    // Lines of a picture that are taken for those of a spec.
    let (begin, end) = ("# Stamina Lab figure spec: begin", "# Stamina Lab figure spec: end");
    let lines = format!("\n% {begin}\n{}\n% {end}\n", "\n".repeat(20 << 20));
    let error = spec_in(lines.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("bytes"), "{error}");
    let escaped = format!("<svg>\n{begin}\n{ones}\n{end}\n</svg>");
    let error = spec_in(escaped.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("values"), "{error}");
}

/// A figure of survival curves.
fn curves(runs: usize, turns: u32) -> FigureSpec {
    let observed = cases::many::episodes(7, 60, turns, 0.001, 0.0005);
    let label = |index: usize| cases::many::label(&format!("harness {index} · model"));
    let series = (0..runs).map(|index| cases::many::series(label(index), &observed, turns)).collect();
    spec(cases::many::survival(series, turns))
}

#[test]
fn curves_of_a_thousand_runs_over_a_hundred_turns_are_read_again() {
    let spec = curves(1000, 100);
    let text = spec_to_toml(&spec).unwrap();
    assert!(spec_from_toml(&text).unwrap() == spec);
}

#[test]
// docs/security.md: A file with a figure
fn a_spec_that_is_too_large_to_be_read_again_is_told_when_it_is_written() {
    let file = export(&curves(130, 1000), Format::Toml).unwrap();
    assert!(file.warnings.iter().any(|w| w.contains("cannot be drawn again")), "{:?}", file.warnings);
    let refused = spec_in(&file.bytes).unwrap_err().to_string();
    assert!(refused.contains("MiB"), "{refused}");
    let file = export(&curves(3, 10), Format::Toml).unwrap();
    assert_eq!(file.warnings, [""; 0]);
}
