//! Finding models by name, and what servers tell of them.

use std::sync::Arc;

use longhand_agent::Models;
use longhand_agent::client::{ModelsError, Role};
use longhand_providers::{Catalogue, Discovery, ModelConfig, ProviderConfig, well_known};
use longhand_session::model::{Effort, InputKind};
use longhand_session::{Api, Model};
use serde_json::{Value, json};

use crate::support::{Keys, Script, Server, Step, answer, client, model, refusal};

fn told(body: &Value) -> Script {
    answer(200, &[("content-type", "application/json")], body.to_string())
}

fn provider(id: &str, base_url: &str) -> ProviderConfig {
    ProviderConfig::new(id, base_url)
}

/// The one model that a provider tells of, given its answers in order.
async fn one(id: &str, answers: Vec<Script>) -> Model {
    let server = Server::play(answers).await;
    let catalogue = Catalogue::new(vec![provider(id, &server.base_url)], Keys::new(&[]));
    let models = catalogue.list().await;
    assert_eq!(models.len(), 1, "{id}: {models:?}");
    Model::clone(&models[0])
}

#[tokio::test]
async fn the_window_as_served_wins_over_the_window_as_trained() {
    let llama = |meta: Value| json!({"data": [{"id": "m", "owned_by": "llamacpp", "meta": meta}]});
    let props = json!({"default_generation_settings": {"n_ctx": 2_048, "params": {"n_predict": -1}}, "modalities": {"vision": true}});
    let none = || refusal(404, "");
    let show = json!({"parameters": "stop \"x\"\nnum_ctx                        8192", "model_info": {"llama.context_length": 131_072}, "capabilities": ["completion", "vision", "thinking"]});
    let tags = || told(&json!({"models": [{"name": "m"}]}));
    for (name, provider, answers, window) in [
        (
            "llama.cpp, loaded",
            "any",
            vec![told(&llama(json!({"n_ctx": 4_096, "n_ctx_train": 32_768}))), told(&props)],
            4_096,
        ),
        (
            "llama.cpp, properties",
            "llama.cpp",
            vec![told(&llama(json!({"n_ctx_train": 32_768}))), told(&props)],
            2_048,
        ),
        (
            "llama.cpp, trained",
            "llama.cpp",
            vec![told(&llama(json!({"n_ctx_train": 32_768}))), none()],
            32_768,
        ),
        (
            "llama.cpp, configured",
            "llama.cpp",
            vec![
                told(
                    &json!({"data": [{"id": "m", "status": {"args": ["--ctx-size", "16384"]}, "meta": {"n_ctx_train": 32_768}}]}),
                ),
                none(),
            ],
            16_384,
        ),
        (
            "vLLM",
            "vllm",
            vec![told(&json!({"data": [{"id": "m", "max_model_len": 9_000}]}))],
            9_000,
        ),
        (
            "a router",
            "openrouter",
            vec![told(&json!({"data": [{"id": "m", "context_length": 200_000}]}))],
            200_000,
        ),
        (
            "LM Studio, loaded",
            "lm-studio",
            vec![told(
                &json!({"data": [{"id": "e", "type": "embeddings"}, {"id": "m", "type": "llm", "state": "loaded", "loaded_context_length": 5_000, "max_context_length": 90_000}]}),
            )],
            5_000,
        ),
        (
            "LM Studio, not loaded",
            "lm-studio",
            vec![told(
                &json!({"data": [{"id": "m", "type": "vlm", "state": "not-loaded", "loaded_context_length": 5_000, "max_context_length": 90_000}]}),
            )],
            90_000,
        ),
        (
            "LM Studio, old",
            "lm-studio",
            vec![none(), told(&json!({"data": [{"id": "m", "max_model_len": 7_000}]}))],
            7_000,
        ),
        (
            "Ollama, loaded",
            "ollama",
            vec![
                tags(),
                told(&json!({"models": [{"name": "m", "context_length": 4_096}]})),
                told(&show),
            ],
            4_096,
        ),
        ("Ollama, configured", "ollama", vec![tags(), none(), told(&show)], 8_192),
        (
            "Ollama, trained",
            "ollama",
            vec![tags(), none(), told(&json!({"model_info": {"llama.context_length": 131_072}}))],
            131_072,
        ),
    ] {
        assert_eq!(one(provider, answers).await.context_window, Some(window), "{name}");
    }
    let silent = one("custom", vec![told(&json!({"data": [{"id": "m"}]}))]).await;
    assert_eq!((silent.context_window, silent.max_output_tokens), (None, None));
}

