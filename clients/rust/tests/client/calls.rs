//! The calls as the pages of the service show them. Nobody makes them: they have to compile.

use std::collections::BTreeMap;
use std::time::Duration;

use dwar_client::{Client, Result};

const PROGRAM: &str = include_str!("calls.rs");
const SHOWN: &str =
    include_str!("../../../../crates/adapters/dashboard/src/reference/clients.json");

struct Given {
    phone: &'static str,
    code: &'static str,
    otp_id: &'static str,
    access_token: &'static str,
    refresh_token: &'static str,
    id: &'static str,
}

async fn shown(client: &Client, given: Given) -> Result<()> {
    let Given { phone, code, otp_id, access_token, refresh_token, id } = given;
    client.send(phone, None).await?;
    client.verify(phone, code, Some(otp_id)).await?;
    client.relay(phone, code, Duration::from_secs(300)).await?;
    client.check(phone, code, Some(otp_id)).await?;
    client.status(otp_id).await?;
    client.validate(access_token).await?;
    client.refresh(refresh_token).await?;
    client.logout(access_token).await?;
    client.identity_by_phone(phone).await?;
    client.identity(id).await?;
    client.delete_identity(id).await?;
    client.sandbox_messages(phone).await?;
    client.public_keys().await?;
    Ok(())
}

#[test]
fn the_pages_show_the_calls_of_this_client() {
    let client = Client::new("http://127.0.0.1:9", "svc_test_1").unwrap();
    let given =
        Given { phone: "", code: "", otp_id: "", access_token: "", refresh_token: "", id: "" };
    let _unasked = shown(&client, given);
    let calls: BTreeMap<String, BTreeMap<String, String>> = serde_json::from_str(SHOWN).unwrap();
    for (operation, call) in calls {
        let call = &call["Rust"];
        assert!(
            PROGRAM.contains(&format!("\n    {call};\n")),
            "{operation}: no call here is {call}"
        );
    }
}
