use super::cut::shared_starts;
use super::*;

#[test]
fn names_are_one_line_in_one_direction() {
    assert_eq!(clean(" a\n\tb\u{0}\u{1b}[31m\u{202e}c \u{2067}"), "a b[31mc");
    assert_eq!(clean("\u{200f}\u{7}"), "(no name)");
    assert_eq!(clean("נועם · 模型"), "נועם · 模型");
}

#[test]
fn long_names_lose_their_middle() {
    let name = "qwen3.5-122b-a10b-instruct-2026-06-01-with-a-very-long-suffix-fp8";
    let cut = fit(name, 100.0, 11.0);
    assert!(text_width(&cut, 11.0) <= 100.0 && text_width(&cut, 11.0) > 85.0, "{cut}");
    assert!(cut.starts_with("qwen3") && cut.ends_with("-fp8") && cut.contains('…'), "{cut}");
    assert_eq!(fit("short", 100.0, 11.0), "short");
    assert_eq!(fit("short", 5.0, 11.0), "");
    let family = "👩‍👩‍👧".repeat(30);
    let cut = fit(&family, 120.0, 11.0);
    assert!(cut.replace('…', "").graphemes(true).all(|g| g == "👩‍👩‍👧"), "{cut}");
    let endless = "x".repeat(3_000_000);
    assert!(text_width(&fit(&endless, 50.0, 11.0), 11.0) <= 50.0);
}

#[test]
fn names_that_differ_stay_different_in_a_narrow_column() {
    let labels = |names: &[String], simulated| -> Vec<SeriesLabel> {
        names.iter().map(|name| SeriesLabel { simulated, ..SeriesLabel::new(name.clone(), 0) }).collect()
    };
    let middle: Vec<String> =
        (1..=8).map(|i| format!("claude-opus-4.8-with-tools-and-{i}-retries-2026-06-01-fp8")).collect();
    let end: Vec<String> =
        (1..=8).map(|i| format!("run of the second of June 2026 number {i} of all")).collect();
    for names in [&middle, &end] {
        for simulated in [false, true] {
            let labels = labels(names, simulated);
            let refs: Vec<&SeriesLabel> = labels.iter().collect();
            for width in [40.0, 60.0, 90.0, 1e9] {
                let texts = shown_all(&refs, width, 7.0);
                let distinct: std::collections::BTreeSet<&String> = texts.iter().collect();
                assert_eq!(distinct.len(), 8, "{texts:?}");
                assert!(texts.iter().all(|text| text_width(text, 7.0) <= width + 0.02), "{width}: {texts:?}");
                // All say that they are simulated, or none does and each can be read.
                let is_said = texts.iter().all(|text| text.contains("(sim"));
                let are_read = texts.iter().all(|text| !text.contains("(sim") && !is_nonsense(text));
                assert!(!simulated || is_said || are_read, "{width}: {texts:?}");
            }
        }
    }
    let long = labels(&middle, false);
    let texts = shown_all(&long.iter().collect::<Vec<_>>(), 60.0, 7.0);
    assert_eq!(texts[2], "and-3");
    // Equal names stay equal.
    let same = labels(&["a".to_owned(), "a".to_owned()], false);
    assert_eq!(shown_all(&same.iter().collect::<Vec<_>>(), 60.0, 7.0), ["a", "a"]);
}

