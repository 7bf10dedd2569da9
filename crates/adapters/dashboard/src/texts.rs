//! Every sentence of the dashboard, in English, by page. Another language is another module with
//! the same names.

pub(crate) mod operations;
pub(crate) mod webhook;

pub(crate) mod overview;

pub(crate) mod activity;

pub(crate) mod nav {
    pub(crate) const OVERVIEW: &str = "Overview";
    pub(crate) const SKIP: &str = "Skip to content";
    pub(crate) const MENU: &str = "Open the navigation";
    pub(crate) const SWITCH: &str = "All projects";
    pub(crate) const OF_PROJECT: &str = "Project";
    pub(crate) const OF_INSTALLATION: &str = "Installation";
    pub(crate) const SIGN_OUT: &str = "Sign out";
    pub(crate) const PLAYGROUND: &str = "Playground";
    pub(crate) const KEYS: &str = "Keys";
    pub(crate) const SETTINGS: &str = "Settings";
    pub(crate) const WALLET: &str = "Wallet";
    pub(crate) const IDENTITIES: &str = "Identities";
    pub(crate) const ACTIVITY: &str = "Activity";
    pub(crate) const AUDIT: &str = "Audit log";
    pub(crate) const AUDIT_ALL: &str = "All changes";
    pub(crate) const TOKENS: &str = "Admin tokens";
    pub(crate) const OPERATIONS: &str = "Operations";
    pub(crate) const TEAM: &str = "Team";
    pub(crate) const ACCOUNT: &str = "Your account";
    pub(crate) const PROJECTS: &str = "Projects";
    pub(crate) const THEME: &str = "Colours";
    pub(crate) const THEME_SYSTEM: &str = "As the system has it";
    pub(crate) const THEME_LIGHT: &str = "Light";
    pub(crate) const THEME_DARK: &str = "Dark";
}

/// Titles and sentences of what cannot be shown.
pub(crate) mod refusals {
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
    pub(crate) const UNAVAILABLE: Words = (
        "One moment",
        "The database is out of reach. Nothing is lost; try again in a few seconds.",
    );
    pub(crate) const BUSY: Words = (
        "One moment",
        "Many people are signing in at this moment. Nothing was changed; try again in a moment.",
    );
    pub(crate) const FAILED: Words =
        ("Our fault", "Something went wrong that should not. The log of the service says more.");
}

pub(crate) mod projects {
    pub(crate) const TITLE: &str = "Projects";
    pub(crate) const LEAD: &str = "Each has its own keys, wallet, texts and people.";
    pub(crate) const EMPTY: &str =
        "There is no project yet. A command on the server makes one and prints its keys:";
    pub(crate) const COMMAND: &str = "dwar project create --name Acme --balance-rupees 100";
    pub(crate) const NONE_SO_CALLED: &str = "No project that you may see is called so.";
    pub(crate) const NAME: &str = "Name";
    pub(crate) const FIND: &str = "Find";
    pub(crate) const MORE: &str = "More projects";
    pub(crate) const AVAILABLE: &str = "available";
    pub(crate) const MADE: &str = "made";
}

pub(crate) mod playground {
    use dwar_otp::sandbox::Scenario;

    pub(crate) const TITLE: &str = "Playground";
    pub(crate) const LEAD: &str = "The whole login, step by step, through the real API in test mode. Nothing is sent, nothing is charged.";
    pub(crate) const NO_SCRIPT: &str =
        "The playground needs JavaScript; everything else here works without.";
    pub(crate) const PHONE: &str = "Phone number";
    pub(crate) const PHONE_HINT: &str =
        "Any Indian mobile number. It need not be yours: no message leaves this machine.";
    pub(crate) const MAGIC: &str = "Or one that plays a scene";
    pub(crate) const CODE: &str = "Code";
    pub(crate) const ORDINARY: &str = "9876543210";
    pub(crate) const REQUEST: &str = "Request";
    pub(crate) const ANSWER: &str = "Answer";
    pub(crate) const NOT_YET: &str =
        "Nothing asked yet. Run this step and the answer appears here, headers and all.";
    pub(crate) const COPY: &str = "Copy";
    pub(crate) const KEY: &str = "Your test key, for the examples";
    pub(crate) const KEY_HINT: &str = "Stays in this page: it is not sent anywhere and is gone when you close it. The playground itself needs none.";
    pub(crate) const PHONE_TITLE: &str = "What its owner sees";
    pub(crate) const PHONE_EMPTY: &str = "No message yet. Send a code and it appears here.";
    pub(crate) const DELIVERY: &str = "Delivery";
    pub(crate) const TOKEN: &str = "Access token, taken apart";
    pub(crate) const TOKEN_EMPTY: &str = "Verify a code, and the token it gives is decoded here and its signature checked against the key set, in your browser.";
    pub(crate) const HEADER: &str = "Header";
    pub(crate) const CLAIMS: &str = "Claims";
    pub(crate) const MODE: &str = "Test mode";

