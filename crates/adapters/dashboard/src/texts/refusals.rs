//! Titles and sentences for requests without a page.

type TitleAndText = (&'static str, &'static str);

pub(crate) const BACK: &str = "Back to the dashboard";
pub(crate) const SIGN_IN: TitleAndText = ("Sign in", "Sign in to continue.");
pub(crate) const TOO_MANY: TitleAndText =
    ("Too many live lists", "Close another page with a live list, then reload this one.");
pub(crate) const SEARCHED_TOO_MUCH: TitleAndText = (
    "Search limit reached",
    "Your role does not show full phone numbers, so you can search for 60 an hour and 200 a day. The next \
     search is possible at",
);
pub(crate) const MISDIRECTED: TitleAndText = (
    "Unknown host name",
    "The host name in the address bar is not configured. If it is yours, add it to dashboard.hosts.",
);
pub(crate) const FOREIGN: TitleAndText = (
    "Request blocked",
    "The request came from another site, or the browser did not say where it came from. Nothing was changed.",
);
pub(crate) const STALE: TitleAndText =
    ("Session expired", "Nothing was changed. Sign in and repeat what you did.");
pub(crate) const FORBIDDEN: TitleAndText =
    ("Access denied", "Your role does not include this. An owner can change your role under Team.");
pub(crate) const NOT_FOUND: TitleAndText =
    ("Page not found", "It does not exist, or it belongs to a project you cannot access.");
pub(crate) const UNREADABLE: TitleAndText =
    ("Invalid form", "Nothing was changed. Go back and try again.");
pub(crate) const UNAVAILABLE: TitleAndText = (
    "Temporarily unavailable",
    "The database cannot be reached. Nothing is lost. Try again in a few seconds.",
);
pub(crate) const BUSY: TitleAndText = (
    "Temporarily busy",
    "Too many people are signing in right now. Nothing was changed. Try again in a moment.",
);
pub(crate) const FAILED: TitleAndText =
    ("Something went wrong", "This is an error in Dwar. The log of the service has the details.");
