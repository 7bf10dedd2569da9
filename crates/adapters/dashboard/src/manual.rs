//! The manual of this version: the pages of `docs/`, which are part of the program.

use maud::{Markup, PreEscaped};
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html::push_html};
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

pub(crate) const HOME: &str = "/help";

/// A page of the manual: its file below `docs/` without `.md`, and its text.
type ManualPage = (&'static str, &'static str);

macro_rules! manual {
    ($($name:literal,)+) => {
        [$(($name, include_str!(concat!("../../../../docs/", $name, ".md")))),+]
    };
}

const CONTENTS: ManualPage = ("SUMMARY", include_str!("../../../../docs/SUMMARY.md"));
/// All pages of the book but the records of decisions, which are for those who change the program.
const PAGES: [ManualPage; 49] = manual![
    "README",
    "quick-start",
    "concepts",
    "going-live",
    "comparison",
    "faq",
    "moving",
    "moving/from-twilio-verify",
    "moving/from-msg91",
    "moving/from-firebase",
    "moving/from-supabase",
    "api",
    "clients",
    "errors",
    "login-in-apps",
    "events",
    "reading-events",
    "hooks",
    "guard",
    "own-issuers",
    "proxies",
    "contract",
    "operations/install",
    "operations/configure",
    "operations/production",
    "operations/reverse-proxy",
    "operations/postgresql",
    "operations/projects",
    "operations/ledger",
    "operations/operators",
    "operations/keys",
    "operations/backups",
    "operations/upgrades",
    "operations/health",
    "operations/instances",
    "operations/high-availability",
    "providers",
    "dashboard",
    "admin-api",
    "logging",
    "metrics",
    "tracing",
    "runbooks",
    "threat-model",
    "privacy",
    "bounds",
    "benchmarks",
    "scale",
    "embedding",
];

pub(crate) struct ManualText {
    pub(crate) title: String,
    pub(crate) content: Markup,
}

/// The manual. A page is rendered at the first request and kept.
pub struct Manual(BTreeMap<&'static str, OnceLock<ManualText>>);

impl Default for Manual {
    fn default() -> Self {
        let names = PAGES.iter().map(|(name, _)| *name).chain([""]);
        Self(names.map(|name| (name, OnceLock::new())).collect())
    }
}

impl Manual {
    /// The page of this name, such as `operations/keys`; the list of all pages for an empty name.
    pub(crate) fn page(&self, name: &str) -> Option<&ManualText> {
        Some(self.0.get(name)?.get_or_init(|| match name {
            "" => {
                let entries = CONTENTS.1.lines().filter(|line| !line.contains("(adr/"));
                draw(CONTENTS.0, &entries.collect::<Vec<_>>().join("\n"))
            }
            name => draw(name, text(name)),
        }))
    }
}

/// The table of events, taken from the page about them.
pub(crate) fn events() -> Markup {
    let part = text("events").split("## What is told").nth(1).unwrap_or_default();
    let table = part.split("\n```").next().unwrap_or_default();
    // A link within that page becomes a link from elsewhere.
    draw("", &table.replace("](#", "](events.md#")).content
}

fn text(name: &str) -> &'static str {
    PAGES.iter().find(|(its, _)| *its == name).map_or("", |(_, text)| text)
}

/// The address of a file or section `docs/…`, as in `docs/operations/keys.md#rotation`.
pub(crate) fn address(file: &str) -> Option<String> {
    let (file, anchor) = file.split_at(file.find('#').unwrap_or(file.len()));
    let name = file.strip_prefix("docs/")?.strip_suffix(".md")?;
    let known = PAGES.iter().any(|(its, _)| *its == name);
    known.then(|| format!("{HOME}/{name}{anchor}"))
}

/// The target of a link in the page `from`. A link to a file that is not part of the manual has
/// none.
fn target(from: &str, link: &str) -> Option<String> {
    if link.starts_with('#') || link.starts_with("https://") {
        return Some(link.to_owned());
    }
    let mut path: Vec<&str> = from.split('/').collect();
    path.pop();
    for part in link.split('/') {
        match part {
            ".." => drop(path.pop()?),
            part => path.push(part),
        }
    }
    address(&format!("docs/{}", path.join("/")))
}

/// Renders Markdown. HTML in it is dropped, so that only Markdown elements are shown.
fn draw(name: &str, text: &str) -> ManualText {
    let parsed = Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    let events: Vec<Event<'_>> = parsed.collect();
    let title = heading(&events);
    // The frame of all pages shows the title.
    let end = events.iter().position(|it| matches!(it, Event::End(TagEnd::Heading(_))));
    let mut renderer = PageRenderer { name, ids: HashMap::new(), links: Vec::new(), tables: 0 };
    let mut shown = Vec::new();
    for at in end.map_or(0, |end| end + 1)..events.len() {
        renderer.show(&events[at..], &mut shown);
    }
    let mut content = String::new();
    push_html(&mut content, shown.into_iter());
    ManualText { title, content: PreEscaped(content) }
}

/// The text of the heading at the start of these events.
fn heading(events: &[Event<'_>]) -> String {
    let inside = events.iter().take_while(|it| !matches!(it, Event::End(TagEnd::Heading(_))));
    let text = inside.filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) => Some(text.as_ref()),
        _ => None,
    });
    text.collect()
}

