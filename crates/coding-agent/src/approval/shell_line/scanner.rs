//! One pass over the characters of a command line.

use std::mem;
use std::ops::Range;

use super::{ShellLine, SimpleCommand, Word};

/// Substitutions within substitutions that are followed; deeper ones make the line uncertain.
const MAX_DEPTH: usize = 16;

/// Words that begin or go on with a compound command; what follows them is a command again.
const COMMAND_FOLLOWS: &[&str] = &["if", "then", "else", "elif", "while", "until", "do", "{", "!"];

/// Words of compound commands whose parts are not commands.
const OTHER_RESERVED: &[&str] =
    &["for", "case", "select", "function", "fi", "done", "esac", "}", "in", "[[", "coproc"];

/// Takes a command line apart.
pub(in crate::approval) fn parse(line: &str) -> ShellLine {
    parse_nested(line, 0)
}

fn parse_nested(line: &str, depth: usize) -> ShellLine {
    let mut scanner = Scanner {
        rest: line.chars().collect(),
        at: 0,
        depth,
        out: ShellLine { is_certain: true, ..ShellLine::default() },
        command: SimpleCommand::default(),
        word: None,
        redirect: None,
        documents: Vec::new(),
    };
    if depth > MAX_DEPTH {
        scanner.out.is_certain = false;
    } else {
        scanner.run();
    }
    scanner.out
}

/// What the next word is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Redirect {
    Input,
    Output,
    /// `<<`, with `<<-` taking tabs off its end.
    Document {
        strips_tabs: bool,
    },
    HereString,
}

/// A here-document whose text comes after the line.
struct Document {
    end: String,
    is_literal: bool,
    strips_tabs: bool,
    command: usize,
}

struct Scanner {
    rest: Vec<char>,
    at: usize,
    depth: usize,
    out: ShellLine,
    command: SimpleCommand,
    word: Option<Word>,
    redirect: Option<Redirect>,
    documents: Vec<Document>,
}