#[test]
fn names_lose_what_all_of_them_share_before_they_are_cut() {
    let labels: Vec<SeriesLabel> = ["strong", "middling", "weak"]
        .iter()
        .flat_map(|model| ["codex", "claude_code", "kimi_code"].map(|h| format!("oracle-{model} · {h}")))
        .map(|name| SeriesLabel { simulated: true, ..SeriesLabel::new(name, 0) })
        .collect();
    let refs: Vec<&SeriesLabel> = labels.iter().collect();
    let shown = |width: f64| shown_all(&refs, width, 7.0);
    assert_eq!(shown(1e9)[4], "oracle-middling · claude_code (simulated)");
    let narrow = text_width("middling · claude_code (sim.)", 7.0);
    assert_eq!(shown(narrow)[4], "middling · claude_code (sim.)");
    assert_eq!(shown(narrow)[8], "weak · kimi_code (sim.)");
    // A common harness is removed.
    let labels_of_one = [&labels[0], &labels[3], &labels[6]];
    assert_eq!(shown_all(&labels_of_one, 60.0, 7.0), ["strong (sim.)", "middling (sim.)", "weak (sim.)"]);
    // The charts of 42 models said "organization-with-a-long-…0…", their chips "… qwen3.5-instruct-variant-00-…".
    let many: Vec<String> = (0..42)
        .map(|i| format!("organization-with-a-long-name/qwen3.5-instruct-variant-{i:02}-2026-06-01-high-1m"))
        .collect();
    let short = short_names(&many);
    assert_eq!((short[0].as_str(), short[41].as_str()), ("variant-00", "variant-41"));
    let labels: Vec<SeriesLabel> = many.iter().map(|name| SeriesLabel::new(name.clone(), 0)).collect();
    assert_eq!(shown_all(&labels.iter().collect::<Vec<_>>(), 60.0, 7.0), short);
    // Names of other forms, and a name that is the start of others, are not split.
    assert_eq!(without_shared(&["a-b", "a"]), None);
    assert_eq!(without_shared(&["a-b · x", "a-c"]), None);
    // A number is not a name.
    assert_eq!(without_shared(&["glm-5.1", "glm-5.2"]), None);
}

/// "oracle (job…terrupted)" had the start that another name has, too, and not all of its own part.
#[test]
fn a_name_is_cut_in_what_it_shares_with_another() {
    let labels = ["oracle (jobs-interrupted)", "oracle (jobs-k2)", "GPT-5.5 · codex"]
        .map(|name| SeriesLabel::new(name, 0))
        .to_vec();
    let refs: Vec<&SeriesLabel> = labels.iter().collect();
    let least = text_width("oracle (jobs-k2)", 7.0).max(text_width("GPT-5.5 · codex", 7.0));
    for cut in ["oracle (…interrupted)", "…interrupted)"] {
        let width = text_width(cut, 7.0).max(least);
        let texts = shown_all(&refs, width, 7.0);
        assert!(texts[0].ends_with("…interrupted)"), "{texts:?}");
        assert_eq!((texts[1].as_str(), texts[2].as_str()), ("oracle (jobs-k2)", "GPT-5.5 · codex"));
    }
    let width = text_width("oracle (…interrupted)", 7.0);
    assert_eq!(shown_all(&refs, width, 7.0)[0], "oracle (…interrupted)");
    // A number alone is no own part.
    assert_eq!(shared_starts(&["glm-5.1", "glm-5.2", "other"]), [0, 0, 0]);
    assert_eq!(shared_starts(&["a-one-x", "a-one-y", "b"]), [2, 2, 0]);
}

#[test]
fn names_that_share_text_get_no_equal_short_names() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let cases: [(&[&str], &[&str]); 10] = [
        (&["glm, 2 runs", "glm 2 runs"], &["glm, 2 runs", "glm 2 runs"]),
        (&["opus-4.8 · opencode", "opus-4.8 · mini-swe"], &["opencode", "mini-swe"]),
        // Brackets around all that is left tell nothing.
        (&["model-a · agent-a (jobs-1)", "model-a · agent-a (jobs-2)"], &["jobs-1", "jobs-2"]),
        (&["one-model · terminus-2 (m1)", "one-model · terminus-2 (m10)"], &["m1", "m10"]),
        (&["a-model · agent-a (old)", "b-model · agent-a (new)"], &["a-model · old", "b-model · new"]),
        (&["agent-a (one) (two)", "agent-a (one) (six)"], &["two", "six"]),
        (&["agent-a (one) (two)", "agent-a (six) (ten)"], &["(one) (two)", "(six) (ten)"]),
        (&["模型 · 一个很长的名字 甲", "模型 · 一个很长的名字 乙"], &["甲", "乙"]),
        (&["gpt-5.5-codex-high", "gpt-5.4-codex-high"], &["gpt-5.5", "gpt-5.4"]),
        (&["a", "a"], &["a", "a"]),
    ];
    for (whole, short) in cases {
        assert_eq!(short_names(&names(whole)), short);
    }
    assert_eq!(short_names(&names(&["alone-in-its-view"])), ["alone-in-its-view"]);
}

