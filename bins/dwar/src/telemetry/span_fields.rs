//! The fields of a span as JSON. Each request has a span and most have no line in it, so the fields
//! are written as they come: without a map, and without reading them again when one is added.

use std::fmt::{self, Debug, Write};
use tracing::field::{Field, Visit};
use tracing::span::Record;
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FormatFields, FormattedFields};

/// Writes `{"name":value,…}`, which the lines within the span quote.
pub struct SpanFields;

impl<'w> FormatFields<'w> for SpanFields {
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
        let comma = if self.first { "" } else { "," };
        self.first = false;
        let written = self.written;
        self.written = written
            .and_then(|()| write!(self.text, "{comma}\"{}\":", field.name()))
            .and_then(|()| value(self.text));
    }
}

impl<W: Write> Visit for Object<'_, W> {
    fn record_str(&mut self, field: &Field, value: &str) {
        let is_plain = |byte: u8| (b' '..0x7f).contains(&byte) && byte != b'"' && byte != b'\\';
        self.put(field, |text| match value.bytes().all(is_plain) {
            true => write!(text, "\"{value}\""),
            false => write!(text, "{}", serde_json::Value::from(value)),
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

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use super::SpanFields;
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};
    use tracing::field::{Empty, display};
    use tracing_subscriber::fmt::MakeWriter;

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

    fn told(inside: impl FnOnce()) -> serde_json::Value {
        let page = Page::default();
        let builder = tracing_subscriber::fmt().json().flatten_event(true).with_span_list(false);
        let log = builder.fmt_fields(SpanFields).with_writer(page.clone()).finish();
        tracing::subscriber::with_default(log, inside);
        let lines = page.0.lock().unwrap();
        serde_json::from_slice::<serde_json::Value>(&lines).unwrap()["span"].clone()
    }

    #[test]
    fn lines_quote_the_fields_of_their_span() {
        let odd = "a \"b\" \\ \u{7} 🚪";
        let span = told(|| {
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
        let span = told(|| {
            let span = tracing::error_span!("s", late = Empty);
            span.record("late", "now");
            span.in_scope(|| tracing::error!("told"));
        });
        assert_eq!(span, serde_json::json!({ "name": "s", "late": "now" }));
    }
}
