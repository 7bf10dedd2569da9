//! Forms. A refused form keeps what was typed, and a form without permission is shown as text.

use crate::format::sentence;
use crate::texts::common as texts;
use maud::{Markup, html};

/// The submitted fields of a form, by name.
#[derive(Default)]
pub(crate) struct SubmittedFields(Vec<(String, String)>);

impl SubmittedFields {
    pub(crate) fn of(body: &str) -> Self {
        let fields = form_urlencoded::parse(body.as_bytes()).into_owned();
        Self(fields.filter(|(name, _)| name != "csrf").collect())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The form that was refused. It is shown again as it was typed, with the reason beside the field.
pub(crate) struct RefusedForm {
    pub(crate) form: &'static str,
    field: String,
    /// The id of the input, for fields that several forms of a page have.
    id: String,
    reason: String,
}

impl RefusedForm {
    /// `form` is the form's name on the page, `field` the name of an input. Amounts are typed in
    /// rupees, so the input's name lacks the unit in the name of the setting.
    pub(crate) fn new(form: &'static str, field: &str, reason: &str) -> Self {
        let field = field.strip_suffix("_paise").unwrap_or(field).to_owned();
        Self { form, id: field.clone(), field, reason: sentence(reason) }
    }

    /// Sets the id of the input, if it differs from its name.
    pub(crate) fn at(self, id: &str) -> Self {
        Self { id: id.to_owned(), ..self }
    }

    /// The notice above the page: nothing was saved, with a link to the field.
    pub(crate) fn summary(&self) -> Markup {
        html! {
            p.notice.bad role="alert" {
                (texts::NOT_SAVED) " " a href={ "#" (self.id) } { (self.reason) }
            }
        }
    }
}

/// How a page shows one form.
#[derive(Clone, Copy)]
pub(crate) struct FormView<'a> {
    /// Why it was refused, and what was typed.
    refused: Option<(&'a RefusedForm, &'a SubmittedFields)>,
    editable: bool,
}

impl<'a> FormView<'a> {
    /// A form that was refused if there is a reason; without `editable` it is shown as text.
    pub(crate) fn new(
        refused: Option<&'a RefusedForm>,
        typed: &'a SubmittedFields,
        editable: bool,
    ) -> Self {
        Self { refused: refused.map(|refused| (refused, typed)), editable }
    }

    /// The same form, of several with this name; refused only if it is the one that was typed.
    pub(crate) fn only_if(self, is_typed: bool) -> Self {
        Self { refused: self.refused.filter(|_| is_typed), ..self }
    }

    pub(crate) const fn is_refused(&self) -> bool {
        self.refused.is_some()
    }

    pub(crate) const fn is_editable(&self) -> bool {
        self.editable
    }

    /// The content of a field: what was typed, or the stored value.
    pub(crate) fn value<'v>(&self, name: &str, stored: &'v str) -> &'v str
    where
        'a: 'v,
    {
        self.refused.map_or(stored, |(_, typed)| typed.get(name).unwrap_or_default())
    }

    pub(crate) fn error(&self, name: &str) -> Option<&'a str> {
        let refused = self.refused.filter(|(refused, _)| refused.field == name);
        refused.map(|(refused, _)| refused.reason.as_str())
    }

    pub(crate) fn field(&self, field: &Field<'_>) -> Markup {
        if !self.editable {
            let value = if field.value.is_empty() { field.placeholder } else { field.value };
            return as_text(field.label, value);
        }
        let (value, error) = (self.value(field.name, field.value), self.error(field.name));
        Field { value, error, ..*field }.show()
    }

    /// A text of several lines; an empty one means the `placeholder`.
    pub(crate) fn text(&self, field: &Field<'_>) -> Markup {
        if !self.editable {
            return self.field(field);
        }
        let error = self.error(field.name);
        let field = Field { error, ..*field };
        field.around(&html! {
            textarea id=(field.id()) name=(field.name) rows="4" placeholder=(field.placeholder)
                aria-describedby=[field.described_by()] aria-invalid=[field.invalid()]
                autofocus[error.is_some()] { (self.value(field.name, field.value)) }
        })
    }

    /// A choice of one option, each a value and its label.
    pub(crate) fn choice(&self, field: &Field<'_>, options: &[(String, String)]) -> Markup {
        let (present, error) = (self.value(field.name, field.value), self.error(field.name));
        if !self.editable {
            let label = options.iter().find(|(value, _)| value == present);
            return as_text(field.label, label.map_or(present, |(_, label)| label));
        }
        let all = options.iter().map(|(value, label)| (value, label));
        Field { value: present, error, ..*field }.select(all)
    }

    pub(crate) fn check(&self, name: &str, label: &str, hint: &str, stored: bool) -> Markup {
        if !self.editable {
            return as_text(label, if stored { texts::ON } else { texts::OFF });
        }
        let on = self.refused.map_or(stored, |(_, typed)| typed.get(name).is_some());
        html! {
            div.check {
                input type="checkbox" id=(name) name=(name) value="on" checked[on]
                    aria-describedby={ (name) "-hint" };
                label for=(name) { (label) }
                p.hint id={ (name) "-hint" } { (hint) }
            }
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Field<'a> {
    /// Of the input, if it differs from its name.
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) label: &'a str,
    pub(crate) value: &'a str,
    pub(crate) hint: &'a str,
    pub(crate) placeholder: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) autocomplete: &'a str,
    pub(crate) required: bool,
    pub(crate) error: Option<&'a str>,
}

