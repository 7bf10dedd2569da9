use crate::support::{Browser, House};
use dwar_operator::{Access, Requester, Role};
use dwar_wallet::{Amount, Correction, Paise};

/// The kinds in the bar of a page, in order.
async fn named(browser: &Browser<'_>, page: &str) -> Vec<String> {
    let body = browser.get(page).await.body;
    let kinds = body.split("data-alert=\"").skip(1);
    kinds.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

#[actix_web::test]
async fn every_page_names_what_concerns_it_to_whoever_may_see_it() {
    let house = House::new().await;
    let (wallets, alerts, by) =
        (&house.manage.wallets, &house.manage.alerts, Requester::command_line());
    let overview = house.page("overview");
    let owner = house.owner().await;
    alerts.refresh().await.unwrap();
    assert_eq!(named(&owner, "/projects").await, Vec::<String>::new());

    let Paise(balance) = wallets.balance(&by, house.project).await.unwrap().balance;
    let out = Correction::try_from(10 - balance).unwrap();
    wallets.adjust(&by, house.project, out, "T-1".parse().unwrap()).await.unwrap();
    alerts.refresh().await.unwrap();
    for page in ["/projects", "/account", &overview, &house.page("keys")] {
        assert_eq!(named(&owner, page).await, ["wallet_empty"], "{page}");
    }
    let body = owner.get(&overview).await.body;
    for wanted in
        ["The wallet of Acme has too little money", "₹0.10", "/help/runbooks#an-empty-wallet"]
    {
        assert!(body.contains(wanted), "{wanted} is not in {body}");
    }
    let of_other = format!("/p/{}/overview", house.other);
    assert_eq!(named(&owner, &of_other).await, Vec::<String>::new(), "it is not its own");
    for role in Role::ALL {
        let sees = role.may(dwar_operator::Permission::See(dwar_operator::Area::Money));
        let wanted = if sees { vec!["wallet_empty"] } else { vec![] };
        let browser = house.with_role(role).await;
        assert_eq!(named(&browser, &overview).await, wanted, "{role:?}");
        assert_eq!(named(&browser, "/account").await, wanted, "{role:?}");
    }
    let signed_in = house.joined("neighbour", Access::one(house.other, Role::Owner)).await;
    assert_eq!(named(&house.browser(&signed_in), "/account").await, Vec::<String>::new());

    wallets
        .credit(&by, house.project, Amount::from(100_000), Some("T-2".parse().unwrap()))
        .await
        .unwrap();
    alerts.refresh().await.unwrap();
    assert_eq!(named(&owner, &overview).await, Vec::<String>::new(), "it is over");
}
