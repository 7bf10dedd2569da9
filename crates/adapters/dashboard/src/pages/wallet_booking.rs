//! Manual bookings: a form, then a preview, and only then the booking.

use crate::answer::PageResult;
use crate::form::{Field, SubmittedFields};
use crate::format::{rupees, signed_rupees};
use crate::layout::{Frame, csrf};
use crate::texts::{
    common, wallet as page_texts,
    wallet_booking::{self as texts, BookingTexts},
};
use crate::visit::Visit;
use dwar_console::{Booking, Preview};
use dwar_kernel::words;
use dwar_operator::Command;
use dwar_project::Project;
use dwar_wallet::{Amount, Correction};
use maud::{Markup, html};

/// The field with which a preview is confirmed.
pub(crate) const CONFIRMED: &str = "confirmed";

words! {
    /// A booking by the name of its form, which is the last segment of its address.
    Kind {
        Credit = "credit",
        Refund = "refund",
        Adjustment = "adjustment",
    }
}

impl Kind {
    pub(crate) const fn command(self) -> Command {
        match self {
            Self::Credit => Command::CreditWallet,
            Self::Refund => Command::RefundSend,
            Self::Adjustment => Command::AdjustWallet,
        }
    }

    pub(crate) const fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Credit => &["rupees", "reference"],
            Self::Refund => &["otp_id"],
            Self::Adjustment => &["correction", "reason"],
        }
    }

    const fn words(self) -> &'static BookingTexts {
        match self {
            Self::Credit => &texts::CREDIT,
            Self::Refund => &texts::REFUND,
            Self::Adjustment => &texts::ADJUSTMENT,
        }
    }

    /// The notice afterwards: booked now, or already booked before.
    pub(crate) const fn outcome(self, booked: bool) -> &'static str {
        match (self, booked) {
            (Self::Credit, true) => "credited",
            (Self::Refund, true) => "refunded",
            (Self::Adjustment, true) => "adjusted",
            (Self::Refund, false) => "refunded-before",
            (_, false) => "known",
        }
    }
}

/// The booking that was typed, or the first invalid field with its reason.
pub(crate) fn read(
    kind: Kind,
    typed: &SubmittedFields,
) -> Result<Booking, (&'static str, &'static str)> {
    let field = |name| typed.get(name).unwrap_or_default().trim();
    match kind {
        Kind::Credit => {
            let amount = Amount::from_rupees(field("rupees"));
            let amount = amount.map_err(|_| ("rupees", texts::NO_AMOUNT))?;
            let reference = field("reference").parse();
            let reference = reference.map_err(|_| ("reference", texts::NO_REFERENCE))?;
            Ok(Booking::Credit { amount, reference })
        }
        Kind::Refund => {
            let send = field("otp_id").parse().map_err(|_| ("otp_id", texts::NO_ID))?;
            Ok(Booking::Refund { send })
        }
        Kind::Adjustment => {
            // Accept the minus of pages too.
            let amount = Correction::from_rupees(&field("correction").replace('−', "-"));
            let amount = amount.map_err(|_| ("correction", texts::NO_CORRECTION))?;
            let reference = field("reason").parse();
            let reference = reference.map_err(|_| ("reason", texts::NO_REASON))?;
            Ok(Booking::Adjustment { amount, reference })
        }
    }
}

/// The preview of the booking, with the button that makes it.
pub(crate) fn confirm(
    visit: &Visit,
    project: &Project,
    kind: Kind,
    preview: &Preview,
) -> PageResult {
    let (fields, words) = (kind.fields(), kind.words());
    let typed = |name| visit.typed.get(name).unwrap_or_default().trim();
    let labelled = fields.iter().zip(words.fields);
    let Preview { amount, before, after } = preview;
    let wallet = format!("/p/{}/wallet", project.id);
    let of_button = if kind == Kind::Adjustment { signed_rupees(*amount) } else { rupees(*amount) };
    let content = html! {
        section.card.stack.confirm {
            h2 { (words.question) }
            dl.facts {
                dt { (words.amount) } dd { strong { (signed_rupees(*amount)) } }
                // The only field of a refund is the id; the amount of the others is shown above.
                @for (name, (label, _)) in labelled.skip(usize::from(kind != Kind::Refund)) {
                    dt { (label) } dd.wrap-anywhere { (typed(name)) }
                }
                dt { (texts::BEFORE) } dd { (rupees(before.balance)) }
                dt { (texts::AFTER) } dd { (rupees(after.balance)) }
                @if before.held.0 != 0 {
                    dt { (texts::AVAILABLE_AFTER) } dd { (rupees(after.available())) }
                }
            }
            form.actions method="post" action={ (wallet) "/" (kind) } {
                (csrf(visit))
                @for name in fields { input type="hidden" name=(name) value=(typed(name)); }
                input type="hidden" name=(CONFIRMED) value="yes";
                button.primary type="submit" { (words.button) " " (of_button) }
                a.button href=(wallet) { (common::CANCEL) }
            }
        }
    };
    Frame::new(visit, page_texts::TITLE, texts::NOTHING_YET).of(project).show(&content)
}

/// The forms for bookings that this operator may make, each collapsed until it is opened or was
/// refused.
pub(crate) fn section(visit: &Visit, project: &Project) -> Markup {
    let offered = Kind::ALL.into_iter().filter(|kind| visit.may(project, kind.command()));
    let offered: Vec<_> = offered.collect();
    html! {
        @if !offered.is_empty() {
            div.bookings { @for kind in offered { (one(visit, project, kind)) } }
        }
    }
}

fn one(visit: &Visit, project: &Project, kind: Kind) -> Markup {
    let (name, words) = (kind.as_str(), kind.words());
    let form = visit.form(name, true);
    html! {
        details.card.booking name="booking" open[form.is_refused()] {
            summary { (words.title) }
            form.stack method="post" action={ "/p/" (project.id) "/wallet/" (name) } data-keep {
                (csrf(visit))
                p.muted { (words.about) }
                @for (name, (label, placeholder)) in kind.fields().iter().zip(words.fields) {
                    (form.field(&Field { name, label, placeholder, required: true, ..Field::TEXT }))
                }
                div { button.primary type="submit" { (texts::PREVIEW) } }
            }
        }
    }
}
