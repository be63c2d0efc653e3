//! What of this machine agents get by the container arguments of a run (`-v`): a loaded configuration brings them along, and
//! somebody else may have written it.

use std::path::{Component, Path, PathBuf};

use runner::settings::RunSettings;

use crate::api::{ApiError, Check, CheckState};

/// What container engines call their sockets.
const SOCKETS: [&str; 4] = ["docker.sock", "podman.sock", "containerd.sock", "crio.sock"];
/// Where in a folder they lie.
const BELOW: [&str; 3] = ["", "podman", "run"];

/// `host:box[:options]`.
struct Bind<'a> {
    host: &'a str,
    target: &'a str,
    read_only: bool,
}

impl<'a> Bind<'a> {
    /// Nothing where only a folder of the container is named: nothing of this machine lies there.
    fn parse(text: &'a str) -> Option<Self> {
        let (host, rest) = text.split_once(':')?;
        let (target, options) = rest.split_once(':').unwrap_or((rest, ""));
        Some(Self { host, target, read_only: options.split(',').any(|option| option == "ro") })
    }

    /// Engines take a name without slashes for a volume of theirs.
    fn is_volume(&self) -> bool {
        !self.host.contains('/') && !self.host.starts_with(['.', '~'])
    }

    fn in_words(&self) -> String {
        let volume = if self.is_volume() { "the volume " } else { "" };
        let rights = if self.read_only { "read-only" } else { "they can change it" };
        let end = link_end(self.host).map_or_else(String::new, |end| format!(", which leads to {end},"));
        format!("{volume}{}{end} as {} ({rights})", self.host, self.target)
    }
}

/// Where the path of a bind leads, if a link in it leads elsewhere: engines follow it, and whoever made the folder that it lies in may
/// have made the link.
fn link_end(host: &str) -> Option<String> {
    let named = Path::new(host);
    let real = named.is_absolute().then(|| named.canonicalize().ok()).flatten()?;
    (real != named).then(|| real.display().to_string())
}

/// A bind as it is given, with where it leads to.
pub(super) fn with_its_end(bind: &str) -> String {
    let end = bind.split(':').next().and_then(link_end);
    end.map_or_else(|| bind.to_owned(), |end| format!("{bind} (it leads to {end})"))
}

/// The folder of this machine that the path of a bind leads to; the path itself where that is not known.
pub(super) fn end_of(host: &str) -> String {
    link_end(host).unwrap_or_else(|| host.to_owned())
}

/// Every bind of a run; those that would hand over the machine are refused.
pub(super) fn check(settings: &RunSettings) -> Option<Check> {
    if !settings.use_docker {
        return None;
    }
    checked(&settings.extra.binds, dirs::home_dir().as_deref())
}

/// Refuses to continue with a run whose binds would hand over the machine: its folder may come from somebody else.
pub(super) fn resumable(folder: &Path, settings: &RunSettings) -> Result<(), ApiError> {
    match check(settings).filter(|check| check.state == CheckState::Fail) {
        Some(check) => Err(ApiError::new("run.binds", check.sentence.unwrap_or(check.title))
            .with_path(folder.display().to_string())
            .hint("Begin a new run without it")),
        None => Ok(()),
    }
}

