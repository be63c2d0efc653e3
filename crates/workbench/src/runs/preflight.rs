//! Whether a run can begin: the engine, the image, the pack, the endpoint, the folder, the disk.
//!
//! Each check finds out one thing and says it in a few words; where it is not well, a sentence says what that means and
//! what to do. What cannot be found out is unknown, and keeps nobody from beginning.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use runner::settings::{EndpointSettings, RunSettings};
use sandbox::{Engine, Reach, SandboxError};
use scenario::pack::Pack;

use super::abilities::Kept;
use super::endpoint::EndpointCall;
use super::machine::{self, bytes};
use super::play::{runtime, sandbox_error};
use super::{binds, endpoint, engine, estimate, planned};
use crate::Workbench;
use crate::api::{
    ApiError, Check, CheckState, FieldError, Fix, FixAction, FormSettings, Preflight, PreflightRequest,
    RunEstimate,
};

/// With less free disk than this nothing begins.
pub(super) const LEAST_DISK: u64 = 1 << 30;
/// Copies of the volumes of an episode: live, before, served.
const COPIES: u64 = 3;
/// Most ports that are named.
const PORTS: usize = 8;

/// What is proposed where all snapshots of the code do not fit.
const FEW_SNAPSHOTS: u32 = 3;

impl Check {
    pub(super) fn new(id: &str, title: &str, state: CheckState, value: impl Into<String>) -> Self {
        Self {
            id: id.to_owned(),
            title: title.to_owned(),
            state,
            value: value.into(),
            sentence: None,
            fix: None,
        }
    }

    pub(super) fn says(mut self, sentence: impl Into<String>) -> Self {
        self.sentence = Some(sentence.into());
        self
    }

    fn fixed_by(mut self, label: impl Into<String>, action: FixAction) -> Self {
        self.fix = Some(Fix { label: label.into(), action });
        self
    }
}

impl Workbench {
    /// Whether a run can begin, and what it will take.
    pub fn preflight_run(&self, request: PreflightRequest) -> Result<Preflight, ApiError> {
        match super::form::settings_of(&request.settings) {
            Ok(settings) => {
                let call = match (request.call, request.anew) {
                    (false, _) => EndpointCall::Nothing,
                    (true, false) => EndpointCall::Missing,
                    (true, true) => EndpointCall::Anew,
                };
                self.run_preflight(&settings, call)
            }
            Err(errors) => {
                let mut preflight = wrong(&errors);
                preflight.estimate = self.estimate_despite(&request.settings, &errors);
                Ok(preflight)
            }
        }
    }

    /// What a run will take by the fields that are right, where these are the ones that it depends on.
    fn estimate_despite(&self, form: &FormSettings, errors: &[FieldError]) -> Option<RunEstimate> {
        let form = super::form::without_errors(form, errors)?;
        let settings = super::form::settings_of(&form).ok()?;
        let (check, pack) = planned::pack(&settings, &self.runs.packs, false);
        let plan = plan(&settings, &check, pack.as_ref()).filter(|plan| plan.turns > 0)?;
        let mut estimate = self.estimate(&settings, &plan, &[]).ok()?;
        estimate.basis.push_str(". Fields to fix count as their defaults");
        Some(estimate)
    }

