use actix_web::http::header::{Accept, Quality};
use std::fmt::Write;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// The text format of Prometheus, 0.0.4, the only one that other agents know
    /// (prometheus.io/docs/instrumenting/exposition_formats).
    Text,
}

impl Format {
    /// The format that these media ranges prefer (RFC 9110, section 12.5.1); OpenMetrics if they
    /// prefer none.
    pub(crate) fn wanted(accepted: &Accept) -> Self {
        let quality = |kind: &str, subtype: &str| {
            // The most specific range decides; of several equally specific ones, such as versions,
            // the highest quality.
            let fitting = accepted.iter().filter_map(|range| {
                let exact = match (range.item.type_().as_str(), range.item.subtype().as_str()) {
                    (one, other) if one == kind && other == subtype => 2,
                    (one, "*") if one == kind => 1,
                    ("*", "*") => 0,
                    _ => return None,
                };
                Some((exact, range.quality))
            });
            fitting.max().map_or(Quality::ZERO, |(_, quality)| quality)
        };
        let text = quality("text", "plain") > quality("application", "openmetrics-text");
        if text { Self::Text } else { Self::OpenMetrics }
    }

    /// The value of `Content-Type`.
    pub(crate) const fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Text => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    /// Converts a page of OpenMetrics to this format. Our pages have no exemplars and no creation
    /// times.
    pub(crate) fn of_open_metrics(self, page: String) -> String {
        match self {
            Self::OpenMetrics => page,
            Self::Text => in_text(&page),
        }
    }
}

/// A family of counters is named like its series, including `_total`. Units and the end mark are
/// omitted, because they would be meaningless comments.
fn in_text(page: &str) -> String {
    let mut text = String::with_capacity(page.len() + page.len() / 16);
    let mut help = "";
    for line in page.lines() {
        if let Some((_, said)) = line.strip_prefix("# HELP ").and_then(|it| it.split_once(' ')) {
            help = said;
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap_or((rest, "untyped"));
            let total = if kind == "counter" { "_total" } else { "" };
            // Writing to a String cannot fail.
            let _ = writeln!(text, "# HELP {name}{total} {help}\n# TYPE {name}{total} {kind}");
        } else if !line.starts_with('#') {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::{self, Header};
    use actix_web::test::TestRequest;

    fn wanted(accept: &str) -> Format {
        let request = TestRequest::default().insert_header((header::ACCEPT, accept));
        Format::wanted(&Accept::parse(&request.to_http_request()).unwrap())
    }

    #[test]
    fn whoever_asks_for_text_alone_gets_it_and_others_open_metrics() {
        let prometheus = "application/openmetrics-text;version=1.0.0,\
                          application/openmetrics-text;version=0.0.1;q=0.75,\
                          text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        let newer = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,\
                     text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,*/*;q=0.1";
        for accept in [
            prometheus,
            newer,
            "",
            "*/*",
            "application/json",
            "text/plain;q=0",
            "text/html,*/*;q=0.8",
        ] {
            assert_eq!(wanted(accept), Format::OpenMetrics, "{accept}");
        }
        for accept in [
            "text/plain",
            "text/plain;version=0.0.4",
            "text/*",
            "text/plain;version=0.0.4;q=1,*/*;q=0.1",
            "application/openmetrics-text;q=0.3,text/plain",
        ] {
            assert_eq!(wanted(accept), Format::Text, "{accept}");
        }
    }

    #[test]
    fn a_family_of_counters_is_called_as_its_series_are() {
        let page = "# HELP dwar_sends Calls.\n# TYPE dwar_sends counter\ndwar_sends_total{a=\"b\"} 1\n\
                    # HELP dwar_x_seconds Time.\n# TYPE dwar_x_seconds gauge\n# UNIT dwar_x_seconds seconds\n\
                    dwar_x_seconds 2.0\n# EOF\n";
        let text = "# HELP dwar_sends_total Calls.\n# TYPE dwar_sends_total counter\n\
                    dwar_sends_total{a=\"b\"} 1\n# HELP dwar_x_seconds Time.\n\
                    # TYPE dwar_x_seconds gauge\ndwar_x_seconds 2.0\n";
        assert_eq!(Format::Text.of_open_metrics(page.to_owned()), text);
        assert_eq!(Format::OpenMetrics.of_open_metrics(page.to_owned()), page);
    }
}
