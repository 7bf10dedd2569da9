//! The tables of `migrations/` for diesel: the same in both databases, except `otps.version`, which
//! only PostgreSQL has.

diesel::table! {
    use crate::types::*;
    projects (id) {
        id -> Id,
        name -> Text,
        identity_lookup -> Bool,
        identity_delete -> Bool,
        whatsapp_price -> Nullable<BigInt>,
        sms_price -> Nullable<BigInt>,
        created_at -> At,
        brand -> Nullable<Text>,
        language -> Nullable<Text>,
        sms_text -> Nullable<Text>,
        sms_template_id -> Nullable<Text>,
        sms_domain -> Nullable<Text>,
        sms_app_hash -> Nullable<Text>,
        whatsapp_providers -> Nullable<Text>,
        sms_providers -> Nullable<Text>,
        fallback_seconds -> Nullable<Integer>,
        low_balance -> Nullable<BigInt>,
        daily_spend -> Nullable<BigInt>,
        archived_at -> Nullable<At>,
        relay_live -> Bool,
        relay_test -> Bool,
        own_issuer -> Bool,
        token_claims -> Nullable<Text>,
        token_type -> Text,
        sms_last_lines -> Nullable<Text>,
        events_feed -> Bool,
        events_feed_run -> Integer,
        guard -> Text,
    }
}

diesel::table! {
    use crate::types::*;
    api_keys (id) {
        id -> Id,
        project_id -> Id,
        mode -> Text,
        digest -> Binary,
        ending -> Text,
        created_at -> At,
        used_at -> Nullable<At>,
        used_from -> Nullable<Text>,
    }
}

diesel::table! {
    use crate::types::*;
    identities (id) {
        id -> Id,
        project_id -> Id,
        mode -> Text,
        phone_index -> Binary,
        phone_sealed -> Binary,
        created_at -> At,
        last_verified_at -> At,
    }
}

diesel::table! {
    use crate::types::*;
    sessions (id) {
        id -> Id,
        project_id -> Id,
        mode -> Text,
        identity_id -> Id,
        created_at -> At,
        expires_at -> At,
        refresh_digest -> Binary,
        generation -> BigInt,
        rotations -> Binary,
        refresh_expires_at -> At,
        access_token_id -> Id,
        access_issued_at -> At,
        access_expires_at -> At,
        replay_key -> Nullable<Binary>,
        replay_answer -> Nullable<Binary>,
        revoked_at -> Nullable<At>,
    }
}

diesel::table! {
    use crate::types::*;
    signing_keys (kid) {
        kid -> Text,
        algorithm -> Text,
        private_sealed -> Binary,
        created_at -> At,
        signs_from -> At,
        signs_until -> Nullable<At>,
        published_until -> Nullable<At>,
    }
}

diesel::table! {
    use crate::types::*;
    otps (id) {
        id -> Id,
        project_id -> Id,
        mode -> Text,
        phone_index -> Binary,
        phone_sealed -> Binary,
        code_key -> Integer,
        code_mac -> Binary,
        code_sealed -> Nullable<Binary>,
        state -> Text,
        wrong -> Integer,
        max_wrong -> Integer,
        status -> Text,
        created_at -> At,
        expires_at -> At,
        due_at -> Nullable<At>,
        guesses -> Nullable<Binary>,
        relayed -> Bool,
        device_only -> Bool,
        guard -> Nullable<Text>,
        visitor -> Nullable<Binary>,
        taken_at -> Nullable<At>,
        is_new -> Bool,
        earns -> Bool,
        version -> Id,
    }
}

diesel::table! {
    use crate::types::*;
    otp_attempts (id) {
        id -> Id,
        otp_id -> Id,
        position -> Integer,
        channel -> Text,
        provider -> Text,
        provider_ref -> Nullable<Text>,
        status -> Text,
        reason -> Nullable<Text>,
        changed_at -> At,
        accepted -> Bool,
    }
}

diesel::table! {
    use crate::types::*;
    guess_budgets (project_id, mode, phone_index) {
        project_id -> Id,
        mode -> Text,
        phone_index -> Binary,
        wrong -> Integer,
        last_wrong_at -> Nullable<At>,
        period_began_at -> Nullable<At>,
        period_wrong -> Integer,
        stopped_at -> Nullable<At>,
        device_began_at -> Nullable<At>,
        device_wrong -> Integer,
    }
}