    /// A step of the flow: its word, its title, what it does, its button.
    pub(crate) struct Step {
        pub(crate) name: &'static str,
        pub(crate) method: &'static str,
        pub(crate) path: &'static str,
        pub(crate) title: &'static str,
        pub(crate) sentence: &'static str,
        pub(crate) button: &'static str,
    }

    const fn step(
        name: &'static str,
        path: &'static str,
        title: &'static str,
        sentence: &'static str,
        button: &'static str,
    ) -> Step {
        Step { name, method: "POST", path, title, sentence, button }
    }

    pub(crate) const STEPS: [Step; 5] = [
        step(
            "send",
            "/v1/otp/send",
            "Send a code",
            "Tries WhatsApp, then SMS. The code lives for ten minutes.",
            "Send code",
        ),
        step(
            "verify",
            "/v1/otp/verify",
            "Verify it",
            "The right code works once and gives a token pair.",
            "Verify",
        ),
        step(
            "validate",
            "/v1/session/validate",
            "Validate the session",
            "What your backend asks on each request: is this access token still good?",
            "Validate",
        ),
        step(
            "refresh",
            "/v1/session/refresh",
            "Refresh it",
            "A new pair; the old one is invalid from here on.",
            "Refresh",
        ),
        step(
            "logout",
            "/v1/session/logout",
            "Log out",
            "Ends the session for good. Validate again afterwards and see.",
            "Log out",
        ),
    ];

    /// What a magic number plays.
    pub(crate) const fn scene(scenario: Scenario) -> &'static str {
        match scenario {
            Scenario::Delivered => "WhatsApp delivers",
            Scenario::SmsDelivers => "WhatsApp refuses, SMS delivers",
            Scenario::BothFail => "Both channels fail",
            Scenario::LateFailure => "WhatsApp fails late, SMS delivers",
            Scenario::InsufficientBalance => "The wallet is too low",
            Scenario::SlowDelivery => "Delivered after a while",
        }
    }

    /// What the script writes, as names and texts.
    pub(crate) const SCRIPT: &[(&str, &str)] = &[
        ("copied", "Copied"),
        ("running", "Asking…"),
        ("failed", "The playground could not be asked. Is the service still running?"),
        ("stale", "Your session is over. Reload this page to sign in again."),
        ("headers", "Headers"),
        ("left", "{left} of {limit} left"),
        ("reset", "all back in {time}"),
        ("full", "all there"),
        ("fill", "Fill in {code}"),
        ("whatsapp", "WhatsApp"),
        ("sms", "Messages"),
        ("webotp", "The last line lets the browser on {domain} offer the code by itself (WebOTP)."),
        ("today", "Today"),
        ("attempt_queued", "asked"),
        ("attempt_sent", "sent"),
        ("attempt_delivered", "delivered"),
        ("attempt_failed", "failed"),
        ("checking", "Checking the signature…"),
        ("good", "Signature is good: key {kid} of the key set, checked in this browser."),
        ("bad", "Signature is NOT good for any key of the key set."),
        ("cannot", "This browser cannot check {alg} signatures here."),
        ("expires", "{time} left"),
        ("expired", "expired"),
        ("claim_iss", "Who issued it: your tokens.issuer setting"),
        ("claim_aud", "Whom it is for: this project"),
        ("claim_client_id", "Who asked for it: this project"),
        (
            "claim_sub",
            "Who logged in: the identity behind the phone number. Use it as your user's key",
        ),
        ("claim_sid", "The session. It stays the same across refreshes"),
        ("claim_jti", "This very token"),
        ("claim_iat", "Issued"),
        ("claim_exp", "Expires"),
        ("claim_mode", "test or live: two separate worlds"),
        ("header_alg", "How it is signed"),
        ("header_kid", "Which key of /.well-known/jwks.json signed it"),
        ("header_typ", "An access token by RFC 9068"),
    ];
}

