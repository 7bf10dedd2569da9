pub(crate) const TITLE: &str = "Sign in";
pub(crate) const NAME: &str = "Name";
pub(crate) const PASSWORD: &str = "Password";
pub(crate) const CODE: &str = "Authenticator code";
pub(crate) const BUTTON: &str = "Sign in";
pub(crate) const WRONG: &str = "Wrong name or password.";
pub(crate) const WRONG_CODE: &str = "Wrong code, or one that was already used.";
pub(crate) const TOO_LATE: &str = "That took too long. Sign in again.";
pub(crate) const START_AGAIN: &str = "Use a different account";
pub(crate) const LOCKED: &str = "Too many failed attempts. Try again in {seconds} seconds.";
pub(crate) const FORGOTTEN: &str =
    "Forgot your password? Somebody with access to the server can run";
