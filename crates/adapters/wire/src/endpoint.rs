/// An endpoint of an API and the possible results of its answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub route: &'static str,
    pub method: &'static str,
    /// Status and code of each answer; the code is empty for success.
    pub answers: Vec<(u16, &'static str)>,
}
