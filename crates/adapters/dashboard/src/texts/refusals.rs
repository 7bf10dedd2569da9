//! Titles and sentences of what cannot be shown.

type Words = (&'static str, &'static str);

pub(crate) const BACK: &str = "Back to the dashboard";
pub(crate) const SIGN_IN: Words = ("Sign in", "Sign in first.");
pub(crate) const TOO_MANY: Words = (
    "Too many live lists",
    "Close one of the pages that go on by themselves, and reload this one.",
);
pub(crate) const SEARCHED_TOO_MUCH: Words = (
    "Too many numbers",
    "Whoever sees phone numbers masked can search for 60 in an hour and 200 in a day, since four \
     hidden digits could be tried. The next one is free at",
);
pub(crate) const MISDIRECTED: Words = (
    "Not by this name",
    "This dashboard does not go by the name in the address bar. If the name is yours, add it to dashboard.hosts.",
);
pub(crate) const FOREIGN: Words = (
    "Not from here",
    "Another site sent this, or the browser did not say who did, so nothing was changed.",
);
pub(crate) const STALE: Words = (
    "This page is too old",
    "The session it belonged to is over, so nothing was changed. Open the page again and repeat what you did.",
);
pub(crate) const FORBIDDEN: Words = (
    "Not for your role",
    "Your role does not include this. An owner of the installation can change that under Team.",
);
pub(crate) const NOT_FOUND: Words =
    ("Nothing here", "There is no such page, or it belongs to a project that is not yours.");
pub(crate) const UNREADABLE: Words =
    ("That did not come through", "The form could not be read, so nothing was changed.");
pub(crate) const UNAVAILABLE: Words =
    ("One moment", "The database is out of reach. Nothing is lost; try again in a few seconds.");
pub(crate) const BUSY: Words = (
    "One moment",
    "Many people are signing in at this moment. Nothing was changed; try again in a moment.",
);
pub(crate) const FAILED: Words =
    ("Our fault", "Something went wrong that should not. The log of the service says more.");
