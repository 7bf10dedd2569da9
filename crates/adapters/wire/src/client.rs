use actix_web::HttpRequest;
use actix_web::http::header;
use std::net::{IpAddr, SocketAddr};

/// The client's address of a request: the address of the peer, or behind a proxy the one that the
/// proxy recorded, which is the last element of the last `X-Forwarded-For` line.
///
/// All lines of the header form one list (RFC 9110 section 5.3). A proxy appends to its end, in the
/// same line or a new one. Everything before was sent by the client and is never trusted. If the
/// last element is not an address, the peer's is used. `None` if there is no peer, as in a call
/// within the process.
pub fn client_address(request: &HttpRequest, behind_proxy: bool) -> Option<IpAddr> {
    let written = if behind_proxy { forwarded(request) } else { None };
    let address = written.or_else(|| request.peer_addr().map(|peer| peer.ip()));
    // An IPv4 client gets the same address on either kind of socket.
    address.map(|address| address.to_canonical())
}

fn forwarded(request: &HttpRequest) -> Option<IpAddr> {
    let line = request.headers().get_all(header::X_FORWARDED_FOR).last()?;
    // The client's elements may contain any bytes, which must not hide the last element.
    let last = line.as_bytes().rsplit(|byte| *byte == b',').next()?;
    read(std::str::from_utf8(last).ok()?.trim())
}

/// Parses an address as proxies write it: plain, in brackets, or followed by a port.
fn read(text: &str) -> Option<IpAddr> {
    let plain = || text.strip_prefix('[')?.strip_suffix(']');
    let with_port = || text.parse::<SocketAddr>().ok().map(|socket| socket.ip());
    plain().unwrap_or(text).parse().ok().or_else(with_port)
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;
    use actix_web::test::TestRequest;

    const PEER: &str = "10.0.0.1";

    fn seen(lines: &[&[u8]], behind_proxy: bool) -> String {
        let request = TestRequest::default().peer_addr(format!("{PEER}:4711").parse().unwrap());
        let request = lines.iter().fold(request, |request, line| {
            request.append_header((header::X_FORWARDED_FOR, HeaderValue::from_bytes(line).unwrap()))
        });
        client_address(&request.to_http_request(), behind_proxy).unwrap().to_string()
    }

    #[test]
    fn the_last_element_of_the_last_line_counts() {
        for (lines, client) in [
            (&["9.9.9.9"][..], "9.9.9.9"),
            (&["6.6.6.6, 9.9.9.9"], "9.9.9.9"),
            (&["6.6.6.6", "9.9.9.9"], "9.9.9.9"),
            (&["6.6.6.6, 7.7.7.7", "8.8.8.8 ,\t9.9.9.9 "], "9.9.9.9"),
            (&["6.6.6.6", "2001:db8::9"], "2001:db8::9"),
        ] {
            let lines: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
            assert_eq!(seen(&lines, true), client);
        }
    }

    #[test]
    fn what_a_client_writes_before_it_does_not_hide_it() {
        assert_eq!(seen(&[b"\xff\xe9, 9.9.9.9"], true), "9.9.9.9");
        assert_eq!(seen(&[b"\xff", b"9.9.9.9"], true), "9.9.9.9");
    }

    #[test]
    fn a_port_or_brackets_make_no_other_client() {
        for written in ["9.9.9.9:1", "::ffff:9.9.9.9", "[::ffff:9.9.9.9]:65535"] {
            assert_eq!(seen(&[written.as_bytes()], true), "9.9.9.9", "{written}");
        }
        for written in ["2001:db8::9", "[2001:db8::9]", "[2001:db8::9]:443", "2001:DB8:0::9"] {
            assert_eq!(seen(&[written.as_bytes()], true), "2001:db8::9", "{written}");
        }
    }

    #[test]
    fn nothing_before_an_unreadable_last_element_is_believed() {
        for last in ["", "unknown", "_hidden", "9.9.9", "9.9.9.9:", "[9.9.9.9", "9.9.9.9;6.6.6.6"] {
            assert_eq!(seen(&[format!("6.6.6.6,{last}").as_bytes()], true), PEER, "{last}");
            assert_eq!(seen(&[b"6.6.6.6", last.as_bytes()], true), PEER, "{last}");
        }
        assert_eq!(seen(&[b"6.6.6.6, \xff"], true), PEER);
        assert_eq!(seen(&[], true), PEER);
    }

    #[test]
    fn without_a_proxy_the_header_is_the_clients_own() {
        assert_eq!(seen(&[b"6.6.6.6"], false), PEER);
    }
}
