//! A server of one's own: its address is all that is needed.

#![expect(clippy::unwrap_used, reason = "a set-up that fails is a test that fails")]

use longhand_agent::UserInput;
use longhand_agent::client::ModelsError;
use longhand_coding_agent::agent::OpenError;
use longhand_coding_agent::{CodingAgent, Environment, OpenRequest, Setup};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const MODELS: &str = r#"{"data":[{"id":"qwen","object":"model","meta":{"n_ctx":16384}}]}"#;

const REPLY: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Good morning.\"}}]}\n\n\
    data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3,\"total_tokens\":12}}\n\n\
    data: [DONE]\n\n";

/// Answers like llama.cpp: a list of models, and one reply to everything that is said. Gives its address.
async fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            tokio::spawn(answer(connection));
        }
    });
    format!("http://{address}/v1")
}

async fn answer(mut connection: TcpStream) {
    let mut request = Vec::new();
    while !is_whole(&request) {
        let mut piece = [0; 4096];
        let Ok(count @ 1..) = connection.read(&mut piece).await else { return };
        request.extend_from_slice(&piece[..count]);
    }
    let text = String::from_utf8_lossy(&request);
    let (status, kind, body) = match text.split_whitespace().nth(1).unwrap() {
        "/v1/models" => ("200 OK", "application/json", MODELS),
        "/v1/chat/completions" => ("200 OK", "text/event-stream", REPLY),
        _ => ("404 Not Found", "text/plain", ""),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let _ = connection.write_all(format!("{head}{body}").as_bytes()).await;
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head
        .lines()
        .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    body.len() >= length.unwrap_or(0)
}

fn agent(temp: &tempfile::TempDir, base_url: &str) -> CodingAgent {
    let environment: Environment =
        [("LONGHAND_HOME", temp.path().join("home").display().to_string())].into_iter().collect();
    let setup = Setup {
        assignments: vec![format!("providers.local.baseUrl={base_url}")],
        ..Setup::new(environment, temp.path().to_owned())
    };
    CodingAgent::new(setup).unwrap()
}

#[tokio::test]
async fn one_assignment_names_the_server_and_the_server_names_its_model() {
    let temp = tempfile::tempdir().unwrap();
    let agent = agent(&temp, &server().await);
    let opened = agent.open(OpenRequest::default()).await.unwrap();
    assert_eq!(opened.model().to_string(), "local/qwen");
    assert_eq!(opened.session.live().client.model().context_window, Some(16_384));

    let end = opened.session.prompt(UserInput::text("Hello")).await.unwrap();
    let reply = end.last.unwrap();
    assert_eq!(reply.as_assistant().unwrap().text(""), "Good morning.");
    opened.session.close().await.unwrap();
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let temp = tempfile::tempdir().unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let agent = agent(&temp, &format!("http://{closed}/v1"));
    let error = agent.open(OpenRequest::default()).await.err().unwrap();
    let OpenError::Model(ModelsError::Unreachable { endpoint, .. }) = &error else {
        panic!("{error}")
    };
    assert!(endpoint.contains(&closed.to_string()), "{endpoint}");
}
