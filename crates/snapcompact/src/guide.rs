//! What a model is told before an archive: how it is written, how its pictures are read, what is missing.
//!
//! Where reasoning is not archived, no word of it is said: the mention alone makes some models refuse.

use longhand_prompts::{Prompt, Prompts};
use longhand_session::archive::Frame;
use longhand_session::digits::grouped;

use crate::serialize::Reasoning;
use crate::shape::{Ink, Shape};

/// What the guide tells of an archive.
pub(crate) struct Facts<'a> {
    pub(crate) reasoning: Reasoning,
    pub(crate) frames: &'a [Frame],
    /// The shape of frames that are read best; its lines are the highest.
    pub(crate) shape: &'a Shape,
    /// The archive begins with a summary of what came before it.
    pub(crate) has_digest: bool,
    pub(crate) truncated_chars: u64,
    /// Words to be spelled exactly, one a line.
    pub(crate) exact_tokens: &'a str,
    /// The tree of files.
    pub(crate) files: &'a str,
}

/// The guide. Its last line is the heading of the history, which follows in blocks of its own.
pub(crate) fn guide(facts: &Facts<'_>, prompts: &Prompts) -> String {
    let optional = |is_so: bool, prompt| if is_so { prompts.text(prompt) } else { "" };
    let reasoning =
        optional(facts.reasoning == Reasoning::Included, Prompt::SnapcompactGuideReasoning);
    let digest = optional(facts.has_digest, Prompt::SnapcompactGuideDigest);
    let dropped = if facts.truncated_chars > 0 {
        let chars = grouped(facts.truncated_chars);
        prompts.render(Prompt::SnapcompactGuideDropped, &[("chars", &chars)])
    } else {
        String::new()
    };
    let frames = if facts.frames.is_empty() { String::new() } else { frames(facts, prompts) };
    let mut guide = prompts.render(
        Prompt::SnapcompactGuide,
        &[("reasoning", reasoning), ("frames", &frames), ("digest", digest), ("dropped", &dropped)],
    );
    if !facts.exact_tokens.is_empty() {
        let tokens = [("tokens", facts.exact_tokens)];
        guide = format!("{guide}\n\n{}", prompts.render(Prompt::SnapcompactGuideExact, &tokens));
    }
    if !facts.files.is_empty() {
        guide = format!("{guide}\n\nFILES\n{}", facts.files);
    }
    guide + "\n\nHISTORY"
}

fn frames(facts: &Facts<'_>, prompts: &Prompts) -> String {
    let shape = facts.shape;
    let mut inks = String::new();
    if shape.ink == Ink::Sentences {
        inks.push_str(prompts.text(Prompt::SnapcompactGuideHues));
    }
    inks.push_str(prompts.text(if shape.stopword_dim {
        Prompt::SnapcompactGuidePaleWords
    } else {
        Prompt::SnapcompactGuidePale
    }));
    if shape.line_repeat > 1 {
        let times = shape.line_repeat.to_string();
        inks.push_str(&prompts.render(Prompt::SnapcompactGuideRepeated, &[("times", &times)]));
    }
    let rows = facts.frames.iter().map(|frame| frame.rows).max().unwrap_or_default().to_string();
    let prompt = if shape.columns > 1 {
        Prompt::SnapcompactGuideColumns
    } else {
        Prompt::SnapcompactGuideFrames
    };
    let values = [("cols", widths(facts.frames)), ("rows", rows), ("inks", inks)];
    prompts.render(prompt, &values.each_ref().map(|(name, value)| (*name, value.as_str())))
}

/// The widths of frames in the order in which they occur.
fn widths(frames: &[Frame]) -> String {
    let mut widths: Vec<String> = Vec::new();
    for frame in frames {
        let width = frame.cols.to_string();
        if !widths.contains(&width) {
            widths.push(width);
        }
    }
    widths.join(" or ")
}
