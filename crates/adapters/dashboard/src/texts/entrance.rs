pub(crate) const WELCOME: &str = "Welcome";
pub(crate) const OPENING: &str = "Opening your playground…";
pub(crate) const GONE: &str =
    "This link was already used or has expired. A command on the server makes a new one:";
pub(crate) const COMMAND: &str = "dwar operator invite --name you --owner";
pub(crate) const NO_SCRIPT: &str = "The secret of this link stays in your browser until you send it, so this page needs JavaScript.";
pub(crate) const CONTINUE: &str = "Open the playground";
pub(crate) const INVITED: &str = "You are invited";
pub(crate) const CHOOSE: &str = "Choose a password to finish. The link works only once.";
pub(crate) const PASSWORD: &str = "Password";
pub(crate) const PASSWORD_HINT: &str =
    "At least 12 characters. A few words that only you would combine are best.";
pub(crate) const AGAIN: &str = "Repeat it";
pub(crate) const NOT_THE_SAME: &str = "The two passwords are not the same.";
pub(crate) const JOIN: &str = "Join";
