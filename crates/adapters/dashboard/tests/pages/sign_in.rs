//! The sign-in: the return to the requested page, the code after the password, and known browsers.

use crate::support::{Browser, House, ORIGIN, PASSWORD, Reply};
use actix_web::cookie::Cookie;
use actix_web::http::Method;
use dwar_operator::{Access, PendingSignIn, Requester, Role, TotpSecret};
use dwar_testkit::seconds;

fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// Signs in by password with `next` in the form.
async fn sign_in(house: &House, next: &str) -> Reply {
    let fields = [("name", "asha"), ("password", PASSWORD), ("next", next)];
    house.send(house.stranger().form("/sign-in", &fields)).await
}

#[actix_web::test]
async fn whoever_is_sent_to_sign_in_comes_back_to_the_page_and_its_query() {
    let house = House::new().await;
    house.joined("asha", Access::everything()).await;
    let webhook = house.page("settings/webhooks/00000000-0000-7000-8000-000000000001");
    for page in [
        "/team?change=00000000-0000-7000-8000-000000000001",
        "/operations",
        &house.page("wallet?from=2027-01-15&kind=credit"),
        &house.page("overview?mode=test&period=hour"),
        &house.page("activity/00000000-0000-7000-8000-000000000001"),
        &webhook,
    ] {
        let sent = house.stranger().get(page).await;
        let wanted = format!("/sign-in?next={}", encoded(page));
        assert_eq!((sent.status, sent.header("location")), (303, wanted.as_str()));
        let form = house.stranger().get(&wanted).await.body;
        let field = page.replace('&', "&amp;");
        assert!(form.contains(&format!(r#"name="next" value="{field}""#)), "{form}");
        let again = [("name", "asha"), ("password", "wrong"), ("next", page)];
        let again = house.send(house.stranger().form("/sign-in", &again)).await.body;
        assert!(again.contains(&format!(r#"name="next" value="{field}""#)), "{again}");
        house.clock.advance(seconds(60));
        let signed_in = sign_in(&house, page).await;
        assert_eq!((signed_in.status, signed_in.header("location")), (303, page));
        let here = Browser::with_token(&house, signed_in.token()).get(&wanted).await;
        assert_eq!((here.status, here.header("location")), (303, page), "signed in already");
    }
    assert_eq!(house.stranger().get("/").await.header("location"), "/sign-in");
}

/// The attack: a link to the real sign-in page that continues to another site, or to something that
/// is not a page.
#[actix_web::test]
async fn nobody_is_led_anywhere_but_to_a_page() {
    let house = House::new().await;
    house.joined("asha", Access::everything()).await;
    let script = house.stranger().get("/sign-in").await.body;
    let script = script.split('"').find(|text| text.starts_with("/assets/")).unwrap().to_owned();
    let long = format!("/team?change={}", "a".repeat(1_024));
    let (call, live) = (house.page("playground/call"), house.page("activity/live"));
    let (phone, download) = (house.page("activity/phone"), house.page("wallet/statement.csv"));
    for next in [
        "",
        "team",
        "https://evil.example/",
        "//evil.example",
        "//evil.example/team",
        "/\\evil.example",
        "/team\\",
        "/team\r\nset-cookie: a=b",
        "/team\u{e9}",
        "/team ",
        "javascript:alert(1)",
        "/nowhere",
        "/sign-out",
        "/theme",
        "/mode",
        "/sign-in",
        "/start",
        "/admin/v1/projects",
        &script,
        &long,
        &call,
        &live,
        &phone,
        &download,
    ] {
        let signed_in = sign_in(&house, next).await;
        assert_eq!((signed_in.status, signed_in.header("location")), (303, "/"), "{next:?}");
        let shown = house.stranger().get(&format!("/sign-in?next={}", encoded(next))).await;
        assert_eq!(shown.status, 200, "{next:?}");
        assert!(!shown.body.contains(r#"name="next""#), "{next:?}");
    }
    assert_eq!(house.stranger().get(&download).await.header("location"), "/sign-in");
}

#[actix_web::test]
async fn a_page_of_a_project_that_is_not_theirs_or_gone_leads_home() {
    let house = House::new().await;
    house.joined("asha", Access::one(house.project, Role::Viewer)).await;
    let gone = "/p/00000000-0000-7000-8000-00000000dead/overview".to_owned();
    let other = format!("/p/{}/overview?mode=test", house.other);
    for next in [gone, other, "/p/none/overview".to_owned()] {
        let signed_in = sign_in(&house, &next).await;
        assert_eq!((signed_in.status, signed_in.header("location")), (303, "/"), "{next}");
        let wanted = format!("/sign-in?next={}", encoded(&next));
        let here = Browser::with_token(&house, signed_in.token()).get(&wanted).await;
        assert_eq!((here.status, here.header("location")), (303, "/"), "{next}");
    }
}

#[actix_web::test]
async fn a_form_of_a_session_that_is_over_changes_nothing_and_offers_to_sign_in() {
    let house = House::new().await;
    let page = house.page("settings?done=saved");
    let form = house.stranger().form(&house.page("settings/money"), &[("csrf", "0")]);
    let stale = house.send(form.insert_header(("Referer", format!("{ORIGIN}{page}")))).await;
    assert_eq!(stale.status, 403);
    let link = format!(r#"href="/sign-in?next={}""#, encoded(&house.page("settings")));
    assert!(stale.body.contains(&link), "{}", stale.body);
    let form = house.stranger().form(&house.page("settings/money"), &[]);
    let stale = house.send(form.insert_header(("Referer", "https://evil.example/x"))).await;
    assert!(stale.status == 403 && stale.body.contains(r#"href="/sign-in""#), "{}", stale.body);
}

#[actix_web::test]
async fn other_colours_leave_one_where_one_is() {
    let house = House::new().await;
    let owner = house.owner().await;
    let page = house.page("overview?mode=test&period=hour");
    let field = |page: &str| format!(r#"name="back" value="{}""#, page.replace('&', "&amp;"));
    let shown = owner.get(&page).await.body;
    assert!(shown.contains(&field(&page)), "{shown}");
    let switched = owner.post("/theme", &[("theme", "dark"), ("back", &page)]).await;
    assert_eq!((switched.status, switched.header("location")), (303, page.as_str()));
    assert!(switched.cookie("dwar_theme").contains("SameSite=Lax"));
    // The answer to a form has no address for a GET: the browser goes back to the page with the
    // form.
    let csrf = owner.csrf().await;
    let offered = owner.form("/account/totp", &[("csrf", &csrf)]);
    let offered = offered.insert_header(("Referer", format!("{ORIGIN}/account")));
    let offered = house.send(offered).await.body;
    assert!(offered.contains(&field("/account")), "{offered}");
}

/// A browser of Asha's, who has an authenticator app, between password and code.
async fn with_totp(house: &House) -> TotpSecret {
    let asha = house.joined("asha", Access::everything()).await;
    let account = &house.admin.account;
    let (by, offer) =
        (Requester::operator(&asha.operator, None), account.offer_totp(&asha.operator));
    let present = house.admin.sign_in.session(asha.token.expose()).await.unwrap().unwrap();
    let pair = (offer.secret.expose(), offer.secret.code_at(house.now()).expose());
    account.add_totp(&by, &present, PASSWORD, (&pair.0, &pair.1)).await.unwrap();
    house.clock.advance(seconds(30));
    offer.secret
}

/// The value of a cookie that was set.
fn value<'a>(reply: &'a Reply, name: &str) -> &'a str {
    reply.cookie(name).split([';', '=']).nth(1).unwrap_or_default()
}

#[actix_web::test]
async fn the_code_is_asked_for_after_the_password_and_leads_on() {
    let house = House::new().await;
    let secret = with_totp(&house).await;
    let first = house.stranger().get("/sign-in").await.body;
    assert!(!first.contains(r#"name="code""#), "{first}");
    let wrong = [("name", "asha"), ("password", "wrong")];
    let wrong = house.send(house.stranger().form("/sign-in", &wrong)).await;
    assert_eq!((wrong.status, wrong.header("set-cookie")), (403, ""));
    assert!(!wrong.body.contains("authenticator"), "{}", wrong.body);

    let asked = sign_in(&house, "/team").await;
    assert_eq!((asked.status, asked.header("location")), (303, "/sign-in/code?next=%2Fteam"));
    let kept = asked.cookie("dwar_pending");
    assert!(kept.contains("HttpOnly") && kept.contains("SameSite=Strict"), "{kept}");
    assert!(kept.contains("Max-Age=300") && asked.cookie("dwar_dashboard").is_empty(), "{kept}");
    let pending = Cookie::new("dwar_pending", value(&asked, "dwar_pending").to_owned());

    let stranger = house.stranger();
    let page = stranger.request(Method::GET, "/sign-in/code?next=%2Fteam").cookie(pending.clone());
    let page = house.send(page).await;
    assert!(page.status == 200 && page.body.contains(r#"name="code""#), "{}", page.body);
    assert!(!page.body.contains(r#"type="password""#) && !page.body.contains(pending.value()));
    let without = stranger.get("/sign-in/code?next=%2Fteam").await;
    assert_eq!((without.status, without.header("location")), (303, "/sign-in?next=%2Fteam"));

    let enter = async |code: &str| {
        let form = stranger.form("/sign-in/code", &[("code", code), ("next", "/team")]);
        house.send(form.cookie(pending.clone())).await
    };
    let wrong = enter("000000").await;
    assert!(wrong.status == 403 && wrong.body.contains(r#"name="code""#), "{}", wrong.body);
    let code = secret.code_at(house.now()).expose();
    let bare = house.send(stranger.form("/sign-in/code", &[("code", &code)])).await;
    assert!(bare.status == 403 && bare.body.contains(r#"name="password""#), "another browser");
    let signed_in = enter(&code).await;
    assert_eq!((signed_in.status, signed_in.header("location")), (303, "/team"));
    assert!(!signed_in.cookie("dwar_dashboard").is_empty());
    assert!(signed_in.cookie("dwar_pending").contains("Max-Age=0"));
    house.clock.advance(seconds(30));
    let again = enter(&secret.code_at(house.now()).expose()).await;
    assert!(again.status == 403 && again.body.contains("took too long"), "{}", again.body);
}

#[actix_web::test]
async fn a_code_that_comes_too_late_begins_anew_and_too_many_wrong_ones_lock() {
    let house = House::new().await;
    let secret = with_totp(&house).await;
    let begin = async || {
        let asked = sign_in(&house, "").await;
        Cookie::new("dwar_pending", value(&asked, "dwar_pending").to_owned())
    };
    let enter = async |pending: &Cookie<'static>, code: &str| {
        let form = house.stranger().form("/sign-in/code", &[("code", code)]);
        house.send(form.cookie(pending.clone())).await
    };
    let slow = begin().await;
    house.clock.advance(PendingSignIn::LIFETIME);
    let late = enter(&slow, &secret.code_at(house.now()).expose()).await;
    assert!(late.status == 403 && late.cookie("dwar_pending").contains("Max-Age=0"));
    assert!(late.body.contains(r#"name="password""#), "{}", late.body);
    let one = begin().await;
    for _ in 0..5 {
        assert_eq!(enter(&one, "000000").await.status, 403);
    }
    let locked = enter(&one, &secret.code_at(house.now()).expose()).await;
    assert_eq!(locked.status, 429);
    assert!(locked.body.contains("Try again in 30 s"), "{}", locked.body);
    assert_eq!(sign_in(&house, "").await.status, 429, "the password waits too");
}

#[actix_web::test]
async fn sessions_are_listed_by_the_name_of_their_device() {
    let house = House::new().await;
    let owner = house.owner().await;
    let iphone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 \
        (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";
    for agent in [iphone, "<script>alert(1)</script> Firefox/143.0"] {
        let form = owner.form("/sign-in", &[("name", "asha"), ("password", PASSWORD)]);
        let signed_in = house.send(form.insert_header(("User-Agent", agent))).await;
        assert_eq!(signed_in.status, 303);
    }
    let page = owner.get("/account").await.body;
    for device in ["Safari on iPhone", "<strong>Firefox</strong>", "Unknown browser"] {
        assert!(page.contains(device), "{device}: {page}");
    }
    assert!(!page.contains("alert(1)"), "{page}");
}
