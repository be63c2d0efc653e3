//! Mean stamina and cost, with the Pareto front.

use crate::Drawing;
use crate::bars::{in_unit, with_unit};
use crate::display_names::{clean, full_name};
use crate::number::{decimal, interval};
use crate::scatter::{self, Dot, OmittedNames, Scatter, front};
use crate::spec::{Layout, Pareto, ParetoPoint, Scale};
use crate::summary_text::{counted, in_mid_sentence};
use crate::theme::Theme;

pub(crate) fn draw(data: &Pareto, layout: &Layout, theme: Theme) -> Drawing {
    let y_name = with_unit(&data.measure(), data.measure_unit.as_deref());
    let long_name = data.tau.map_or_else(|| y_name.clone(), |tau| format!("{y_name} (τ = {tau})"));
    let dots = dots(data);
    let plot = Scatter {
        kind: "pareto",
        title: if data.measure.is_none() { "Stamina against cost" } else { "Result against cost" },
        summary: summary(data, &dots),
        dots,
        x_name: with_unit(&data.cost, data.unit.as_deref()),
        y_names: vec![long_name, y_name],
        x_scale: data.scale,
        begins_at_zero: true,
        has_front: true,
        empty: "No run has a known cost",
        left_out: left_out(data),
        notes: String::new(),
    };
    scatter::draw(&plot, layout, theme)
}

/// The runs in the plot: those with a known cost and result.
pub(crate) fn dots(data: &Pareto) -> Vec<Dot<'_>> {
    let stands = |cost: &f64| cost.is_finite() && (data.scale == Scale::Linear || *cost > 0.0);
    data.points
        .iter()
        .enumerate()
        .filter_map(|(index, point)| {
            Some(Dot {
                index,
                label: &point.label,
                x: point.cost.filter(stands)?,
                y: point.mean.filter(|m| m.is_finite())?,
                x_ends: None,
                y_ends: point.ci_low.zip(point.ci_high),
                lines: point_texts(point, data),
            })
        })
        .collect()
}

/// The runs that are not in the plot, by reason.
fn left_out(data: &Pareto) -> Vec<OmittedNames> {
    let listed = |reason: &str, is_listed: &dyn Fn(&ParetoPoint) -> bool| {
        let names: Vec<String> = data
            .points
            .iter()
            .filter(|p| is_listed(p))
            .map(|p| match p.mean.filter(|_| p.cost.is_none()) {
                Some(mean) => {
                    format!("{} ({})", full_name(&p.label), number_with_unit(data, &decimal(mean, 1)))
                }
                None => full_name(&p.label),
            })
            .collect();
        OmittedNames::from_names(reason, names)
    };
    let parts = [
        listed("Cost unknown", &|p| p.cost.is_none()),
        listed(&format!("{} unknown", data.measure()), &|p| p.cost.is_some() && p.mean.is_none()),
        listed("No cost, not on a log axis", &|p| {
            data.scale == Scale::Log && p.mean.is_some() && p.cost.is_some_and(|c| c <= 0.0)
        }),
    ];
    parts.into_iter().flatten().collect()
}

fn point_texts(point: &ParetoPoint, data: &Pareto) -> Vec<String> {
    let cost = point.cost.map_or_else(|| "unknown".to_owned(), |c| in_unit(c, data.unit.as_deref()));
    let mean = point.mean.map_or_else(
        || "unknown".to_owned(),
        |m| {
            let value = number_with_unit(data, &decimal(m, 2));
            format!("{value} {}", interval(point.ci_low, point.ci_high, 2))
        },
    );
    let n = point.n.map(|n| format!(", n = {n}")).unwrap_or_default();
    vec![
        full_name(&point.label),
        format!("{}: {cost}", with_unit(&data.cost, data.unit.as_deref())),
        format!("{} {mean}{n}", in_mid_sentence(&data.measure())),
    ]
}

/// `4.3`, or `43.0 %` if the measure has a unit.
fn number_with_unit(data: &Pareto, number: &str) -> String {
    data.measure_unit.as_deref().map_or_else(|| number.to_owned(), |unit| format!("{number} {}", clean(unit)))
}

fn summary(data: &Pareto, dots: &[Dot<'_>]) -> String {
    let mut sentences = vec![format!(
        "{} against {} of {}.",
        data.measure(),
        in_mid_sentence(&with_unit(&data.cost, data.unit.as_deref())),
        counted(data.points.len() as u32, "run", "runs")
    )];
    for point in &data.points {
        let texts = point_texts(point, data);
        sentences.push(format!("{}: {}, {}.", texts[0], texts[1], texts[2]));
    }
    let front: Vec<String> = front(dots).into_iter().map(|i| full_name(dots[i].label)).collect();
    if !front.is_empty() {
        let better = if data.measure.is_none() { "lasts longer" } else { "better" };
        sentences.push(format!("None is cheaper and {better} than {}.", front.join(", ")));
    }
    sentences.join(" ")
}
