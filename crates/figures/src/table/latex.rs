//! A LaTeX table with booktabs rules.
//!
//! It fits a paper of one column or of two. A table that is wider than a column is a `table*`. A table that is wider than the
//! page has several blocks under each other. A table that is longer than a page continues in further floats. Widths are
//! estimated with the shipped font. A table that is wider in the font of the paper is scaled down.

use std::fmt::Write as _;

use super::Table;
use super::print::{columns, without_controls};
use crate::SOFTWARE;
use crate::drawn_table::blocks::{Column, TextBlock, TextColumn, for_text};
use crate::latex_text::{NEEDS, caption_command, escape, with_numbers};

/// The least width of an unknown page in pt.
const PAGE: f64 = 486.0;
/// A smaller width of a venue is one column of two.
const ONE_COLUMN: f64 = 300.0;
/// The narrowest column of the venues.
const COLUMN: f64 = 218.0;
/// `\footnotesize` of papers in 10 pt.
const SIZE: f64 = 8.0;
/// Lines of a page, with room for a caption.
const LINES: u32 = 44;
/// The most pending floats of LaTeX. They are flushed before this number.
const FLOATS: usize = 12;
/// From this number of letters, words are broken into lines.
const LONG_TEXT: usize = 28;
/// The number of widest letters in a line of a caption.
const CAPTION: usize = 12;

/// Natural breaks of a word.
fn breakable(text: &str) -> String {
    escape(text)
        .replace("-{}", "-\\allowbreak{}")
        .replace("\\_", "\\_\\allowbreak{}")
        .replace('/', "/\\allowbreak{}")
}

/// A text in a place for short texts.
fn words(text: &str) -> String {
    let text = without_controls(text);
    if text.chars().count() <= LONG_TEXT { escape(&text) } else { pieces(&text, CAPTION) }
}

/// A text with natural breaks. A word that is longer than a line of this number of letters is in pieces.
fn pieces(text: &str, line: usize) -> String {
    let text = without_controls(text);
    let piece = (line * 2 / 3).max(1);
    let cut = |stretch: &str| -> String {
        let letters: Vec<char> = stretch.chars().collect();
        if letters.len() <= line {
            return breakable(stretch);
        }
        let parts: Vec<String> =
            letters.chunks(piece).map(|part| breakable(&part.iter().collect::<String>())).collect();
        parts.join("\\allowbreak{}")
    };
    text.split_inclusive(|c: char| c.is_whitespace() || matches!(c, '-' | '_' | '/')).map(cut).collect()
}

/// The column types of a `tabular`. If it continues in another one, columns have the same widths in both.
fn types(block: &TextBlock, goes_on: bool) -> String {
    let column_type = |column: &TextColumn| {
        let side = if column.right { 'r' } else { 'l' };
        match column.broken {
            true => format!(">{{\\raggedright\\arraybackslash}}p{{{:.0}bp}}", column.width.ceil()),
            false if goes_on => format!("w{{{side}}}{{{:.0}bp}}", column.width.ceil()),
            false => side.to_string(),
        }
    };
    block.columns.iter().map(column_type).collect()
}

fn heading(column: &TextColumn) -> String {
    let side = if column.right { 'r' } else { 'l' };
    match column.heading.as_slice() {
        [] => String::new(),
        [one] => escape(one),
        // A column of words breaks its head itself.
        lines if column.broken => pieces(&lines.join(" "), letters(column.width)),
        lines => {
            let lines: Vec<String> = lines.iter().map(|line| escape(line)).collect();
            format!("\\shortstack[{side}]{{{}}}", lines.join("\\\\"))
        }
    }
}

/// The number of widest letters for this width.
fn letters(width: f64) -> usize {
    ((width / (1.05 * SIZE)) as usize).max(2)
}