pub(crate) mod common {
    pub(crate) const TYPE: &str = "Type";
    pub(crate) const TO_CONFIRM: &str = "to confirm";
    pub(crate) const COPY: &str = "Copy";
    pub(crate) const COPIED: &str = "Copied";
}

pub(crate) mod entrance {
    pub(crate) const WELCOME: &str = "Welcome";
    pub(crate) const OPENING: &str = "Opening your playground…";
    pub(crate) const GONE: &str = "This link has been used, or is too old: it works once. A command on the server makes a new one:";
    pub(crate) const COMMAND: &str = "dwar operator invite --name you --owner";
    pub(crate) const NO_SCRIPT: &str = "The secret of this link stays in your browser until you send it, so this page needs JavaScript.";
    pub(crate) const CONTINUE: &str = "Open the playground";
    pub(crate) const INVITED: &str = "You are invited";
    pub(crate) const CHOOSE: &str = "Choose a password, and you are in. The link works this once.";
    pub(crate) const PASSWORD: &str = "Password";
    pub(crate) const PASSWORD_HINT: &str =
        "At least 12 characters. A few words that only you would put together are best.";
    pub(crate) const AGAIN: &str = "The same again";
    pub(crate) const NOT_THE_SAME: &str = "The two passwords are not the same.";
    pub(crate) const JOIN: &str = "Join";
}

pub(crate) mod sign_in {
    pub(crate) const TITLE: &str = "Sign in";
    pub(crate) const NAME: &str = "Name";
    pub(crate) const PASSWORD: &str = "Password";
    pub(crate) const CODE: &str = "Code of your authenticator app";
    pub(crate) const CODE_HINT: &str = "Only if you added one.";
    pub(crate) const BUTTON: &str = "Sign in";
    pub(crate) const WRONG: &str = "Name, password or code is not right.";
    pub(crate) const CODE_NEEDED: &str =
        "Your account asks for the code of your authenticator app too.";
    pub(crate) const LOCKED: &str = "Too many failures. Try again in {seconds} seconds.";
    pub(crate) const FORGOTTEN: &str = "Forgot everything? Whoever has the server can run";
}

pub(crate) mod keys {
    pub(crate) const TITLE: &str = "Keys";
    pub(crate) const LEAD: &str =
        "One key per mode. Only a digest is kept, so a key is shown once: when it is made.";
    pub(crate) const LIVE: (&str, &str) =
        ("Live key", "Sends real messages and is charged. Keep it on your server.");
    pub(crate) const TEST: (&str, &str) =
        ("Test key", "Runs the whole flow in the sandbox. Nothing is sent, nothing is charged.");
    pub(crate) const KEY: &str = "Key";
    pub(crate) const MADE: &str = "Made";
    pub(crate) const USED: &str = "Last used";
    pub(crate) const FROM: &str = "from";
    pub(crate) const NEVER_USED: &str = "Not yet";
    pub(crate) const REGENERATE: &str = "Regenerate…";
    pub(crate) const REGENERATE_NOW: &str = "Regenerate now";
    pub(crate) const LIVE_STOPS: [&str; 3] = [
        "The present key stops working at once, on every server: no new logins until the new key is in place.",
        "People who are logged in stay so in their apps, but validate, refresh and logout are refused too until then.",
        "There is no way back to the old key.",
    ];
    pub(crate) const TEST_STOPS: [&str; 2] = [
        "The present key stops working at once: tests and builds that use it fail until they have the new one.",
        "There is no way back to the old key.",
    ];
    pub(crate) const FRESH: &str = "This is the new key";
    pub(crate) const FRESH_ONCE: &str =
        "Copy it now. It is shown this once, and the old one no longer works.";
    pub(crate) const WRONG_WORD: &str =
        "The name you typed is not that of the project, so nothing was changed.";
    pub(crate) const REPLACED_BEFORE: &str =
        "This key had been replaced already, so nothing was changed.";
}

pub(crate) mod wallet {
    use dwar_wallet::EntryKind;

