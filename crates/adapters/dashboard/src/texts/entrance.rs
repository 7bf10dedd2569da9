pub(crate) const WELCOME: &str = "Welcome";
pub(crate) const OPENING: &str = "Opening your playground…";
pub(crate) const GONE: &str =
    "This link has already been used or has expired. Create a new one on the server:";
pub(crate) const INVITATION_GONE: &str = "This link has already been used or has expired. Ask the person who invited you for a new \
                                          one.";
pub(crate) const COMMAND: &str = "dwar operator add --name you --owner";
pub(crate) const NO_SCRIPT: &str =
    "This page needs JavaScript: the secret in the link stays in your browser until you continue.";
pub(crate) const CONTINUE: &str = "Open playground";
pub(crate) const INVITED: &str = "You are invited";
pub(crate) const CHOOSE: &str = "Choose a password to finish. The link works only once.";
pub(crate) const PASSWORD_HINT: &str = "At least 12 characters. A few unrelated words work well.";
pub(crate) const NOT_THE_SAME: &str = "The passwords do not match.";
pub(crate) const JOIN: &str = "Join";
