use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use rustix::fs::open;

use super::*;

#[test]
fn a_copy_is_the_same_and_follows_nothing() {
    let room = tempfile::tempdir().unwrap();
    let source = room.path().join("from");
    fs::create_dir_all(source.join("a/b")).unwrap();
    fs::write(source.join("a/b/file"), "text").unwrap();
    fs::set_permissions(source.join("a/b/file"), fs::Permissions::from_mode(0o751)).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", source.join("link")).unwrap();
    std::os::unix::fs::symlink("/", source.join("root")).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, source.join("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
        .unwrap();
    let sparse = fs::File::create(source.join("sparse")).unwrap();
    sparse.set_len(1 << 34).unwrap();
    std::os::unix::fs::FileExt::write_at(&sparse, b"end", (1 << 34) - 3).unwrap();
    fs::create_dir(source.join("locked")).unwrap();
    fs::write(source.join("locked/in"), "x").unwrap();
    fs::set_permissions(source.join("locked"), fs::Permissions::from_mode(0o000)).unwrap();

    let target = room.path().join("to");
    let copied = copy(&source, &target, Bounds::ALL).unwrap();
    assert_eq!((copied.left_out, copied.named), (1, vec![b"pipe".to_vec()]));
    assert_eq!(fs::read_to_string(target.join("a/b/file")).unwrap(), "text");
    assert_eq!(fs::metadata(target.join("a/b/file")).unwrap().permissions().mode() & 0o777, 0o751);
    assert_eq!(fs::read_link(target.join("link")).unwrap(), Path::new("/etc/passwd"));
    assert!(fs::symlink_metadata(target.join("root")).unwrap().is_symlink());
    let copy_of_sparse = fs::metadata(target.join("sparse")).unwrap();
    assert_eq!(copy_of_sparse.len(), 1 << 34);
    assert!(copy_of_sparse.blocks() < 1024, "holes stay holes");

    remove(&target).unwrap();
    remove(&source).unwrap();
    assert!(!target.exists() && !source.exists());
    assert!(Path::new("/etc/passwd").exists());
    remove(&source).unwrap();
}

#[test]
// docs/security.md: The records of a run (`.stamina/`)
fn a_folder_is_unlocked_as_it_is_and_no_link_to_one() {
    let room = tempfile::tempdir().unwrap();
    let (folder, link) = (room.path().join("folder"), room.path().join("link"));
    fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink(&folder, &link).unwrap();
    let mode = || fs::metadata(&folder).unwrap().permissions().mode() & 0o777;
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o050)).unwrap();
    open_unlocked(&link).unwrap_err();
    assert_eq!(mode(), 0o050);
    open_unlocked(&folder).unwrap();
    assert_eq!(mode(), 0o750, "the rights of others stay");
}

#[test]
fn bounds_hold() {
    let room = tempfile::tempdir().unwrap();
    let source = room.path().join("from");
    fs::create_dir_all(source.join("node_modules/x")).unwrap();
    fs::write(source.join("node_modules/x/y"), "y").unwrap();
    for n in 0..10 {
        fs::write(source.join(format!("f{n}")), vec![b'x'; 8192]).unwrap();
    }
    fs::write(source.join("large"), vec![b'x'; 100_000]).unwrap();
    std::os::unix::fs::symlink("/", source.join("root")).unwrap();
    let bounds = Bounds { bytes: 40_000, entries: 8, file: 50_000, without: &["node_modules"], links: false };
    let copied = copy(&source, &room.path().join("to"), bounds).unwrap();
    assert!(copied.bytes <= 40_000 && copied.entries <= 8, "{copied:?}");
    assert_eq!(copied.entries + copied.left_out, 12, "all but what tools put there");
    let names: Vec<_> = copied.named.iter().map(|name| String::from_utf8_lossy(name)).collect();
    assert!(names.iter().any(|name| name == "large") && names.iter().any(|name| name == "root"), "{names:?}");
    assert!(!room.path().join("to/node_modules").exists());
    assert!(!room.path().join("to/root").exists());
}

#[test]
fn deep_folders_of_many_episodes_do_not_use_up_the_open_files() {
    const EPISODES: usize = 4;
    let room = tempfile::tempdir().unwrap();
    let source = room.path().join("from");
    fs::create_dir(&source).unwrap();
    let flags = OFlags::DIRECTORY | OFlags::RDONLY;
    let mut open_folder = open(&source, flags, Mode::empty()).unwrap();
    for level in 0..250 {
        // Something to do at the bottom, so that they are there together.
        for n in 0..(if level == 249 { 100 } else { 1 }) {
            let name = std::ffi::CString::new(format!("file{n}")).unwrap();
            openat(&open_folder, &name, OFlags::CREATE | OFlags::WRONLY, Mode::RUSR).unwrap();
        }
        mkdirat(&open_folder, c"deeper", Mode::RWXU).unwrap();
        open_folder = openat(&open_folder, c"deeper", flags, Mode::empty()).unwrap();
    }
    let open_files = || fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let (before, mut most) = (open_files(), 0);
    std::thread::scope(|scope| {
        let copies: Vec<_> = (0..EPISODES)
            .map(|n| {
                let (source, target) = (&source, room.path().join(format!("to{n}")));
                scope.spawn(move || copy(source, &target, Bounds::ALL).map(|copied| copied.left_out))
            })
            .collect();
        while !copies.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            most = most.max(open_files());
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        for copied in copies {
            assert_eq!(copied.join().unwrap().unwrap(), 0);
        }
    });
    // Three for each folder on the way of one, and for the upper ones of the others; other tests have some as well.
    let bound = 3 * (250 + EPISODES * DEEP_LEVEL as usize) + 300;
    assert!(most - before.min(most) < bound, "{most} of at most {bound}");
    for n in 0..EPISODES {
        remove(&room.path().join(format!("to{n}"))).unwrap();
    }
    remove(&source).unwrap();
}

#[test]
fn a_folder_deeper_than_any_path_is_copied_in_part_and_removed() {
    let room = tempfile::tempdir().unwrap();
    let source = room.path().join("from");
    fs::create_dir(&source).unwrap();
    let flags = OFlags::DIRECTORY | OFlags::RDONLY;
    let mut open_folder = open(&source, flags, Mode::empty()).unwrap();
    for _ in 0..1500 {
        mkdirat(&open_folder, c"deeper", Mode::RWXU).unwrap();
        open_folder = openat(&open_folder, c"deeper", flags, Mode::empty()).unwrap();
    }
    let copied = copy(&source, &room.path().join("to"), Bounds::ALL).unwrap();
    assert_eq!((copied.entries, copied.left_out), (u64::from(DEEPEST_LEVEL), 1));
    remove(&source).unwrap();
    assert!(!source.exists());
    assert_eq!(fs::read_dir(room.path()).unwrap().count(), 1, "nothing is left beside it");
}
