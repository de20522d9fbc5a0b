//! The system prompt, and the standing instructions in it.

#![expect(clippy::unwrap_used, reason = "a set-up that fails is a test that fails")]

use std::path::{Path, PathBuf};

use longhand_agent::ToolSpec;
use longhand_coding_agent::context_files::ContextFiles;
use longhand_coding_agent::system_prompt::{Ingredients, SystemPrompt, Workstation};
use longhand_coding_agent::{Environment, Places};
use longhand_prompts::Prompts;
use longhand_session::ByteEstimate;

/// A home folder with a repository in it.
struct Home(tempfile::TempDir);

impl Home {
    fn with(files: &[(&str, &str)]) -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir_all(home.path("repo/.git")).unwrap();
        for (path, text) in files {
            let path = home.path(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        home
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn find(&self, directory: &str) -> ContextFiles {
        let environment: Environment =
            [("HOME", self.0.path().to_str().unwrap())].into_iter().collect();
        ContextFiles::find(
            &Places::all_in(self.path("config")),
            &environment,
            &self.path(directory),
        )
    }

    /// Paths of the files that are found, below the home folder.
    fn found(&self, directory: &str) -> Vec<String> {
        self.find(directory).files.iter().map(|file| self.short(&file.path)).collect()
    }

    fn short(&self, path: &Path) -> String {
        path.strip_prefix(self.0.path()).unwrap().display().to_string()
    }
}

#[test]
fn instructions_come_from_general_to_specific() {
    let home = Home::with(&[
        ("config/AGENTS.md", "user"),
        ("AGENTS.md", "home, above the repository"),
        ("repo/CLAUDE.md", "root"),
        ("repo/AGENTS.md", " \n"),
        ("repo/a/AGENTS.md", "a"),
        ("repo/a/CLAUDE.md", "not this one"),
        ("repo/a/.hidden/AGENTS.md", "hidden"),
        ("repo/a/.hidden/b/GEMINI.md", "b"),
    ]);
    assert_eq!(
        home.found("repo/a/.hidden/b"),
        ["config/AGENTS.md", "repo/CLAUDE.md", "repo/a/AGENTS.md", "repo/a/.hidden/b/GEMINI.md"]
    );
}

#[test]
fn outside_a_repository_the_home_folder_is_the_top() {
    let home = Home::with(&[("AGENTS.md", "home"), ("notes/AGENTS.md", "notes")]);
    assert_eq!(home.found("notes"), ["AGENTS.md", "notes/AGENTS.md"]);
}

#[test]
fn the_file_of_another_agent_counts_at_the_root_alone() {
    let home = Home::with(&[
        ("repo/.github/copilot-instructions.md", "root"),
        ("repo/a/.github/copilot-instructions.md", "not the root"),
    ]);
    assert_eq!(home.found("repo/a"), ["repo/.github/copilot-instructions.md"]);
}

#[test]
fn imports_follow_their_importer_once_and_stay_inside() {
    let home = Home::with(&[
        ("secret.md", "secret"),
        (
            "repo/AGENTS.md",
            "See @docs/a.md, and @someone.\n`@docs/code.md`\n```\n@docs/code.md\n```\n@../secret.md",
        ),
        ("repo/docs/a.md", "@b.md @../AGENTS.md"),
        ("repo/docs/b.md", "@a.md"),
        ("repo/docs/code.md", "code"),
    ]);
    assert_eq!(home.found("repo"), ["repo/AGENTS.md", "repo/docs/a.md", "repo/docs/b.md"]);
    let notices = home.find("repo").notices;
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0].ends_with("are not used: it lies outside the project"), "{notices:?}");
}

#[test]
fn a_project_cannot_lead_out_of_itself_by_a_link() {
    let home = Home::with(&[("secret", "secret"), ("repo/CLAUDE.md", "rules")]);
    std::os::unix::fs::symlink(home.path("secret"), home.path("repo/AGENTS.md")).unwrap();
    assert_eq!(home.found("repo"), ["repo/CLAUDE.md"]);
    let notices = home.find("repo").notices;
    assert!(notices[0].ends_with("are not used: it lies outside the project"), "{notices:?}");
}

