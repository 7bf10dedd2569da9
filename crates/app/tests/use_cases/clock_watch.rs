use dwar_app::ClockWatch;
use dwar_kernel::{Clock, Timestamp};
use dwar_testkit::{FixedClock, MS, START, minutes, seconds};
use std::sync::Arc;
use std::time::Duration;

const HOUR: Duration = minutes(60);
const DAYS: Duration = minutes(40 * 24 * 60);

/// A wall clock that can be set, and a steady clock that only advances.
struct Clocks {
    wall: Arc<FixedClock>,
    steady: Arc<FixedClock>,
    watch: ClockWatch,
}

impl Clocks {
    fn new() -> Self {
        let (wall, steady) = (Arc::new(FixedClock::at(START)), Arc::new(FixedClock::at(START)));
        let watch = ClockWatch::new(wall.clone(), steady.clone());
        Self { wall, steady, watch }
    }

    /// Clocks after a comparison in which the wall clock was this much ahead of the database's.
    fn compared(ahead: i64) -> Self {
        let clocks = Self::new();
        clocks.compare(ahead);
        clocks
    }

    fn compare(&self, ahead: i64) {
        let asked = self.watch.moment();
        self.watch.compare(asked, shifted(self.wall.now(), -ahead));
    }

    fn goes_by(&self, time: Duration) {
        self.wall.advance(time);
        self.steady.advance(time);
    }

    fn set(&self, ms: i64) {
        self.wall.set(shifted(self.wall.now(), ms));
    }
}

fn shifted(at: Timestamp, ms: i64) -> Timestamp {
    let by = Duration::from_millis(ms.unsigned_abs());
    if ms < 0 { at - by } else { at + by }
}

fn ms(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap()
}

#[test]
fn clocks_differ_from_two_seconds_on_and_too_far_from_thirty() {
    for (ahead, told, too_far) in [
        (0, None, false),
        (1_999, None, false),
        (2_000, Some("the clock of this machine is 2 s ahead of the database's"), false),
        (-2_000, Some("the clock of this machine is 2 s behind the database's"), false),
        (29_999, Some("the clock of this machine is 30 s ahead of the database's"), false),
        (30_000, Some("the clock of this machine is 30 s ahead of the database's"), true),
        (-30_000, Some("the clock of this machine is 30 s behind the database's"), true),
        (ms(DAYS), Some("the clock of this machine is 3456000 s ahead of the database's"), true),
    ] {
        let watch = Clocks::compared(ahead).watch;
        assert_eq!(watch.ahead_ms(), Some(ahead));
        assert_eq!(watch.trouble().as_deref(), told, "{ahead}");
        assert_eq!(watch.is_too_far_off(), too_far, "{ahead}");
        assert_eq!(watch.shared_now(), shifted(START, -ahead));
    }
}

#[test]
fn an_answer_that_took_long_blames_no_clock_for_it() {
    let clocks = Clocks::new();
    let asked = clocks.watch.moment();
    clocks.goes_by(seconds(60));
    let answered = START + seconds(60);
    for (shown, ahead) in [
        (START, 0),
        (answered, 0),
        (START - MS, 1),
        (START - seconds(40), 40_000),
        (answered + MS, -1),
        (answered + HOUR, -ms(HOUR)),
    ] {
        clocks.watch.compare(asked, shown);
        assert_eq!(clocks.watch.ahead_ms(), Some(ahead), "{shown}");
    }
}

#[test]
fn a_clock_that_was_set_is_noticed_before_it_is_compared_again() {
    for by in [seconds(30), minutes(5), HOUR, DAYS] {
        for sign in [1, -1] {
            let clocks = Clocks::compared(0);
            clocks.goes_by(seconds(9));
            assert!(!clocks.watch.look() && !clocks.watch.is_too_far_off());
            clocks.set(sign * ms(by));
            assert!(clocks.watch.is_too_far_off(), "{by:?}");
            assert!(clocks.watch.look(), "it should be compared");
            assert_eq!(clocks.watch.shared_now(), START + seconds(9));
            // The clock was wrong before, and is right now.
            clocks.compare(0);
            assert!(!clocks.watch.is_too_far_off() && !clocks.watch.look());
        }
    }
}

#[test]
fn without_a_clock_of_the_database_there_is_nothing_to_differ_from() {
    let clocks = Clocks::new();
    clocks.set(ms(DAYS));
    assert_eq!((clocks.watch.ahead_ms(), clocks.watch.look()), (None, false));
    assert!(!clocks.watch.is_too_far_off());
    assert_eq!(clocks.watch.shared_now(), START + DAYS);
}

#[test]
fn sweeps_go_on_no_faster_than_the_time_goes_by() {
    for jump in [minutes(5), HOUR, DAYS] {
        let clocks = Clocks::new();
        clocks.goes_by(seconds(100));
        assert_eq!(clocks.watch.for_sweeps(), START + seconds(100));
        clocks.set(ms(jump));
        assert_eq!(clocks.watch.for_sweeps(), START + seconds(100));
        clocks.goes_by(seconds(7));
        assert_eq!(clocks.watch.for_sweeps(), START + seconds(107));
        assert_eq!(clocks.watch.sweeps_behind(), jump);
        let told = format!(
            "the clock of this machine was set forward by {} s; sweeps leave that time out until a restart",
            jump.as_secs()
        );
        assert_eq!(clocks.watch.trouble(), Some(told));
        // The clock is corrected.
        clocks.set(-ms(jump));
        clocks.goes_by(seconds(1));
        assert_eq!(clocks.watch.for_sweeps(), START + seconds(108));
        assert_eq!((clocks.watch.sweeps_behind(), clocks.watch.trouble()), (Duration::ZERO, None));
    }
}

#[test]
fn sweeps_never_go_ahead_of_a_clock_that_was_set_back() {
    let clocks = Clocks::new();
    clocks.set(-ms(HOUR));
    assert_eq!(clocks.watch.for_sweeps(), START - HOUR);
    // Set forward again, further than before: only the time that passed since counts.
    clocks.goes_by(seconds(3));
    clocks.set(ms(DAYS));
    assert_eq!(clocks.watch.for_sweeps(), START - HOUR + seconds(3));
}

/// Slewing changes a clock by at most some hundred parts per million, and the clocks are read one after the
/// other.
#[test]
fn a_clock_that_is_slewed_is_none_that_was_set() {
    let clocks = Clocks::compared(0);
    for _ in 0..100_000 {
        clocks.steady.advance(seconds(10));
        clocks.wall.advance(seconds(10) + MS);
        clocks.compare(0);
        assert!(!clocks.watch.look());
    }
}

#[test]
fn a_clock_that_was_set_back_is_counted_and_so_is_the_start() {
    let clocks = Clocks::new();
    for (set_ms, times) in [(0, 1), (-1_999, 1), (-2_000, 2), (ms(HOUR), 2), (-ms(DAYS), 3)] {
        clocks.goes_by(seconds(10));
        clocks.set(set_ms);
        assert_eq!(clocks.watch.times_set_back(), times, "{set_ms}");
        assert_eq!(clocks.watch.times_set_back(), times, "{set_ms}: counted twice");
    }
}
