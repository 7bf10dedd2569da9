use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// Address and device of a sign-in, as far as known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Client {
    pub address: Option<IpAddr>,
    pub device: Option<Device>,
}

/// Name of a browser and its device, such as «Chrome on Windows».
///
/// It consists only of words listed in this file, and of no text that a browser sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device(String);

/// Parse error: the text is not a device name.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the name of a device")]
pub struct MalformedDevice;

/// Substrings of `User-Agent`, and the names of the browsers. Most browsers name others besides themselves,
/// so the first match counts.
const BROWSERS: [(&str, &str); 11] = [
    ("Edg/", "Edge"),
    ("EdgA/", "Edge"),
    ("EdgiOS/", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
];
const SYSTEMS: [(&str, &str); 8] = [
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Macintosh", "Mac"),
    ("Linux", "Linux"),
    ("FreeBSD", "FreeBSD"),
];

impl Device {
    const LONGEST: usize = 60;

    /// The device that sent this `User-Agent`; `None` for an unknown browser.
    pub fn of(user_agent: &str) -> Option<Self> {
        let first = |known: &[(&str, &'static str)]| {
            known.iter().find(|(mark, _)| user_agent.contains(mark)).map(|(_, name)| *name)
        };
        let browser = first(&BROWSERS)?;
        Some(Self(match first(&SYSTEMS) {
            Some(system) => format!("{browser} on {system}"),
            None => browser.to_owned(),
        }))
    }

    /// For example `Edge on Windows`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Device {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Parses a stored name, which may contain words of a later version.
impl FromStr for Device {
    type Err = MalformedDevice;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b' ';
        let fits = (1..=Self::LONGEST).contains(&text.len()) && text.bytes().all(known);
        if fits { Ok(Self(text.to_owned())) } else { Err(MalformedDevice) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_called_what_people_call_it() {
        let webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";
        for (agent, name) in [
            (format!("Mozilla/5.0 (Windows NT 10.0; Win64; x64) {webkit} Chrome/140.0.0.0 Safari/537.36"), "Chrome on Windows"),
            (format!("Mozilla/5.0 (Windows NT 10.0) {webkit} Chrome/140.0 Safari/537.36 Edg/140.0"), "Edge on Windows"),
            (format!("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) {webkit} Version/18.0 Mobile/15E148 Safari/604.1"), "Safari on iPhone"),
            (format!("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) {webkit} CriOS/140.0 Mobile/15E148 Safari/604.1"), "Chrome on iPhone"),
            (format!("Mozilla/5.0 (Linux; Android 15; SM-S911B) {webkit} SamsungBrowser/28.0 Chrome/130.0 Mobile Safari/537.36"), "Samsung Internet on Android"),
            ("Mozilla/5.0 (Macintosh; Intel Mac OS X 15.0; rv:143.0) Gecko/20100101 Firefox/143.0".to_owned(), "Firefox on Mac"),
            ("Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0".to_owned(), "Firefox on Linux"),
            ("curl/8.5.0".to_owned(), "curl"),
        ] {
            assert_eq!(Device::of(&agent).unwrap().as_str(), name, "{agent}");
        }
        for unknown in ["", "Windows", "<script>alert(1)</script>", "Mozilla/5.0 (iPhone)"] {
            assert_eq!(Device::of(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn every_name_is_read_as_it_was_written() {
        for (browser, _) in BROWSERS {
            for (system, _) in SYSTEMS {
                let device = Device::of(&format!("{browser} {system}")).unwrap();
                assert_eq!(device.to_string().parse(), Ok(device));
            }
        }
        for text in ["", "Chrome\non Windows", "<b>", &"a".repeat(61)] {
            assert_eq!(text.parse::<Device>(), Err(MalformedDevice), "{text}");
        }
    }
}
