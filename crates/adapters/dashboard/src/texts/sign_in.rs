pub(crate) const TITLE: &str = "Sign in";
pub(crate) const NAME: &str = "Name";
pub(crate) const PASSWORD: &str = "Password";
pub(crate) const CODE: &str = "Code of your authenticator app";
pub(crate) const CODE_HINT: &str = "Only if you added one.";
pub(crate) const BUTTON: &str = "Sign in";
pub(crate) const WRONG: &str = "The name, password or code is wrong.";
pub(crate) const CODE_NEEDED: &str =
    "Your account asks for the code of your authenticator app too.";
pub(crate) const LOCKED: &str = "Too many failures. Try again in {seconds} seconds.";
pub(crate) const FORGOTTEN: &str = "Forgot everything? Somebody with access to the server can run";
