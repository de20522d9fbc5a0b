//! Commands that are asked about whatever else allows them, because one of them can cost the machine.
//!
//! A table over the words of each simple command. Quoted text is an argument like any other and does not trigger, save where a shell is
//! told to run it.

use crate::approval::shell_line::{self, ShellLine, SimpleCommand, Word};

/// Shells within shells that are followed.
const MAX_DEPTH: usize = 8;

pub(super) const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "fish", "ash"];
pub(super) const INTERPRETERS: &[&str] = &["python", "python3", "perl", "ruby", "node", "php"];
const DOWNLOADERS: &[&str] = &["curl", "wget", "fetch"];

/// Commands that run the command in their arguments, with the options of theirs that take a value.
const WRAPPERS: &[(&str, &[&str])] = &[
    ("sudo", &["-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "--user", "--group"]),
    ("doas", &["-u", "-C"]),
    ("env", &["-u", "-C", "-S", "--unset", "--chdir"]),
    ("nice", &["-n"]),
    ("ionice", &["-c", "-n", "-p"]),
    ("timeout", &["-s", "-k", "--signal", "--kill-after"]),
    ("time", &["-f", "-o"]),
    ("xargs", &["-a", "-d", "-E", "-I", "-L", "-n", "-P", "-s"]),
    ("stdbuf", &["-i", "-o", "-e"]),
    ("nohup", &[]),
    ("setsid", &[]),
    ("command", &[]),
    ("builtin", &[]),
    ("exec", &["-a"]),
];

/// Why the command line must be asked about; `None` where nothing is known against it.
pub(super) fn reason(line: &str) -> Option<&'static str> {
    reason_of(&shell_line::parse(line), 0)
}

fn reason_of(line: &ShellLine, depth: usize) -> Option<&'static str> {
    if depth > MAX_DEPTH {
        return Some("shells nested too deeply to be looked into");
    }
    if is_fork_bomb(line) {
        return Some("a fork bomb");
    }
    (0..line.commands.len()).find_map(|index| reason_of_command(line, index, depth))
}

fn reason_of_command(line: &ShellLine, index: usize, depth: usize) -> Option<&'static str> {
    let command = &line.commands[index];
    if let Some(reason) = command.writes_to.iter().find_map(|target| written(&target.text)) {
        return Some(reason);
    }
    let (words, is_root) = unwrapped(&command.words);
    let (program, arguments) = words.split_first()?;
    let name = program.text.rsplit('/').next().unwrap_or_default();
    if SHELLS.contains(&name) || name == "eval" || name == "source" || name == "." {
        return fed_to_shell(line, command, name, arguments, depth);
    }
    if INTERPRETERS.contains(&name) && arguments.iter().all(|word| word.text == "-") {
        return is_download(line, command.piped_from)
            .then_some("a download piped into an interpreter");
    }
    by_table(name, arguments, is_root)
}

fn by_table(name: &str, arguments: &[Word], is_root: bool) -> Option<&'static str> {
    let has = |short: char, long: &str| {
        arguments.iter().any(|word| word.text == long || has_short(&word.text, short))
    };
    let operands = || arguments.iter().filter(|word| !word.text.starts_with('-'));
    match name {
        "rm" if arguments.iter().any(|word| word.text == "--no-preserve-root") => {
            Some("`rm` without its guard of the root folder")
        }
        "rm" if is_root => Some("`rm` as the superuser"),
        "rm" if (has('r', "--recursive") || has('R', "--recursive") || has('f', "--force"))
            && operands().any(is_absolute) =>
        {
            Some("recursive or forced `rm` of an absolute path")
        }
        "chmod" | "chown" | "chgrp" if has('R', "--recursive") && operands().any(is_absolute) => {
            Some("a recursive change of modes or owners of an absolute path")
        }
        "dd" => arguments.iter().filter_map(|word| word.text.strip_prefix("of=")).find_map(written),
        "shred" | "wipefs" | "blkdiscard" => {
            operands().any(|word| is_device(&word.text)).then_some("wiping a device")
        }
        "mkswap" => Some("making a file system"),
        _ if name == "mkfs" || name.starts_with("mkfs.") => Some("making a file system"),
        "cp" | "mv" | "install" => operands().next_back().and_then(|word| written(&word.text)),
        "tee" | "truncate" => operands().find_map(|word| written(&word.text)),
        "sed" if has('i', "--in-place") => operands().find_map(|word| written(&word.text)),
        "kill" => kills_init(arguments).then_some("killing the first process"),
        "shutdown" | "reboot" | "halt" | "poweroff" => Some("stopping the machine"),
        "systemctl" | "init" | "telinit" => {
            let stops = ["poweroff", "reboot", "halt", "kexec", "0", "6"];
            operands()
                .any(|word| stops.contains(&word.text.as_str()))
                .then_some("stopping the machine")
        }
        "nc" | "ncat" | "netcat" => {
            let runs = has('e', "--exec") || has('c', "--sh-exec");
            runs.then_some("a network connection that runs commands")
        }
        "find" => find_reason(arguments),
        _ => None,
    }
}

/// What a shell is told to run: a command line, its input, or the output of a substitution.
fn fed_to_shell(
    line: &ShellLine,
    command: &SimpleCommand,
    name: &str,
    arguments: &[Word],
    depth: usize,
) -> Option<&'static str> {
    let mut substitutes = arguments.iter().flat_map(|word| &word.substitutes);
    let is_fed = !command.input.is_empty()
        && (0..line.commands.len()).any(|index| is_download_at(line, index));
    if is_fed
        || is_download(line, command.piped_from)
        || substitutes.any(|index| is_download_at(line, *index))
    {
        return Some("a download run by a shell");
    }
    let piped = command.piped_from.map(|index| printed(&line.commands[index]));
    let scripts: Vec<String> = if name == "eval" {
        let words: Vec<_> = arguments.iter().map(|word| word.text.as_str()).collect();
        vec![words.join(" ")]
    } else {
        let is_option = |word: &Word| word.text.starts_with('-') && has_short(&word.text, 'c');
        let given = arguments.iter().position(is_option).and_then(|at| arguments.get(at + 1));
        let given = given.map(|word| word.text.clone());
        given.into_iter().chain(command.input.iter().cloned()).chain(piped.flatten()).collect()
    };
    scripts.iter().find_map(|script| reason_of(&shell_line::parse(script), depth + 1))
}

