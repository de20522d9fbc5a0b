//! Every word that is sent to a model and that is not the user's.
//!
//! One Markdown file a prompt, compiled in; [`Prompts`] lets a user put words of their own in the place of each. A prompt may name
//! values as `{{name}}`; what is put in is never looked at again, so that it arrives byte for byte.
//!
//! ```
//! use longhand_prompts::{Prompt, Prompts};
//!
//! let mut prompts = Prompts::default();
//! prompts.replace("branch-summary-context", "Another branch said: {{summary}}")?;
//! let text = prompts.render(Prompt::BranchSummaryContext, &[("summary", "nothing new")]);
//! assert_eq!(text, "Another branch said: nothing new");
//! # Ok::<(), longhand_prompts::UnknownPrompt>(())
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

macro_rules! prompts {
    ($( $(#[$meta:meta])* $variant:ident = $name:literal, )*) => {
        /// A prompt by its name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Prompt {
            $( $(#[$meta])* $variant, )*
        }

        impl Prompt {
            /// All prompts.
            pub const ALL: &'static [Prompt] = &[$( Prompt::$variant, )*];

            /// The name: that of its file, without the ending.
            pub fn name(self) -> &'static str {
                match self {
                    $( Prompt::$variant => $name, )*
                }
            }

            fn builtin(self) -> &'static str {
                match self {
                    $( Prompt::$variant => include_str!(concat!("../text/", $name, ".md")), )*
                }
            }
        }
    };
}

prompts! {
    /// Around the summary of compacted history. Value: `summary`.
    CompactionSummaryContext = "compaction-summary-context",
    /// Around a handoff document. Value: `summary`.
    HandoffSummaryContext = "handoff-summary-context",
    /// Around the summary of a branch that was left. Value: `summary`.
    BranchSummaryContext = "branch-summary-context",
    /// Before a message that the user sent during work. Value: `message`.
    SteeringNotice = "steering-notice",
    /// System prompt of every summary.
    SummarizationSystem = "summarization-system",
    /// Asks for the first summary of history.
    CompactionSummary = "compaction-summary",
    /// Asks for a summary that takes the place of an older one and what came after it.
    CompactionUpdateSummary = "compaction-update-summary",
    /// Asks for the dropped start of a turn whose end is kept.
    CompactionTurnPrefix = "compaction-turn-prefix",
    /// Asks for two or three sentences for people.
    CompactionShortSummary = "compaction-short-summary",
    /// Around the text of a bitmap archive that is worked into a summary. Value: `archiveText`.
    SnapcompactArchiveContext = "snapcompact-archive-context",
    /// Before a bitmap archive: how to read it. Values: `reasoning`, `frames`, `digest`, `dropped`, each a further sentence or nothing.
    SnapcompactGuide = "snapcompact-guide",
    /// That an archive has reasoning.
    SnapcompactGuideReasoning = "snapcompact-guide-reasoning",
    /// How to read pictures of a grid. Values: `cols`, `rows`, `inks`.
    SnapcompactGuideFrames = "snapcompact-guide-frames",
    /// How to read pictures of two columns. Values: `cols`, `rows`, `inks`.
    SnapcompactGuideColumns = "snapcompact-guide-columns",
    /// That sentences have colours.
    SnapcompactGuideHues = "snapcompact-guide-hues",
    /// What pale ink means.
    SnapcompactGuidePale = "snapcompact-guide-pale",
    /// What pale ink means where function words have it too.
    SnapcompactGuidePaleWords = "snapcompact-guide-pale-words",
    /// That lines are repeated. Value: `times`.
    SnapcompactGuideRepeated = "snapcompact-guide-repeated",
    /// That an archive begins with a summary.
    SnapcompactGuideDigest = "snapcompact-guide-digest",
    /// That an archive has a gap. Value: `chars`.
    SnapcompactGuideDropped = "snapcompact-guide-dropped",
    /// Before words that must be spelled exactly. Value: `tokens`.
    SnapcompactGuideExact = "snapcompact-guide-exact",
    /// In a tool result whose text is printed in images.
    SnapcompactInlineResult = "snapcompact-inline-result",
    /// In the place of a system prompt that is printed in images.
    SnapcompactInlineSystem = "snapcompact-inline-system",
    /// In the place of standing instructions that are printed in images.
    SnapcompactInlineRules = "snapcompact-inline-rules",
    /// Before the images of a system prompt.
    SnapcompactInlineHeading = "snapcompact-inline-heading",
    /// Asks the model to resume after its context was condensed.
    AutoContinue = "auto-continue",
    /// What the agent is and how it works. Value: `tools`, a list of names with a few words each.
    SystemPrompt = "system-prompt",
    /// Before the standing instructions of the user and the project.
    SystemPromptRules = "system-prompt-rules",
    /// Before the paths of instructions further down in the project.
    SystemPromptNestedRules = "system-prompt-nested-rules",
    /// What a model is told of the tool `read`.
    ToolRead = "tool-read",
    /// What a model is told of the tool `write`.
    ToolWrite = "tool-write",
    /// What a model is told of the tool `edit`.
    ToolEdit = "tool-edit",
    /// What a model is told of the tool `bash`.
    ToolBash = "tool-bash",
    /// What a model is told of the tool `grep`.
    ToolGrep = "tool-grep",
    /// What a model is told of the tool `glob`.
    ToolGlob = "tool-glob",
    /// What a model is told of the tool `ls`.
    ToolLs = "tool-ls",
    /// What a model is told of the tool `todo`.
    ToolTodo = "tool-todo",
}

/// The prompts in force: the built-in ones, and those that a user replaced.
#[derive(Debug, Clone, Default)]
pub struct Prompts {
    replaced: BTreeMap<Prompt, Arc<str>>,
}

/// A name that no prompt has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no prompt `{0}`")]
pub struct UnknownPrompt(pub String);

impl Prompts {
    /// Puts a user's words in the place of a prompt.
    ///
    /// # Errors
    /// No prompt has that name.
    pub fn replace(&mut self, name: &str, text: impl Into<Arc<str>>) -> Result<(), UnknownPrompt> {
        let prompt = Prompt::ALL.iter().find(|prompt| prompt.name() == name);
        let prompt = prompt.ok_or_else(|| UnknownPrompt(name.into()))?;
        self.replaced.insert(*prompt, text.into());
        Ok(())
    }

    /// The words of a prompt, without white space at the end.
    pub fn text(&self, prompt: Prompt) -> &str {
        match self.replaced.get(&prompt) {
            Some(text) => text.trim_end(),
            None => prompt.builtin().trim_end(),
        }
    }

    /// The words of a prompt with values put in. A value that the prompt does not name is left out; a name without a value
    /// stays as it is.
    pub fn render(&self, prompt: Prompt, values: &[(&str, &str)]) -> String {
        let mut rest = self.text(prompt);
        let mut out = String::with_capacity(
            rest.len() + values.iter().map(|(_, value)| value.len()).sum::<usize>(),
        );
        while let Some(open) = rest.find("{{") {
            let Some(length) = rest[open..].find("}}") else { break };
            let name = &rest[open + 2..open + length];
            out.push_str(&rest[..open]);
            match values.iter().find(|(key, _)| *key == name) {
                Some((_, value)) => out.push_str(value),
                None => out.push_str(&rest[open..open + length + 2]),
            }
            rest = &rest[open + length + 2..];
        }
        out.push_str(rest);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_arrive_byte_for_byte() {
        let mut prompts = Prompts::default();
        prompts.replace("branch-summary-context", "a {{summary}} b {{other}}\n\n").unwrap();
        let text = prompts
            .render(Prompt::BranchSummaryContext, &[("summary", "{{summary}}\n\n\n| x |  ")]);
        assert_eq!(text, "a {{summary}}\n\n\n| x |   b {{other}}");
    }

    #[test]
    fn an_unknown_name_is_refused() {
        assert_eq!(Prompts::default().replace("poem", "x"), Err(UnknownPrompt("poem".into())));
    }

    #[test]
    fn every_prompt_says_something() {
        for prompt in Prompt::ALL {
            assert!(!Prompts::default().text(*prompt).is_empty(), "{}", prompt.name());
        }
    }
}
