use crate::support::House;
use dwar_console::explain;
use dwar_kernel::{KeyMode, Phone};
use dwar_operator::Role;
use dwar_otp::sandbox::InboxMessage;
use dwar_otp::{Channel, Message};
use dwar_testkit::{CODE, Fixtures, Line, seconds};

/// A stored message to a number, as from a test key.
async fn land(house: &House, make: &Fixtures, number: &str, text: &str) -> String {
    let (vault, at) = (&house.parts.tools.vault, house.now());
    let line = make.line(house.project.in_mode(KeyMode::Test));
    let line = Line { phone: number.parse::<Phone>().unwrap(), ..line };
    let mut otp = make.otp_with(&line, CODE, at);
    otp.sealed_phone = vault.seal_phone(house.project, &line.phone);
    let message = Message {
        otp: otp.id,
        attempt: make.id(),
        project_mode: line.project_mode,
        channel: Channel::Sms,
        phone: line.phone,
        phone_index: line.index,
        code: CODE.parse().unwrap(),
        text: text.to_owned(),
        brand: "Acme".to_owned(),
        language: "en".to_owned(),
        minutes: 10,
        template_id: None,
    };
    let id = otp.id.to_string();
    make.issue(&*house.parts.stores.logins, otp).await;
    let landed = InboxMessage::seal(vault.as_ref(), &message, at);
    house.parts.stores.inbox.deposit(house.project, landed).await.unwrap();
    house.clock.advance(seconds(1));
    id
}

#[actix_web::test]
async fn lists_every_message_of_test_mode_newest_first_with_its_story() {
    let (house, make) = (House::new().await, Fixtures::seeded(1));
    let member = house.with_role(Role::Member).await;
    let path = house.page("inbox");
    let empty = member.get(&path).await.body;
    assert!(empty.contains("No messages yet") && empty.contains("/playground"), "{empty}");
    let first = land(&house, &make, "9876543210", "123456 is <your> code").await;
    land(&house, &make, "9123456789", "second").await;
    let page = member.get(&path).await.body;
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text} in {page}"));
    assert!(at("second") < at("123456 is &lt;your&gt; code"));
    assert!(at("+919123456789") < at("+919876543210"));
    assert!(at(explain::channel(Channel::Sms)) > 0);
    assert!(page.contains(&format!("href=\"{}/{first}\"", house.page("activity"))));
    let other = house.owner().await.get(&format!("/p/{}/inbox", house.other)).await.body;
    assert!(!other.contains("+91"), "{other}");
}

#[actix_web::test]
async fn searches_by_a_form_whose_number_is_in_no_address() {
    let (house, make) = (House::new().await, Fixtures::seeded(1));
    let member = house.with_role(Role::Member).await;
    land(&house, &make, "9876543210", "chai").await;
    land(&house, &make, "9123456789", "tea").await;
    let path = house.page("inbox");
    for (wanted, found, other) in
        [("98765 43210", "+919876543210", "+919123456789"), ("TEA", "tea<", "chai<")]
    {
        let page = member.post(&path, &[("wanted", wanted)]).await.body;
        assert!(page.contains(found) && !page.contains(other), "{wanted}: {page}");
        assert!(page.contains(&format!("value=\"{wanted}\"")), "{page}");
        assert!(!page.contains("inbox?"), "{page}");
    }
    let page = member.post(&path, &[("wanted", "coffee")]).await.body;
    assert!(page.contains("No messages match.") && !page.contains("+91"), "{page}");
    let foreign = member.form(&path, &[("wanted", "tea"), ("csrf", "wrong")]);
    assert_eq!(house.send(foreign).await.status, 403);
}

#[actix_web::test]
async fn says_when_a_message_has_come_and_to_nobody_else() {
    let (house, make) = (House::new().await, Fixtures::seeded(1));
    let member = house.with_role(Role::Member).await;
    let path = house.page("inbox/live");
    let mut events = member.events(&path, None).await;
    assert!(events.next().await.contains("event: news"));
    land(&house, &make, "9876543210", "chai").await;
    let news = events.next().await;
    assert!(news.contains("event: news") && !news.contains("chai"), "{news}");
    for role in [Role::Support, Role::Viewer] {
        assert_eq!(house.with_role(role).await.get(&path).await.status, 403);
    }
}