    /// The same of settings that did not come from the form.
    pub fn run_preflight(&self, settings: &RunSettings, call: EndpointCall) -> Result<Preflight, ApiError> {
        let begun = Instant::now();
        let mut checks = Vec::new();
        // Who lets the endpoint be asked is about to begin.
        let is_beginning = call != EndpointCall::Nothing;
        let (pack_check, pack) = planned::pack(settings, &self.runs.packs, is_beginning);
        let runtime = runtime()?;
        let of_engine = runtime.block_on(containers(settings));
        checks.push(of_engine.check);
        checks.extend(of_engine.images);
        checks.extend(planned::harness(settings));
        let plan = plan(settings, &pack_check, pack.as_ref());
        checks.push(pack_check);
        let mut abilities = None;
        // Players of tasks ask no model.
        if settings.asks_model() {
            let (found, told) = runtime.block_on(endpoint::checks(settings, call, Kept::new(&self.store)));
            checks.extend(found);
            abilities = told;
        }
        let estimated = |plan| self.estimate(settings, plan, &of_engine.task_images);
        let mut estimate = plan.as_ref().map(estimated).transpose()?;
        checks.push(folder(&settings.output_dir));
        checks.push(disk(settings, estimate.as_ref()));
        checks.extend(engine_disk(settings, estimate.as_ref(), of_engine.root.as_deref()));
        checks.extend(machine_holds(settings));
        checks.extend(network(settings, of_engine.is_guarded));
        checks.extend(arguments(settings));
        checks.extend(binds::check(settings));
        checks.extend(of_engine.leftovers);
        if let Some(nothing) = estimate.as_mut().filter(|estimate| estimate.turns == 0) {
            "Nothing is to be played".clone_into(&mut nothing.basis);
        }
        Ok(Preflight {
            can_start: checks.iter().all(|check| check.state != CheckState::Fail),
            checks,
            endpoint: abilities,
            estimate,
            at: super::now::rfc3339(SystemTime::now()),
            seconds: begun.elapsed().as_secs_f64(),
        })
    }
}

/// What is to be played; `None` = a pack or tasks should say it, and cannot be read or are damaged. The bounds of the settings say
/// nothing then: they are as far as anything goes.
fn plan(settings: &RunSettings, check: &Check, pack: Option<&Pack>) -> Option<estimate::Plan> {
    let failed = check.state == CheckState::Fail;
    let unknown =
        settings.tasks.is_some() && failed || settings.scenarios_dir.is_some() && (pack.is_none() || failed);
    (!unknown).then(|| estimate::plan(settings, pack))
}

fn wrong(errors: &[FieldError]) -> Preflight {
    let reasons: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
    let check = Check::new(
        "settings",
        "Settings",
        CheckState::Fail,
        match errors.len() {
            1 => "1 field to fix".to_owned(),
            n => format!("{n} fields to fix"),
        },
    )
    .says(reasons.join(". "));
    Preflight {
        checks: vec![check],
        endpoint: None,
        estimate: None,
        can_start: false,
        at: super::now::rfc3339(SystemTime::now()),
        seconds: 0.0,
    }
}

/// What the container engine says.
struct OfEngine {
    check: Check,
    images: Vec<Check>,
    /// What dead runs left in it.
    leftovers: Option<Check>,
    /// Whether containers of servers are kept from services of this machine.
    is_guarded: bool,
    /// Bytes of images that were built for other tasks, where tasks are to be played.
    task_images: Vec<u64>,
    /// Where it keeps images and containers; `None` = it does not say.
    root: Option<PathBuf>,
}

impl OfEngine {
    fn new(check: Check, images: Vec<Check>) -> Self {
        Self { check, images, leftovers: None, is_guarded: false, task_images: Vec::new(), root: None }
    }
}

async fn containers(settings: &RunSettings) -> OfEngine {
    const TITLE: &str = "Engine";
    if !settings.use_docker {
        let check = Check::new("engine", TITLE, CheckState::Ok, "not needed: plain processes");
        return OfEngine::new(check, Vec::new());
    }
    let engine = match Engine::connect().await {
        Ok(engine) => engine,
        Err(error) => {
            let reported = sandbox_error(&error);
            let sentence = format!("{}. {}", reported.message, reported.hint.unwrap_or_default());
            let check = Check::new("engine", TITLE, CheckState::Fail, "none answers").says(sentence);
            let image = Check::new("image", "Image", CheckState::Unknown, "no engine to ask");
            return OfEngine::new(check, vec![image]);
        }
    };
    let check = engine::check(engine.info(), settings);
    let is_guarded = engine.is_guarded().await;
    // Images of tasks are built when they are played, or named; a harness comes out of its own.
    let mut images = Vec::new();
    if settings.asks_model() {
        images.push(image(settings, &engine).await);
    }
    images.extend(task_images(settings, &engine).await);
    let task_images = match &settings.tasks {
        // What it does not say is unknown.
        Some(_) => engine.task_image_sizes(settings.asks_model()).await.unwrap_or_default(),
        None => Vec::new(),
    };
    OfEngine {
        check,
        images,
        leftovers: leftovers(&engine).await,
        is_guarded,
        task_images,
        root: engine.info().root.clone(),
    }
}