#[test]
fn a_huge_file_is_cut_with_a_notice() {
    let home = Home::with(&[("repo/AGENTS.md", &"é".repeat(80_000))]);
    let found = home.find("repo");
    assert_eq!(found.files[0].text.len(), 100 * 1024);
    assert_eq!(found.notices.len(), 1);
}

#[test]
fn instructions_further_down_are_named_only() {
    let home = Home::with(&[
        ("repo/AGENTS.md", "root"),
        ("repo/b/AGENTS.md", "b"),
        ("repo/a/c/CLAUDE.md", "c"),
        ("repo/target/AGENTS.md", "ignored"),
        ("repo/.gitignore", "target/\n"),
    ]);
    let found = home.find("repo");
    let nested: Vec<_> = found.nested.iter().map(|path| home.short(path)).collect();
    assert_eq!(nested, ["repo/a/c/CLAUDE.md", "repo/b/AGENTS.md"]);
    assert_eq!(found.files.len(), 1);
}

fn workstation() -> Workstation {
    let environment = [("SHELL", "/bin/bash"), ("TERM", "xterm")].into_iter().collect();
    let day = Workstation::new(&environment, "/work".into(), 1_772_323_200_000);
    Workstation { os: "linux".into(), architecture: "x86_64".into(), ..day }
}

fn compose(context: Option<&ContextFiles>, replacement: Option<&str>) -> SystemPrompt {
    let tools = [ToolSpec {
        name: "read".into(),
        description: "Reads a file. Takes ranges.\nMore.".into(),
        parameters: serde_json::json!({}),
    }];
    SystemPrompt::compose(&Ingredients {
        prompts: &Prompts::default(),
        tools: &tools,
        workstation: &workstation(),
        context,
        replacement,
        addition: Some("Speak French.\n"),
    })
}

fn names(prompt: &SystemPrompt) -> Vec<&'static str> {
    prompt.sections.iter().map(|section| section.name).collect()
}

#[test]
fn the_prompt_has_the_agent_the_machine_the_rules_and_what_the_user_adds() {
    let home = Home::with(&[("repo/AGENTS.md", "Use tabs."), ("repo/a/AGENTS.md", "a")]);
    let prompt = compose(Some(&home.find("repo")), None);
    assert_eq!(names(&prompt), ["agent", "workstation", "rules", "nested rules", "addition"]);
    assert!(prompt.sections[0].text.contains("- `read`: Reads a file.\n"));
    assert_eq!(
        &*prompt.sections[1].text,
        "<workstation>\nOperating system: linux (x86_64)\nShell: /bin/bash\nTerminal: xterm\nDate: 2026-03-01\n\
         Working directory: /work\n</workstation>"
    );
    let path = home.path("repo/AGENTS.md");
    assert!(
        prompt.sections[2]
            .text
            .contains(&format!("<file path=\"{}\">\nUse tabs.\n</file>", path.display()))
    );
    assert_eq!(&*prompt.sections[4].text, "Speak French.");
}

#[test]
fn a_replacement_takes_the_first_part_only() {
    let prompt = compose(Some(&ContextFiles::default()), Some("You are a poet."));
    assert_eq!(names(&prompt), ["agent", "workstation", "addition"]);
    assert_eq!(&*prompt.sections[0].text, "You are a poet.");
    assert_eq!(names(&compose(None, None)), ["agent", "addition"]);
}

#[test]
fn the_prompt_is_the_same_all_day_and_within_its_size() {
    let prompt = compose(Some(&ContextFiles::default()), None);
    assert_eq!(prompt, compose(Some(&ContextFiles::default()), None));
    let tokens: u64 = prompt.tokens(&ByteEstimate).iter().map(|(_, tokens)| tokens).sum();
    assert!((500..=3_000).contains(&tokens), "{tokens}");
}
