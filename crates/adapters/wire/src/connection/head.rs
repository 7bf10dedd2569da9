use memchr::{memchr, memchr_iter};

/// The longest accepted head, in bytes; a longer one is answered 431 (RFC 6585 section 5).
pub(super) const LONGEST: usize = 16 * 1_024;

const CONTENT_LENGTH: &[u8] = b"content-length:";

/// Finds the end of a head that arrives in pieces, without reading a byte twice.
#[derive(Default)]
pub(super) struct HeadSearch {
    /// No byte before this index ends the head.
    from: usize,
    /// Whether the empty lines that may precede a head (RFC 9112 section 2.2) were skipped.
    begun: bool,
}

impl HeadSearch {
    /// Returns the index after the head at the start of `bytes`, once the head is complete: after
    /// the first empty line.
    ///
    /// `bytes` must begin with those of the last call. A bare LF ends a line, as it does for the
    /// parser (RFC 9112 section 2.2), so this never finds a later end than the parser.
    pub(super) fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        if !self.begun {
            let rest = bytes.get(self.from..).unwrap_or_default();
            let blank = rest.iter().take_while(|&&byte| byte == b'\r' || byte == b'\n').count();
            self.from += blank;
            self.begun = blank < rest.len();
        }
        while let Some(line_end) = memchr(b'\n', bytes.get(self.from..)?) {
            let next = self.from + line_end + 1;
            match (bytes.get(next), bytes.get(next + 1)) {
                (Some(b'\n'), _) => return Some(next + 1),
                (Some(b'\r'), Some(b'\n')) => return Some(next + 2),
                // Undecided: this line end is checked again when more bytes arrive.
                (None, _) | (Some(b'\r'), None) => {
                    self.from = next - 1;
                    return None;
                }
                _ => self.from = next,
            }
        }
        self.from = bytes.len();
        None
    }
}

/// The `Content-Length` of a whole head, if it is a plain number.
///
/// Used only to decide whether bytes that arrived with the head may be its body. The parser decides
/// what the body is.
pub(super) fn declared_length(head: &[u8]) -> Option<u64> {
    let value = memchr_iter(b'\n', head).find_map(|line_end| {
        let line = head.get(line_end + 1..)?;
        let name = line.get(..CONTENT_LENGTH.len())?;
        name.eq_ignore_ascii_case(CONTENT_LENGTH).then(|| &line[CONTENT_LENGTH.len()..])
    })?;
    let value = value.get(..memchr(b'\n', value)?)?.trim_ascii();
    std::str::from_utf8(value).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches after each byte, and checks that the result does not depend on the pieces.
    fn end(bytes: &[u8]) -> Option<usize> {
        let mut piecemeal = HeadSearch::default();
        let found = (1..=bytes.len()).find_map(|count| piecemeal.end(&bytes[..count]));
        assert_eq!(found, HeadSearch::default().end(bytes), "{:?}", String::from_utf8_lossy(bytes));
        found
    }

    #[test]
    fn a_head_ends_behind_its_first_empty_line() {
        for (head, rest) in [
            ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "GET"),
            ("GET / HTTP/1.0\r\n\r\n", ""),
            ("GET / HTTP/1.1\nHost: x\n\n", "\n\n"),
            ("GET / HTTP/1.1\r\nHost: x\n\r\n", "\r\n\r\n"),
            ("\r\n\n\r\nGET / HTTP/1.1\r\n\r\n", "rest\r\n\r\n"),
        ] {
            assert_eq!(end(format!("{head}{rest}").as_bytes()), Some(head.len()), "{head:?}");
        }
    }

    #[test]
    fn what_has_no_empty_line_has_no_end() {
        let open =
            ["", "\r\n\r\n\r\n", "GET / HTTP/1.1", "GET /\r\nHost: x\r\n", "a\r\n\r", "a\n\rb\n"];
        assert!(open.iter().all(|text| end(text.as_bytes()).is_none()));
    }

    #[test]
    fn reads_a_plain_content_length_only() {
        let length = |line: &str| declared_length(format!("POST / H\r\n{line}\r\n\r\n").as_bytes());
        assert_eq!(length("Content-Length: 12"), Some(12));
        assert_eq!(length("Host: x\r\ncontent-LENGTH:\t7 "), Some(7));
        for other in [
            "",
            "X: Content-Length: 5",
            "Content-Length: ",
            "Content-Length: 1 2",
            "Content-Length : 5",
        ] {
            assert_eq!(length(other), None, "{other}");
        }
    }
}
