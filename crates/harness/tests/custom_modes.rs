//! What a harness file says for the gateway only and for direct mode only, and a session that continues without its id.
#![allow(clippy::unwrap_used, reason = "a file that cannot be written is a failure")]

use harness::{Call, Endpoint, Harness, HarnessError, HarnessFile, Invocation, Needs, Session};

use crate::common::{self, CommandResult, ID, endpoint};

const FILE: &str = r#"
name = "two_modes"
version = "1"
image = "example/two-modes:1"
api = "chat_completions"
probe = ["agent", "--version"]
[needs]
tools = true
streams = false
first_request_bytes = 8000
[commands]
first = ["agent", "-m", "{model_name}", "--stop-after", "{own_limit}", "--request", "{prompt}"]
later = ["agent", "-m", "{model_name}", "--session", "{session}", "--request", "{prompt}"]
later_without_id = ["agent", "-m", "{model_name}", "--last", "--request", "{prompt}"]
[env]
IN_BOTH = "1"
WHERE = "of both"
[gateway]
model = "openai/{model}"
[gateway.env]
WHERE = "{base_url}/v1"
[[gateway.files]]
path = "gateway.json"
quote = "json"
text = '{"most": {max_output_tokens}}'
[direct.commands]
stdin = true
first = ["agent", "--from-variables", "-m", "{model_name}"]
later = ["agent", "--from-variables", "--session", "{session}"]
[direct.env]
DIRECT = "{model_name}"
[session]
from = "stdout"
key = "session"
[success]
last_line = { ok = true }
"#;

fn loaded(text: &str) -> Result<HarnessFile, HarnessError> {
    let room = tempfile::tempdir().unwrap();
    let file = room.path().join("own.toml");
    std::fs::write(&file, text).unwrap();
    harness::load(&file)
}

fn direct() -> Endpoint {
    Endpoint { base_url: String::new(), key: String::new(), ..endpoint() }
}

fn make_invocation(
    harness: &HarnessFile,
    endpoint: &Endpoint,
    session: Option<&Session>,
) -> Result<Invocation, HarnessError> {
    harness.invocation(&Call {
        turn: 1,
        attempt: 1,
        prompt: "build it",
        session,
        earlier: None,
        session_id: ID,
        endpoint,
        seconds: 600,
        home: harness::HOME,
        workspace: harness::WORKSPACE,
    })
}