impl Scanner {
    fn run(&mut self) {
        while let Some(c) = self.next() {
            match c {
                ' ' | '\t' | '\r' => self.end_word(),
                '\n' => {
                    self.end_command(None);
                    self.read_documents();
                }
                '#' if self.word.is_none() => self.skip_comment(),
                ';' => self.end_command(None),
                '&' if self.peek() == Some('>') => self.output_redirect(),
                '&' => {
                    let _ = self.next_if('&');
                    self.end_command(None);
                }
                '|' => {
                    if self.next_if('|') {
                        self.end_command(None);
                    } else {
                        // `|&` carries the errors too.
                        let _ = self.next_if('&');
                        self.pipe();
                    }
                }
                '(' | ')' => self.parenthesis(c),
                '<' | '>' if self.peek() == Some('(') => {
                    self.at += 1;
                    let inner = self.until_parenthesis();
                    self.substitute(&inner);
                }
                '>' => self.output_redirect(),
                '<' => self.input_redirect(),
                _ => self.word_character(c),
            }
        }
        self.end_command(None);
        if !self.documents.is_empty() {
            self.out.is_certain = false;
        }
    }

    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn next_if(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted);
        self.at += usize::from(is_there);
        is_there
    }

    fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_default()
    }

    fn skip_comment(&mut self) {
        while self.peek().is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    fn word_character(&mut self, c: char) {
        match c {
            '\\' => match self.next() {
                Some('\n') => {}
                Some(escaped) => {
                    self.word().is_quoted = true;
                    self.word().text.push(escaped);
                }
                None => self.out.is_certain = false,
            },
            '\'' => self.single_quoted(),
            '"' => self.double_quoted(),
            '$' => self.dollar(),
            '`' => self.backquoted(),
            '*' | '?' | '[' | '~' | '{' => {
                // `{` alone is a word of the shell, `~` inside of a word is itself.
                let is_plain = (c == '{'
                    && self.word.is_none()
                    && self.peek().is_none_or(char::is_whitespace))
                    || (c == '~' && self.word.is_some());
                self.word().is_expanded |= !is_plain;
                self.word().text.push(c);
            }
            _ => self.word().text.push(c),
        }
    }

    fn single_quoted(&mut self) {
        self.word().is_quoted = true;
        loop {
            match self.next() {
                Some('\'') => return,
                Some(c) => self.word().text.push(c),
                None => {
                    self.out.is_certain = false;
                    return;
                }
            }
        }
    }

    fn double_quoted(&mut self) {
        self.word().is_quoted = true;
        loop {
            match self.next() {
                Some('"') => return,
                Some('\\') => match self.next() {
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => self.word().text.push(c),
                    Some(c) => self.word().text.extend(['\\', c]),
                    None => self.out.is_certain = false,
                },
                Some('$') => self.dollar(),
                Some('`') => self.backquoted(),
                Some(c) => self.word().text.push(c),
                None => {
                    self.out.is_certain = false;
                    return;
                }
            }
        }
    }

    fn dollar(&mut self) {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let inner = self.until_parenthesis();
                // `$((…))` computes; what is in it is read as a command for safety's sake.
                self.substitute(&inner);
            }
            Some('{') => {
                self.word().is_expanded = true;
                self.braced();
            }
            Some('\'') => {
                // `$'…'` has escapes of its own.
                self.out.is_certain = false;
                self.at += 1;
                self.single_quoted();
            }
            Some(c) if c.is_alphanumeric() || "_@*#?$!-".contains(c) => {
                self.word().is_expanded = true;
                self.word().text.push('$');
            }
            _ => self.word().text.push('$'),
        }
    }

    /// `${…}`: kept as text; a substitution inside makes the line uncertain and is looked at.
    fn braced(&mut self) {
        let mut text = String::from("$");
        let mut open = 0_usize;
        while let Some(c) = self.next() {
            text.push(c);
            match c {
                '{' => open += 1,
                '}' => open -= 1,
                _ => {}
            }
            if open == 0 {
                break;
            }
        }
        if open > 0 {
            self.out.is_certain = false;
        }
        if text.contains("$(") || text.contains('`') {
            self.out.is_certain = false;
            self.look_into_text(&text[1..]);
        }
        self.word().text.push_str(&text);
    }

    fn backquoted(&mut self) {
        let mut inner = String::new();
        loop {
            match self.next() {
                Some('`') => break,
                Some('\\') => inner.extend(self.next()),
                Some(c) => inner.push(c),
                None => {
                    self.out.is_certain = false;
                    break;
                }
            }
        }
        self.substitute(&inner);
    }

    /// The text up to the parenthesis that closes the one just opened.
    fn until_parenthesis(&mut self) -> String {
        let start = self.at;
        let (mut open, mut quote) = (1_usize, None);
        while let Some(c) = self.next() {
            match (quote, c) {
                (None | Some('"'), '\\') => self.at += 1,
                (None, '\'' | '"') => quote = Some(c),
                (Some(mark), c) if mark == c => quote = None,
                (None, '(') => open += 1,
                (None, ')') => open -= 1,
                _ => {}
            }
            if open == 0 {
                return self.rest[start..self.at - 1].iter().collect();
            }
        }
        self.out.is_certain = false;
        self.at = self.rest.len();
        self.rest[start..].iter().collect()
    }

    /// Takes in the commands of a substitution, whose output becomes part of the word.
    fn substitute(&mut self, inner: &str) {
        let added = self.take_in(inner);
        let word = self.word();
        word.is_expanded = true;
        word.substitutes.extend(added);
        word.text.push_str("$()");
    }

    /// Adds the commands of a nested line; gives their indices.
    fn take_in(&mut self, inner: &str) -> Range<usize> {
        let nested = parse_nested(inner, self.depth + 1);
        let start = self.out.commands.len();
        self.out.is_certain &= nested.is_certain;
        self.out.functions.extend(nested.functions);
        let commands = nested.commands.into_iter().map(|command| shifted(command, start));
        self.out.commands.extend(commands);
        start..self.out.commands.len()
    }

    /// Takes in the substitutions of a text in which nothing else has a meaning.
    fn look_into_text(&mut self, text: &str) {
        let quoted = format!(": \"{}\"", text.replace('"', "\\\""));
        let _ = self.take_in(&quoted);
    }

    fn parenthesis(&mut self, c: char) {
        // `name()` defines a function; its calls cannot be told from other commands.
        if c == '(' && (self.word.is_some() || !self.command.words.is_empty()) {
            self.out.is_certain = false;
            self.out.functions.extend(self.word.take().map(|word| word.text));
        }
        self.end_command(None);
    }

    fn output_redirect(&mut self) {
        // The number before `>` is a stream, not a word; a quoted one is a word.
        if self.word.as_ref().is_some_and(|word| {
            !word.is_quoted && word.text.bytes().all(|byte| byte.is_ascii_digit())
        }) {
            self.word = None;
        }
        self.end_word();
        // `&>`, `>>`, `>|` and `>&` all write; `2>&1` names a stream.
        while self.peek().is_some_and(|c| ">|".contains(c)) {
            self.at += 1;
        }
        if self.next_if('&') && self.peek().is_some_and(|c| c.is_ascii_digit() || c == '-') {
            while self.peek().is_some_and(|c| c.is_ascii_digit() || c == '-') {
                self.at += 1;
            }
            // `>&1x` writes to a file.
            if self.peek().is_none_or(|c| c.is_whitespace() || ";&|()<>".contains(c)) {
                return;
            }
        }
        self.redirect = Some(Redirect::Output);
    }

    fn input_redirect(&mut self) {
        self.end_word();
        self.redirect = Some(match (self.next_if('<'), self.peek()) {
            (true, Some('<')) => {
                self.at += 1;
                Redirect::HereString
            }
            (true, _) => Redirect::Document { strips_tabs: self.next_if('-') },
            (false, Some('>')) => {
                self.at += 1;
                Redirect::Output
            }
            (false, Some('&')) => {
                self.at += 1;
                Redirect::Input
            }
            (false, _) => Redirect::Input,
        });
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match self.redirect.take() {
            Some(Redirect::Input) => self.command.reads_from.push(word),
            Some(Redirect::Output) => self.command.writes_to.push(word),
            Some(Redirect::HereString) => self.command.input.push(word.text),
            Some(Redirect::Document { strips_tabs }) => self.documents.push(Document {
                is_literal: word.is_quoted,
                end: word.text,
                strips_tabs,
                // Set when the command ends; until then it has no index.
                command: usize::MAX,
            }),
            None => self.add_word(word),
        }
    }

    fn add_word(&mut self, word: Word) {
        if matches!(self.command.words.as_slice(), [only] if only.text == "function") {
            self.command.words.clear();
            self.out.functions.push(word.text);
        } else if !self.command.words.is_empty() || word.is_quoted {
            self.command.words.push(word);
        } else if is_assignment(&word.text) {
            self.command.has_assignments = true;
        } else if COMMAND_FOLLOWS.contains(&word.text.as_str()) {
            // Which branch runs is not known: the line can be warned of, not allowed.
            self.out.is_certain &= word.text == "!";
        } else {
            self.out.is_certain &= !OTHER_RESERVED.contains(&word.text.as_str());
            self.command.words.push(word);
        }
    }

    /// Ends the command; gives its index if there was one.
    fn end_command(&mut self, piped_to: Option<&mut Option<usize>>) {
        self.end_word();
        if self.redirect.take().is_some() {
            self.out.is_certain = false;
        }
        let command = mem::take(&mut self.command);
        let has_something =
            !command.words.is_empty() || !command.writes_to.is_empty() || command.has_assignments;
        if !has_something {
            return;
        }
        let index = self.out.commands.len();
        for document in self.documents.iter_mut().filter(|document| document.command == usize::MAX)
        {
            document.command = index;
        }
        self.out.commands.push(command);
        if let Some(piped_to) = piped_to {
            *piped_to = Some(index);
        }
    }

    fn pipe(&mut self) {
        let mut index = None;
        self.end_command(Some(&mut index));
        // After `)` the command before the pipe has ended already.
        self.command.piped_from = index.or(self.out.commands.len().checked_sub(1));
    }

    /// Reads the here-documents that were announced on the line that just ended.
    fn read_documents(&mut self) {
        for document in mem::take(&mut self.documents) {
            let mut body = String::new();
            loop {
                if self.peek().is_none() {
                    self.out.is_certain = false;
                    break;
                }
                let line = self.line();
                let shown =
                    if document.strips_tabs { line.trim_start_matches('\t') } else { &line };
                if shown == document.end {
                    break;
                }
                body.push_str(shown);
                body.push('\n');
            }
            if !document.is_literal {
                self.look_into_text(&body);
            }
            if let Some(command) = self.out.commands.get_mut(document.command) {
                command.input.push(body);
            }
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        while let Some(c) = self.next() {
            if c == '\n' {
                break;
            }
            line.push(c);
        }
        line
    }
}

/// A command of a nested line, its references moved by `start`.
fn shifted(mut command: SimpleCommand, start: usize) -> SimpleCommand {
    command.piped_from = command.piped_from.map(|index| index + start);
    for word in
        command.words.iter_mut().chain(&mut command.writes_to).chain(&mut command.reads_from)
    {
        for index in &mut word.substitutes {
            *index += start;
        }
    }
    command
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
