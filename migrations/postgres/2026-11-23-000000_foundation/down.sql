DROP TABLE room_probe, instances, audit_entries, admin_tokens;
DROP TABLE used_challenges, operator_standings, operator_sessions, operator_passkeys, operator_links, operators;
DROP TABLE refused_sends, figures_tenure, figures;
DROP TABLE webhook_calls, event_deliveries, events, webhook_endpoints;
DROP TABLE ledger_proof_runs, ledger_proofs, ledger_entries, wallet_holds, wallets;
DROP TABLE idempotency_records, send_slots, guess_budgets;
DROP TABLE sandbox_messages, receipts, otp_attempts, otps;
DROP TABLE sessions, identities, signing_keys, quota_shares, api_keys, projects;
DROP FUNCTION has_room, audit_entries_stay, forget_refused_sends, record_event, refuse_ledger_change,
    take_place, wake_receipts, take_attempts_along, take_sessions_along;