/// Whether the images that tasks name are there and can be played with; nothing where they are, or nobody can say.
async fn task_images(settings: &RunSettings, engine: &Engine) -> Option<Check> {
    let tasks = planned::named_images(settings);
    let named = tasks.iter().filter_map(|(_, image)| Some((image.as_deref()?, None)));
    let mut named: BTreeMap<&str, Option<String>> = named.collect();
    for (image, why) in &mut named {
        *why = match engine.fits_tasks(image, settings.asks_model()).await {
            Ok(()) => None,
            Err(error @ SandboxError::NoImage { .. }) => Some(format!("{error}: docker pull {image}")),
            Err(error @ SandboxError::Image { .. }) => Some(error.to_string()),
            Err(_) => return None,
        };
    }
    let why_not = |image: &Option<String>| named.get(image.as_deref()?)?.clone();
    let unfit_text = |(task, image): &(String, Option<String>)| Some(format!("{task}: {}", why_not(image)?));
    let unfit: Vec<String> = tasks.iter().filter_map(unfit_text).collect();
    planned::images(&unfit, tasks.len())
}

async fn image(settings: &RunSettings, engine: &Engine) -> Check {
    let check = image_of_harness(settings, engine).await;
    // Of what is to be mended the harness's own image comes first: it brings the base along.
    if check.state == CheckState::Fail { check } else { relay_image(settings, engine).await.unwrap_or(check) }
}

/// Containers of an image of somebody's own reach the gateway through a container of Stamina Lab, whose image has to be there as well.
async fn relay_image(settings: &RunSettings, engine: &Engine) -> Option<Check> {
    let name = sandbox::images::BASE.image;
    if settings.reach == Reach::Open || engine.images(&[name]).await.ok()?.first()?.there {
        return None;
    }
    let check = Check::new("image", "Image", CheckState::Fail, "base image not there").says(format!(
        "There is no image {name}, by which containers reach the gateway. Build it with: stamina images build {}",
        sandbox::images::BASE.name
    ));
    Some(check.fixed_by("Build image", FixAction::BuildImage { name: name.to_owned() }))
}

async fn image_of_harness(settings: &RunSettings, engine: &Engine) -> Check {
    const TITLE: &str = "Image";
    let name = match image_of(settings) {
        Ok(name) => name,
        Err(why) => return Check::new("image", TITLE, CheckState::Fail, "no harness").says(why),
    };
    match engine.images(&[&name]).await {
        Ok(found) => match found.first() {
            Some(image) if image.current == Some(false) => {
                Check::new("image", TITLE, CheckState::Warn, name.clone())
                    .says("It was built from an older recipe of Stamina Lab.")
                    .fixed_by("Build image", FixAction::BuildImage { name })
            }
            Some(image) if image.id.is_some() => {
                let id = image.id.clone().unwrap_or_default();
                let check =
                    |state| Check::new("image", TITLE, state, id.chars().take(19).collect::<String>());
                match runs_its_harness(settings, engine, &name, &id).await {
                    Answered::Well => check(CheckState::Ok),
                    Answered::Oddly(said) => check(CheckState::Warn).says(format!(
                        "The harness's program does not answer in {name} as it should: {said}"
                    )),
                    Answered::NotThere(said) => check(CheckState::Fail)
                        .says(format!("The harness's command is not there in {name}: {said}")),
                    Answered::Unknown(said) => check(CheckState::Unknown)
                        .says(format!("Whether the harness is in {name} could not be asked: {said}")),
                }
            }
            _ => {
                let error = sandbox::SandboxError::NoImage { image: name.clone() };
                let check = Check::new("image", TITLE, CheckState::Fail, "not there")
                    .says(format!("There is no image {name}. {}", error.hint().unwrap_or_default()));
                if name.starts_with("stamina/") {
                    check.fixed_by("Build image", FixAction::BuildImage { name })
                } else {
                    check
                }
            }
        },
        Err(error) => Check::new("image", TITLE, CheckState::Unknown, name).says(error.to_string()),
    }
}

