/// One test per promise of the persistent stores, each over the store that `open` returns.
///
/// `open` is an expression, evaluated inside an async function. It returns a pair: [`crate::Stores`] and a
/// value that has to live as long as they are used. Attributes in front apply to every test. If a store is
/// expensive to open, pass a shared one for the tests that can share:
///
/// ```text
/// store_contract_tests!(open().await);
///
/// store_contract_tests! {
///     #[ignore = "needs DWAR_TEST_POSTGRES_URL"]
///     shared: open_shared().await,
///     fresh: open_fresh().await,
/// }
/// ```
#[macro_export]
macro_rules! store_contract_tests {
    ($(#[$attribute:meta])* shared: $shared:expr, fresh: $fresh:expr $(,)?) => {
        mod shared {
            use super::*;
            $crate::shared_store_contract_tests!({ $(#[$attribute])* } $shared);
        }
        mod fresh {
            use super::*;
            $crate::fresh_store_contract_tests!({ $(#[$attribute])* } $fresh);
        }
    };
    ($(#[$attribute:meta])* $open:expr $(,)?) => {
        $crate::store_contract_tests!($(#[$attribute])* shared: $open, fresh: $open);
    };
}

/// One test per promise of a request limiter. `open` returns a pair: an `Arc<dyn RequestLimiter>`, and a
/// value that has to live as long. With attributes for every test it is `#[ignore] each: open()`.
#[macro_export]
macro_rules! request_limiter_contract_tests {
    ($open:expr $(,)?) => {
        $crate::request_limiter_contract_tests!(each: $open);
    };
    ($(#[$attribute:meta])* each: $open:expr $(,)?) => {
        $crate::contract_tests! { { $(#[$attribute])* } $open;
            request_limiter {
                hit_answers_as_the_window_does
                every_hit_is_what_the_window_says
                hit_takes_the_quota_of_the_call
                a_refused_hit_is_not_counted
                keys_and_scopes_are_apart
                hits_at_once_are_admitted_up_to_the_quota
                streams_at_once_are_admitted_up_to_the_quota
                a_window_of_thousands_is_exact
                sweep_keeps_what_is_occupied
                sweeps_and_hits_at_once_keep_the_quota
            }
        }
    };
}

/// One test per promise of shares of quotas, and of the limiters that use them. `open` returns a pair:
/// [`crate::contract::quota_leases::Leases`], and a value that has to live as long.
#[macro_export]
macro_rules! quota_leases_contract_tests {
    ($(#[$attribute:meta])* each: $open:expr $(,)?) => {
        $crate::contract_tests! { { $(#[$attribute])* } $open;
            quota_leases {
                what_others_leave_is_granted
                wishes_are_answered_in_their_order
                exchanges_at_once_grant_every_place_once
                a_share_that_ended_counts_for_one_window
                an_older_wish_changes_nothing
                a_sweep_drops_what_counts_no_more
                several_together_admit_the_quota
                a_refusal_comes_early_by_a_block_at_most
                the_places_of_the_dead_come_back
                whoever_leaves_gives_back_what_is_not_used
                whoever_sleeps_past_its_lease_asks_anew
                a_changed_quota_holds_with_the_next_wish
                tending_keeps_what_is_used_alone
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! shared_store_contract_tests {
    ($attributes:tt $open:expr) => {
        $crate::contract_tests! { $attributes $open;
            project {
                create_keeps_project_and_keys
                the_unknown_stay_unknown
                a_replaced_key_is_unknown_at_once
                replacements_at_once_leave_one_key
                a_change_sets_what_it_names
                texts_routes_and_threshold_come_back
                changes_at_once_lose_nothing
                two_settings_changed_at_once_are_both_kept
                a_change_is_judged_as_it_is_kept
                the_list_is_oldest_first
                only_projects_short_of_money_are_found
            }
            feed {
                a_feed_has_what_happens_while_it_is_on
                every_change_comes_into_the_feed
                a_feed_is_read_in_order_and_inside_its_world
                consumers_beside_writers_get_each_event_once
                an_erasure_takes_the_phone_from_the_feed
            }
            archive {
                no_key_of_an_archived_project_is_known
                the_first_archival_counts
                a_key_replaced_meanwhile_waits_for_the_restoration
                an_archival_and_a_change_at_once_are_both_kept
            }
            operator {
                an_invitation_keeps_everything
                a_name_is_taken_in_any_case
                invitations_at_once_take_a_name_once
                changes_come_back_and_touch_nobody_else
                a_changed_password_ends_the_other_sessions
                a_reset_leaves_nothing_that_lets_in
                a_removal_leaves_nothing
                a_link_lets_in_once_until_the_exact_instant
                a_link_ends_all_that_let_in_before
                links_at_once_let_in_once
                another_link_takes_the_place_of_the_one_before
                a_link_renewed_while_it_is_used_leaves_none
                attempts_are_admitted_as_the_domain_says
                a_lock_is_of_one_origin_alone
                a_name_is_slowed_however_many_networks_take_part
                attempts_at_once_are_admitted_up_to_the_lock
                attempts_at_once_from_many_networks_are_admitted_up_to_the_pace
                an_attempt_is_taken_back
                a_success_forgets_what_it_was_counted_against
                standings_are_told_and_forgotten
                a_sign_in_needs_a_proof_that_holds
                a_time_step_at_once_lets_in_once
                a_sign_in_and_a_reset_at_once_leave_no_session
                sessions_are_newest_first_and_noted_once_a_minute
                sessions_end_one_by_one_or_all
            }
            passkey {
                passkeys_come_back_oldest_first
                a_passkey_has_one_owner
                passkeys_at_once_are_bounded
                a_use_lets_in_and_is_noted
                a_copied_passkey_is_refused
                uses_at_once_with_one_counter_let_in_once
                answers_at_once_to_one_challenge_count_once
                a_challenge_adds_one_passkey
                a_removal_ends_the_other_sessions
                a_reset_and_a_removal_of_the_operator_take_them_along
            }
            hooks {
                hooks_come_back_oldest_first
                a_hook_speaks_for_the_present_key_of_its_mode
                a_hook_of_an_archived_project_is_unknown
                a_changed_hook_is_found_changed_at_once
                changes_of_a_hook_at_once_are_both_made
                a_new_secret_takes_the_place_of_the_present_one
                new_secrets_at_once_are_both_kept
                a_removed_hook_is_unknown_at_once
                a_project_has_a_bounded_number_of_hooks
            }
            admin_token {
                tokens_come_back_oldest_first
                a_use_is_noted_once_a_minute
                a_revoked_token_is_unknown_at_once
            }
            audit {
                entries_come_back_newest_first
                pages_follow_one_another
                a_page_is_what_the_filter_wants
            }
            searches {
                numbers_are_admitted_as_the_domain_says
                numbers_of_a_day_are_admitted_as_the_domain_says
                searchers_are_counted_by_themselves
                searches_at_once_are_admitted_up_to_the_limit
                one_number_at_once_counts_once
            }
            activity {
                requests_come_back_in_pages
                requests_of_a_phone_stay_inside_it
                counts_of_several_tallies_add_up
                counts_at_once_lose_nothing
                counts_stay_inside_project_mode_and_phone
                an_erasure_takes_the_counts
                a_key_use_is_noted_once_a_minute
                a_new_key_was_never_used
                charges_are_those_of_the_sends
                the_log_says_what_the_next_send_is_told
            }
            login {
                a_refusal_changes_nothing
                sends_at_once_are_ready_as_far_as_the_balance_goes
                sends_to_one_phone_at_once_are_ready_up_to_both_bounds
                a_send_stays_inside_project_and_mode
                a_repeated_send_is_done_once
                a_send_that_calls_nobody_takes_no_place
                a_check_uses_the_code_up_and_begins_nothing
                a_relayed_code_takes_the_place_of_none
                a_relayed_code_opens_nothing
                a_relayed_code_is_delivered_as_any_other
                the_ledger_tells_relayed_codes_from_others
                nothing_is_sent_after_the_end_of_a_relayed_code
                relayed_codes_and_login_codes_at_once_leave_one_in_force
                the_answer_that_ends_a_send_charges_its_channel
                an_answer_that_awaits_a_receipt_leaves_the_hold
                a_next_attempt_is_on_record_before_the_answer
                a_send_that_failed_is_undone
                a_failure_after_the_charge_gives_it_back_once
                a_failure_after_the_charge_tries_no_other_channel
                a_receipt_before_the_answer_is_charged_once
                reports_at_once_end_a_hold_once
                a_send_that_held_nothing_moves_no_money
                right_guesses_at_once_log_in_once
                a_guess_that_is_not_accepted_begins_nothing
                a_login_stays_inside_project_and_mode
                a_repeated_login_is_made_once
                no_code_is_used_in_vain_beside_an_erasure
                sends_and_logins_at_once_match
                a_known_device_passes_pace_and_stop_and_not_the_limit
                a_known_device_passes_the_bound_of_a_day
                no_stranger_guesses_at_the_code_of_a_device_or_locks_it
                wrong_guesses_of_devices_are_counted_up_to_the_twentieth
                wrong_guesses_of_devices_at_once_are_judged_up_to_the_twentieth
                sends_of_devices_at_once_are_admitted_up_to_the_limit
                what_a_device_repeats_is_done_once
                wrong_guesses_of_devices_stay_inside_project_mode_and_phone
            }
            otp {
                issue_keeps_everything
                which_code_is_in_force_says_the_code
                find_stays_inside_project_and_mode
                issue_supersedes_the_present_code
                issue_works_whatever_became_of_the_last_code
                many_issues_leave_one_code_in_force
                the_right_code_is_accepted_once
                wrong_codes_are_counted_and_the_last_one_locks
                the_right_code_is_accepted_at_the_last_try
                each_guess_that_was_judged_is_on_record_with_its_instant
                a_code_ends_at_the_exact_instant
                guesses_stay_inside_project_mode_and_phone
                right_codes_at_once_are_accepted_once
                wrong_codes_at_once_are_judged_up_to_the_limit
                guesses_are_judged_as_the_domain_does
                the_budget_counts_across_resends
                a_period_ends_at_the_exact_instant
                forgotten_guesses_are_gone_and_told_once
                guesses_and_liftings_at_once_count_each_guess_once
                a_guess_is_judged_for_the_request_it_names
                a_named_guess_and_a_resend_at_once_never_cross
                the_budget_holds_against_many_at_once
                a_refusal_opens_the_next_attempt
                late_reports_are_applied_as_the_domain_says
                an_overdue_report_after_a_later_word_changes_nothing
                an_acceptance_outlives_a_later_failure
                a_repeated_report_changes_nothing
                a_code_that_reached_nobody_is_void
                a_report_stays_inside_its_project
                a_reference_leads_to_its_attempt
                a_repeated_reference_leads_to_the_newest_attempt
                a_report_by_an_old_view_loses_nothing
                reports_by_one_view_at_once_are_applied_in_turn
                failures_at_once_open_one_attempt
                guesses_and_reports_at_once_lose_nothing
            }
            inbox {
                messages_are_newest_first_and_bounded
                messages_stay_inside_project_and_phone
                the_inbox_of_a_project_is_newest_first_and_bounded
                a_message_about_a_request_that_is_gone_is_dropped
            }
            session {
                start_keeps_everything
                seek_stays_inside_project_and_mode
                seek_knows_keys_in_force_alone
                rotate_exchanges_the_pair
                rotate_stays_inside_project_and_mode
                the_leeway_ends_at_the_exact_instant
                a_used_token_is_judged_by_its_own_exchange
                long_lines_are_judged_by_the_oldest_instant_kept
                what_was_never_given_out_ends_nothing
                rotate_looks_again_where_the_session_changed
                the_same_exchange_again_changes_nothing
                the_same_key_gets_the_same_pair_again
                rotate_keeps_the_exact_instants
                refreshes_at_once_rotate_once
                retries_at_once_get_one_pair
                revoke_ends_both_tokens
                revoke_asks_for_the_token_that_counts
                revoke_stays_inside_project_and_mode
                logouts_at_once_revoke_once
                no_refresh_survives_a_logout
            }
            identity {
                logins_make_once_and_then_recognise
                identities_stay_inside_project_and_mode
                logins_at_once_make_one_identity
                erase_takes_identity_and_sessions
                erase_takes_every_trace_of_the_phone
                erasures_at_once_erase_once
                nothing_in_flight_survives_an_erasure
                all_steps_on_one_phone_get_along
                a_verification_survives_an_erasure_only_as_a_new_identity
            }
            wallet {
                a_project_without_a_wallet_has_nothing
                balances_are_told_of_the_projects_asked_for
                a_reference_pays_in_once
                a_balance_stays_within_its_bound
                credits_at_once_stay_within_the_bound
                a_hold_needs_the_whole_amount
                a_capture_spends_and_gives_the_rest_back
                a_capture_spends_at_most_what_is_held
                a_release_gives_everything_back
                a_hold_ends_once
                holds_at_once_never_exceed_the_balance
                endings_at_once_end_a_hold_once
                credits_at_once_pay_in_once_each
                a_mixture_at_once_adds_up
                a_refund_gives_back_what_was_captured
                a_refund_needs_a_capture
                refunds_at_once_give_back_once
                a_correction_goes_up_and_down
                a_known_reference_corrects_nothing
                a_correction_takes_what_no_hold_needs
                corrections_at_once_take_what_is_there
                corrections_at_once_take_what_no_hold_needs
                one_correction_at_once_is_booked_once
                the_limit_of_a_day_is_exact
                a_day_begins_at_midnight_in_india
                only_a_release_lowers_what_was_spent
                sends_at_once_never_exceed_the_limit_of_a_day
            }
            ledger {
                pages_follow_one_another_newest_first
                a_page_has_what_the_filter_wants
                statements_stay_inside_their_project
                sums_and_stand_are_what_was_booked
                the_snapshot_is_of_one_instant
                proofs_at_once_begin_once
                a_dead_run_makes_room_at_the_exact_instant
                a_run_that_was_replaced_changes_nothing
                the_newest_proofs_stay_and_the_last_sound_one
            }
            closing {
                a_closed_month_leaves_one_entry_with_its_sum
                months_are_closed_one_after_another
                a_month_is_closed_once
                references_outlive_their_month
                what_can_be_closed_is_found
                closings_stay_inside_their_project
                sums_say_what_was_closed
            }
            identity_sessions {
                sessions_are_newest_first_in_pages
                sessions_end_one_by_one
                all_sessions_of_one_identity_end
                ends_stay_inside_project_mode_and_identity
                ends_at_once_end_a_session_once
                no_refresh_survives_an_end
            }
            guard {
                levels_change_as_the_domain_says
                changes_of_levels_at_once_all_count
                a_guarded_send_is_marked_and_its_verification_tells
                marks_stay_inside_project_and_mode
                a_repeated_guarded_send_has_its_mark
                guarded_sends_at_once_take_one_token
                a_day_admits_as_many_as_its_bound
                the_verdict_of_the_guard_is_on_record
                a_watched_day_refuses_nothing_and_is_on_record
            }
            sends {
                a_send_is_answered_as_the_log_does
                a_send_takes_the_quota_of_the_call
                a_refused_send_takes_no_place
                wrong_guesses_slow_sends_down
                sends_stay_inside_project_mode_and_phone
                forgive_gives_back_one_place
                forgiven_sends_are_bounded
                sends_forgiven_at_once_stay_within_the_reach
                sends_at_once_are_admitted_up_to_the_quota
            }
            idempotency {
                a_repetition_gets_the_first_answer
                abandon_frees_an_unanswered_slot
                a_dead_request_loses_its_slot
                an_answer_is_kept_to_the_exact_instant
                slots_are_apart
                beginnings_at_once_are_fresh_once
                questions_at_once_are_answered_once
            }
            events {
                endpoints_are_oldest_first_and_stay_inside_their_project
                a_new_secret_takes_the_place_of_the_present_one
                an_endpoint_is_removed_once_and_by_its_project
                a_project_has_a_bounded_number_of_endpoints
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! fresh_store_contract_tests {
    ($attributes:tt $open:expr) => {
        $crate::contract_tests! { $attributes $open;
            project {
                create_first_answers_true_once
                create_first_yields_to_any_project
            }
            operator {
                invite_first_answers_true_once
                the_list_is_oldest_first
                what_is_outdated_lets_nobody_in
                sweep_drops_what_counts_no_more
            }
            passkey {
                a_used_challenge_is_remembered_until_it_is_over
            }
            admin_token {
                sweep_drops_what_ended
            }
            audit {
                sweep_drops_by_age_alone
            }
            searches {
                sweep_drops_what_counts_no_more
            }
            activity {
                newest_attempts_are_those_of_live_requests
                sweep_drops_old_counts
            }
            guard {
                full_levels_go_and_others_stay
            }
            login {
                a_send_that_is_ready_is_on_record_as_a_whole
                a_send_that_was_taken_over_is_not_answered_for
                reports_at_once_cross_the_threshold_once
                every_step_of_a_login_is_what_the_domain_says
            }
            otp {
                claim_due_is_oldest_first_and_bounded
                claim_due_keeps_the_instant_and_the_lease
                a_claimed_request_can_be_worked_on
                claim_due_hands_each_request_to_one_caller
                withdraw_all_takes_the_codes_in_force
                sweep_drops_old_requests
                sweep_drops_old_guess_counts
            }
            inbox {
                a_sweep_takes_messages_along
            }
            test_quota {
                trim_keeps_the_newest_requests
                trim_never_drops_a_live_code
                trim_takes_attempts_and_messages_along
                trim_stays_inside_test_mode_and_each_project
                trim_bounds_sessions_and_identities
                trim_bounds_first_answers_and_places
                trim_bounds_events
                trim_drops_counts_of_test_guesses
                trims_at_once_drop_what_one_would
            }
            figures {
                figures_are_what_a_plain_recount_says
                what_was_refused_is_counted_by_its_reason
                a_request_counts_where_it_was_made_to_the_millisecond
                what_comes_late_is_counted_until_the_minute_is_settled
                a_gap_of_hours_is_caught_up_with
                what_was_there_before_is_counted_too
                requests_are_read_in_order_and_each_once
                one_keeper_works_and_who_lost_the_lease_writes_nothing
                leads_at_once_go_to_one_keeper
                settlements_at_once_count_once
                a_sweep_drops_old_figures
            }
            session {
                sweep_drops_ended_sessions
            }
            identity_sessions {
                every_session_ends
            }
            signing_key {
                add_first_answers_true_once
                add_first_asks_for_the_algorithm
                add_first_disregards_retired_keys
                keys_are_oldest_first_until_they_are_gone
                keys_of_one_instant_come_by_kid
                rotate_retires_every_other_key
                rotations_at_once_leave_one_open_key
            }
            wallet {
                every_step_is_what_the_aggregate_says
                stale_holds_are_oldest_first_and_bounded
                an_audit_finds_every_wallet_in_order
                an_audit_finds_corrections_in_order
                an_audit_sees_movements_whole
                parts_of_the_limit_are_told_once_on_a_day
            }
            closing {
                a_ledger_adds_up_while_months_are_closed
            }
            receipts {
                receipts_come_back_as_they_were_kept
                receipts_are_oldest_first_and_bounded
                keep_is_all_or_nothing
                a_receipt_given_out_comes_again_after_the_lease
                a_receipt_that_is_done_is_gone
                failures_have_room_of_their_own
                receipts_about_one_message_come_one_after_the_other
                a_repetition_is_not_kept_again
                unknown_receipts_hold_up_no_known_one
                a_receipt_that_overtook_its_answer_is_due_with_it
                receipts_and_answers_at_once_meet
                an_unknown_receipt_is_over_after_ten_minutes
                the_oldest_unknown_receipts_make_room
                claims_at_once_hand_each_receipt_to_one_caller
            }
            events {
                nothing_is_recorded_without_an_endpoint
                each_endpoint_of_the_project_is_told
                a_removed_endpoint_is_told_nothing_more
                a_code_on_its_way_is_recorded
                a_code_that_reached_nobody_is_recorded
                a_report_that_changes_nothing_is_not_recorded
                reports_at_once_are_recorded_once
                an_accepted_code_is_recorded
                a_stop_is_recorded_once_in_a_period
                a_logout_is_recorded
                a_theft_is_recorded
                an_end_by_an_operator_is_recorded
                logouts_at_once_are_recorded_once
                an_erasure_is_recorded
                an_erasure_takes_the_phone_from_what_was_recorded
                nothing_in_flight_keeps_an_erased_phone
                a_low_balance_is_recorded_once_per_crossing
                a_correction_crosses_the_threshold_too
                captures_at_once_cross_the_threshold_once
                claims_are_longest_due_first_and_bounded
                a_delivery_given_out_comes_again_after_the_lease
                a_failed_delivery_is_due_again_at_the_exact_instant
                a_delivery_ends_when_it_is_made_or_given_up
                deliveries_end_together
                claims_at_once_hand_each_delivery_to_one_caller
                endpoints_come_and_go_while_things_happen
                a_backlog_of_one_endpoint_holds_up_no_other
                what_is_under_way_takes_the_places_of_its_endpoint
                an_endpoint_that_fails_gets_one_place_and_comes_last
                shares_at_once_are_handed_to_one_caller_each
                an_endpoint_that_keeps_failing_is_switched_off
                an_endpoint_that_is_gone_is_switched_off_at_once
                a_success_keeps_an_endpoint_on
                what_a_switched_off_endpoint_was_not_told_is_dropped
                failures_at_once_switch_an_endpoint_off_once
                an_event_of_its_own_is_recorded_once
                an_empty_level_is_one_event_of_its_hour
                calls_come_back_newest_first_to_their_project
                a_log_is_cut_to_its_newest_calls
                an_event_is_kept_as_long_as_its_calls
                an_event_is_sent_again_to_one_endpoint
                what_waits_for_its_next_try_is_brought_forward
                wishes_at_once_are_queued_once
                an_event_is_addressed_to_one_endpoint_once
                an_erasure_takes_the_phone_from_what_was_told
            }
            feed {
                the_oldest_leave_a_feed
                a_feed_and_endpoints_do_not_take_events_from_each_other
                trims_at_once_keep_the_bound
                the_quota_of_test_keys_leaves_feeds_alone
                a_new_life_ends_every_cursor
            }
            instances {
                instances_are_what_they_said_last
                instances_beat_at_once
                troubles_are_what_an_instance_reported_last
                alerts_are_on_record_until_they_are_over
                queues_tell_what_waits
                a_long_queue_is_not_counted_to_its_end
            }
            sends {
                sweep_drops_old_places
            }
            together {
                every_pair_of_steps_gets_along
                every_triple_of_locking_steps_gets_along
            }
            idempotency {
                sweep_drops_old_records
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! contract_tests {
    ($attributes:tt $open:expr; $($port:ident { $($promise:ident)+ })+) => {
        $(mod $port {
            use super::*;
            $($crate::contract_test!($attributes $open; $port $promise);)+
        })+
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! contract_test {
    ({ $($attribute:tt)* } $open:expr; $port:ident $promise:ident) => {
        $($attribute)*
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        async fn $promise() {
            let (subject, _guard) = $open;
            $crate::contract::$port::$promise(&subject).await;
        }
    };
}
