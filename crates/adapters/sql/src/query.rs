//! Macros for the start of queries, which name the owner of the rows, and for their end. They are
//! macros because diesel's query types have no name that both databases share.

/// One row of a project, in one of its two modes: `in_mode!(sessions of project_mode, id)`.
#[macro_export]
macro_rules! in_mode {
    ($table:ident of $project_mode:expr, $id:expr) => {
        $table::table
            .filter($table::id.eq($crate::Id::from($id)))
            .filter($table::project_id.eq($crate::Id::from($project_mode.project)))
            .filter($table::mode.eq($project_mode.mode.as_str()))
    };
}

/// The rows of a phone, in one mode of a project: `of_phone!(otps of project_mode, index)`.
#[macro_export]
macro_rules! of_phone {
    ($table:ident of $project_mode:expr, $phone:expr) => {
        $table::table
            .filter($table::project_id.eq($crate::Id::from($project_mode.project)))
            .filter($table::mode.eq($project_mode.mode.as_str()))
            .filter($table::phone_index.eq($phone))
    };
}

/// The codes that [`dwar_otp::Otp::withdraw`] withdraws at an instant. No code lives for an hour,
/// so older rows need not be read.
#[macro_export]
macro_rules! withdrawable {
    ($now:expr) => {{
        use $crate::schema::otps::dsl;
        let hour_ago = $now - std::time::Duration::from_secs(3_600);
        dsl::otps
            .filter(dsl::state.eq(dwar_otp::OtpState::Active.as_str()))
            .filter(dsl::expires_at.gt($crate::At::from($now)))
            .filter(dsl::id.ge($crate::Id::first_at(hour_ago)))
    }};
}

/// The sessions of every project that are active at an instant, ordered by id, from the one after
/// `after`: `live_sessions!(now, after)`.
#[macro_export]
macro_rules! live_sessions {
    ($now:expr, $after:expr) => {{
        use $crate::schema::sessions::dsl;
        dsl::sessions
            .filter(dsl::id.gt($after))
            .filter(dsl::revoked_at.is_null())
            .filter(dsl::expires_at.gt($crate::At::from($now)))
            .order(dsl::id)
    }};
}

/// The sessions of an identity in one mode of a project, newest first, as a boxed query of the
/// backend: `sessions_of!(Pg, project, mode, identity, after, limit)`.
#[macro_export]
macro_rules! sessions_of {
    ($backend:ty, $project_mode:expr, $identity:expr, $after:expr, $limit:expr) => {{
        use $crate::schema::sessions::dsl;
        let mut query = dsl::sessions
            .filter(dsl::identity_id.eq($crate::Id::from($identity)))
            .filter(dsl::project_id.eq($crate::Id::from($project_mode.project)))
            .filter(dsl::mode.eq($project_mode.mode.as_str()))
            .into_boxed::<$backend>();
        if let Some(after) = $after {
            let (at, id) = ($crate::At::from(after.at), $crate::Id::from(after.session));
            query = query
                // The first condition is the one with which the index can begin.
                .filter(dsl::created_at.le(at))
                .filter(dsl::created_at.lt(at).or(dsl::id.lt(id)));
        }
        query.order((dsl::created_at.desc(), dsl::id.desc())).limit(i64::from($limit))
    }};
}

/// Converts the rows of a query to their domain type: `read_all!(EntryRow of query, conn)`. Returns
/// from the caller with the error if the query fails or a row cannot be decoded.
#[macro_export]
macro_rules! read_all {
    ($row:ident of $query:expr, $conn:expr) => {
        $crate::all($query.select($row::as_select()).load::<$row>($conn)?)?
    };
}

/// Like `read_all!`, for rows of many projects: skips and logs a row that cannot be decoded.
#[macro_export]
macro_rules! read_each {
    ($row:ident of $query:expr, $conn:expr) => {
        $crate::readable!($query.select($row::as_select()).load::<$row>($conn)?)
    };
}

/// Like `read_each!`, for rows that were loaded already.
#[macro_export]
macro_rules! readable {
    ($rows:expr) => {
        $crate::each($rows, $crate::telling!())
    };
}

/// A decoded value of many projects; `None`, with a line in the log, if it cannot be decoded.
#[macro_export]
macro_rules! legible {
    ($read:expr) => {
        $crate::legible($read, $crate::telling!())
    };
}

/// Logs that a row cannot be decoded, with the target of the store.
#[macro_export]
#[doc(hidden)]
macro_rules! telling {
    () => {
        |cause: &::dwar_kernel::StoreError| {
            ::tracing::error!(error = %cause, "a row cannot be read, and is left out");
        }
    };
}

/// Like `read_all!`, for a query that finds at most one row.
#[macro_export]
macro_rules! read_one {
    ($row:ident of $query:expr, $conn:expr) => {
        $crate::maybe($query.select($row::as_select()).get_result::<$row>($conn).optional()?)?
    };
}

/// The ids of the projects that are not archived, as a subquery.
#[macro_export]
macro_rules! projects_in_use {
    () => {{
        use $crate::schema::projects;
        projects::table.filter(projects::archived_at.is_null()).select(projects::id)
    }};
}
