//! Comprehension against efficiency of LoCoBench-Agent: runs, what others published, and a session that does nothing.

use figures::{Method, Plane, PlanePoint, SeriesLabel};
use model::counted;
use store::RunEntry;

use crate::Workbench;
use crate::api::{ApiError, PublishedNumber, SessionMean, Sessions};
use crate::compare::members::withdrawn_beside_others;
use crate::episodes::run_record;

/// Means that are nearer than this are one point.
const SAME: f64 = 1e-9;
/// What the metrics of the plane are called where they are published.
const PUBLISHED: [&str; 2] = ["lcba_efficiency", "lcba_comprehension"];
/// Colors and markers from 0: those of runs by their places, these of what they are held against.
const OF_NOTHING: (u8, u8) = (1, 1);
const OF_PUBLISHED: (u8, u8) = (4, 2);
const OF_COMPAT: u8 = 7;

impl Workbench {
    /// Which sessions several runs of a plane have: each of them counts all of its own.
    ///
    /// Errors: `run.withdrawn` for a run that is withdrawn, beside others.
    pub(super) fn sessions_in_several(&self, runs: &[String]) -> Result<Vec<String>, ApiError> {
        let entry = |run: &String| -> Result<RunEntry, ApiError> { Ok(run_record(&self.store, run)?.entry) };
        let entries = runs.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
        let mut notes = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            if let Some(reason) = entry.invalid.as_ref().filter(|_| entries.len() > 1) {
                return Err(withdrawn_beside_others(&entry.slug, reason));
            }
            let is_later = |run: &str| entries.iter().skip(index + 1).any(|later| later.slug == run);
            for other in self.store.shared_episodes(entry.id)? {
                if is_later(&other.run) {
                    let verb = if other.episodes == 1 { "is" } else { "are" };
                    let sessions = counted(other.episodes.into(), "session");
                    notes.push(format!(
                        "{sessions} {verb} in both {} and {}, and counted in each",
                        entry.slug, other.run
                    ));
                }
            }
        }
        Ok(notes)
    }
}

/// The plane of runs, each of which has its sessions.
pub(super) fn figure(runs: &[Sessions]) -> (Plane, Method) {
    let mut points: Vec<PlanePoint> = Vec::new();
    for (sessions, color) in runs.iter().zip(0_u8..=u8::MAX) {
        let imported = run_point(&sessions.all.imported, &format!("{}, imported", sessions.run), (color, 0));
        let compat =
            run_point(&sessions.all.compat, &format!("{}, compat", sessions.run), (color, OF_COMPAT));
        // The same figures computed here are a second point only where they are others.
        let is_other = [(imported.x, compat.x), (imported.y, compat.y)]
            .into_iter()
            .any(|pair| matches!(pair, (Some(a), Some(b)) if (a - b).abs() > SAME));
        let has_place = |point: &PlanePoint| point.x.is_some() && point.y.is_some();
        let is_shown = has_place(&compat) && (is_other || !has_place(&imported));
        points.push(imported);
        points.extend(Some(compat).filter(|_| is_shown));
    }
    let words = (String::from("Efficiency"), String::from("Comprehension"));
    let Some(first) = runs.first() else {
        return (Plane { points, x: words.0, y: words.1, note: String::new() }, Method::default());
    };
    let (comprehension, efficiency) = first.nothing;
    points.push(PlanePoint {
        label: label("a session that does nothing", OF_NOTHING),
        x: Some(efficiency),
        x_ends: None,
        y: Some(comprehension),
        y_ends: None,
        n: None,
        x_n: None,
        source: None,
    });
    points.extend(published(&first.published));
    let note = first.nothing_says.clone();
    (Plane { points, x: words.0, y: words.1, note }, method(runs))
}

