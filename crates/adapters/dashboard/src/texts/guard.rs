//! Texts of what a project's guard found.

pub(crate) const WEEK: &str = "The last seven days";
pub(crate) const JUDGED: &str = "Sends judged";
pub(crate) const REFUSED: &str = "Refused";
pub(crate) const WOULD_ASK: &str = "enforce asks for a proof";
pub(crate) const OVER_DAY: &str = "enforce refuses: 30 codes in 24 hours";
pub(crate) const VERIFIED: &str = "Of these, verified";
pub(crate) const VERIFIED_MEANS: &str = "people who entered their code";
pub(crate) const TRUSTED: &str = "From trusted visitors";
pub(crate) const NO_TRUSTED: &str = "No send with visitor.trusted was seen yet. Before you choose enforce, let your app show a challenge when a send answers PROOF_REQUIRED: else the people whom the guard asks cannot log in.";

pub(crate) fn by_kind(address: u64, series: u64, project: u64) -> String {
    format!("address {address}, series {series}, project {project}")
}

pub(crate) fn of_trusted(verified: u64) -> String {
    format!("{verified} verified")
}
