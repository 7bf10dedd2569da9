-- At least one row in each table that has ids, as they were while ids were text.
INSERT INTO projects (id, name, identity_lookup, identity_delete, sms_price, created_at, brand)
VALUES ('01a1fd34-3304-7014-9d09-3734cb4c189c', 'Chai & Co', 1, 0, 30, 7, 'Chai'),
    ('01a1fd34-3305-7fff-bfff-ffffffffffff', 'Last of all', 0, 1, NULL, 8, NULL);
INSERT INTO api_keys (id, project_id, mode, digest, ending, created_at, used_at, used_from)
VALUES ('01a1fd34-4001-7abc-8def-000000000001', '01a1fd34-3304-7014-9d09-3734cb4c189c', 'live',
        zeroblob(32), 'abcd', 9, 10, '192.0.2.7'),
    ('01a1fd34-4001-7abc-8def-000000000002', '01a1fd34-3304-7014-9d09-3734cb4c189c', 'test',
        CAST(zeroblob(31) || x'01' AS blob), 'efgh', 9, NULL, NULL);
INSERT INTO identities
VALUES ('01a1fd34-5001-7abc-8def-000000000001', '01a1fd34-3304-7014-9d09-3734cb4c189c', 'live',
        zeroblob(32), x'0102', 11, 12),
    ('01a1fd34-5001-7abc-8def-000000000002', '01a1fd34-3305-7fff-bfff-ffffffffffff', 'test',
        zeroblob(32), x'0304', 13, 14);
INSERT INTO sessions (id, project_id, mode, identity_id, created_at, expires_at, refresh_digest,
    refresh_expires_at, access_token_id, access_issued_at, access_expires_at)
VALUES ('01a1fd34-6001-7abc-8def-000000000001', '01a1fd34-3304-7014-9d09-3734cb4c189c', 'live',
        '01a1fd34-5001-7abc-8def-000000000001', 20, 9000000000000, zeroblob(32), 9000000000000,
        '01a1fd34-7001-7abc-8def-000000000001', 21, 22);
INSERT INTO otps (id, project_id, mode, phone_index, phone_sealed, code_key, code_mac, state, wrong,
    max_wrong, status, created_at, expires_at, due_at)
VALUES ('01a1fd34-43e0-77fb-99f9-de0905f2c75e', '01a1fd34-3304-7014-9d09-3734cb4c189c', 'live',
        zeroblob(32), x'0102', 0, zeroblob(32), 'active', 1, 5, 'sent', 30, 31, 32),
    ('01a1fd34-43e0-77fb-99f9-de0905f2c75f', '01a1fd34-3304-7014-9d09-3734cb4c189c', 'test',
        zeroblob(32), x'0102', 0, zeroblob(32), 'used', 0, 5, 'delivered', 33, 34, NULL);
INSERT INTO otp_attempts
VALUES ('01a1fd34-8001-7abc-8def-000000000001', '01a1fd34-43e0-77fb-99f9-de0905f2c75e', 0,
        'whatsapp', 'whatsapp_cloud', NULL, 'failed', 'not_on_channel', 35, 0),
    ('01a1fd34-8001-7abc-8def-000000000002', '01a1fd34-43e0-77fb-99f9-de0905f2c75e', 1, 'sms',
        'msg91', 'their-7', 'sent', NULL, 36, 1);
INSERT INTO guess_budgets (project_id, mode, phone_index, wrong, last_wrong_at)
VALUES ('01a1fd34-3304-7014-9d09-3734cb4c189c', 'live', zeroblob(32), 1, 37);
INSERT INTO send_slots
VALUES ('01a1fd34-43e0-77fb-99f9-de0905f2c75e', '01a1fd34-3304-7014-9d09-3734cb4c189c', 'live',
        zeroblob(32), 30, 0),
    ('01a1fd34-43e0-77fb-99f9-de0905f2c75f', '01a1fd34-3304-7014-9d09-3734cb4c189c', 'test',
        zeroblob(32), 33, 1);
INSERT INTO wallets VALUES ('01a1fd34-3304-7014-9d09-3734cb4c189c', 900, 30, 2);
INSERT INTO wallet_holds
VALUES ('01a1fd34-43e0-77fb-99f9-de0905f2c75e', '01a1fd34-3304-7014-9d09-3734cb4c189c', 30, 30);
INSERT INTO ledger_entries
VALUES ('01a1fd34-9001-7abc-8def-000000000001', '01a1fd34-3304-7014-9d09-3734cb4c189c', 1, 'credit',
        900, 0, 900, 0, 'receipt', 29),
    ('01a1fd34-9001-7abc-8def-000000000002', '01a1fd34-3304-7014-9d09-3734cb4c189c', 2, 'hold', 0, 30,
        900, 30, '01a1fd34-43e0-77fb-99f9-de0905f2c75e', 30);
INSERT INTO idempotency_records
VALUES ('01a1fd34-3304-7014-9d09-3734cb4c189c', 'live', 'send', zeroblob(32), zeroblob(32),
    zeroblob(32), 38, NULL);
