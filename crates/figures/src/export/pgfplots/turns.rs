//! Curves and bars over turns, and over the retry budget.

use std::fmt::Write as _;

use analysis::survival::SurvivalPoint;

use super::{Picture, Place, bp, color, coordinates, dash, finite, fitted_names, mark, number, range};
use crate::font::text_width;
use crate::retries::{letters, published_notes};
use crate::spec::{
    Bands, FigureSpec, FirstFailuresComparison, Layout, Retries, RunData, SeriesData, SeriesLabel,
    SurvivalComparison,
};
use crate::summary_text::count;
use crate::survival_comparison::{EVENTS, in_front, with_bands};
use crate::tex::escape;

/// Turns on the axis: those of the layout, else those of the data.
fn turns(spec: &FigureSpec, points: &[&[SurvivalPoint]]) -> u32 {
    let observed = points.iter().flat_map(|p| p.iter()).filter(|p| p.at_risk > 0).map(|p| p.turn).max();
    let of_data =
        observed.or_else(|| points.iter().filter_map(|p| p.last()).map(|p| p.turn).max()).unwrap_or(1);
    match spec.layout {
        Layout::Screen { turns, .. } => turns,
        Layout::Panel { turns, .. } | Layout::Print { turns, .. } => turns.unwrap_or(of_data),
    }
    .clamp(1, 10_000)
}

/// A few round turns for ticks.
fn ticks(turns: u32) -> Vec<u32> {
    let step = [1, 2, 5, 10, 20, 25, 50, 100, 200, 500, 1000, 2000].into_iter().find(|s| turns / s <= 10);
    (0..=turns).step_by(step.unwrap_or(5000) as usize).collect()
}

