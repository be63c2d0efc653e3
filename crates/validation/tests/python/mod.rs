//! The same suite by two clients against two servers: native and pytest, the reference and generated Flask.
//!
//! Used by the test `python`, and by the examples `parity` and `suite_speed`.
#![allow(dead_code, reason = "each of those uses a part of it")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use scenario::Seed;
use scenario::change::Change;
use scenario::code::{flask, pytest, test_name};
use scenario::ir::{Field, Schema};
use scenario::reference::{Flaw, World, serve};
use scenario::sample::{ProgrammaticSampler, Sampler};
use scenario::suite::{Case, Suite, suite};
use tokio::sync::oneshot;
use validation::client::{self, CaseStatus, Options};
use validation::mutants::{Mutant, Operator, sites};

pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// How a Python with Flask, pytest and requests is got.
pub(crate) const HOW_TO_GET_PYTHON: &str = "run `node scripts/python-tools.mjs`, or set STAMINA_PYTHON to a Python that has flask, pytest and requests";

/// The Python that runs what is generated, if there is one.
pub(crate) fn find_python() -> Option<PathBuf> {
    if let Some(python) = std::env::var_os("STAMINA_PYTHON") {
        return Some(python.into());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    [".cache/python/bin/python", ".cache/python/Scripts/python.exe"]
        .into_iter()
        .map(|path| root.join(path))
        .find(|python| python.exists())
}

/// Python, and a folder for the files that it runs.
pub(crate) struct Python {
    python: PathBuf,
    folder: tempfile::TempDir,
}

impl Python {
    pub(crate) fn new(python: PathBuf) -> Result<Self, Failure> {
        Ok(Self { python, folder: tempfile::tempdir()? })
    }

    /// Starts the Flask server of a schema on a port that the system chooses, and that the server tells.
    pub(crate) fn serve(&self, schema: &Schema) -> Result<Flask, Failure> {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let file = self.folder.path().join(format!("server_{number}.py"));
        let log = self.folder.path().join(format!("server_{number}.log"));
        fs::write(&file, flask(schema))?;
        let child = Command::new(&self.python)
            .arg(&file)
            .env("PORT", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(&log)?)
            .spawn()?;
        let mut server = Flask { child, address: SocketAddr::from(([127, 0, 0, 1], 0)), log };
        let begun = Instant::now();
        loop {
            if let Some(port) = listening_on(&fs::read_to_string(&server.log)?) {
                server.address.set_port(port);
                return Ok(server);
            }
            if server.child.try_wait()?.is_some() || begun.elapsed() > Duration::from_mins(2) {
                return Err(format!("the Flask server did not start:\n{}", server.output()).into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Runs the pytest suite; the verdict by name of test, and pytest's own output.
    pub(crate) fn pytest(
        &self,
        suite: &Suite,
        url: &str,
    ) -> Result<(HashMap<String, bool>, String), Failure> {
        let folder = tempfile::tempdir_in(self.folder.path())?;
        fs::write(folder.path().join("test_turn.py"), pytest(suite))?;
        self.pytest_in(folder.path(), "test_turn.py", url)
    }

    /// Runs the tests of a file, in its folder; the verdict by name of test, and pytest's own output.
    pub(crate) fn pytest_in(
        &self,
        folder: &Path,
        file: &str,
        url: &str,
    ) -> Result<(HashMap<String, bool>, String), Failure> {
        let report = folder.join("report.xml");
        let output = Command::new(&self.python)
            .args(["-m", "pytest", "-q", "--tb=line", "-p", "no:cacheprovider", "--junit-xml"])
            .arg(&report)
            .arg(file)
            .current_dir(folder)
            .env("BASE_URL", url)
            .stdin(Stdio::null())
            .output()?;
        let output =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        let Ok(report) = fs::read_to_string(&report) else { return Err(output.into()) };
        Ok((read_report(&report), output))
    }
}

/// The port of a line like ` * Running on http://127.0.0.1:40001`, once it is written to its end.
fn listening_on(log: &str) -> Option<u16> {
    let rest = log.split_once("Running on http://127.0.0.1:")?.1;
    rest.split_once('\n')?.0.trim().parse().ok()
}

/// Verdicts by name of test, from the report of pytest. Text in it is escaped, so that tags are tags.
fn read_report(report: &str) -> HashMap<String, bool> {
    let mut verdicts = HashMap::new();
    for test in report.split("<testcase ").skip(1) {
        let Some(name) = test.split(" name=\"").nth(1).and_then(|rest| rest.split('"').next()) else {
            continue;
        };
        let case = test.split("</testcase>").next().unwrap_or(test);
        verdicts.insert(name.to_owned(), !case.contains("<failure") && !case.contains("<error"));
    }
    verdicts
}

/// A Flask server that is running; it ends with this.
pub(crate) struct Flask {
    child: Child,
    address: SocketAddr,
    log: PathBuf,
}

impl Flask {
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The end of what it wrote about errors.
    pub(crate) fn output(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> =
            log.lines().filter(|line| !line.contains("\" 2") && !line.contains("\" 4")).collect();
        lines[lines.len().saturating_sub(40)..].join("\n")
    }
}

impl Drop for Flask {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A reference server that is running, on a thread of its own; it ends with this.
pub(crate) struct Reference {
    pub(crate) url: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

impl Drop for Reference {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The reference server of a schema, on a free port.
pub(crate) fn reference(schema: &Schema, flaws: BTreeSet<Flaw>) -> Result<Reference, Failure> {
    let world = World::flawed(Arc::new(schema.clone()), flaws);
    let (stop, stopped) = oneshot::channel::<()>();
    let (say, output) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let serving = serve(world, SocketAddr::from(([127, 0, 0, 1], 0))).await?;
            let _ = say.send(serving.url());
            let _ = stopped.await;
            Ok(())
        })
    });
    match output.recv() {
        Ok(url) => Ok(Reference { url, stop: Some(stop), thread: Some(thread) }),
        Err(_) => match thread.join() {
            Ok(Err(error)) => Err(error.into()),
            _ => Err("the reference server did not start".into()),
        },
    }
}

/// Runs the suite natively: whether each case passed, in order.
pub(crate) fn native(suite: &Suite, url: &str) -> Result<Vec<(bool, String)>, Failure> {
    let mut verdicts = Vec::with_capacity(suite.cases.len());
    client::run_http(url, suite, &Options::default(), &mut |_, result| {
        verdicts.push((result.status == CaseStatus::Passed, result.message.clone().unwrap_or_default()));
        ControlFlow::Continue(())
    })?;
    Ok(verdicts)
}

/// A turn of a scenario.
pub(crate) struct Turn {
    pub(crate) seed: Seed,
    /// The turn before, with the changes that led here.
    pub(crate) before: Option<(Schema, Vec<Change>)>,
    pub(crate) schema: Arc<Schema>,
    pub(crate) suite: Suite,
}

/// Some turns (from 1, in rising order) of a scenario of the programmatic sampler.
pub(crate) fn sampled(seed: Seed, turns: &[u32]) -> Result<Vec<Turn>, Failure> {
    let mut schema = ProgrammaticSampler.first_schema(seed)?.value;
    let mut before = None;
    let mut taken = Vec::new();
    for turn in 1..=turns.last().copied().unwrap_or(0) {
        if turn > 1 {
            let changes = ProgrammaticSampler.next_turn(seed, &schema, CHANGES_PER_TURN)?.value;
            before = Some((std::mem::replace(&mut schema, changes.after), changes.changes));
        }
        if turns.contains(&turn) {
            let suite = suite(seed, &schema, None);
            taken.push(Turn { seed, before: before.clone(), schema: Arc::new(schema.clone()), suite });
        }
    }
    Ok(taken)
}

/// Whether everything is tested, and not only what `npm test` has time for.
pub(crate) fn is_every_way() -> bool {
    std::env::var_os("STAMINA_EVERY_WAY").is_some()
}

/// A suite with one case of each kind: of cases that differ in nothing but their entity or field the first stays, where both follow
/// the same rules.
pub(crate) fn one_case_per_kind(schema: &Schema, mut suite: Suite) -> Suite {
    let mut met = BTreeSet::new();
    suite.cases.retain(|case| met.insert(kind(schema, case)));
    suite
}

/// The id of a case, with rules in the place of its entity and its fields.
fn kind(schema: &Schema, case: &Case) -> String {
    let mut parts = case.id.split('.');
    let first = parts.next().unwrap_or_default();
    let Some(entity) = schema.entities.iter().find(|entity| entity.key == first) else {
        return case.id.clone();
    };
    let mut kind = format!("{:?} {} {}", case.aspect, entity.soft_delete, entity.default_sort.is_some());
    for part in parts {
        kind.push('.');
        kind.push_str(&entity.field(part).map_or_else(|| part.to_owned(), rules));
    }
    kind
}

/// The rules of a field, without its names and bounds.
fn rules(field: &Field) -> String {
    let kind = format!("{:?}", field.kind);
    let word = kind.split(' ').next().unwrap_or_default();
    let on_delete = kind.split_once("on_delete: ").map_or("", |(_, rule)| rule);
    let flags = [
        kind.contains("pattern: Some"),
        field.required,
        field.nullable,
        field.default.is_some(),
        field.unique,
        field.immutable,
        field.computed.is_some(),
    ];
    format!("{word} {on_delete} {flags:?}")
}

/// As in the default configuration.
const CHANGES_PER_TURN: u32 = 5;

/// Some mutants of a turn, of the operators that were used least so far. Of an operator that has both, mutants that change
/// the schema and flaws of the reference come in turn.
pub(crate) fn mutants(turn: &Turn, count: usize, used: &mut BTreeMap<&'static str, usize>) -> Vec<Mutant> {
    let mut draw = turn.seed.draw(turn.schema.turn, "parity");
    let before = turn.before.as_ref().map(|(schema, changes)| (schema, changes.as_slice()));
    let mut sites = sites(before, &turn.schema);
    draw.shuffle(&mut sites);
    let mut all_changes = Vec::new();
    let mut operators: Vec<&'static str> = Operator::ALL.iter().map(|operator| operator.name()).collect();
    operators.sort_by_key(|name| used.get(name).copied().unwrap_or(0));
    for name in operators {
        if all_changes.len() == count {
            break;
        }
        let times = used.entry(name).or_default();
        let in_schema = times.is_multiple_of(2);
        let operator_mutants = || {
            let operator_sites = sites.iter().filter(move |site| site.operator.name() == name);
            operator_sites.filter_map(move |site| site.make(&turn.schema))
        };
        let wanted = operator_mutants().find(|mutant| mutant.flaws.is_empty() == in_schema);
        if let Some(mutant) = wanted.or_else(|| operator_mutants().next()) {
            *times += 1;
            all_changes.push(mutant);
        }
    }
    all_changes
}

/// What the two clients reported of the two servers.
#[derive(Debug)]
pub(crate) struct Agreement {
    pub(crate) cases: usize,
    /// Cases that failed everywhere.
    pub(crate) failed: Vec<String>,
    /// Cases whose verdicts differ, with all of them.
    pub(crate) differ: Vec<String>,
    /// What the Flask server wrote about its own faults.
    pub(crate) output: String,
}

/// Runs a suite by both clients against both servers of a schema. Flaws are faults that no schema can express: with
/// them there is only the reference.
pub(crate) fn compare(
    python: &Python,
    schema: &Schema,
    flaws: &BTreeSet<Flaw>,
    suite: &Suite,
) -> Result<Agreement, Failure> {
    let server = if flaws.is_empty() { Some(python.serve(schema)?) } else { None };
    // Each client has a reference of its own: a flawed one may keep something over a reset.
    let references = [reference(schema, flaws.clone())?, reference(schema, flaws.clone())?];
    let flask = server.as_ref().map(Flask::url);
    let urls = |reference: &Reference| [Some(reference.url.clone()), flask.clone()].into_iter().flatten();
    let mut by_native = Vec::new();
    for url in urls(&references[0]) {
        by_native.push(native(suite, &url)?);
    }
    // All runs of pytest at the same time: they wait for their servers most of the time.
    let by_pytest = std::thread::scope(|scope| {
        let runs: Vec<_> =
            urls(&references[1]).map(|url| scope.spawn(move || python.pytest(suite, &url))).collect();
        runs.into_iter()
            .map(|run| run.join().unwrap_or_else(|_| Err("the run of pytest broke".into())))
            .collect::<Result<Vec<_>, Failure>>()
    })?;
    let output = server.as_ref().map(Flask::output).unwrap_or_default();
    let mut agreement =
        Agreement { cases: suite.cases.len(), failed: Vec::new(), differ: Vec::new(), output };
    for (index, case) in suite.cases.iter().enumerate() {
        let name = test_name(&case.id);
        // A test that is not in pytest's report is neither passed nor failed.
        let native = by_native.iter().map(|verdicts| verdicts.get(index).map(|(passed, _)| *passed));
        let pytest = by_pytest.iter().map(|(verdicts, _)| verdicts.get(&name).copied());
        let verdicts: Vec<Option<bool>> = native.chain(pytest).collect();
        if verdicts.iter().all(|verdict| *verdict == Some(true)) {
            continue;
        }
        let reasons: Vec<&str> =
            by_native.iter().filter_map(|verdicts| Some(verdicts.get(index)?.1.as_str())).collect();
        let text = format!("{}: {verdicts:?}, first native, then pytest; natively {reasons:?}", case.id);
        if verdicts.iter().all(|verdict| *verdict == Some(false)) {
            agreement.failed.push(text);
        } else {
            agreement.differ.push(text);
        }
    }
    Ok(agreement)
}
