use crate::support::{Browser, House};
use actix_web::cookie::Cookie;
use actix_web::http::Method;

const HINDI: &str = "<html lang=\"hi\"";
const ENGLISH: &str = "<html lang=\"en\"";

/// A page for a browser that prefers Hindi, and may have chosen a language before.
async fn shown(browser: &Browser<'_>, path: &str, chosen: Option<&str>) -> String {
    let asked = browser.request(Method::GET, path);
    let asked = asked.insert_header(("Accept-Language", "hi-IN,hi;q=0.9,en;q=0.8"));
    let asked = match chosen {
        Some(word) => asked.cookie(Cookie::new("dwar_language", word.to_owned())),
        None => asked,
    };
    browser.house().send(asked).await.body
}

#[actix_web::test]
async fn the_playground_is_in_hindi_for_who_prefers_it_and_other_pages_in_english() {
    let house = House::new().await;
    let owner = house.owner().await;
    let page = shown(&owner, &house.page("playground"), None).await;
    assert!(page.contains(HINDI) && page.contains("<h1>प्लेग्राउंड</h1>"), "{page}");
    let (side, _) = page.split_once("<main").unwrap();
    for words in [
        ">कुंजियाँ<",
        ">सेटिंग्स<",
        ">पूरा ऑडिट लॉग<",
        ">साइन आउट करें<",
        "aria-label=\"मेन्यू खोलें\"",
        ">लाइव<",
    ] {
        assert!(side.contains(words), "{words}: {side}");
    }
    for words in ["Keys", "Settings", "Sign out", "Open navigation", "lang=\"en\">"] {
        assert!(!side.replace(" lang=\"en\" aria-pressed", "").contains(words), "{words}: {side}");
    }
    let page = shown(&owner, &house.page("keys"), None).await;
    assert!(page.contains(ENGLISH) && page.contains("<header class=\"side\">"), "{page}");
    for chosen in ["en", "xx"] {
        let page = shown(&owner, &house.page("playground"), Some(chosen)).await;
        assert_eq!(page.contains(ENGLISH), chosen == "en", "{chosen}");
    }
}

#[actix_web::test]
async fn a_language_is_chosen_by_anybody_and_kept_by_the_browser() {
    let house = House::new().await;
    let stranger = house.stranger();
    let choose = |language, back| {
        house.send(stranger.form("/language", &[("language", language), ("back", back)]))
    };
    let chosen = choose("hi", "/sign-in").await;
    assert_eq!((chosen.status, chosen.header("location")), (303, "/sign-in"));
    let cookie = chosen.cookie("dwar_language");
    assert!(cookie.starts_with("dwar_language=hi;") && cookie.contains("HttpOnly"), "{cookie}");
    assert_eq!(choose("en", "//evil.example").await.header("location"), "/");
    assert_eq!(choose("xx", "/").await.status, 400);
    let foreign = stranger.form("/language", &[("language", "hi"), ("back", "/")]);
    let foreign = foreign.insert_header(("Origin", "https://evil.example"));
    assert_eq!(house.send(foreign).await.status, 403);
}

#[actix_web::test]
async fn the_way_in_is_in_hindi_from_the_form_to_its_refusals() {
    let house = House::new().await;
    let stranger = house.stranger();
    let page = shown(&stranger, "/sign-in?next=%2Fteam", None).await;
    assert!(page.contains(HINDI) && page.contains("<h1>साइन इन करें</h1>"), "{page}");
    let back = "name=\"back\" value=\"/sign-in?next=%2Fteam\"";
    assert!(page.contains("action=\"/language\"") && page.contains(back), "{page}");
    let wrong = stranger.form("/sign-in", &[("name", "asha"), ("password", "wrong")]);
    let wrong = house.send(wrong.insert_header(("Accept-Language", "hi"))).await;
    assert_eq!(wrong.status, 403);
    assert!(wrong.body.contains(HINDI) && wrong.body.contains("गलत है।<"), "{}", wrong.body);
    let page = shown(&stranger, "/sign-in", Some("en")).await;
    assert!(page.contains(ENGLISH) && page.contains("<h1>Sign in</h1>"), "{page}");
    let page = shown(&stranger, "/invite", None).await;
    assert!(page.contains(ENGLISH) && !page.contains("action=\"/language\""), "{page}");
}