fn method(runs: &[Sessions]) -> Method {
    let means = runs.iter().flat_map(|run| run.all.imported.iter().chain(&run.all.compat));
    let has_intervals = means.into_iter().any(|mean| mean.ci_low.is_some());
    let mut cautions: Vec<String> = Vec::new();
    for run in runs {
        for caution in &run.cautions {
            // What holds for all of them stands once, without a name.
            let is_of_all = runs.iter().all(|other| other.cautions.contains(caution));
            let caution = if is_of_all { caution.clone() } else { format!("{}: {caution}", run.run) };
            if !cautions.contains(&caution) {
                cautions.push(caution);
            }
        }
    }
    let intervals = has_intervals.then(|| "Student's 95 % CI over scenarios".to_owned());
    Method { intervals, notes: cautions, ..Method::default() }
}

fn label(name: &str, (color, mark): (u8, u8)) -> SeriesLabel {
    SeriesLabel { name: name.to_owned(), color, mark, marker: None, simulated: false }
}

/// A run by one of its columns.
fn run_point(means: &[SessionMean], name: &str, style: (u8, u8)) -> PlanePoint {
    let mean_of = |name: &str| means.iter().find(|mean| mean.name == name);
    let ends = |mean: Option<&SessionMean>| mean.and_then(|mean| mean.ci_low.zip(mean.ci_high));
    let (x, y) = (mean_of("efficiency"), mean_of("comprehension"));
    PlanePoint {
        label: label(name, style),
        x: x.and_then(|mean| mean.mean),
        x_ends: ends(x),
        y: y.and_then(|mean| mean.mean),
        y_ends: ends(y),
        n: y.map(|mean| mean.n),
        // One measure may be known for fewer scenarios than the other.
        x_n: x.map(|mean| mean.n).filter(|n| y.is_none_or(|y| y.n != *n)),
        source: None,
    }
}

