//! Secrets go, everything else stays.

use std::borrow::Cow;

use longhand_session::redaction::redact;
use proptest::prelude::*;

/// Assembled here, so that no scanner takes this file for a leak.
fn key(prefix: &str, length: usize) -> String {
    let body = "A1b2C3d4E5f6G7h8I9j0".chars().cycle().take(length);
    prefix.chars().chain(body).collect()
}

#[test]
fn a_key_is_replaced_wherever_it_stands() {
    for secret in [
        key("sk-", 48),
        key("sk-proj-", 60),
        key("sk-ant-api03-", 80),
        key("sk_live_", 24),
        key("ghp_", 36),
        key("gho_", 36),
        key("github_pat_", 60),
        key("glpat-", 20),
        key("AIza", 35),
        key("ya29.", 40),
        key("xoxb-", 30),
        key("npm_", 36),
        key("hf_", 34),
        key("gsk_", 52),
        key("AKIA", 0) + "IOSFODNN7EXAMPLE",
        format!("{}.{}.{}", key("eyJ", 20), key("eyJ", 30), key("", 43)),
    ] {
        for (before, after) in [("", ""), ("key: ", "."), ("(\"", "\")"), ("x=", "\ny"), ("`", "`")]
        {
            let text = format!("{before}{secret}{after}");
            assert_eq!(redact(&text), format!("{before}[redacted]{after}"), "{text}");
        }
    }
}

#[test]
fn the_secret_part_of_a_line_is_replaced() {
    let long = key("", 24);
    for (text, expected) in [
        (format!("Authorization: Bearer {long}"), "Authorization: Bearer [redacted]"),
        (format!("-H 'authorization: Basic {long}=='"), "-H 'authorization: Basic [redacted]'"),
        (format!("OPENAI_API_KEY={long}"), "OPENAI_API_KEY=[redacted]"),
        (
            format!("export aws_secret_access_key = '{long}'"),
            "export aws_secret_access_key = '[redacted]'",
        ),
        (
            format!("{{\"clientSecret\": \"{long}\", \"n\": 1}}"),
            "{\"clientSecret\": \"[redacted]\", \"n\": 1}",
        ),
        (format!("access_token: {long}"), "access_token: [redacted]"),
        ("password = \"correct horse battery\"".into(), "password = \"[redacted]\""),
        ("DB_PASSWORD=hunter2hunter2".into(), "DB_PASSWORD=[redacted]"),
        ("postgres://app:s3cret@db:5432/x".into(), "postgres://app:[redacted]@db:5432/x"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----\nrest"
                .into(),
            "-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----\nrest",
        ),
        (
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn".into(),
            "-----BEGIN OPENSSH PRIVATE KEY-----[redacted]",
        ),
    ] {
        assert_eq!(redact(&text), expected);
    }
}

#[test]
fn what_is_no_secret_stays() {
    for text in [
        "",
        "commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        "id 018f3c1e-7b5e-7c3a-9d3e-2f1a4b5c6d7e",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "max_tokens: 16384, total_tokens = 100000000",
        "let token = lexer.next_token();",
        "token: Option<TokenKind2>,",
        "API_KEY=$OPENAI_API_KEY",
        "api_key = os.environ[\"OPENAI_API_KEY1\"]",
        "api_key: process.env.OPENAI_API_KEY",
        "API_KEY=<your-key-1>",
        "password: string",
        "password=********",
        "private_key = /home/me/.ssh/id_ed25519",
        "the bearer of this letter",
        "Bearer <token>",
        "sk-learn and task-runner-configuration-file",
        "https://example.com:8080/a@b",
        "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
        "secret: see-the-vault",
        "token = self::TOKEN_TABLE_V2",
    ] {
        assert!(matches!(redact(text), Cow::Borrowed(_)), "{text} became {}", redact(text));
    }
}

proptest! {
    #[test]
    fn redacting_again_changes_nothing(text in r#"(api_key|password|token|Authorization: Bearer |sk-|://a:|x)?[=: "']{0,3}[A-Za-z0-9@"'. =-]{0,60}"#) {
        let once = redact(&text).into_owned();
        prop_assert_eq!(redact(&once).into_owned(), once);
    }
}

#[test]
fn a_megabyte_without_a_break_is_no_trouble() {
    for unit in
        ["a", "token=", "://", "-----BEGIN PRIVATE KEY-----", "eyJaaaaaaaa.", "\"", "password: \""]
    {
        let text = unit.repeat(1_000_000 / unit.len());
        assert!(redact(&text).len() <= 2 * text.len(), "{unit}");
    }
}
