//! Titles and sentences of what cannot be shown.

type Words = (&'static str, &'static str);

pub(crate) const BACK: &str = "Back to the dashboard";
pub(crate) const SIGN_IN: Words = ("Sign in", "Sign in first.");
pub(crate) const TOO_MANY: Words =
    ("Too many live lists", "Close one of the pages with live lists, then reload this one.");
pub(crate) const SEARCHED_TOO_MUCH: Words = (
    "Too many numbers",
    "Without the right to see phone numbers you can search for 60 an hour and 200 a day, since the four \
     hidden digits could be tried. The next search is possible at",
);
pub(crate) const MISDIRECTED: Words = (
    "Not by this name",
    "This dashboard does not know the name in the address bar. If the name is yours, add it to dashboard.hosts.",
);
pub(crate) const FOREIGN: Words = (
    "Not from here",
    "This request came from another site, or the browser did not say where it came from. Nothing was changed.",
);
pub(crate) const STALE: Words = (
    "This page is too old",
    "Its session has ended, so nothing was changed. Open the page again and repeat what you did.",
);
pub(crate) const FORBIDDEN: Words = (
    "Not for your role",
    "Your role does not include this. An owner of the installation can change that under Team.",
);
pub(crate) const NOT_FOUND: Words =
    ("Nothing here", "There is no such page, or it belongs to a project that is not yours.");
pub(crate) const UNREADABLE: Words =
    ("The form could not be read", "Nothing was changed. Go back and try again.");
pub(crate) const UNAVAILABLE: Words =
    ("One moment", "The database is out of reach. Nothing is lost; try again in a few seconds.");
pub(crate) const BUSY: Words = (
    "One moment",
    "Many people are signing in right now. Nothing was changed; try again in a moment.",
);
pub(crate) const FAILED: Words =
    ("Our fault", "Something went wrong in Dwar itself. See the log of the service.");
