//! How members are drawn: their colors, dashes and markers.

use std::collections::BTreeSet;

use crate::api::SeriesStyle;

/// Series colors and dash patterns that there are.
const COLORS: usize = 8;
const DASHES: usize = 8;

/// Styles of members with these models and harnesses. Color = model, dash = harness. When only one of them varies it takes both
/// channels; where that would draw two members alike, every member gets its own. Members that share their dash get markers of
/// their own.
pub(super) fn by_levels(models: &[String], harnesses: &[String]) -> Vec<SeriesStyle> {
    styles(&numbered(models), &numbered(harnesses))
}

/// The number of each level, by its first occurrence, from 0.
fn numbered(levels: &[String]) -> Vec<usize> {
    let mut known_levels: Vec<&str> = Vec::new();
    levels
        .iter()
        .map(|level| {
            known_levels.iter().position(|s| s == level).unwrap_or_else(|| {
                known_levels.push(level);
                known_levels.len() - 1
            })
        })
        .collect()
}

/// The same for members of these models and harnesses, each counted from 0.
fn styles(models: &[usize], harnesses: &[usize]) -> Vec<SeriesStyle> {
    let varies = |levels: &[usize]| levels.iter().any(|level| *level > 0);
    let style = |color: usize, dash: usize| SeriesStyle {
        color: (color % COLORS) as u32 + 1,
        dash: (dash % DASHES) as u32 + 1,
        marker: 0,
    };
    // After the last color they begin anew with the next dash, so that no two of 64 are drawn alike.
    let own = |i: usize| style(i, i + i / COLORS);
    let mut styles: Vec<SeriesStyle> = match (varies(models), varies(harnesses)) {
        (true, true) => models.iter().zip(harnesses).map(|(m, h)| style(*m, *h)).collect(),
        (true, false) => models.iter().map(|m| own(*m)).collect(),
        (false, _) => harnesses.iter().map(|h| own(*h)).collect(),
    };
    let distinct: BTreeSet<(u32, u32)> = styles.iter().map(|s| (s.color, s.dash)).collect();
    if distinct.len() < styles.len() {
        styles = (0..models.len()).map(own).collect();
    }
    let markers = markers(&styles.iter().map(|s| s.dash).collect::<Vec<_>>());
    styles.into_iter().zip(markers).map(|(style, marker)| SeriesStyle { marker, ..style }).collect()
}

/// Markers of members with these dashes: the first of each dash has its marker, the others those that nobody has. When all
/// are taken, they are those of the dashes.
fn markers(dashes: &[u32]) -> Vec<u32> {
    let mut taken: BTreeSet<u32> = dashes.iter().copied().collect();
    let mut first_of = BTreeSet::new();
    let all = 1..=DASHES as u32;
    dashes
        .iter()
        .map(|dash| {
            if first_of.insert(*dash) {
                return *dash;
            }
            let free = all.clone().find(|marker| !taken.contains(marker)).unwrap_or(*dash);
            taken.insert(free);
            free
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_members_are_drawn_alike() {
        for count in [1, 8, 9, 13, 42] {
            let (many, single): (Vec<usize>, Vec<usize>) = ((0..count).collect(), vec![0; count]);
            for (models, harnesses) in [(&many, &single), (&single, &many), (&single, &single)] {
                let styles = styles(models, harnesses);
                let drawn: BTreeSet<(u32, u32)> = styles.iter().map(|s| (s.color, s.marker)).collect();
                assert_eq!(drawn.len(), count, "{styles:?}");
            }
        }
    }

    #[test]
    fn no_two_of_eight_members_share_a_marker() {
        // Models × harnesses in any order: 8 × 1, 4 × 2, 2 × 4, 1 × 8.
        for harnesses in [1, 2, 4, 8] {
            let in_blocks: Vec<u32> = (0..8).map(|i| i % harnesses + 1).collect();
            let in_rows: Vec<u32> = (0..8).map(|i| i * harnesses / 8 + 1).collect();
            for dashes in [in_blocks, in_rows] {
                let markers = markers(&dashes);
                let distinct: BTreeSet<&u32> = markers.iter().collect();
                assert_eq!(distinct.len(), 8, "{dashes:?}: {markers:?}");
                assert!(markers.iter().all(|m| (1..=8).contains(m)), "{markers:?}");
                // Where dashes tell all apart, markers go with them.
                assert!(harnesses < 8 || markers == dashes);
            }
        }
        // Of more, those that come later begin anew.
        let many: Vec<u32> = (0..12).map(|i| i % 3 + 1).collect();
        assert_eq!(markers(&many).len(), 12);
    }
}
