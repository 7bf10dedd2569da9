use dwar_kernel::{BlindIndex, IdentityId, ProjectMode, Purpose, Timestamp, Vault};
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use subtle::ConstantTimeEq;
use uuid::Uuid;
use zeroize::Zeroizing;

const PREFIX: &str = "svc_dt_";
const HEX: &[u8; 16] = b"0123456789abcdef";
/// Length of identity, expiry and MAC in hexadecimal.
const BODY: usize = 2 * (16 + 8 + 32);

/// Proof that a phone logged in on a device before: `svc_dt_`, then three parts in hexadecimal: the identity, the
/// expiry, and a MAC. The MAC covers both, the project, the mode and the phone. Opaque to callers.
///
/// It gives no access; it only keeps strangers who guess at the phone from locking its owner out. Nothing of it is
/// stored. It is worth nothing once its identity is deleted, which the caller has to check. `Debug` hides it.
#[derive(Clone)]
pub struct DeviceToken(Zeroizing<String>);

impl DeviceToken {
    /// Validity of a token: 180 days. Each login issues a new one.
    pub const LIFETIME: Duration = Duration::from_secs(180 * 24 * 3_600);

    /// Makes a token for the phone of this identity, valid for [`DeviceToken::LIFETIME`].
    pub fn issue(
        (project_mode, phone): (ProjectMode, &BlindIndex),
        identity: IdentityId,
        vault: &dyn Vault,
        now: Timestamp,
    ) -> Self {
        let until = (now + Self::LIFETIME).timestamp_millis();
        Self::of((project_mode, phone), identity.uuid(), until, vault)
    }

    /// The token in clear, for the one answer that carries it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The identity that the token was issued for; `None` unless it was issued for this project, mode and phone and
    /// has not expired at `now`.
    pub fn identity(
        &self,
        (project_mode, phone): (ProjectMode, &BlindIndex),
        vault: &dyn Vault,
        now: Timestamp,
    ) -> Option<IdentityId> {
        let body = self.0.strip_prefix(PREFIX).filter(|body| body.len() == BODY)?;
        let identity = Uuid::from_u128(u128::from_str_radix(body.get(..32)?, 16).ok()?);
        let until = i64::from_str_radix(body.get(32..48)?, 16).ok()?;
        let issued = Self::of((project_mode, phone), identity, until, vault);
        // A mismatch means a wrong MAC, or another spelling of the same numbers.
        let is_genuine = bool::from(issued.0.as_bytes().ct_eq(self.0.as_bytes()));
        let is_valid = is_genuine && now < Timestamp::from_timestamp_millis(until)?;
        is_valid.then(|| identity.into())
    }

    fn of(
        (project_mode, phone): (ProjectMode, &BlindIndex),
        identity: Uuid,
        until: i64,
        vault: &dyn Vault,
    ) -> Self {
        let (project, mode) = (project_mode.project.uuid(), project_mode.mode.as_str());
        let until = until.to_be_bytes();
        let parts: [&[u8]; 5] =
            [project.as_bytes(), mode.as_bytes(), &phone.0, identity.as_bytes(), &until];
        let mac = vault.digest(Purpose::Device, &parts);
        // Allocated at full length, so that growing leaves no copy in memory.
        let mut text = Zeroizing::new(String::with_capacity(PREFIX.len() + BODY));
        text.push_str(PREFIX);
        let bytes = parts[3..].iter().copied().flatten().chain(&mac.0);
        let digits = bytes.flat_map(|byte| [byte >> 4, byte & 15]);
        text.extend(digits.map(|digit| char::from(HEX[usize::from(digit)])));
        Self(text)
    }
}

/// Takes any text: what a client shows is checked by [`DeviceToken::identity`].
impl FromStr for DeviceToken {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(Zeroizing::new(text.to_owned())))
    }
}

impl fmt::Debug for DeviceToken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{PREFIX}…")
    }
}

#[cfg(test)]
#[path = "device_tests.rs"]
mod tests;