    pub(crate) const TITLE: &str = "Wallet";
    pub(crate) const LEAD: &str =
        "Prepaid, in whole paise. Each movement has a line, and the balance is their sum.";
    pub(crate) const AVAILABLE: &str = "Available";
    pub(crate) const BALANCE: &str = "Balance";
    pub(crate) const HELD: &str = "Held for sends under way";
    pub(crate) const CREDIT: &str = "Pay in";
    pub(crate) const CREDIT_HINT: &str =
        "A reference counts once: the same one again changes nothing.";
    pub(crate) const AMOUNT: &str = "Amount in ₹";
    pub(crate) const REFERENCE: &str = "Reference";
    pub(crate) const REFERENCE_EXAMPLE: &str = "Invoice 2026-11-17";
    pub(crate) const PAY_IN: &str = "Pay in";
    pub(crate) const NO_AMOUNT: &str = "The amount is rupees with at most two decimals, more than zero and at most a thousand crore. \
         Nothing was paid in.";
    pub(crate) const NO_REFERENCE: &str = "A reference is needed, so that the same payment cannot be booked twice: 1 to 200 visible \
         characters on one line.";
    pub(crate) const TOO_MUCH: &str =
        "No balance may be more than a thousand crore rupees. Nothing was paid in.";
    pub(crate) const KNOWN: &str = "This reference was booked before, so nothing was paid in.";
    pub(crate) const DONE: &[(&str, &str)] = &[("credited", "Paid in.")];
    pub(crate) const STATEMENT: &str = "Statement, newest first";
    pub(crate) const EMPTY: &str =
        "No movement yet. Pay in above, and each send of a live key will have its lines here.";
    pub(crate) const WHEN: &str = "When";
    pub(crate) const WHAT: &str = "What";
    pub(crate) const FOR: &str = "For";
    pub(crate) const CHANGE: &str = "Change";
    pub(crate) const ON_HOLD: &str = "On hold";
    pub(crate) const AFTER: &str = "Balance";

    pub(crate) const fn kind(kind: EntryKind) -> &'static str {
        match kind {
            EntryKind::Credit => "Paid in",
            EntryKind::Hold => "Held",
            EntryKind::Capture => "Spent",
            EntryKind::Release => "Released",
            EntryKind::Refund => "Refunded",
            EntryKind::Adjustment => "Corrected",
        }
    }
}

pub(crate) mod identity_sessions;
pub(crate) mod passkeys;
pub(crate) mod wallet_proof;
pub(crate) mod wallet_statement;

pub(crate) mod settings {
    type Words = (&'static str, &'static str);

