//! Which columns are beside each other, and their widths.

use std::collections::HashSet;

use crate::display_names::clean;
use crate::font::text_width;
use crate::line_breaks::{broken, widest_part};

/// Between two columns, in letters.
const GAP: f64 = 1.1;
/// The greatest space between two columns.
const WIDE_GAP: f64 = 3.0;
/// Most lines of heads before letters get smaller.
const HEAD_LINES: usize = 3;
/// The least width of a column of words, in letters, if its words are longer.
const NARROW: f64 = 7.0;
/// A wider part of a word, in letters, may be broken.
const LONG_PART: f64 = 11.0;
/// The most letters that a line of words requests.
const LONG_LINE: f64 = 30.0;
/// The greatest share of the width for columns that are in every block.
const KEYS: f64 = 0.42;
/// Most columns that are in every block.
const MOST_KEYS: usize = 4;

/// A column of the layout.
pub(crate) struct Column {
    pub(super) heading: String,
    pub(super) right: bool,
    pub(super) texts: Vec<String>,
}

impl Column {
    /// A column of these texts as they are drawn.
    pub(crate) fn drawn(heading: &str, right: bool, texts: &[String]) -> Self {
        Self {
            heading: drawn_text(heading),
            right,
            texts: texts.iter().map(|text| drawn_text(text)).collect(),
        }
    }

    /// How far left of the edge of the column a number ends, so that decimal points are aligned. p values have different numbers
    /// of decimals.
    pub(super) fn hang(&self, row: usize, size: f64) -> f64 {
        let decimals = |text: &String| -> Option<usize> {
            let is_number = self.right && text.ends_with(|c: char| c.is_ascii_digit());
            is_number.then(|| text.rfind('.').map_or(0, |point| text.len() - point))
        };
        let Some(count) = self.texts.get(row).and_then(decimals) else { return 0.0 };
        let most = self.texts.iter().filter_map(decimals).max().unwrap_or(count);
        // All digits have the same width.
        let width = |decimals: usize| match decimals {
            0 => 0.0,
            some => text_width(".", size) + (some - 1) as f64 * text_width("0", size),
        };
        width(most) - width(count)
    }

    /// Width of the widest text.
    pub(super) fn widest(&self, size: f64) -> f64 {
        let width = |(row, text): (usize, &String)| text_width(text, size) + self.hang(row, size);
        self.texts.iter().enumerate().map(width).fold(0.0, f64::max)
    }
}

/// A text in one line, without letters that have no glyph.
pub(super) fn drawn_text(text: &str) -> String {
    if text.trim().is_empty() { String::new() } else { clean(text) }
}

/// Columns beside each other.
pub(super) struct Block {
    pub(super) places: Vec<Place>,
    pub(super) width: f64,
    /// Lines of the heads.
    pub(super) head: u32,
    /// Lines of each row.
    pub(super) rows: Vec<u32>,
}

/// The place of a column.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Its index.
    pub(super) column: usize,
    /// Left edge, from that of the table.
    pub(super) left: f64,
    pub(super) width: f64,
}

impl Block {
    pub(super) fn count_lines(&mut self, columns: &[Column], size: f64) {
        let lines = |text: &str, width: f64| broken(text, width, size).len() as u32;
        let head = self.places.iter().map(|place| lines(&columns[place.column].heading, place.width));
        self.head = head.max().unwrap_or(1);
        let rows = columns.iter().map(|column| column.texts.len()).max().unwrap_or(0);
        self.rows = (0..rows)
            .map(|row| {
                let lines_at = |place: &Place| {
                    columns[place.column].texts.get(row).map_or(1, |text| lines(text, place.width))
                };
                self.places.iter().map(lines_at).max().unwrap_or(1)
            })
            .collect();
    }
}

/// The possible widths of a column.
#[derive(Clone, Copy)]
struct Width {
    /// The width for natural breaks only.
    least: f64,
    /// The width for every text in one line, and the head in a few.
    easy: f64,
    /// The width for the head in one line, too.
    whole: f64,
}

fn width(column: &Column, size: f64) -> Width {
    let head = text_width(&column.heading, size);
    let in_few_lines = || {
        let part = widest_part(&column.heading, size);
        let mut width = part.max(head / HEAD_LINES as f64);
        while broken(&column.heading, width, size).len() > HEAD_LINES {
            width += size;
        }
        width.min(head)
    };
    let widest = column.widest(size);
    let head_least = widest_part(&column.heading, size).min(LONG_PART * size);
    let least = if column.right {
        widest
    } else {
        let part = column.texts.iter().map(|text| widest_part(text, size)).fold(0.0, f64::max);
        part.min(LONG_PART * size).max(widest.min(NARROW * size))
    };
    let least = least.max(head_least);
    let easy = widest.max(in_few_lines()).max(least);
    Width { least, easy, whole: easy.max(head) }
}

