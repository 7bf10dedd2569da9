use crate::SmsText;
use dwar_kernel::words;

/// Portals accept this many variables without a justification.
const MOST: usize = 2;
/// Placeholder for a variable. No text can contain it, since control characters are refused.
const VARIABLE: &str = "\0";

words! {
    /// Form in which the DLT portal of a telecom operator expects the variables of a content
    /// template.
    ///
    /// Both variables of our texts are digits; the brand is fixed text.
    /// Source: <https://msg91.com/help/dlt-registration-in-india/variable-tagging-on-dlt-sms-templates>.
    DltForm {
        /// The text names the kind of each variable: Airtel, Jio, Vodafone Idea, BSNL.
        Tagged = "tagged",
        /// The kind is chosen in a field beside the text: SmartPing, Tata.
        Plain = "plain",
    }
}

/// Reason why a DLT portal may reject a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DltWarning {
    Variables(usize),
    /// Two variables without a letter or digit between them.
    Neighbours,
    Last,
}

impl DltForm {
    const fn variable(self) -> &'static str {
        match self {
            Self::Tagged => "{#numeric#}",
            Self::Plain => "{#var#}",
        }
    }
}

impl SmsText {
    /// The text to register as a content template, with the ending.
    pub fn registered(&self, form: DltForm) -> String {
        self.fill(form.variable(), form.variable())
    }

    /// Reasons why a portal may reject the text; empty if none is known.
    pub fn dlt_warnings(&self) -> Vec<DltWarning> {
        let text = self.fill(VARIABLE, VARIABLE);
        let pieces: Vec<&str> = text.split(VARIABLE).collect();
        let variables = pieces.len() - 1;
        // Portals ignore spaces and punctuation between variables.
        let blank = |piece: &&str| !piece.contains(char::is_alphanumeric);
        let between = pieces.iter().take(variables).skip(1);
        let warnings = [
            (variables > MOST).then_some(DltWarning::Variables(variables)),
            between.into_iter().any(&blank).then_some(DltWarning::Neighbours),
            pieces.last().is_some_and(blank).then_some(DltWarning::Last),
        ];
        warnings.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MessageEnding;

    fn text(template: &str, ending: MessageEnding) -> SmsText {
        SmsText::new(template, "Acme {code}", ending).unwrap()
    }

    #[test]
    fn the_text_to_register_has_the_brand_and_each_variable_as_the_portal_takes_it() {
        let own = text(SmsText::default_template("en"), MessageEnding::None);
        assert_eq!(
            own.registered(DltForm::Tagged),
            "{#numeric#} is your Acme {code} verification code. It is valid for {#numeric#} min. \
             Do not share it with anyone."
        );
        let bound =
            text("{code} opens {brand}", MessageEnding::WebOtp("login.example.com".to_owned()));
        let plain = "{#var#} opens Acme {code}\n\n@login.example.com #{#var#}";
        assert_eq!(bound.registered(DltForm::Plain), plain);
        let app = text("{code} opens {brand}", MessageEnding::AppHash("FA+9qCX9VSu".to_owned()));
        assert_eq!(app.registered(DltForm::Plain), "{#var#} opens Acme {code}\n\nFA+9qCX9VSu");
    }

    #[test]
    fn a_third_variable_neighbours_and_one_at_the_end_are_warned_of() {
        let site = || MessageEnding::WebOtp("a.example".to_owned());
        for (template, ending, warnings) in [
            (SmsText::default_template("en"), MessageEnding::None, vec![]),
            (SmsText::default_template("hi"), MessageEnding::None, vec![]),
            (
                SmsText::default_template("en"),
                site(),
                vec![DltWarning::Variables(3), DltWarning::Last],
            ),
            ("{code} for {brand}", site(), vec![DltWarning::Last]),
            ("Code {code} ({minutes} min)", MessageEnding::None, vec![DltWarning::Neighbours]),
            ("{brand}: {code}.", MessageEnding::None, vec![DltWarning::Last]),
            (
                "{code}, {minutes} min, {minutes}",
                MessageEnding::None,
                vec![DltWarning::Variables(3), DltWarning::Neighbours, DltWarning::Last],
            ),
        ] {
            assert_eq!(text(template, ending).dlt_warnings(), warnings, "{template}");
        }
    }
}