    pub(crate) const TITLE: &str = "Settings";
    pub(crate) const LEAD: &str = "They count for the very next request.";
    pub(crate) const SAVE: &str = "Save";
    pub(crate) const DONE: &[(&str, &str)] =
        &[("saved", "Saved. It counts from the next request on."), ("removed", "Removed.")];
    pub(crate) const MESSAGES: Words = (
        "Messages",
        "What people read. The SMS text has to be the one registered with your operator (DLT).",
    );
    pub(crate) const BRAND: &str = "Brand";
    pub(crate) const LANGUAGE: &str = "Language";
    pub(crate) const LANGUAGE_HINT: &str = "A tag such as en or hi.";
    pub(crate) const TEXT: &str = "SMS text";
    pub(crate) const TEXT_HINT: &str =
        "With {code}, {brand} and {minutes}. Empty: the language's own text.";
    pub(crate) const TEMPLATE: &str = "DLT template id";
    pub(crate) const TEMPLATE_HINT: &str = "The id that this text is registered under.";
    pub(crate) const DOMAIN: &str = "WebOTP domain";
    pub(crate) const DOMAIN_HINT: &str = "Browsers on this site offer the code by themselves.";
    pub(crate) const APP_HASH: &str = "Android app hash";
    pub(crate) const APP_HASH_HINT: &str = "11 characters; instead of a domain.";
    pub(crate) const PREVIEW: &str = "As the phone shows it";
    pub(crate) const PER_CODE: &str = "per code by SMS";
    pub(crate) const SEVERAL_PARTS: &str = "operators charge each part";
    pub(crate) const IDENTITIES: Words = (
        "Identities",
        "The same phone number seen again. Both calls are off until you switch them on.",
    );
    pub(crate) const LOOKUP: &str = "Look-up";
    pub(crate) const LOOKUP_HINT: &str =
        "GET /v1/identity answers with the phone number behind an id.";
    pub(crate) const DELETE: &str = "Deletion";
    pub(crate) const DELETE_HINT: &str =
        "DELETE /v1/identity erases a person for good and ends all of their sessions.";
    pub(crate) const ROUTING: Words = (
        "Delivery",
        "Which providers carry live messages, in order, and when SMS is tried. Empty: as the installation has it.",
    );
    pub(crate) const WHATSAPP: &str = "WhatsApp over";
    pub(crate) const SMS: &str = "SMS over";
    pub(crate) const PROVIDERS_HINT: &str = "Names with commas between, or none. Configured:";
    pub(crate) const FALLBACK: &str = "SMS after";
    pub(crate) const FALLBACK_HINT: &str = "Seconds without a delivery receipt; 0 never.";
    pub(crate) const AS_INSTALLED: &str = "as installed";
    pub(crate) const NO_SECONDS: &str =
        "The time before SMS is tried is a whole number of seconds. Nothing was saved.";
    pub(crate) const MONEY: Words = (
        "Prices",
        "What one delivered code costs this project, in ₹. Empty: the installation's price.",
    );
    pub(crate) const WHATSAPP_PRICE: &str = "WhatsApp, ₹ per code";
    pub(crate) const SMS_PRICE: &str = "SMS, ₹ per code";
    pub(crate) const LOW: &str = "Low balance, ₹";
    pub(crate) const LOW_HINT: &str = "A balance below it raises the event wallet.low.";
    pub(crate) const TELLS_NOTHING: &str = "tells nothing";
    pub(crate) const NO_AMOUNT: &str = "Amounts are rupees with at most two decimals, a thousand crore at most. Nothing was saved.";
    pub(crate) const WEBHOOKS: Words =
        ("Webhooks", "Addresses that are told what happens, signed by Standard Webhooks.");
    pub(crate) const NO_WEBHOOKS: &str =
        "None yet. Add the address of your server, and verify each call with the secret you get.";
    pub(crate) const ADDRESS: &str = "Address";
    pub(crate) const FULL_PHONE: &str = "Tell it full phone numbers";
    pub(crate) const FULL_PHONE_HINT: &str = "Otherwise they are masked.";
    pub(crate) const ADD: &str = "Add";
    pub(crate) const BAD_ADDRESS: &str =
        "Events go to https:// addresses of public hosts only, so nothing was added.";
    pub(crate) const SECRET: &str = "This is its secret";
    pub(crate) const SECRET_ONCE: &str =
        "Copy it now; it is shown this once. A secret that it replaces signs along for a day.";
    pub(crate) const OPEN: &str = "Log and tests";
    pub(crate) const OFF: &str = "switched off";
    pub(crate) const FAILING: &str = "failing";
    pub(crate) const ON: &str = "on";
    pub(crate) const ENABLE: &str = "Switch on";
    pub(crate) const ROTATE: &str = "New secret";
    pub(crate) const REMOVE: &str = "Remove…";
    pub(crate) const REMOVE_WORD: &str = "remove";
    pub(crate) const REMOVE_STOPS: [&str; 1] =
        ["It is told nothing more, and what it had not been told yet is dropped."];
    pub(crate) const WRONG_WORD: &str = "The word was not the right one, so nothing was changed.";
}

pub(crate) mod identities {
    pub(crate) const TITLE: &str = "Identities";
    pub(crate) const LEAD: &str =
        "A phone number that was verified at least once. Live and test are separate worlds.";
    pub(crate) const PHONE: &str = "Phone number or identity id";
    pub(crate) const MODE: &str = "Mode";
    pub(crate) const LIVE: &str = "Live";
    pub(crate) const TEST: &str = "Test";
    pub(crate) const LOOK_UP: &str = "Look up";
    pub(crate) const START: &str =
        "Enter a number to see whether it has logged in here. What you look for is not kept.";
    pub(crate) const NOBODY: &str =
        "Nobody here has verified this number, or the identity was erased.";
    pub(crate) const ID: &str = "Id";
    pub(crate) const NUMBER: &str = "Phone number";
    pub(crate) const FIRST: &str = "First verified";
    pub(crate) const LAST: &str = "Last verified";
    pub(crate) const SESSIONS: &str = "Sessions";
    pub(crate) const ERASE: &str = "Erase…";
    pub(crate) const ERASE_NOW: &str = "Erase for good";
    pub(crate) const ERASE_WORD: &str = "erase";
    pub(crate) const ERASE_STOPS: [&str; 3] = [
        "Every session of this person ends at once.",
        "The number goes from every table of this project and mode; only amounts of money stay.",
        "A later login makes a new identity with another id. There is no way back.",
    ];
    pub(crate) const WRONG_WORD: &str = "The word was not the right one, so nothing was erased.";
    pub(crate) const ERASED: &str = "Erased. Sessions that ended:";
}

