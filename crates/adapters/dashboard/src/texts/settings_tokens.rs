pub(crate) const TOKENS: (&str, &str) = (
    "Tokens for other systems",
    "Let Supabase, Convex, API gateways and others verify the access tokens of live logins by themselves. They learn of a logout only when the token expires.",
);
pub(crate) const OWN: &str = "An issuer of its own";
pub(crate) const OWN_HINT: &str = "Live tokens name tokens.issuer and /p/ and the project as their issuer, and discovery is published there. Tokens of other projects and test tokens never do.";
pub(crate) const CLAIMS: &str = "Claims of these tokens";
pub(crate) const CLAIMS_HINT: &str = "One name=value per line, at most 8, 512 bytes together. A name is a word in lower case or an https:// URL. Supabase wants role=authenticated.";
pub(crate) const LEFT_OUT: &str = "Tokens leave out the claims that break a rule:";
