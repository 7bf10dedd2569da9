//! Logs as JSON. Each request has a line and a span, so both are written directly: without a map,
//! and without formatting a span's fields again for each of its lines.

use dwar_otlp::{is_traced, trace_id};
use std::fmt::{self, Debug, Write};
use tracing::field::{Field, Visit};
use tracing::span::Record;
use tracing::{Event, Subscriber};
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

/// Writes `{"timestamp":…,"level":…,…,"target":…,"span":{"name":…,…}}` and a line break: an event
/// with its fields among the others, and the innermost span with its fields. If the span is in a
/// trace, `"trace_id":"…"` precedes it. Spans that belong to traces are not shown.
#[derive(Clone, Copy)]
pub struct Json {
    pub traced: bool,
}

impl<S, N> FormatEvent<S, N> for Json
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut line: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let about = event.metadata();
        line.write_str("{\"timestamp\":\"")?;
        SystemTime.format_time(&mut line)?;
        write!(line, "\",\"level\":\"{}\"", about.level())?;
        let mut object = Object { text: &mut line, first: false, written: Ok(()) };
        event.record(&mut object);
        object.written?;
        write!(line, ",\"target\":\"{}\"", about.target())?;
        let mut within = context.parent_span();
        if self.traced {
            if let Some(id) = within.as_ref().and_then(trace_id) {
                write!(line, ",\"trace_id\":\"{id}\"")?;
            }
            within = within.and_then(|span| span.scope().find(|it| !is_traced(it.metadata())));
        }
        if let Some(span) = within {
            write!(line, ",\"span\":{{\"name\":\"{}\"", span.name())?;
            let known = span.extensions();
            let fields =
                known.get::<FormattedFields<N>>().and_then(|it| it.fields.strip_prefix('{'));
            match fields {
                None | Some("}") => line.write_char('}')?,
                Some(fields) => write!(line, ",{fields}")?,
            }
        }
        line.write_str("}\n")
    }
}

impl<'w> FormatFields<'w> for Json {
    fn format_fields<R: RecordFields>(&self, mut writer: Writer<'w>, fields: R) -> fmt::Result {
        writer.write_char('{')?;
        let mut object = Object { text: &mut writer, first: true, written: Ok(()) };
        fields.record(&mut object);
        object.written?;
        writer.write_char('}')
    }

    fn add_fields(
        &self,
        current: &'w mut FormattedFields<Self>,
        fields: &Record<'_>,
    ) -> fmt::Result {
        let text = &mut current.fields;
        if text.pop().is_none() {
            text.push('{');
        }
        let first = text.len() == 1;
        let mut object = Object { text, first, written: Ok(()) };
        fields.record(&mut object);
        object.written?;
        text.push('}');
        Ok(())
    }
}

struct Object<'t, W> {
    text: &'t mut W,
    first: bool,
    written: fmt::Result,
}

impl<W: Write> Object<'_, W> {
    fn put(&mut self, field: &Field, value: impl FnOnce(&mut W) -> fmt::Result) {
        let begin = if self.first { "\"" } else { ",\"" };
        self.first = false;
        self.written = self.written.and_then(|()| {
            self.text.write_str(begin)?;
            self.text.write_str(field.name())?;
            self.text.write_str("\":")?;
            value(self.text)
        });
    }
}

impl<W: Write> Visit for Object<'_, W> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, |text| {
            text.write_char('"')?;
            Escaping(&mut *text).write_str(value)?;
            text.write_char('"')
        });
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, |text| write!(text, "{value}"));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, |text| write!(text, "{value}"));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, |text| write!(text, "{value}"));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, |text| match value.is_finite() {
            true => write!(text, "{value}"),
            false => text.write_str("null"),
        });
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.put(field, |text| {
            text.write_char('"')?;
            write!(Escaping(&mut *text), "{value:?}")?;
            text.write_char('"')
        });
    }
}

