//! The spans of calls to the database.

use crate::SYSTEM;
use dwar_kernel::{StoreError, TRACE};
use tracing::Instrument;
use tracing::field::Empty;

/// Does a call to the database as a span of the trace that it is part of, if there is one. `who` is the type
/// of what is done, of which [`operation`] makes a name.
pub(crate) async fn traced<T>(
    who: &'static str,
    call: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let span = tracing::error_span!(
        target: TRACE,
        "store call",
        otel.kind = "client",
        otel.name = operation(who),
        db.system.name = SYSTEM,
        db.operation.name = operation(who),
        error.r#type = Empty,
    );
    let done = call.instrument(span.clone()).await;
    if let Err(cause) = &done {
        span.record("error.type", word(cause));
    }
    done
}

/// What a type of what is done is called: a closure by the crate of the port and the method that wrote it, such as
/// `session.rotate`, or by module and method where no port is implemented; another type by the modules that it stands
/// in, such as `login.prepare`.
///
/// How the compiler writes types is its own affair: were that to change, spans would have other names.
fn operation(who: &str) -> String {
    let port = who.strip_prefix('<').and_then(|rest| rest.split_once(" as dwar_"));
    let area = port.and_then(|(_, path)| path.split("::").next());
    let path = without_brackets(who);
    let is_named = |part: &&str| part.starts_with(|first: char| first.is_ascii_lowercase());
    let parts = path.split("::").skip(1).filter(is_named);
    let mut parts: Vec<&str> = area.into_iter().chain(parts).collect();
    parts.drain(..parts.len().saturating_sub(2));
    parts.join(".")
}

/// A path without what stands between < and >.
fn without_brackets(path: &str) -> String {
    let mut depth = 0_u32;
    let outside = |letter: &char| {
        let before = depth;
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before == 0 && depth == 0
    };
    path.chars().filter(outside).collect()
}

fn word(cause: &StoreError) -> &'static str {
    match cause {
        StoreError::Unavailable(_) | StoreError::Unreachable { .. } => "unavailable",
        StoreError::NoRoom => "no_room",
        StoreError::Inconsistent { .. } => "inconsistent",
        StoreError::Foreign(_) => "foreign",
        StoreError::Failed(_) => "failed",
    }
}

#[cfg(test)]
mod tests {
    use super::operation;
    use async_trait::async_trait;
    use std::any::type_name;

    fn name_of<F: FnOnce()>(_: F) -> String {
        operation(type_name::<F>())
    }

    #[async_trait]
    trait Port {
        async fn step(&self) -> String;
    }

    struct Store;

    #[async_trait]
    impl Port for Store {
        async fn step(&self) -> String {
            name_of(move || {})
        }
    }

    #[tokio::test]
    async fn a_call_is_named_after_the_method_that_makes_it() {
        let us = env!("CARGO_PKG_NAME").trim_start_matches("dwar-");
        assert_eq!(Store.step().await, format!("{us}.step"));
        let rotate = "<dwar_sqlite::SqliteStore as dwar_session::ports::SessionStore>::rotate::{{closure}}::{{closure}}";
        assert_eq!(operation(rotate), "session.rotate");
    }

    #[test]
    fn and_the_module_it_stands_in() {
        assert_eq!(operation("dwar_postgres::login::prepare::SendStep"), "login.prepare");
        assert_eq!(operation("dwar_postgres::caller::CallerOf"), "caller");
        let helper = "dwar_sqlite::session::<impl dwar_sqlite::SqliteStore>::change<bool, a::b>::{{closure}}";
        assert_eq!(operation(helper), "session.change");
    }
}
