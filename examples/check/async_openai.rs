//! async-openai as a driver of `mock-gateway check` (docs/driver-protocol.md), called as its examples show.
//!
//!     cargo add async-openai --features chat-completion
//!     cargo add futures serde_json && cargo add tokio --features full
//!     mock-gateway check --driver --tools -- target/release/driver        (this file is its src/main.rs)

use async_openai::{
    Client,
    config::OpenAIConfig,
    error::OpenAIError,
    types::chat::{
        ChatCompletionMessageToolCalls, ChatCompletionRequestUserMessage, ChatCompletionTools, CompletionUsage,
        CreateChatCompletionRequest, CreateChatCompletionRequestArgs,
    },
};
use futures::StreamExt;
use serde_json::{Value, json};
use std::{collections::HashMap, io::Write, time::Duration};

/// One client per address.
type Clients = HashMap<String, Client<OpenAIConfig>>;

fn text_of<'a>(job: &'a Value, key: &str) -> &'a str {
    job[key].as_str().unwrap_or_default()
}

fn client_of<'a>(job: &Value, clients: &'a mut Clients, anew: bool) -> &'a Client<OpenAIConfig> {
    let base_url = text_of(job, "base_url").to_string();
    if anew || !clients.contains_key(&base_url) {
        let config = OpenAIConfig::new().with_api_base(&base_url).with_api_key(text_of(job, "api_key"));
        clients.insert(base_url.clone(), Client::with_config(config));
    }
    &clients[&base_url]
}

fn request_of(job: &Value) -> Result<CreateChatCompletionRequest, OpenAIError> {
    let mut request = CreateChatCompletionRequestArgs::default();
    request.model(text_of(job, "model"));
    request.messages(vec![ChatCompletionRequestUserMessage::from(text_of(job, "prompt")).into()]);
    if !job["tools"].is_null() {
        let tools: Vec<ChatCompletionTools> = serde_json::from_value(job["tools"].clone()).expect("tools");
        request.tools(tools);
    }
    request.build()
}

fn usage_of(usage: CompletionUsage) -> Value {
    json!({
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.total_tokens,
    })
}

/// The version that Cargo chose.
fn version() -> Option<&'static str> {
    let lock = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.lock"));
    let (_, rest) = lock.split_once("name = \"async-openai\"\nversion = \"")?;
    rest.split('"').next()
}

/// What the caller has received so far.
#[derive(Default)]
struct Seen {
    text: String,
    calls: Vec<(String, String)>,
    finish_reason: Value,
    usage: Value,
}

async fn ask(job: &Value, client: &Client<OpenAIConfig>, seen: &mut Seen) -> Result<(), OpenAIError> {
    let response = client.chat().create(request_of(job)?).await?;
    seen.usage = response.usage.map(usage_of).unwrap_or_default();
    for choice in response.choices {
        seen.text += &choice.message.content.or(choice.message.refusal).unwrap_or_default();
        seen.finish_reason = json!(choice.finish_reason);
        for call in choice.message.tool_calls.unwrap_or_default() {
            if let ChatCompletionMessageToolCalls::Function(call) = call {
                seen.calls.push((call.function.name, call.function.arguments));
            }
        }
    }
    Ok(())
}

async fn stream(job: &Value, client: &Client<OpenAIConfig>, seen: &mut Seen) -> Result<(), OpenAIError> {
    let mut stream = client.chat().create_stream(request_of(job)?).await?;
    let mut pieces = 0;
    while let Some(response) = stream.next().await {
        let response = response?;
        if let Some(usage) = response.usage {
            seen.usage = usage_of(usage);
        }
        for choice in response.choices {
            if let Some(content) = choice.delta.content.or(choice.delta.refusal).filter(|text| !text.is_empty()) {
                seen.text += &content;
                pieces += 1;
                if job["after_tokens"] == pieces {
                    return Ok(()); // dropping the stream closes it
                }
            }
            for part in choice.delta.tool_calls.unwrap_or_default() {
                let index = part.index as usize;
                while seen.calls.len() <= index {
                    seen.calls.push(Default::default());
                }
                if let Some(function) = part.function {
                    if let Some(name) = function.name {
                        seen.calls[index].0 = name;
                    }
                    seen.calls[index].1 += &function.arguments.unwrap_or_default();
                }
            }
            if let Some(reason) = choice.finish_reason {
                seen.finish_reason = json!(reason);
            }
        }
    }
    Ok(())
}

async fn call(job: &Value, clients: &mut Clients) -> Value {
    let mut seen = Seen::default();
    let client = client_of(job, clients, false);
    let streams = job["stream"].as_bool().unwrap_or(job["job"] != "ask");
    let made = async {
        if streams { stream(job, client, &mut seen).await } else { ask(job, client, &mut seen).await }
    };
    let error = match job["after_ms"].as_u64() {
        None => made.await.err().map(|error| error.to_string()),
        // An app drops the call when its user leaves.
        Some(after) => match tokio::time::timeout(Duration::from_millis(after), made).await {
            Ok(done) => done.err().map(|error| error.to_string()),
            Err(error) => Some(error.to_string()),
        },
    };
    let calls: Vec<Value> = seen.calls.iter().map(|(name, text)| json!({"name": name, "arguments": text})).collect();
    json!({
        "text": seen.text,
        "tool_calls": calls,
        "error": error,
        "finish_reason": seen.finish_reason,
        "usage": seen.usage,
    })
}

#[tokio::main]
async fn main() {
    let mut clients = Clients::new();
    for line in std::io::stdin().lines() {
        let job: Value = serde_json::from_str(&line.expect("a line")).expect("a job");
        let mut answer = match text_of(&job, "job") {
            "hello" => json!({"client": "async-openai", "version": version()}),
            "use_key" => {
                client_of(&job, &mut clients, true); // a client's key is fixed
                json!({})
            }
            "ask" | "stream" | "cancel" | "abandon" => call(&job, &mut clients).await,
            _ => json!({"unknown": true}),
        };
        answer["id"] = job["id"].clone();
        println!("{answer}");
        std::io::stdout().flush().expect("stdout");
    }
}
