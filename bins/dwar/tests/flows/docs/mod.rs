//! Compares the pages with the repository: links, paths, names of code and of settings, cited
//! sections.

mod book;
mod code;
mod examples;
mod names;
mod numbers;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A section whose keys the user names.
const OPEN_SECTION: &str = "gateways";

/// Names that look like code of ours but are not: a header, files that a guide has its reader
/// create, attribute names of OpenTelemetry.
const FOREIGN: [&str; 12] = [
    "ETag",
    "GetBody",
    "RoundTripper",
    "secrets.env",
    "telepost.rs",
    "examples/state.rs",
    "examples/sessions.rs",
    "examples/faults.rs",
    "examples/calls.rs",
    "http.request.method",
    "http.route",
    "http.response.status_code",
];

struct Repository {
    root: PathBuf,
    files: Vec<String>,
}

impl Repository {
    fn open() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
        let mut files = Vec::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let (path, name) = {
                    let entry = entry.unwrap();
                    (entry.path(), entry.file_name().into_string().unwrap())
                };
                let hidden = name.starts_with('.') && name != ".ci" && name != ".github";
                if hidden || name == "target" || name == "node_modules" {
                    continue;
                }
                files.push(path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned());
                if path.is_dir() {
                    folders.push(path);
                }
            }
        }
        Self { root, files }
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.root.join(file)).unwrap()
    }

    fn ending_in(&self, suffix: &str) -> impl Iterator<Item = &String> {
        self.files.iter().filter(move |file| file.ends_with(suffix))
    }

    /// Every page that describes the present. ADRs and the changelog describe their own time.
    fn pages(&self) -> impl Iterator<Item = &String> {
        self.ending_in(".md")
            .filter(|page| !page.starts_with("docs/adr/") && *page != "CHANGELOG.md")
    }

    /// Tells whether a file or folder has this path, or a path that ends in it.
    fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let within = format!("/{path}");
        self.files.iter().any(|file| file == path || file.ends_with(&within))
    }
}

/// Texts between backticks outside fenced blocks.
fn quoted(page: &str) -> Vec<String> {
    let mut fenced = false;
    let prose = page.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    });
    prose.flat_map(|line| line.split('`').skip(1).step_by(2).map(str::to_owned)).collect()
}

/// The anchors of a page's headings, as code hosts make them.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let text = line.trim_start_matches('#').trim().to_lowercase();
            let kept = text.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
        .collect()
}