#[tokio::test]
async fn what_else_a_server_tells_is_taken() {
    let router = one(
        "openrouter",
        vec![told(&json!({"data": [{
            "id": "a/b", "name": "A: B", "context_length": 200_000,
            "architecture": {"input_modalities": ["text", "image"]},
            "top_provider": {"max_completion_tokens": 64_000},
            "supported_parameters": ["tools", "reasoning"],
            "pricing": {"prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003"},
        }]}))],
    )
    .await;
    assert_eq!((router.name.as_str(), router.max_output_tokens), ("A: B", Some(64_000)));
    assert_eq!(router.input, [InputKind::Text, InputKind::Image]);
    assert_eq!(router.efforts, [Effort::Low, Effort::Medium, Effort::High]);
    let price = router.price.unwrap();
    assert!((price.input - 3.0).abs() < 1e-9 && (price.output - 15.0).abs() < 1e-9);
    assert!((price.cache_read - 0.3).abs() < 1e-9);
    assert!(router.is_local);
}

#[tokio::test]
async fn what_the_user_says_wins_over_what_the_server_says() {
    let server =
        Server::play(vec![told(&json!({"data": [{"id": "m", "max_model_len": 9_000}]}))]).await;
    let mut config = provider("vllm", &server.base_url);
    config.models = vec![ModelConfig {
        id: "m".into(),
        name: Some("Mine".into()),
        context_window: Some(30_000),
        max_output_tokens: Some(90_000),
        ..ModelConfig::default()
    }];
    let catalogue = Catalogue::new(vec![config], Keys::new(&[]));
    let client = catalogue.resolve("vllm/m").await.unwrap();
    let model = client.model();
    assert_eq!(
        (model.name.as_str(), model.context_window, model.max_output_tokens),
        ("Mine", Some(30_000), Some(30_000))
    );
}

