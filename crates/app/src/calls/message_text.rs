use dwar_otp::{DltForm, DltWarning, Ending, InvalidText, Language, Segments, SmsText};
use dwar_project::{Messages, Project};

const DEFAULT_LANGUAGE: &str = "en";
/// The longest brand that fits a message (see [`InvalidText::Brand`]).
const BRAND: usize = 30;
/// The code in previews, and for how many minutes it says that it works.
const EXAMPLE: (&str, u32) = ("482915", 10);

/// A project's SMS, for people to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmsPreview {
    pub text: String,
    /// How it is coded, how long it is, and into how many parts it is cut.
    pub segments: Segments,
    /// The text to register with an operator, by the form that its portal takes.
    pub registered: Vec<(DltForm, String)>,
    /// Why a portal may reject it.
    pub dlt_warnings: Vec<DltWarning>,
}

/// The language of a project's messages.
pub fn language_of(project: &Project) -> &str {
    project.messages.language.as_deref().unwrap_or(DEFAULT_LANGUAGE)
}

/// Who sends a project's messages, as recipients know it: as much of its name as fits, unless it
/// sets a brand.
pub fn brand_of(project: &Project) -> String {
    let brand = project.messages.brand.clone();
    brand.unwrap_or_else(|| project.name.chars().take(BRAND).collect())
}

/// The text of a project's SMS, with its own last line or the one that a send named.
///
/// It may be longer than [`check_sms_texts`] allows, if it was stored before that was: it still goes out.
///
/// # Errors
/// Settings that cannot work; checked when they are changed, so that no send is the first to
/// notice.
pub fn sms_text_of(project: &Project, last_line: Option<&str>) -> Result<SmsText, InvalidText> {
    let messages = &project.messages;
    language_of(project).parse::<Language>()?;
    let template = messages.text.as_deref();
    let template = template.unwrap_or_else(|| SmsText::default_template(language_of(project)));
    let ending = match last_line {
        Some(named) => named.parse()?,
        None => Ending::of(messages.domain.as_deref(), messages.app_hash.as_deref())?,
    };
    SmsText::new(template, &brand_of(project), ending)
}

/// Whether every text of a project can be sent, whichever of its last lines a send names.
///
/// # Errors
/// As [`sms_text_of`] and [`SmsText::check_length`], with the last line that it is about.
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

/// What a phone would show of a project's SMS with its present settings.
///
/// # Errors
/// As [`sms_text_of`].
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
