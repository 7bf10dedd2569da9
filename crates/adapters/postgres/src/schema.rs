//! The tables of `migrations/postgres`, as diesel sees them.

diesel::table! {
    projects (id) {
        id -> Uuid,
        name -> Text,
        identity_lookup -> Bool,
        identity_delete -> Bool,
        whatsapp_price -> Nullable<BigInt>,
        sms_price -> Nullable<BigInt>,
        created_at -> Timestamptz,
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
    }
}

diesel::table! {
    api_keys (id) {
        id -> Uuid,
        project_id -> Uuid,
        mode -> Text,
        digest -> Bytea,
        last_four -> Text,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    identities (id) {
        id -> Uuid,
        project_id -> Uuid,
        mode -> Text,
        phone_index -> Bytea,
        phone_sealed -> Bytea,
        created_at -> Timestamptz,
        last_verified_at -> Timestamptz,
    }
}

diesel::table! {
    sessions (id) {
        id -> Uuid,
        project_id -> Uuid,
        mode -> Text,
        identity_id -> Uuid,
        created_at -> Timestamptz,
        expires_at -> Timestamptz,
        refresh_digest -> Bytea,
        generation -> BigInt,
        rotations -> Bytea,
        refresh_expires_at -> Timestamptz,
        access_token_id -> Uuid,
        access_issued_at -> Timestamptz,
        access_expires_at -> Timestamptz,
        replay_key -> Nullable<Bytea>,
        replay_answer -> Nullable<Bytea>,
        revoked_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    signing_keys (kid) {
        kid -> Text,
        algorithm -> Text,
        private_sealed -> Bytea,
        created_at -> Timestamptz,
        signs_from -> Timestamptz,
        signs_until -> Nullable<Timestamptz>,
        published_until -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    otps (id) {
        id -> Uuid,
        project_id -> Uuid,
        mode -> Text,
        phone_index -> Bytea,
        phone_sealed -> Bytea,
        code_key -> Integer,
        code_mac -> Bytea,
        code_sealed -> Nullable<Bytea>,
        state -> Text,
        wrong -> Integer,
        max_wrong -> Integer,
        status -> Text,
        created_at -> Timestamptz,
        expires_at -> Timestamptz,
        due_at -> Nullable<Timestamptz>,
        version -> Uuid,
    }
}

diesel::table! {
    otp_attempts (id) {
        id -> Uuid,
        otp_id -> Uuid,
        position -> Integer,
        channel -> Text,
        provider -> Text,
        provider_ref -> Nullable<Text>,
        status -> Text,
        reason -> Nullable<Text>,
        changed_at -> Timestamptz,
        accepted -> Bool,
    }
}

diesel::table! {
    guess_budgets (project_id, mode, phone_index) {
        project_id -> Uuid,
        mode -> Text,
        phone_index -> Bytea,
        wrong -> Integer,
        last_wrong_at -> Nullable<Timestamptz>,
        period_began_at -> Nullable<Timestamptz>,
        period_wrong -> Integer,
        stopped_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    send_slots (send_id) {
        send_id -> Uuid,
        project_id -> Uuid,
        mode -> Text,
        phone_index -> Bytea,
        taken_at -> Timestamptz,
        forgiven -> Bool,
    }
}

diesel::table! {
    wallets (project_id) {
        project_id -> Uuid,
        balance -> BigInt,
        held -> BigInt,
        entries -> BigInt,
    }
}

diesel::table! {
    ledger_entries (id) {
        id -> Uuid,
        project_id -> Uuid,
        position -> BigInt,
        kind -> Text,
        amount -> BigInt,
        held -> BigInt,
        balance_after -> BigInt,
        held_after -> BigInt,
        reference -> Text,
        made_at -> Timestamptz,
    }
}

diesel::table! {
    wallet_holds (send_id) {
        send_id -> Uuid,
        project_id -> Uuid,
        amount -> BigInt,
        held_since -> Timestamptz,
    }
}

diesel::table! {
    idempotency_records (project_id, mode, route, key_digest) {
        project_id -> Uuid,
        mode -> Text,
        route -> Text,
        key_digest -> Bytea,
        fingerprint -> Bytea,
        phone_index -> Bytea,
        began_at -> Timestamptz,
        answer -> Nullable<Bytea>,
    }
}

diesel::table! {
    sandbox_messages (id) {
        id -> BigInt,
        project_id -> Uuid,
        otp_id -> Uuid,
        phone_index -> Bytea,
        channel -> Text,
        content -> Bytea,
        landed_at -> Timestamptz,
    }
}

diesel::table! {
    receipts (id) {
        id -> Uuid,
        provider -> Text,
        provider_ref -> Text,
        report -> Text,
        reason -> Nullable<Text>,
        received_at -> Timestamptz,
        due_at -> Timestamptz,
        known -> Bool,
    }
}

diesel::table! {
    webhook_endpoints (id) {
        id -> Uuid,
        project_id -> Uuid,
        url -> Text,
        full_phone -> Bool,
        secret -> Bytea,
        previous_secret -> Nullable<Bytea>,
        previous_until -> Nullable<Timestamptz>,
        created_at -> Timestamptz,
        failures -> Integer,
        failing_since -> Nullable<Timestamptz>,
        disabled_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    events (id) {
        id -> Text,
        project_id -> Uuid,
        mode -> Text,
        kind -> Text,
        subject_id -> Uuid,
        related_id -> Nullable<Uuid>,
        channel -> Nullable<Text>,
        phone_index -> Nullable<Bytea>,
        phone_sealed -> Nullable<Bytea>,
        amount -> Nullable<BigInt>,
        threshold -> Nullable<BigInt>,
        happened_at -> Timestamptz,
        provider -> Nullable<Text>,
    }
}

diesel::table! {
    event_deliveries (event_id, endpoint_id) {
        event_id -> Text,
        endpoint_id -> Uuid,
        failures -> Integer,
        due_at -> Timestamptz,
    }
}

diesel::joinable!(api_keys -> projects (project_id));
diesel::joinable!(otp_attempts -> otps (otp_id));

diesel::allow_tables_to_appear_in_same_query!(api_keys, projects);
diesel::allow_tables_to_appear_in_same_query!(projects, wallets);
diesel::allow_tables_to_appear_in_same_query!(event_deliveries, events);
diesel::allow_tables_to_appear_in_same_query!(guess_budgets, otp_attempts, otps);
diesel::allow_tables_to_appear_in_same_query!(guess_budgets, projects, send_slots);
