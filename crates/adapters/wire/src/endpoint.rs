/// An endpoint, and how its answers can end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub route: &'static str,
    pub method: &'static str,
    /// Status and code; no code where it does what it is asked for.
    pub answers: Vec<(u16, &'static str)>,
}
