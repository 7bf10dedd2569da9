use super::*;

const MINUTE: i64 = 60;
const HOUR: i64 = 3_600;
const DAY: i64 = 86_400;
const POLICY: GuessPolicy = GuessPolicy {
    slow_from: 30,
    slow_pace: seconds(10 * MINUTE),
    slower_from: 60,
    slower_pace: seconds(HOUR),
    stop_at: 100,
    stop_for: seconds(DAY),
    stop_pace: seconds(12 * HOUR),
    period: seconds(30 * DAY),
    device_stop_at: 20,
};

const fn seconds(count: i64) -> Duration {
    Duration::from_secs(count.unsigned_abs())
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
}

/// The budget after this many wrong codes, all at the same instant.
fn wrong(count: u32, second: i64) -> GuessBudget {
    more(GuessBudget::default(), count, second)
}

fn more(budget: GuessBudget, count: u32, second: i64) -> GuessBudget {
    let mut budget = budget.at(&POLICY, at(second));
    (0..count).for_each(|_| budget.count_wrong(&POLICY, at(second)));
    budget
}

fn succeeded(budget: GuessBudget, second: i64) -> GuessBudget {
    let mut budget = budget.at(&POLICY, at(second));
    budget.count_success();
    budget
}

fn pace(budget: GuessBudget, second: i64) -> SendPace {
    budget.pace(&POLICY, at(second))
}

#[test]
fn slows_down_at_each_step_in_a_row_and_stops() {
    assert_eq!(pace(wrong(29, 0), 1), SendPace::Usual);
    assert_eq!(pace(wrong(30, 0), 1), SendPace::OnePer(POLICY.slow_pace));
    assert_eq!(pace(wrong(59, 0), 1), SendPace::OnePer(POLICY.slow_pace));
    assert_eq!(pace(wrong(60, 0), 1), SendPace::OnePer(POLICY.slower_pace));
    assert_eq!(pace(wrong(99, 0), 1), SendPace::OnePer(POLICY.slower_pace));
    assert_eq!(pace(wrong(100, 0), 60), SendPace::Stopped(seconds(DAY - 60)));
}

#[test]
fn a_success_resets_the_count_in_a_row_and_not_the_period() {
    let logged_in = succeeded(wrong(60, 0), 1);
    assert_eq!((logged_in.wrong, logged_in.period.unwrap().wrong), (0, 60));
    assert_eq!(pace(logged_in, 2), SendPace::Usual);
    assert_eq!(pace(more(logged_in, 29, 3), 4), SendPace::Usual);
    assert_eq!(pace(more(logged_in, 30, 3), 4), SendPace::OnePer(POLICY.slow_pace));
    // Forty more with a success in between: a hundred in the period, forty in a row.
    assert_eq!(pace(more(logged_in, 39, 3), 3), SendPace::OnePer(POLICY.slow_pace));
    assert_eq!(pace(more(logged_in, 40, 3), 3), SendPace::Stopped(POLICY.stop_for));
}

#[test]
fn a_stop_is_followed_by_the_slowest_pace_until_the_period_ends() {
    let stopped = more(wrong(99, 0), 1, 5 * HOUR);
    let ends = 5 * HOUR + DAY;
    assert_eq!(pace(stopped, ends - 1), SendPace::Stopped(seconds(1)));
    assert_eq!(pace(stopped, ends), SendPace::OnePer(POLICY.stop_pace));
    assert_eq!(pace(stopped, 30 * DAY - 1), SendPace::OnePer(POLICY.stop_pace));
    // Only the count in a row is left, until thirty days after its last wrong code.
    assert_eq!(pace(stopped, 30 * DAY), SendPace::OnePer(POLICY.slower_pace));
    assert_eq!(pace(stopped, 30 * DAY + 5 * HOUR - 1), SendPace::OnePer(POLICY.slower_pace));
    assert_eq!(pace(stopped, 30 * DAY + 5 * HOUR), SendPace::Usual);
    assert_eq!(stopped.at(&POLICY, at(30 * DAY + 5 * HOUR)), GuessBudget::default());
    // Neither a success nor more wrong codes change that pace, and there is no second stop.
    let on = more(succeeded(stopped, ends), 50, ends + 1);
    assert_eq!((on.wrong, on.period.unwrap().wrong), (50, 150));
    assert_eq!(pace(on, ends + 2), SendPace::OnePer(POLICY.stop_pace));
    assert_eq!(pace(succeeded(on, ends + 3), 30 * DAY), SendPace::Usual);
}

