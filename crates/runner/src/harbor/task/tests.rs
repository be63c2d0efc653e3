use std::fs;

use super::*;

fn put(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A task of two steps that can be played.
fn task(folder: &Path, name: &str, toml: &str) {
    let folder = folder.join(name);
    put(&folder, "task.toml", &format!("{toml}\n[[steps]]\nname = \"a\"\n[[steps]]\nname = \"b\"\n"));
    put(&folder, "environment/Dockerfile", "FROM scratch\n");
    for step in ["a", "b"] {
        put(&folder, &format!("steps/{step}/instruction.md"), "Do it.");
        put(&folder, &format!("steps/{step}/tests/test.sh"), "echo CASE_SUMMARY");
    }
}

fn settings(more: &[&str]) -> RunSettings {
    let list = ["agent=ORACLE", "output_dir=/r", "benchmark=HARBOR", "tasks=/t"].iter().chain(more);
    crate::settings::resolve(&[], &list.map(|&value| value.to_owned()).collect::<Vec<_>>()).unwrap()
}

#[test]
fn tasks_are_found_and_those_that_cannot_be_played_are_named() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("tasks");
    task(&folder, "1-good", "");
    task(&folder, "2-compose", "");
    put(&folder, "2-compose/environment/docker-compose.yaml", "services: {}\n");
    task(&folder, "3-bare", "");
    fs::remove_dir_all(folder.join("3-bare/environment")).unwrap();
    fs::remove_file(folder.join("3-bare/steps/b/instruction.md")).unwrap();
    fs::remove_file(folder.join("3-bare/steps/b/tests/test.sh")).unwrap();
    task(
        &folder,
        "4-variable",
        "[environment.env]\nKEY = \"${SOME_KEY_OF_NOBODY}\"\nOTHER = \"${NONE:-x}\"\nPLAIN = \"$HOME\"\n",
    );
    put(&folder, "5-broken/task.toml", "[[steps]]\nname = 1\n");
    task(&folder, "6-odd", "color = 1\n[environment]\nstorage_mb = 10240\n");
    put(&folder, "not-a-task/readme.md", "");
    let tasks = Tasks::open(&folder).unwrap();
    let previews = tasks.previews(&settings(&[]));
    let refused: Vec<(&str, usize)> =
        previews.iter().map(|task| (task.name.as_str(), task.refused.len())).collect();
    let wanted =
        [("1-good", 0), ("2-compose", 1), ("3-bare", 3), ("4-variable", 1), ("5-broken", 1), ("6-odd", 0)];
    assert_eq!(refused, wanted, "{previews:?}");
    assert!(previews[1].refused[0].starts_with("environment/docker-compose.yaml"), "{previews:?}");
    assert!(previews[3].refused[0].contains("docker.env_vars=SOME_KEY_OF_NOBODY"), "{previews:?}");
    assert!(previews[5].notes.iter().any(|note| note.contains("the key color")), "{previews:?}");
    assert!(previews[0].notes.iter().any(|note| note.contains("limits.network=open")), "{previews:?}");
    let storage = |task: &TaskPreview| task.notes.iter().any(|note| note.contains("10240 MB of storage"));
    assert!(storage(&previews[5]) && !storage(&previews[0]), "{previews:?}");

    let planned = tasks.plan(&settings(&[])).unwrap();
    let names: Vec<(&str, u32)> =
        planned.iter().map(|episode| (episode.name.as_str(), episode.turns)).collect();
    assert_eq!(names, [("scenario_0", 2), ("scenario_5", 2)]);
    let named = tasks.plan(&settings(&["harbor.execute_episodes=5"])).unwrap();
    assert_eq!(named.len(), 1);
    let refused = tasks.plan(&settings(&["harbor.execute_episodes=1"])).unwrap_err().to_string();
    assert!(refused.contains("no task in it can be run. 2-compose"), "{refused}");
    assert!(tasks.plan(&settings(&["harbor.execute_episodes=9"])).is_err());
    assert!(tasks.list[0].uses_cases(&tasks.tree) && tasks.list[0].is_built);

    // A variable that is handed on is found.
    let handed = vec![("SOME_KEY_OF_NOBODY".to_owned(), "v".to_owned())];
    let env = &tasks.list[3].file().unwrap().env;
    let found = variables(env, &handed).unwrap();
    let values: Vec<&str> = found.iter().map(|(_, value)| value.as_str()).collect();
    assert_eq!(values, ["v", "x", "$HOME"]);
}

#[test]
fn one_task_and_a_folder_of_folders_are_tasks_as_well() {
    let room = tempfile::tempdir().unwrap();
    task(room.path(), "outer/one", "");
    assert_eq!(Tasks::open(&room.path().join("outer/one")).unwrap().list[0].name, "one");
    assert_eq!(Tasks::open(room.path()).unwrap().list[0].folder, "outer/one");
    let empty = tempfile::tempdir().unwrap();
    assert!(Tasks::open(empty.path()).unwrap_err().to_string().contains("task.toml"));
}

