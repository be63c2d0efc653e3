//! Tables as pictures: nothing is lost, cuts are reported, and so is a table that does not fit a page.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;

use figures::export::{Format, export, spec_in};
use figures::table::{Column, Table, known};
use figures::{Drawing, Figure, FigureSpec, Theme, caption, draw, venue::Preset};
use resvg::usvg::roxmltree::Document;

use crate::cases::{many, tables};

fn spec(figure: Figure, preset: &str) -> FigureSpec {
    FigureSpec::new(figure, Preset::parse(preset).unwrap().layout(), Theme::Print)
}

/// Texts with their places: x, and whether it is the end or the start of the line.
fn texts(drawing: &Drawing) -> Vec<(String, String, f64, bool)> {
    let document = Document::parse(&drawing.svg).unwrap();
    let texts = document.descendants().filter(|n| n.has_tag_name("text")).map(|node| {
        let attribute = |name: &str| node.attribute(name).unwrap_or_default().to_owned();
        (
            node.text().unwrap_or_default().to_owned(),
            attribute("x"),
            attribute("font-size").parse().unwrap(),
            attribute("text-anchor") == "end",
        )
    });
    texts.collect()
}

/// All texts without white space, so that a text in several lines is complete in it.
fn written(drawing: &Drawing) -> String {
    solid(&texts(drawing).into_iter().map(|t| t.0).collect::<String>())
}

