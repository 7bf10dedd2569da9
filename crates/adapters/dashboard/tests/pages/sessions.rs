use crate::support::{HOST, House, PASSWORD};
use actix_web::cookie::Cookie;
use actix_web::test::TestRequest;
use async_trait::async_trait;
use dwar_kernel::StoreError;
use dwar_operator::{Access, Hashing, Origin, Password, PasswordHash, PasswordHasher, Requester};
use dwar_testkit::{PlainHasher, minutes, seconds};
use std::sync::Arc;

#[actix_web::test]
async fn nobody_without_a_session_sees_a_page_and_an_api_key_opens_none() {
    let house = House::new().await;
    let pages = ["keys", "settings", "wallet", "identities", "playground", "audit"];
    let pages = pages.map(|page| house.page(page));
    for path in
        pages.iter().map(String::as_str).chain(["/", "/projects", "/team", "/audit", "/account"])
    {
        let plain = house.stranger().get(path).await;
        assert_eq!(plain.status, 303, "{path}");
        assert!(plain.header("location").starts_with("/sign-in"), "{path}");
        let asked = TestRequest::with_uri(path).insert_header(("Host", HOST));
        let keyed = asked
            .insert_header(("X-Api-Key", house.live_key.as_str()))
            .insert_header(("Authorization", format!("Bearer {}", house.live_key)))
            .cookie(Cookie::new("dwar_dashboard", house.live_key.clone()));
        assert_eq!(house.send(keyed).await.status, 303, "{path}");
    }
}

#[actix_web::test]
async fn the_first_link_opens_once_and_within_its_hour() {
    let house = House::new().await;
    let invited =
        house.manage.operators.invite_first("you".parse().unwrap()).await.unwrap().unwrap();
    let secret = invited.secret.expose();
    let stranger = house.stranger();
    assert_eq!(stranger.get("/start").await.status, 200, "looking spends nothing");
    let enter = || house.send(stranger.form("/start", &[("secret", secret)]));
    let entered = enter().await;
    assert_eq!((entered.status, entered.header("location")), (303, "/?start"));
    let mut browser = stranger.clone();
    browser.cookie = Some(entered.token());
    assert_eq!(browser.get("/account").await.status, 200);
    let again = enter().await;
    assert_eq!((again.status, again.header("set-cookie")), (403, ""));

    let late = House::new().await;
    let invited =
        late.manage.operators.invite_first("you".parse().unwrap()).await.unwrap().unwrap();
    late.clock.advance(minutes(60));
    let form = late.stranger().form("/start", &[("secret", invited.secret.expose())]);
    assert_eq!(late.send(form).await.status, 403);
}

#[actix_web::test]
async fn an_invitation_sets_a_password_once_and_refuses_a_weak_one() {
    let house = House::new().await;
    let by = Requester::command_line();
    let invited = house.manage.operators.invite(&by, "asha", Access::everything()).await.unwrap();
    let secret = invited.secret.expose();
    let accept = |password: &'static str, again: &'static str| {
        let fields = [("secret", secret), ("password", password), ("again", again)];
        house.send(house.stranger().form("/invite", &fields))
    };
    assert_eq!(accept("short", "short").await.status, 422);
    assert_eq!(accept(PASSWORD, "another one entirely").await.status, 422);
    let joined = accept(PASSWORD, PASSWORD).await;
    assert_eq!(joined.status, 303);
    assert_eq!(accept(PASSWORD, PASSWORD).await.status, 403, "spent");
}

#[actix_web::test]
async fn signing_in_gives_a_new_token_whatever_cookie_came_along() {
    let house = House::new().await;
    let first = house.joined("asha", Access::everything()).await;
    let mut browser = house.stranger();
    browser.cookie = Some(first.token.expose().to_owned());
    let fields = [("name", "Asha"), ("password", PASSWORD)];
    let reply = house.send(browser.form("/sign-in", &fields)).await;
    assert_eq!(reply.status, 303);
    assert_ne!(reply.token(), first.token.expose());
    let planted = Cookie::new("dwar_dashboard", "planted-by-somebody");
    let planted = house.send(house.stranger().form("/sign-in", &fields).cookie(planted)).await;
    assert!(planted.status == 303 && planted.token() != "planted-by-somebody");
}

#[actix_web::test]
async fn the_cookie_is_out_of_reach_of_scripts_other_sites_and_plain_connections() {
    let house = House::new().await;
    house.joined("asha", Access::everything()).await;
    let fields = [("name", "asha"), ("password", PASSWORD)];
    let reply = house.send(house.stranger().form("/sign-in", &fields)).await;
    let cookie = reply.header("set-cookie");
    assert!(cookie.starts_with("dwar_dashboard="), "{cookie}");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
    assert!(cookie.contains("Path=/") && !cookie.contains("Domain"), "{cookie}");

    let secure = House::with(true).await;
    secure.joined("asha", Access::everything()).await;
    let form = secure.stranger().form("/sign-in", &fields);
    let form = form.insert_header(("Host", "ops.example.com"));
    let form = form.insert_header(("Origin", "https://ops.example.com"));
    let reply = secure.send(form).await;
    let cookie = reply.header("set-cookie");
    assert!(cookie.starts_with("__Host-dwar=") && cookie.contains("Secure"), "{cookie}");
    assert!(!reply.header("strict-transport-security").is_empty());
}

