//! Attacks on the sign-in of operators, against the whole binary.

use crate::common::{Database, Service, World};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use dwar_testkit::reserved_port;
use futures_util::future::join_all;
use openssl::ec::{EcGroup, EcKey};
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{PKey, Private};
use openssl::sign::Signer;
use reqwest::header::SET_COOKIE;
use reqwest::{Client, Response, StatusCode, redirect};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

const NAME: &str = "asha";
const PASSWORD: &str = "nine yellow kites at noon";
const KEY: &str = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY=";

fn world(database: Database) -> World {
    World::new(database)
        .with("DWAR__DASHBOARD__ADDRESS", "127.0.0.1:0")
        .with("DWAR__SECRETS__MASTER_KEY", KEY)
}

/// Behind a proxy that terminates TLS and reports the client's address.
fn behind_a_proxy(database: Database) -> Service {
    Service::start_in(world(database).with("DWAR__DASHBOARD__BEHIND_TLS_PROXY", "true"))
}

/// A browser at one address, with its cookies.
#[derive(Clone)]
struct Browser {
    client: Client,
    base: String,
    origin: String,
    address: String,
    cookies: BTreeMap<String, String>,
}

impl Browser {
    fn new(base: &str, origin: &str) -> Self {
        let client = Client::builder().redirect(redirect::Policy::none()).build().unwrap();
        let (base, origin, address) = (base.to_owned(), origin.to_owned(), String::new());
        Self { client, base, origin, address, cookies: BTreeMap::new() }
    }

    /// A browser behind a proxy that terminates TLS.
    fn over_tls(service: &Service) -> Self {
        let base = service.dashboard();
        Self::new(&base, &base.replacen("http", "https", 1))
    }

    /// A browser that uses the tunnel to this port.
    fn tunnelled(port: u16) -> Self {
        Self::new(&format!("http://127.0.0.1:{port}"), TUNNEL)
    }

    fn other(&self, address: &str) -> Self {
        Self { address: address.to_owned(), cookies: BTreeMap::new(), ..self.clone() }
    }

    async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Response {
        let cookies = self.cookies.iter().map(|(name, value)| format!("{name}={value}"));
        let host = self.origin.split_once("://").unwrap().1;
        let answer = self
            .client
            .post(format!("{}{path}", self.base))
            .header("Host", host)
            .header("Origin", &self.origin)
            .header("X-Forwarded-For", &self.address)
            .header("Cookie", cookies.collect::<Vec<_>>().join("; "))
            .form(fields)
            .send()
            .await
            .unwrap();
        for cookie in answer.headers().get_all(SET_COOKIE) {
            let (name, rest) = cookie.to_str().unwrap().split_once('=').unwrap();
            self.cookies.insert(name.to_owned(), rest.split(';').next().unwrap().to_owned());
        }
        answer
    }

    async fn sign_in(&mut self, name: &str, password: &str) -> Response {
        self.post("/sign-in", &[("name", name), ("password", password)]).await
    }

    /// Joins by an invitation of the command line, and keeps the cookies.
    async fn join(&mut self, service: &Service) {
        let invited = service.world.cli(&["operator", "invite", "--name", NAME, "--owner"]);
        let (_, secret) = invited["link"].as_str().unwrap().split_once('#').unwrap();
        let fields = [("secret", secret), ("password", PASSWORD), ("again", PASSWORD)];
        assert_eq!(self.post("/invite", &fields).await.status(), StatusCode::SEE_OTHER);
    }

