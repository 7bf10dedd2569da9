//! The tables of `migrations/sqlite` as diesel sees them: ids in text form, instants in milliseconds.

diesel::table! {
    projects (id) {
        id -> Text,
        name -> Text,
        identity_lookup -> Bool,
        identity_delete -> Bool,
        whatsapp_price -> Nullable<BigInt>,
        sms_price -> Nullable<BigInt>,
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
        created_at -> BigInt,
    }
}

diesel::table! {
    api_keys (id) {
        id -> Text,
        project_id -> Text,
        mode -> Text,
        digest -> Binary,
        last_four -> Text,
        created_at -> BigInt,
    }
}

diesel::table! {
    identities (id) {
        id -> Text,
        project_id -> Text,
        mode -> Text,
        phone_index -> Binary,
        phone_sealed -> Binary,
        created_at -> BigInt,
        last_verified_at -> BigInt,
    }
}

diesel::table! {
    sessions (id) {
        id -> Text,
        project_id -> Text,
        mode -> Text,
        identity_id -> Text,
        created_at -> BigInt,
        expires_at -> BigInt,
        refresh_digest -> Binary,
        generation -> BigInt,
        rotations -> Binary,
        refresh_expires_at -> BigInt,
        access_token_id -> Text,
        access_issued_at -> BigInt,
        access_expires_at -> BigInt,
        replay_key -> Nullable<Binary>,
        replay_answer -> Nullable<Binary>,
        revoked_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    signing_keys (kid) {
        kid -> Text,
        algorithm -> Text,
        private_sealed -> Binary,
        created_at -> BigInt,
        signs_from -> BigInt,
        signs_until -> Nullable<BigInt>,
        published_until -> Nullable<BigInt>,
    }
}

diesel::table! {
    otps (id) {
        id -> Text,
        project_id -> Text,
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
        created_at -> BigInt,
        expires_at -> BigInt,
        due_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    otp_attempts (id) {
        id -> Text,
        otp_id -> Text,
        position -> Integer,
        channel -> Text,
        provider -> Text,
        provider_ref -> Nullable<Text>,
        status -> Text,
        reason -> Nullable<Text>,
        changed_at -> BigInt,
        accepted -> Bool,
    }
}

diesel::table! {
    guess_budgets (project_id, mode, phone_index) {
        project_id -> Text,
        mode -> Text,
        phone_index -> Binary,
        wrong -> Integer,
        last_wrong_at -> Nullable<BigInt>,
        period_began_at -> Nullable<BigInt>,
        period_wrong -> Integer,
        stopped_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    send_slots (send_id) {
        send_id -> Text,
        project_id -> Text,
        mode -> Text,
        phone_index -> Binary,
        taken_at -> BigInt,
        forgiven -> Bool,
    }
}

diesel::table! {
    wallets (project_id) {
        project_id -> Text,
        balance -> BigInt,
        held -> BigInt,
        entries -> BigInt,
    }
}

diesel::table! {
    ledger_entries (id) {
        id -> Text,
        project_id -> Text,
        position -> BigInt,
        kind -> Text,
        amount -> BigInt,
        held -> BigInt,
        balance_after -> BigInt,
        held_after -> BigInt,
        reference -> Text,
        made_at -> BigInt,
    }
}

diesel::table! {
    wallet_holds (send_id) {
        send_id -> Text,
        project_id -> Text,
        amount -> BigInt,
        held_since -> BigInt,
    }
}

diesel::table! {
    idempotency_records (project_id, mode, route, key_digest) {
        project_id -> Text,
        mode -> Text,
        route -> Text,
        key_digest -> Binary,
        fingerprint -> Binary,
        phone_index -> Binary,
        began_at -> BigInt,
        answer -> Nullable<Binary>,
    }
}

diesel::table! {
    sandbox_messages (id) {
        id -> BigInt,
        project_id -> Text,
        otp_id -> Text,
        phone_index -> Binary,
        channel -> Text,
        content -> Binary,
        landed_at -> BigInt,
    }
}

diesel::table! {
    receipts (id) {
        id -> Text,
        provider -> Text,
        provider_ref -> Text,
        report -> Text,
        reason -> Nullable<Text>,
        received_at -> BigInt,
        due_at -> BigInt,
        known -> Bool,
    }
}

diesel::table! {
    webhook_endpoints (id) {
        id -> Text,
        project_id -> Text,
        url -> Text,
        full_phone -> Bool,
        secret -> Binary,
        previous_secret -> Nullable<Binary>,
        previous_until -> Nullable<BigInt>,
        created_at -> BigInt,
        failures -> Integer,
        failing_since -> Nullable<BigInt>,
        disabled_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    events (id) {
        id -> Text,
        project_id -> Text,
        mode -> Text,
        kind -> Text,
        subject_id -> Text,
        related_id -> Nullable<Text>,
        channel -> Nullable<Text>,
        phone_index -> Nullable<Binary>,
        phone_sealed -> Nullable<Binary>,
        amount -> Nullable<BigInt>,
        threshold -> Nullable<BigInt>,
        happened_at -> BigInt,
        provider -> Nullable<Text>,
    }
}

diesel::table! {
    event_deliveries (event_id, endpoint_id) {
        event_id -> Text,
        endpoint_id -> Text,
        failures -> Integer,
        due_at -> BigInt,
    }
}

diesel::joinable!(api_keys -> projects (project_id));
diesel::joinable!(wallets -> projects (project_id));
diesel::joinable!(event_deliveries -> events (event_id));
diesel::joinable!(event_deliveries -> webhook_endpoints (endpoint_id));
diesel::joinable!(otp_attempts -> otps (otp_id));

diesel::allow_tables_to_appear_in_same_query!(api_keys, projects);
diesel::allow_tables_to_appear_in_same_query!(projects, wallets);
diesel::allow_tables_to_appear_in_same_query!(event_deliveries, events, webhook_endpoints);
diesel::allow_tables_to_appear_in_same_query!(otp_attempts, otps);
