//! Provider alerts, from the outcome of messages and from the answers that instances saw.

use super::alert::{Alert, FAULTS};
use dwar_activity::installation::{InstanceTrouble, ReportedTrouble};
use dwar_kernel::AlertKind;
use dwar_otp::{AttemptStatus, DeliveryAttempt, Reason};
use std::collections::{BTreeMap, BTreeSet};

/// The outcome of messages decides, since it survives a restart and is the same for all instances.
/// Instances know the answers of the provider, which are the cause; if no message went to a
/// provider lately, only their reports decide.
pub(super) fn judge(attempts: &[DeliveryAttempt], reported: &[ReportedTrouble]) -> Vec<Alert> {
    let mut by_provider: BTreeMap<&str, Vec<&DeliveryAttempt>> = BTreeMap::new();
    // An attempt that is under way says nothing yet.
    for attempt in attempts.iter().filter(|it| it.status != AttemptStatus::Queued) {
        by_provider.entry(&attempt.provider).or_default().push(attempt);
    }
    let troubles = reported.iter().map(|it| &it.trouble).filter(|it| is_of_provider(it));
    let mut seen: BTreeMap<&str, &InstanceTrouble> = BTreeMap::new();
    for trouble in troubles {
        // Refused credentials say more than an outage that another instance reported.
        let known = seen.entry(&trouble.about).or_insert(trouble);
        if trouble.kind < known.kind {
            *known = trouble;
        }
    }
    let names: BTreeSet<&str> = by_provider.keys().chain(seen.keys()).copied().collect();
    let one = |name| match (by_provider.get(name), seen.get(name)) {
        (Some(newest), trouble) => provider(name, newest, trouble.copied()),
        (None, Some(trouble)) => Some(Alert {
            since: trouble.since,
            ..Alert::new(trouble.kind, name, trouble.detail.clone())
        }),
        (None, None) => None,
    };
    names.into_iter().filter_map(one).collect()
}

const fn is_of_provider(trouble: &InstanceTrouble) -> bool {
    matches!(trouble.kind, AlertKind::ProviderAuth | AlertKind::ProviderFailing)
}

/// A provider fails if its newest calls failed; one accepted message ends that.
fn provider(
    name: &str,
    newest: &[&DeliveryAttempt],
    seen: Option<&InstanceTrouble>,
) -> Option<Alert> {
    let faults: Vec<Reason> = newest.iter().map_while(|it| fault_of(it)).collect();
    let last = *faults.first()?;
    let first_at = newest[faults.len() - 1].at;
    // While a provider is paused, its attempts only say that it was unreachable.
    let told =
        faults.iter().find(|it| **it != Reason::ProviderUnavailable).copied().unwrap_or(last);
    let (kind, detail) = match seen {
        Some(trouble) => (trouble.kind, trouble.detail.clone()),
        None => {
            let kind = match told {
                Reason::ProviderAuth => AlertKind::ProviderAuth,
                _ if faults.len() >= FAULTS => AlertKind::ProviderFailing,
                _ => return None,
            };
            let count = faults.len();
            let calls = if count == 1 { "message was" } else { "messages were" };
            (kind, format!("{}: the last {count} {calls} not taken", told.as_str()))
        }
    };
    Some(Alert { since: Some(first_at), ..Alert::new(kind, name, detail) })
}

/// Why the provider failed; `None` if it did not, or if the phone number is the reason.
fn fault_of(attempt: &DeliveryAttempt) -> Option<Reason> {
    let failed = attempt.status == AttemptStatus::Failed && !attempt.accepted;
    attempt.reason.filter(|reason| failed && !reason.is_about_the_number())
}
