pub(crate) struct BookingTexts {
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
    pub(crate) fields: &'static [(&'static str, &'static str)],
    /// The question of the preview, and its button.
    pub(crate) question: &'static str,
    pub(crate) button: &'static str,
    pub(crate) amount: &'static str,
}

pub(crate) const CREDIT: BookingTexts = BookingTexts {
    title: "Pay in",
    about: "Each reference counts once. Using the same one again changes nothing.",
    fields: &[("Amount, ₹", "500.00"), ("Reference", "Invoice 2026-11-17")],
    question: "Pay in?",
    button: "Pay in",
    amount: "Paid in",
};
pub(crate) const REFUND: BookingTexts = BookingTexts {
    title: "Refund a charge",
    about: "Gives back what one send was charged, once. The statement and the activity show its OTP ID.",
    fields: &[("OTP ID", "01a1fd34-455b-732c-a217-69d490b99c63")],
    question: "Refund this charge?",
    button: "Refund",
    amount: "Charged for this send",
};
pub(crate) const ADJUSTMENT: BookingTexts = BookingTexts {
    title: "Correct the balance",
    about: "A negative amount reduces the balance, by at most the available amount. Each \
            reason counts once.",
    fields: &[("Amount, ₹", "-2.50"), ("Reason", "Typo in invoice 7")],
    question: "Correct the balance?",
    button: "Correct by",
    amount: "Correction",
};
pub(crate) const PREVIEW: &str = "Preview";
pub(crate) const NOTHING_YET: &str = "Check the preview. Nothing has moved yet.";
pub(crate) const BEFORE: &str = "Balance now";
pub(crate) const AFTER: &str = "Balance after";
pub(crate) const AVAILABLE_AFTER: &str = "Available after, less what is reserved";
pub(crate) const NO_AMOUNT: &str =
    "Enter an amount in rupees above zero, with at most two decimals, up to a thousand crore.";
pub(crate) const NO_REFERENCE: &str = "Enter a reference, so that the same payment does not count twice: 1 to 200 visible characters on one line.";
pub(crate) const NO_ID: &str = "Enter the OTP ID of the send, as the statement shows it.";
pub(crate) const NO_CORRECTION: &str =
    "Enter an amount in rupees other than zero, with at most two decimals, such as 10 or -2.50.";
pub(crate) const NO_REASON: &str = "Enter a reason, so that the same correction does not count twice: 1 to 200 visible characters on one line.";
