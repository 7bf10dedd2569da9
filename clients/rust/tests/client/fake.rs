//! A service that gives the same answer to everything, and keeps what it was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

pub struct Fake {
    pub url: String,
    answer: Arc<Mutex<(u16, Value)>>,
    asked: Arc<Mutex<Vec<Request>>>,
}

pub struct Request {
    /// Such as `get /v1/identity/1`.
    pub line: String,
    /// In lowercase.
    pub head: String,
    pub body: Value,
}

impl Fake {
    pub fn answering(answer: &Value) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let answer = Arc::new(Mutex::new((200, answer.clone())));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let fake = Self { url, answer: Arc::clone(&answer), asked: Arc::clone(&asked) };
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                asked.lock().unwrap().push(read(&stream));
                let (status, answer) = answer.lock().unwrap().clone();
                let answer = answer.to_string();
                let head = format!("HTTP/1.1 {status} S\r\nconnection: close\r\ncontent-length:");
                // A call that was given up reads nothing.
                let _ = write!(stream, "{head} {}\r\n\r\n{answer}", answer.len());
            }
        });
        fake
    }

    pub fn answer(&self, answer: &Value) {
        self.refuse(200, answer);
    }

    pub fn refuse(&self, status: u16, answer: &Value) {
        *self.answer.lock().unwrap() = (status, answer.clone());
    }

    pub fn take_asked(&self) -> Vec<Request> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

fn read(stream: &TcpStream) -> Request {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        reader.read_line(&mut head).unwrap();
    }
    let head = head.to_lowercase().replace("http/1.1", "");
    let length = head.split_once("content-length: ").map_or("0", |(_, rest)| rest);
    let length = length.lines().next().unwrap().parse().unwrap();
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    Request {
        line: head.lines().next().unwrap().trim().into(),
        head,
        body: serde_json::from_slice(&body).unwrap_or_default(),
    }
}