diesel::table! {
    use crate::types::*;
    send_slots (send_id) {
        send_id -> Id,
        project_id -> Id,
        mode -> Text,
        phone_index -> Binary,
        taken_at -> At,
        forgiven -> Bool,
    }
}

diesel::table! {
    use crate::types::*;
    wallets (project_id) {
        project_id -> Id,
        balance -> BigInt,
        held -> BigInt,
        entries -> BigInt,
        spend_since -> At,
        spend -> BigInt,
        spend_told -> Integer,
        spend_told_of -> BigInt,
    }
}

diesel::table! {
    use crate::types::*;
    ledger_entries (id) {
        id -> Id,
        project_id -> Id,
        position -> BigInt,
        kind -> Text,
        amount -> BigInt,
        held -> BigInt,
        balance_after -> BigInt,
        held_after -> BigInt,
        reference -> Text,
        made_at -> At,
        relayed -> Bool,
    }
}

diesel::table! {
    use crate::types::*;
    ledger_closings (project_id, month) {
        id -> Id,
        project_id -> Id,
        month -> Text,
        since -> At,
        until -> At,
        exported -> BigInt,
        first_position -> BigInt,
        last_position -> BigInt,
        digest -> Binary,
        entries -> BigInt,
        position -> BigInt,
        amount -> BigInt,
        held -> BigInt,
        balance_after -> BigInt,
        held_after -> BigInt,
        made_at -> At,
    }
}

diesel::table! {
    use crate::types::*;
    wallet_holds (send_id) {
        send_id -> Id,
        project_id -> Id,
        amount -> BigInt,
        held_since -> At,
        relayed -> Bool,
    }
}

diesel::table! {
    use crate::types::*;
    idempotency_records (project_id, mode, route, key_digest) {
        project_id -> Id,
        mode -> Text,
        route -> Text,
        key_digest -> Binary,
        fingerprint -> Binary,
        phone_index -> Binary,
        began_at -> At,
        answer -> Nullable<Binary>,
    }
}

diesel::table! {
    use crate::types::*;
    sandbox_messages (id) {
        id -> BigInt,
        project_id -> Id,
        otp_id -> Id,
        phone_index -> Binary,
        channel -> Text,
        content -> Binary,
        landed_at -> At,
    }
}

diesel::table! {
    use crate::types::*;
    receipts (id) {
        id -> Id,
        provider -> Text,
        provider_ref -> Text,
        report -> Text,
        reason -> Nullable<Text>,
        received_at -> At,
        due_at -> At,
        known -> Bool,
    }
}

diesel::table! {
    use crate::types::*;
    webhook_endpoints (id) {
        id -> Id,
        project_id -> Id,
        url -> Text,
        full_phone -> Bool,
        secret -> Binary,
        previous_secret -> Nullable<Binary>,
        previous_until -> Nullable<At>,
        created_at -> At,
        failures -> Integer,
        failing_since -> Nullable<At>,
        disabled_at -> Nullable<At>,
    }
}

diesel::table! {
    use crate::types::*;
    events (id) {
        id -> Text,
        project_id -> Id,
        mode -> Text,
        kind -> Text,
        subject_id -> Id,
        related_id -> Nullable<Id>,
        channel -> Nullable<Text>,
        phone_index -> Nullable<Binary>,
        phone_sealed -> Nullable<Binary>,
        amount -> Nullable<BigInt>,
        threshold -> Nullable<BigInt>,
        happened_at -> At,
        provider -> Nullable<Text>,
        in_feed -> Bool,
    }
}

diesel::table! {
    use crate::types::*;
    event_feeds (project_id, mode) {
        project_id -> Id,
        mode -> Text,
        kept -> BigInt,
        counted_transaction -> BigInt,
        counted_number -> BigInt,
        dropped_transaction -> BigInt,
        dropped_number -> BigInt,
    }
}

diesel::table! {
    feed_life (name) {
        name -> Text,
    }
}

diesel::table! {
    use crate::types::*;
    event_deliveries (event_id, endpoint_id) {
        event_id -> Text,
        endpoint_id -> Id,
        failures -> Integer,
        due_at -> At,
    }
}

