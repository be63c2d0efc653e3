//! Why a figure is not written as a picture: it would show nothing, cut numbers, or names that nobody can read.

use analysis::survival::SurvivalPoint;

use super::Format;
use crate::bars;
use crate::differences;
use crate::display_names::{clean, is_nonsense, number_before};
use crate::drawn_table::too_long;
use crate::failure_shares;
use crate::matrix;
use crate::number::{decimal, thousands};
use crate::paired;
use crate::pareto;
use crate::scene::Item;
use crate::sheet::{PAGE, Sheet};
use crate::spec::{Figure, FigureSpec, Layout, Matrix, Scale, SeriesData};
use crate::summary_text::in_mid_sentence;
use crate::venue::PT_PER_INCH;
use crate::{Drawing, caption, retries};

const FEWER: &str = "Choose a wider venue, or fewer runs; CSV and Parquet have every number";
const OTHER_MEASURE: &str = "Another measure may have something to show; CSV and Parquet have every number";
const RETRIED: &str = "Choose runs in which a turn was tried again; CSV and Parquet have every number";
const BOTH_VALUES: &str = "Choose runs of which both values are known; CSV and Parquet have what is known";
const SCORED: &str = "Choose runs with scored episodes; CSV and Parquet have what is known";
const OTHER_SCOPE: &str = "Choose another scope or other runs; CSV and Parquet have what is known";
const TWO: &str = "Name at least two runs that can be compared; CSV and Parquet have every number";
/// The advice for tables that do not fit a page.
pub(super) const LONG_TABLES: &str =
    "CSV and Parquet have every row, the LaTeX table breaks over pages, and a wider venue fits more";

/// Why a figure or table cannot be drawn for its layout, in a sentence without a full stop; `None` = it can.
pub fn drawing_refusal(spec: &FigureSpec) -> Option<String> {
    too_long_for_a_page(spec).or_else(|| content_refusal(spec).map(|(reason, _)| reason)).or_else(|| {
        let is_limited = matches!(spec.layout, Layout::Print { .. });
        let drawing = (is_limited && !matches!(spec.figure, Figure::Table(_))).then(|| crate::draw(spec))?;
        too_high(spec, drawing.height).or_else(|| unreadable_name(spec, &drawing)).map(|(reason, _)| reason)
    })
}

/// Why a table is not drawn as a picture: it has more rows than fit a page.
pub(super) fn too_long_for_a_page(spec: &FigureSpec) -> Option<String> {
    let Figure::Table(table) = &spec.figure else { return None };
    let long = too_long(&caption::with_method(table, spec), &spec.layout, spec.theme)?;
    let rows = thousands(&long.rows.to_string());
    Some(format!("the table has {rows} rows, of which {} fit a page at this width", long.fit))
}

/// Why a figure is not written: it would show cut numbers, or nothing. With the advice.
pub(super) fn content_refusal(spec: &FigureSpec) -> Option<(String, &'static str)> {
    empty_plot(&spec.figure).or_else(|| {
        let sheet = Sheet::from_layout(&spec.layout, spec.theme);
        match &spec.figure {
            Figure::FailureShares(data) => {
                failure_shares::too_narrow(data, &sheet).map(|reason| (reason, FEWER))
            }
            Figure::Matrix(data) => matrix::too_narrow(data, &sheet).map(|reason| (reason, FEWER)),
            _ => None,
        }
    })
}

/// Why a figure does not fit a page of paper: it would be higher. With the advice. A table is counted in rows instead
/// ([`too_long_for_a_page`]), and a height that was asked for is allowed.
pub(super) fn too_high(spec: &FigureSpec, height: f64) -> Option<(String, &'static str)> {
    let Layout::Print { height: requested, .. } = spec.layout else { return None };
    if matches!(spec.figure, Figure::Table(_)) {
        return None;
    }
    (height > PAGE.max(requested.unwrap_or(0.0)) + 0.5).then(|| {
        let inches = |points: f64| decimal(points / PT_PER_INCH, 1);
        (
            format!("it would be {} in high, and a page has room for {} in", inches(height), inches(PAGE)),
            FEWER,
        )
    })
}

/// Less difference than this to the requested height is not reported: the margin at the edges.
const SAME_HEIGHT: f64 = 2.0;

/// The height that was asked for, with its unit.
fn requested_height(layout: &Layout) -> Option<(f64, &'static str)> {
    let (requested, unit) = match *layout {
        Layout::Print { height, .. } => (height?, "pt"),
        Layout::Panel { height, .. } => (height?, "px"),
        Layout::Screen { .. } => return None,
    };
    requested.is_finite().then_some((requested, unit))
}

/// Says that a figure does not have the height that was asked for; `None` = it has.
pub(super) fn other_height(spec: &FigureSpec, height: f64) -> Option<String> {
    let (requested, unit) = requested_height(&spec.layout)?;
    if (height - requested).abs() <= SAME_HEIGHT {
        return None;
    }
    let reason =
        if height > requested { "it needs this height" } else { "it does not fill a greater height" };
    let [height, requested] = [height, requested].map(|number| decimal(number, 0));
    Some(format!("the figure is {height} {unit} high, not {requested} {unit} as requested: {reason}"))
}

