// A test of a client in Rust, without a helper and crates.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

fn field<'a>(json: &'a str, name: &str) -> &'a str {
    let (_, rest) = json.split_once(&format!("\"{name}\":")).expect(name);
    rest.trim_start_matches([' ', '"']).split(['"', ',', '}']).next().unwrap()
}

fn call(method: &str, url: &str, key: &str, body: &str) -> String {
    let (host, path) = url.trim_start_matches("http://").split_once('/').unwrap();
    let length = body.len();
    let mut connection = TcpStream::connect(host).unwrap();
    write!(
        connection,
        "{method} /{path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 2"), "{method} {url}: {answer}");
    answer
}

#[test]
fn greeting() {
    let mut program = Command::new("mock-gateway")
        .args(["serve", "--port", "0", "--control", "0", "--print", "json", "--until-eof", "--quiet"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut info = String::new();
    BufReader::new(program.stdout.take().unwrap()).read_line(&mut info).unwrap();
    let control = format!("{}/control/v1", field(&info, "control_url"));
    let token = field(&info, "control_token");

    let scope = call("POST", &format!("{control}/scopes"), token, r#"{"name": "greeting"}"#);
    let id = field(&scope, "id");
    let stub = r#"{"when": {"user_says": "Hi"}, "reply": "Hello.", "expect": 1}"#;
    call("POST", &format!("{control}/stubs?scope={id}"), token, stub);
    // The code under test gets base_url and api_key of the scope.
    let question = r#"{"model": "mock-model", "messages": [{"role": "user", "content": "Hi"}]}"#;
    let url = format!("{}/chat/completions", field(&scope, "base_url"));
    assert!(call("POST", &url, field(&scope, "api_key"), question).contains("Hello."));
    let verdict = call("DELETE", &format!("{control}/scopes/{id}"), token, "");
    assert_eq!(field(&verdict, "ok"), "true", "{verdict}");

    drop(program.stdin.take()); // ends the program
    assert!(program.wait().unwrap().success());
}
