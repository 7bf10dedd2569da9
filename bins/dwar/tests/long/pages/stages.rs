//! The state before the commands of each page: the settings, and earlier commands.

pub struct Stage {
    pub settings: &'static [(&'static str, &'static str)],
    pub prologue: &'static str,
    /// Shell before the command that contains the first text.
    pub before: &'static [(&'static str, &'static str)],
}

/// A service with a project that existed before the page.
const SERVICE: &str = "make_project; start";
/// The page starts its own.
const NOTHING: &str = "";

const WHATSAPP: &[(&str, &str)] = &[
    ("DWAR__GATEWAYS__WHATSAPP", "whatsapp_cloud"),
    ("DWAR__GATEWAYS__WHATSAPP_CLOUD__BASE_URL", "$OUTSIDE"),
    ("DWAR__GATEWAYS__WHATSAPP_CLOUD__PHONE_NUMBER_ID", "106540352242922"),
    ("DWAR__GATEWAYS__WHATSAPP_CLOUD__ACCESS_TOKEN", "EAAGk7v2Qz9pLm4x"),
    ("DWAR__GATEWAYS__WHATSAPP_CLOUD__APP_SECRET", "b7f2c9d04e6a81357f0e2d4c6b8a9153"),
    ("DWAR__GATEWAYS__WHATSAPP_CLOUD__VERIFY_TOKEN", "c41d7e90ab3f5268d1e0f9a2b3c4d5e6"),
];

pub fn stage(page: &str) -> Stage {
    let plain = Stage { settings: &[], prologue: SERVICE, before: &[] };
    match page {
        "docs/quick-start.md" | "docs/dashboard.md" | "docs/embedding.md" => {
            Stage { settings: &[("DWAR__DEMO", "true")], prologue: NOTHING, ..plain }
        }
        "docs/api.md" => Stage {
            prologue: "make_project; start
                dwar project set --project $ID --identity-lookup on --identity-delete on \
                    --relay-test on --events-feed on",
            before: &[
                ("otp/status/$OTP_ID", "send $KEY 9000000001 >$WORK/sent; remember $WORK/sent"),
                ("otp/check", "send $KEY 9876543210 >$WORK/sent; remember $WORK/sent"),
                ("otp/verify", "send $KEY 9876543210 >$WORK/sent; remember $WORK/sent"),
                ("sandbox/messages", "send $KEY 9876543210"),
            ],
            ..plain
        },
        "docs/proxies.md" => Stage {
            before: &[(
                "forward-auth",
                "send $KEY 9876543210 >$WORK/sent; remember $WORK/sent
                guess $KEY 9876543210 $CODE >$WORK/sent; remember $WORK/sent",
            )],
            ..plain
        },
        "docs/admin-api.md" => Stage {
            prologue: "make_project; start
                DWAR_TOKEN=$(dwar admin-token add --name pages --everything --json | field secret)",
            ..plain
        },
        "docs/adding-an-adapter.md" => Stage {
            settings: WHATSAPP,
            prologue: "make_project; start
                NUMBER_ID=$DWAR__GATEWAYS__WHATSAPP_CLOUD__PHONE_NUMBER_ID
                APP_SECRET=$DWAR__GATEWAYS__WHATSAPP_CLOUD__APP_SECRET",
            ..plain
        },
        "docs/events.md" => Stage {
            prologue: "make_project; DWAR__EVENTS__ALLOW_PRIVATE=true start
                ENDPOINT=$(DWAR__EVENTS__ALLOW_PRIVATE=true dwar webhook add --project $ID --url $OUTSIDE/dwar-events --json |
                    field webhook_id)",
            before: &[("dwar webhook log", "send $LIVE_KEY 9811223344; sleep 9")],
            ..plain
        },
        "docs/going-live.md" => going_live(),
        "docs/runbooks.md" => runbooks(),
        "docs/operations/backups.md" => Stage { before: &[("dwar restore", "stop")], ..plain },
        "docs/operations/high-availability.md" => {
            Stage { before: &[("mkdir drill", "dwar backup dwar-backup.db")], ..plain }
        }
        "docs/operations/operators.md" => Stage {
            before: &[(
                "dwar audit",
                "dwar operator remove --name Meena; dwar project set --project $ID --sms-price-paise 25",
            )],
            ..plain
        },
        "docs/operations/production.md" => {
            Stage { settings: &[("DWAR__ENVIRONMENT", "production")], prologue: NOTHING, ..plain }
        }
        "docs/operations/projects.md" => Stage {
            before: &[
                ("dwar project create", "OTP_ID=$(send $LIVE_KEY 9811223344 | field otp_id); sleep 1"),
                (
                    "$ dwar wallet statement",
                    "LIVE_KEY=$(dwar key regenerate --project $ID --mode live --json | field key)
                     dwar project set --project $ID --sms-price-paise default
                     send $LIVE_KEY 9811223355; sleep 1
                     dwar wallet credit --project $ID --rupees 99.50 --reference UTR124",
                ),
            ],
            ..plain
        },
        "docs/operations/install.md" => Stage {
            prologue: "make_project; start; export DWAR_KEY=$TEST_KEY; dwar project set --project $ID --brand Demo",
            before: &[("# a key of another installation", "DWAR_KEY=svc_test_0")],
            ..plain
        },
        "docs/providers.md" => Stage {
            settings: WHATSAPP,
            prologue: "mkdir etc; cp $ROOT/crates/adapters/gateways/examples_config/exotel.toml etc; chmod 600 etc/*
                export DWAR__GATEWAYS__GUPSHUP__USER_ID=2000000001 DWAR__GATEWAYS__GUPSHUP__SENDER=ACMEIN
                export DWAR__GATEWAYS__GUPSHUP__PASSWORD=kW7-pq2Rz_81 DWAR__GATEWAYS__GUPSHUP__ENTITY_ID=1101000000000000001
                export DWAR__GATEWAYS__GUPSHUP__TEMPLATE_ID=1107000000000000001
                export DWAR__GATEWAYS__GENERIC_FILES=$WORK/etc/exotel.toml
                make_project",
            before: &[("# with a mistake in the file", "sed -i 's/{text}/{txt}/' etc/exotel.toml")],
        },
        _ => plain,
    }
}