/// The models that are published with both figures, in the order of the publication.
fn published(numbers: &[PublishedNumber]) -> Vec<PlanePoint> {
    let mut models: Vec<&str> = Vec::new();
    for number in numbers {
        if !models.contains(&number.model.as_str()) {
            models.push(&number.model);
        }
    }
    let published_value = |model: &str, metric: &str| {
        numbers.iter().find(|number| number.model == model && number.metric == metric)
    };
    let both = models.into_iter().filter_map(|model| {
        Some((published_value(model, PUBLISHED[0])?, published_value(model, PUBLISHED[1])?))
    });
    both.zip(0_u8..=u8::MAX)
        .map(|((x, y), place)| PlanePoint {
            label: label(&y.model, (OF_PUBLISHED.0, OF_PUBLISHED.1.saturating_add(place))),
            x: Some(x.value),
            x_ends: None,
            y: Some(y.value),
            y_ends: None,
            n: None,
            x_n: None,
            source: Some(y.source.clone()),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::api::SessionGroup;

    use super::*;

    fn mean(name: &str, value: Option<f64>) -> SessionMean {
        SessionMean {
            name: name.to_owned(),
            mean: value,
            ci_low: value.map(|v| v - 0.1),
            ci_high: value.map(|v| v + 0.1),
            n: 3,
        }
    }

    fn sessions(imported: (Option<f64>, Option<f64>), compat: (Option<f64>, Option<f64>)) -> Sessions {
        let means = |(c, e)| vec![mean("comprehension", c), mean("efficiency", e)];
        let all =
            SessionGroup { imported: means(imported), compat: means(compat), ..SessionGroup::default() };
        Sessions {
            run: "r".to_owned(),
            metrics: Vec::new(),
            sessions: Vec::new(),
            differs: Vec::new(),
            all,
            categories: Vec::new(),
            difficulties: Vec::new(),
            languages: Vec::new(),
            nothing: (0.78, 0.65),
            nothing_says: crate::sessions::nothing_sentence(),
            running: Vec::new(),
            published: crate::published::numbers("locobench-agent"),
            cautions: Vec::new(),
        }
    }

    #[test]
    fn the_plane_has_the_run_the_six_published_models_and_a_session_that_does_nothing() {
        let run = sessions((Some(0.7), Some(0.6)), (Some(0.7), Some(0.6)));
        let (plane, method) = figure(&[run]);
        let names: Vec<&str> = plane.points.iter().map(|point| point.label.name.as_str()).collect();
        assert_eq!(names.len(), 8, "{names:?}");
        assert_eq!(names[..2], ["r, imported", "a session that does nothing"]);
        assert!(plane.points[2..].iter().all(|point| point.source.is_some() && point.x.is_some()));
        assert!(plane.note.contains(".780 / .650"), "{}", plane.note);
        assert_eq!((plane.points[0].y, plane.points[0].x_ends), (Some(0.7), Some((0.5, 0.7))));
        assert!(method.intervals.is_some());
        // Marks distinguish them in grayscale.
        let marks: std::collections::BTreeSet<u8> = plane.points.iter().map(|p| p.label.mark).collect();
        assert_eq!(marks.len(), 8);
    }

    #[test]
    fn what_is_said_of_one_run_among_several_has_its_name() {
        let run_sessions = |run: &str, cautions: &[&str]| Sessions {
            run: run.to_owned(),
            cautions: cautions.iter().map(|caution| (*caution).to_owned()).collect(),
            ..sessions((Some(0.7), Some(0.6)), (None, None))
        };
        let first = run_sessions("a", &["Nothing is run.", "2 of 2 sessions never started."]);
        let (_, method) = figure(&[first.clone(), run_sessions("b", &["Nothing is run."])]);
        assert_eq!(method.notes, ["Nothing is run.", "a: 2 of 2 sessions never started."]);
        let (_, alone) = figure(&[first]);
        assert_eq!(alone.notes, ["Nothing is run.", "2 of 2 sessions never started."]);
    }

    #[test]
    fn each_measure_has_the_number_of_its_own_scenarios() {
        let mut run = sessions((Some(0.7), Some(0.6)), (Some(0.7), Some(0.6)));
        run.all.imported[0].n = 7;
        run.all.imported[1].n = 6;
        let (plane, method) = figure(&[run]);
        assert_eq!((plane.points[0].n, plane.points[0].x_n), (Some(7), Some(6)));
        let drawn = figures::Figure::Plane(plane);
        let table = figures::table::data_table(&drawn);
        let cell = |name: &str| {
            let index = table.columns.iter().position(|column| column.name == name).unwrap();
            table.rows[0][index].clone()
        };
        let known = |n: u32| figures::table::known(n);
        assert_eq!((cell("x_n"), cell("n")), (known(6), known(7)));
        let layout = figures::Layout::print(234.0);
        let spec = figures::FigureSpec::new(drawn, layout, figures::Theme::Print);
        let text = figures::caption(&spec.with_method(method));
        for part in ["r, imported, comprehension: n = 7", "r, imported, efficiency: n = 6"] {
            assert!(text.contains(part), "{text}");
        }
        let (same, _) = figure(&[sessions((Some(0.7), Some(0.6)), (None, None))]);
        assert_eq!((same.points[0].n, same.points[0].x_n), (Some(3), None));
    }

    #[test]
    fn figures_that_are_others_here_are_a_point_of_their_own_and_unknown_ones_are_none() {
        let names = |imported, compat| -> Vec<String> {
            let (plane, _) = figure(&[sessions(imported, compat)]);
            let run_points = plane.points.iter().filter(|point| point.label.name.starts_with("r, "));
            run_points.map(|point| format!("{} {:?}", point.label.name, point.x)).collect()
        };
        let known = (Some(0.7), Some(0.6));
        assert_eq!(names(known, (Some(0.7), Some(0.5))), ["r, imported Some(0.6)", "r, compat Some(0.5)"]);
        assert_eq!(names((None, None), known), ["r, imported None", "r, compat Some(0.6)"]);
        assert_eq!(names(known, (None, None)), ["r, imported Some(0.6)"]);
    }
}