#[test]
fn what_was_simulated_says_so() {
    let label = SeriesLabel { simulated: true, ..SeriesLabel::new("a-rather-long-name-of-a-model", 0) };
    let whole = shown_all(&[&label], 1e9, 8.0).remove(0);
    assert_eq!(whole, "a-rather-long-name-of-a-model (simulated)");
    let cut = shown_all(&[&label], 80.0, 8.0).remove(0);
    // The long suffix left "a-ra…odel".
    assert!(cut.ends_with(" (sim.)") && cut.contains('…') && text_width(&cut, 8.0) <= 80.0, "{cut}");
    assert!(!is_nonsense(&cut), "{cut}");
    assert!((natural_width(&label, 8.0) - text_width(&whole, 8.0)).abs() < 1e-9);
}

#[test]
fn a_name_of_few_letters_is_nonsense() {
    for text in [
        "2: (s….)",
        "De…ro",
        "De…ro (sim.)",
        "12: claud…",
        "…",
        "(sim.)",
        "(simulated)",
        "2…",
        "通…",
        "a-…-b",
    ] {
        assert!(is_nonsense(text), "{text}");
    }
    for text in [
        "m1",
        "GPT-5.5",
        "o3 (sim.)",
        "2: claude-op…",
        "DeepS…-Pro (sim.)",
        "通义千问…",
        "variant-00",
        "2: b",
        "",
    ] {
        assert!(!is_nonsense(text), "{text}");
    }
}

/// Beside curves in a column of ACL: "2: (s….)" for the second of four simulated runs.
#[test]
fn a_suffix_that_all_share_leaves_its_room_to_their_names() {
    let labels: Vec<SeriesLabel> = ["DeepSeek-V4-Pro", "Nemotron-Ultra-253B", "GPT-5.5"]
        .map(|name| SeriesLabel { simulated: true, ..SeriesLabel::new(name, 0) })
        .to_vec();
    let refs: Vec<&SeriesLabel> = labels.iter().collect();
    let width = text_width("DeepSeek-V4-Pro", 9.0);
    let texts = shown_all(&refs, width, 9.0);
    assert_eq!((texts[0].as_str(), texts[2].as_str()), ("DeepSeek-V4-Pro", "GPT-5.5"));
    assert!(
        texts.iter().all(|text| !is_nonsense(text) && text_width(text, 9.0) <= width + 0.02),
        "{texts:?}"
    );
    assert!(are_readable(&refs, width, 9.0) && !are_readable(&refs, 30.0, 9.0));
    // Where one is not simulated, the suffix tells something.
    let mixed: Vec<SeriesLabel> = labels
        .iter()
        .enumerate()
        .map(|(i, label)| SeriesLabel { simulated: i > 0, ..label.clone() })
        .collect();
    let texts = shown_all(&mixed.iter().collect::<Vec<_>>(), width, 9.0);
    assert!(texts[1].ends_with(" (sim.)") && texts[2].ends_with(" (sim.)"), "{texts:?}");
}