pub(crate) mod team {
    use dwar_operator::Role;

    pub(crate) const TITLE: &str = "Team";
    pub(crate) const LEAD: &str =
        "Who may look after this installation, and what each of them may do.";
    pub(crate) const DONE: &[(&str, &str)] = &[
        ("changed", "Changed. It counts from their next request on."),
        ("removed", "Removed, and signed out everywhere."),
    ];
    pub(crate) const LINK_FOR: &str = "The link for";
    pub(crate) const LINK_ONCE: &str =
        "Send it to them by a way you trust. It is shown this once, works once, and until";
    pub(crate) const YOU: &str = "you";
    pub(crate) const LAST_IN: &str = "Last signed in";
    pub(crate) const NEVER_IN: &str = "Has not signed in yet";
    pub(crate) const OWNER_OF_ALL: &str = "Owner of the installation";
    pub(crate) const TWO_FACTORS: &str = "two factors";
    pub(crate) const ONE_FACTOR: &str = "password only";
    pub(crate) const CHANGE: &str = "Change role";
    pub(crate) const SAVE: &str = "Save";
    pub(crate) const WHERE: &str = "Where";
    pub(crate) const EVERYWHERE: &str = "Everywhere (owner of the installation)";
    pub(crate) const ROLE: &str = "Role";
    pub(crate) const NO_ROLE: &str = "None";
    pub(crate) const NAME: &str = "Name";
    pub(crate) const INVITE: &str = "Invite somebody";
    pub(crate) const INVITE_HINT: &str =
        "You get a link to send them. With it they choose a password.";
    pub(crate) const INVITE_BUTTON: &str = "Make a link";
    pub(crate) const REMOVE: &str = "Remove…";
    pub(crate) const REMOVE_STOPS: [&str; 2] = [
        "They are signed out everywhere, at once, and cannot come back.",
        "What they did stays in the audit log.",
    ];
    pub(crate) const WRONG_WORD: &str =
        "The name you typed is another one, so nothing was changed.";

    pub(crate) const fn role(role: Role) -> &'static str {
        match role {
            Role::Owner => "Owner",
            Role::Member => "Member",
            Role::Support => "Support",
            Role::Viewer => "Viewer",
        }
    }

    pub(crate) const fn role_means(role: Role) -> &'static str {
        match role {
            Role::Owner => "Everything in the project.",
            Role::Member => "Everything but keys, money and the team.",
            Role::Support => "Finds out why a code did not arrive. Sees no phone number.",
            Role::Viewer => "Looks at figures and settings, changes nothing. Sees no phone number.",
        }
    }
}

pub(crate) mod audit {
    pub(crate) const TITLE: &str = "Audit log";
    pub(crate) const LEAD: &str = "Every change, by page, API or command line, written down before it was made. No secret and no phone number is in it.";
    pub(crate) const HEADS: [&str; 5] = ["When", "Who", "What", "Of what", "Before → after"];
    pub(crate) const EMPTY: &str = "Nothing has been changed yet. What you change shows up here.";
    pub(crate) const OLDER: &str = "Older";
    pub(crate) const NOTHING: &str = "none";
}

