//! Tests of the contract suites: a store without locks fails every suite about concurrency.

use dwar_memory::{Fault, MemoryStore};
use dwar_testkit::{Stores, contract};
use std::sync::Arc;

fn torn() -> Stores {
    let store = Arc::new(MemoryStore::default());
    store.faults().every(Some(Fault::Tears));
    Stores::from(&store)
}

macro_rules! broken_by_a_torn_store {
    ($($port:ident { $($promise:ident)+ })+) => {
        $(mod $port {
            use super::*;
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $promise() {
                let stores = torn();
                let kept = tokio::spawn(async move { contract::$port::$promise(&stores).await });
                assert!(kept.await.is_err_and(|failure| failure.is_panic()));
            })+
        })+
    };
}

broken_by_a_torn_store! {
    project {
        changes_at_once_lose_nothing
        create_first_answers_true_once
    }
    operator {
        invitations_at_once_take_a_name_once
        invite_first_answers_true_once
        links_at_once_let_in_once
        a_link_renewed_while_it_is_used_leaves_none
        attempts_at_once_are_admitted_up_to_the_lock
        attempts_at_once_from_many_networks_are_admitted_up_to_the_pace
        a_time_step_at_once_lets_in_once
        a_sign_in_and_a_reset_at_once_leave_no_session
    }
    searches {
        searches_at_once_are_admitted_up_to_the_limit
        one_number_at_once_counts_once
    }
    passkey {
        passkeys_at_once_are_bounded
        uses_at_once_with_one_counter_let_in_once
        answers_at_once_to_one_challenge_count_once
        a_challenge_adds_one_passkey
    }
    login {
        sends_at_once_are_ready_as_far_as_the_balance_goes
        sends_to_one_phone_at_once_are_ready_up_to_both_bounds
        reports_at_once_end_a_hold_once
        reports_at_once_cross_the_threshold_once
        right_guesses_at_once_log_in_once
        no_code_is_used_in_vain_beside_an_erasure
        sends_and_logins_at_once_match
    }
    otp {
        many_issues_leave_one_code_in_force
        right_codes_at_once_are_accepted_once
        wrong_codes_at_once_are_judged_up_to_the_limit
        the_budget_holds_against_many_at_once
        failures_at_once_open_one_attempt
        reports_by_one_view_at_once_are_applied_in_turn
        guesses_and_reports_at_once_lose_nothing
        guesses_and_liftings_at_once_count_each_guess_once
        claim_due_hands_each_request_to_one_caller
    }
    session {
        refreshes_at_once_rotate_once
        retries_at_once_get_one_pair
        logouts_at_once_revoke_once
        no_refresh_survives_a_logout
    }
    identity_sessions {
        ends_at_once_end_a_session_once
        no_refresh_survives_an_end
    }
    ledger {
        proofs_at_once_begin_once
    }
    signing_key {
        add_first_answers_true_once
        rotations_at_once_leave_one_open_key
    }
    identity {
        logins_at_once_make_one_identity
        erasures_at_once_erase_once
        nothing_in_flight_survives_an_erasure
    }
    wallet {
        holds_at_once_never_exceed_the_balance
        endings_at_once_end_a_hold_once
        credits_at_once_pay_in_once_each
        a_mixture_at_once_adds_up
        refunds_at_once_give_back_once
        corrections_at_once_take_what_is_there
        corrections_at_once_take_what_no_hold_needs
        one_correction_at_once_is_booked_once
    }
    figures {
        leads_at_once_go_to_one_keeper
        settlements_at_once_count_once
    }
    sends {
        sends_at_once_are_admitted_up_to_the_quota
        sends_forgiven_at_once_stay_within_the_reach
    }
    idempotency {
        beginnings_at_once_are_fresh_once
        questions_at_once_are_answered_once
    }
    receipts {
        claims_at_once_hand_each_receipt_to_one_caller
    }
    events {
        logouts_at_once_are_recorded_once
        nothing_in_flight_keeps_an_erased_phone
        captures_at_once_cross_the_threshold_once
        claims_at_once_hand_each_delivery_to_one_caller
        endpoints_come_and_go_while_things_happen
        shares_at_once_are_handed_to_one_caller_each
        failures_at_once_switch_an_endpoint_off_once
        wishes_at_once_are_queued_once
        an_event_is_addressed_to_one_endpoint_once
    }
    instances {
        instances_beat_at_once
    }
}
