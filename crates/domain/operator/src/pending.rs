use crate::Operator;
use crate::ticket::Ticket;
use dwar_kernel::{Entropy, OperatorId, Purpose, Timestamp, Vault};
use std::fmt;
use std::time::Duration;
use uuid::Uuid;
use zeroize::Zeroizing;

const ID: usize = 16;

/// Cookie of a browser between the right password and the code of an authenticator app.
///
/// Nothing of it is stored. It is bound to the operator, the password and the last used code: the first code
/// that signs in the operator invalidates it, wherever that code is entered. `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct PendingSignIn(Zeroizing<String>);

impl PendingSignIn {
    /// Most time between password and code: five minutes.
    pub const LIFETIME: Duration = Duration::from_secs(300);

    /// Makes one for an operator whose password was right; `None` if the operator has no second factor.
    pub fn issue(
        operator: &Operator,
        (vault, entropy): (&dyn Vault, &dyn Entropy),
        now: Timestamp,
    ) -> Option<Self> {
        let about = about(operator)?;
        let (id, until) = (operator.id.uuid(), now + Self::LIFETIME);
        let ticket = Ticket::issue((vault, Purpose::OperatorPending), &[&about], until, entropy);
        let bytes = [id.as_bytes().as_slice(), ticket.as_bytes()].concat();
        Some(Self(Zeroizing::new(base16ct::lower::encode_string(&bytes))))
    }

    /// The cookie value, which only the browser may get.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The operator that the text claims to belong to; [`PendingSignIn::is_open`] verifies the claim.
    pub fn operator(text: &str) -> Option<OperatorId> {
        let (bytes, _) = read(text)?;
        Some(Uuid::from_bytes(bytes).into())
    }

    /// Whether the text was made for this operator, whose password and last code are unchanged, and has not
    /// expired.
    pub fn is_open(text: &str, operator: &Operator, vault: &dyn Vault, now: Timestamp) -> bool {
        let (Some((id, ticket)), Some(about)) = (read(text), about(operator)) else { return false };
        let key = (vault, Purpose::OperatorPending);
        id == *operator.id.uuid().as_bytes() && Ticket::read(&ticket, key, &[&about], now).is_some()
    }
}

impl fmt::Debug for PendingSignIn {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("PendingSignIn(…)")
    }
}

fn read(text: &str) -> Option<([u8; ID], [u8; Ticket::LENGTH])> {
    let mut bytes = [0; ID + Ticket::LENGTH];
    let (id, ticket) = base16ct::lower::decode(text, &mut bytes).ok()?.split_at_checked(ID)?;
    Some((id.try_into().ok()?, ticket.try_into().ok()?))
}

/// Two parts of fixed length come before the hash, so that no two operators give the same bytes.
fn about(operator: &Operator) -> Option<Vec<u8>> {
    let (password, totp) = (operator.password.as_ref()?, operator.totp.as_ref()?);
    let (id, step) = (operator.id.uuid(), totp.last_step.to_be_bytes());
    Some([id.as_bytes().as_slice(), &step, password.as_str().as_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{Ones, Sums};
    use crate::{Access, PasswordHash, Totp};
    use dwar_kernel::Sealed;

    fn operator(last: u8) -> Operator {
        Operator {
            id: format!("00000000-0000-7000-8000-0000000000{last:02}").parse().unwrap(),
            name: "Asha".parse().unwrap(),
            access: Access::everything(),
            password: Some(PasswordHash::new("$one")),
            totp: Some(Totp { secret: Sealed(vec![1]), last_step: 7 }),
            created_at: Timestamp::UNIX_EPOCH,
            signed_in_at: None,
        }
    }

    #[test]
    fn it_counts_for_its_operator_until_a_code_is_used_or_five_minutes_are_over() {
        let (now, asha) = (Timestamp::UNIX_EPOCH, operator(1));
        let pending = PendingSignIn::issue(&asha, (&Sums, &Ones), now).unwrap();
        let (text, end) = (pending.expose(), now + PendingSignIn::LIFETIME);
        assert_eq!(PendingSignIn::operator(text), Some(asha.id));
        let last = end - Duration::from_millis(1);
        assert!(PendingSignIn::is_open(text, &asha, &Sums, last));
        assert!(!PendingSignIn::is_open(text, &asha, &Sums, end));
        let totp = asha.totp.clone().map(|totp| Totp { last_step: 8, ..totp });
        for other in [
            operator(2),
            Operator { id: operator(2).id, ..asha.clone() },
            Operator { password: Some(PasswordHash::new("$two")), ..asha.clone() },
            Operator { totp, ..asha.clone() },
            Operator { totp: None, ..asha.clone() },
        ] {
            assert!(!PendingSignIn::is_open(text, &other, &Sums, now), "{other:?}");
        }
        for made_up in ["", "x", &text[2..], &format!("{text}00"), &text.replacen("00", "01", 1)] {
            assert!(!PendingSignIn::is_open(made_up, &asha, &Sums, now), "{made_up}");
        }
        assert_eq!(format!("{pending:?}"), "PendingSignIn(…)");
    }

    #[test]
    fn whoever_has_no_second_factor_is_asked_for_no_code() {
        let plain = Operator { totp: None, ..operator(1) };
        let pending = PendingSignIn::issue(&plain, (&Sums, &Ones), Timestamp::UNIX_EPOCH);
        assert_eq!(pending, None);
    }
}