    async fn csrf(&self) -> String {
        let cookies = self.cookies.iter().map(|(name, value)| format!("{name}={value}"));
        let asked = self.client.get(format!("{}/account", self.base));
        let asked = asked.header("Host", self.origin.split_once("://").unwrap().1);
        let cookies = cookies.collect::<Vec<_>>().join("; ");
        let page = asked.header("Cookie", cookies).send().await.unwrap().text().await.unwrap();
        let after = page.split(r#"name="csrf-token" content=""#).nth(1).unwrap();
        after.split('"').next().unwrap().to_owned()
    }

    async fn question(&mut self, path: &str, csrf: &str) -> Vec<u8> {
        let answer = self.post(path, &[("csrf", csrf)]).await;
        assert_eq!(answer.status(), StatusCode::OK);
        let answer: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
        URL_SAFE_NO_PAD.decode(answer["challenge"].as_str().unwrap()).unwrap()
    }

    async fn add(&mut self, passkey: &Authenticator) {
        let csrf = self.csrf().await;
        let asked = self.question("/account/passkeys/challenge", &csrf).await;
        let client = passkey.client("webauthn.create", &asked, &self.origin);
        let mut fields = vec![
            ("csrf", csrf),
            ("current", PASSWORD.to_owned()),
            ("name", "Laptop".to_owned()),
            ("attestation", b64(&passkey.made())),
        ];
        fields.extend([
            ("challenge", b64(&asked)),
            ("credential", b64(Authenticator::CREDENTIAL)),
            ("client_data", b64(&client)),
        ]);
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let added = self.post("/account/passkeys/add", &fields).await;
        assert_eq!(added.status(), StatusCode::SEE_OTHER, "{}", added.text().await.unwrap());
    }

    /// Sends the answer of a passkey to the challenge `asked` on a page of `origin`.
    async fn answer(&mut self, passkey: &Authenticator, asked: &[u8], origin: &str) -> StatusCode {
        let client = passkey.client("webauthn.get", asked, origin);
        let data = passkey.present();
        let fields = [
            ("challenge", b64(asked)),
            ("credential", b64(Authenticator::CREDENTIAL)),
            ("client_data", b64(&client)),
            ("signature", b64(&passkey.sign(&data, &client))),
            ("authenticator_data", b64(&data)),
        ];
        let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
        self.post("/sign-in/passkey", &fields).await.status()
    }
}

const ASK: &str = "/sign-in/passkey/challenge";

/// A passkey for `localhost`, without a counter.
struct Authenticator {
    key: PKey<Private>,
}

impl Authenticator {
    const CREDENTIAL: &[u8] = b"credential of a laptop";
    const PRESENT_AND_VERIFIED: u8 = 0x05;

    fn new() -> Self {
        let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap();
        Self { key: PKey::from_ec_key(EcKey::generate(&group).unwrap()).unwrap() }
    }

