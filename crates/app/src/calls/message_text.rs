use dwar_otp::{Ending, InvalidText, Language, SmsText};
use dwar_project::Project;

const DEFAULT_LANGUAGE: &str = "en";
/// The longest brand that fits a message (see [`InvalidText::Brand`]).
const BRAND: usize = 30;

/// The language of a project's messages.
pub fn language_of(project: &Project) -> &str {
    project.messages.language.as_deref().unwrap_or(DEFAULT_LANGUAGE)
}

/// Who sends a project's messages, as recipients know it: as much of its name as fits, unless it
/// says else.
pub fn brand_of(project: &Project) -> String {
    let brand = project.messages.brand.clone();
    brand.unwrap_or_else(|| project.name.chars().take(BRAND).collect())
}

/// The text of a project's SMS.
///
/// # Errors
/// Settings that cannot work; asked for when they are changed, so that no send finds out first.
pub fn sms_text_of(project: &Project) -> Result<SmsText, InvalidText> {
    let messages = &project.messages;
    language_of(project).parse::<Language>()?;
    let template = messages.text.as_deref();
    let template = template.unwrap_or_else(|| SmsText::default_template(language_of(project)));
    let ending = Ending::of(messages.domain.as_deref(), messages.app_hash.as_deref())?;
    SmsText::new(template, &brand_of(project), ending)
}
