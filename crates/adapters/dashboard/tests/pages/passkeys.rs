use crate::support::{Browser, House, PASSWORD, Reply};
use base64ct::{Base64UrlUnpadded, Encoding};
use dwar_operator::{Action, AuditFilter, Challenge, Role};

/// Base64url of a test value.
fn b64(bytes: &[u8]) -> String {
    Base64UrlUnpadded::encode_string(bytes)
}

const HERE: (&str, &str) = ("localhost:8081", "http://localhost:8081");

impl Browser<'_> {
    /// A form sent to the host name that passkeys can be bound to.
    async fn by_name(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        let csrf = self.csrf().await;
        let fields = [fields, &[("csrf", csrf.as_str())]].concat();
        let request = self.form(path, &fields);
        let request = request.insert_header(("Host", HERE.0)).insert_header(("Origin", HERE.1));
        self.house().send(request).await
    }

    async fn question(&self, path: &str) -> String {
        let asked = self.by_name(path, &[]).await;
        assert_eq!(asked.status, 200, "{}", asked.body);
        let asked: serde_json::Value = serde_json::from_str(&asked.body).unwrap();
        asked["challenge"].as_str().unwrap().to_owned()
    }

    async fn add(&self, challenge: &str, password: &str, said: &[u8]) -> Reply {
        let fields = [
            ("challenge", challenge.to_owned()),
            ("credential", b64(b"laptop")),
            ("client_data", b64(said)),
            ("attestation", b64(b"key")),
            ("name", "Laptop".to_owned()),
            ("current", password.to_owned()),
        ];
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.by_name("/account/passkeys/add", &fields).await
    }

    async fn come_in(&self, challenge: &str, credential: &[u8], said: &[u8], counter: u8) -> Reply {
        let fields = [
            ("next", "/account".to_owned()),
            ("challenge", challenge.to_owned()),
            ("credential", b64(credential)),
            ("client_data", b64(said)),
            ("authenticator_data", b64(&[counter])),
            ("signature", b64(b"x")),
        ];
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.by_name("/sign-in/passkey", &fields).await
    }

    async fn with_passkey(self) -> Self {
        let challenge = self.question("/account/passkeys/challenge").await;
        assert_eq!(self.add(&challenge, PASSWORD, b"right").await.status, 303);
        self
    }
}

impl House {
    async fn lines(&self, action: Action) -> usize {
        let filter = AuditFilter { action: Some(action), ..AuditFilter::default() };
        self.kept.audit.page(filter, None, 100).await.unwrap().len()
    }
}

const ASK: &str = "/sign-in/passkey/challenge";

#[actix_web::test]
async fn a_passkey_is_added_with_the_password_and_signs_in_once_per_question() {
    let house = House::new().await;
    let member = house.with_role(Role::Member).await;
    for (password, said) in [("wrong", &b"right"[..]), (PASSWORD, b"wrong")] {
        let challenge = member.question("/account/passkeys/challenge").await;
        assert_eq!(member.add(&challenge, password, said).await.status, 422);
    }
    let challenge = member.question("/account/passkeys/challenge").await;
    assert_eq!(member.add(&challenge, PASSWORD, b"right").await.status, 303);
    assert_eq!(house.lines(Action::PasskeyAdded).await, 1);
    assert_eq!(member.add(&challenge, PASSWORD, b"right").await.status, 422, "used up");
    assert!(member.get("/account").await.body.contains("Laptop"));
    let stranger = house.stranger();
    let challenge = stranger.question(ASK).await;
    let signed_in = stranger.come_in(&challenge, b"laptop", b"right", 2).await;
    assert_eq!((signed_in.status, signed_in.header("location")), (303, "/account"));
    let mut back = member.clone();
    back.cookie = Some(signed_in.token());
    assert_eq!(back.get("/account").await.status, 200);
    let again = stranger.come_in(&challenge, b"laptop", b"right", 3).await;
    assert_eq!(again.status, 403, "a replayed answer");
}

#[actix_web::test]
async fn what_was_asked_for_one_thing_answers_no_other() {
    let house = House::new().await;
    let member = house.with_role(Role::Member).await.with_passkey().await;
    let other = house.with_role(Role::Owner).await;
    let (mine, anybody) = (
        member.question("/account/passkeys/challenge").await,
        house.stranger().question(ASK).await,
    );
    assert_eq!(house.stranger().come_in(&mine, b"laptop", b"right", 2).await.status, 403);
    assert_eq!(
        other.add(&mine, PASSWORD, b"right").await.status,
        422,
        "a passkey of another operator"
    );
    assert_eq!(other.add(&anybody, PASSWORD, b"right").await.status, 422);
}

#[actix_web::test]
async fn a_copied_passkey_is_refused_and_leaves_a_line() {
    let house = House::new().await;
    house.with_role(Role::Member).await.with_passkey().await;
    let stranger = house.stranger();
    for (counter, status) in [(5, 303), (5, 403), (4, 403), (6, 303)] {
        let challenge = stranger.question(ASK).await;
        let answer = stranger.come_in(&challenge, b"laptop", b"right", counter).await;
        assert_eq!(answer.status, status, "{counter}");
    }
    assert_eq!(house.lines(Action::PasskeyRefused).await, 2);
}