/// The state of a page that is being rendered.
struct PageRenderer<'a> {
    name: &'a str,
    ids: HashMap<String, usize>,
    /// Whether each open link has a target.
    links: Vec<bool>,
    tables: usize,
}

impl PageRenderer<'_> {
    /// Renders the first of these events and appends the result to `shown`.
    fn show<'t>(&mut self, events: &[Event<'t>], shown: &mut Vec<Event<'t>>) {
        let Some(event) = events.first() else { return };
        let html = |text: String| Event::Html(CowStr::from(text));
        match event {
            Event::Html(_) | Event::InlineHtml(_) => {}
            // Of a picture, only the alternative text is shown.
            Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => {}
            Event::Start(Tag::Heading { level, .. }) => {
                let id = self.id(&heading(events));
                shown.push(html(format!("<{level} id=\"{id}\">")));
            }
            Event::Start(Tag::Link { dest_url, link_type, title, id }) => {
                let leads = target(self.name, dest_url);
                self.links.push(leads.is_some());
                if let Some(leads) = leads {
                    let dest_url = CowStr::from(leads);
                    let (link_type, title, id) = (*link_type, title.clone(), id.clone());
                    shown.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
                }
            }
            Event::End(TagEnd::Link) if !self.links.pop().unwrap_or_default() => {}
            // Elements that may be wider than the page scroll, also by keyboard.
            Event::Start(Tag::CodeBlock(_)) => {
                shown.push(html("<pre tabindex=\"0\"><code>".to_owned()));
            }
            Event::Start(Tag::Table(_)) => {
                self.tables += 1;
                let open = "<div class=\"table\" tabindex=\"0\" role=\"region\"";
                shown.push(html(format!("{open} aria-label=\"Table {}\">", self.tables)));
                shown.push(event.clone());
            }
            Event::End(TagEnd::Table) => {
                shown.extend([event.clone(), html("</div>\n".to_owned())]);
            }
            other => shown.push(other.clone()),
        }
    }

    /// The anchor of a heading, as mdBook makes it: lower case, hyphens for blanks, no other signs,
    /// and a number if the anchor exists already.
    fn id(&mut self, heading: &str) -> String {
        let sign = |it: char| match it {
            it if it.is_alphanumeric() || it == '_' || it == '-' => Some(it.to_ascii_lowercase()),
            it if it.is_whitespace() => Some('-'),
            _ => None,
        };
        let id: String = heading.chars().filter_map(sign).collect();
        let count = self.ids.entry(id.clone()).or_default();
        *count += 1;
        if *count == 1 { id } else { format!("{id}-{}", *count - 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_of_the_book_is_there_and_each_of_its_links_leads_somewhere() {
        let listed =
            CONTENTS.1.lines().filter_map(|line| line.split_once("](")?.1.split_once(".md)"));
        let wanted: Vec<&str> = listed.map(|(name, _)| name).collect();
        // These are for developers of the program.
        let apart = |name: &&str| {
            name.starts_with("adr/") || ["architecture", "adding-an-adapter"].contains(name)
        };
        let manual = Manual::default();
        for name in wanted.iter().filter(|name| !apart(name)) {
            assert!(manual.page(name).is_some(), "{name} is not in the list");
        }
        let all = PAGES.map(|(name, text)| (name, draw(name, text).content.into_string()));
        for (name, shown) in &all {
            assert!(wanted.contains(name), "{name} is not a page of the book");
            for link in shown.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
                let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
                let there = path.strip_prefix("/help/").unwrap_or(name);
                if path.starts_with("https://") || anchor.is_empty() {
                    continue;
                }
                let there = &all.iter().find(|(its, _)| *its == there).unwrap().1;
                assert!(there.contains(&format!("id=\"{anchor}\"")), "{name}: {link}");
            }
        }
    }

    #[test]
    fn nothing_but_what_markdown_says_is_shown() {
        let text = "# Title\n\n<script>alert(1)</script>\n\na <b onclick=x>bold</b> ![Picture](x.png) \
                    [out](javascript:x) [file](../Cargo.toml) [page](providers.md#sms) `<i>`\n\n## A `b`, c\n\n## A b c\n";
        let ManualText { title, content } = draw("operations", text);
        assert_eq!(title, "Title");
        let shown = content.into_string();
        let gone = ["<script", "<b", "onclick", "<img", "javascript", "Cargo.toml", "<i>", "Title"];
        for gone in gone {
            assert!(!shown.contains(gone), "{gone}: {shown}");
        }
        for there in [
            "href=\"/help/providers#sms\"",
            "&lt;i&gt;",
            "Picture",
            "id=\"a-b-c\"",
            "id=\"a-b-c-1\"",
        ] {
            assert!(shown.contains(there), "{there}: {shown}");
        }
    }

    #[test]
    fn files_of_the_manual_have_an_address() {
        let of = |file| address(file);
        assert_eq!(
            of("docs/operations/keys.md#rotation").as_deref(),
            Some("/help/operations/keys#rotation")
        );
        assert_eq!(of("docs/adr/0001-hexagon-in-a-workspace.md"), None);
        assert_eq!(of("providers.md"), None);
    }
}
