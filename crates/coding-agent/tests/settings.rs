//! Settings through their layers: who wins, what is left out, and what the user is told.

#![expect(clippy::unwrap_used, reason = "a set-up that fails is a test that fails")]

use std::path::PathBuf;

use longhand_coding_agent::settings::{self, KEYS, Loaded, ModelPrice, Origin, Problem, Sources};
use longhand_coding_agent::{Environment, Places};

/// Adds one layer.
type Layer<'a> = &'a dyn Fn(&mut Desk);

/// A user and a project in a folder of their own.
struct Desk {
    temp: tempfile::TempDir,
    environment: Environment,
    overlays: Vec<PathBuf>,
    assignments: Vec<String>,
}

impl Desk {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(temp.path().join("home")).unwrap();
        std::fs::create_dir_all(temp.path().join("project/.longhand")).unwrap();
        Self { temp, environment: Environment::default(), overlays: vec![], assignments: vec![] }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.temp.path().join(path)
    }

    fn user(&self, text: &str) -> &Self {
        self.write("home/config.toml", text)
    }

    fn project(&self, text: &str) -> &Self {
        self.write("project/.longhand/config.toml", text)
    }

    fn write(&self, path: &str, text: &str) -> &Self {
        std::fs::write(self.path(path), text).unwrap();
        self
    }

    fn load(&self) -> Loaded {
        let places = Places::all_in(self.path("home"));
        settings::load(&Sources {
            places: &places,
            directory: &self.path("project"),
            environment: &self.environment,
            overlays: &self.overlays,
            assignments: &self.assignments,
        })
    }

    fn set(assignments: &[&str]) -> Loaded {
        let mut desk = Self::new();
        desk.assignments = assignments.iter().copied().map(String::from).collect();
        desk.load()
    }
}

fn told(loaded: &Loaded) -> Vec<String> {
    loaded.problems.iter().map(ToString::to_string).collect()
}

#[test]
fn every_key_has_a_field_and_every_default_is_of_its_kind() {
    let loaded = Desk::new().load();
    assert_eq!(told(&loaded), [""; 0]);
    assert_eq!(loaded.settings.compaction.keep_recent_tokens, 20_000);
    assert_eq!(loaded.settings.tools.approval_mode, "write");
    assert_eq!(loaded.settings.model, None);
    for key in KEYS {
        let name = key.name.replace("<id>", "x").replace("<tool>", "x");
        assert_eq!(loaded.resolved.explain(&name).unwrap().value(), key.default, "{name}");
    }
}

#[test]
fn the_defaults_are_those_of_the_libraries() {
    let settings = Desk::new().load().settings;
    assert_eq!(settings.compaction_options(), longhand_compaction::Options::default());
}

#[test]
fn a_higher_layer_wins_and_the_loser_is_remembered() {
    let mut desk = Desk::new();
    let overlay = desk.path("overlay.toml");
    let layers: [(Origin, Layer); 5] = [
        (Origin::User(desk.path("home/config.toml")), &|desk| {
            desk.user("compaction.keepRecentTokens = 1");
        }),
        (Origin::Project(desk.path("project/.longhand/config.toml")), &|desk| {
            desk.project("[compaction]\nkeepRecentTokens = 2");
        }),
        (Origin::Overlay(overlay.clone()), &|desk| {
            desk.write("overlay.toml", "\"compaction.keepRecentTokens\" = 3");
            desk.overlays = vec![overlay.clone()];
        }),
        (Origin::Variable("LONGHAND_SET_COMPACTION__KEEPRECENTTOKENS".into()), &|desk| {
            desk.environment =
                [("LONGHAND_SET_COMPACTION__KEEPRECENTTOKENS", "4")].into_iter().collect();
        }),
        (Origin::CommandLine, &|desk| {
            desk.assignments = vec!["compaction.keepRecentTokens=5".into()];
        }),
    ];
    let mut expected = Vec::new();
    for (value, (origin, add)) in (1..).zip(layers) {
        add(&mut desk);
        expected.push((origin, value.to_string()));
        let loaded = desk.load();
        assert_eq!(told(&loaded), [""; 0]);
        assert_eq!(loaded.settings.compaction.keep_recent_tokens, value);
        let explanation = loaded.resolved.explain("compaction.keepRecentTokens").unwrap();
        assert_eq!(explanation.set, expected);
        assert_eq!(explanation.key.default, Some("20000"));
    }
}