/// What the harness's program in an image said when it was asked for its version.
#[derive(Debug, Clone)]
enum Answered {
    Well,
    /// It ended with an error.
    Oddly(String),
    /// It could not be started.
    NotThere(String),
    /// The engine made no container to ask it in.
    Unknown(String),
}

/// Whether the harness of a run can be called in an image of somebody's own: asked once for each, because a container has to be
/// made for it.
async fn runs_its_harness(settings: &RunSettings, engine: &Engine, image: &str, id: &str) -> Answered {
    static ASKED: Mutex<BTreeMap<(String, Vec<String>), Answered>> = Mutex::new(BTreeMap::new());
    let Ok(harness) = super::harness_of(settings) else { return Answered::Well };
    if sandbox::recipe(image).is_some() || harness.probe.is_empty() {
        return Answered::Well;
    }
    let key = (id.to_owned(), harness.probe.clone());
    if let Some(known) = ASKED.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return known.clone();
    }
    let answered = match engine.try_command(image, &harness.probe).await {
        Ok((Some(0), _)) => Answered::Well,
        Ok((None | Some(126 | 127), said)) => Answered::NotThere(said),
        Ok((_, said)) => Answered::Oddly(said),
        Err(error) => return Answered::Unknown(error.to_string()),
    };
    ASKED.lock().unwrap_or_else(PoisonError::into_inner).insert(key, answered.clone());
    answered
}

/// The image that a run's containers are made of.
pub(crate) fn image_of(settings: &RunSettings) -> Result<String, String> {
    match &settings.image {
        Some(image) => Ok(image.clone()),
        None => super::harness_of(settings).map(|harness| harness.image),
    }
}

async fn leftovers(engine: &Engine) -> Option<Check> {
    let is_dead = |leftover: &&sandbox::Leftover| !leftover.in_use && !leftover.is_kept;
    let dead = engine.leftovers().await.ok()?.iter().filter(is_dead).count();
    (dead > 0).then(|| {
        Check::new("leftovers", "Leftovers", CheckState::Ok, format!("{dead} of dead runs"))
            .says("They are removed when the run begins.")
            .fixed_by("Remove now", FixAction::Clean)
    })
}

fn folder(path: &Path) -> Check {
    const TITLE: &str = "Folder";
    let check = |state, value: &str| Check::new("folder", TITLE, state, value);
    let resume = FixAction::Resume { folder: path.display().to_string() };
    if path.join(".stamina/run.json").exists() {
        return check(CheckState::Fail, "already contains a run")
            .says("The folder already contains a run. Resume it, or choose another folder.")
            .fixed_by("Resume", resume);
    }
    if path.is_file() {
        return check(CheckState::Fail, "is a file")
            .says("A file is where the folder should be. Choose another one.");
    }
    // What a begin left that was killed before there was a run is none.
    let is_killed_begin = path.join(".stamina").is_dir() && !runner::is_taken(path);
    let is_left = |name: &std::ffi::OsStr| is_killed_begin && (name == ".stamina" || name == "config.yaml");
    if path.read_dir().is_ok_and(|entries| entries.flatten().any(|entry| !is_left(&entry.file_name()))) {
        return check(CheckState::Fail, "not empty")
            .says("The folder holds other files. Choose a new one, so that results do not mix.");
    }
    let writable = path
        .ancestors()
        .find(|folder| folder.exists())
        .is_some_and(|folder| rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok());
    if writable {
        check(CheckState::Ok, "new")
    } else {
        check(CheckState::Fail, "not writable").says("This user may not write there. Choose another folder.")
    }
}