fn env(invocation: &Invocation) -> Vec<(&str, &str)> {
    invocation.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

#[test]
fn the_gateway_and_direct_mode_have_parts_of_their_own() {
    let harness = loaded(FILE).unwrap();
    let needs = Needs { tools: true, streams: false, first_request_bytes: 8000 };
    assert_eq!(harness.needs(), Some(needs));
    let gateway = make_invocation(&harness, &endpoint(), None).unwrap();
    let expected = ["agent", "-m", "openai/mock-model", "--stop-after", "590", "--request", "build it"];
    assert_eq!(gateway.argv, expected);
    let address = "http://172.20.0.1:41001/a/6f3c/v1";
    assert_eq!(env(&gateway), [("IN_BOTH", "1"), ("WHERE", address)]);
    let files: Vec<_> = gateway.files.iter().map(|f| (f.path.as_str(), f.text.as_str())).collect();
    assert_eq!(files, [("gateway.json", "{\"most\": 32000}")], "no file for a request that is an argument");

    let direct = make_invocation(&harness, &direct(), None).unwrap();
    assert_eq!(&direct.argv[5..], ["agent", "--from-variables", "-m", "mock-model"]);
    assert_eq!(env(&direct), [("DIRECT", "mock-model"), ("IN_BOTH", "1"), ("WHERE", "of both")]);
    let files: Vec<_> = direct.files.iter().map(|f| (f.path.as_str(), f.text.as_str())).collect();
    assert_eq!(files, [(".stamina/prompt.md", "build it")]);
}

#[test]
fn a_file_of_one_mode_takes_the_place_of_that_of_both() {
    let shared_file = "[[files]]\npath = \"gateway.json\"\ntext = \"of both\"\n[success]";
    let text = FILE.replacen("[success]", shared_file, 1);
    let files = |text: &str, endpoint: &Endpoint| -> Result<Vec<String>, HarnessError> {
        let invocation = make_invocation(&loaded(text)?, endpoint, None)?;
        let files = invocation.files.into_iter().filter(|file| file.path == "gateway.json");
        Ok(files.map(|file| file.text).collect())
    };
    assert_eq!(files(&text, &endpoint()).unwrap(), ["{\"most\": 32000}"]);
    assert_eq!(files(&text, &direct()).unwrap(), ["of both"]);
    // What is not used in direct mode needs no gateway.
    let needs_gateway = text.replace("of both\"\n[success]", "{base_url}\"\n[success]");
    let error = files(&needs_gateway, &direct()).unwrap_err();
    assert!(matches!(error, HarnessError::NoDirect { .. }), "{error}");
    let direct_file = "[[direct.files]]\npath = \"gateway.json\"\ntext = \"{model}\"\n[success]";
    let has_own = needs_gateway.replacen("[success]", direct_file, 1);
    assert_eq!(files(&has_own, &direct()).unwrap(), ["mock-model"]);
}

#[test]
fn a_session_without_its_id_continues_as_the_last_one_unless_that_may_be_another() {
    let harness = loaded(FILE).unwrap();
    let silent = CommandResult::empty().outcome(&harness).session.unwrap();
    assert_eq!(silent.id, None);
    let last = make_invocation(&harness, &endpoint(), Some(&silent)).unwrap();
    assert_eq!(last.argv, ["agent", "-m", "openai/mock-model", "--last", "--request", "build it"]);
    let silent =
        CommandResult::empty().with_earlier(Some(Session::default())).outcome(&harness).session.unwrap();
    let error = make_invocation(&harness, &endpoint(), Some(&silent)).unwrap_err();
    assert!(matches!(error, HarnessError::NoSession { .. }), "{error}");
    // With its id, it is continued.
    let known = Session { id: Some("s-1".to_owned()), ..silent };
    let later = make_invocation(&harness, &endpoint(), Some(&known)).unwrap();
    assert_eq!(later.argv[3..5], ["--session", "s-1"]);
}

#[test]
fn a_program_that_finds_its_session_itself_needs_no_later_command_but_says_so() {
    let first_alone: Vec<&str> = FILE.lines().filter(|line| !line.starts_with("later")).collect();
    let declared = first_alone.join("\n").replace("from = \"stdout\"\nkey = \"session\"", "from = \"none\"");
    assert!(declared.contains("[session]\nfrom = \"none\"\n"), "{declared}");
    let harness = loaded(&declared).unwrap();
    // Its command is the same at every call.
    let first = make_invocation(&harness, &endpoint(), None).unwrap();
    let later = make_invocation(&harness, &endpoint(), Some(&Session::default())).unwrap();
    assert_eq!(first.argv[..2], ["agent", "-m"]);
    assert_eq!(later.argv, first.argv);
    let undeclared = declared.replace("[session]\nfrom = \"none\"\n", "");
    let error = loaded(&undeclared).unwrap_err().to_string();
    assert!(error.contains("session.from: without it and without commands.later"), "{error}");
}

#[test]
fn a_file_names_a_program_whose_outcome_is_known() {
    // A fork of Codex with a command of its own.
    let text = r#"
name = "fork"
version = "1"
image = "example/fork:1"
api = "responses"
probe = ["fork", "--version"]
outcome = "codex"
[commands]
stdin = true
first = ["fork", "exec", "--json"]
later = ["fork", "exec", "--json", "resume", "{session}"]
[session]
from = "outcome"
uuid = true
"#;
    let fork = loaded(text).unwrap();
    let codex = harness::find("codex").unwrap();
    for name in ["turn1", "turn2", "fail-ctx", "malformed"] {
        let left = || CommandResult::case(&common::fixtures().join("codex"), name);
        assert_eq!(left().outcome(&fork), left().outcome(codex), "{name}");
    }
    // Those whose code finds a session in one way only are refused where the file says another.
    let trajectory_path = ".stamina/mini/trajectory.json";
    let session = "from = \"outcome\"\nuuid = true";
    let named = |file: &str| format!("from = \"file\"\nfile = \"{file}\"");
    let with_file = text.replace("{session}", "{home}/{session_file}");
    let cases = [
        ("mini_swe", text.to_owned(), Err("session.file: with this outcome")),
        ("mini_swe", with_file.replace(session, &named(".fork/history.json")), Err(trajectory_path)),
        ("mini_swe", with_file.replace(session, &named(trajectory_path)), Ok(())),
        ("kimi_cli", text.to_owned(), Err("session.from: with this outcome it is \"caller\"")),
        ("kimi_cli", text.replace("from = \"outcome\"", "from = \"caller\""), Ok(())),
    ];
    for (program, text, expected) in cases {
        let loaded = loaded(&text.replace("outcome = \"codex\"", &format!("outcome = \"{program}\"")));
        match (expected, loaded) {
            (Ok(()), loaded) => assert_eq!(loaded.unwrap().name(), "fork"),
            (Err(reason), loaded) => {
                let error = loaded.unwrap_err().to_string();
                assert!(error.contains(reason), "{reason:?} is not in {error:?}");
            }
        }
    }
    let session = Session { id: Some("not-a-uuid".to_owned()), calls: 1, ..Session::default() };
    let error = make_invocation(&fork, &endpoint(), Some(&session)).unwrap_err().to_string();
    assert!(error.contains("fork left no session to continue: no thread.started"), "{error}");
}

#[test]
fn a_session_is_a_file_that_stamina_lab_names() {
    let text = r#"
name = "with_history"
version = "1"
image = "example/with-history:1"
api = "messages"
probe = ["agent", "--version"]
[commands]
first = ["agent", "--history", "{home}/{session_file}", "--request", "{prompt}"]
[commands.later_env]
RESUME = "{calls}"
[session]
from = "file"
file = ".agent/history.json"
[success]
last_line = { ok = true }
"#;
    let harness = loaded(text).unwrap();
    let first = make_invocation(&harness, &endpoint(), None).unwrap();
    assert_eq!((first.argv[2].as_str(), env(&first)), ("/agent/.agent/history.json", Vec::new()));
    let session = CommandResult::empty().outcome(&harness).session.unwrap();
    let later = make_invocation(&harness, &direct(), Some(&session)).unwrap();
    assert_eq!((later.argv[2].as_str(), env(&later)), ("/agent/.agent/history.json", vec![("RESUME", "1")]));
    // A restarted session does not read the file of the earlier one, and keeps its own.
    let restarted = CommandResult::empty().with_earlier(Some(session)).outcome(&harness).session.unwrap();
    let later = make_invocation(&harness, &endpoint(), Some(&restarted)).unwrap();
    assert_eq!(later.argv[2], format!("/agent/.agent/history-{ID}.json"));
    for (old_text, new_text, expected) in [
        (".agent/history.json", "../history.json", "session.file: \"../history.json\" is not a path"),
        (".agent/history.json", "history", "session.file: session.from = \"file\" needs a path"),
        ("from = \"file\"", "from = \"none\"", "session.from: {session_file} needs session.from"),
        ("{session_file}", "history", "session.from: no command uses {session_file}"),
        ("RESUME", "HOME", "commands.later_env.HOME: this variable cannot be set"),
    ] {
        let error = loaded(&text.replacen(old_text, new_text, 1)).unwrap_err().to_string();
        assert!(error.contains(expected), "{expected:?} is not in {error:?}");
    }
}

#[test]
fn an_id_that_may_not_be_used_takes_no_place_of_one_that_may() {
    let text = FILE.replace("from = \"stdout\"", "from = \"stdout\"\nuuid = true");
    let harness = loaded(&text).unwrap();
    let printed = format!("{{\"session\": \"{ID}\"}}\n{{\"session\": \"a-title\"}}\n");
    let left = CommandResult { stdout: printed.into_bytes(), ..CommandResult::empty() };
    assert_eq!(left.outcome(&harness).session.unwrap().id.as_deref(), Some(ID));
    // In a name, too: a file beside that of the session has no UUID in its name.
    let text = text.replace("from = \"stdout\"", "from = \"files\"");
    let text = text.replace("key = \"session\"", "files = \".agent/*.jsonl\"");
    let left = CommandResult::empty().file(&format!(".agent/{ID}.jsonl"), "").file(".agent/index.jsonl", "");
    let session = left.outcome(&loaded(&text).unwrap()).session.unwrap();
    assert_eq!(session.id.as_deref(), Some(ID));
}

#[test]
fn errors_name_the_key() {
    for (old_text, new_text, expected) in [
        ("[success]", "outcome = \"codex\"\n[success]", "unknown field `outcome`"),
        ("api =", "outcome = \"nobody\"\napi =", "unknown variant `nobody`"),
        ("api =", "outcome = \"codex\"\napi =", "session.from: with an outcome it is"),
        ("openai/{model}", "{key}", "gateway.model: {key} cannot be used here"),
        (
            "stdin = true\nfirst = [\"agent\"",
            "first = [\"agent\"",
            "direct.commands.first: the request is missing",
        ),
        ("--last", "{session}", "commands.later_without_id: {session} is not known"),
        ("from = \"stdout\"", "from = \"none\"", "commands.later_without_id: it needs commands.later"),
        ("DIRECT = ", "HOME = ", "direct.env.HOME: this variable cannot be set"),
        ("path = \"gateway.json\"", "path = \"../x\"", "gateway.files[0].path: \"../x\" is not a path"),
        ("{max_output_tokens}", "{most}", "gateway.files[0].text: there is no placeholder {most}"),
        (
            "[success]",
            "[transcript]\nreader = \"codex-jsonl\"\nfile = \"{session_file}\"\n[success]",
            "session.from: {session_file} needs session.from = \"file\"",
        ),
        ("from = \"stdout\"", "from = \"outcome\"", "session.from: \"outcome\" needs an outcome"),
    ] {
        assert!(FILE.contains(old_text), "{old_text}");
        let error = loaded(&FILE.replacen(old_text, new_text, 1)).unwrap_err().to_string();
        assert!(error.contains(expected), "{expected:?} is not in {error:?}");
    }
    let with_outcome = FILE.replace("from = \"stdout\"\nkey = \"session\"", "from = \"outcome\"");
    let with_outcome = with_outcome.replace("api =", "outcome = \"codex\"\napi =");
    let error = loaded(&with_outcome).unwrap_err().to_string();
    assert!(error.contains("success: outcome already says how this is read"), "{error}");
}
