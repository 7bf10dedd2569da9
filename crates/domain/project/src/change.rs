use crate::{Project, ProjectChange, Setting, SettingGroup};
use std::sync::Arc;

impl ProjectChange {
    /// Whether it changes prices or the threshold of a low balance.
    pub fn is_about_money(&self) -> bool {
        self.settings().any(|setting| setting.group() == SettingGroup::Money)
    }

    /// Whether it changes any other setting, or nothing at all.
    pub fn is_about_settings(&self) -> bool {
        !self.is_about_money()
            || self.settings().any(|setting| setting.group() == SettingGroup::Work)
    }
}

/// A setting that is refused, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct InvalidSetting {
    pub field: &'static str,
    pub reason: String,
}

/// Returns the settings of a project that cannot work. Stores call it with the changed project while they
/// hold its lock.
pub type ProjectRules = Arc<dyn Fn(&Project) -> Vec<InvalidSetting> + Send + Sync>;

/// Result of changing a project's settings, with the changed project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProjectChangeResult {
    Done(Box<Project>),
    Refused(InvalidSetting),
    NoSuchProject,
}

impl ProjectChangeResult {
    /// The changed project; `None` if nothing was changed.
    pub fn done(self) -> Option<Project> {
        match self {
            Self::Done(project) => Some(*project),
            Self::Refused(_) | Self::NoSuchProject => None,
        }
    }
}

impl Project {
    /// Applies a change that `rules` accept. A fault that the project has already, in a setting
    /// that the change does not touch, does not block the change.
    ///
    /// # Errors
    /// The first setting that the rules refuse.
    pub fn changed(
        self,
        change: ProjectChange,
        rules: &ProjectRules,
    ) -> Result<Self, InvalidSetting> {
        let mut changed = self.clone().with(change);
        if changed.events_feed.on && !self.events_feed.on {
            changed.events_feed.run = changed.events_feed.run.saturating_add(1);
        }
        let faults = rules(&changed);
        let known = if faults.is_empty() { Vec::new() } else { rules(&self) };
        let agrees = |field| {
            let setting = Setting::from_word(field);
            setting.is_some_and(|setting| self.get(setting) == changed.get(setting))
        };
        let is_new = |it: &InvalidSetting| !known.contains(it) || !agrees(it.field);
        faults.into_iter().find(is_new).map_or(Ok(changed), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NewProject;
    use dwar_kernel::Timestamp;

    fn project() -> Project {
        let id = "00000000-0000-7000-8000-000000000001".parse().unwrap();
        let created_at = Timestamp::UNIX_EPOCH;
        NewProject { id, name: "Chai".to_owned(), created_at }.into_project()
    }

    #[test]
    fn a_text_is_kept_alike_whoever_typed_it() {
        let own = |text: &str| Some(Some(text.to_owned()));
        let change = ProjectChange {
            name: Some("\u{a0}Chai & Co\t".to_owned()),
            brand: own(" \u{3000}\r\n"),
            sms_text: own("\r\n{code}\r\nis it\n"),
            app_hash: own("FA+9qCX9VSu "),
            last_lines: Some(vec![" staging.example.com".to_owned()]),
            sms_providers: Some(Some(vec!["msg91 ".to_owned()])),
            ..ProjectChange::default()
        };
        let changed = project().with(change);
        assert_eq!(changed.name, "Chai & Co");
        assert_eq!(changed.messages.brand, None);
        assert_eq!(changed.messages.text.as_deref(), Some("{code}\nis it"));
        assert_eq!(changed.messages.app_hash.as_deref(), Some("FA+9qCX9VSu"));
        assert_eq!(changed.messages.last_lines, ["staging.example.com"]);
        assert_eq!(changed.routing.sms, Some(vec!["msg91".to_owned()]));
    }

    #[test]
    fn what_was_wrong_before_keeps_nobody_from_changing_the_rest() {
        let rules: ProjectRules = Arc::new(|project| {
            let refused = |field| InvalidSetting { field, reason: "no lower case".to_owned() };
            let lower = |text: &Option<String>| text.as_ref().is_some_and(|it| it.contains('a'));
            let (brand, hash) = (&project.messages.brand, &project.messages.app_hash);
            let faults = [(lower(brand), "brand"), (lower(hash), "app_hash")];
            faults.into_iter().filter(|(is, _)| *is).map(|(_, field)| refused(field)).collect()
        });
        let mut unfit = project();
        unfit.messages.brand = Some("chai".to_owned());
        let change = |brand: &str, hash: Option<&str>| ProjectChange {
            brand: Some(Some(brand.to_owned())),
            app_hash: hash.map(|hash| Some(hash.to_owned())),
            ..ProjectChange::default()
        };
        let field = |change| unfit.clone().changed(change, &rules).map_err(|cause| cause.field);
        let named = ProjectChange { name: Some("Tea".to_owned()), ..ProjectChange::default() };
        assert_eq!(field(named).unwrap().name, "Tea");
        assert!(field(change("chai", None)).is_ok(), "as it is");
        assert_eq!(field(change("cha", None)), Err("brand"), "no better");
        assert_eq!(field(change("chai", Some("a"))), Err("app_hash"), "a new one");
        assert!(field(change("CHAI", Some("A"))).is_ok());
    }
}
