//! Test sends by one provider only.

use crate::common::{BY, Office};
use dwar_console::ManageError;
use dwar_kernel::{Channel, KeyMode, OtpId, ProjectId};
use dwar_operator::Action;
use dwar_otp::{DeliveryStatus, Outcome, Reason};
use dwar_testkit::phone;
use dwar_wallet::{Credited, Paise};

const SMS: (Channel, &str) = (Channel::Sms, "msg91");

impl Office {
    async fn paid(&self, paise: i64) -> ProjectId {
        let project = self.project().await;
        let credit = self.make.credit(Paise(paise));
        let paid = self.stores.wallets.credit(project, credit, dwar_testkit::START).await;
        assert_eq!(paid.unwrap(), Credited::Booked);
        project
    }

    async fn test(&self, project: ProjectId, number: u32) -> Result<OtpId, ManageError> {
        self.manage.provider_test.send(&BY, project, SMS, &phone(number)).await
    }

    async fn left(&self, project: ProjectId) -> Paise {
        self.stores.wallets.balance(project).await.unwrap().available()
    }
}

#[tokio::test]
async fn it_goes_by_that_provider_at_its_price_and_its_number_is_masked_in_the_log() {
    let office = Office::open();
    let project = office.paid(100).await;
    let otp = office.test(project, 876_543_210).await.unwrap();
    let sent = office.postbox.messages();
    assert_eq!(sent.len(), 1);
    assert_eq!(
        (sent[0].channel, sent[0].project_mode),
        (Channel::Sms, project.in_mode(KeyMode::Live))
    );
    assert_eq!(office.left(project).await, Paise(75));
    let request = office.stores.otps.find(project.in_mode(KeyMode::Live), otp).await.unwrap();
    assert_eq!(request.unwrap().delivery.status, DeliveryStatus::Sent);
    let log = office.log().await;
    let entry = log.iter().find(|entry| entry.action == Action::ProviderTested).unwrap();
    assert_eq!((entry.subject.as_str(), entry.project), ("msg91", Some(project)));
    let after = entry.after.as_deref().unwrap();
    assert!(after.contains("••••3210") && !after.contains(sent[0].code.expose()), "{after}");
}

#[tokio::test]
async fn one_that_refuses_is_followed_by_no_other_and_costs_nothing() {
    let office = Office::open();
    let project = office.paid(100).await;
    office.postbox.answer(Outcome::Refused(Reason::ProviderUnavailable));
    let whatsapp = (Channel::Whatsapp, "meta");
    let tests = &office.manage.provider_test;
    let refused = tests.send(&BY, project, whatsapp, &phone(876_543_210)).await;
    assert!(
        matches!(refused, Err(ManageError::Conflict(text)) if text.contains("did not accept it"))
    );
    assert_eq!(office.postbox.messages().len(), 1, "msg91 is next in the route, and is not asked");
    assert_eq!(office.left(project).await, Paise(100));
}

#[tokio::test]
async fn limits_money_archives_and_names_hold_for_it_too() {
    let office = Office::open();
    let poor = office.project().await;
    let told = |answer: Result<OtpId, ManageError>, word: &str| {
        let said = answer.unwrap_err().to_string();
        assert!(said.contains(word), "{word}: {said}");
    };
    told(office.test(poor, 876_543_210).await, "does not cover");
    let project = office.paid(10_000).await;
    let tests = &office.manage.provider_test;
    let elsewhere = tests.send(&BY, project, (Channel::Sms, "nobody"), &phone(1)).await;
    assert!(matches!(elsewhere, Err(ManageError::NotFound(_))));
    let mut sent = 0;
    let refused = loop {
        match office.test(project, 876_543_210).await {
            Ok(_) => sent += 1,
            Err(refused) => break refused,
        }
        assert!(sent < 50, "the limits of the number hold");
    };
    told(Err(refused), "reached its limit of codes");
    assert!(sent > 0 && office.test(project, 876_543_211).await.is_ok(), "another number");
    office.manage.projects.archive(&BY, project).await.unwrap();
    told(office.test(project, 876_543_212).await, "archived");
}
