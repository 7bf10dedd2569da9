use super::*;
use crate::Range;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn window(from: &str, until: &str) -> Interval {
    Interval { from: at(from), until: at(until) }
}

fn today(from: &str, until: &str) -> Interval {
    window(&format!("2027-01-15T{from}Z"), &format!("2027-01-15T{until}Z"))
}

#[test]
fn hours_and_days_begin_when_they_do_in_india() {
    let now = at("2027-01-15T19:05:59.999Z");
    assert_eq!(Grain::Minute.begin(now), at("2027-01-15T19:05:00Z"));
    assert_eq!(Grain::Hour.begin(now), at("2027-01-15T18:30:00Z"));
    assert_eq!(Grain::Day.begin(now), at("2027-01-15T18:30:00Z"));
    assert_eq!(Grain::Day.begin(at("2027-01-15T18:29:59.999Z")), at("2027-01-14T18:30:00Z"));
    assert_eq!(Grain::Hour.begin(at("1969-12-31T23:59:00Z")), at("1969-12-31T23:30:00Z"));
}

/// Every minute of a window is in one span, and no span is finer than necessary.
#[test]
fn spans_cover_a_window_once_with_what_is_complete() {
    for minute in (0..3_000).step_by(37) {
        let now = at("2027-01-15T14:07:30Z") + Duration::from_secs(minute * 61);
        for period in Period::ALL {
            for settled in [now - SETTLED_AFTER, now - Duration::from_secs(5 * DAY), now] {
                let settled = Grain::Minute.begin(settled);
                let range = Range::last(period, now);
                for window in [range.window, range.before.unwrap()] {
                    let spans = window.spans(range.coarsest(), settled);
                    assert_eq!(spans.first().map(|span| span.window.from), Some(window.from));
                    assert_eq!(spans.last().map(|span| span.window.until), Some(window.until));
                    for pair in spans.windows(2) {
                        assert_eq!(pair[0].window.until, pair[1].window.from);
                        assert_ne!(pair[0].grain, pair[1].grain);
                    }
                    for FigureSpan { grain, window } in &spans {
                        assert_eq!(grain.begin(window.from), window.from);
                        if *grain != Grain::Minute {
                            assert!(window.until <= settled, "{grain} up to {window:?}");
                            assert_eq!(grain.begin(window.until), window.until);
                        }
                    }
                    assert!(spans.len() <= 6, "{spans:?}");
                }
            }
        }
    }
}

#[test]
fn a_month_is_read_as_days_then_hours_then_minutes() {
    let now = at("2027-01-15T14:07:30Z");
    let settled = at("2027-01-15T13:07:00Z");
    let span = |grain, from, until| FigureSpan { grain, window: window(from, until) };
    let month = Range::last(Period::Month, now);
    assert_eq!(
        month.window.spans(Grain::Day, settled),
        [
            span(Grain::Day, "2026-12-16T18:30:00Z", "2027-01-14T18:30:00Z"),
            span(Grain::Hour, "2027-01-14T18:30:00Z", "2027-01-15T12:30:00Z"),
            span(Grain::Minute, "2027-01-15T12:30:00Z", "2027-01-15T14:07:30Z"),
        ]
    );
    assert_eq!(
        month.before.unwrap().spans(Grain::Day, settled),
        [
            span(Grain::Day, "2026-11-16T18:30:00Z", "2026-12-15T18:30:00Z"),
            span(Grain::Hour, "2026-12-15T18:30:00Z", "2026-12-16T13:30:00Z"),
        ]
    );
}

#[test]
fn three_minutes_are_counted_each_time_and_two_others_once_as_they_age() {
    let now = at("2027-01-15T14:07:30Z");
    let newest = today("14:05:00", "14:09:00");
    assert_eq!(fresh(Some(at("2027-01-15T14:07:10Z")), now), [newest]);
    assert_eq!(
        fresh(Some(at("2027-01-15T14:06:50Z")), now),
        [today("13:51:00", "13:52:00"), today("14:01:00", "14:02:00"), newest]
    );
}

#[test]
fn after_a_gap_everything_of_the_last_hour_is_counted_once() {
    let now = at("2027-01-15T14:07:30Z");
    let counted = |last: Option<&str>| -> Vec<Interval> { fresh(last.map(at), now) };
    let joined = |windows: &[Interval]| {
        windows.windows(2).for_each(|pair| assert!(pair[0].until <= pair[1].from));
        windows.iter().map(|window| (window.until - window.from).num_minutes()).sum::<i64>()
    };
    for long_ago in [None, Some("2027-01-15T13:00:00Z"), Some("2026-01-01T00:00:00Z")] {
        let windows = counted(long_ago);
        assert_eq!(windows.first().map(|first| first.from), Some(at("2027-01-15T13:07:00Z")));
        assert_eq!(joined(&windows), 62);
    }
    let windows = counted(Some("2027-01-15T13:57:30Z"));
    assert_eq!(windows.first().map(|first| first.from), Some(at("2027-01-15T13:42:00Z")));
    assert_eq!(joined(&windows), 27);
}

/// Whenever the runs happen, each minute is counted after it has ended, five and fifteen minutes later, and
/// not once it is settled.
#[test]
fn no_minute_misses_a_look_whenever_the_runs_are() {
    let start = at("2027-01-15T14:00:00Z");
    let minute = Grain::Minute.begin(start);
    for pace in [7_u64, 20, 59, 61, 400] {
        let mut last = Some(start - Duration::from_secs(20));
        let mut seen = Vec::new();
        for run in 0..(6_000 / pace) {
            let now = start + Duration::from_secs(run * pace);
            for window in fresh(last, now) {
                assert!(window.from >= Grain::Minute.begin(now - SETTLED_AFTER));
                if window.from <= minute && minute < window.until {
                    seen.push((now - minute).num_seconds() - 60);
                }
            }
            last = Some(now);
        }
        let pace = i64::try_from(pace).unwrap();
        for age in [0, 300, 900] {
            assert!(
                seen.iter().any(|it| (age..age + pace.max(60) + 60).contains(it)),
                "{pace}: {seen:?}"
            );
        }
    }
}
