//! The page of one provider.

use crate::support::House;
use dwar_operator::Role;
use dwar_otp::{Outcome, Reason};

const PHONE: (&str, &str) = ("phone", "98765 43210");

#[actix_web::test]
async fn it_says_how_calls_go_and_an_answer_is_no_silence() {
    let house = House::new().await;
    let viewer = house.with_role(Role::Viewer).await;
    let page = house.page("settings/delivery/twilio");
    let seen = viewer.get(&page).await;
    assert_eq!(seen.status, 200);
    for part in [
        "paused for 12 s",
        "<dd>1 of 4</dd>",
        "<dd>340 ms</dd>",
        "HTTP 500",
        "20500",
        "The provider answered with an error of its own.",
        "activity?mode=live&amp;provider=twilio",
    ] {
        assert!(seen.body.contains(part), "{part}: {}", seen.body);
    }
    assert!(!seen.body.contains("could not be reached"), "{}", seen.body);
    let main = seen.body.split("<main").nth(1).unwrap();
    assert!(!main.contains("/probe") && !main.contains("/test\""), "only to look at: {main}");
    let delivery = viewer.get(&house.page("settings/delivery")).await.body;
    assert!(delivery.contains(&format!("href=\"{page}\"")), "{delivery}");
    assert_eq!(viewer.get(&house.page("settings/delivery/nobody")).await.status, 404);
    assert_eq!(house.with_role(Role::Support).await.get(&page).await.status, 403);
    let elsewhere = format!("/p/{}/settings/delivery/twilio", house.other);
    assert_eq!(viewer.get(&elsewhere).await.status, 404);
}

#[actix_web::test]
async fn a_probe_says_whether_it_answers() {
    let house = House::new().await;
    let member = house.with_role(Role::Member).await;
    let viewer = house.with_role(Role::Viewer).await;
    for (provider, status, said) in [
        ("msg91", 200, "It answers: HTTP 404 after 0.1 s."),
        ("twilio", 200, "It cannot be reached: no answer within 0.1 s."),
        ("meta", 200, "It has no address for a check."),
        ("nobody", 404, ""),
    ] {
        let path = house.page(&format!("settings/delivery/{provider}/probe"));
        let probed = member.post(&path, &[]).await;
        assert_eq!(probed.status, status, "{provider}");
        assert!(probed.body.contains(said), "{}", probed.body);
        assert_eq!(viewer.post(&path, &[]).await.status, 403);
    }
}

#[actix_web::test]
async fn a_test_leads_to_its_story_and_a_refusal_is_said() {
    let house = House::sending().await;
    let member = house.with_role(Role::Member).await;
    let path = house.page("settings/delivery/msg91/test");
    let wrong = member.post(&path, &[("channel", "sms"), ("phone", "12")]).await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.body.contains("id=\"phone-error\""), "{}", wrong.body);
    let sent = member.post(&path, &[("channel", "sms"), PHONE]).await;
    assert_eq!(sent.status, 303);
    let story = member.get(sent.header("location")).await;
    assert_eq!(story.status, 200);
    assert!(story.body.contains("msg91"), "{}", story.body);
    let code = house.postbox.messages()[0].code.expose().to_owned();
    assert!(!story.body.contains(&code), "a code is shown to nobody");

    house.postbox.answer(Outcome::Refused(Reason::ProviderAuth));
    let other = [("channel", "sms"), ("phone", "9876543219")];
    let refused = member.post(&path, &other).await;
    assert_eq!(refused.status, 409);
    assert!(refused.body.contains("The provider did not accept it"), "{}", refused.body);
    assert_eq!(house.postbox.messages().len(), 2);
    for role in [Role::Support, Role::Viewer] {
        let answer = house.with_role(role).await.post(&path, &other).await;
        assert_eq!(answer.status, 403, "{role:?}");
    }
    assert_eq!(house.postbox.messages().len(), 2);
}