#[test]
fn a_value_of_the_wrong_kind_leaves_the_lower_layer_in_force() {
    let desk = Desk::new();
    desk.user("[compaction]\nenabled = false\nkeepRecentTokens = 7\n");
    desk.project("[compaction]\nenabled = \"no\"\nkeepRecentTokens = -1\nmidTurnEnabled = false\n");
    let loaded = desk.load();
    let compaction = &loaded.settings.compaction;
    assert_eq!(
        (compaction.enabled, compaction.keep_recent_tokens, compaction.mid_turn_enabled),
        (false, 7, false)
    );
    let file = desk.path("project/.longhand/config.toml");
    assert_eq!(
        told(&loaded),
        [
            format!(
                "`compaction.enabled` must be `true` or `false`; the value in `{}` is ignored",
                file.display()
            ),
            format!(
                "`compaction.keepRecentTokens` must be a whole number of at least 0; the value in `{}` is ignored",
                file.display()
            ),
        ]
    );
}

#[test]
fn an_unknown_key_is_answered_with_the_closest_one() {
    for (assignment, closest) in [
        ("compaction.methodorder=soft", Some("compaction.methodOrder")),
        ("compaction.keepRecentToken=1", Some("compaction.keepRecentTokens")),
        ("providers.local.baseurl=x", Some("providers.local.baseUrl")),
        ("poem=x", None),
    ] {
        let loaded = Desk::set(&[assignment]);
        let [Problem::Unknown { closest: actual, .. }] = &loaded.problems[..] else {
            panic!("{assignment}: {:?}", loaded.problems);
        };
        assert_eq!(actual.as_deref(), closest, "{assignment}");
        assert!(loaded.problems[0].is_of_command_line());
    }
}

