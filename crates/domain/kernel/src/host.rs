use std::net::IpAddr;

/// Whether a host means this machine: `localhost`, or a loopback address without brackets. Does no DNS
/// look-up.
pub fn is_this_machine(host: &str) -> bool {
    let address = host.parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost")
        || address.is_ok_and(|address| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_and_its_name_are_this_machine() {
        for host in ["localhost", "LocalHost", "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"]
        {
            assert!(is_this_machine(host), "{host}");
        }
        for host in ["", "0.0.0.0", "::", "10.0.0.1", "127.1", "localhost.example", "[::1]"] {
            assert!(!is_this_machine(host), "{host}");
        }
    }
}
