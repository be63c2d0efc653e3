use super::*;

const BASE: &str = r#"
name = "my_agent"
version = "1"
image = "example/my-agent:1"
api = "messages"
probe = ["my-agent", "--version"]
[commands]
first = ["my-agent", "{prompt_file}", "{session}"]
[session]
from = "caller"
[success]
last_line = { ok = true }
"#;

fn error(text: &str) -> String {
    parse(text).unwrap_err()
}

#[test]
fn errors_name_the_key() {
    assert!(parse(BASE).is_ok());
    let replaced = |old_text: &str, new_text: &str| {
        assert!(BASE.contains(old_text), "{old_text}");
        error(&BASE.replacen(old_text, new_text, 1))
    };
    for (old_text, new_text, expected) in [
        ("\"my_agent\"", "\"My agent\"", "name: \"My agent\" is not a word"),
        ("\"my_agent\"", "\"codex\"", "name: codex is the name of a harness"),
        ("\"example/my-agent:1\"", "\"\"", "image: it is empty"),
        ("[\"my-agent\", \"--version\"]", "[]", "probe: it names no program"),
        ("\"messages\"", "\"chat\"", "unknown variant `chat`"),
        ("{session}", "{sesion}", "commands.first[2]: there is no placeholder {sesion}; there are {prompt} "),
        ("\"{prompt_file}\", ", "", "commands.first: the request is missing"),
        ("\"{session}\"", "\"x\"", "session.from: no command uses {session}"),
        (
            "from = \"caller\"",
            "from = \"stdout\"\nkey = \"a\"",
            "{session} is not known before the first call",
        ),
        ("from = \"caller\"", "from = \"nobody\"", "unknown variant `nobody`"),
        ("[session]\nfrom = \"caller\"", "", "{session} is not known before the first call"),
        (
            "[session]",
            "[[files]]\npath = \"../x\"\ntext = \"\"\n[session]",
            "files[0].path: \"../x\" is not a path below HOME",
        ),
        ("[session]", "[env]\nHOME = \"x\"\n[session]", "env.HOME: this variable cannot be set"),
        (
            "[session]",
            "[transcript]\nfile = \"x\"\n[session]",
            "transcript.file: it needs a transcript.reader",
        ),
        (
            "[session]",
            "[transcript]\nreader = \"vibe-jsonl\"\nlist = \"x\"\n[session]",
            "transcript.list: it needs a document",
        ),
        (
            "[session]",
            "[transcript]\nreader = \"pi-jsonl\"\nhas_end = true\n[session]",
            "transcript.has_end: it needs a file",
        ),
        (
            "last_line = { ok = true }",
            "among = { ok = true }\nfile = { path = \"x\", has = { ok = true } }",
            "success.among: it needs a success.last_line",
        ),
        ("[session]", "[usage]\nlines = true\n[session]", "usage.lines: it needs a file"),
        ("[session]", "[failure]\nfile = \"x\"\n[session]", "failure.file: it needs a failure.message"),
        (
            "[session]",
            "[failure]\nmessage = \"a\"\nfile = \"/x\"\n[session]",
            "failure.file: \"/x\" is not a path below HOME",
        ),
        ("last_line = { ok = true }", "exit_code = 0", "success: it needs last_line or file"),
        ("last_line", "lst_line", "unknown field `lst_line`"),
        (
            "[success]",
            "[failure.reasons]\n\"x\" = \"passed_all\"\n[success]",
            "passed_all is not one of the reasons",
        ),
        (
            "[\"my-agent\", \"{prompt_file}\", \"{session}\"]",
            "[\"/bin/sh\", \"-ec\", \"my-agent {prompt}\", \"{session}\"]",
            "commands.first: {prompt} inside a shell's script would be read as shell",
        ),
    ] {
        let message = replaced(old_text, new_text);
        assert!(message.contains(expected), "{expected:?} is not in {message:?}");
    }
    // An agent that finds its session itself has the same command every time, and the file must declare it.
    let alone = BASE.replace(", \"{session}\"", "");
    assert!(parse(&alone.replace("\"caller\"", "\"none\"")).is_ok());
    assert!(error(&alone.replace("[session]\nfrom = \"caller\"", "")).starts_with("session.from: "));
    // An error in TOML names the line.
    assert!(error("name = \"a\"\nversion = ").contains("line 2"));
}

#[test]
fn a_missing_file_is_named() {
    let error = load(Path::new("/nowhere/at/all.toml")).unwrap_err().to_string();
    assert!(error.starts_with("/nowhere/at/all.toml: "), "{error}");
}

#[test]
fn only_words_in_braces_are_placeholders() {
    let (pieces, rest) = template::pieces("{\"a\": {model}, ${HOME} {x y} {env:KEY} {}{key}} {");
    assert_eq!(pieces, [("{\"a\": ", "model"), (", ${HOME} {x y} {env:KEY} {}", "key")]);
    assert_eq!(rest, "} {");
    assert_eq!(template::pieces("{{model}}").0, [("{", "model")]);
}

#[test]
// docs/security.md: A file that is loaded as settings
fn a_file_that_is_not_a_harness_is_not_quoted() {
    for text in [
        "[default]\nkey = hunter2\n",
        "root:x:0:hunter2\n",
        "name = \"hunter2\nx\"\n",
        "name = [\"hunter2\"]\n",
        "api = \"hunter2_value\"\n",
        "[hunter2_section]\n",
        "name = \"a\"\nhunter2 = 1\n",
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.starts_with("line ") && !error.contains("hunter2"), "{error}");
    }
    assert!(parse("[default]\nkey = hunter2\n").unwrap_err().starts_with("line 2, column "));
}
