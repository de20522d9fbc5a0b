//! What readers of the prompts rely on.

use longhand_prompts::{Prompt, Prompts};

/// Sections that another model, a view or a test looks for.
#[test]
fn prompts_name_their_sections_in_order() {
    let summary: &[&str] = &[
        "\n## Goal\n",
        "\n## Constraints & Preferences\n",
        "\n## Progress\n",
        "\n### Done\n- [x] ",
        "\n### In Progress\n- [ ] ",
        "\n### Blocked\n",
        "\n## Key Decisions\n- **",
        "\n## Next Steps\n1. ",
        "\n## Critical Context\n",
        "\n## Additional Notes\n",
    ];
    for (prompt, sections) in [
        (Prompt::CompactionSummary, summary),
        (Prompt::CompactionUpdateSummary, summary),
        (
            Prompt::CompactionTurnPrefix,
            &["\n## Original Request\n", "\n## Early Progress\n", "\n## Context for Suffix\n"],
        ),
    ] {
        let prompts = Prompts::default();
        let mut rest = prompts.text(prompt);
        for section in sections {
            let found = rest.split_once(section);
            let (_, after) = found.unwrap_or_else(|| panic!("{}: {section:?}", prompt.name()));
            rest = after;
        }
    }
}

#[test]
fn prompts_name_the_values_and_tags_that_they_are_given() {
    for (prompt, names) in [
        (Prompt::CompactionSummaryContext, &["<summary>", "{{summary}}", "</summary>"][..]),
        (Prompt::BranchSummaryContext, &["<summary>", "{{summary}}", "</summary>"]),
        (Prompt::HandoffSummaryContext, &["<handoff>", "{{summary}}", "</handoff>"]),
        (Prompt::SteeringNotice, &["{{message}}"]),
        (Prompt::SnapcompactArchiveContext, &["{{archiveText}}"]),
        (Prompt::CompactionUpdateSummary, &["previous-summary"]),
        (Prompt::CompactionShortSummary, &["previous-summary"]),
    ] {
        for name in names {
            assert!(Prompts::default().text(prompt).contains(name), "{}: {name}", prompt.name());
        }
    }
}

#[test]
fn no_prompt_holds_a_tag_that_encloses_material() {
    for prompt in Prompt::ALL {
        let text = Prompts::default().text(*prompt).to_owned();
        for tag in ["<conversation", "</conversation", "<previous-summary", "</previous-summary"] {
            assert!(!text.contains(tag), "{}: {tag}", prompt.name());
        }
    }
}
