//! What stands under a figure in a paper, and what a reader of it should know before.

use figures::FigureSpec;

/// The caption of a figure.
pub(super) fn of(spec: &FigureSpec) -> String {
    figures::draw(spec).summary
}

/// What does not read well.
pub(super) fn cautions(_: &FigureSpec) -> Vec<String> {
    Vec::new()
}