#[tokio::test]
async fn a_server_that_does_not_answer_takes_nothing_away() {
    for script in [
        vec![],
        vec![Step::Send(b"HTTP/1.1 200 OK\r\n\r\n<html>".to_vec())],
        refusal(500, "no"),
        told(&json!({"models": 1})),
    ] {
        let server = Server::play(vec![script.clone()]).await;
        let mut config = provider("custom", &server.base_url);
        config.models = vec![ModelConfig { id: "m".into(), ..ModelConfig::default() }];
        let catalogue = Catalogue::new(vec![config], Keys::new(&[]));
        assert_eq!(catalogue.resolve("custom/m").await.unwrap().model().id, "m", "{script:?}");
        let missing = catalogue.resolve("custom/other").await.err().unwrap();
        assert!(matches!(missing, ModelsError::Unreachable { .. }), "{script:?}: {missing}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_does_not_hold_up_the_list() {
    let server = Server::play(vec![vec![Step::Hang]]).await;
    let catalogue = Catalogue::new(vec![provider("custom", &server.base_url)], Keys::new(&[]));
    assert!(catalogue.list().await.is_empty());
    let error = catalogue.resolve("custom/m").await.err().unwrap().to_string();
    assert!(error.contains("did not answer within 1 s"), "{error}");
}

/// A catalogue that asks nobody.
fn quiet() -> Catalogue {
    let known = |id: &str| {
        let known = well_known().iter().find(|known| known.id == id).unwrap();
        ProviderConfig { discovery: Discovery::Off, ..ProviderConfig::from(known) }
    };
    let mut claude = provider("anthropic", "https://api.anthropic.com");
    claude.api = Api::AnthropicMessages;
    claude.models = vec![ModelConfig { id: "claude-x".into(), ..ModelConfig::default() }];
    Catalogue::new(vec![known("openai"), known("openrouter"), claude], Keys::new(&["key"]))
        .with_client(Arc::new(client(model("http://127.0.0.1:1"))))
        .with_role(Role::Summarizer, "openai/gpt-5-mini")
}

#[tokio::test]
async fn a_name_may_be_full_or_an_id_or_a_part() {
    let catalogue = quiet();
    for (name, expected) in [
        ("openai/gpt-5", "openai/gpt-5"),
        ("gpt-5-nano", "openai/gpt-5-nano"),
        ("openai/gpt-5.5", "openai/gpt-5.5"),
        ("sonnet", "openrouter/anthropic/claude-sonnet-4.6"),
        ("KIMI", "openrouter/moonshotai/kimi-k2.6"),
        ("custom/my-model", "custom/my-model"),
        ("my-model", "custom/my-model"),
    ] {
        let client =
            catalogue.resolve(name).await.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(client.model().reference().to_string(), expected, "{name}");
    }
    let summarizer = catalogue.for_role(Role::Summarizer).await.unwrap().unwrap();
    assert_eq!(summarizer.model().id, "gpt-5-mini");
    assert!(catalogue.for_role(Role::Default).await.unwrap().is_none());
}

#[tokio::test]
async fn a_name_that_fits_badly_is_answered_with_what_would_fit() {
    let catalogue = quiet();
    let error = async |name: &str| catalogue.resolve(name).await.err().unwrap();
    assert_eq!(
        error("gpt5.5-mimi").await.to_string(),
        "there is no model `gpt5.5-mimi`; the closest is `openai/gpt-5.4-mini`"
    );
    assert_eq!(error("zzz").await.to_string(), "there is no model `zzz`");
    let ModelsError::Ambiguous { candidates, .. } = error("4o").await else { panic!() };
    assert_eq!(candidates, ["openai/gpt-4o", "openai/gpt-4o-mini"]);
    assert_eq!(
        error("claude-x").await.to_string(),
        "`anthropic/claude-x` speaks `anthropic-messages`, which is not supported"
    );
    assert_eq!(
        Catalogue::new(vec![], Keys::new(&[])).resolve("x").await.err(),
        Some(ModelsError::None)
    );
}

#[tokio::test]
async fn only_servers_far_away_need_a_key() {
    let listed = |id: &str, base_url: &str| {
        let mut config = provider(id, base_url);
        config.discovery = Discovery::Off;
        config.models = vec![ModelConfig { id: "m".into(), ..ModelConfig::default() }];
        config
    };
    let catalogue = Catalogue::new(
        vec![
            listed("near", "http://127.0.0.1:9"),
            listed("home", "http://box.local/v1"),
            listed("vllm", "https://gpu.example.com/v1"),
            listed("my-far", "https://api.example.com/v1"),
        ],
        Keys::new(&[]),
    );
    for name in ["near/m", "home/m", "vllm/m"] {
        assert!(catalogue.resolve(name).await.is_ok(), "{name}");
    }
    let error = catalogue.resolve("my-far/m").await.err().unwrap().to_string();
    assert_eq!(error, "there is no key for `my-far/m`; set `MY_FAR_API_KEY`");
}

#[tokio::test]
async fn to_count_with_a_model_nobody_far_away_is_asked_and_no_key() {
    let server =
        Server::play(vec![told(&json!({"data": [{"id": "m", "meta": {"n_ctx": 4096}}]}))]).await;
    let mut unlisted = provider("far", "https://models.invalid/v1");
    unlisted.discovery = Discovery::On;
    let known =
        ProviderConfig::from(well_known().iter().find(|known| known.id == "openai").unwrap());
    let catalogue =
        Catalogue::new(vec![provider("near", &server.base_url), unlisted, known], Keys::new(&[]));
    let near = catalogue.nearby("near/m").await.unwrap();
    assert_eq!(near.model().context_window, Some(4096));
    assert_eq!(catalogue.nearby("openai/gpt-5").await.unwrap().model().id, "gpt-5");
    assert!(catalogue.resolve("openai/gpt-5").await.is_err(), "to ask it a key is needed");
    assert!(catalogue.nearby("far/m").await.is_none());
    assert!(catalogue.nearby("gone/m").await.is_none());
}
