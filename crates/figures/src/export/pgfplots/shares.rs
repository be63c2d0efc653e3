//! Classes of failures: stacked bars, or classes beside groups, as in the drawing.

use super::rows::{NAMES, make_room, rows};
use super::{Picture, bp, color, coordinates, fitted, fitted_names};
use crate::display_names::clean;
use crate::failure_shares::{class_names, counted_of, group_note, rows_plan, share, stacked, whole};
use crate::font::text_width;
use crate::labels::Area;
use crate::sheet::Sheet;
use crate::spec::{FailureShares, FigureSpec, SeriesLabel};
use crate::tex::escape;

/// Fills of classes, which also differ in grayscale.
const FILLS: [&str; 6] = ["black!80", "stamina1!90", "stamina0!65", "stamina2!45", "stamina3!35", "black!12"];

pub(super) fn failure_shares(picture: &mut Picture, spec: &FigureSpec, data: &FailureShares) {
    match stacked(data) {
        Some(gathered) => bars(picture, &gathered),
        None => side_by_side(picture, spec, data),
    }
}

fn bars(picture: &mut Picture, data: &FailureShares) {
    let line = picture.line();
    let columns = 2;
    let legend_rows = data.classes.len().div_ceil(columns);
    let wide = picture.width / columns as f64;
    make_room(picture, data.groups.len(), legend_rows as f64 * line + 4.0);
    for (at, name) in class_names(data, wide - 14.0, picture.tick).iter().enumerate() {
        let (x, y) =
            (wide * (at / legend_rows) as f64, picture.height - line * ((at % legend_rows) as f64 + 0.5));
        picture.add(&format!(
            "\\filldraw[fill={},draw=black,line width=0.3bp] ({},{}) rectangle ({},{});",
            FILLS[at % FILLS.len()],
            bp(x + 1.0),
            bp(y - 2.5),
            bp(x + 9.0),
            bp(y + 2.5)
        ));
        picture.words((x + 12.0, y), "west", "", &escape(name));
    }
    let names: Vec<&SeriesLabel> = data.groups.iter().map(|g| &g.label).collect();
    let notes: Vec<String> = data.groups.iter().map(group_note).collect();
    let widest = notes.iter().map(|n| text_width(n, picture.tick)).fold(0.0, f64::max) * 1.1;
    let rows = rows(picture, &names, legend_rows as f64 * line + 4.0, widest + 10.0, NAMES.min(0.34));
    picture.axis(
        &rows.place,
        &format!(
            "xbar stacked,xmin=0,xmax=100,{},xlabel={{{}}},bar width={}bp",
            rows.ticks,
            fitted(&format!("Share of {} (%)", clean(&data.unit)), picture.width * 0.9, picture.label),
            bp((rows.place.height / names.len().max(1) as f64 * 0.6).clamp(1.0, 14.0))
        ),
    );
    for at in 0..data.classes.len() {
        let points: Vec<(f64, f64)> = data
            .groups
            .iter()
            .enumerate()
            .map(|(row, group)| (share(group, at) * 100.0, row as f64))
            .collect();
        if !points.is_empty() {
            picture.add(&format!(
                "\\addplot[fill={},draw=black,line width=0.3bp] coordinates {{{}}};",
                FILLS[at % FILLS.len()],
                coordinates(&points)
            ));
        }
    }
    picture.end_axis();
    for (at, (group, note)) in data.groups.iter().zip(&notes).enumerate() {
        let y = rows.middle(at as f64);
        picture.words((picture.width - 1.0, y), "east", ",text=black!60", &escape(note));
        if whole(group) == 0 {
            picture.words((rows.place.left + 3.0, y), "west", ",text=black!60", "no failures");
        }
    }
}

fn side_by_side(picture: &mut Picture, spec: &FigureSpec, data: &FailureShares) {
    let plan = rows_plan(data, &Sheet::from_layout(&spec.layout, spec.theme));
    let size = picture.tick;
    let head_base = plan.names_height + 0.9 * size;
    let labels: Vec<&SeriesLabel> = data.groups.iter().map(|g| &g.label).collect();
    let room = if plan.upright { plan.names_height - 0.6 * size } else { plan.head_room };
    let names = fitted_names(&labels, room, size);
    for (at, ((group, note), name)) in data.groups.iter().zip(&plan.notes).zip(&names).enumerate() {
        let x = plan.left + at as f64 * plan.column;
        let ink = format!(",text={}", color(&group.label));
        if let Some(lines) = plan.in_lines.as_ref().map(|names| &names[at]) {
            for (line, base) in lines.iter().zip(plan.name_bases(lines.len(), size)) {
                picture.text((x, base), "base west", &ink, &escape(line));
            }
        } else if plan.upright {
            picture.text(
                (x + 0.5 * size, plan.names_height - 0.3 * size),
                "west",
                &format!("{ink},rotate=90"),
                name,
            );
        } else {
            picture.text((x, size), "base west", &ink, name);
        }
        picture.text((x, head_base), "base west", ",text=black!60", &fitted(note, plan.head_room, size));
    }
    let corner = fitted(&plan.corner, plan.names_right - 1.0, size);
    picture.text((plan.names_right, head_base), "base east", ",text=black!60", &corner);
    let mut harness_before = data.classes.first().is_some_and(|c| c.harness);
    let rows = data.classes.len();
    let class_names = class_names(data, plan.names_right - 1.0, size);
    for (row, class) in data.classes.iter().enumerate() {
        let top = plan.head + row as f64 * plan.row;
        let middle = top + plan.row / 2.0;
        let base = middle + 0.35 * size;
        if class.harness != harness_before {
            let y = picture.height - top;
            picture.add(&format!(
                "\\draw[black!30,line width=0.5bp] (1,{y}) -- ({},{y});",
                bp(picture.width - 1.0),
                y = bp(y)
            ));
            harness_before = class.harness;
        }
        picture.text((plan.names_right, base), "base east", "", &escape(&class_names[row]));
        for (at, group) in data.groups.iter().enumerate() {
            let x = plan.left + at as f64 * plan.column;
            let n = counted_of(group, row);
            let mut end = x;
            if let Some(room) = plan.bar_room {
                let width = share(group, row) / plan.most * room;
                if n > 0 {
                    let (half, width) = (0.32 * plan.row, width.max(0.5));
                    let area = Area { left: x, top: middle - half, right: x + width, bottom: middle + half };
                    picture.boxed(&area, 0.0, &format!("\\fill[{}]", color(&group.label)));
                }
                end = x + width + 0.4 * size;
            }
            let ink = if n == 0 { ",text=black!60" } else { "" };
            picture.text((end, base), "base west", ink, &escape(&plan.written(n, whole(group))));
        }
    }
    if plan.bar_room.is_some() {
        for at in 0..data.groups.len() {
            let x = plan.left + at as f64 * plan.column;
            let (top, bottom) =
                (picture.height - plan.head, picture.height - plan.head - rows as f64 * plan.row);
            picture.add(&format!(
                "\\draw[line width=0.5bp] ({x},{}) -- ({x},{});",
                bp(top),
                bp(bottom),
                x = bp(x)
            ));
        }
    }
}
