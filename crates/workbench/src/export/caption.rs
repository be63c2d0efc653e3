//! What a reader of a figure should know before it stands in a paper.

use figures::FigureSpec;

/// What does not read well: series that a printer without colors does not tell apart.
pub(super) fn cautions(spec: &FigureSpec) -> Vec<String> {
    const MOST: usize = 3;
    let mut found = figures::grayscale_check(spec);
    if found.len() > MOST {
        let unnamed = found.len() - MOST;
        found.truncate(MOST);
        let pairs = model::counted(unnamed as u64, "more pair");
        found.push(format!("{pairs} cannot be told apart in grayscale"));
    }
    found
}