fn solid(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[test]
fn every_text_of_a_table_stands_in_its_picture_whatever_the_width() {
    for figure in [tables::runs(6), tables::wide(4)] {
        let Figure::Table(table) = &figure else { unreachable!() };
        let markdown = table.to_markdown();
        let cells = markdown.lines().filter(|l| l.starts_with("| ") && !l.contains("---"));
        let cells: BTreeSet<String> = cells
            .flat_map(|l| l.trim_matches('|').split(" | "))
            .map(|c| solid(&c.replace("&lt;", "<").replace("\\$", "$")))
            .collect();
        for preset in ["icml", "icml:full", "acl:full"] {
            let written = written(&draw(&spec(figure.clone(), preset)));
            for cell in &cells {
                assert!(written.contains(cell.as_str()), "{preset}: {cell:?} is lost in {written}");
            }
            for note in &table.notes {
                assert!(written.contains(&solid(note)), "{preset}: {note}");
            }
        }
    }
}

#[test]
fn letters_are_those_of_the_venue_and_numbers_end_under_each_other() {
    let drawing = draw(&spec(tables::runs(13), "icml:full"));
    let texts = texts(&drawing);
    let sizes: BTreeSet<String> = texts.iter().map(|t| t.2.to_string()).collect();
    assert_eq!(sizes, BTreeSet::from(["6".to_owned(), "8".to_owned()]), "cells as labels, notes as ticks");
    let ends = |texts: &mut dyn Iterator<Item = &(String, String, f64, bool)>| {
        texts.map(|t| t.1.clone()).collect::<BTreeSet<String>>()
    };
    // Names start at one place. Counts, means, intervals and p end at four.
    let is_name = |text: &str| many::MODELS.contains(&text);
    assert_eq!(ends(&mut texts.iter().filter(|t| is_name(&t.0) && !t.3)).len(), 1);
    assert_eq!(ends(&mut texts.iter().filter(|t| t.3 && !t.0.starts_with("0."))).len(), 5);
    // The decimal points of numbers with different numbers of decimals are aligned.
    let points: BTreeSet<String> = texts
        .iter()
        .filter(|t| t.3 && (t.0.starts_with("0.") || t.0 == "< 0.001"))
        .map(|t| {
            let decimals = figures::text_width(t.0.split('.').nth(1).unwrap(), 8.0);
            format!("{:.1}", t.1.parse::<f64>().unwrap() - decimals)
        })
        .collect();
    assert_eq!(points.len(), 1, "{points:?}");
    assert!(texts.iter().any(|t| t.0.len() == 4 && t.0.starts_with("0.")), "{texts:?}");
    let small = draw(&spec(tables::wide(5), "icml"));
    assert!(texts_of(&small).iter().all(|size| *size >= 6.0), "never smaller than the venue allows");
    assert!((small.width - 234.0).abs() < 1e-9);
    for size in texts_of(&draw(&spec(tables::odd(20), "neurips:half"))) {
        assert!(size >= 7.0);
    }
}

fn texts_of(drawing: &Drawing) -> Vec<f64> {
    texts(drawing).into_iter().map(|t| t.2).collect()
}

#[test]
fn a_table_that_is_too_wide_names_its_rows_in_every_block() {
    let drawing = draw(&spec(tables::wide(5), "icml"));
    let blocks = drawing.svg.matches("-rows-").count();
    assert!(blocks >= 2, "{blocks} blocks");
    let written = written(&drawing);
    assert_eq!(written.matches(&solid("GPT-5.5 · OpenHands · 1")).count(), blocks, "{written}");
    // If names are too long for every block, rows have numbers.
    let Figure::Table(mut table) = tables::wide(3) else { unreachable!() };
    for row in &mut table.rows {
        row[0] = known("the same for all");
        row[1] = known("the same for all");
        row[2] = known("the same for all");
        row[3] = known(false);
    }
    let counted = texts(&draw(&spec(Figure::Table(table), "icml")));
    let numbers = counted.iter().filter(|t| t.0 == "No.").count();
    assert!(numbers >= 2, "{counted:?}");
}

#[test]
fn names_that_differ_stay_different_and_what_is_shortened_is_said() {
    let Figure::Table(table) = tables::odd(20) else { unreachable!() };
    for preset in ["icml", "icml:full"] {
        let written = written(&draw(&spec(Figure::Table(table.clone()), preset)));
        for i in [1, 2] {
            assert!(
                written.contains(&format!("every-name-{i}-and-the-same-end")),
                "{preset}: {i} in {written}"
            );
        }
        assert!(written.contains("通义千问三点五大模型·自主编程智能体评测"), "{written}");
        assert!(written.contains(&solid("מודל שפה גדול · סוכן")), "{written}");
        assert!(
            written.contains(&solid("Long texts are shortened here; the CSV has them whole.")),
            "{written}"
        );
    }
    // Texts that are shortened and differ only in the middle.
    let mut table = Table::new("t", "T", vec![Column::text("a", "A"), Column::integer("n", "n")]);
    for i in 0..4_u32 {
        table.push(vec![known(format!("{}{i}{}", "left ".repeat(400), " right".repeat(400))), known(i)]);
    }
    let drawing = draw(&spec(Figure::Table(table), "icml"));
    let written = written(&drawing);
    for i in 0..4 {
        assert!(written.contains(&format!("…{i}…")), "{i}: {written}");
    }
}

#[test]
fn what_does_not_fit_a_page_is_refused_with_advice() {
    let long = spec(tables::runs(1_000), "icml");
    for &format in Format::ALL {
        let picture = export(&long, format);
        if !format.is_picture() {
            assert!(!picture.unwrap().bytes.is_empty(), "{format:?}");
            continue;
        }
        let error = picture.unwrap_err();
        let message = error.to_string();
        assert!(message.contains("1,000 rows, of which") && message.contains("fit a page"), "{message}");
        assert!(error.advice().unwrap().contains("CSV"), "{message}");
    }
    // A drawing of it names the number of omitted rows.
    let drawing = draw(&long);
    assert!(drawing.height <= 648.0, "{}", drawing.height);
    let notes: Vec<String> =
        texts(&drawing).into_iter().map(|t| t.0).filter(|t| t.contains("more rows")).collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
    // The reported number of rows fits.
    let error = export(&long, Format::Svg).unwrap_err().to_string();
    let fit: usize = error.split("of which ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(fit > 50);
    assert!(export(&spec(tables::runs(fit), "icml"), Format::Svg).is_ok());
}

#[test]
fn a_table_without_rows_or_columns_is_one_all_the_same() {
    let empty = draw(&spec(tables::runs(0), "icml"));
    assert!(written(&empty).contains("Norows"), "{}", written(&empty));
    let nothing = spec(Figure::Table(Table::new("t", "T", Vec::new())), "icml");
    for &format in Format::ALL {
        assert!(export(&nothing, format).is_ok(), "{format:?}");
    }
}

#[test]
fn a_table_in_greys_has_greys_only_and_its_caption_has_its_title() {
    let spec = FigureSpec { theme: Theme::Grey, ..spec(tables::odd(20), "icml") };
    let svg = draw(&spec).svg;
    let colors: BTreeSet<&str> =
        svg.match_indices("=\"#").map(|(offset, _)| &svg[offset + 3..offset + 9]).collect();
    assert!(colors.iter().all(|c| c[..2] == c[2..4] && c[2..4] == c[4..]), "{colors:?}");
    assert_eq!(caption(&spec), "Odd <names> & \"signs\". Made with Stamina Lab 0.1.0.");
    let again = spec_in(&export(&spec, Format::Svg).unwrap().bytes).unwrap();
    assert_eq!(again, spec);
}
