pub(crate) const TITLE: &str = "Sign in";
pub(crate) const NAME: &str = "Name";
pub(crate) const PASSWORD: &str = "Password";
pub(crate) const CODE: &str = "Authenticator code";
pub(crate) const CODE_HINT: &str = "Only if you use an authenticator app.";
pub(crate) const BUTTON: &str = "Sign in";
pub(crate) const WRONG: &str = "Wrong name, password or code.";
pub(crate) const CODE_NEEDED: &str = "Enter the code from your authenticator app.";
pub(crate) const LOCKED: &str = "Too many failed attempts. Try again in {seconds} seconds.";
pub(crate) const FORGOTTEN: &str =
    "Forgot your password? Somebody with access to the server can run";