#[test]
fn a_period_begins_with_a_wrong_code_and_ends_at_the_exact_instant() {
    let first = wrong(1, 0);
    assert_eq!(more(first, 1, 30 * DAY - 1).period.unwrap().wrong, 2);
    let next = more(first, 1, 30 * DAY).period.unwrap();
    assert_eq!((next.began_at, next.wrong), (at(30 * DAY), 1));
    assert_eq!(succeeded(GuessBudget::default(), 0), GuessBudget::default());
}

#[test]
fn a_stop_lasts_its_whole_time_however_late_in_the_period_it_came() {
    let late = 30 * DAY - HOUR;
    let stopped = more(wrong(99, 0), 1, late);
    assert_eq!(pace(stopped, late + DAY - 1), SendPace::Stopped(seconds(1)));
    assert!(!matches!(pace(stopped, late + DAY), SendPace::Stopped(_)));
    assert_eq!(stopped.at(&POLICY, at(late + DAY)).period, None);
}

#[test]
fn the_stop_is_reached_once_in_a_period() {
    let before = wrong(99, 0);
    let stop = more(before, 1, 1);
    assert!(!before.stops_after(&wrong(98, 0)) && stop.stops_after(&before));
    let on = more(stop, 5, DAY + 1);
    assert!(!on.stops_after(&stop));
    let next_period = more(stop, 99, 40 * DAY);
    assert!(!next_period.stops_after(&stop));
    assert!(more(next_period, 1, 40 * DAY).stops_after(&next_period));
}

#[test]
fn off_never_slows_and_still_counts() {
    let mut budget = GuessBudget::default();
    for second in 0..10_000 {
        budget = budget.at(&GuessPolicy::OFF, at(second * DAY));
        budget.count_wrong(&GuessPolicy::OFF, at(second * DAY));
    }
    assert_eq!(budget.wrong, 10_000);
    assert_eq!(budget.pace(&GuessPolicy::OFF, at(10_000 * DAY)), SendPace::Usual);
    assert_eq!(budget.stopped_for(&GuessPolicy::OFF, at(10_000 * DAY)), None);
}

/// The budget after this many wrong codes of known devices, all at the same instant.
fn wrong_by_device(budget: GuessBudget, count: u32, second: i64) -> GuessBudget {
    let mut budget = budget.at(&POLICY, at(second));
    (0..count).for_each(|_| budget.count_device_wrong(at(second)));
    budget
}

#[test]
fn devices_are_trusted_until_twenty_wrong_codes_in_thirty_days() {
    let trusts = |budget: GuessBudget, second| budget.trusts_devices(&POLICY, at(second));
    assert!(trusts(GuessBudget::default(), 0));
    let nearly = wrong_by_device(GuessBudget::default(), 19, 0);
    assert!(trusts(nearly, 1));
    let all = wrong_by_device(nearly, 1, 29 * DAY);
    assert!(!trusts(all, 29 * DAY) && !trusts(all, 30 * DAY - 1));
    assert!(trusts(all, 30 * DAY));
    // The next period begins with the next wrong code.
    let next = wrong_by_device(all, 1, 31 * DAY);
    assert_eq!(next.devices, Some(DevicePeriod { began_at: at(31 * DAY), wrong: 1 }));
    assert_eq!(all.at(&POLICY, at(59 * DAY)), GuessBudget::default());
    assert!(!GuessBudget::default().trusts_devices(&GuessPolicy::OFF, at(0)));
}

#[test]
fn wrong_codes_of_devices_and_of_strangers_are_apart() {
    let by_device = wrong_by_device(GuessBudget::default(), 500, 0);
    assert_eq!(pace(by_device, 1), SendPace::Usual);
    assert_eq!((by_device.wrong, by_device.period), (0, None));
    let stopped = wrong(100, 0);
    assert!(stopped.trusts_devices(&POLICY, at(1)));
    let both = succeeded(wrong_by_device(stopped, 3, 1), 2);
    assert_eq!(pace(both, 2), SendPace::Stopped(seconds(DAY - 2)));
    assert_eq!(both.devices.unwrap().wrong, 3);
    // No success resets them.
    assert_eq!(succeeded(by_device, 2).devices, by_device.devices);
}

