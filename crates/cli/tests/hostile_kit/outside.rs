//! A folder outside of everything that is given to the program.

use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};

use crate::app::TestHome;

/// A folder outside everything that is given to the program, with what must stay as it is and what must not be opened.
pub(crate) struct Outside {
    pub(crate) folder: PathBuf,
    pub(crate) before: Vec<(PathBuf, Vec<u8>, std::time::SystemTime)>,
    pub(crate) watch: OwnedFd,
}

impl Outside {
    pub(crate) fn new(test_home: &TestHome) -> Self {
        let folder = test_home.path("outside");
        fs::create_dir_all(folder.join("home/.ssh")).expect("a folder");
        for (name, content) in [
            ("home/.ssh/authorized_keys", "ssh-ed25519 AAAA somebody\n"),
            ("home/.profile", "# a profile\n"),
            ("secret.yaml", "token: hunter2-canary\n"),
            ("secret.txt", "hunter2-canary\n"),
            ("trajectory.json", "{\"turns\": [{\"turn\": 1, \"request\": \"hunter2-canary\"}]}"),
        ] {
            fs::write(folder.join(name), content).expect("a file");
        }
        let before = state_of(&folder);
        let watch = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).expect("a watch");
        for place in ["", "home", "home/.ssh"] {
            inotify::add_watch(&watch, folder.join(place), WatchFlags::ALL_EVENTS).expect("a watch");
        }
        Self { folder, before, watch }
    }

    /// Nothing was opened, read or changed since the last look.
    pub(crate) fn is_untouched(&self, label: &str) {
        assert_eq!(self.touched(), [""; 0], "{label} touched what lies outside");
        assert!(state_of(&self.folder) == self.before, "{label} changed something outside");
        // That was this test itself.
        self.touched();
    }

    /// What happened in it since the last look: event and name.
    pub(crate) fn touched(&self) -> Vec<String> {
        let mut buffer = [MaybeUninit::<u8>::uninit(); 4096];
        let mut events = inotify::Reader::new(&self.watch, &mut buffer);
        let mut found = Vec::new();
        while let Ok(event) = events.next() {
            // Other programs of the machine may list folders at any time; nobody else opens these files.
            let is_listed = event.events().contains(ReadFlags::ISDIR)
                && event.events().intersects(ReadFlags::OPEN | ReadFlags::ACCESS | ReadFlags::CLOSE_NOWRITE);
            if is_listed {
                continue;
            }
            found.push(format!("{:?} {:?}", event.events(), event.file_name()));
        }
        found
    }
}

/// Every file below a folder: content and time of change.
fn state_of(folder: &Path) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let meta = entry.metadata().expect("an entry");
            if meta.is_dir() {
                folders.push(entry.path());
            } else {
                let content = fs::read(entry.path()).expect("a file");
                found.push((entry.path(), content, meta.modified().expect("a time")));
            }
        }
    }
    found.sort();
    found
}