-- The last message is gone, and its id is not to come again.
INSERT INTO sandbox_messages
VALUES (6, '01a1fd34-3304-7014-9d09-3734cb4c189c', '01a1fd34-43e0-77fb-99f9-de0905f2c75f',
        zeroblob(32), 'sms', x'05', 39),
    (7, '01a1fd34-3304-7014-9d09-3734cb4c189c', '01a1fd34-43e0-77fb-99f9-de0905f2c75f',
        zeroblob(32), 'sms', x'06', 40);
DELETE FROM sandbox_messages WHERE id = 7;
INSERT INTO receipts
VALUES ('01a1fd34-a001-7abc-8def-000000000001', 'msg91', 'their-8', 'failed', 'blocked', 41, 42, 0);
INSERT INTO webhook_endpoints (id, project_id, url, full_phone, secret, created_at)
VALUES ('01a1fd34-b001-7abc-8def-000000000001', '01a1fd34-3304-7014-9d09-3734cb4c189c',
    'https://example.com/dwar', 0, x'07', 43);
INSERT INTO events (id, project_id, mode, kind, subject_id, related_id, happened_at)
VALUES ('evt_1', '01a1fd34-3304-7014-9d09-3734cb4c189c', 'live', 'session.revoked',
        '01a1fd34-6001-7abc-8def-000000000001', '01a1fd34-5001-7abc-8def-000000000001', 44),
    ('evt_2', '01a1fd34-3304-7014-9d09-3734cb4c189c', 'live', 'webhook.test',
        '01a1fd34-b001-7abc-8def-000000000001', NULL, 45);
INSERT INTO event_deliveries VALUES ('evt_1', '01a1fd34-b001-7abc-8def-000000000001', 1, 46);
INSERT INTO webhook_calls
VALUES ('01a1fd34-c001-7abc-8def-000000000001', '01a1fd34-b001-7abc-8def-000000000001', 'evt_2',
    'webhook.test', 1, 47, 12, 'taken', 200, NULL, 0);
INSERT INTO instances
VALUES ('01a1fd34-d001-7abc-8def-000000000001', 48, 49, '0.1.0', 'host', 7, '127.0.0.1:8080', NULL);
INSERT INTO operators (id, name, name_key, access, created_at)
VALUES ('01a1fd34-e001-7abc-8def-000000000001', 'a@example.com', 'a@example.com',
    '01a1fd34-3304-7014-9d09-3734cb4c189c:member', 50);
INSERT INTO operator_links
VALUES (zeroblob(32), '01a1fd34-e001-7abc-8def-000000000001', 'invitation', 51, 52);
INSERT INTO operator_sessions
VALUES (zeroblob(32), '01a1fd34-e001-7abc-8def-000000000001', NULL, 53, 54, 55);
INSERT INTO operator_passkeys
VALUES (zeroblob(32), '01a1fd34-e001-7abc-8def-000000000001', 'phone', x'08', 'es256', x'09', 1, 56,
    NULL);
INSERT INTO operator_standings VALUES ('01a1fd34-e001-7abc-8def-000000000002', 2, 57, NULL);
INSERT INTO admin_tokens (id, digest, name, access, made_by, made_at, expires_at)
VALUES ('01a1fd34-f001-7abc-8def-000000000001', zeroblob(32), 'ci', 'admin', 'a@example.com', 58, 59);
INSERT INTO audit_entries
VALUES ('01a1fd34-f101-7abc-8def-000000000001', 60, 'command_line', NULL, NULL, NULL, NULL,
        'project.created', 'Chai & Co', NULL, '{}'),
    ('01a1fd34-f101-7abc-8def-000000000002', 61, 'operator', '01a1fd34-e001-7abc-8def-000000000001',
        'a@example.com', '192.0.2.7', '01a1fd34-3304-7014-9d09-3734cb4c189c', 'project.changed',
        '01a1fd34-3304-7014-9d09-3734cb4c189c', '{}', '{"brand":"Chai"}');
INSERT INTO figures
VALUES ('01a1fd34-3304-7014-9d09-3734cb4c189c', 'live', 'minute', 0, 'sms', 'msg91', 1, 1, 1, 0, 1, 1,
    1, 30, x'');
UPDATE figures_tenure SET keeper_id = '01a1fd34-f201-7abc-8def-000000000001', led_until = 62;
INSERT INTO refused_sends
VALUES ('01a1fd34-3304-7014-9d09-3734cb4c189c', 'live', zeroblob(32), 0, 'limit',
    '01a1fd34-f301-7abc-8def-000000000001', 3);
INSERT INTO ledger_proofs
VALUES ('01a1fd34-3304-7014-9d09-3734cb4c189c', 63, 64, 'a@example.com', 2, 2, 900, 30, 2, 900, 30,
    30, 1);
INSERT INTO ledger_proof_runs
VALUES ('01a1fd34-3304-7014-9d09-3734cb4c189c', 65, 'a@example.com', 66);
