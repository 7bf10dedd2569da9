use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_timestamp(seconds, 0).unwrap()
}

fn calls(faults: u32, reason: Reason) -> ProviderCalls {
    ProviderCalls {
        provider: "meta".to_owned(),
        faults,
        since: at(7),
        reason,
        status: None,
        code: None,
        paused: None,
    }
}

fn told(providers: &[ProviderCalls]) -> Vec<(AlertKind, String)> {
    let found = troubles(providers, &[], ClockState::default());
    assert!(found.iter().all(|it| it.about == "meta" && it.since == Some(at(7))), "{found:?}");
    found.into_iter().map(|it| (it.kind, it.detail)).collect()
}

#[test]
fn the_cause_is_said_in_the_words_of_the_provider() {
    let auth =
        ProviderCalls { status: Some(401), code: Some(190), ..calls(1, Reason::ProviderAuth) };
    let words = "HTTP 401, code 190 (provider_auth) to the last call";
    assert_eq!(told(&[auth]), [(AlertKind::ProviderAuth, words.to_owned())]);
    let away = ProviderCalls {
        status: Some(503),
        paused: Some(Duration::from_secs(12)),
        ..calls(5, Reason::ProviderUnavailable)
    };
    let words = "HTTP 503 (provider_unavailable) to the last of 5 calls that failed in a row; not \
                 called for a while";
    assert_eq!(told(&[away]), [(AlertKind::ProviderFailing, words.to_owned())]);
    for (reason, words) in
        [(Reason::Timeout, "no answer in time"), (Reason::ProviderUnavailable, "no connection")]
    {
        assert!(told(&[calls(3, reason)])[0].1.starts_with(words), "{words}");
        assert_eq!(told(&[calls(2, reason)]), []);
    }
}

#[test]
fn a_loop_is_told_while_it_is_down_and_while_it_ends_again_and_again() {
    let state = |restarts, running, ended| LoopState {
        name: "tidy",
        restarts,
        running,
        ended: Duration::from_secs(ended),
    };
    let is_told = |it| !troubles(&[], &[it], ClockState::default()).is_empty();
    assert!(is_told(state(0, false, 0)), "it waits to be started again");
    assert!(!is_told(state(1, true, 1)), "one end is over");
    assert!(is_told(state(2, true, 299)));
    assert!(!is_told(state(2, true, 300)), "it goes on");
}

#[test]
fn a_clock_is_told_that_differs_or_was_set_forward() {
    let kinds = |ahead_ms, forward_ms| {
        let set_forward = Duration::from_millis(forward_ms);
        let found = troubles(&[], &[], ClockState { ahead_ms, set_forward });
        found.into_iter().map(|it| (it.kind, it.detail)).collect::<Vec<_>>()
    };
    assert_eq!(kinds(19_999, 30_000), []);
    assert_eq!(kinds(-20_000, 0), [(AlertKind::ClockDiffers, "20 s behind".to_owned())]);
    assert_eq!(kinds(20_000, 0), [(AlertKind::ClockDiffers, "20 s ahead".to_owned())]);
    let set = "by 30 s; sweeps leave that time out".to_owned();
    assert_eq!(kinds(0, 30_001), [(AlertKind::ClockSetForward, set)]);
}