#[test]
fn the_hash_tells_other_files_and_no_other_place() {
    let room = tempfile::tempdir().unwrap();
    task(room.path(), "x/one", "");
    task(room.path(), "y/one", "");
    put(room.path(), "y/one/harbor_jobs/m/result.json", "{}");
    let hash = |path: &str| Tasks::open(&room.path().join(path)).unwrap().sha256().to_owned();
    assert_eq!(hash("x"), hash("y"), "results beside a task are no part of it");
    put(room.path(), "y/one/steps/a/tests/test.sh", "echo 2");
    assert_ne!(hash("x"), hash("y"));
}

#[test]
// docs/security.md: Tasks of Harbor
fn links_of_a_task_are_told_and_not_followed() {
    let room = tempfile::tempdir().unwrap();
    let tasks_folder = room.path().join("tasks");
    task(&tasks_folder, "one", "");
    std::os::unix::fs::symlink("/etc/passwd", tasks_folder.join("one/steps/a/tests/passwd")).unwrap();
    let tasks = Tasks::open(&tasks_folder).unwrap();
    let previews = tasks.previews(&settings(&[]));
    assert!(previews[0].notes.iter().any(|note| note.contains("passwd")), "{previews:?}");
    let mut packed = sandbox::PackedFiles::default();
    archives::folder(&tasks.tree, "one/steps/a/tests", "tests", &mut packed).unwrap();
    assert!(!String::from_utf8_lossy(packed.bytes()).contains("passwd"));
}

#[test]
fn what_a_harness_cannot_play_is_named_and_players_play_it() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("tasks");
    task(&folder, "1-offline", "[environment]\nallow_internet = false\n");
    task(&folder, "2-solved", "[solution.env]\nKEY = \"${SOME_KEY_OF_NOBODY}\"\n");
    let tasks = Tasks::open(&folder).unwrap();
    let refused = |more: &[&str]| -> Vec<usize> {
        tasks.previews(&settings(more)).iter().map(|task| task.refused.len()).collect()
    };
    let arguments = ["agent=MINI_SWE", "mini_swe.model_id=m", "endpoint.base_url=http://127.0.0.1:9"];
    // Over an open network the model is reached by the network, which this task must not have.
    assert_eq!(refused(&[&arguments[..], &["limits.network=open"]].concat()), [1, 0]);
    assert_eq!(refused(&arguments), [0, 0]);
    assert_eq!(refused(&["agent=NOP", "limits.network=open"]), [0, 0]);
    // Who executes the solution needs its variables.
    assert_eq!(refused(&["agent=MINI_SWE"]), [0, 1]);
    assert_eq!(refused(&["agent=ORACLE"]), [0, 1]);
}

#[test]
fn a_step_that_asks_for_another_session_than_it_gets_is_named() {
    let room = tempfile::tempdir().unwrap();
    for (name, first, second) in [("1-continued", false, true), ("2-own", true, false)] {
        task(room.path(), name, "");
        let steps = [("a", first), ("b", second)].map(|(step, continues)| {
            format!("[[steps]]\nname = \"{step}\"\ninherit_prior_session = {continues}\n")
        });
        put(room.path(), &format!("{name}/task.toml"), &steps.concat());
    }
    let tasks = Tasks::open(room.path()).unwrap();
    let noted = |more: &[&str]| -> Vec<bool> {
        let is_named = |note: &String| note.contains("inherit_prior_session");
        tasks.previews(&settings(more)).iter().map(|task| task.notes.iter().any(is_named)).collect()
    };
    assert_eq!(noted(&["agent=MINI_SWE"]), [false, true]);
    assert_eq!(noted(&["agent=MINI_SWE", "harbor.session=fresh"]), [true, false]);
    assert_eq!(noted(&["agent=MINI_SWE", "harbor.protocol=sr"]), [true, false]);
    assert_eq!(noted(&["agent=ORACLE", "harbor.session=fresh"]), [false, false], "it has no session");
}

#[test]
// docs/security.md: Tasks of Harbor
fn tasks_that_hold_more_than_is_ever_read_are_refused() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path();
    task(folder, "a", "");
    task(folder, "b", "");
    assert!(Tasks::open(folder).is_ok());
    // Without a byte on the disk.
    for task in ["a", "b"] {
        let file = fs::File::create(folder.join(task).join("environment/large")).unwrap();
        file.set_len(9 << 30).unwrap();
    }
    let refused = Tasks::open(folder).unwrap_err().to_string();
    assert!(refused.contains("more than 16 GiB"), "{refused}");
}