fn disk(settings: &RunSettings, estimate: Option<&RunEstimate>) -> Check {
    const TITLE: &str = "Disk";
    let Some(free) = machine::free_disk(&settings.output_dir) else {
        return Check::new("disk", TITLE, CheckState::Unknown, "unknown");
    };
    let value = format!("{} free", bytes(free));
    let results = estimate.and_then(|estimate| estimate.bytes).unwrap_or(0);
    let turns = estimate.map_or(0, |estimate| estimate.turns);
    let episodes = estimate.map_or(u32::MAX, |estimate| estimate.episodes.max(1));
    let at_once = u64::from(settings.batch_size.min(episodes));
    // Containers of tasks have no folders of this machine.
    let has_volumes = settings.use_docker && settings.tasks.is_none();
    let containers = if has_volumes { settings.limits.disk.saturating_mul(COPIES * at_once) } else { 0 };
    if free < LEAST_DISK {
        return Check::new("disk", TITLE, CheckState::Fail, value)
            .says(format!("At least {} are needed to begin. Free some space.", bytes(LEAST_DISK)));
    }
    if results > free {
        let check = Check::new("disk", TITLE, CheckState::Warn, value).says(format!(
            "The results of {turns} turns need about {}. Keep only the last {FEW_SNAPSHOTS} snapshots of each episode, or free \
             space.",
            bytes(results)
        ));
        return if settings.keep_snapshots.is_none_or(|kept| kept > FEW_SNAPSHOTS) {
            let field = "keep_snapshots".to_owned();
            check.fixed_by(
                format!("Change to {FEW_SNAPSHOTS}"),
                FixAction::SetNumber { field, value: f64::from(FEW_SNAPSHOTS) },
            )
        } else {
            check
        };
    }
    if results + containers > free {
        return Check::new("disk", TITLE, CheckState::Warn, value).says(format!(
            "{at_once} agents at once may fill {} each, and their containers are kept {COPIES} times: {} at most. Play fewer at \
             once, or lower limits.disk_gib.",
            bytes(settings.limits.disk),
            bytes(containers)
        ));
    }
    Check::new("disk", TITLE, CheckState::Ok, value)
}

/// Whether images, containers and snapshots of tasks fit where the engine keeps them; nothing where they do, or nobody can say.
fn engine_disk(settings: &RunSettings, estimate: Option<&RunEstimate>, root: Option<&Path>) -> Option<Check> {
    let needs = estimate?.engine?;
    // The folder of an engine in a virtual machine is not a folder of this machine.
    let root = root.filter(|root| root.is_dir())?;
    let free = machine::free_disk(root)?;
    let most = needs.images.unwrap_or(0).saturating_add(needs.containers_at_most);
    if most <= free {
        return None;
    }
    let images = needs.images.map_or_else(
        || "images of unknown size".to_owned(),
        |images| format!("images of about {}", bytes(images)),
    );
    let containers = match needs.snapshots {
        0 => "containers".to_owned(),
        snapshots => format!("containers with {}", model::counted(snapshots, "snapshot")),
    };
    let value = format!("{} free", bytes(free));
    Some(Check::new("engine_disk", "Disk of the engine", CheckState::Warn, value).says(format!(
        "In {} tasks may take {images}, and {containers} {} each: {} at most. Play fewer at once, or lower limits.disk_gib.",
        root.display(),
        bytes(settings.limits.disk),
        bytes(most)
    )))
}

/// Whether as many containers at once fit this machine.
fn machine_holds(settings: &RunSettings) -> Option<Check> {
    if !settings.use_docker {
        return None;
    }
    let cores = std::thread::available_parallelism().map_or(1.0, |n| n.get() as f64);
    let memory = machine::memory();
    let at_once = f64::from(settings.batch_size);
    let (wants, needs) = (at_once * settings.limits.cpus, (at_once * settings.limits.memory as f64) as u64);
    let value = format!("{cores} cores, {}", memory.map_or_else(|| "memory unknown".to_owned(), bytes));
    let mut messages = Vec::new();
    if wants > cores {
        messages.push(format!(
            "{at_once} containers of {} cores are more than this machine has; agents get slower and may run into their time limit.",
            settings.limits.cpus
        ));
    }
    if memory.is_some_and(|memory| needs > memory) {
        messages.push(format!(
            "{at_once} containers may take {} of memory in all; the system may end one of them.",
            bytes(needs)
        ));
    }
    let check = |state| Check::new("machine", "Machine", state, value.clone());
    Some(if messages.is_empty() {
        check(CheckState::Ok)
    } else {
        check(CheckState::Warn).says(messages.join(" "))
    })
}