diesel::table! {
    use crate::types::*;
    webhook_calls (id) {
        id -> Id,
        endpoint_id -> Id,
        event_id -> Text,
        kind -> Text,
        number -> Integer,
        called_at -> At,
        took_ms -> BigInt,
        outcome -> Text,
        status -> Nullable<Integer>,
        again_at -> Nullable<At>,
        failed -> Bool,
    }
}

diesel::table! {
    use crate::types::*;
    instances (id) {
        id -> Id,
        started_at -> At,
        seen_at -> At,
        version -> Text,
        host -> Text,
        pid -> BigInt,
        api -> Text,
        dashboard -> Nullable<Text>,
    }
}

diesel::table! {
    use crate::types::*;
    instance_troubles (instance_id, kind, about) {
        instance_id -> Id,
        kind -> Text,
        about -> Text,
        detail -> Text,
        since -> Nullable<At>,
    }
}

diesel::table! {
    use crate::types::*;
    alerts (kind, about) {
        kind -> Text,
        about -> Text,
        project_id -> Nullable<Id>,
        since -> At,
    }
}

diesel::table! {
    use crate::types::*;
    operators (id) {
        id -> Id,
        name -> Text,
        name_key -> Text,
        access -> Text,
        password -> Nullable<Text>,
        totp_sealed -> Nullable<Binary>,
        totp_last_step -> Nullable<BigInt>,
        created_at -> At,
        signed_in_at -> Nullable<At>,
    }
}

diesel::table! {
    use crate::types::*;
    operator_links (digest) {
        digest -> Binary,
        operator_id -> Id,
        kind -> Text,
        made_at -> At,
        expires_at -> At,
    }
}

diesel::table! {
    use crate::types::*;
    operator_sessions (digest) {
        digest -> Binary,
        operator_id -> Id,
        from_address -> Nullable<Text>,
        created_at -> At,
        seen_at -> At,
        expires_at -> At,
        device -> Nullable<Text>,
    }
}

diesel::table! {
    use crate::types::*;
    operator_standings (operator_id, subject) {
        operator_id -> Id,
        subject -> Binary,
        failures -> Integer,
        last_at -> At,
        locked_until -> Nullable<At>,
    }
}

diesel::table! {
    use crate::types::*;
    used_challenges (digest) {
        digest -> Binary,
        expires_at -> At,
    }
}

diesel::table! {
    use crate::types::*;
    admin_tokens (id) {
        id -> Id,
        digest -> Binary,
        name -> Text,
        access -> Text,
        may_delegate -> Bool,
        made_by -> Text,
        made_at -> At,
        expires_at -> At,
        used_at -> Nullable<At>,
        used_from -> Nullable<Text>,
    }
}

diesel::table! {
    use crate::types::*;
    audit_entries (id) {
        id -> Id,
        happened_at -> At,
        actor_kind -> Text,
        actor_id -> Nullable<Id>,
        actor_name -> Nullable<Text>,
        from_address -> Nullable<Text>,
        project_id -> Nullable<Id>,
        action -> Text,
        subject -> Text,
        facts_before -> Nullable<Text>,
        facts_after -> Nullable<Text>,
    }
}

diesel::table! {
    use crate::types::*;
    figures (project_id, mode, grain, began_at, channel, provider) {
        project_id -> Id,
        mode -> Text,
        grain -> Text,
        began_at -> At,
        channel -> Text,
        provider -> Text,
        attempts -> BigInt,
        accepted -> BigInt,
        arrived -> BigInt,
        failed -> BigInt,
        requests -> BigInt,
        delivered -> BigInt,
        verified -> BigInt,
        spent -> BigInt,
        times -> Binary,
        delivery_times -> Binary,
        causes -> Text,
        relay_attempts -> BigInt,
        relays -> BigInt,
        guarded -> BigInt,
        trusted -> BigInt,
        trusted_verified -> BigInt,
        over_address -> BigInt,
        over_series -> BigInt,
        over_project -> BigInt,
        over_day -> BigInt,
        refusable_verified -> BigInt,
    }
}

diesel::table! {
    use crate::types::*;
    figures_lease (id) {
        id -> Integer,
        settled_at -> Nullable<At>,
        fresh_at -> Nullable<At>,
        keeper_id -> Nullable<Id>,
        leased_until -> Nullable<At>,
    }
}

