use crate::support::House;
use dwar_kernel::{IdentityId, KeyMode, OtpId, Phone};
use dwar_login::Redeemed;
use dwar_operator::{Action, AuditFilter, Role};
use dwar_session::Session;
use dwar_testkit::{CODE, Fixtures, Line, START};

impl House {
    /// Two sessions of one identity, and the address of their page.
    pub async fn two_sessions(&self) -> ([Session; 2], String) {
        let make = Fixtures::seeded(7);
        let line = make.line(self.project.in_mode(KeyMode::Live));
        let logins = [make.login(&line), make.login(&line)];
        let mut sessions = logins.clone().map(|login| login.session);
        for (session, login) in sessions.iter_mut().zip(logins) {
            session.identity = make.log_in(&*self.parts.stores.logins, &line, login).await;
        }
        let path = self.page(&format!("identities/live/{}/sessions", sessions[0].identity));
        (sessions, path)
    }

    fn line(&self, make: &Fixtures, mode: KeyMode, number: &str) -> Line {
        let phone: Phone = number.parse().unwrap();
        let index = self.parts.tools.vault.phone_index(self.project.in_mode(mode), &phone);
        Line { phone, index, ..make.line(self.project.in_mode(mode)) }
    }

    /// A phone that entered the right code: its identity, and the request.
    async fn verified(&self, make: &Fixtures, mode: KeyMode, number: &str) -> (IdentityId, OtpId) {
        let (line, logins) = (self.line(make, mode, number), &*self.parts.stores.logins);
        let otp = make.issue(logins, make.otp(&line)).await;
        match logins.redeem(make.redemption(&line, CODE), START).await.unwrap() {
            Redeemed::LoggedIn(_, identity, _) => (identity, otp.id),
            other => panic!("the right code gave {other:?}"),
        }
    }

    pub async fn alive(&self, of: &Session) -> Vec<bool> {
        let list = &self.kept.identity_sessions;
        let list = list.of_identity(of.project_mode, of.identity, None, 100).await.unwrap();
        let now = self.parts.tools.now();
        list.iter().map(|session| session.is_alive(now)).collect()
    }

    pub async fn ends_on_record(&self) -> usize {
        let filter = AuditFilter { action: Some(Action::SessionsEnded), ..AuditFilter::default() };
        self.kept.audit.page(filter, None, 100).await.unwrap().len()
    }
}

#[actix_web::test]
async fn sessions_are_shown_and_end_one_by_one_or_all() {
    let house = House::new().await;
    let ([one, other], path) = house.two_sessions().await;
    let member = house.with_role(Role::Member).await;
    let page = member.get(&path).await.body;
    assert!(page.contains(&one.id.to_string()) && page.contains(&other.id.to_string()), "{page}");
    let end = format!("{path}/end");
    let ended = member.post(&end, &[("session", &one.id.to_string())]).await;
    assert_eq!(
        (ended.status, ended.header("location")),
        (303, format!("{path}?done=ended").as_str())
    );
    assert_eq!(house.alive(&one).await.iter().filter(|alive| **alive).count(), 1);
    let again = member.post(&end, &[("session", &one.id.to_string())]).await;
    assert_eq!(again.status, 404);
    assert_eq!(member.post(&end, &[("word", "all")]).await.status, 422);
    assert_eq!(member.post(&end, &[("word", "end all")]).await.status, 303);
    assert_eq!(house.alive(&one).await, [false, false]);
    assert_eq!(house.ends_on_record().await, 3, "each is written down before it is done");
}

#[actix_web::test]
async fn nobody_else_sees_or_ends_them() {
    let house = House::new().await;
    let ([one, _], path) = house.two_sessions().await;
    let form = [("session", one.id.to_string())];
    let form = [(form[0].0, form[0].1.as_str())];
    for role in [Role::Support, Role::Viewer] {
        let browser = house.with_role(role).await;
        assert_eq!(browser.get(&path).await.status, 403, "{role:?}");
        assert_eq!(browser.post(&format!("{path}/end"), &form).await.status, 403, "{role:?}");
    }
    // In the other mode or another project, the id is unknown.
    let member = house.with_role(Role::Member).await;
    let test = path.replace("/live/", "/test/");
    assert!(!member.get(&test).await.body.contains(&one.id.to_string()));
    assert_eq!(member.post(&format!("{test}/end"), &form).await.status, 404);
    let elsewhere = path.replace(&house.project.to_string(), &house.other.to_string());
    let page = house.owner().await.get(&elsewhere).await;
    assert_eq!(page.status, 404);
    assert_eq!(member.get(&elsewhere).await.status, 404);
    assert_eq!(house.alive(&one).await, [true, true]);
}

#[actix_web::test]
async fn whoever_verified_lately_is_listed_and_a_story_leads_to_them() {
    let (house, make) = (House::new().await, Fixtures::seeded(8));
    let member = house.with_role(Role::Member).await;
    assert!(member.get(&house.page("identities")).await.body.contains("Nobody has verified"));
    let (identity, otp) = house.verified(&make, KeyMode::Live, "9876543210").await;
    let (other, _) = house.verified(&make, KeyMode::Test, "9123456789").await;
    let unverified = house.line(&make, KeyMode::Live, "9111111111");
    make.issue(&*house.parts.stores.logins, make.otp(&unverified)).await;

    let page = member.get(&house.page("identities")).await.body;
    let sessions = house.page(&format!("identities/live/{identity}/sessions"));
    assert_eq!(page.matches(&format!("href=\"{sessions}\"")).count(), 1, "{page}");
    assert_eq!(page.matches("/sessions\"").count(), 1, "nobody else");
    assert!(!page.contains("9876543210") && !page.contains(&other.to_string()), "{page}");
    let story = house.page(&format!("activity/{otp}"));
    assert!(member.get(&story).await.body.contains(&sessions));
    let support = house.with_role(Role::Support).await;
    assert_eq!(support.get(&house.page("identities")).await.status, 403);
    let page = support.get(&story).await;
    assert!(page.status == 200 && !page.body.contains(&identity.to_string()));
}