/// What of the container arguments is not done.
fn arguments(settings: &RunSettings) -> Option<Check> {
    let ignored = settings.extra.ignored();
    (settings.use_docker && !ignored.is_empty()).then(|| {
        Check::new("arguments", "Container arguments", CheckState::Warn, ignored.join(" ")).says(
            "This is not obeyed: containers run as the user to whom their folders belong, and HOME is a folder of the episode, in \
             which the session of the agent goes on.",
        )
    })
}

/// What is said of tasks, whatever their containers reach.
const TASK_IMAGES: &str = "The images of tasks are built by the engine with the network that it has, from recipes that came with the tasks.";

/// What is said of them where a harness plays.
const TASK_HARNESS: &str = "The harness is copied into each of them, and tried there before the first step of its task: one in which it does not start, as on musl, is not played.";

/// What containers reach beside the gateway.
fn network(settings: &RunSettings, is_guarded: bool) -> Option<Check> {
    const TITLE: &str = "Network";
    if !settings.use_docker {
        return None;
    }
    if settings.reach == Reach::Open {
        let direct = settings.endpoint == EndpointSettings::Direct;
        let open =
            "Agents reach the internet and this network. What they find there is not the same in every run.";
        let build = if settings.tasks.is_some() { format!(" {TASK_IMAGES}") } else { String::new() };
        let check = Check::new("network", TITLE, CheckState::Warn, "open").says(format!("{open}{build}"));
        return Some(if direct {
            check
        } else {
            let (field, value) = ("network".to_owned(), "gateway".to_owned());
            check.fixed_by("Gateway only", FixAction::SetText { field, value })
        });
    }
    if settings.tasks.is_some() {
        let check = |value| Check::new("network", TITLE, CheckState::Ok, value);
        return Some(if settings.asks_model() {
            check("gateway only").says(format!("{TASK_IMAGES} {TASK_HARNESS}"))
        } else {
            check("none").says(TASK_IMAGES)
        });
    }
    let ports = listening();
    if ports.is_empty() || is_guarded {
        return Some(Check::new("network", TITLE, CheckState::Ok, "gateway only"));
    }
    let mut named: Vec<String> = ports.iter().take(PORTS).map(u16::to_string).collect();
    if ports.len() > PORTS {
        named.push(format!("{} more", ports.len() - PORTS));
    }
    Some(Check::new("network", TITLE, CheckState::Warn, "servers see services of this machine").says(format!(
        "Agents reach the gateway only. The servers that they write, when they are tested, can reach services of this machine \
         that do not listen on 127.0.0.1 alone: port {}. Bind them to 127.0.0.1, or keep them out with a firewall.",
        named.join(", ")
    )))
}

/// Ports on which this machine listens for more than itself, as far as the system tells.
fn listening() -> Vec<u16> {
    let mut ports: Vec<u16> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .flat_map(|text| open_ports(&text))
        .collect();
    ports.sort_unstable();
    ports.dedup();
    ports
}

/// Of a table of the kernel: `sl local_address rem_address st …`, with `0A` = listening.
fn open_ports(table: &str) -> Vec<u16> {
    table
        .lines()
        .skip(1)
        .filter_map(|line| {
            let mut words = line.split_ascii_whitespace().skip(1);
            let (address, port) = words.next()?.split_once(':')?;
            let listens = words.nth(1)? == "0A";
            (listens && !is_loopback(address)).then(|| u16::from_str_radix(port, 16).ok()).flatten()
        })
        .collect()
}

