use opentelemetry::trace::{SpanId, TraceId};

/// Parses a W3C `traceparent` and returns the trace and the calling span. Ignores its flags.
pub(crate) fn parse(text: &str) -> Option<(TraceId, SpanId)> {
    let mut fields = text.splitn(5, '-');
    let mut digits = |count: usize| {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        fields.next().filter(|field| field.len() == count && field.bytes().all(is_digit))
    };
    let (version, trace, span, _flags) = (digits(2)?, digits(32)?, digits(16)?, digits(2)?);
    // Later versions may add fields.
    if version == "ff" || version == "00" && fields.next().is_some() {
        return None;
    }
    let (trace, span) = (TraceId::from_hex(trace).ok()?, SpanId::from_hex(span).ok()?);
    (trace != TraceId::INVALID && span != SpanId::INVALID).then_some((trace, span))
}

#[cfg(test)]
mod tests {
    use super::parse;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &str = "00f067aa0ba902b7";

    #[test]
    fn names_a_trace_and_a_span() {
        for text in [
            format!("00-{TRACE}-{SPAN}-01"),
            format!("00-{TRACE}-{SPAN}-00"),
            format!("cc-{TRACE}-{SPAN}-01-of-a-later-version"),
        ] {
            let (trace, span) = parse(&text).unwrap();
            assert_eq!((trace.to_string(), span.to_string()), (TRACE.to_owned(), SPAN.to_owned()));
        }
    }

    #[test]
    fn or_nothing_at_all() {
        let (no_trace, no_span) = ("0".repeat(32), "0".repeat(16));
        for text in [
            String::new(),
            "awaited".to_owned(),
            format!("00-{TRACE}-{SPAN}"),
            format!("00-{TRACE}-{SPAN}-01-more"),
            format!("ff-{TRACE}-{SPAN}-01"),
            format!("00-{no_trace}-{SPAN}-01"),
            format!("00-{TRACE}-{no_span}-01"),
            format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
            format!("00-{TRACE}{SPAN}-01"),
            format!(" 00-{TRACE}-{SPAN}-01"),
            format!("00-{TRACE}-+0f067aa0ba902b7-01"),
        ] {
            assert_eq!(parse(&text), None, "{text}");
        }
    }
}
