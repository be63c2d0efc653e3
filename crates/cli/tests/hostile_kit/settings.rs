//! Files of settings, and what they name: files of harnesses, tasks.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::app::TestHome;
use crate::hostile_kit::bounded_run::run;
use crate::hostile_kit::outside::Outside;
use crate::hostile_kit::{SourceHarm, fifo, is_harmless, link, sparse};

/// What is wrong with a file of settings. What there is very many of may be left out; all others are refused.
fn harms(outside: &Path) -> Vec<SourceHarm> {
    let secret = outside.join("secret.yaml");
    vec![
        ("a pipe", Box::new(fifo)),
        ("a link to a device", Box::new(|path| link("/dev/zero", path))),
        ("a link outside", Box::new(move |path| link(&secret, path))),
        ("a giant", Box::new(|path| sparse(path, 64 << 30))),
        ("another file", writes("[default]\naws_secret = hunter2\n".to_owned())),
        ("a list of another file", writes("- hunter2: hunter2\n- hunter2\n".to_owned())),
        ("no text", Box::new(|path| fs::write(path, b"agent: MOCK\n\xff\xfe\0").expect("a file"))),
        ("aliases of aliases", {
            let mut text = "agent: MOCK\na0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
            for n in 1..40 {
                writeln!(text, "a{n}: &a{n} [{}]", vec![format!("*a{}", n - 1); 9].join(","))
                    .expect("a text");
            }
            writes(text)
        }),
        ("deep brackets", writes(format!("agent: {}", "[".repeat(1_000_000)))),
        ("names of names", writes(format!("{}a: b\n", "? ".repeat(400_000)))),
        ("very many values", writes(format!("agent: [{}0]\n", "0,".repeat(500_000)))),
        ("a very long name", writes(format!("agent: MOCK\n{}: 1\n", "x".repeat(1_000_000)))),
        (
            "very many names, and what a terminal obeys",
            writes((0..60_000).fold("agent: MOCK\n\"\\e]0;x\\a\\u202e\": 1\n".to_owned(), |text, n| {
                text + &format!("k{n}: 1\n")
            })),
        ),
    ]
}

/// Writes a text into the place of a file.
fn writes(text: String) -> Box<dyn Fn(&Path)> {
    Box::new(move |path| fs::write(path, &text).expect("a file"))
}

#[test]
// docs/security.md: The hostile kit
fn hostile_settings_do_no_harm() {
    let test_home = TestHome::new();
    let outside = Outside::new(&test_home);
    let folder = test_home.path("results");
    fs::create_dir(&folder).expect("a folder");
    let (config, path) = (folder.join("config.yaml"), folder.join("config.yaml").display().to_string());
    let request = |file: Option<&str>, folder: Option<&Path>| {
        serde_json::json!({ "yaml": null, "file": file, "run": null, "folder": folder }).to_string()
    };
    let (file_request, folder_request) = (request(Some(&path), None), request(None, Some(&folder)));
    for (label, harm) in harms(&outside.folder) {
        drop(fs::remove_file(&config));
        harm(&config);
        for args in [
            &["rpc", "load_settings", &file_request][..],
            &["rpc", "load_settings", &folder_request],
            &["preflight", "--no-call", "--configs", &path],
        ] {
            // Whoever names a link chose where it leads.
            if args[0] == "preflight" && label == "a link outside" {
                continue;
            }
            let ran = run(&test_home, args);
            is_harmless(&format!("{label}, {}", args[0]), &ran, &outside);
            assert!(!ran.status.success() || label.contains("very"), "{label} is taken: {}", ran.output);
        }
    }
    // What settings name is somebody else's as well.
    let named = test_home.path("named");
    let deep_keys = writes(format!("{}b = 1\n", "a.".repeat(500_000)));
    for (label, harm) in harms(&outside.folder).into_iter().chain([("deep keys", deep_keys)]) {
        if label == "a link outside" {
            continue;
        }
        drop(fs::remove_file(&named));
        harm(&named);
        let text = format!("agent: CUSTOM\ncustom: {{model_id: m}}\nharness_file: {}\n", named.display());
        drop(fs::remove_file(&config));
        fs::write(&config, text).expect("a file");
        let ran = run(&test_home, &["preflight", "--no-call", "--configs", &path]);
        is_harmless(&format!("{label} as a file of a harness"), &ran, &outside);
        assert!(!ran.status.success(), "{label} is a harness: {}", ran.output);
    }
}

#[test]
// docs/security.md: The hostile kit
fn hostile_tasks_do_no_harm() {
    let test_home = TestHome::new();
    let outside = Outside::new(&test_home);
    let task = test_home.path("tasks/a");
    let deep_keys = format!("[metadata]\n{}b = 1\n", "a.".repeat(1 << 20));
    let many_steps = "[[steps]]\nname = \"a\"\n".repeat(100_000);
    let many_values = format!("[metadata]\nx = [{}1]\n", "1,".repeat(3 << 20));
    let harms: Vec<SourceHarm> = vec![
        ("a pipe", Box::new(fifo)),
        ("a link to a device", Box::new(|path| link("/dev/zero", path))),
        ("a giant", Box::new(|path| sparse(path, 64 << 30))),
        ("deep keys", writes(deep_keys)),
        ("very many steps", writes(many_steps)),
        ("very many values", writes(many_values)),
        ("very many lines", writes("RUN \\\n".repeat(1 << 20))),
        ("another file", writes("[default]\naws_secret = hunter2\n".to_owned())),
        ("what a terminal obeys", writes("name = \"\u{1b}]0;x\u{7}\u{202e}\"\nFROM \u{9b}31m\n".to_owned())),
        ("a link outside", {
            let secret = outside.folder.join("secret.txt");
            Box::new(move |path| link(&secret, path))
        }),
    ];
    let tasks = format!("tasks={}", test_home.path("tasks").display());
    for name in
        ["task.toml", "environment/Dockerfile", "instruction.md", "solution/solve.sh", "tests/test.sh"]
    {
        for (label, harm) in &harms {
            drop(fs::remove_dir_all(&task));
            for (path, text) in [
                ("task.toml", "version = \"1.0\"\n"),
                ("environment/Dockerfile", "FROM debian\n"),
                ("instruction.md", "Do it.\n"),
                ("solution/solve.sh", "true\n"),
                ("tests/test.sh", "true\n"),
            ] {
                fs::create_dir_all(task.join(path).parent().expect("a folder")).expect("a folder");
                fs::write(task.join(path), text).expect("a file");
            }
            let path = task.join(name);
            drop(fs::remove_file(&path));
            harm(&path);
            let args = [
                "preflight",
                "--no-call",
                "--values",
                "benchmark=HARBOR",
                &tasks,
                "agent=NOP",
                "output_dir=out",
            ];
            let ran = run(&test_home, &args);
            is_harmless(&format!("{label} as {name}"), &ran, &outside);
        }
    }
}