/// Whether an address of such a table is this machine's own: 127.0.0.0/8, also as IPv6, or `::1`. The kernel writes words of
/// four bytes, the lowest byte first.
fn is_loopback(address: &str) -> bool {
    const V6: &str = "00000000000000000000000001000000";
    const MAPPED: &str = "0000000000000000FFFF0000";
    let v4 = address.strip_prefix(MAPPED).unwrap_or(address);
    address == V6 || (v4.len() == 8 && v4.ends_with("7F"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::EngineDisk;

    #[test]
    fn ports_that_are_open_to_more_than_this_machine_are_found() {
        let table = "  sl  local_address rem_address   st tx_queue\n\
             0: 0100007F:1F90 00000000:0000 0A 00000000:00000000\n\
             1: 00000000:0016 00000000:0000 0A 00000000:00000000\n\
             2: 00000000:1F91 0A00020F:1F92 01 00000000:00000000\n\
             3: 0F02000A:0050 00000000:0000 0A 00000000:00000000\n\
             4: 0100007F:0051 00000000:0000 0A 00000000:00000000\n\
             5: 00000000000000000000000000000000:0052 0:0000 0A 0\n\
             6: 00000000000000000000000001000000:0053 0:0000 0A 0\n\
             7: 0000000000000000FFFF00000100007F:0054 0:0000 0A 0\n\
             8: 0000000000000000FFFF00000F02000A:0055 0:0000 0A 0\n";
        assert_eq!(open_ports(table), [22, 80, 82, 85]);
    }

    #[test]
    fn what_does_not_fit_where_the_engine_keeps_it_is_told_before_the_run() {
        let values = ["agent=ORACLE", "benchmark=HARBOR", "tasks=/t", "output_dir=/r", "limits.disk_gib=2"];
        let settings = runner::settings::resolve(&[], &values.map(str::to_owned)).unwrap();
        let room = tempfile::tempdir().unwrap();
        let estimate = |images, containers_at_most, snapshots| RunEstimate {
            episodes: 1,
            turns: 3,
            attempts_at_most: 3,
            seconds: None,
            tokens_in: None,
            cached: None,
            tokens_out: None,
            cost_usd: None,
            bytes: None,
            engine: Some(EngineDisk { images, containers_at_most, snapshots }),
            budgets: Vec::new(),
            basis: String::new(),
        };
        let check = |estimate: &RunEstimate| engine_disk(&settings, Some(estimate), Some(room.path()));
        assert_eq!(check(&estimate(Some(1000), 1000, 0)), None, "it fits");
        let full = check(&estimate(None, u64::MAX, 3)).unwrap();
        assert_eq!(full.state, CheckState::Warn);
        let sentence = full.sentence.unwrap();
        assert!(sentence.contains("images of unknown size"), "{sentence}");
        assert!(sentence.contains("containers with 3 snapshots 2.1 GB each"), "{sentence}");
        let images = check(&estimate(Some(u64::MAX), 1000, 0)).unwrap().sentence.unwrap();
        assert!(images.contains("images of about") && !images.contains("snapshot"), "{images}");
        // Nobody can say.
        let large = estimate(None, u64::MAX, 3);
        assert_eq!(engine_disk(&settings, Some(&large), Some(&room.path().join("elsewhere"))), None);
        assert_eq!(engine_disk(&settings, Some(&large), None), None);
        assert_eq!(
            engine_disk(&settings, Some(&RunEstimate { engine: None, ..large }), Some(room.path())),
            None
        );
    }

    #[test]
    fn a_folder_with_something_in_it_is_not_taken() {
        let temp = tempfile::tempdir().unwrap();
        let state = |path: &Path| (folder(path).state, folder(path).value);
        assert_eq!(state(&temp.path().join("a/b/c")), (CheckState::Ok, "new".to_owned()));
        assert_eq!(state(temp.path()), (CheckState::Ok, "new".to_owned()));
        std::fs::write(temp.path().join("x"), "x").unwrap();
        assert_eq!(state(temp.path()).1, "not empty");
        assert_eq!(state(&temp.path().join("x")).1, "is a file");
        std::fs::create_dir(temp.path().join(".stamina")).unwrap();
        std::fs::write(temp.path().join(".stamina/run.json"), "{}").unwrap();
        assert_eq!(state(temp.path()).1, "already contains a run");

        let killed = temp.path().join("killed");
        std::fs::create_dir_all(killed.join(".stamina/episodes")).unwrap();
        std::fs::write(killed.join("config.yaml"), "agent: MOCK").unwrap();
        assert_eq!(state(&killed), (CheckState::Ok, "new".to_owned()), "it ended before there was a run");
        std::fs::write(killed.join("notes.txt"), "x").unwrap();
        assert_eq!(state(&killed).1, "not empty");
    }
}