#[test]
// docs/security.md: Tasks of Harbor
fn what_tasks_are_is_told_without_reading_what_they_play() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path();
    task(folder, "one", "");
    put(folder, "one/steps/a/tests/test.sh", "echo CASE_NOTHING");
    let tasks = Tasks::open(folder).unwrap();
    assert_eq!(tasks.previews(&settings(&[])).len(), 1);
    assert_eq!(tasks.plan(&settings(&[])).unwrap().len(), 1);
    assert_eq!(tasks.images(&[0]).unwrap()[0].recipe.images, ["scratch"]);
    // What is read from here on is what lies there now.
    put(folder, "one/steps/a/tests/test.sh", "echo CASE_SUMMARY");
    assert!(tasks.list[0].uses_cases(&tasks.tree));
    assert_eq!(tasks.sha256(), Tasks::open(folder).unwrap().sha256());
    // It is read once.
    let before = tasks.sha256().to_owned();
    put(folder, "one/steps/a/tests/test.sh", "echo CASE_NOTHING");
    assert_eq!(tasks.sha256(), before);
    assert!(tasks.list[0].uses_cases(&tasks.tree));
    assert_ne!(before, Tasks::open(folder).unwrap().sha256());
}

#[tokio::test]
// docs/security.md: Tasks of Harbor
async fn a_simulated_model_holds_solutions_of_bounded_size() {
    let room = tempfile::tempdir().unwrap();
    let tasks_folder = room.path();
    for (name, bytes) in [("1-small", 10), ("2-large", 5 << 20), ("3-of-step", 5 << 20)] {
        task(tasks_folder, name, "");
        let folder = if name == "3-of-step" { "steps/b/solution" } else { "solution" };
        put(tasks_folder, &format!("{name}/{folder}/solve.sh"), "true");
        let file = fs::File::create(tasks_folder.join(name).join(folder).join("data")).unwrap();
        file.set_len(bytes).unwrap();
    }
    let tasks = Arc::new(Tasks::open(tasks_folder).unwrap());
    let refused = |more: &[&str]| -> Vec<usize> {
        tasks.previews(&settings(more)).iter().map(|task| task.refused.len()).collect()
    };
    // The simulated model writes it; the player has it laid into its container.
    assert_eq!(refused(&["agent=MINI_SWE"]), [0, 1, 1]);
    assert_eq!(refused(&["agent=ORACLE"]), [0, 0, 0]);
    assert_eq!(
        refused(&["agent=MINI_SWE", "mini_swe.model_id=m", "endpoint.base_url=http://127.0.0.1:9"]),
        [0, 0, 0]
    );
    let error = tasks.solution("2-large/solution".to_owned()).await.unwrap_err();
    assert!(error.contains("more than 4 MiB"), "{error}");
    // All of them together are bounded by permits, which come back.
    let all = tasks.solutions.available_permits();
    assert_eq!(all, 64 << 10, "a KiB each");
    let held = tasks.solution("1-small/solution".to_owned()).await.unwrap();
    assert_eq!((held.files.len(), all - tasks.solutions.available_permits()), (2, 1));
    drop(held);
    assert_eq!(tasks.solutions.available_permits(), all);
}

#[test]
// docs/security.md: Tasks of Harbor
fn what_is_read_of_all_tasks_to_list_them_is_bounded_together() {
    let room = tempfile::tempdir().unwrap();
    let (files, recipes) = (room.path().join("files"), room.path().join("recipes"));
    let comment = format!("#{}\n", "x".repeat(1_000_000));
    for number in 0..9 {
        task(&files, &number.to_string(), &comment);
    }
    let refused = Tasks::open(&files).unwrap_err().to_string();
    assert!(refused.contains("more than 8 MiB together"), "{refused}");
    for number in 0..34 {
        let name = number.to_string();
        task(&recipes, &name, "");
        put(&recipes, &format!("{name}/environment/Dockerfile"), &format!("{comment}FROM scratch\n"));
    }
    let tasks = Tasks::open(&recipes).unwrap();
    assert_eq!(tasks.images(&[0, 1, 2]).unwrap().len(), 3);
    let all: Vec<u32> = (0..34).collect();
    let refused = tasks.images(&all).unwrap_err().to_string();
    assert!(refused.contains("more than 32 MiB together"), "{refused}");
}

#[test]
fn steps_by_themselves_need_the_solutions_of_the_steps_before() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path();
    for (name, solved) in [("1-all", "b"), ("2-first", "a"), ("3-none", "")] {
        task(folder, name, "[solution.env]\nKEY = \"${SOME_KEY_OF_NOBODY:-x}\"\n");
        for step in ["a", "b"].iter().filter(|step| **step <= solved) {
            put(folder, &format!("{name}/steps/{step}/solution/solve.sh"), "true");
        }
    }
    let tasks = Tasks::open(folder).unwrap();
    let refused = |more: &[&str]| -> Vec<usize> {
        tasks.previews(&settings(more)).iter().map(|task| task.refused.len()).collect()
    };
    assert_eq!(refused(&["agent=NOP"]), [0, 0, 0]);
    // Nothing begins from the last step.
    assert_eq!(refused(&["agent=NOP", "harbor.protocol=sr"]), [0, 0, 1]);
    let refusal = &tasks.previews(&settings(&["agent=NOP", "harbor.protocol=sr"]))[2].refused[0];
    assert!(refusal.contains("its step a has no reference solution"), "{refusal}");
}
