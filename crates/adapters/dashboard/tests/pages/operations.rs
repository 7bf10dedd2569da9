use crate::support::House;
use dwar_operator::Role;

#[actix_web::test]
async fn operations_are_shown_to_owners_of_the_installation_the_worst_first() {
    let house = House::new().await;
    for role in Role::ALL {
        let browser = house.with_role(role).await;
        assert_eq!(browser.get("/operations").await.status, 403, "{role:?}");
        assert!(
            !browser.get("/account").await.body.contains("/operations"),
            "{role:?} is led there"
        );
    }
    assert_eq!(house.stranger().get("/operations").await.status, 303);
    let owner = house.owner().await;
    assert!(owner.get("/account").await.body.contains("href=\"/operations\""));
    let page = owner.get("/operations").await.body;
    let place = |what: &str| page.find(what).unwrap_or_else(|| panic!("{what} is not in {page}"));
    assert!(place("7 MiB free") < place("1 to apply") && place("1 to apply") < place("answers"));
    for wanted in
        ["make room", "node-1", "1,000+", "50 % (64/128)", "left alone for 12 s", "24 MiB"]
    {
        place(wanted);
    }
    assert!(place("restarts") > place("down, started again"));
}
