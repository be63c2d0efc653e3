//! A LaTeX table with booktabs rules.
//!
//! A table of usual length is a float that shrinks, letters and all, when it is wider than its column. A longer one is a
//! `longtable`, which breaks over pages and needs a page of one column.

use std::fmt::Write as _;

use super::Table;
use super::print::{Printed, columns, one_line};
use crate::SOFTWARE;
use crate::tex::{NEEDS, escape};

/// The most rows of a table that stays on one page.
const ONE_PAGE: usize = 40;
/// From this number of letters on, words are broken into lines.
const LONG_TEXT: usize = 28;

/// Whether the texts of a column are broken into lines.
fn is_broken(column: &Printed) -> bool {
    !column.right && column.texts.iter().any(|text| text.chars().count() > LONG_TEXT)
}

/// The column types of a `tabular`.
fn types(printed: &[Printed]) -> String {
    printed
        .iter()
        .map(|column| {
            if column.right {
                "r".to_owned()
            } else if is_broken(column) {
                ">{\\raggedright\\arraybackslash}p{12em}".to_owned()
            } else {
                "l".to_owned()
            }
        })
        .collect()
}

/// Places where a reader would break a word.
fn breakable(text: &str) -> String {
    escape(text)
        .replace("-{}", "-\\allowbreak{}")
        .replace("\\_", "\\_\\allowbreak{}")
        .replace('/', "/\\allowbreak{}")
}

/// A text where there is room for short ones.
fn words(text: &str) -> String {
    let text = one_line(text);
    if text.chars().count() <= LONG_TEXT { escape(&text) } else { pieces(&text) }
}

/// A text that may be broken where a reader would, and a word that is longer than a line may be in pieces.
fn pieces(text: &str) -> String {
    const PIECE: usize = 8;
    /// So many of the widest letters fit a line of a column that is broken.
    const LINE: usize = 12;
    let text = one_line(text);
    let cut = |stretch: &str| -> String {
        let letters: Vec<char> = stretch.chars().collect();
        if letters.len() <= LINE {
            return breakable(stretch);
        }
        let parts: Vec<String> =
            letters.chunks(PIECE).map(|part| breakable(&part.iter().collect::<String>())).collect();
        parts.join("\\allowbreak{}")
    };
    text.split_inclusive(|c: char| c.is_whitespace() || matches!(c, '-' | '_' | '/')).map(cut).collect()
}

pub(super) fn write(table: &Table) -> String {
    let printed = columns(table, usize::MAX);
    let long = table.rows.len() > ONE_PAGE;
    let heading: Vec<String> = printed.iter().map(|c| escape(&one_line(&c.heading))).collect();
    let heading = format!("{} \\\\\n", heading.join(" & "));
    let mut body = String::new();
    for row in 0..table.rows.len() {
        // In a column that is broken into lines short texts may still be wider than a line.
        let cell = |c: &Printed| if is_broken(c) { pieces(&c.texts[row]) } else { words(&c.texts[row]) };
        let cells: Vec<String> = printed.iter().map(cell).collect();
        let _ = writeln!(body, "{} \\\\", cells.join(" & "));
    }
    let sentences: Vec<String> = std::iter::once(format!("{}.", table.title.trim_end_matches('.')))
        .chain(table.notes.iter().cloned())
        .map(|s| words(&s))
        .collect();
    let caption = sentences.join(" ");
    let label: String = table.name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let packages = if long { "array, booktabs, longtable" } else { "array, booktabs, graphicx" };
    let types = types(&printed);
    let mut out = format!("% Made by {SOFTWARE}. Needs: \\usepackage{{{packages}}}\n");
    if long {
        out.push_str("% Breaks over pages, which LaTeX does on pages of one column only.\n");
        let _ = write!(
            out,
            "\\begingroup\n{NEEDS}\\footnotesize\\setlength{{\\tabcolsep}}{{3pt}}%\n\\begin{{longtable}}{{@{{}}{types}@{{}}}}\n\
             \\caption{{{caption}}}\\label{{tab:{label}}}\\\\\n\\toprule\n{heading}\\midrule\n\\endfirsthead\n\
             \\toprule\n{heading}\\midrule\n\\endhead\n\\bottomrule\n\\endlastfoot\n{body}\\end{{longtable}}\n\\endgroup\n"
        );
    } else {
        let _ = write!(
            out,
            "\\begin{{table}}[t]\n{NEEDS}\\centering\n\\caption{{{caption}}}\\label{{tab:{label}}}\n\\small\\setlength{{\\tabcolsep}}{{4pt}}%\n\
             % Shrinks to the column where it is wider; `table*` gives it two columns.\n\
             \\resizebox{{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}}{{!}}{{%\n\
             \\begin{{tabular}}{{@{{}}{types}@{{}}}}\n\\toprule\n{heading}\\midrule\n{body}\\bottomrule\n\\end{{tabular}}}}\n\\end{{table}}\n"
        );
    }
    out
}
