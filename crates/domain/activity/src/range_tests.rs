use super::*;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn window(from: &str, until: &str) -> Interval {
    Interval { from: at(from), until: at(until) }
}

fn today(from: &str, until: &str) -> Interval {
    window(&format!("2027-01-15T{from}Z"), &format!("2027-01-15T{until}Z"))
}

fn now() -> Timestamp {
    at("2027-01-15T14:07:30Z")
}

fn between(from: &str, until: &str) -> Option<Range> {
    FiguresPeriod::Between(at(from), at(until)).range(now())
}

#[test]
fn a_period_ends_now_and_the_one_before_is_the_same_stretch() {
    for (period, own, before) in [
        (Period::Hour, today("13:10:00", "14:07:30"), today("12:10:00", "13:07:00")),
        (
            Period::Day,
            window("2027-01-14T14:30:00Z", "2027-01-15T14:07:30Z"),
            window("2027-01-13T14:30:00Z", "2027-01-14T14:07:00Z"),
        ),
        (
            Period::Month,
            window("2026-12-16T18:30:00Z", "2027-01-15T14:07:30Z"),
            window("2026-11-16T18:30:00Z", "2026-12-16T13:30:00Z"),
        ),
    ] {
        let range = Range::last(period, now());
        assert_eq!((range.window, range.before), (own, Some(before)), "{period}");
        let points: Vec<_> = range.points().collect();
        assert_eq!(points.len(), usize::try_from(period.points().1).unwrap());
        assert_eq!(points[0].from, own.from);
        assert_eq!(points.last().unwrap().from, range.point(now()));
        assert_eq!(points.last().unwrap().until, now());
    }
}

#[test]
fn a_range_is_widened_to_whole_points_and_is_compared_with_as_much_before_it() {
    let range = between("2027-01-15T10:01:00Z", "2027-01-15T10:58:00Z").unwrap();
    assert_eq!(range.window, today("10:00:00", "11:00:00"));
    assert_eq!(range.before, Some(today("09:00:00", "10:00:00")));
    assert_eq!((range.point, range.points().count()), (Duration::from_secs(300), 12));
    // An Indian hour begins at half past in UTC.
    let range = between("2027-01-14T10:01:00Z", "2027-01-15T09:58:00Z").unwrap();
    assert_eq!(range.window, window("2027-01-14T09:30:00Z", "2027-01-15T10:30:00Z"));
    assert_eq!((range.coarsest(), range.points().count()), (Grain::Hour, 25));
    let range = between("2027-01-01T00:00:00Z", "2027-01-05T00:00:00Z").unwrap();
    assert_eq!(range.window, window("2026-12-31T18:30:00Z", "2027-01-05T18:30:00Z"));
    assert_eq!((range.coarsest(), range.points().count()), (Grain::Day, 5));
    assert_eq!(range.before, Some(window("2026-12-26T18:30:00Z", "2026-12-31T18:30:00Z")));
}

#[test]
fn a_range_ends_now_and_begins_with_what_is_kept() {
    let range = between("2027-01-15T14:00:00Z", "2027-02-15T14:00:00Z").unwrap();
    assert_eq!(range.window, today("14:00:00", "14:07:30"));
    let range = between("2020-01-01T00:00:00Z", "2027-02-15T14:00:00Z").unwrap();
    assert_eq!(range.window, window("2026-11-14T18:30:00Z", "2027-01-15T14:07:30Z"));
    assert_eq!((range.points().count(), range.before), (62, None));
    for (from, until) in [
        ("2027-01-15T14:00:00Z", "2027-01-15T14:00:00Z"),
        ("2027-01-15T14:00:00Z", "2027-01-15T13:00:00Z"),
        ("2027-01-15T15:00:00Z", "2027-01-15T16:00:00Z"),
        ("2020-01-01T00:00:00Z", "2020-02-01T00:00:00Z"),
    ] {
        assert_eq!(between(from, until), None, "{from} {until}");
    }
}

/// Minutes are kept for two days: older ranges are made of hours.
#[test]
fn where_minutes_are_gone_a_point_is_an_hour() {
    let range = between("2027-01-10T10:00:00Z", "2027-01-10T10:20:00Z").unwrap();
    assert_eq!(range.window, window("2027-01-10T09:30:00Z", "2027-01-10T10:30:00Z"));
    assert_eq!(range.point, Duration::from_secs(3_600));
    assert_eq!(range.before, Some(window("2027-01-10T08:30:00Z", "2027-01-10T09:30:00Z")));
    // Its own minutes are kept, those before it are not.
    let range = between("2027-01-13T13:40:00Z", "2027-01-13T15:40:00Z").unwrap();
    assert_eq!((range.point, range.before), (Duration::from_secs(300), None));
}

/// Every minute of a window is in one span, and no span is finer than necessary or of a deleted grain.
#[test]
fn spans_cover_any_range_once_with_what_is_kept() {
    for number in 0..2_000_u64 {
        let until = now() - Duration::from_secs(number * 2_711 % (60 * 86_400));
        let from = until - Duration::from_secs(60 + number * 7_919 % (9 * 86_400));
        let Some(range) = FiguresPeriod::Between(from, until).range(now()) else { continue };
        let settled = Grain::Minute.begin(now() - crate::SETTLED_AFTER);
        for window in [Some(range.window), range.before].into_iter().flatten() {
            let spans = window.spans(range.coarsest(), settled);
            assert_eq!(spans.first().map(|span| span.window.from), Some(window.from));
            assert_eq!(spans.last().map(|span| span.window.until), Some(window.until));
            spans.windows(2).for_each(|it| assert_eq!(it[0].window.until, it[1].window.from));
            for span in spans {
                let is_kept =
                    span.grain != Grain::Minute || span.window.from >= now() - KEEP_MINUTES;
                assert!(is_kept, "{span:?} of {range:?}");
            }
        }
    }
}
