pub(crate) const TOKENS: (&str, &str) = (
    "Tokens for other systems",
    "Let Supabase, Convex, API gateways and others verify the access tokens of live logins by themselves. They learn of a logout only when the token expires.",
);
pub(crate) const LEFT_OUT: &str = "Tokens leave out the claims that break a rule:";
pub(crate) const NO_OWN_ISSUER: &str =
    "This installation cannot give projects an issuer of their own yet:";
pub(crate) const ASK: &str = "Ask the operator of this installation.";