#[actix_web::test]
async fn wrong_passwords_lock_and_the_page_says_how_long() {
    let house = House::new().await;
    house.joined("asha", Access::everything()).await;
    let try_in = |password: &'static str| {
        let fields = [("name", "asha"), ("password", password)];
        house.send(house.stranger().form("/sign-in", &fields))
    };
    for _ in 0..5 {
        assert_eq!(try_in("wrong").await.status, 403);
    }
    let locked = try_in(PASSWORD).await;
    assert_eq!(locked.status, 429);
    assert!(locked.body.contains("Try again in 30 s"), "{}", locked.body);
    house.clock.advance(seconds(30));
    assert_eq!(try_in(PASSWORD).await.status, 303);
}

/// The attack: a stranger fails under a name, and its owner uses the browser they used before.
#[actix_web::test]
async fn a_browser_that_signed_in_before_gets_in_whoever_else_fails() {
    let house = House::new().await;
    house.joined("asha", Access::everything()).await;
    let fields = |password| [("name", "asha"), ("password", password)];
    let first = house.send(house.stranger().form("/sign-in", &fields(PASSWORD))).await;
    let kept = first.cookie("dwar_browser");
    assert!(kept.contains("HttpOnly") && kept.contains("SameSite=Strict"), "{kept}");
    assert!(kept.contains("Max-Age=15552000") && !kept.contains("Domain"), "{kept}");
    let token = kept.split([';', '=']).nth(1).unwrap().to_owned();
    for _ in 0..5 {
        house.send(house.stranger().form("/sign-in", &fields("wrong"))).await;
    }
    let come = |token: &str| {
        let form = house.stranger().form("/sign-in", &fields(PASSWORD));
        house.send(form.cookie(Cookie::new("dwar_browser", token.to_owned())))
    };
    assert_eq!(come(&token.replace('1', "2")).await.status, 429, "made up");
    let back = come(&token).await;
    assert_eq!(back.status, 303);
    assert_ne!(back.cookie("dwar_browser"), kept, "made anew each time");
    assert_eq!(house.send(house.stranger().form("/sign-in", &fields(PASSWORD))).await.status, 429);
}

#[actix_web::test]
async fn a_new_password_makes_its_browser_known_anew() {
    let house = House::new().await;
    let owner = house.owner().await;
    let new = "twelve blue boats at dawn";
    let fields = [("current", PASSWORD), ("new", new), ("again", new)];
    let changed = owner.post("/account/password", &fields).await;
    assert_eq!((changed.status, changed.cookie("dwar_browser").is_empty()), (303, false));
}

/// While too many passwords are checked, a visitor is told to try again, without counting as wrong.
#[actix_web::test]
async fn too_many_at_once_are_told_to_try_again() {
    struct Busy(PlainHasher);
    #[async_trait]
    impl PasswordHasher for Busy {
        async fn hash(
            &self,
            password: Password,
            origin: Origin,
        ) -> Result<Hashing<PasswordHash>, StoreError> {
            self.0.hash(password, origin).await
        }
        async fn verify(
            &self,
            _: Password,
            _: Option<PasswordHash>,
            _: Origin,
        ) -> Result<Hashing<bool>, StoreError> {
            Ok(Hashing::Busy)
        }
    }
    let house = House::hashing(false, Arc::new(Busy(PlainHasher::default()))).await;
    let owner = house.owner().await;
    let fields = [("name", "asha"), ("password", PASSWORD)];
    let sign_in = house.send(house.stranger().form("/sign-in", &fields)).await;
    let fields = [("current", PASSWORD), ("new", "x2 y3 z4 w5 v6"), ("again", "x2 y3 z4 w5 v6")];
    for busy in [sign_in, owner.post("/account/password", &fields).await] {
        assert_eq!((busy.status, busy.header("retry-after")), (503, "1"));
        assert!(busy.body.contains("Try again in a moment"), "{}", busy.body);
        assert!(!busy.body.contains("database"), "{}", busy.body);
    }
}

#[actix_web::test]
async fn signing_out_everywhere_ends_every_session() {
    let house = House::new().await;
    let owner = house.owner().await;
    let fields = [("name", "asha"), ("password", PASSWORD)];
    let second = house.send(house.stranger().form("/sign-in", &fields)).await.token();
    let mut elsewhere = house.stranger();
    elsewhere.cookie = Some(second);
    assert_eq!(elsewhere.get("/account").await.status, 200);
    assert_eq!(owner.post("/sign-out-everywhere", &[]).await.status, 303);
    assert_eq!(elsewhere.get("/account").await.status, 303);
    assert_eq!(owner.get("/account").await.status, 303);
}