    fn client(&self, kind: &str, asked: &[u8], origin: &str) -> Vec<u8> {
        let asked = b64(asked);
        format!(r#"{{"type":"{kind}","challenge":"{asked}","origin":"{origin}"}}"#).into_bytes()
    }

    fn data(flags: u8) -> Vec<u8> {
        [Sha256::digest("localhost").as_slice(), &[flags], &[0; 4]].concat()
    }

    fn present(&self) -> Vec<u8> {
        Self::data(Self::PRESENT_AND_VERIFIED)
    }

    /// The attestation object of a browser, which is all that some browsers return: CBOR, byte by
    /// byte.
    fn made(&self) -> Vec<u8> {
        let length = u16::try_from(Self::CREDENTIAL.len()).unwrap().to_be_bytes();
        let head = Self::data(Self::PRESENT_AND_VERIFIED | 0x40);
        let point = self.key.public_key_to_der().unwrap();
        let (x, y) = point[point.len() - 64..].split_at(32);
        // {1: 2, 3: -7, -1: 1, -2: x, -3: y}
        let key =
            [&b"\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20"[..], x, b"\x22\x58\x20", y].concat();
        let data = [head.as_slice(), &[0; 16], &length, Self::CREDENTIAL, &key].concat();
        let length = [u8::try_from(data.len()).unwrap()];
        // {"fmt": "none", "attStmt": {}, "authData": data}
        let object = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58";
        [object, length.as_slice(), &data].concat()
    }

    fn sign(&self, data: &[u8], client: &[u8]) -> Vec<u8> {
        let signed = [data, &Sha256::digest(client)].concat();
        let mut signer = Signer::new(MessageDigest::sha256(), &self.key).unwrap();
        signer.sign_oneshot_to_vec(&signed).unwrap()
    }
}

fn b64(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

const TUNNEL: &str = "http://localhost:9443";

/// A service that is reached as [`TUNNEL`] while its dashboard listens on the port.
fn tunnelled(database: Database) -> (Service, u16) {
    let world = world(database).with("DWAR__DASHBOARD__PUBLIC_URL", TUNNEL);
    let (port, address) = dashboard_address();
    (Service::start_in(world.with("DWAR__DASHBOARD__ADDRESS", &address)), port)
}

fn dashboard_address() -> (u16, String) {
    let port = reserved_port();
    (port, format!("127.0.0.1:{port}"))
}

/// An owner who uses the tunnel, with a passkey.
async fn owner_with_passkey(service: &Service, port: u16) -> (Browser, Authenticator) {
    let (mut owner, passkey) = (Browser::tunnelled(port), Authenticator::new());
    owner.join(service).await;
    owner.add(&passkey).await;
    (owner, passkey)
}

/// Five wrong passwords under a known name, from one place.
async fn a_stranger_locks_out_nobody_but_themselves(database: Database) {
    let service = behind_a_proxy(database);
    let mut owner = Browser::over_tls(&service);
    owner.join(&service).await;
    let mut stranger = owner.other("198.51.100.7");
    for _ in 0..5 {
        assert_eq!(stranger.sign_in(NAME, "wrong").await.status(), StatusCode::FORBIDDEN);
    }
    let locked = stranger.sign_in(NAME, PASSWORD).await;
    assert_eq!(locked.status(), StatusCode::TOO_MANY_REQUESTS);
    let mut elsewhere = owner.other("203.0.113.2");
    assert_eq!(elsewhere.sign_in(NAME, PASSWORD).await.status(), StatusCode::SEE_OTHER);
    // From the same address as the stranger.
    owner.address = stranger.address;
    assert_eq!(owner.sign_in(NAME, PASSWORD).await.status(), StatusCode::SEE_OTHER);
}

/// A hundred wrong passwords under one name, from as many addresses as needed: strangers are
/// slowed, also under an unknown name, and a browser that signed in before is let in.
async fn many_places_slow_a_name_for_strangers_alone(database: Database) {
    let service = behind_a_proxy(database);
    let mut owner = Browser::over_tls(&service);
    owner.join(&service).await;
    for name in [NAME, "nobody"] {
        let (began, mut judged) = (Instant::now(), 0);
        let refused = loop {
            let mut one = owner.other(&format!("198.51.100.{}", judged / 4));
            match one.sign_in(name, "wrong").await.status() {
                StatusCode::FORBIDDEN => judged += 1,
                other => break other,
            }
        };
        // One failure expires every 36 seconds while a busy machine hashes.
        let most = 100 + began.elapsed().as_secs() / 36 + 1;
        assert_eq!(refused, StatusCode::TOO_MANY_REQUESTS);
        assert!((100..=most).contains(&judged), "{judged} of {most} were judged");
    }
    assert_eq!(owner.sign_in(NAME, PASSWORD).await.status(), StatusCode::SEE_OTHER);
}

/// Wrong passwords from the address of the passkey, more challenges than were ever stored, and a
/// challenge that is answered twice.
async fn a_passkey_is_barred_by_nobody_and_a_question_counts_once(database: Database) {
    let (service, port) = tunnelled(database);
    let (_, passkey) = owner_with_passkey(&service, port).await;
    let mut here = Browser::tunnelled(port);
    let asked = here.question(ASK, "").await;
    for _ in 0..6 {
        here.sign_in(NAME, "wrong").await;
    }
    let flood = (0..1_100).map(|_| {
        let mut stranger = here.clone();
        async move { stranger.question(ASK, "").await }
    });
    for some in chunks(flood.collect(), 20) {
        join_all(some).await;
    }
    assert_eq!(here.answer(&passkey, &asked, TUNNEL).await, StatusCode::SEE_OTHER);
    assert_eq!(here.answer(&passkey, &asked, TUNNEL).await, StatusCode::FORBIDDEN);
}

fn chunks<T>(all: Vec<T>, size: usize) -> Vec<Vec<T>> {
    let mut all = all.into_iter();
    std::iter::from_fn(|| Some(all.by_ref().take(size).collect::<Vec<_>>()))
        .take_while(|some| !some.is_empty())
        .collect()
}

/// A page of another service on this host makes its visitors sign in here: its own port is in the
/// `Host` header, and in the data that the passkey signs.
async fn the_origin_of_passkeys_is_that_of_the_settings(database: Database) {
    const OTHER: &str = "http://localhost:9999";
    let (service, port) = tunnelled(database);
    let (mut owner, passkey) = owner_with_passkey(&service, port).await;
    let mut lured = Browser { origin: OTHER.to_owned(), ..Browser::tunnelled(port) };
    let asked = lured.question(ASK, "").await;
    assert_eq!(lured.answer(&passkey, &asked, OTHER).await, StatusCode::FORBIDDEN);
    assert_eq!(owner.answer(&passkey, &asked, TUNNEL).await, StatusCode::SEE_OTHER);
}

/// Challenge and answer reach different instances. If an answer is sent twice
/// concurrently, it counts once.
async fn instances_share_what_was_asked_and_answered(database: Database) {
    let (mut service, port) = tunnelled(database);
    let (twins, address) = dashboard_address();
    service.world.settings.push(("DWAR__DASHBOARD__ADDRESS".to_owned(), address));
    let _twin = service.twin();
    let (_, passkey) = owner_with_passkey(&service, port).await;
    for _ in 0..5 {
        let (mut here, mut there) = (Browser::tunnelled(port), Browser::tunnelled(twins));
        let asked = here.question(ASK, "").await;
        assert_eq!(there.answer(&passkey, &asked, TUNNEL).await, StatusCode::SEE_OTHER);
        let asked = here.question(ASK, "").await;
        let answers = [here.clone(), there.clone(), here.clone(), there.clone()].map(|mut one| {
            let (passkey, asked) = (&passkey, &asked);
            async move { one.answer(passkey, asked, TUNNEL).await }
        });
        let mut answers = join_all(answers).await;
        answers.sort_unstable();
        let forbidden = StatusCode::FORBIDDEN;
        assert_eq!(answers, [StatusCode::SEE_OTHER, forbidden, forbidden, forbidden]);
        assert_eq!(there.answer(&passkey, &asked, TUNNEL).await, forbidden);
    }
}

/// Forty clients of one address hash passwords all the time; others sign in meanwhile.
async fn forty_clients_of_one_address_starve_nobody(database: Database) {
    let service = behind_a_proxy(database);
    let mut owner = Browser::over_tls(&service);
    owner.join(&service).await;
    let over = AtomicBool::new(false);
    let flood = join_all((0..40).map(|client| {
        let (over, mut one) = (&over, owner.other("198.51.100.7"));
        async move {
            // Different names, so that no lock saves the hasher work.
            for round in 0.. {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                one.sign_in(&format!("nobody {client} {round}"), "wrong").await;
            }
        }
    }));
    let others = async {
        let mut answers = Vec::new();
        for number in 0..16 {
            let mut other = owner.other(&format!("203.0.113.{}", 10 + number));
            answers.push(other.sign_in(NAME, PASSWORD).await.status());
        }
        over.store(true, Ordering::Relaxed);
        answers
    };
    let (_, answers) = tokio::join!(flood, others);
    assert_eq!(answers, [StatusCode::SEE_OTHER; 16]);
}

/// Sixty concurrent sign-ins: those beyond the limit are told to try again, without counting as
/// wrong.
async fn sixty_at_once_are_told_to_try_in_a_moment(database: Database) {
    let service = behind_a_proxy(database);
    let visitor = Browser::over_tls(&service);
    let sixty = (0..60).map(|number| {
        let mut one = visitor.other("198.51.100.7");
        async move {
            let answer = one.sign_in(&format!("nobody {number}"), "wrong").await;
            let retry =
                answer.headers().get("retry-after").map(|it| it.to_str().unwrap().to_owned());
            (answer.status(), retry, answer.text().await.unwrap())
        }
    });
    let (busy, judged): (Vec<_>, Vec<_>) = join_all(sixty)
        .await
        .into_iter()
        .partition(|(status, ..)| *status != StatusCode::FORBIDDEN);
    assert!(judged.len() >= 18 && !busy.is_empty(), "{} were judged", judged.len());
    for (status, retry, page) in busy {
        assert_eq!((status, retry.as_deref()), (StatusCode::SERVICE_UNAVAILABLE, Some("1")));
        assert!(page.contains("Try again in a moment") && !page.contains("database"), "{page}");
    }
    let logged = service.stderr();
    assert!(!logged.iter().any(|line| line.contains(r#""level":"ERROR""#)), "{logged:?}");
}

on_both_databases! {
    a_stranger_locks_out_nobody_but_themselves;
    many_places_slow_a_name_for_strangers_alone;
    a_passkey_is_barred_by_nobody_and_a_question_counts_once;
    the_origin_of_passkeys_is_that_of_the_settings;
    instances_share_what_was_asked_and_answered;
    forty_clients_of_one_address_starve_nobody;
    sixty_at_once_are_told_to_try_in_a_moment;
}
