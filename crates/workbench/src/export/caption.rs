//! What stands under a figure in a paper, and what a reader of it should know before.

use figures::{FigureSpec, Theme};

/// The caption of a figure.
pub(super) fn of(spec: &FigureSpec) -> String {
    figures::caption(spec)
}

/// What does not read well: of a figure in greys, what they do not tell apart.
pub(super) fn cautions(spec: &FigureSpec) -> Vec<String> {
    if spec.theme == Theme::Grey { figures::greyscale_check(spec) } else { Vec::new() }
}