fn listed(turns: &[u32]) -> String {
    turns.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

fn one(data: &RunData) -> SeriesData {
    SeriesData {
        label: SeriesLabel::new(data.name.clone(), 0),
        points: data.points.clone(),
        summary: data.summary,
        highlight: true,
    }
}

pub(super) fn survival_of_run(picture: &mut Picture, spec: &FigureSpec, data: &RunData) {
    let comparison = SurvivalComparison {
        series: vec![one(data)],
        reference: None,
        tau: Some(data.summary.restricted_mean.tau).filter(|tau| *tau > 0),
        bands: Bands::All,
        at_risk: true,
        means: false,
        events: false,
    };
    curves(picture, spec, &comparison, false);
}

pub(super) fn survival(picture: &mut Picture, spec: &FigureSpec, data: &SurvivalComparison) {
    curves(picture, spec, data, true);
}

/// The known part of a curve.
fn known(points: &[SurvivalPoint], turns: u32) -> &[SurvivalPoint] {
    let shown = &points[..points.iter().position(|p| p.turn > turns).unwrap_or(points.len())];
    &shown[..shown.iter().rposition(|p| p.at_risk > 0).map_or(0, |i| i + 1)]
}

fn curves(picture: &mut Picture, spec: &FigureSpec, data: &SurvivalComparison, legend: bool) {
    let points: Vec<&[SurvivalPoint]> = data.series.iter().map(|s| s.points.as_slice()).collect();
    let turns = turns(spec, &points);
    let labels: Vec<&SeriesLabel> = data.series.iter().map(|s| &s.label).collect();
    let risk_rows = if data.at_risk { data.series.len() } else { 0 };
    let line = picture.line();
    let risk = if risk_rows == 0 { 0.0 } else { (risk_rows as f64 + 1.0) * line };
    let bottom = picture.under_axis() + risk;
    let plot = (picture.width * 0.4).min(140.0);
    picture.make_room(if legend { picture.legend_height(labels.len()) } else { 4.0 }, plot, bottom + 4.0);
    let above = if legend { picture.legend(&labels, false) } else { 4.0 };
    let left = picture.label + text_width("0.25", picture.tick) + 12.0;
    // Small letters of papers are up to a fifth wider than those of the drawing.
    let events =
        if data.at_risk && data.events { 1.2 * text_width(EVENTS, picture.tick) + picture.tick } else { 0.0 };
    let place = Place {
        left,
        bottom,
        width: picture.width - left - 6.0 - events,
        height: picture.height - bottom - above - picture.tick / 2.0,
    };
    let ticks = ticks(turns);
    picture.axis(
        &place,
        &format!(
            "xmin=0,xmax={turns}.5,ymin=0,ymax=1,xtick={{{}}},ytick={{0,0.25,0.5,0.75,1}},xlabel={{Turn}},ylabel={{Share alive}},\n  \
             xlabel style={{yshift=2bp}},ylabel style={{yshift=-2bp}}",
            listed(&ticks)
        ),
    );
    picture.add(&format!("\\draw[black!25,densely dotted] (axis cs:0,0.5) -- (axis cs:{turns}.5,0.5);"));
    if let Some(tau) = data.tau.filter(|tau| (1..=turns).contains(tau)) {
        picture.add(&format!("\\draw[black!25,densely dotted] (axis cs:{tau},0) -- (axis cs:{tau},1);"));
    }
    let (front, banded) = (in_front(data), with_bands(data));
    for series in &data.series {
        let in_front = front.iter().any(|label| std::ptr::eq(*label, &raw const series.label));
        let known = known(&series.points, turns);
        let banded = banded.iter().any(|label| std::ptr::eq(*label, &raw const series.label));
        let (color, dash) = (color(&series.label), dash(&series.label));
        let width = if in_front { "1.2bp" } else { "0.5bp" };
        let outline = if banded { band(known) } else { Vec::new() };
        if !outline.is_empty() {
            picture.add(&format!(
                "\\addplot[draw=none,fill={color},fill opacity=0.16,forget plot] coordinates {{{}}} -- cycle;",
                coordinates(&outline)
            ));
        }
        let mut steps = vec![(0.0, 1.0)];
        steps.extend(known.iter().map(|p| (f64::from(p.turn), p.survival.clamp(0.0, 1.0))));
        picture.add(&format!(
            "\\addplot[const plot,{color},line width={width},{dash}] coordinates {{{}}};",
            coordinates(&steps)
        ));
        let censored: Vec<(f64, f64)> =
            known.iter().filter(|p| p.censored > 0).map(|p| (f64::from(p.turn), p.survival)).collect();
        if !censored.is_empty() {
            picture.add(&format!(
                "\\addplot[only marks,mark=|,mark size=2.2bp,{color},forget plot] coordinates {{{}}};",
                coordinates(&censored)
            ));
        }
    }
    picture.end_axis();
    if risk_rows > 0 {
        at_risk(picture, &place, data, turns, &ticks);
    }
}

/// Numbers at risk under the labeled turns, one line per run, each with the color and dashes of its curve.
fn at_risk(picture: &mut Picture, place: &Place, data: &SurvivalComparison, turns: u32, ticks: &[u32]) {
    let line = picture.line();
    let top = place.bottom - picture.under_axis();
    picture.words((0.0, top - line / 2.0), "west", "", "At risk");
    let right = picture.width - 1.0;
    if data.events {
        picture.words((right, top - line / 2.0), "east", "", &escape(EVENTS));
    }
    for (row, series) in data.series.iter().enumerate() {
        let y = top - line * (row as f64 + 1.5);
        let _ = writeln!(
            picture.out,
            "\\draw[{},line width=1.2bp,{}] (1,{y}) -- ({},{y});",
            color(&series.label),
            dash(&series.label),
            bp((place.left - 8.0).clamp(6.0, 19.0)),
            y = bp(y)
        );
        for turn in ticks.iter().copied() {
            // Before turn 1, the same episodes are at risk as at turn 1.
            let Some(point) = series.points.iter().find(|p| p.turn == turn.max(1)) else { continue };
            let x = place.left + place.width * f64::from(turn) / (f64::from(turns) + 0.5);
            picture.words((x, y), "center", "", &point.at_risk.to_string());
        }
        if data.events {
            let summary = &series.summary;
            let text = format!("{}/{}", count(summary.events), count(summary.n));
            picture.words((right, y), "east", "", &escape(&text));
        }
    }
}

/// The outline of a band: its upper steps from left to right, then its lower steps back.
fn band(points: &[SurvivalPoint]) -> Vec<(f64, f64)> {
    let banded: Vec<(f64, f64, f64)> =
        points.iter().filter_map(|p| Some((f64::from(p.turn), p.ci_low?, p.ci_high?))).collect();
    let end = points.last().map_or(0.0, |p| f64::from(p.turn));
    let mut upper = Vec::new();
    let mut lower = Vec::new();
    for (at, (turn, low, high)) in banded.iter().enumerate() {
        let until = banded.get(at + 1).map_or(end, |next| next.0);
        upper.extend([(*turn, *high), (until, *high)]);
        lower.extend([(*turn, *low), (until, *low)]);
    }
    lower.reverse();
    upper.extend(lower);
    upper
}

pub(super) fn first_failures_of_run(picture: &mut Picture, spec: &FigureSpec, data: &RunData) {
    bars(picture, spec, &[one(data)], false);
}

pub(super) fn first_failures(picture: &mut Picture, spec: &FigureSpec, data: &FirstFailuresComparison) {
    bars(picture, spec, &data.series, true);
}

fn bars(picture: &mut Picture, spec: &FigureSpec, series: &[SeriesData], named: bool) {
    let points: Vec<&[SurvivalPoint]> = series.iter().map(|s| s.points.as_slice()).collect();
    let turns = turns(spec, &points);
    let most =
        points.iter().flat_map(|p| p.iter()).map(|p| p.events.max(p.censored)).max().unwrap_or(0).max(1);
    let bottom = picture.under_axis();
    let left = picture.label + text_width(&most.to_string(), picture.tick) + 12.0;
    let line = if named { picture.line() } else { 3.0 };
    picture.make_room(0.0, series.len() as f64 * (line + 24.0), bottom);
    let each = (picture.height - bottom) / series.len().max(1) as f64;
    let width = picture.width - left - 6.0;
    let per_turn = width / (f64::from(turns) + 0.5);
    let note = |series: &SeriesData| {
        format!("{} of {} failed", count(series.summary.events), count(series.summary.n))
    };
    let labels: Vec<&SeriesLabel> = series.iter().map(|s| &s.label).collect();
    let widest = series.iter().map(|s| text_width(&note(s), picture.tick)).fold(0.0, f64::max);
    let names = fitted_names(&labels, width - 1.1 * widest - picture.tick, picture.tick);
    for (row, series) in series.iter().enumerate() {
        let last = row + 1 == points.len();
        let place = Place {
            left,
            bottom: bottom + each * (points.len() - 1 - row) as f64,
            width,
            height: each - line - 3.0,
        };
        let axis = if last {
            format!("xtick={{{}}},xlabel={{Turn of first failure}}", listed(&ticks(turns)))
        } else {
            "xtick=\\empty".to_owned()
        };
        let named_y =
            if row == points.len() / 2 { ",ylabel={Episodes},ylabel style={yshift=-2bp}" } else { "" };
        picture.axis(
            &place,
            &format!("xmin=0,xmax={turns}.5,ymin=0,ymax={most},ytick={{0,{most}}},{axis}{named_y}"),
        );
        let counts = |count: fn(&SurvivalPoint) -> u32| -> Vec<(f64, f64)> {
            let shown = series.points.iter().filter(|p| p.turn <= turns && count(p) > 0);
            shown.map(|p| (f64::from(p.turn), f64::from(count(p)))).collect()
        };
        for (points, share, fill) in [
            (counts(|p| p.events), 0.62, color(&series.label)),
            (counts(|p| p.censored), 0.16, "black!55".to_owned()),
        ] {
            if !points.is_empty() {
                picture.add(&format!(
                    "\\addplot[ybar,bar width={}bp,draw=none,fill={fill}] coordinates {{{}}};",
                    bp((per_turn * share).max(0.3)),
                    coordinates(&points)
                ));
            }
        }
        picture.end_axis();
        if named {
            let y = place.bottom + place.height + line / 2.0 + 1.0;
            picture.words((left, y), "west", "", &names[row]);
            picture.words((left + width, y), "east", ",text=black!60", &escape(&note(series)));
        }
    }
}

pub(super) fn retries(picture: &mut Picture, data: &Retries) {
    let labels: Vec<&SeriesLabel> = data.series.iter().map(|s| &s.label).collect();
    let plot = (picture.width * 0.4).min(140.0);
    picture.note(&published_notes(data));
    picture.make_room(picture.legend_height(labels.len()), plot, picture.under_axis() + 4.0);
    let above = picture.legend(&labels, true);
    let all = finite(
        data.series
            .iter()
            .flat_map(|s| &s.points)
            .flat_map(|p| [p.mean, p.ci_high])
            .chain(data.published.iter().map(|p| Some(p.mean))),
    );
    let high = range(&all).1.max(1.0) * 1.05;
    let most = data
        .series
        .iter()
        .flat_map(|s| &s.points)
        .map(|p| p.retries)
        .chain(data.published.iter().map(|p| p.retries))
        .max()
        .unwrap_or(0);
    let bottom = picture.under_axis();
    let left = picture.label + text_width(&format!("{high:.0}.0"), picture.tick) + 12.0;
    let place = Place {
        left,
        bottom,
        width: picture.width - left - 6.0,
        height: picture.height - bottom - above - picture.tick / 2.0,
    };
    let tau = data.tau.map_or_else(String::new, |tau| format!(", $\\tau={tau}$"));
    picture.axis(
        &place,
        &format!(
            "xmin=-0.3,xmax={}.3,ymin=0,ymax={},xtick={{{}}},xlabel={{Retries allowed ($R$)}},ylabel={{Mean stamina (turns{tau})}}",
            most,
            number(high),
            listed(&ticks(most))
        ),
    );
    for series in &data.series {
        let (color, dash, mark) = (color(&series.label), dash(&series.label), mark(&series.label));
        for point in &series.points {
            if let (Some(low), Some(high)) = (point.ci_low, point.ci_high)
                && data.bands != Bands::None
            {
                picture.add(&format!(
                    "\\draw[{color},line width=0.5bp] (axis cs:{r},{}) -- (axis cs:{r},{});",
                    number(low),
                    number(high),
                    r = point.retries
                ));
            }
        }
        let points: Vec<(f64, f64)> =
            series.points.iter().filter_map(|p| Some((f64::from(p.retries), p.mean?))).collect();
        if !points.is_empty() {
            picture.add(&format!(
                "\\addplot[{color},line width=1.2bp,{dash},mark={mark},mark size=1.6bp,mark options={{solid}}] coordinates {{{}}};",
                coordinates(&points)
            ));
        }
    }
    for (point, letter) in data.published.iter().zip(letters(data)) {
        picture.add(&format!(
            "\\addplot[only marks,mark=diamond,mark size=2.4bp,black] coordinates {{({r},{y})}};\n\\node[anchor=west,inner sep=3bp] at (axis cs:{r},{y}) {{{letter}}};",
            r = point.retries,
            y = number(point.mean)
        ));
    }
    picture.end_axis();
}