fn checked(binds: &[String], home: Option<&Path>) -> Option<Check> {
    let binds: Vec<Bind<'_>> = binds.iter().filter_map(|text| Bind::parse(text)).collect();
    let check = |state, value: String| Check::new("binds", "Folders of this machine", state, value);
    let refused: Vec<(&Bind<'_>, &str)> =
        binds.iter().filter_map(|bind| Some((bind, refusal(bind, home)?))).collect();
    if let Some((first, _)) = refused.first() {
        let reasons: Vec<String> =
            refused.iter().map(|(bind, reason)| format!("{} {reason}", bind.host)).collect();
        return Some(check(CheckState::Fail, first.host.to_owned()).with_sentence(format!(
            "{}. Take it out of docker.extra_docker_args, or bind only the folder that agents need, such as -v \
             /path/to/data:/data:ro.",
            reasons.join("; ")
        )));
    }
    let lines: Vec<String> = binds.iter().map(Bind::in_words).collect();
    (!lines.is_empty()).then(|| {
        let value = if lines.len() == 1 { "1 bound".to_owned() } else { format!("{} bound", lines.len()) };
        check(CheckState::Warn, value).with_sentence(format!(
            "By docker.extra_docker_args agents get {}. All episodes share it, and it is not among the results: what it holds \
             can tell an agent more than its request.",
            lines.join(", ")
        ))
    })
}

/// Why no agent gets this: what follows the path in a sentence.
fn refusal(bind: &Bind<'_>, home: Option<&Path>) -> Option<&'static str> {
    if bind.is_volume() {
        return None;
    }
    let given = Path::new(bind.host);
    if !given.is_absolute() {
        return Some("is no absolute path, and engines refuse it");
    }
    // By whatever way it is named: what counts is where it leads.
    let plain = without_steps(given);
    let (real, is_known) = match given.canonicalize() {
        Ok(real) => (real, true),
        // An engine makes a folder that is not there.
        Err(error) => (plain.clone(), error.kind() == std::io::ErrorKind::NotFound),
    };
    let places = [plain.as_path(), real.as_path()];
    let is_at = |wanted: &str| places.contains(&Path::new(wanted));
    let is_below = |wanted: &str| places.iter().any(|place| place.starts_with(wanted));
    if is_at("/") {
        return Some(
            "is this whole machine: agents could read every file, whatever else keeps them in their containers",
        );
    }
    if is_engine_socket(&places) {
        return Some(
            "commands the container engine: who reaches its socket, read-only or not, rules this machine as root",
        );
    }
    if ["/proc", "/sys", "/dev"].into_iter().any(is_below) {
        return Some("shows the processes and devices of this machine, and what they know");
    }
    // Disks that are plugged in are mounted there.
    let is_disk =
        places.iter().all(|place| place.starts_with("/run/media") && place.components().count() > 3);
    if ["/var/run", "/run"].into_iter().any(is_below) && !is_disk {
        return Some("is where this machine's services have their sockets, the container engine among them");
    }
    if is_at("/etc") || is_at("/private/etc") {
        return Some("holds the accounts, keys and settings of this machine");
    }
    let real_home = home.and_then(|home| home.canonicalize().ok());
    if [home, real_home.as_deref()]
        .into_iter()
        .flatten()
        .any(|home| places.iter().any(|p| home.starts_with(p)))
    {
        return Some("holds your whole home folder, with its keys, passwords and sessions");
    }
    if !is_known {
        return Some(
            "cannot be looked into by you, and an engine that is root would give agents more than you can see",
        );
    }
    None
}

/// A socket of an engine by its name, or a folder in which one lies.
fn is_engine_socket(places: &[&Path]) -> bool {
    places.iter().any(|place| {
        let named = place.file_name().is_some_and(|name| SOCKETS.iter().any(|socket| name == *socket));
        named
            || BELOW.iter().any(|below| SOCKETS.iter().any(|socket| place.join(below).join(socket).exists()))
    })
}

/// Without `.` and `..`, for what is not there.
fn without_steps(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_binds(binds: &[&str], home: &Path) -> Option<(CheckState, String)> {
        let binds: Vec<String> = binds.iter().map(|bind| (*bind).to_owned()).collect();
        checked(&binds, Some(home)).map(|check| (check.state, check.sentence.unwrap_or_default()))
    }

    fn is_refused(bind: &str, home: &Path, reason: &str) {
        let (state, sentence) = check_binds(&[bind], home).unwrap();
        assert_eq!(state, CheckState::Fail, "{bind}: {sentence}");
        assert!(
            sentence.contains(reason) && sentence.contains("docker.extra_docker_args"),
            "{bind}: {sentence}"
        );
    }

    #[test]
    fn what_agents_get_of_this_machine_is_named() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().join("home/ada");
        std::fs::create_dir_all(home.join("data")).unwrap();
        let data = format!("{}:/data:ro,z", home.join("data").display());
        let (state, sentence) = check_binds(&[&data, "/opt/cache:/cache", "wheels:/wheels"], &home).unwrap();
        assert_eq!(state, CheckState::Warn);
        assert!(
            sentence.contains(&format!("{} as /data (read-only)", home.join("data").display())),
            "{sentence}"
        );
        assert!(sentence.contains("/opt/cache as /cache (they can change it)"), "{sentence}");
        assert!(sentence.contains("the volume wheels as /wheels (they can change it)"), "{sentence}");
        assert!(check_binds(&[], &home).is_none());
        assert!(check_binds(&["/only/in/the/box"], &home).is_none());
    }

    #[test]
    fn the_root_folder_is_refused_by_whatever_name() {
        let home = Path::new("/home/ada");
        for bind in ["/:/host", "/:/host:ro", "/usr/..:/host", "/./nowhere/../:/host"] {
            is_refused(bind, home, "this whole machine");
        }
    }

    #[test]
    fn the_home_folder_and_what_holds_it_are_refused() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().join("home/ada");
        std::fs::create_dir_all(&home).unwrap();
        let link = temp.path().join("link");
        std::os::unix::fs::symlink(&home, &link).unwrap();
        for place in [home.clone(), temp.path().join("home"), link, home.join("x/..")] {
            is_refused(&format!("{}:/agents:ro", place.display()), &home, "your whole home folder");
        }
    }

    #[test]
    fn settings_and_services_of_the_machine_are_refused() {
        let home = Path::new("/home/ada");
        is_refused("/etc:/etc:ro", home, "accounts, keys and settings");
        is_refused("/etc/:/x", home, "accounts, keys and settings");
        is_refused("/proc:/x:ro", home, "processes and devices");
        for bind in ["/proc/1/root:/x", "/proc/../proc/1/root/etc:/x", "/dev/mem:/x", "/sys/fs:/x:ro"] {
            is_refused(bind, home, "processes and devices");
        }
        for bind in ["/var/run:/x", "/run:/x", "/run/user:/x", "/run/user/77:/x", "/run/media:/x"] {
            let (state, sentence) = check_binds(&[bind], home).unwrap();
            // Where an engine is at work here, its socket is what is said first.
            assert_eq!(state, CheckState::Fail, "{sentence}");
        }
        for bind in ["/etc/ssl/certs:/etc/ssl/certs:ro", "/run/media/ada/disk:/data"] {
            assert_eq!(check_binds(&[bind], home).unwrap().0, CheckState::Warn, "{bind}");
        }
    }

    /// For root nothing is locked, so this process begins itself anew as somebody else.
    #[test]
    fn what_this_user_cannot_look_into_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        use std::os::unix::process::CommandExt as _;
        const NAME: &str = "runs::binds::tests::what_this_user_cannot_look_into_is_refused";
        if rustix::process::getuid().is_root() {
            let mut rerun = std::process::Command::new(std::env::current_exe().unwrap());
            match rerun.args(["--exact", NAME]).uid(1000).gid(1000).output() {
                Ok(ran) => assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout)),
                // Where the build lies in a folder of root's.
                Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied),
            }
            return;
        }
        let temp = tempfile::tempdir().unwrap();
        let (locked, link) = (temp.path().join("locked"), temp.path().join("link"));
        std::fs::create_dir_all(locked.join("in")).unwrap();
        std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o000)).unwrap();
        std::os::unix::fs::symlink("/proc/1/root", &link).unwrap();
        let home = Path::new("/home/ada");
        for bind in [locked.join("in"), link] {
            is_refused(&format!("{}:/x", bind.display()), home, "cannot be looked into by you");
        }
        std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o700)).unwrap();
    }

    #[test]
    fn sockets_of_engines_and_their_folders_are_refused() {
        let home = Path::new("/home/ada");
        for socket in ["/var/run/docker.sock", "/run/user/7/podman/podman.sock", "/nowhere/docker.sock"] {
            is_refused(&format!("{socket}:/x:ro"), home, "commands the container engine");
        }
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir(temp.path().join("podman")).unwrap();
        std::fs::write(temp.path().join("podman/podman.sock"), "").unwrap();
        is_refused(&format!("{}:/x", temp.path().display()), home, "commands the container engine");
        let link = temp.path().join("innocent");
        std::os::unix::fs::symlink(temp.path().join("podman/podman.sock"), &link).unwrap();
        is_refused(&format!("{}:/x", link.display()), home, "commands the container engine");
    }

    #[test]
    fn what_engines_refuse_is_said_before() {
        is_refused("~/data:/data", Path::new("/home/ada"), "no absolute path");
        is_refused("./data:/data", Path::new("/home/ada"), "no absolute path");
    }

    #[test]
    fn only_containers_have_binds() {
        let value_of = |docker: bool| {
            let values = [
                "agent=MOCK".to_owned(),
                "endpoint.mode=oracle".to_owned(),
                "oracle.stack=native".to_owned(),
                format!("use_docker={docker}"),
                "output_dir=/nowhere/run".to_owned(),
                "docker.extra_docker_args=-v /opt/cache:/cache".to_owned(),
            ];
            runner::settings::resolve(&[], &values)
        };
        assert_eq!(check(&value_of(true).unwrap()).unwrap().state, CheckState::Warn);
        assert!(
            value_of(false)
                .unwrap_err()
                .to_string()
                .starts_with("docker.extra_docker_args: without containers")
        );
    }
}
