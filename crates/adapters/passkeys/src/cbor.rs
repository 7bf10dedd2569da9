//! Reads CBOR (RFC 8949): attestation objects and COSE keys.

use ciborium::Value;
use dwar_operator::NoPasskey;

/// Longer than the object of any authenticator: RSA with 4,096 bits needs some 800 bytes.
const LONGEST: usize = 16 << 10;

/// A map as received, with names of any type.
pub(crate) struct Map(Vec<(Value, Value)>);

impl Map {
    /// Reads the map at the start of `bytes`; ignores the rest.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let value = Some(bytes).filter(|it| it.len() <= LONGEST);
        ciborium::from_reader::<Value, _>(value?).ok()?.into_map().ok().map(Self)
    }

    pub(crate) fn bytes(&self, name: impl Into<Value>) -> Option<&[u8]> {
        self.get(name)?.as_bytes().map(Vec::as_slice)
    }

    pub(crate) fn number(&self, name: impl Into<Value>) -> Option<i32> {
        self.get(name)?.as_integer()?.try_into().ok()
    }

    /// `None` also for a repeated name, which would be ambiguous.
    fn get(&self, name: impl Into<Value>) -> Option<&Value> {
        let name = name.into();
        let mut found = self.0.iter().filter(|(known, _)| *known == name).map(|(_, value)| value);
        found.next().filter(|_| found.next().is_none())
    }
}

/// The authenticator data of an attestation object (WebAuthn, section 6.5.4). No attestation is
/// requested, so the manufacturer is not checked.
pub(crate) fn authenticator_data(object: &[u8]) -> Result<Vec<u8>, NoPasskey> {
    let data = Map::read(object).and_then(|map| map.bytes("authData").map(<[u8]>::to_vec));
    data.ok_or(NoPasskey("what the browser hands over cannot be read"))
}