#[test]
fn a_single_value_does_not_shadow_a_group() {
    let desk = Desk::new();
    desk.user("compaction = 3\nproviders = \"x\"\ntheme.mode = \"dark\"\n[tools]\napproval = true");
    let loaded = desk.load();
    assert_eq!(loaded.settings.theme.mode, "dark");
    let keys: Vec<_> = loaded
        .problems
        .iter()
        .map(|problem| match problem {
            Problem::ShadowsGroup { key, .. } => key.as_str(),
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(keys, ["compaction", "providers", "tools.approval"]);
}

#[test]
fn a_project_may_not_approve_calls_or_choose_endpoints() {
    let desk = Desk::new();
    desk.project(
        "model = \"local/x\"\n[tools]\napprovalMode = \"yolo\"\napproval.bash = \"allow\"\nmaxTimeout = 9\n\
         [providers.local]\nbaseUrl = \"http://evil\"\napiKeyCommand = [\"steal\"]\napiKeyEnv = \"SECRET\"\n",
    );
    let loaded = desk.load();
    assert_eq!(loaded.settings.model.as_deref(), Some("local/x"));
    assert_eq!(loaded.settings.tools.approval_mode, "write");
    assert!(loaded.settings.tools.approval.is_empty());
    assert_eq!(loaded.settings.tools.max_timeout, 9);
    assert!(loaded.settings.providers.is_empty());
    assert_eq!(loaded.problems.len(), 5);
    for problem in &loaded.problems {
        assert!(matches!(problem, Problem::NotForProjects { .. }), "{problem}");
    }
}

#[test]
fn a_broken_file_is_named_with_its_line_and_left_out() {
    let desk = Desk::new();
    desk.user("[compaction]\nenabled = false\nkeep = = 3\n");
    desk.project("theme.mode = \"light\"");
    let loaded = desk.load();
    assert!(loaded.settings.compaction.enabled);
    assert_eq!(loaded.settings.theme.mode, "light");
    let [Problem::NotToml { path, line, .. }] = &loaded.problems[..] else {
        panic!("{:?}", loaded.problems);
    };
    assert_eq!((path, *line), (&desk.path("home/config.toml"), 3));
}

#[test]
fn a_file_that_was_asked_for_must_be_there() {
    let mut desk = Desk::new();
    desk.overlays = vec![desk.path("none.toml")];
    assert!(matches!(&desk.load().problems[..], [Problem::Unreadable { .. }]));
}

#[test]
fn endpoints_come_from_the_file_of_models_and_from_one_assignment() {
    let mut desk = Desk::new();
    desk.write(
        "home/models.toml",
        r#"
        theme.mode = "dark"
        [providers."llama.cpp"]
        baseUrl = "http://127.0.0.1:1/v1"
        headers = { X-Team = "secret-ish" }
        [[providers."llama.cpp".models]]
        id = "qwen"
        contextWindow = 32768
        input = ["text", "image"]
        cost = { input = 1.5 }
        "#,
    );
    desk.assignments = vec![
        "providers.local.baseUrl=http://127.0.0.1:8080/v1".into(),
        "providers.llama.cpp.baseUrl=http://127.0.0.1:2/v1".into(),
        "tools.approval.bash=deny".into(),
    ];
    let loaded = desk.load();
    assert!(
        matches!(&loaded.problems[..], [Problem::NotForModels { .. }]),
        "{:?}",
        loaded.problems
    );
    let settings = &loaded.settings;
    assert_eq!(settings.providers["local"].base_url.as_deref(), Some("http://127.0.0.1:8080/v1"));
    let llama = &settings.providers["llama.cpp"];
    assert_eq!(llama.base_url.as_deref(), Some("http://127.0.0.1:2/v1"));
    assert_eq!(llama.models[0].context_window, Some(32_768));
    let price = ModelPrice { input: 1.5, ..ModelPrice::default() };
    assert_eq!(llama.models[0].cost, Some(price));
    assert_eq!(settings.tools.approval["bash"], "deny");
    let explained = loaded.resolved.explain_all();
    let headers = explained.iter().find(|one| one.name == "providers.llama.cpp.headers").unwrap();
    assert_eq!(headers.value(), Some("{ X-Team = \"…\" }"));
}

#[test]
fn a_literal_key_is_refused_and_never_repeated() {
    let desk = Desk::new();
    desk.user(
        "[providers.openai]\napiKey = \"sk-secret\"\nheaders = { Authorization = \"Bearer sk-secret\" }\n",
    );
    let loaded = desk.load();
    assert!(loaded.settings.providers.is_empty(), "{:?}", loaded.settings.providers);
    assert!(matches!(
        &loaded.problems[..],
        [Problem::LiteralKey { .. }, Problem::WrongValue { .. }]
    ));
    assert!(!format!("{loaded:?} {:?}", told(&loaded)).contains("sk-secret"));
}

#[test]
fn a_list_may_be_written_with_commas_on_the_command_line() {
    for text in ["soft, shake", "[\"soft\", \"shake\"]"] {
        let loaded = Desk::set(&[&format!("compaction.methodOrder={text}")]);
        assert_eq!(loaded.settings.compaction.method_order, ["soft", "shake"], "{text}");
    }
    assert!(Desk::set(&["compaction.methodOrder="]).settings.compaction.method_order.is_empty());
}

#[test]
fn all_or_nothing_may_be_written_as_a_flag() {
    for (written, kept) in [("true", "all"), ("false", "none"), ("agents-md", "agents-md")] {
        let loaded = Desk::set(&[&format!("snapcompact.systemPrompt={written}")]);
        assert_eq!(told(&loaded), [""; 0], "{written}");
        assert_eq!(loaded.settings.snapcompact.system_prompt, kept, "{written}");
    }
    let desk = Desk::new();
    desk.user("snapcompact.systemPrompt = true\ntheme.mode = true");
    let loaded = desk.load();
    assert_eq!(loaded.settings.snapcompact.system_prompt, "all");
    assert_eq!(loaded.problems.len(), 1, "{:?}", told(&loaded));
}

#[test]
fn an_assignment_needs_a_key_and_a_value() {
    let loaded = Desk::set(&["compaction.enabled"]);
    assert_eq!(told(&loaded), ["`compaction.enabled` is not a setting; write `key=value`"]);
}
