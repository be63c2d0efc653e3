use super::*;

fn image(name: &str) -> Leftover {
    leftover("image", Some(name.to_owned()), None, None).unwrap()
}

#[test]
// docs/security.md: Tasks of Harbor
fn what_a_recipe_labels_as_ours_is_not_ours() {
    assert!(is_ours("image", "stamina-snapshot:0f3a5c77-scenario_0-2"));
    assert!(is_ours("image", "localhost/stamina-snapshot:0f3a5c77-scenario_0-2"));
    assert!(is_ours("container", "stamina-0f3a5c77-scenario_0-task-1"));
    for image in ["stamina-task:0a1b", "docker.io/somebody/image:latest", "stamina/base:1"] {
        assert!(!is_ours("image", image), "{image}");
    }
    assert!(!is_ours("container", "quirky_hopper"));
}

#[test]
// docs/security.md: Tasks of Harbor
fn a_snapshot_stays_while_the_file_that_names_it_is_there() {
    let room = tempfile::tempdir().unwrap();
    let file = room.path().join("snapshot.json");
    let is_kept = |kind: &str, name: &str, file: &str| {
        super::is_kept(kind, name, &BTreeMap::from([(key(KEPT_BY), file.to_owned())]))
    };
    let (name, path) = ("stamina-snapshot:0f3a5c77-scenario_0-2", kept_by_label(Some(&file)));
    assert!(!is_kept("image", name, &path), "its file is gone");
    std::fs::write(&file, "{}").unwrap();
    assert!(is_kept("image", name, &path));
    assert!(is_kept("image", "localhost/stamina-snapshot:0f3a5c77-scenario_0-2", &path));
    // A recipe may set labels, but not names; a container is none, and a folder is no file.
    assert!(!is_kept("image", "somebody/image:1", &path) && !is_kept("container", name, &path));
    for other in ["", "snapshot.json", &kept_by_label(Some(room.path()))] {
        assert!(!is_kept("image", name, other), "{other}");
    }
    assert!(!super::is_kept("image", name, &BTreeMap::new()), "one of before");
}

#[test]
// docs/security.md: Tasks of Harbor
fn a_snapshot_whose_folder_cannot_be_looked_at_is_not_gone() {
    let room = tempfile::tempdir().unwrap();
    let file = room.path().join("run/.stamina/state/scenario_0/snapshot.json");
    assert!(is_gone(&file, None), "there is no such folder");
    // Neither a folder without rights nor a broken disk says that something is not there. Whoever tests may look everywhere, so
    // that a chain of links stands for both.
    let (a, b) = (room.path().join("a"), room.path().join("b"));
    std::os::unix::fs::symlink(&a, &b).unwrap();
    std::os::unix::fs::symlink(&b, &a).unwrap();
    let unknown = a.join("snapshot.json");
    assert!(!matches!(
        std::fs::metadata(&unknown).unwrap_err().kind(),
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
    ));
    assert!(!is_gone(&unknown, None));
    // A disk that is not mounted any more: its root is an empty folder, or not there.
    assert!(!is_gone(&file, Some(room.path())));
    assert!(!is_gone(&file, Some(&room.path().join("media/disk"))));
    let root = mount_root(&file).unwrap();
    assert!(file.starts_with(&root) && is_mount_root(&root), "{}", root.display());
    assert!(is_gone(&file, Some(&root)), "that one is mounted");
    if cfg!(target_os = "linux") {
        assert_eq!(mount_root(Path::new("/proc/self/none/file")), Some(PathBuf::from("/proc")));
    }
}

#[test]
// docs/security.md: Tasks of Harbor
fn a_copy_of_a_folder_has_snapshots_of_its_own() {
    let owner = Owner { run: "0f3a5c77".to_owned(), episode: "scenario_3".to_owned() };
    let [original, copy] = ["/runs/a", "/runs/b"].map(|run| Path::new(run).join("snapshot.json"));
    let name = snapshot_name(&owner, &original, 4);
    assert!(name.starts_with("stamina-snapshot:0f3a5c77-scenario_3-"), "{name}");
    assert_eq!((name.clone(), step_of(&image(&name))), (snapshot_name(&owner, &original, 4), 4));
    assert_ne!(name, snapshot_name(&owner, &copy, 4), "it takes no name away");
    let labels = [("run", "0f3a5c77"), ("episode", "scenario_3"), (KEPT_BY, "/runs/a/snapshot.json")];
    let labels: BTreeMap<String, String> =
        labels.into_iter().map(|(name, value)| (key(name), value.to_owned())).collect();
    assert!(is_kept_by(&labels, &owner, &original));
    assert!(!is_kept_by(&labels, &owner, &copy), "what the original keeps is not the copy's to remove");
    // As they are made now; the folder is on another device than it was then.
    let now = Owner { run: "0f3a5c77x00c0ffee".to_owned(), episode: "scenario_3".to_owned() };
    assert_eq!(snapshot_name(&now, &original, 4), name, "those of earlier versions are found");
    assert!(is_kept_by(&labels, &now, &original) && !is_kept_by(&labels, &now, &copy));
    let mut moved = labels.clone();
    moved.insert(key("folder"), "12345678".to_owned());
    assert!(is_kept_by(&moved, &now, &original));
    moved.insert(key("run"), "0f3a5c78".to_owned());
    assert!(!is_kept_by(&moved, &now, &original), "of another run");
    let earlier = earlier_snapshot_name(&now, 4);
    assert_eq!(earlier, "stamina-snapshot:0f3a5c77-scenario_3-4");
    assert!(is_ours("image", &earlier) && step_of(&image(&earlier)) == 4);
    let other = Owner { episode: "scenario_30".to_owned(), ..owner };
    assert!(!is_kept_by(&labels, &other, &original));
}

#[test]
fn what_is_left_is_listed_by_the_id_of_its_run() {
    let owner = |labels: &[(&str, &str)]| {
        let labels = labels.iter().map(|(name, value)| (key(name), (*value).to_owned())).collect();
        leftover("network", Some("n".to_owned()), None, Some(labels)).unwrap()
    };
    let now = owner(&[("run", "0f3a5c77"), ("folder", "00c0ffee")]);
    assert_eq!((now.run.as_str(), run_in_folder(&now).as_str()), ("0f3a5c77", "0f3a5c77x00c0ffee"));
    let before = owner(&[("run", "0f3a5c77")]);
    assert_eq!((before.run.as_str(), run_in_folder(&before).as_str()), ("0f3a5c77", "0f3a5c77"));
}

#[test]
fn snapshots_of_later_steps_stand_on_those_of_earlier_ones() {
    let snapshot = |step: u32| image(&format!("stamina-snapshot:0f3a5c77-scenario_3-{step}"));
    let mut all = [snapshot(2), snapshot(10), image("stamina-snapshot:odd"), snapshot(1)];
    all.sort_by_key(|left| Reverse(step_of(left)));
    let steps: Vec<u32> = all.iter().map(step_of).collect();
    assert_eq!(steps, [10, 2, 1, 0]);
    let container = Leftover { kind: "container".to_owned(), ..snapshot(4) };
    assert_eq!(step_of(&container), 0);
}