fn tabular(block: &TextBlock, rows: std::ops::Range<usize>, goes_on: bool) -> String {
    let headings: Vec<String> = block.columns.iter().map(heading).collect();
    let mut body = String::new();
    for row in rows {
        let cell = |column: &TextColumn| {
            let text = column.texts.get(row).map_or("", String::as_str);
            // In a column with lines, short texts may still be wider than a line.
            if column.broken { pieces(text, letters(column.width)) } else { escape(&without_controls(text)) }
        };
        let cells: Vec<String> = block.columns.iter().map(cell).collect();
        let _ = writeln!(body, "{} \\\\", cells.join(" & "));
    }
    format!(
        "\\resizebox{{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}}{{!}}{{%\n\
         \\begin{{tabular}}{{@{{}}{}@{{}}}}\n\\toprule\n{} \\\\\n\\midrule\n{body}\\bottomrule\n\\end{{tabular}}}}\n",
        types(block, goes_on),
        headings.join(" & ")
    )
}

/// The rows of each page.
fn pages(blocks: &[TextBlock], rows: usize) -> Vec<std::ops::Range<usize>> {
    let heads: u32 = blocks.iter().map(|block| block.head_lines() + 2).sum();
    let mut pages = Vec::new();
    let (mut first_row, mut used) = (0, heads);
    for row in 0..rows {
        let lines: u32 = blocks.iter().map(|block| block.lines.get(row).copied().unwrap_or(1)).sum();
        if row > first_row && used + lines > LINES {
            pages.push(first_row..row);
            (first_row, used) = (row, heads);
        }
        used += lines;
    }
    pages.push(first_row..rows);
    pages
}

/// A table for a venue with this width in pt, of a column or of the page.
pub(super) fn write(table: &Table, width: Option<f64>) -> String {
    let shown = table.without_unknown();
    let table = &*shown;
    let (column, page) = match width {
        Some(width) if width < ONE_COLUMN => (width, 2.0 * width + 12.0),
        Some(width) => (COLUMN, width),
        None => (COLUMN, PAGE),
    };
    let blocks_of = |room: f64| {
        let drawn = columns(table, usize::MAX)
            .iter()
            .map(|column| Column::drawn(&column.heading, column.right, &column.texts))
            .collect();
        for_text(drawn, room, SIZE, with_numbers)
    };
    let narrow = blocks_of(column);
    let fits = narrow.len() == 1 && narrow[0].lines.iter().all(|lines| *lines == 1);
    let (float, blocks) = if fits { ("table", narrow) } else { ("table*", blocks_of(page)) };
    let pages = pages(&blocks, table.rows.len());
    let goes_on = pages.len() > 1;

    let title = table.title.trim_end_matches('.');
    let sentences: Vec<String> =
        std::iter::once(format!("{title}.")).chain(table.notes.iter().cloned()).map(|s| words(&s)).collect();
    let label: String = table.name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let mut out = format!("% Made by {SOFTWARE}. Needs: \\usepackage{{array, booktabs, graphicx}}\n");
    if !fits {
        out.push_str("% `table*` is as wide as a page of two columns; where there is one it is a `table`.\n");
    }
    for (index, rows) in pages.into_iter().enumerate() {
        if index > 0 && index % FLOATS == 0 {
            out.push_str("\\clearpage\n");
        }
        let caption = if index == 0 {
            format!("{}\\label{{tab:{label}}}", caption_command(&words(title), &sentences.join(" ")))
        } else {
            format!("Table~\\ref{{tab:{label}}}, continued.\\par\\smallskip")
        };
        let tabulars: Vec<String> =
            blocks.iter().map(|block| tabular(block, rows.clone(), goes_on)).collect();
        let _ = write!(
            out,
            "\\begin{{{float}}}[{}]\n{NEEDS}\\centering\n{caption}\n\\footnotesize\\setlength{{\\tabcolsep}}{{3pt}}%\n{}\\end{{{float}}}\n",
            if goes_on { "tp" } else { "t" },
            tabulars.join("\\par\\medskip\n")
        );
    }
    out
}