/// What a command prints, where its words say it.
fn printed(command: &SimpleCommand) -> Option<String> {
    let (program, arguments) = command.words.split_first()?;
    let words: Vec<_> = arguments.iter().map(|word| word.text.as_str()).collect();
    matches!(program.text.as_str(), "echo" | "printf").then(|| words.join(" "))
}

/// The words without `sudo`, `env` and their like, and whether the superuser runs them.
fn unwrapped(words: &[Word]) -> (&[Word], bool) {
    let (mut rest, mut is_root) = (words, false);
    while let Some((program, arguments)) = rest.split_first() {
        let name = program.text.rsplit('/').next().unwrap_or_default();
        let Some((_, with_value)) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name) else {
            break;
        };
        is_root |= name == "sudo" || name == "doas";
        let mut at = 0;
        while let Some(word) = arguments.get(at) {
            let is_assignment =
                name != "command" && word.text.contains('=') && !word.text.starts_with('/');
            if with_value.contains(&word.text.as_str()) {
                at += 2;
            } else if word.text.starts_with('-') || is_assignment {
                at += 1;
            } else if name == "timeout" && at == leading_options(arguments, with_value) {
                // The first operand of `timeout` is the time.
                at += 1;
                break;
            } else {
                break;
            }
        }
        rest = arguments.get(at..).unwrap_or_default();
    }
    (rest, is_root)
}

/// How many words are options and their values.
fn leading_options(arguments: &[Word], with_value: &[&str]) -> usize {
    let mut at = 0;
    while let Some(word) = arguments.get(at).filter(|word| word.text.starts_with('-')) {
        at += if with_value.contains(&word.text.as_str()) { 2 } else { 1 };
    }
    at
}

/// Whether a download can be what a pipe carries: one that comes anywhere before its end, in a group of commands too.
fn is_download(line: &ShellLine, piped_from: Option<usize>) -> bool {
    piped_from.is_some_and(|last| (0..=last).any(|index| is_download_at(line, index)))
}

fn is_download_at(line: &ShellLine, index: usize) -> bool {
    let (words, _) = unwrapped(&line.commands[index].words);
    let name = words.first().map_or("", |word| word.text.rsplit('/').next().unwrap_or_default());
    DOWNLOADERS.contains(&name)
}

fn find_reason(arguments: &[Word]) -> Option<&'static str> {
    let starts_absolute =
        arguments.iter().take_while(|word| !word.text.starts_with('-')).any(is_absolute);
    let deletes = arguments.iter().any(|word| word.text == "-delete");
    if deletes && starts_absolute {
        return Some("deleting what is found below an absolute path");
    }
    let run = arguments
        .iter()
        .position(|word| matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok"))?;
    let (words, is_root) = unwrapped(&arguments[run + 1..]);
    let (program, rest) = words.split_first()?;
    let name = program.text.rsplit('/').next().unwrap_or_default();
    if name == "rm" && starts_absolute {
        return Some("deleting what is found below an absolute path");
    }
    by_table(name, rest, is_root)
}

/// Why a file must not be written without asking.
fn written(path: &str) -> Option<&'static str> {
    const ACCOUNTS: &[&str] = &["/etc/passwd", "/etc/shadow", "/etc/sudoers"];
    if is_device(path) {
        Some("writing to a device")
    } else if ACCOUNTS.contains(&path) || path.starts_with("/etc/sudoers.d/") {
        Some("writing the accounts of the machine")
    } else {
        None
    }
}

fn is_device(path: &str) -> bool {
    const DISKS: &[&str] =
        &["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "dm-", "mapper/", "loop"];
    path.strip_prefix("/dev/").is_some_and(|name| DISKS.iter().any(|disk| name.starts_with(disk)))
}

/// Whether a word is a path from the root or from a home folder.
fn is_absolute(word: &Word) -> bool {
    let text = word.text.as_str();
    text.starts_with('/')
        || (text.starts_with('~') && !word.is_quoted)
        || text.starts_with("$HOME")
        || text.starts_with("${HOME")
}

/// Whether a group of short options such as `-rf` has this one.
fn has_short(word: &str, option: char) -> bool {
    word.strip_prefix('-').is_some_and(|group| {
        !group.starts_with('-')
            && group.chars().all(|c| c.is_ascii_alphabetic())
            && group.contains(option)
    })
}

fn kills_init(arguments: &[Word]) -> bool {
    let signals = ["-9", "-KILL", "-SIGKILL", "-s"];
    let has_signal = arguments.first().is_some_and(|word| signals.contains(&word.text.as_str()));
    has_signal && arguments[1..].iter().any(|word| word.text == "1" || word.text == "-1")
}

/// A function that calls itself twice in a pipe: `:(){ :|:& };:`.
fn is_fork_bomb(line: &ShellLine) -> bool {
    let program = |command: &SimpleCommand| command.words.first().map(|word| word.text.clone());
    line.commands.iter().any(|command| {
        let name = program(command);
        let feeder = command.piped_from.and_then(|index| program(&line.commands[index]));
        name.is_some()
            && name == feeder
            && line.functions.iter().any(|known| Some(known) == name.as_ref())
    })
}