/// Why a figure cannot have the height that was asked for, in a sentence without a full stop; `None` = it can, or none was asked
/// for, or the format has no height.
pub fn height_refusal(spec: &FigureSpec, format: Format) -> Option<String> {
    let is_table = matches!(spec.figure, Figure::Table(_));
    if !(format.is_picture() || (format == Format::Tex && !is_table)) {
        return None;
    }
    let (requested, unit) = requested_height(&spec.layout)?;
    let height = crate::draw(spec).height;
    if (height - requested).abs() <= SAME_HEIGHT {
        return None;
    }
    let limit = if height > requested {
        format!("its least height is {} {unit}", decimal(height.ceil(), 0))
    } else {
        format!("its greatest height is {} {unit}", decimal(height.floor(), 0))
    };
    Some(format!("The figure cannot be {} {unit} high: {limit}", decimal(requested, 0)))
}

/// Why a figure on paper is not written: it would have a name of which too few letters are left, or whose number alone tells it
/// from another one. With the advice. On the screen, the whole name is under the pointer.
pub(super) fn unreadable_name(spec: &FigureSpec, drawing: &Drawing) -> Option<(String, &'static str)> {
    let has_own_ellipsis = any_name(&spec.figure, &|name| name.contains('…'));
    // The cells of tables have a form of their own for what does not fit.
    let is_table = matches!(spec.figure, Figure::Table(_));
    if !matches!(spec.layout, Layout::Print { .. }) || is_table || has_own_ellipsis {
        return None;
    }
    // Names are shown without what all of them share, so a number of its own may stand anywhere in a whole name.
    let has_number = |text: &str| {
        let number = number_before(text.strip_prefix("vs. ").unwrap_or(text));
        let begin = number.map(|number| format!("{number}: "));
        begin.is_some_and(|begin| !any_name(&spec.figure, &|name| name.contains(&begin)))
    };
    // Notes are sentences in whole lines.
    let mut is_note = false;
    let text = drawing.scene.items.iter().find_map(|item| match item {
        Item::Part(part) => {
            is_note = part == "notes";
            None
        }
        Item::Text(text) if !is_note => {
            Some(text.content.as_str()).filter(|text| is_nonsense(text) || has_number(text))
        }
        _ => None,
    })?;
    Some((format!("there is no room for readable names at this width: one would be \"{text}\""), FEWER))
}

/// Whether this holds for a name of a figure: of a run, a scenario, a class, a row or a column.
fn any_name(figure: &Figure, holds: &dyn Fn(&str) -> bool) -> bool {
    caption::labels(figure).iter().any(|label| holds(&label.name))
        || match figure {
            Figure::Matrix(data) => data.rows.iter().chain(&data.columns).any(|name| holds(name)),
            Figure::Paired(data) => data.pairs.iter().any(|pair| holds(&pair.scenario)),
            Figure::FailureShares(data) => data.classes.iter().any(|class| holds(&class.name)),
            _ => false,
        }
}

/// Why a figure would be an empty plot, if it would: its axes would be invented.
fn empty_plot(figure: &Figure) -> Option<(String, &'static str)> {
    let no_turn = || Some(("no turn was observed, so there is no curve to draw".to_owned(), SCORED));
    match figure {
        Figure::Survival(run) | Figure::FirstFailures(run) if !is_observed(&run.points) => no_turn(),
        Figure::SurvivalComparison(data) if !any_is_observed(&data.series) => no_turn(),
        Figure::FirstFailuresComparison(data) if !any_is_observed(&data.series) => no_turn(),
        Figure::Differences(data) if data.rows.is_empty() => {
            Some(("there is no run beside the reference".to_owned(), TWO))
        }
        Figure::Differences(data) if !differences::has_value(data) => {
            let problem =
                if data.scale == Scale::Log { "no ratio above 0 is known" } else { "no difference is known" };
            Some((format!("{problem}, so there is nothing to draw on the axis"), SCORED))
        }
        Figure::Bars(data) if !bars::has_value(data) => {
            Some((format!("no run has a known value of \"{}\"", clean(&data.measure)), OTHER_MEASURE))
        }
        Figure::Paired(data) if paired::sorted(data).is_empty() => {
            Some((format!("no {} is in both runs", data.nouns()[0]), TWO))
        }
        Figure::Retries(data) if !retries::has_a_retry(data) => {
            Some(("no turn had a second attempt, so retries cannot be assessed".to_owned(), RETRIED))
        }
        Figure::Pareto(data) if pareto::dots(data).is_empty() => {
            let measure = data
                .measure
                .as_deref()
                .map_or_else(|| "stamina".to_owned(), |name| in_mid_sentence(&clean(name)));
            Some((
                format!("no run has a known cost and {measure}, so there is no point to draw"),
                BOTH_VALUES,
            ))
        }
        Figure::Plane(data) if data.points.iter().all(|point| point.place().is_none()) => {
            Some(("no run has both values, so there is no point to draw".to_owned(), BOTH_VALUES))
        }
        Figure::Matrix(data) if !has_number(data) => {
            Some(("no cell has a known mean or a published number".to_owned(), SCORED))
        }
        Figure::FailureShares(data) if data.groups.iter().all(|group| failure_shares::whole(group) == 0) => {
            Some(("no failure of this scope counts, so there are no shares".to_owned(), OTHER_SCOPE))
        }
        _ => None,
    }
}

fn is_observed(points: &[SurvivalPoint]) -> bool {
    points.iter().any(|point| point.at_risk > 0)
}

fn any_is_observed(series: &[SeriesData]) -> bool {
    series.iter().any(|curve| is_observed(&curve.points))
}

fn has_number(data: &Matrix) -> bool {
    data.cells.iter().any(|cell| cell.mean.is_some_and(f64::is_finite) || !cell.published.is_empty())
}
