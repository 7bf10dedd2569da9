//! Locks of operators, on the page of the team.

use crate::support::{House, PASSWORD};
use dwar_console::{Credentials, SignInError};
use dwar_kernel::{Digest, Timestamp};
use dwar_operator::{
    Access, Challenge, Client, Passkey, PasskeyAdded, PasskeyAlgorithm, PasskeyKey, Requester, Role,
};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

impl House {
    async fn try_from(&self, network: u32, password: &str) -> Result<(), SignInError> {
        let address = Some(IpAddr::V4(Ipv4Addr::from(network)));
        let typed = Credentials { name: "ravi", password, browser: None };
        let client = Client { address, ..Client::default() };
        self.admin.sign_in.sign_in(typed, client).await.map(drop)
    }

    async fn passkey(&self, name: &str, used_at: Option<Timestamp>) {
        let operator = self.manage.operators.named("ravi").await.unwrap().id;
        let key = PasskeyKey { algorithm: PasskeyAlgorithm::Es256, spki: vec![9; 90] };
        let (name, made_at) = (name.to_owned(), self.now());
        let digest = Digest([name.len() as u8; 32]);
        let credential = vec![1; 16];
        let passkey =
            Passkey { digest, operator, name, credential, key, counter: 0, made_at, used_at };
        let tools = &self.parts.tools;
        let challenge =
            Challenge::issue(None, (tools.vault.as_ref(), tools.entropy.as_ref()), made_at);
        let added = self.kept.passkeys.add_passkey(passkey, challenge).await.unwrap();
        assert_eq!(added, PasskeyAdded::Added);
    }
}

#[actix_web::test]
async fn somebody_who_is_locked_out_or_slowed_is_seen_and_unlocked() {
    let house = House::new().await;
    let ravi = house.joined("ravi", Access::one(house.project, Role::Viewer)).await.operator.id;
    let (chief, owner) = (house.owner().await, house.with_role(Role::Owner).await);
    let unlock = format!("/team/{ravi}/unlock");
    let free = owner.get("/team").await.body;
    assert!(!free.contains(&unlock) && !free.contains("Locked in"), "{free}");
    for _ in 0..5 {
        assert!(house.try_from(1, "wrong wrong wrong").await.is_err());
    }
    let page = owner.get("/team").await.body;
    let sentence = "Locked in 1 browser or network after failed sign-ins, until <time";
    assert!(page.contains(sentence) && page.contains(&unlock), "{page}");
    assert!(!page.contains("More than 100"), "{page}");
    for network in 2..=96 {
        assert!(house.try_from(network, "wrong wrong wrong").await.is_err());
    }
    assert!(owner.get("/team").await.body.contains("More than 100 sign-ins with this name failed"));
    assert!(matches!(house.try_from(999, PASSWORD).await, Err(SignInError::Locked { .. })));

    for role in [Role::Member, Role::Viewer] {
        assert_eq!(house.with_role(role).await.post(&unlock, &[]).await.status, 403, "{role:?}");
    }
    let asha = house.manage.operators.named("asha").await.unwrap().id;
    let above = owner.post(&format!("/team/{asha}/unlock"), &[]).await;
    assert_eq!(above.status, 404, "not of their team");
    let done = owner.post(&unlock, &[]).await;
    assert_eq!((done.status, done.header("location")), (303, "/team?done=unlocked"));
    assert!(!owner.get("/team").await.body.contains(&unlock));
    house.try_from(999, PASSWORD).await.unwrap();
    assert!(chief.get("/audit").await.body.contains("Unlocked a person</span>"));
}

#[actix_web::test]
async fn passkeys_are_shown_and_a_reset_by_its_command_and_its_link() {
    let house = House::new().await;
    house.joined("ravi", Access::one(house.project, Role::Viewer)).await;
    let owner = house.owner().await;
    house.passkey("Laptop", None).await;
    house.passkey("Old phone", Some(house.now() - Duration::from_secs(60))).await;
    let page = owner.get("/team").await.body;
    for part in [
        "<strong>Laptop</strong> · added <time",
        "<strong>Old phone</strong> · added <time",
        "never used",
        "dwar operator reset --name 'ravi'",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("--name 'asha'"), "their own password is changed under Your account");
    let viewer = house.with_role(Role::Owner).await.get("/team").await.body;
    assert!(viewer.contains("dwar operator reset --name 'ravi'"));

    let ravi = house.manage.operators.named("ravi").await.unwrap().id;
    house.manage.operators.reset(&Requester::command_line(), ravi).await.unwrap();
    let page = owner.get("/team").await.body;
    assert!(
        page.contains("Sign-in was reset. The link works until") && !page.contains("Laptop"),
        "{page}"
    );
    house.clock.advance(Duration::from_secs(4 * 86_400));
    let owner = house.browser(&house.joined("meena", Access::everything()).await);
    assert!(owner.get("/team").await.body.contains("No password"));
}
