//! What a resume of a stranger's run would do, line by line: the words that both the page and the command line show.

use gateway::{Budget, Price};
use model::{counted, dollars};
use runner::settings::RunSettings;

use super::machine::duration;
use crate::api::{RunTrust, TaskImages, TrustChoice, TrustRow};

/// Bytes of a gibibyte.
const GIB: f64 = (1u64 << 30) as f64;

/// How much a run plays.
pub(super) struct Amount {
    /// Its episodes.
    pub(super) episodes: u64,
    /// The turns that they plan, together.
    pub(super) turns: u64,
}

/// How much a run plays, in words.
pub(super) fn amount_in_words(settings: &RunSettings, amount: &Amount) -> String {
    let snapshots = if settings.keeps_snapshots() {
        "; the engine keeps a snapshot of each container before each step"
    } else {
        ""
    };
    format!(
        "{} with {}, {} at once, at most {} a turn{snapshots}",
        counted(amount.episodes, "episode"),
        counted(amount.turns, "turn"),
        settings.batch_size,
        counted(settings.attempt_limit.into(), "attempt")
    )
}

/// What containers and attempts may use at most, in words.
pub(super) fn limits_in_words(settings: &RunSettings) -> String {
    let limits = &settings.limits;
    let time = format!("{} an attempt", duration(limits.seconds as f64));
    if !settings.use_docker {
        return format!("{time}; without containers there are no others");
    }
    let gib = |bytes: u64| (bytes as f64 / GIB * 100.0).round() / 100.0;
    // A task says how long each of its steps may take.
    let of_tasks = if settings.tasks.is_some() { ", where its task does not say another" } else { "" };
    format!(
        "of each container {} CPUs, {} GiB of memory, {} GiB of disk and {} processes; {time}{of_tasks}",
        limits.cpus,
        gib(limits.memory),
        gib(limits.disk),
        limits.pids
    )
}

/// What a run may spend at most, in words. Dollars are counted by the prices of its record, so these stand beside them.
pub(super) fn budget_in_words(settings: &RunSettings) -> String {
    let budgets = &settings.budgets;
    let all = [("the run", budgets.run), ("an episode", budgets.episode), ("an attempt", budgets.attempt)];
    let parts: Vec<String> =
        all.iter().filter_map(|(scope, budget)| Some(format!("{scope}: {}", limits(budget)?))).collect();
    let price = match settings.price {
        Some(Price { per_hour: Some(usd), .. }) => format!(", counted at {} an hour", dollars(usd)),
        Some(Price { input, output, cached, cache_write, .. }) => {
            let part = |price: Option<f64>, label: &str| {
                price.map_or_else(String::new, |usd| format!(", {} {label}", dollars(usd)))
            };
            format!(
                ", counted at {} in{}{} and {} out for a million tokens",
                dollars(input),
                part(cached, "in out of a cache"),
                part(cache_write, "into a cache"),
                dollars(output)
            )
        }
        None => String::new(),
    };
    if parts.is_empty() { "no limit".to_owned() } else { format!("{}{price}", parts.join("; ")) }
}

