//! What stands under a figure in a paper, and what a reader of it should know before.

use figures::FigureSpec;

/// The caption of a figure.
pub(super) fn text(spec: &FigureSpec) -> String {
    figures::caption(spec)
}

/// The same in a sentence or two.
pub(super) fn short(spec: &FigureSpec) -> String {
    figures::short_caption(spec)
}

/// What does not read well: series that a printer without colors does not tell apart.
pub(super) fn cautions(spec: &FigureSpec) -> Vec<String> {
    const MOST: usize = 3;
    let mut found = figures::grayscale_check(spec);
    if found.len() > MOST {
        let more = found.len() - MOST;
        found.truncate(MOST);
        found.push(format!("{more} more pairs cannot be told apart in grayscale"));
    }
    found
}
