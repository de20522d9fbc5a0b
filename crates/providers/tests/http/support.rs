//! A server that plays transcripts byte for byte, and what tests need around a client.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::StreamExt;
use longhand_agent::request::{EventStream, Request, RequestOptions, Retry};
use longhand_agent::{Credentials, ModelError, StreamEvent};
use longhand_providers::{Http, OpenAiChat};
use longhand_session::{Api, AssistantMessage, Message, Model, ModelRef};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One step of an answer.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Sends bytes.
    Send(Vec<u8>),
    /// Waits, in the clock of the test.
    Wait(std::time::Duration),
    /// Stays silent until the client goes away.
    Hang,
}

/// What a server does with one connection; closes it afterwards.
pub(crate) type Script = Vec<Step>;

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// A server on loopback that plays one script a connection, and refuses connections after the last.
pub(crate) struct Server {
    pub(crate) base_url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    pub(crate) async fn play(scripts: Vec<Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let record = Arc::clone(&seen);
        tokio::spawn(async move {
            for script in scripts {
                let (mut socket, _) = listener.accept().await.unwrap();
                let record = Arc::clone(&record);
                tokio::spawn(async move {
                    if let Some(request) = read_request(&mut socket).await {
                        record.lock().unwrap().push(request);
                    }
                    play(&mut socket, script).await;
                });
            }
        });
        Self { base_url, seen }
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

async fn read_request(socket: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    loop {
        let mut buffer = [0; 8_192];
        let read = socket.read(&mut buffer).await.ok()?;
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| {
                    line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok()
                })
                .unwrap_or(0);
            if body.len() >= length {
                let body = serde_json::from_str(body).unwrap_or(Value::Null);
                return Some(Seen { head: head.to_owned(), body });
            }
        }
        if read == 0 {
            return None;
        }
    }
}

async fn play(socket: &mut TcpStream, script: Script) {
    socket.set_nodelay(true).unwrap();
    for step in script {
        match step {
            Step::Send(bytes) => {
                if socket.write_all(&bytes).await.is_err() {
                    return;
                }
                // Lets the client see each piece by itself.
                tokio::task::yield_now().await;
            }
            Step::Wait(time) => tokio::time::sleep(time).await,
            Step::Hang => {
                let mut rest = Vec::new();
                let _ = socket.read_to_end(&mut rest).await;
                return;
            }
        }
    }
    let _ = socket.shutdown().await;
}

/// An answer with a body that ends with the connection.
pub(crate) fn answer(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Script {
    let mut head = format!("HTTP/1.1 {status} Status\r\nconnection: close\r\n");
    for (name, value) in headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head.push_str("\r\n");
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(body.as_ref());
    vec![Step::Send(bytes)]
}

/// An event stream.
pub(crate) fn sse(body: impl AsRef<[u8]>) -> Script {
    answer(200, &[("content-type", "text/event-stream")], body)
}

/// A refusal with a body.
pub(crate) fn refusal(status: u16, body: &str) -> Script {
    let length = body.len().to_string();
    answer(status, &[("content-type", "application/json"), ("content-length", &length)], body)
}

/// A reply of one text.
pub(crate) fn hello() -> Script {
    sse(concat!(
        "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}\n\n",
        "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],",
        "\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":1}}\n\n",
        "data: [DONE]\n\n"
    ))
}

/// Keys that are given one after another; the last again and again.
pub(crate) struct Keys(Mutex<Vec<&'static str>>);

impl Keys {
    pub(crate) fn new(keys: &[&'static str]) -> Arc<Self> {
        Arc::new(Self(Mutex::new(keys.to_vec())))
    }
}

#[async_trait]
impl Credentials for Keys {
    async fn key(&self, _: &ModelRef) -> Option<String> {
        let mut keys = self.0.lock().unwrap();
        let key = keys.first().map(|key| (*key).to_owned());
        if keys.len() > 1 {
            keys.remove(0);
        }
        key
    }
}

pub(crate) fn model(base_url: &str) -> Model {
    Model::new(ModelRef::new("custom", "my-model"), Api::OpenaiCompletions, base_url)
}

pub(crate) fn client(model: Model) -> OpenAiChat {
    OpenAiChat::new(Arc::new(model), Keys::new(&["test-key"]), Http::new())
}

/// A request of one word, whose failure is reported at once.
pub(crate) fn request() -> Request {
    let mut options = RequestOptions::default();
    options.retry = Retry::Caller;
    Request { messages: vec![Arc::new(Message::user("Hi", 0))], options, ..Request::default() }
}

/// The same, but the client may try again.
pub(crate) fn patient_request() -> Request {
    Request { options: RequestOptions::default(), ..request() }
}

/// How a stream ended, and the events before.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) events: Vec<StreamEvent>,
    pub(crate) message: AssistantMessage,
    pub(crate) error: Option<ModelError>,
}

impl Ended {
    pub(crate) fn text(&self) -> String {
        self.message.text("")
    }

    #[track_caller]
    pub(crate) fn error(&self) -> &ModelError {
        self.error.as_ref().expect("the reply fails")
    }
}

/// Reads a stream to its end, and checks that there is exactly one.
pub(crate) async fn collect(mut stream: EventStream) -> Ended {
    let mut events = Vec::new();
    let mut end = None;
    while let Some(event) = stream.next().await {
        assert!(end.is_none(), "{event:?} came after the end");
        match event {
            StreamEvent::Done(message) => end = Some((*message, None)),
            StreamEvent::Failed { message, error } => end = Some((*message, Some(error))),
            other => events.push(other),
        }
    }
    let (message, error) = end.expect("a stream has an end");
    Ended { events, message, error }
}
