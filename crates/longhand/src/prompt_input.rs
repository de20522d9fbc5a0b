//! What is said to a single-shot run: standard input, mentioned files and positional prompts, put together.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base64::Engine;
use longhand_agent::UserInput;
use longhand_session::message::ImageBlock;

/// Largest text file that is put into a prompt, in bytes.
const MAX_TEXT_BYTES: u64 = 5 << 20;

/// Largest picture that is attached, in bytes.
const MAX_IMAGE_BYTES: u64 = 25 << 20;

/// How long a pipe beside a prompt may stay silent before the run goes on without it.
const PIPE_PATIENCE: Duration = Duration::from_millis(200);

/// Whether standard input is a terminal, which is never read for a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stdin {
    Terminal,
    Piped,
}

/// The inputs of a run, in order: the first holds standard input, the mentioned files and the first prompt.
///
/// # Errors
/// A mentioned file cannot be read.
pub(crate) fn gather(words: &[String], stdin: Stdin, cwd: &Path) -> Result<Vec<UserInput>> {
    let reads_stdin = words.iter().any(|word| word == "-");
    let (mentions, prompts): (Vec<_>, Vec<_>) = words
        .iter()
        .filter(|word| *word != "-")
        .partition(|word| word.len() > 1 && word.starts_with('@'));
    let piped = match stdin {
        Stdin::Terminal if !reads_stdin => String::new(),
        _ if reads_stdin || words.is_empty() => read_all(),
        _ => read_if_there(),
    };
    let mut first = UserInput::default();
    if !piped.is_empty() {
        first.text.push_str(&piped);
        first.text.push('\n');
    }
    for mention in mentions {
        add_file(&mut first, &mention[1..], cwd)?;
    }
    let mut prompts = prompts.into_iter();
    if let Some(prompt) = prompts.next() {
        first.text.push_str(prompt);
    }
    let is_silent = first.text.trim().is_empty() && first.images.is_empty();
    let first = (!is_silent).then_some(first);
    Ok(first.into_iter().chain(prompts.map(UserInput::text)).collect())
}

/// Reads standard input to its end. Says so when it has to wait: a forgotten terminal looks like a hang.
fn read_all() -> String {
    let chunks = chunks();
    let mut bytes = Vec::new();
    match chunks.recv_timeout(Duration::from_secs(1)) {
        Ok(chunk) => bytes.extend(chunk),
        Err(RecvTimeoutError::Timeout) => eprintln!("reading the prompt from standard input"),
        Err(RecvTimeoutError::Disconnected) => {}
    }
    for chunk in chunks {
        bytes.extend(chunk);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads standard input to its end if anything comes at once. A pipe that nobody writes to does not block the run.
fn read_if_there() -> String {
    let chunks = chunks();
    let mut bytes = Vec::new();
    match chunks.recv_timeout(PIPE_PATIENCE) {
        Ok(chunk) => bytes.extend(chunk),
        Err(RecvTimeoutError::Timeout) => {
            eprintln!("standard input is silent; going on without it");
            return String::new();
        }
        Err(RecvTimeoutError::Disconnected) => return String::new(),
    }
    for chunk in chunks {
        bytes.extend(chunk);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Standard input in pieces; the channel closes at its end or at an error.
fn chunks() -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::sync_channel(16);
    // Not joined: a read of a silent pipe cannot be stopped, and ends with the process.
    thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        let mut buffer = vec![0; 64 << 10];
        while let Ok(length @ 1..) = stdin.read(&mut buffer) {
            if sender.send(buffer[..length].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}

fn add_file(input: &mut UserInput, mention: &str, cwd: &Path) -> Result<()> {
    let name = mention.trim_matches(['"', '\'']);
    let path = absolute(name, cwd);
    let metadata =
        fs::metadata(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    if metadata.is_dir() {
        bail!("`{}` is a directory; mention a file", path.display());
    }
    let shown = path.display();
    if let Some(mime_type) = image_type(&path) {
        if metadata.len() > MAX_IMAGE_BYTES {
            input.text.push_str(&format!(
                "<file name=\"{shown}\">(skipped: too large, {} bytes)</file>\n",
                metadata.len()
            ));
            return Ok(());
        }
        let bytes = fs::read(&path).with_context(|| format!("cannot read `{shown}`"))?;
        let data = base64::engine::general_purpose::STANDARD.encode(bytes);
        input.images.push(ImageBlock {
            data,
            mime_type: mime_type.into(),
            ..ImageBlock::default()
        });
        input.text.push_str(&format!("<file name=\"{shown}\"></file>\n"));
        return Ok(());
    }
    if metadata.len() > MAX_TEXT_BYTES {
        input.text.push_str(&format!(
            "<file name=\"{shown}\">(skipped: too large, {} bytes)</file>\n",
            metadata.len()
        ));
        return Ok(());
    }
    let bytes = fs::read(&path).with_context(|| format!("cannot read `{shown}`"))?;
    let text = String::from_utf8_lossy(&bytes);
    input.text.push_str(&format!("<file name=\"{shown}\">\n{text}\n</file>\n"));
    Ok(())
}

fn absolute(name: &str, cwd: &Path) -> PathBuf {
    cwd.join(name)
}

fn image_type(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    match ending.as_str() {
        "png" => Some("image/png"),
        "jpg" | "jpeg" => Some("image/jpeg"),
        "gif" => Some("image/gif"),
        "webp" => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_before_the_first_prompt_and_later_prompts_stand_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.txt"), "text").unwrap();
        let words = ["first", "@a.txt", "second"].map(str::to_owned);
        let inputs = gather(&words, Stdin::Terminal, folder.path()).unwrap();
        let name = folder.path().join("a.txt");
        let first = format!("<file name=\"{}\">\ntext\n</file>\nfirst", name.display());
        assert_eq!(inputs, [UserInput::text(first), UserInput::text("second")]);
    }

    #[test]
    fn pictures_are_attached() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("p.png"), [1, 2, 3]).unwrap();
        let inputs = gather(&["@p.png".to_owned()], Stdin::Terminal, folder.path()).unwrap();
        assert_eq!(inputs[0].images[0].data, "AQID");
    }

    #[test]
    fn a_missing_file_is_named() {
        let error =
            gather(&["@none.txt".to_owned()], Stdin::Terminal, Path::new("/nowhere")).unwrap_err();
        assert_eq!(error.to_string(), "cannot read `/nowhere/none.txt`");
    }

    #[test]
    fn nothing_said_is_no_input() {
        assert_eq!(gather(&[" ".to_owned()], Stdin::Terminal, Path::new("/")).unwrap(), []);
    }
}