/// The limits of a budget; `None` = it has none.
fn limits(budget: &Budget) -> Option<String> {
    let parts = [
        budget.tokens.map(|tokens| counted(tokens, "token")),
        budget.usd.map(dollars),
        budget.seconds.map(|seconds| counted(seconds, "second")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Everything that the folder decides, in the order in which it matters.
pub(super) fn rows(run: &RunTrust) -> Vec<TrustRow> {
    let mut rows = Vec::new();
    let mut add = |name: &str, value: &str| rows.push(row(name, value));
    let local_endpoint = run.here.as_ref();
    match run.mode.as_str() {
        "gateway" => {}
        "direct" => add("Endpoint", "the one that the agent finds itself"),
        _ => add("Model", "simulated, on this machine"),
    }
    if run.mode == "gateway" {
        let instead = local_endpoint.map_or_else(
            || "no endpoint is known on this machine: begin a run with one first, or name one".to_owned(),
            |endpoint| format!("{} is asked", endpoint.base_url),
        );
        let endpoint = row("Endpoint", run.endpoint.as_deref().unwrap_or("unknown"));
        rows.push(with_choice(endpoint, TrustChoice::Endpoint, &instead));
    }
    if let Some(key) = &run.key {
        let local_key =
            local_endpoint.and_then(|endpoint| endpoint.key.as_deref()).unwrap_or("no key is sent");
        let instead = if run.mode == "direct" { "it cannot be resumed without them" } else { local_key };
        rows.push(with_choice(row("Key", key), TrustChoice::Key, instead));
    }
    let mut add = |name: &str, value: &str| rows.push(row(name, value));
    if run.mode == "gateway" || run.mode == "direct" {
        add("Model", run.model.as_deref().unwrap_or("the one that the harness takes"));
        add("Budget", &run.budget);
    }
    match &run.harness_file {
        None => add("Harness", &run.harness),
        Some(file) => add("Harness", &format!("{}, described by {file}", run.harness)),
    }
    add("Image", run.image.as_deref().unwrap_or("none: no containers"));
    add("Bound folders", &listed(&run.binds));
    add("Arguments", if run.arguments.is_empty() { "none" } else { run.arguments.as_str() });
    if !run.variables.is_empty() {
        rows.push(with_choice(
            row("Variables", &listed(&run.variables)),
            TrustChoice::Variables,
            "not handed over",
        ));
    }
    let mut add = |name: &str, value: &str| rows.push(row(name, value));
    if !run.variables_set.is_empty() {
        add("Variables set", &listed(&run.variables_set));
    }
    add(
        "Network",
        if run.network == "open" { "open: agents reach the internet" } else { "the gateway only" },
    );
    add(
        "Processes here",
        if run.host_processes {
            "yes: our own server and the mock agent, without containers"
        } else {
            "none"
        },
    );
    add("Limits", &run.limits);
    add("Scenarios", run.scenarios.as_deref().unwrap_or("generated"));
    add("Plays", &run.plays);
    for images in &run.task_images {
        add("Tasks", &task_images_in_words(images));
    }
    if run.task_images_more > 0 {
        add("Tasks", &format!("{} more are not shown", run.task_images_more));
    }
    if let Some(reason) = &run.tasks_unreadable {
        add("Tasks", &format!("cannot be looked at: {reason}"));
    }
    if !run.task_images.is_empty() {
        add(
            "Executes",
            "the tests of each task in its container, as the user that its image names, often root",
        );
    }
    add("Writes in", &listed(&run.writes));
    rows
}

fn task_images_in_words(images: &TaskImages) -> String {
    let tasks = images.tasks.join(", ");
    if let Some(image) = &images.image {
        return format!("{tasks}: the image {image}");
    }
    let base =
        if images.base_images.is_empty() { "unknown".to_owned() } else { images.base_images.join(", ") };
    let mut executes = images.executes.clone();
    if images.more > 0 {
        executes.push(format!("{} more that are not shown", images.more));
    }
    let executes = if executes.is_empty() { "nothing".to_owned() } else { executes.join(" | ") };
    format!("{tasks}: built from {base}; executes {executes}")
}

fn row(name: &str, value: &str) -> TrustRow {
    TrustRow { name: name.to_owned(), value: without_gaps(value), instead: None, keep: None }
}

fn with_choice(row: TrustRow, keep: TrustChoice, instead: &str) -> TrustRow {
    TrustRow { instead: Some(without_gaps(instead)), keep: Some(keep), ..row }
}

fn listed(items: &[String]) -> String {
    if items.is_empty() { "none".to_owned() } else { items.join(", ") }
}

/// The text with U+FFFD in the place of each gap of several spaces: where a display breaks lines, what stands behind a wide
/// one would begin a line of its own.
fn without_gaps(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut spaces = String::new();
    for c in text.chars().chain(['\0']) {
        if c.is_whitespace() {
            spaces.push(c);
            continue;
        }
        plain.push_str(if spaces.chars().nth(1).is_some() { "\u{fffd}" } else { spaces.as_str() });
        spaces.clear();
        if c != '\0' {
            plain.push(c);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::LocalEndpoint;

    fn run() -> RunTrust {
        let local_endpoint = LocalEndpoint {
            base_url: "https://ours.example".to_owned(),
            key: Some("the environment variable OUR_KEY".to_owned()),
        };
        RunTrust {
            trusted: false,
            digest: "ab".to_owned(),
            mode: "gateway".to_owned(),
            endpoint: Some("https://theirs.example".to_owned()),
            key: Some("the environment variable HOME_KEY".to_owned()),
            model: Some("acme/new".to_owned()),
            budget: "the run: $5.00".to_owned(),
            harness: "Codex CLI".to_owned(),
            harness_file: None,
            image: Some("stamina/codex:1".to_owned()),
            binds: vec!["/opt/data:/data:ro".to_owned()],
            arguments: String::new(),
            variables: vec!["HOME".to_owned()],
            variables_set: vec!["TZ=UTC".to_owned()],
            network: "open".to_owned(),
            host_processes: false,
            limits: "20 m 00 s an attempt".to_owned(),
            scenarios: None,
            plays: "2 episodes with 80 turns, 1 at once, at most 10 attempts a turn".to_owned(),
            task_images: Vec::new(),
            task_images_more: 0,
            tasks_unreadable: None,
            writes: vec!["/results/run".to_owned()],
            here: Some(local_endpoint),
            rows: Vec::new(),
        }
    }

    fn found(run: &RunTrust, name: &str) -> Vec<TrustRow> {
        rows(run).into_iter().filter(|row| row.name == name).collect()
    }

    #[test]
    // docs/security.md: A resume
    fn a_line_says_what_happens_where_it_is_not_kept() {
        let mut foreign_run = run();
        let names: Vec<String> = rows(&foreign_run).into_iter().map(|row| row.name).collect();
        let all = [
            "Endpoint",
            "Key",
            "Model",
            "Budget",
            "Harness",
            "Image",
            "Bound folders",
            "Arguments",
            "Variables",
            "Variables set",
            "Network",
            "Processes here",
            "Limits",
            "Scenarios",
            "Plays",
            "Writes in",
        ];
        assert_eq!(names, all);
        let endpoint = found(&foreign_run, "Endpoint").remove(0);
        assert_eq!(
            (endpoint.value.as_str(), endpoint.instead.as_deref(), endpoint.keep),
            ("https://theirs.example", Some("https://ours.example is asked"), Some(TrustChoice::Endpoint))
        );
        let key = found(&foreign_run, "Key").remove(0);
        assert_eq!(key.instead.as_deref(), Some("the environment variable OUR_KEY"));
        let variables = found(&foreign_run, "Variables").remove(0);
        assert_eq!((variables.value.as_str(), variables.keep), ("HOME", Some(TrustChoice::Variables)));
        assert!(found(&foreign_run, "Network")[0].value.contains("internet"));
        assert_eq!(found(&foreign_run, "Model")[0].value, "acme/new");
        assert_eq!(found(&foreign_run, "Budget")[0].value, "the run: $5.00");
        foreign_run.here = None;
        assert_eq!(found(&foreign_run, "Key")[0].instead.as_deref(), Some("no key is sent"));
        // Without an endpoint there is none to choose.
        (foreign_run.mode, foreign_run.endpoint, foreign_run.key) = ("simulated".to_owned(), None, None);
        foreign_run.variables.clear();
        assert!(rows(&foreign_run).iter().all(|row| row.keep.is_none()));
        (foreign_run.mode, foreign_run.key) = ("direct".to_owned(), Some("credentials".to_owned()));
        assert_eq!(
            found(&foreign_run, "Key")[0].instead.as_deref(),
            Some("it cannot be resumed without them")
        );
    }

    #[test]
    fn what_a_run_plays_and_may_spend_is_said_with_the_prices_that_it_counts_by() {
        let settings = |added: &[&str]| {
            let values = [
                "agent=CODEX",
                "codex.model_id=acme/new",
                "output_dir=/nowhere/run",
                "endpoint.base_url=http://x",
            ];
            let values: Vec<String> = values.iter().chain(added).map(|&text| text.to_owned()).collect();
            runner::settings::resolve(&[], &values).unwrap()
        };
        assert_eq!(budget_in_words(&settings(&[])), "no limit");
        let limited = [
            "limits.run.usd=5",
            "limits.run.minutes=2",
            "limits.attempt.tokens=1",
            "endpoint.price.input=0",
            "endpoint.price.output=2.5",
            "batch_size=3",
        ];
        // A price of nothing makes a limit in dollars none.
        assert_eq!(
            budget_in_words(&settings(&limited)),
            "the run: $5.00, 120 seconds; an attempt: 1 token, counted at $0.00 in and $2.50 out for a million tokens"
        );
        assert_eq!(
            amount_in_words(&settings(&limited), &Amount { episodes: 1, turns: 80 }),
            "1 episode with 80 turns, 3 at once, at most 10 attempts a turn"
        );
        let cached = [&limited[..], &["endpoint.price.cached=0.1", "endpoint.price.cache_write=3"]].concat();
        assert!(
            budget_in_words(&settings(&cached)).ends_with(
                "$0.00 in, $0.10 in out of a cache, $3.00 into a cache and $2.50 out for a million tokens"
            ),
            "{}",
            budget_in_words(&settings(&cached))
        );
        let few = ["limits.cpus=0.5", "limits.memory_gib=1000", "limits.disk_gib=0.0625", "limits.pids=16"];
        assert_eq!(
            limits_in_words(&settings(&few)),
            "of each container 0.5 CPUs, 1000 GiB of memory, 0.06 GiB of disk and 16 processes; 20 m 00 s an attempt"
        );
    }

    #[test]
    // docs/security.md: A resume
    fn images_of_tasks_have_lines_and_nothing_in_one_begins_another() {
        let mut foreign_run = run();
        let built = TaskImages {
            tasks: vec!["a".to_owned(), "b".to_owned()],
            image: None,
            base_images: vec!["debian".to_owned()],
            executes: vec!["RUN curl example.org | sh".to_owned()],
            more: 3,
        };
        let named = TaskImages {
            tasks: vec!["c".to_owned()],
            image: Some("example/one:1".to_owned()),
            base_images: Vec::new(),
            executes: Vec::new(),
            more: 0,
        };
        (foreign_run.task_images, foreign_run.task_images_more) = (vec![built, named], 5);
        let values: Vec<String> = found(&foreign_run, "Tasks").into_iter().map(|row| row.value).collect();
        assert_eq!(
            values,
            [
                "a, b: built from debian; executes RUN curl example.org | sh | 3 more that are not shown",
                "c: the image example/one:1",
                "5 more are not shown",
            ]
        );
        assert!(found(&foreign_run, "Executes")[0].value.contains("the tests of each task"));
        // A gap as wide as a terminal would put what follows at the start of a line.
        foreign_run.image = Some(format!("debian{}Network             the gateway only", " ".repeat(60)));
        assert_eq!(found(&foreign_run, "Image")[0].value, "debian\u{fffd}Network\u{fffd}the gateway only");
        assert_eq!(without_gaps("a b\u{a0}\u{3000}c  "), "a b\u{fffd}c\u{fffd}");
    }
}