impl Field<'_> {
    pub(crate) const TEXT: Field<'static> = Field {
        id: "",
        name: "",
        label: "",
        value: "",
        hint: "",
        placeholder: "",
        kind: "text",
        autocomplete: "off",
        required: false,
        error: None,
    };

    /// The field of a new password. The password is never written into a page.
    pub(crate) const fn new_password<'a>(
        name: &'a str,
        label: &'a str,
        hint: &'a str,
        error: Option<&'a str>,
    ) -> Field<'a> {
        let (kind, autocomplete) = ("password", "new-password");
        Field { name, label, hint, kind, autocomplete, required: true, error, ..Field::TEXT }
    }

    const fn id(&self) -> &str {
        if self.id.is_empty() { self.name } else { self.id }
    }

    fn described_by(&self) -> Option<String> {
        described_by(self.id(), self.hint, self.error)
    }

    fn invalid(&self) -> Option<&'static str> {
        self.error.map(|_| "true")
    }

    pub(crate) fn show(&self) -> Markup {
        self.around(&html! {
            input id=(self.id()) name=(self.name) type=(self.kind) value=(self.value)
                placeholder=(self.placeholder) autocomplete=(self.autocomplete)
                required[self.required] aria-describedby=[self.described_by()]
                aria-invalid=[self.invalid()] autofocus[self.error.is_some()];
        })
    }

    /// A choice of one option, each a value and its label.
    pub(crate) fn select<V: AsRef<str>, L: AsRef<str>>(
        &self,
        options: impl IntoIterator<Item = (V, L)>,
    ) -> Markup {
        self.around(&html! {
            select id=(self.id()) name=(self.name) aria-describedby=[self.described_by()]
                aria-invalid=[self.invalid()] autofocus[self.error.is_some()] {
                @for (value, label) in options {
                    @let value = value.as_ref();
                    option value=(value) selected[value == self.value] { (label.as_ref()) }
                }
            }
        })
    }

    /// The input with its label and its notes.
    fn around(&self, input: &Markup) -> Markup {
        html! {
            div.field {
                label for=(self.id()) { (self.label) }
                (input)
                (notes(self.id(), self.hint, self.error))
            }
        }
    }
}

fn as_text(label: &str, value: &str) -> Markup {
    html! {
        div.field { span.label { (label) } p.wrap-anywhere { (value) } }
    }
}

/// The ids of the texts that [`notes`] shows.
pub(crate) fn described_by(name: &str, hint: &str, error: Option<&str>) -> Option<String> {
    let hint = (!hint.is_empty()).then(|| format!("{name}-hint"));
    let error = error.map(|_| format!("{name}-error"));
    let ids: Vec<_> = [error, hint].into_iter().flatten().collect();
    (!ids.is_empty()).then(|| ids.join(" "))
}

/// Why a field was refused, and its hint.
pub(crate) fn notes(name: &str, hint: &str, error: Option<&str>) -> Markup {
    html! {
        @if let Some(error) = error { p.error id={ (name) "-error" } { (error) } }
        @if !hint.is_empty() { p.hint id={ (name) "-hint" } { (hint) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed() -> SubmittedFields {
        SubmittedFields::of("csrf=x&brand=Shop+%3Cb%3E&low_balance=1,5&lookup=on")
    }

    #[test]
    fn a_refused_form_comes_back_as_it_was_typed() {
        let typed = typed();
        let refused = RefusedForm::new("messages", "low_balance_paise", "no amount");
        let form = FormView::new(Some(&refused), &typed, true);
        let brand = Field { name: "brand", value: "Old", ..Field::TEXT };
        let shown = form.field(&brand).into_string();
        assert!(shown.contains(r#"value="Shop &lt;b&gt;""#), "{shown}");
        assert!(!shown.contains("aria-invalid"), "{shown}");
        let low = form.field(&Field { name: "low_balance", hint: "In ₹", ..Field::TEXT });
        let low = low.into_string();
        for part in [r#"value="1,5""#, r#"aria-invalid="true""#, "autofocus", "No amount."] {
            assert!(low.contains(part), "{part}: {low}");
        }
        assert!(low.contains(r#"aria-describedby="low_balance-error low_balance-hint""#), "{low}");
        assert!(form.check("lookup", "", "", false).into_string().contains("checked"));
        assert!(!form.check("delete", "", "", true).into_string().contains("checked"));
        assert!(typed.get("csrf").is_none());
    }

    #[test]
    fn another_form_of_the_page_shows_what_is_on_record() {
        let typed = typed();
        let shown = FormView::new(None, &typed, true);
        let shown = shown.field(&Field { name: "brand", value: "Old", ..Field::TEXT });
        assert!(shown.into_string().contains(r#"value="Old""#));
    }

    #[test]
    fn what_may_not_be_changed_is_text() {
        let typed = typed();
        let form = FormView::new(None, &typed, false);
        let field = Field { name: "brand", label: "Brand", placeholder: "Shop", ..Field::TEXT };
        let languages = [("hi".to_owned(), "Hindi".to_owned())];
        let shown = [
            form.field(&field),
            form.text(&field),
            form.choice(&Field { value: "hi", ..field }, &languages),
            form.check("lookup", "Look-up", "", true),
        ];
        let shown: String = shown.into_iter().map(Markup::into_string).collect();
        for part in ["Shop", "Hindi", "On"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        for part in ["<input", "<select", "<textarea"] {
            assert!(!shown.contains(part), "{part}: {shown}");
        }
    }
}