/// The attacks: wrong passwords under the name of an operator with a passkey, and wrong signatures.
#[actix_web::test]
async fn nothing_that_others_get_wrong_bars_a_passkey() {
    let house = House::new().await;
    house.with_role(Role::Member).await.with_passkey().await;
    let stranger = house.stranger();
    for _ in 0..7 {
        let fields = [("name", "member"), ("password", "wrong")];
        let failed = house.send(stranger.form("/sign-in", &fields)).await;
        assert!([403, 429].contains(&failed.status), "{}", failed.status);
        for credential in [&b"laptop"[..], b"nobody's"] {
            let challenge = stranger.question(ASK).await;
            let answer = stranger.come_in(&challenge, credential, b"wrong", 9).await;
            assert_eq!(answer.status, 403);
        }
    }
    let challenge = stranger.question(ASK).await;
    assert_eq!(stranger.come_in(&challenge, b"laptop", b"right", 9).await.status, 303);
}

/// The attack: more challenges than could be stored.
#[actix_web::test]
async fn a_flood_of_questions_ends_nobodys_sign_in() {
    let house = House::new().await;
    let member = house.with_role(Role::Member).await.with_passkey().await;
    let stranger = house.stranger();
    let mine = stranger.question(ASK).await;
    let adding = member.question("/account/passkeys/challenge").await;
    let ask = || {
        let form = stranger.form(ASK, &[]).insert_header(("Host", HERE.0));
        form.insert_header(("Origin", HERE.1))
    };
    let flood = house.send_all((0..1_100).map(|_| ask()).collect()).await;
    assert!(flood.iter().all(|reply| reply.status == 200));
    assert_eq!(stranger.come_in(&mine, b"laptop", b"right", 9).await.status, 303);
    let removed = [("credential", b64(b"laptop")), ("current", PASSWORD.to_owned())];
    let removed = removed.each_ref().map(|(name, value)| (*name, value.as_str()));
    assert_eq!(member.by_name("/account/passkeys/remove", &removed).await.status, 303);
    assert_eq!(member.add(&adding, PASSWORD, b"right").await.status, 303);
}

#[actix_web::test]
async fn a_question_is_over_after_five_minutes() {
    let house = House::new().await;
    house.with_role(Role::Member).await.with_passkey().await;
    let stranger = house.stranger();
    let late = stranger.question(ASK).await;
    house.clock.advance(Challenge::LIFETIME);
    assert_eq!(stranger.come_in(&late, b"laptop", b"right", 9).await.status, 403);
}

/// The attack: another service of this host makes its visitors' browsers sign in here.
#[actix_web::test]
async fn the_port_in_a_host_header_makes_no_site_of_ours() {
    let house = House::new().await;
    house.with_role(Role::Member).await.with_passkey().await;
    let stranger = house.stranger();
    let challenge = stranger.question(ASK).await;
    // The verifier of these tests accepts its answers only for `http://localhost:8081`.
    let fields = [
        ("challenge", challenge),
        ("credential", b64(b"laptop")),
        ("client_data", b64(b"right")),
        ("authenticator_data", b64(&[9])),
        ("signature", b64(b"x")),
    ];
    let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
    let form = stranger.form("/sign-in/passkey", &fields);
    let form = form.insert_header(("Host", "localhost:9999"));
    let answer = house.send(form.insert_header(("Origin", "http://localhost:9999"))).await;
    assert_eq!(answer.status, 303, "our own origin was held against the answer");
}

#[actix_web::test]
async fn a_removed_passkey_opens_nothing_and_its_sessions_are_over() {
    let house = House::new().await;
    let member = house.with_role(Role::Member).await.with_passkey().await;
    let challenge = house.stranger().question(ASK).await;
    let lost = house.stranger().come_in(&challenge, b"laptop", b"right", 2).await;
    let token = lost.token();
    let mut lost = member.clone();
    lost.cookie = Some(token);
    let credential = b64(b"laptop");
    let fields = |current| [("credential", credential.as_str()), ("current", current)];
    let path = "/account/passkeys/remove";
    assert_eq!(member.by_name(path, &fields("wrong")).await.status, 422);
    assert_eq!(lost.get("/account").await.status, 200);
    assert_eq!(member.by_name(path, &fields(PASSWORD)).await.status, 303);
    assert_eq!(lost.get("/account").await.status, 303);
    let challenge = house.stranger().question(ASK).await;
    assert_eq!(house.stranger().come_in(&challenge, b"laptop", b"right", 3).await.status, 403);
}

#[actix_web::test]
async fn an_address_cannot_have_passkeys_and_the_page_says_so() {
    let house = House::new().await;
    let member = house.with_role(Role::Member).await;
    assert!(
        member
            .get("/account")
            .await
            .body
            .contains("passkeys do not work with an address such as 127.0.0.1")
    );
    assert!(!house.stranger().get("/sign-in").await.body.contains("data-passkey"));
    assert_eq!(member.post("/account/passkeys/challenge", &[]).await.status, 404);
    assert_eq!(house.stranger().post(ASK, &[]).await.status, 404);
}