#[test]
fn a_column_of_names_is_as_wide_as_they_can_be_read() {
    let names = ["DeepSeek-V4-Pro", "Nemotron-Ultra-253B-v2"];
    assert!((readable_width_of(&names, 8.0, 90.0, 150.0) - 90.0).abs() < 1e-9, "readable as it is");
    let width = readable_width_of(&names, 8.0, 20.0, 150.0);
    assert!(width > 20.0 && width < 90.0, "{width}");
    assert!(fit_all(&names, width, 8.0).iter().all(|text| !is_nonsense(text)));
    assert!((readable_width_of(&names, 8.0, 20.0, 22.0) - 20.0).abs() < 1e-9, "not even then");
}

/// Real names of models, where all are whole, where some are cut, and where two cannot be told apart.
#[test]
fn names_of_models_keep_what_differs() {
    const MODELS: [&str; 5] =
        ["Claude-Opus-4.8", "Claude-Opus-4.7", "Claude-Sonnet-4.8", "GPT-5.5", "Gemini-3.1-Pro"];
    let cases = [
        (70.0, MODELS),
        (66.0, ["Claude-Opus-4.8", "Claude-Opus-4.7", "…Sonnet-4.8", "GPT-5.5", "Gemini-3.1-Pro"]),
        (61.0, ["Claude-…us-4.8", "Claude-…us-4.7", "…Sonnet-4.8", "GPT-5.5", "Gemini-3.1-Pro"]),
    ];
    for (width, expected) in cases {
        assert_eq!(fit_all(&MODELS, width, 8.0), expected, "{width}");
    }
    // The number says that a name looks like another one: a column grows for it, and a figure on paper is refused.
    let texts = fit_all(&MODELS, 36.0, 8.0);
    assert_eq!((texts[0].as_str(), texts[2].as_str()), ("1: Cla….8", "3: Cla….8"));
    assert_eq!((number_before(&texts[0]), number_before(&texts[2])), (Some("1"), Some("3")));
    let readable = readable_width_of(&MODELS, 8.0, 36.0, 80.0);
    assert!(fit_all(&MODELS, readable, 8.0).iter().all(|text| number_before(text).is_none()));
}

/// Names of 120 characters that differ at the start, in the middle and at the end. The first was
/// "organization-with-…think…", which could be the last one, too.
#[test]
fn long_names_keep_what_differs_wherever_that_is() {
    const BASE: &str = "organization-with-a-long-name/claude-opus-4.8-instruct-thinking-high-context-1m-\
                        tools-2026-06-01-checkpoint-final-weekly";
    let names = [
        BASE.to_owned(),
        BASE.replace("organization", "corporations"),
        BASE.replace("thinking", "planning"),
        BASE.replace("weekly", "hourly"),
    ];
    assert!(names.iter().all(|name| name.len() == 120));
    let cases = [
        (
            200.0,
            [
                "organization-with-a-long-name/…thinking-…weekly",
                "corporations-with-a-long-n…1-checkpoint-final-weekly",
                "organization-with-a-long-name/claude-…planning-…",
                "organization-with-a-long-n…1-checkpoint-final-hourly",
            ],
        ),
        (
            120.0,
            [
                "organization-…thinking-…weekly",
                "corporations-wi…nt-final-weekly",
                "organization-with-…planning-…",
                "organization-wit…int-final-hourly",
            ],
        ),
    ];
    for (width, expected) in cases {
        assert_eq!(fit_all(&names, width, 8.0), expected, "{width}");
    }
    for width in [60.0, 90.0, 160.0, 260.0] {
        let texts = fit_all(&names, width, 8.0);
        assert!(texts.iter().all(|text| text_width(text, 8.0) <= width + 0.02), "{texts:?}");
        let distinct: BTreeSet<&String> = texts.iter().collect();
        assert_eq!(distinct.len(), 4, "{texts:?}");
    }
    // Without words.
    let letters = |i: u32| format!("{}k{i:02}{}", "x".repeat(58), "x".repeat(59));
    let names: Vec<String> = (0..42).map(letters).collect();
    let texts = fit_all(&names, 60.0, 8.0);
    assert_eq!((texts[0].as_str(), texts[41].as_str()), ("xxxxxxxxx…00…", "xxxxxxxxx…41…"));
}
