use dwar_operator::NoPasskey;
use sha2::{Digest, Sha256};

const USER_PRESENT: u8 = 0x01;
const USER_VERIFIED: u8 = 0x04;
const BACKUP_ELIGIBLE: u8 = 0x08;
const BACKED_UP: u8 = 0x10;
const HAS_CREDENTIAL: u8 = 0x40;
const HEAD: usize = 37;
const AAGUID: usize = 16;
/// The longest allowed credential id, in bytes (WebAuthn, section 7.1, step 25).
const LONGEST_ID: usize = 1_023;

/// The data that an authenticator signs together with the challenge (WebAuthn, section 6.1).
pub(crate) struct AuthenticatorData<'a> {
    site: &'a [u8],
    flags: u8,
    pub(crate) counter: u32,
    pub(crate) credential: Option<Credential<'a>>,
}

/// A new credential (WebAuthn, section 6.5.1).
pub(crate) struct Credential<'a> {
    pub(crate) id: &'a [u8],
    /// A COSE key; extensions may follow it.
    pub(crate) key: &'a [u8],
}

impl<'a> AuthenticatorData<'a> {
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, NoPasskey> {
        let short = || NoPasskey("the authenticator's data is cut off");
        let (head, rest) = bytes.split_at_checked(HEAD).ok_or_else(short)?;
        let (site, rest_of_head) = head.split_at(32);
        let [flags, counter @ ..] = rest_of_head else { return Err(short()) };
        let counter = counter.try_into().map_err(|_| short())?;
        let credential = match flags & HAS_CREDENTIAL {
            0 => None,
            _ => Some(credential(rest).ok_or_else(short)?),
        };
        Ok(Self { site, flags: *flags, counter: u32::from_be_bytes(counter), credential })
    }

    /// Checks that the data is for this site, and that the user was present and verified.
    pub(crate) fn of(&self, id: &str) -> Result<(), NoPasskey> {
        let has = |flag| self.flags & flag != 0;
        if self.site != Sha256::digest(id).as_slice() {
            return Err(NoPasskey("it is for another site"));
        }
        if !has(USER_PRESENT) || !has(USER_VERIFIED) {
            return Err(NoPasskey("the user was not verified"));
        }
        if has(BACKED_UP) && !has(BACKUP_ELIGIBLE) {
            return Err(NoPasskey("its flags contradict each other"));
        }
        Ok(())
    }
}

fn credential(bytes: &[u8]) -> Option<Credential<'_>> {
    let (length, rest) = bytes.get(AAGUID..)?.split_first_chunk()?;
    let length = usize::from(u16::from_be_bytes(*length));
    let (id, key) = rest.split_at_checked(length)?;
    (1..=LONGEST_ID).contains(&length).then_some(Credential { id, key })
}