impl Width {
    /// The requested width of a column if texts are broken into lines. It is bounded for long texts.
    fn broken(&self, size: f64) -> f64 {
        self.easy.min(self.least.max(LONG_LINE * size))
    }
}

/// Computes the size of letters and the blocks. If no size fits, the smallest one is used, with texts in lines and columns in
/// blocks. A column that counts rows may be added before the others.
pub(super) fn layout(columns: &mut Vec<Column>, room: f64, [large, small]: [f64; 2]) -> (f64, Vec<Block>) {
    for size in [large, small] {
        let widths: Vec<Width> = columns.iter().map(|column| width(column, size)).collect();
        let gaps = gaps(columns.len(), size);
        if widths.iter().map(|w| w.easy).sum::<f64>() + gaps <= room {
            let all: Vec<usize> = (0..columns.len()).collect();
            let widths = between(&widths, room - gaps, |w| w.easy, |w| w.whole);
            return (size, vec![block(&all, &widths, room, size)]);
        }
    }
    let size = small;
    let widths: Vec<Width> = columns.iter().map(|column| width(column, size)).collect();
    let gaps_of_all = gaps(columns.len(), size);
    if widths.iter().map(|w| w.least).sum::<f64>() + gaps_of_all <= room {
        let all: Vec<usize> = (0..columns.len()).collect();
        let widths = between(&widths, room - gaps_of_all, |w| w.least, |w| w.broken(size));
        return (size, vec![block(&all, &widths, room, size)]);
    }
    (size, folded(columns, room, size))
}

/// Several blocks under each other.
fn folded(columns: &mut Vec<Column>, room: f64, size: f64) -> Vec<Block> {
    let widths =
        |columns: &[Column]| -> Vec<Width> { columns.iter().map(|column| width(column, size)).collect() };
    let mut all = widths(columns);
    let fits = |all: &[Width], keys: usize| {
        all.iter().take(keys).map(|w| w.least).sum::<f64>() + gaps(keys + 1, size) <= KEYS * room
    };
    let identifying_columns = identifying_columns(columns);
    let keys = match identifying_columns {
        Some(keys) if fits(&all, keys) => keys,
        _ => {
            // The columns that identify rows are too wide for every block, so rows are counted.
            let rows = columns.iter().map(|column| column.texts.len()).max().unwrap_or(0);
            let numbers = (1..=rows).map(|row| row.to_string()).collect();
            columns.insert(0, Column { heading: "No.".to_owned(), right: true, texts: numbers });
            all = widths(columns);
            1
        }
    };
    let key_widths = between(&all[..keys], KEYS * room - gaps(keys + 1, size), |w| w.least, |w| w.easy);
    let taken = key_widths.iter().sum::<f64>() + gaps(keys + 1, size);
    let free = room - taken;
    let least = |column: usize| all[column].least.min(free);
    // As few blocks as possible, with widths as even as possible.
    let split = |most: f64| {
        let mut blocks: Vec<Vec<usize>> = Vec::new();
        let mut used = f64::INFINITY;
        for column in keys..all.len() {
            let wide = least(column);
            if used + GAP * size + wide > most + 1e-9 {
                blocks.push(Vec::new());
                used = -GAP * size;
            }
            used += GAP * size + wide;
            // The first column does not fit, so it starts the first block.
            if let Some(block) = blocks.last_mut() {
                block.push(column);
            }
        }
        blocks
    };
    let count = split(free).len();
    let (mut too_narrow, mut enough) = (0.0, free);
    for _ in 0..24 {
        let middle = f64::midpoint(too_narrow, enough);
        let fits = (keys..all.len()).all(|column| least(column) <= middle) && split(middle).len() == count;
        if fits { enough = middle } else { too_narrow = middle }
    }
    split(enough)
        .into_iter()
        .map(|own| {
            let clamped: Vec<Width> =
                own.iter().map(|column| Width { least: least(*column), ..all[*column] }).collect();
            let widths = between(&clamped, free - gaps(own.len(), size), |w| w.least, |w| w.easy);
            let columns: Vec<usize> = (0..keys).chain(own).collect();
            block(&columns, &[key_widths.as_slice(), &widths].concat(), room, size)
        })
        .collect()
}