/// In production, with the file that the page has its reader write; the test provides Meta and TLS.
fn going_live() -> Stage {
    Stage {
        settings: WHATSAPP,
        // The issuer stays as on the page, because production refuses http://.
        prologue: "toml 0 >dwar.toml
            sed -i 's#^issuer = .*#issuer = \"https://otp.example.com\"#' dwar.toml
            export DWAR__GATEWAYS__PUBLIC_URL=$BASE DWAR__DATABASE__MIN_FREE_MB=0
            VERIFY_TOKEN=$DWAR__GATEWAYS__WHATSAPP_CLOUD__VERIFY_TOKEN
            make_project; start; stop; KEY=$LIVE_KEY; PHONE=9811223344",
        before: &[
            ("dwar doctor --online", "start"),
            (
                "otp/status/$OTP_ID",
                r#"BODY='{"entry":[{"changes":[{"field":"messages","value":{"metadata":{"phone_number_id":"106540352242922"},"statuses":[{"id":"wamid.1","status":"delivered"}]}}]}]}'
                SIGNATURE=$(printf %s "$BODY" | openssl dgst -sha256 -hmac $DWAR__GATEWAYS__WHATSAPP_CLOUD__APP_SECRET | sed 's/.*= //')
                curl -fs $BASE/webhooks/whatsapp_cloud -H "X-Hub-Signature-256: sha256=$SIGNATURE" -d "$BODY"
                sleep 2"#,
            ),
        ],
    }
}

/// With a charge to refund, and a phone whose codes are being guessed.
fn runbooks() -> Stage {
    Stage {
        settings: &[("DWAR__LIMITS__GUESSES__STOP_AT", "2")],
        prologue: "make_project; start
            dwar wallet adjust --project $ID --rupees -99 --reference 'so that little is left'
            OTP_ID=$(send $LIVE_KEY 9811223344 | field otp_id)
            sleep 1",
        before: &[(
            "dwar.log",
            "send $LIVE_KEY 9876543210
                 for code in 000000 000001; do guess $LIVE_KEY 9876543210 $code; done
                 for _ in 1 2; do send $LIVE_KEY 9876543210; done
                 sleep 0.3
                 cp service.log dwar.log",
        )],
    }
}