diesel::table! {
    use crate::types::*;
    guard_levels (project_id, kind, digest) {
        project_id -> Id,
        kind -> Text,
        digest -> Binary,
        level -> BigInt,
        changed_at -> At,
        capacity -> BigInt,
    }
}

diesel::table! {
    use crate::types::*;
    refused_sends (project_id, mode, phone_index, minute, reason, tally) {
        project_id -> Id,
        mode -> Text,
        phone_index -> Binary,
        minute -> At,
        reason -> Text,
        tally -> Id,
        count -> Integer,
    }
}

diesel::table! {
    use crate::types::*;
    ledger_proofs (project_id, begun_at) {
        project_id -> Id,
        begun_at -> At,
        ended_at -> At,
        made_by -> Text,
        entries -> BigInt,
        position -> BigInt,
        balance_sum -> BigInt,
        held_sum -> BigInt,
        last_position -> BigInt,
        balance -> BigInt,
        held -> BigInt,
        open_holds -> BigInt,
        sound -> Bool,
        closed -> BigInt,
    }
}

diesel::table! {
    use crate::types::*;
    ledger_proof_runs (project_id) {
        project_id -> Id,
        begun_at -> At,
        made_by -> Text,
        seen_at -> At,
    }
}

diesel::table! {
    use crate::types::*;
    operator_passkeys (digest) {
        digest -> Binary,
        operator_id -> Id,
        name -> Text,
        credential -> Binary,
        algorithm -> Text,
        spki -> Binary,
        counter -> BigInt,
        made_at -> At,
        used_at -> Nullable<At>,
    }
}

diesel::table! {
    use crate::types::*;

    phone_searches (searcher_id, searched_at, phone_index) {
        searcher_id -> Id,
        searched_at -> At,
        phone_index -> Binary,
    }
}

diesel::table! {
    use crate::types::*;
    hooks (id) {
        id -> Id,
        project_id -> Id,
        mode -> Text,
        kind -> Text,
        lifetime_seconds -> Integer,
        mfa_lifetime_seconds -> Nullable<Integer>,
        secret -> Binary,
        previous_secret -> Nullable<Binary>,
        previous_until -> Nullable<At>,
        created_at -> At,
    }
}

diesel::table! {
    use crate::types::*;
    key_checks (check_value) {
        check_value -> Binary,
        kind -> Text,
        turn -> BigInt,
    }
}

diesel::table! {
    use crate::types::*;
    /// Diesel's own type, of which its library exports only the functions that make it.
    __diesel_schema_migrations (version) {
        version -> Text,
    }
}

diesel::joinable!(api_keys -> projects (project_id));
diesel::joinable!(wallets -> projects (project_id));
diesel::joinable!(event_deliveries -> events (event_id));
diesel::joinable!(event_deliveries -> webhook_endpoints (endpoint_id));
diesel::joinable!(webhook_calls -> webhook_endpoints (endpoint_id));
diesel::joinable!(otp_attempts -> otps (otp_id));
diesel::joinable!(sandbox_messages -> otps (otp_id));
diesel::joinable!(instance_troubles -> instances (instance_id));
diesel::joinable!(operator_links -> operators (operator_id));
diesel::joinable!(operator_sessions -> operators (operator_id));
diesel::joinable!(operator_passkeys -> operators (operator_id));

diesel::allow_tables_to_appear_in_same_query!(api_keys, hooks, projects, sessions);
diesel::allow_tables_to_appear_in_same_query!(
    event_deliveries,
    events,
    webhook_calls,
    webhook_endpoints
);
// Tables that the steps of a login join.
diesel::allow_tables_to_appear_in_same_query!(
    guess_budgets,
    identities,
    otp_attempts,
    otps,
    projects,
    send_slots,
    wallets,
    webhook_endpoints
);
diesel::allow_tables_to_appear_in_same_query!(otps, sandbox_messages);
diesel::allow_tables_to_appear_in_same_query!(instance_troubles, instances);
diesel::allow_tables_to_appear_in_same_query!(operator_links, operator_sessions, operators);
diesel::allow_tables_to_appear_in_same_query!(operator_passkeys, operators);
diesel::allow_tables_to_appear_in_same_query!(operator_standings, operators);
