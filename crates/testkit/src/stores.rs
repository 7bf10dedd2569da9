use dwar_app::Stores as LoginStores;
use dwar_console::ConsoleStores;
use std::ops::Deref;
use std::sync::Arc;

/// Every port that a database implements, for the suites: those of logins by their names, the others as
/// fields of `console`.
#[derive(Clone)]
pub struct Stores {
    pub login: LoginStores,
    pub console: ConsoleStores,
}

impl<'store, S> From<&'store Arc<S>> for Stores
where
    LoginStores: From<&'store Arc<S>>,
    ConsoleStores: From<&'store Arc<S>>,
{
    fn from(store: &'store Arc<S>) -> Self {
        Self { login: store.into(), console: store.into() }
    }
}

impl Deref for Stores {
    type Target = LoginStores;

    fn deref(&self) -> &Self::Target {
        &self.login
    }
}