/// An attacker who guesses at one phone as fast as the limits allow: three sends in ten minutes or what the
/// budget says, five guesses at each code, trying again every minute.
struct Attack {
    /// Whether the attacker has also stolen a device that is known to the phone.
    has_device: bool,
    budget: GuessBudget,
    sends: Vec<i64>,
    guesses: Vec<i64>,
}

impl Attack {
    fn sent_within(&self, window: Duration, now: i64) -> usize {
        let began = now - i64::try_from(window.as_secs()).unwrap();
        self.sends.iter().rev().take_while(|sent| **sent > began).count()
    }

    fn has_place(&self, now: i64) -> bool {
        self.sent_within(seconds(10 * MINUTE), now) < 3
    }

    fn may_send(&self, now: i64) -> bool {
        match pace(self.budget, now) {
            SendPace::Usual => self.has_place(now),
            SendPace::OnePer(window) => self.sent_within(window, now) < 1 && self.has_place(now),
            SendPace::Stopped(_) => false,
        }
    }

    fn may_send_by_device(&self, now: i64) -> bool {
        let is_trusted = self.budget.trusts_devices(&POLICY, at(now));
        self.has_device && is_trusted && self.has_place(now)
    }

    fn guess_all_by_device(&mut self, now: i64) {
        self.sends.push(now);
        for _ in 0..5 {
            self.budget = self.budget.at(&POLICY, at(now));
            if !self.budget.trusts_devices(&POLICY, at(now)) {
                return;
            }
            self.budget.count_device_wrong(at(now));
            self.guesses.push(now);
        }
    }

    fn guess_all(&mut self, now: i64) {
        self.sends.push(now);
        for _ in 0..5 {
            self.budget = self.budget.at(&POLICY, at(now));
            if self.budget.stopped_for(&POLICY, at(now)).is_some() {
                return;
            }
            self.budget.count_wrong(&POLICY, at(now));
            self.guesses.push(now);
        }
    }

    /// A year in which the owner logs in this often, without using sends.
    fn for_a_year(logins_every: i64, has_device: bool) -> Self {
        let budget = GuessBudget::default();
        let mut attack = Self { has_device, budget, sends: vec![], guesses: vec![] };
        for minute in 0..365 * 24 * 60 {
            let now = minute * MINUTE;
            if now % logins_every == 0 {
                attack.budget = succeeded(attack.budget, now);
            }
            while attack.may_send(now) {
                attack.guess_all(now);
            }
            while attack.may_send_by_device(now) {
                attack.guess_all_by_device(now);
            }
        }
        attack
    }
}

/// 100 to the stop, then a send per 12 hours in the rest of 30 days after 24 hours without: at most 58 of
/// them, with 5 guesses each.
const A_PERIOD: usize = 100 + 58 * 5;

#[test]
fn a_phone_attacked_all_year_yields_half_a_percent_also_when_its_owner_logs_in() {
    // Twelve whole periods, and in the five days after them one more stop and eight sends.
    let a_year = 12 * A_PERIOD + 100 + 8 * 5;
    assert_eq!((A_PERIOD, a_year), (390, 4_820));
    for logins_every in [DAY, HOUR, 10 * MINUTE, MINUTE, 400 * DAY] {
        let attack = Attack::for_a_year(logins_every, false);
        let total = attack.guesses.len();
        assert!(total <= a_year, "{total} with a login every {logins_every} s");
        // Shows that the attack uses what the limits allow.
        assert!(total >= 11 * A_PERIOD, "{total} with a login every {logins_every} s");
        for (index, first) in attack.guesses.iter().enumerate() {
            let month = attack.guesses[index..].partition_point(|at| *at < first + 30 * DAY);
            // A month across two periods includes the slow end of one and the start of the next.
            assert!(month <= A_PERIOD + 5, "{month} within 30 days");
        }
    }
}

#[test]
fn a_stolen_device_adds_twenty_guesses_a_period_to_those_of_a_year() {
    // A year begins at most thirteen periods of thirty days.
    let a_year = 12 * A_PERIOD + 100 + 8 * 5 + 13 * 20;
    assert_eq!(a_year, 5_080);
    for logins_every in [DAY, HOUR, 10 * MINUTE, MINUTE, 400 * DAY] {
        let total = Attack::for_a_year(logins_every, true).guesses.len();
        assert!(total <= a_year, "{total} with a login every {logins_every} s");
        // Shows that the attack uses what the limits allow.
        assert!(total >= 11 * A_PERIOD + 12 * 20, "{total} with a login every {logins_every} s");
    }
}