fn links(page: &str) -> impl Iterator<Item = &str> {
    page.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

#[test]
fn every_link_leads_somewhere() {
    let repository = Repository::open();
    let mut broken = Vec::new();
    for page in repository.ending_in(".md") {
        let text = repository.read(page);
        // An address contains no blank: the text is a Go program, with a type and its arguments.
        for link in links(&text).filter(|link| !link.contains([':', ' '])) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let folder = repository.root.join(page).parent().unwrap().to_path_buf();
            let target =
                if file.is_empty() { repository.root.join(page) } else { folder.join(file) };
            let found = target.exists()
                && (anchor.is_empty()
                    || anchors(&fs::read_to_string(&target).unwrap()).contains(anchor));
            if !found {
                broken.push(format!("{page}: {link}"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn every_path_exists() {
    let repository = Repository::open();
    let mut missing = Vec::new();
    for page in repository.pages() {
        for text in quoted(&repository.read(page)) {
            let text = text.trim_start_matches("./");
            let is_source = text.ends_with(".rs") || text.ends_with(".sh");
            let is_folder = ["crates/", "bins/", "migrations/", "scripts/", "benches/"]
                .iter()
                .any(|folder| text.starts_with(folder));
            let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
            let is_foreign = FOREIGN.iter().any(|name| text.ends_with(name));
            let is_ours = is_plain && (is_source || is_folder) && !is_foreign;
            if is_ours && !repository.has(text) {
                missing.push(format!("{page}: {text}"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// `Type`, `Type::method` or `module::function`, in camel case or with a path, so that it is not a
/// word of English or of HTTP.
fn code_name(text: &str) -> Option<&str> {
    let last = text.rsplit("::").next()?;
    let is_name = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let humps = last.chars().filter(char::is_ascii_uppercase).count();
    let is_type =
        humps > 1 && last.contains(|c: char| c.is_ascii_lowercase()) && !last.contains('_');
    (text.split("::").all(is_name) && (text.contains("::") || is_type)).then_some(last)
}

#[test]
fn every_name_of_code_is_one() {
    let repository = Repository::open();
    let mut words = BTreeSet::new();
    let sources = [".rs", ".toml", ".ts", ".js", ".mjs", ".py", ".go", ".kt", ".swift"];
    for source in sources.iter().flat_map(|suffix| repository.ending_in(suffix)) {
        let text = repository.read(source);
        words.extend(text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned));
    }
    let mut unknown = Vec::new();
    for page in repository.pages() {
        for text in quoted(&repository.read(page)) {
            let name = code_name(&text).filter(|name| !FOREIGN.contains(name));
            if name.is_some_and(|name| !words.contains(name)) {
                unknown.push(format!("{page}: {text}"));
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
}

#[test]
fn every_setting_exists() {
    let repository = Repository::open();
    let (mut section, mut settings, mut sections) =
        (String::new(), BTreeSet::new(), BTreeSet::new());
    for line in repository.read("config.default.toml").lines() {
        let line = line.trim_start_matches("# ").trim();
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.trim_matches(['[', ']']).to_owned();
            sections.extend(section.split('.').next().map(str::to_owned));
            settings.insert(section.clone());
        } else if let Some((key, _)) = line.split_once(" = ") {
            settings.insert(format!("{section}.{key}"));
        }
    }
    // The kinds of events look like settings.
    let events = repository.read("crates/domain/kernel/src/event.rs");
    let kinds: BTreeSet<String> = events.split('"').map(str::to_owned).collect();
    let mut unknown = Vec::new();
    for page in repository.pages() {
        for text in quoted(&repository.read(page)) {
            let is_dotted = text.contains('.')
                && text.split('.').all(|part| {
                    !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c == '_')
                });
            let first = text.split('.').next().unwrap_or_default();
            let is_ours = is_dotted && sections.contains(first) && first != OPEN_SECTION;
            let is_known = settings.contains(&text) || kinds.contains(&text);
            let is_foreign = FOREIGN.contains(&text.as_str());
            if is_ours && !is_known && !is_foreign && !repository.has(&text) {
                unknown.push(format!("{page}: {text}"));
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
}

/// A shell interprets `&`, `$` and quotes, so files of variables are for systemd and `--env-file`.
#[test]
fn no_page_has_a_shell_read_a_file_of_variables() {
    let repository = Repository::open();
    let packaged = repository
        .files
        .iter()
        .filter(|file| file.starts_with("packaging/") && repository.root.join(file).is_file());
    let mut found = Vec::new();
    for file in repository.pages().chain(packaged) {
        for line in repository.read(file).lines().map(|line| line.replace('\\', "")) {
            let words: Vec<&str> = line.split([' ', ';', '`', '&', '(', ')']).collect();
            let reads =
                |pair: &[&str]| ["source", "."].contains(&pair[0]) && pair[1].ends_with(".env");
            if words.windows(2).any(reads) || line.contains("set -a") || line.contains("export $(")
            {
                found.push(format!("{file}: {line}"));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn every_cited_section_of_the_contract_exists() {
    let repository = Repository::open();
    let contract = repository.read("docs/contract.md");
    let sections: Vec<&str> =
        contract.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let sources = repository.ending_in(".rs").chain(repository.ending_in(".sql"));
    let (mut cited, mut unknown) = (0, Vec::new());
    for source in sources.filter(|source| !source.contains("/docs/mod.rs")) {
        // A citation may continue on the next line of its comment.
        let text = repository.read(source).replace("\n", " ").replace("///", "").replace("//!", "");
        let text: String = text.split_whitespace().flat_map(|word| [word, " "]).collect();
        for rest in text.split("docs/contract.md, ").skip(1) {
            cited += 1;
            if !sections.iter().any(|section| rest.starts_with(section)) {
                let start: String = rest.chars().take(30).collect();
                unknown.push(format!("{source}: {start}"));
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
    assert!(cited > 0, "nothing cites it");
}

/// The top-level module of the crate to which a file belongs.
fn outermost(module: &str) -> &str {
    module.split(['/', '.']).next().unwrap_or_default()
}

/// Fields and variants are left out: if the name is clear, a docstring would only repeat it. A
/// method of a port has one, which is its contract.
#[test]
fn every_public_item_says_what_it_promises() {
    let repository = Repository::open();
    let is_library = |file: &&String| {
        let (krate, module) = file.split_once("/src/").unwrap_or_default();
        krate.starts_with("crates/")
            && krate != "crates/testkit"
            && !repository
                .read(&format!("{krate}/src/lib.rs"))
                .contains(&format!("#[cfg(test)]\nmod {};", outermost(module)))
    };
    let mut silent = Vec::new();
    for source in repository.ending_in(".rs").filter(is_library) {
        let text = repository.read(source);
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let mut before = "";
        for line in text.lines().map(str::trim_start) {
            let item = line.strip_prefix("pub ").map(|rest| {
                rest.trim_start_matches("async ").trim_start_matches("const fn").trim_start()
            });
            let is_item = item.is_some_and(|item| {
                ["fn ", "struct ", "enum ", "trait ", "type ", "const "]
                    .iter()
                    .any(|kind| item.starts_with(kind))
            });
            let is_macro = line.contains('$');
            let is_port = source.ends_with("/ports.rs") && line.starts_with("async fn ");
            if (is_item || is_port) && !is_macro && !before.starts_with("///") {
                silent.push(format!("{source}: {line}"));
            }
            // Attributes stand between a docstring and its item.
            if !line.starts_with("#[") && !line.starts_with(')') && !line.starts_with("reason") {
                before = line;
            }
        }
    }
    assert!(silent.is_empty(), "{silent:#?}");
}

/// The files that the compose files expect beside them are secrets: neither git nor the build of an
/// image includes them.
#[test]
fn secrets_beside_the_compose_files_are_ignored() {
    let repository = Repository::open();
    let [git, docker] = [".gitignore", ".dockerignore"].map(|file| repository.read(file));
    let mut named = Vec::new();
    for file in repository.ending_in(".yaml").filter(|file| file.starts_with("packaging/compose/"))
    {
        let text = repository.read(file);
        let lines = text.lines().map(str::trim);
        named.extend(lines.filter_map(|line| {
            let name = line.strip_prefix("env_file: ").or_else(|| line.strip_prefix("file: "))?;
            Some(name.to_owned())
        }));
    }
    named.sort();
    assert_eq!(named, ["dwar.env", "dwar.env", "postgres-password"]);
    for name in named {
        assert!(git.lines().any(|line| line == name), "git would take {name}");
        assert!(
            docker.lines().any(|line| line == format!("**/{name}")),
            "an image would hold {name}"
        );
    }
}
