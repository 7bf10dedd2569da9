use std::time::Duration;

use dwar_client::{Client, Error, SendOptions, Session, Visitor};

use crate::lines::Arguments;
use crate::plain::{Shown, shown};
use crate::store::File;

pub async fn on_client(client: &Client, call: &str, args: &Arguments) -> Result<Shown, Error> {
    let Arguments { phone, code, access_token, refresh_token, .. } = args;
    let (otp_id, key) = (args.otp_id.as_deref(), args.idempotency_key.as_deref());
    let device = args.device.as_deref();
    let visitor = args.visitor.as_ref();
    let visitor = visitor.map(|it| Visitor { address: it.address, trusted: it.trusted });
    let options = Some(SendOptions { last_line: args.last_line.as_deref(), visitor, device });
    let expires_in = Duration::from_secs(args.expires_in);
    match (call, key) {
        ("sendOtp", None) => shown(client.send(phone, options).await),
        ("sendOtp", Some(key)) => shown(client.send_with_key(phone, options, key).await),
        ("relayOtp", None) => shown(client.relay(phone, code, expires_in).await),
        ("relayOtp", Some(key)) => shown(client.relay_with_key(phone, code, expires_in, key).await),
        ("getOtpStatus", _) => shown(client.status(otp_id.unwrap_or_default()).await),
        ("verifyOtp", _) => shown(client.verify_with_device(phone, code, otp_id, device).await),
        ("checkOtp", _) => shown(client.check_with_device(phone, code, otp_id, device).await),
        ("validateSession", _) => shown(client.validate(access_token).await),
        ("refreshSession", None) => shown(client.refresh(refresh_token).await),
        ("refreshSession", Some(key)) => shown(client.refresh_with_key(refresh_token, key).await),
        ("logoutSession", _) => shown(client.logout(access_token).await),
        ("getIdentity", _) => shown(client.identity(&args.id).await),
        ("findIdentity", _) => shown(client.identity_by_phone(phone).await),
        ("deleteIdentity", _) => shown(client.delete_identity(&args.id).await),
        ("listSandboxMessages", _) => shown(client.sandbox_messages(phone).await),
        ("getPublicKeys", _) => shown(client.public_keys().await),
        _ => panic!("no call {call}"),
    }
}

pub async fn on_session(
    session: &Session<File>,
    client: &Client,
    call: &str,
    args: &Arguments,
) -> Result<Shown, Error> {
    match (call, &args.tokens) {
        ("begin", Some(tokens)) => shown(session.begin(tokens).await),
        ("accessToken", _) => shown(session.access_token().await),
        ("validate", _) => {
            shown(session.call(async |token| client.validate(token.reveal()).await).await)
        }
        ("logout", _) => {
            shown(session.call(async |token| client.logout(token.reveal()).await).await)
        }
        _ => panic!("no call {call}"),
    }
}