/// How many of the first columns identify every row; `None` = too many for every block.
fn identifying_columns(columns: &[Column]) -> Option<usize> {
    let rows = columns.first().map_or(0, |column| column.texts.len());
    (1..=MOST_KEYS.min(columns.len().saturating_sub(1))).find(|keys| {
        let mut seen_keys = HashSet::new();
        (0..rows).all(|row| {
            let key: Vec<&str> = columns
                .iter()
                .take(*keys)
                .filter_map(|column| Some(column.texts.get(row)?.as_str()))
                .collect();
            seen_keys.insert(key)
        })
    })
}

fn gaps(columns: usize, size: f64) -> f64 {
    columns.saturating_sub(1) as f64 * GAP * size
}

/// Widths from `least` up to `most` for this room. Each gets its share of the free room.
fn between(
    widths: &[Width],
    room: f64,
    least: impl Fn(&Width) -> f64,
    most: impl Fn(&Width) -> f64,
) -> Vec<f64> {
    let needed: f64 = widths.iter().map(&least).sum();
    let wanted: f64 = widths.iter().map(|w| (most(w) - least(w)).max(0.0)).sum();
    let share = if wanted > 0.0 { ((room - needed) / wanted).clamp(0.0, 1.0) } else { 0.0 };
    widths.iter().map(|w| least(w) + share * (most(w) - least(w)).max(0.0)).collect()
}

/// Columns of these widths beside each other. The free room is between them.
fn block(columns: &[usize], widths: &[f64], room: f64, size: f64) -> Block {
    let all: f64 = widths.iter().sum();
    let between = columns.len().saturating_sub(1) as f64;
    let gap = if between > 0.0 { ((room - all) / between).clamp(0.0, WIDE_GAP * size) } else { 0.0 };
    let mut left = 0.0;
    let places: Vec<Place> = columns
        .iter()
        .zip(widths)
        .map(|(column, width)| {
            let place = Place { column: *column, left, width: *width };
            left += width + gap;
            place
        })
        .collect();
    let width = places.last().map_or(0.0, |place| place.left + place.width);
    Block { places, width, head: 1, rows: Vec::new() }
}

/// Columns beside each other, for other writers of tables.
pub(crate) struct TextBlock {
    pub(crate) columns: Vec<TextColumn>,
    /// Lines of each row.
    pub(crate) lines: Vec<u32>,
}

impl TextBlock {
    /// Lines of the heads.
    pub(crate) fn head_lines(&self) -> u32 {
        self.columns.iter().map(|column| column.heading.len() as u32).max().unwrap_or(1)
    }
}

/// A column of a [`TextBlock`].
pub(crate) struct TextColumn {
    /// In lines.
    pub(crate) heading: Vec<String>,
    pub(crate) right: bool,
    /// Whether some of its texts take several lines of its width.
    pub(crate) broken: bool,
    pub(crate) width: f64,
    /// One per row.
    pub(crate) texts: Vec<String>,
}

/// Columns in as many blocks as they need for this width, with letters of this size. `measured` is each text
/// as it is typeset.
pub(crate) fn for_text(
    mut texts: Vec<Column>,
    room: f64,
    size: f64,
    measured: impl Fn(&str) -> String,
) -> Vec<TextBlock> {
    let mut columns: Vec<Column> = texts
        .iter()
        .map(|column| Column {
            heading: column.heading.clone(),
            right: column.right,
            texts: column.texts.iter().map(|text| measured(text)).collect(),
        })
        .collect();
    let (size, mut blocks) = layout(&mut columns, room, [size, size]);
    // A column that counts rows may have come before the others.
    if columns.len() > texts.len() {
        let Column { heading, right, texts: numbers } = &columns[0];
        texts.insert(0, Column { heading: heading.clone(), right: *right, texts: numbers.clone() });
    }
    for block in &mut blocks {
        block.count_lines(&columns, size);
    }
    let column = |place: &Place| {
        let Column { heading, right, texts: set } = &columns[place.column];
        TextColumn {
            heading: broken(heading, place.width, size),
            right: *right,
            broken: !right && set.iter().any(|text| broken(text, place.width, size).len() > 1),
            width: place.width,
            texts: texts[place.column].texts.clone(),
        }
    };
    blocks
        .into_iter()
        .map(|block| TextBlock { columns: block.places.iter().map(column).collect(), lines: block.rows })
        .collect()
}
