use dwar_otp::{DltForm, DltWarning, InvalidText, Language, MessageEnding, Segments, SmsText};
use dwar_project::{Messages, Project};

const DEFAULT_LANGUAGE: &str = "en";
/// Longest brand that fits a message (see [`InvalidText::Brand`]).
const BRAND: usize = 30;
/// Code and minutes in previews.
const EXAMPLE: (&str, u32) = ("482915", 10);

/// A preview of a project's SMS, with the texts to register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmsPreview {
    pub text: String,
    pub segments: Segments,
    /// The text to register with a telecom operator, per form of DLT portal.
    pub registered: Vec<(DltForm, String)>,
    pub dlt_warnings: Vec<DltWarning>,
}

/// The language of a project's messages; English by default.
pub fn language_of(project: &Project) -> &str {
    project.messages.language.as_deref().unwrap_or(DEFAULT_LANGUAGE)
}

/// The sender name in a project's messages: its brand, or as much of its name as fits.
pub fn brand_of(project: &Project) -> String {
    let brand = project.messages.brand.clone();
    brand.unwrap_or_else(|| project.name.chars().take(BRAND).collect())
}

/// The text of a project's SMS, with the project's own last line or the one that a send named.
///
/// The text may be longer than [`check_sms_texts`] allows, if it was stored before that check existed: it is
/// still sent.
///
/// # Errors
/// Settings that cannot work. They are checked when they are changed, so that a send is not the first to fail.
pub fn sms_text_of(project: &Project, last_line: Option<&str>) -> Result<SmsText, InvalidText> {
    let messages = &project.messages;
    language_of(project).parse::<Language>()?;
    let template = messages.text.as_deref();
    let template = template.unwrap_or_else(|| SmsText::default_template(language_of(project)));
    let ending = match last_line {
        Some(named) => named.parse()?,
        None => MessageEnding::of(messages.domain.as_deref(), messages.app_hash.as_deref())?,
    };
    SmsText::new(template, &brand_of(project), ending)
}

/// Checks that every text of a project can be sent, with each of its last lines.
///
/// # Errors
/// Those of [`sms_text_of`] and [`SmsText::check_length`], with the last line concerned.
pub fn check_sms_texts(project: &Project) -> Result<(), (Option<&str>, InvalidText)> {
    let lines = &project.messages.last_lines;
    if lines.len() > Messages::MOST_LAST_LINES {
        return Err((lines.first().map(String::as_str), InvalidText::TooManyEndings));
    }
    let named = lines.iter().map(|line| Some(line.as_str()));
    for line in [None].into_iter().chain(named) {
        let fits = sms_text_of(project, line).and_then(|text| text.check_length());
        fits.map_err(|cause| (line, cause))?;
    }
    Ok(())
}

/// The project's SMS as a phone would show it, with the present settings.
///
/// # Errors
/// Those of [`sms_text_of`].
pub fn sms_preview(project: &Project) -> Result<SmsPreview, InvalidText> {
    let (text, (code, minutes)) = (sms_text_of(project, None)?, EXAMPLE);
    let shown = code.parse().map(|code| text.compose(&code, minutes)).unwrap_or_default();
    Ok(SmsPreview {
        text: shown,
        segments: text.segments(minutes),
        registered: DltForm::ALL.into_iter().map(|form| (form, text.registered(form))).collect(),
        dlt_warnings: text.dlt_warnings(),
    })
}
