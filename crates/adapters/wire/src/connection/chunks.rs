use memchr::memchr;

/// Finds the end of a chunked body (RFC 9112 section 7.1) without decoding it.
///
/// Accepts exactly the bodies that the parser behind it accepts; others are [`Malformed`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ChunkedBody {
    #[default]
    Size,
    SizeRest(u64),
    SizeSpace(u64),
    Extension(u64),
    SizeEnd(u64),
    Data(u64),
    DataReturn,
    DataEnd,
    LastReturn,
    Trailer,
    TrailerEnd,
    LastEnd,
    Done,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed;

impl ChunkedBody {
    /// Scans `bytes` and returns how many of them belong to the body.
    pub(super) fn follow(&mut self, bytes: &[u8]) -> Result<usize, Malformed> {
        let mut at = 0;
        while at < bytes.len() && *self != Self::Done {
            at += match *self {
                Self::Data(left) => {
                    let here = (bytes.len() - at).min(usize::try_from(left).unwrap_or(usize::MAX));
                    let left = left - here as u64;
                    *self = if left > 0 { Self::Data(left) } else { Self::DataReturn };
                    here
                }
                Self::Trailer => match memchr(b'\r', &bytes[at..]) {
                    Some(end) => {
                        *self = Self::TrailerEnd;
                        end + 1
                    }
                    None => bytes.len() - at,
                },
                _ => {
                    *self = self.step(bytes[at])?;
                    1
                }
            };
        }
        Ok(at)
    }

    fn step(self, byte: u8) -> Result<Self, Malformed> {
        let digit = char::from(byte).to_digit(16).map(u64::from);
        Ok(match (self, byte) {
            (Self::Size, _) => Self::SizeRest(digit.ok_or(Malformed)?),
            (Self::SizeRest(size), b' ' | b'\t') => Self::SizeSpace(size),
            (Self::SizeRest(size) | Self::SizeSpace(size), b';') => Self::Extension(size),
            (Self::SizeRest(size) | Self::SizeSpace(size) | Self::Extension(size), b'\r') => {
                Self::SizeEnd(size)
            }
            (Self::SizeRest(size), _) => {
                let digit = digit.ok_or(Malformed)?;
                Self::SizeRest(size.checked_mul(16).ok_or(Malformed)? + digit)
            }
            (Self::SizeSpace(size), b' ' | b'\t') => Self::SizeSpace(size),
            (Self::Extension(size), b'\t' | 0x20..=0x7e | 0x80..) => Self::Extension(size),
            (Self::SizeEnd(0), b'\n') => Self::LastReturn,
            (Self::SizeEnd(size), b'\n') => Self::Data(size),
            (Self::DataReturn, b'\r') => Self::DataEnd,
            (Self::DataEnd, b'\n') => Self::Size,
            (Self::LastReturn, b'\r') => Self::LastEnd,
            (Self::LastReturn, _) => Self::Trailer,
            (Self::TrailerEnd, b'\n') => Self::LastReturn,
            (Self::LastEnd, b'\n') => Self::Done,
            _ => return Err(Malformed),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Follows the body as a whole and byte by byte, and checks that the result is the same.
    fn follow(bytes: &[u8]) -> Result<(usize, bool), Malformed> {
        let mut whole = ChunkedBody::default();
        let taken = whole.follow(bytes);
        let mut piecemeal = ChunkedBody::default();
        let sum: Result<usize, Malformed> =
            bytes.iter().map(|byte| piecemeal.follow(&[*byte])).sum();
        assert_eq!(taken, sum);
        taken.map(|taken| (taken, whole == ChunkedBody::Done))
    }

    #[test]
    fn a_body_ends_behind_its_trailers() {
        for body in [
            "0\r\n\r\n",
            "3\r\nabc\r\n0\r\n\r\n",
            "a;name=\"v\"\r\n0123\r\n\r\n89\r\n00 \t\r\n\r\n",
            "4 ;x\r\n\r\n\r\n\r\n0\r\nTrailer: 1\r\nOther: 2\r\n\r\n",
        ] {
            let pipelined = format!("{body}GET / HTTP/1.1\r\n\r\n");
            assert_eq!(follow(pipelined.as_bytes()), Ok((body.len(), true)), "{body:?}");
            let open = &body.as_bytes()[..body.len() - 1];
            assert_eq!(follow(open), Ok((open.len(), false)), "{body:?}");
        }
    }

    #[test]
    fn what_is_malformed_is_told() {
        for body in [
            "\r\n",
            "x\r\n",
            "1\n",
            "1\r\r",
            "1\r\nab\r\n",
            "1\r\na\n",
            "1 2\r\n",
            "1;\n\r\n",
            "ffffffffffffffff0\r\n",
            "0\r\n\rx",
            "0\r\nT: 1\rx",
        ] {
            assert_eq!(follow(body.as_bytes()), Err(Malformed), "{body:?}");
        }
    }
}
