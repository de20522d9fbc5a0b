//! Prompts that the user replaced: `NAME.md` in the folder of prompts.

use std::path::Path;

use longhand_prompts::{Prompt, Prompts};

/// The prompts in force, and what was left out, in words for the user.
pub(crate) fn load(folder: &Path) -> (Prompts, Vec<String>) {
    let mut prompts = Prompts::default();
    let mut notices = Vec::new();
    let files = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut files: Vec<_> = files.map(|file| file.path()).collect();
    files.sort();
    for file in files {
        let Some(name) = prompt_name(&file) else { continue };
        let used = match std::fs::read_to_string(&file) {
            Ok(text) => prompts.replace(name, text).map_err(|error| {
                let names: Vec<_> = Prompt::ALL.iter().map(|prompt| prompt.name()).collect();
                format!("{error}; there are: {}", names.join(", "))
            }),
            Err(error) => Err(error.to_string()),
        };
        if let Err(reason) = used {
            notices.push(format!("prompt file `{}` is not used: {reason}", file.display()));
        }
    }
    (prompts, notices)
}

fn prompt_name(file: &Path) -> Option<&str> {
    let is_markdown = file.extension().is_some_and(|extension| extension == "md");
    file.file_stem()?.to_str().filter(|_| is_markdown)
}