pub(crate) mod account {
    pub(crate) const TITLE: &str = "Your account";
    pub(crate) const LEAD: &str = "How you sign in, and where you are signed in.";
    pub(crate) const DONE: &[(&str, &str)] = &[
        ("password", "Your password is changed. Every other session of yours has ended."),
        ("totp", "Your second factor is on. Every other session of yours has ended."),
        ("passkey", "Added. You can sign in with it from now on."),
        ("no-passkey", "Removed. Other sessions of yours have ended."),
        ("no-totp", "Your second factor is removed."),
    ];
    pub(crate) const PASSWORD: &str = "Password";
    pub(crate) const NO_PASSWORD_YET: &str =
        "You came in by a link. Set a password, and you can come back.";
    pub(crate) const CURRENT: &str = "Present password";
    pub(crate) const NEW: &str = "New password";
    pub(crate) const NEW_HINT: &str = "At least 12 characters.";
    pub(crate) const AGAIN: &str = "The same again";
    pub(crate) const NOT_THE_SAME: &str =
        "The two passwords are not the same, so nothing was changed.";
    pub(crate) const CHANGE: &str = "Set password";
    pub(crate) const TOTP: &str = "Second factor";
    pub(crate) const TOTP_ON: &str = "on";
    pub(crate) const TOTP_HINT: &str = "A code of an authenticator app beside your password. Whoever learns the password alone is kept out.";
    pub(crate) const TOTP_ADD: &str = "Add an authenticator app";
    pub(crate) const TOTP_REMOVE: &str = "Remove it";
    pub(crate) const TOTP_SCAN: &str = "Scan this with your authenticator app";
    pub(crate) const TOTP_OR: &str = "Or type this secret into it:";
    pub(crate) const TOTP_CODE: &str = "The code it shows now";
    pub(crate) const TOTP_CONFIRM: &str = "Switch it on";
    pub(crate) const SESSIONS: &str = "Signed in";
    pub(crate) const SINCE: &str = "Since";
    pub(crate) const THIS_ONE: &str = "this browser";
    pub(crate) const SIGN_OUT_EVERYWHERE: &str = "Sign out everywhere";
}

pub(crate) mod tokens {
    pub(crate) const TITLE: &str = "Admin tokens";
    pub(crate) const LEAD: &str = "Bearer tokens for programs that use the admin API. Each has a role of its own and an end, and stands in the audit log by its name.";
    pub(crate) const DONE: &[(&str, &str)] =
        &[("revoked", "The token is revoked. Its next request is refused.")];
    pub(crate) const EMPTY: &str =
        "There is no token yet. Make one below for a script or a pipeline that runs Dwar.";
    pub(crate) const FRESH: &str = "The new token";
    pub(crate) const FRESH_ONCE: &str =
        "Copy it now: it is shown this once. Send it as Authorization: Bearer.";
    pub(crate) const EVERYTHING: &str = "everything";
    pub(crate) const MADE_BY: &str = "Made by";
    pub(crate) const EXPIRES: &str = "Expires";
    pub(crate) const EXPIRED: &str = "expired";
    pub(crate) const USED: &str = "Last used";
    pub(crate) const NEVER: &str = "never";
    pub(crate) const FROM: &str = "from";
    pub(crate) const GONE: &str = "a project that is not there";
    pub(crate) const MAKE: &str = "Make a token";
    pub(crate) const MAKE_HINT: &str =
        "Give it the least that does, and no longer than it is needed.";
    pub(crate) const NAME: &str = "Name";
    pub(crate) const ROLE: &str = "What it may do";
    pub(crate) const OWNER_OF_ALL: &str = "Everything, everywhere";
    pub(crate) const PROJECTS: &str = "In these projects";
    pub(crate) const PROJECTS_HINT: &str = "Means nothing for a token that may do everything.";
    pub(crate) const DAYS: &str = "Days until it expires";
    pub(crate) const DAYS_HINT: &str = "1 to 365.";
    pub(crate) const NO_DAYS: &str = "Days are a number from 1 to 365. Nothing was made.";
    pub(crate) const NO_PROJECT: &str =
        "A token needs a project at least, or everything. Nothing was made.";
    pub(crate) const MAY_DELEGATE: &str = "may invite operators and make tokens";
    pub(crate) const DELEGATE: &str = "It may invite operators and make tokens";
    pub(crate) const DELEGATE_HINT: &str = "Whoever gets hold of such a token can keep the access they find when it expires or is revoked. \
         Leave it off unless the program is there for that.";
    pub(crate) const MAKE_BUTTON: &str = "Make token";
    pub(crate) const REVOKE: &str = "Revoke";
    pub(crate) const REVOKE_STOPS: [&str; 2] = [
        "The next request with this token is refused.",
        "Whatever uses it stops working until it has another one.",
    ];
    pub(crate) const WRONG_WORD: &str = "The name was not the same, so nothing was revoked.";
}
