use crate::ticket::Ticket;
use crate::{Origin, PasswordHash};
use dwar_kernel::{Entropy, OperatorId, Purpose, Timestamp, Vault};
use std::fmt;
use std::time::Duration;
use zeroize::Zeroizing;

/// Cookie of a browser in which an operator has signed in. It proves only that, so that strangers who try the
/// name elsewhere do not lock out the operator. It gives no access.
///
/// Nothing of it is stored. It is bound to the operator and the password, so a new password, a reset or a
/// removal invalidates it. `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct BrowserToken(Zeroizing<String>);

impl BrowserToken {
    /// Validity of a token: 180 days. Each sign-in issues a new one.
    pub const LIFETIME: Duration = Duration::from_secs(180 * 24 * 3_600);

    /// Makes a token for this operator and password, valid for [`BrowserToken::LIFETIME`].
    pub fn issue(
        operator: OperatorId,
        password: &PasswordHash,
        (vault, entropy): (&dyn Vault, &dyn Entropy),
        now: Timestamp,
    ) -> Self {
        let id = operator.uuid();
        let about = [id.as_bytes().as_slice(), password.as_str().as_bytes()];
        let until = now + Self::LIFETIME;
        let ticket = Ticket::issue((vault, Purpose::OperatorBrowser), &about, until, entropy);
        Self(Zeroizing::new(base16ct::lower::encode_string(ticket.as_bytes())))
    }

    /// The token in clear, for the browser only.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Verifies the token of a browser; `None` unless the operator signed in there before.
    pub fn origin(
        text: &str,
        operator: OperatorId,
        password: &PasswordHash,
        vault: &dyn Vault,
        now: Timestamp,
    ) -> Option<Origin> {
        let mut bytes = [0; Ticket::LENGTH];
        let bytes = base16ct::lower::decode(text, &mut bytes).ok()?;
        let id = operator.uuid();
        let about = [id.as_bytes().as_slice(), password.as_str().as_bytes()];
        let ticket = Ticket::read(bytes, (vault, Purpose::OperatorBrowser), &about, now)?;
        Some(Origin::Browser(ticket.digest()))
    }
}

impl fmt::Debug for BrowserToken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("BrowserToken(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{Ones, Sums};

    fn operator(last: u8) -> OperatorId {
        format!("00000000-0000-7000-8000-0000000000{last:02}").parse().unwrap()
    }

    #[test]
    fn it_names_a_browser_for_its_operator_with_their_password_until_it_is_over() {
        let (now, password) = (Timestamp::UNIX_EPOCH, PasswordHash::new("$one"));
        let token = BrowserToken::issue(operator(1), &password, (&Sums, &Ones), now);
        let origin = |text: &str, operator, password: &str, at| {
            BrowserToken::origin(text, operator, &PasswordHash::new(password), &Sums, at)
        };
        let end = now + BrowserToken::LIFETIME;
        let text = token.expose();
        let known = origin(text, operator(1), "$one", end - Duration::from_millis(1));
        assert!(matches!(known, Some(Origin::Browser(_))));
        for (text, operator, password, at) in [
            (text, operator(1), "$one", end),
            (text, operator(2), "$one", now),
            (text, operator(1), "$two", now),
            (&text[2..], operator(1), "$one", now),
            (&text.replacen("01", "02", 1), operator(1), "$one", now),
            (&format!("{text}00"), operator(1), "$one", now),
            ("", operator(1), "$one", now),
        ] {
            assert_eq!(origin(text, operator, password, at), None, "{text} {password} {at}");
        }
        assert_eq!(format!("{token:?}"), "BrowserToken(…)");
    }
}
