//! Elements that several pages use.

use crate::form::{Field, FormView, described_by, notes};
use crate::format::{grouped, sentence};
use crate::icons::icon;
use crate::layout::csrf;
use crate::manual;
use crate::texts::common::DestructiveFormTexts;
use crate::texts::{account, common as texts};
use crate::visit::Visit;
use dwar_console::explain::Tone;
use maud::{Markup, html};

/// A prominent sentence; `kind` is `good`, `bad`, `warn` or empty.
pub(crate) fn notice(kind: &str, text: &str) -> Markup {
    let role = if kind == "bad" { "alert" } else { "status" };
    html! { p.notice.(kind) role=(role) { (sentence(text)) } }
}

/// A sentence in which file names of the manual (`docs/providers.md`) become links.
pub(crate) fn linked(text: &str) -> Markup {
    let piece = |word: &str| {
        let file = word.trim_matches(|it: char| "(),.;:".contains(it) || it.is_whitespace());
        match manual::address(file).and_then(|address| Some((address, word.split_once(file)?))) {
            Some((address, (before, after))) => {
                html! { (before) a href=(address) { (file) } (after) }
            }
            None => html! { (word) },
        }
    };
    html! { @for word in text.split_inclusive(char::is_whitespace) { (piece(word)) } }
}

/// A count, as a link to the counted things if there are any.
pub(crate) fn linked_count(count: u64, href: Option<String>) -> Markup {
    match href.filter(|_| count > 0) {
        Some(href) => html! { a href=(href) { (grouped(count)) } },
        None => html! { (grouped(count)) },
    }
}

/// A form for a destructive action: collapsed at first, with a word to type.
pub(crate) struct DestructiveForm<'a> {
    pub(crate) id: &'a str,
    pub(crate) action: &'a str,
    pub(crate) word: &'a str,
    pub(crate) words: &'a DestructiveFormTexts,
}

impl DestructiveForm<'_> {
    /// The form, with hidden fields beside the word.
    pub(crate) fn show(&self, visit: &Visit, hidden: &[(&str, &str)]) -> Markup {
        let field = format!("{}-word", self.id);
        let error = self.is_refused(visit, hidden).then_some(texts::NO_MATCH);
        html! {
            details.danger-zone open[error.is_some()] {
                summary { (self.words.summary) }
                form.stack method="post" action=(self.action) {
                    (csrf(visit))
                    @for (name, value) in hidden { input type="hidden" name=(name) value=(value); }
                    ul.consequences { @for line in self.words.consequences { li { (line) } } }
                    div.field {
                        label for=(field) { (texts::TYPE) " " code { (self.word) } " " (texts::TO_CONFIRM) }
                        input id=(field) name="word" autocomplete="off" autocapitalize="off"
                            spellcheck="false" required data-confirm=(self.word)
                            value=[error.and_then(|_| visit.typed.get("word"))]
                            aria-describedby=[described_by(&field, "", error)]
                            aria-invalid=[error.map(|_| "true")] autofocus[error.is_some()];
                        (notes(&field, "", error))
                    }
                    div { button.danger type="submit" { (self.words.button) } }
                }
            }
        }
    }

    /// Tells whether the page answers this form, in which another word was typed.
    fn is_refused(&self, visit: &Visit, hidden: &[(&str, &str)]) -> bool {
        let sent = |(name, value): &(&str, &str)| visit.typed.get(name) == Some(*value);
        let other = |word: &str| word.trim() != self.word;
        visit.path == self.action
            && hidden.iter().all(sent)
            && visit.typed.get("word").is_some_and(other)
    }
}

/// A new secret, which is shown only once.
pub(crate) fn fresh_secret(title: &str, sentence: &Markup, id: &str, text: &str) -> Markup {
    html! {
        section.card.notice.good role="status" { h2 { (title) } (sentence) (secret(id, text)) }
    }
}

/// A text with a button to copy it.
pub(crate) fn secret(id: &str, text: &str) -> Markup {
    html! {
        div.secret {
            code id=(id) { (text) }
            button.copy type="button" data-copy=(id) data-done=(texts::COPIED) { (texts::COPY) }
        }
    }
}

/// A command or a request to copy; the script of the page adds the button.
pub(crate) fn example(text: &str) -> Markup {
    html! {
        div data-copies=(texts::COPY) data-done=(texts::COPIED) { pre tabindex="0" { code { (text) } } }
    }
}

/// A word with its colour and its sign.
pub(crate) fn pill((tone, words): (Tone, &str)) -> Markup {
    html! { span.pill.signed.(tone.as_str()) { (sign(tone)) (words) } }
}

pub(crate) fn sign(tone: Tone) -> Markup {
    icon(match tone {
        Tone::Good => "check",
        Tone::Bad => "cross",
        Tone::Warn => "clock",
        Tone::Plain => "dot",
    })
}

/// The field of the current password. An operator who came by the link of a first start has none
/// yet.
pub(crate) fn current_password(visit: &Visit, form: FormView<'_>, id: &str) -> Markup {
    let current = Field {
        id,
        name: "current",
        label: account::CURRENT,
        kind: "password",
        autocomplete: "current-password",
        required: true,
        error: form.error("current"),
        ..Field::TEXT
    };
    html! { @if visit.present.operator.password.is_some() { (current.show()) } }
}

/// A table that scrolls if it is wider than the page.
pub(crate) fn table(label: &str, class: Option<&str>, words: &[&str], rows: &Markup) -> Markup {
    drawn(label, (class, &html! {}), &heads(words, &[]), rows)
}

/// Like [`table`], with a visible title.
pub(crate) fn titled_table(label: &str, class: &str, heads: &Markup, rows: &Markup) -> Markup {
    drawn(label, (Some(class), &html! { caption { (label) } }), heads, rows)
}

/// Like [`table`], with a title for screen readers.
pub(crate) fn named_table(label: &str, class: &str, heads: &Markup, rows: &Markup) -> Markup {
    drawn(label, (Some(class), &html! { caption.hidden { (label) } }), heads, rows)
}

/// Heads of columns with words, and after them of columns with amounts.
pub(crate) fn heads(words: &[&str], amounts: &[&str]) -> Markup {
    html! {
        @for head in words { th scope="col" { (head) } }
        @for head in amounts { th.amount scope="col" { (head) } }
    }
}

fn drawn(
    label: &str,
    (class, caption): (Option<&str>, &Markup),
    heads: &Markup,
    rows: &Markup,
) -> Markup {
    html! {
        div.table tabindex="0" role="region" aria-label=(label) {
            table class=[class] {
                (caption)
                thead { tr { (heads) } }
                tbody { (rows) }
            }
        }
    }
}
