//! The fenced blocks of the pages.

use std::fs;
use std::path::{Path, PathBuf};

const EXCUSE: &str = "<!-- not run: ";
const ELSEWHERE: &str = "<!-- run by ";

#[derive(Clone, Debug)]
pub struct Block {
    pub page: String,
    pub line: usize,
    pub info: String,
    pub text: String,
    /// Why it cannot be run, if the page says so above it.
    pub excuse: Option<String>,
    /// The file of the test that runs it instead, if the page says so above it.
    pub run_by: Option<String>,
    /// Whether it begins in the line after a block of commands.
    pub follows: bool,
}

/// The kind of a block, which decides how it is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Shell, which is run.
    Commands,
    /// Shell after `$ `, with its output.
    Transcript,
    /// The output of the commands in the previous block.
    Output,
    /// Data or a drawing.
    Sample,
    /// A program in this language, or the configuration of one.
    Program,
}

impl Block {
    pub fn place(&self) -> String {
        format!("{}:{}", self.page, self.line)
    }

    /// Whether its commands are run by this test.
    pub const fn is_run_here(&self) -> bool {
        self.excuse.is_none() && self.run_by.is_none()
    }

    pub fn kind(&self) -> Kind {
        match self.info.as_str() {
            "sh" => Kind::Commands,
            "" if self.text.starts_with("$ ") => Kind::Transcript,
            "" | "json" if self.follows => Kind::Output,
            "json" | "toml" | "yaml" | "ini" | "promql" | "text" => Kind::Sample,
            "rust" | "ts" | "js" | "go" | "python" | "nginx" | "caddyfile" | "jsonnet" => {
                Kind::Program
            }
            other => panic!("{}: nobody knows what {other:?} is", self.place()),
        }
    }
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every page of the repository, by its path.
pub fn pages() -> Vec<String> {
    let root = root();
    let (mut found, mut folders) = (vec!["README.md".to_owned()], vec![root.join("docs")]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// The blocks of a page, in order.
pub fn blocks(page: &str) -> Vec<Block> {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let (mut found, mut at, mut commands_end) = (Vec::new(), 0, None);
    while at < lines.len() {
        let line = lines[at].trim_start();
        let Some(info) = line.strip_prefix("```") else {
            at += 1;
            continue;
        };
        let indent = lines[at].len() - line.len();
        let body: Vec<&str> = lines[at + 1..]
            .iter()
            .take_while(|line| line.trim() != "```")
            .map(|line| line.get(indent..).unwrap_or_default())
            .collect();
        let above = at.checked_sub(1).map_or("", |above| lines[above].trim());
        let said = |begin| above.strip_prefix(begin)?.strip_suffix(" -->").map(str::to_owned);
        found.push(Block {
            page: page.to_owned(),
            line: at + 1,
            info: info.to_owned(),
            text: body.join("\n") + "\n",
            excuse: said(EXCUSE),
            run_by: said(ELSEWHERE),
            follows: commands_end == Some(at),
        });
        at += body.len() + 2;
        commands_end = matches!(info, "sh" | "").then_some(at);
    }
    found
}
