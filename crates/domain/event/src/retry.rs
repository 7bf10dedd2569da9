use std::time::Duration;

/// How long to wait after the `failures`th failed delivery (1 is the first); `None` gives up,
/// about a day after the first.
pub fn wait_after(failures: u32) -> Option<Duration> {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const WAITS: [u64; 10] =
        [5, 30, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 8 * HOUR];
    let index = usize::try_from(failures).ok()?.checked_sub(1)?;
    WAITS.get(index).copied().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_up_after_about_a_day() {
        let waits: Vec<Duration> = (1..).map_while(wait_after).collect();
        let total: Duration = waits.iter().sum();
        assert!((23..=25).contains(&(total.as_secs() / 3_600)), "{total:?}");
        assert!(waits.is_sorted());
        assert_eq!(wait_after(0), None);
    }
}