struct Escaping<'t, W>(&'t mut W);

impl<W: Write> Write for Escaping<'_, W> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let is_plain = |byte: u8| (b' '..0x7f).contains(&byte) && byte != b'"' && byte != b'\\';
        if part.bytes().all(is_plain) {
            return self.0.write_str(part);
        }
        let quoted = serde_json::Value::from(part).to_string();
        self.0.write_str(quoted.get(1..quoted.len() - 1).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::Json;
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};
    use tracing::field::{Empty, display};
    use tracing_subscriber::fmt::MakeWriter;

    const JSON: Json = Json { traced: false };

    #[derive(Clone, Default)]
    struct Page(Arc<Mutex<Vec<u8>>>);

    impl Write for Page {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl MakeWriter<'_> for Page {
        type Writer = Self;

        fn make_writer(&self) -> Self {
            self.clone()
        }
    }

    fn told(inside: impl FnOnce()) -> String {
        let page = Page::default();
        let builder = tracing_subscriber::fmt().event_format(JSON).fmt_fields(JSON);
        tracing::subscriber::with_default(builder.with_writer(page.clone()).finish(), inside);
        String::from_utf8(page.0.lock().unwrap().clone()).unwrap()
    }

    fn span(inside: impl FnOnce()) -> serde_json::Value {
        serde_json::from_str::<serde_json::Value>(&told(inside)).unwrap()["span"].clone()
    }

    #[test]
    fn a_line_says_when_and_what_and_where() {
        let odd = "a \"b\" \\ \u{7} 🚪\n";
        let line = told(|| {
            let (one, less, half, none) = (1_u64, -2_i64, 0.5_f64, None::<&str>);
            tracing::warn!(target: "dwar::there", one, less, half, none, no = f64::NAN, odd,
                yes = true, shown = %odd, "{} of {odd}", "told");
        });
        let (head, rest) = line.split_at("{\"timestamp\":\"2026-11-21T08:23:43.356308Z\"".len());
        let at = head.strip_prefix("{\"timestamp\":\"").unwrap().trim_end_matches('"');
        assert!(at.parse::<dwar_kernel::Timestamp>().is_ok(), "{at}");
        let quoted = serde_json::Value::from(odd).to_string();
        let inner = &quoted[1..quoted.len() - 1];
        let wanted = format!(
            ",\"level\":\"WARN\",\"message\":\"told of {inner}\",\"one\":1,\"less\":-2,\"half\":0.5,\
             \"no\":null,\"odd\":{quoted},\"yes\":true,\"shown\":{quoted},\
             \"target\":\"dwar::there\"}}\n"
        );
        assert_eq!(rest, wanted);
    }

    #[test]
    fn lines_quote_the_fields_of_their_span() {
        let odd = "a \"b\" \\ \u{7} 🚪";
        let span = span(|| {
            let (one, more, late) = (1_u64, -2_i64, Empty);
            let span = tracing::error_span!("s", id = "x-1", odd, one, more, yes = true, late);
            span.record("late", display("+9190••••0002"));
            span.in_scope(|| tracing::error!("told"));
        });
        let wanted = serde_json::json!({
            "name": "s", "id": "x-1", "odd": odd, "one": 1, "more": -2, "yes": true,
            "late": "+9190••••0002",
        });
        assert_eq!(span, wanted);
    }

    #[test]
    fn a_span_may_begin_without_fields() {
        let span = span(|| {
            let span = tracing::error_span!("s", late = Empty);
            span.record("late", "now");
            span.in_scope(|| tracing::error!("told"));
        });
        assert_eq!(span, serde_json::json!({ "name": "s", "late": "now" }));
    }

    #[test]
    fn a_span_may_have_no_fields() {
        let span = span(|| tracing::error_span!("s").in_scope(|| tracing::error!("told")));
        assert_eq!(span, serde_json::json!({ "name": "s" }));
    }
}
