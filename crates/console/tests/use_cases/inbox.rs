use dwar_console::{InboxLine, InboxPage, ManageError, Management};
use dwar_kernel::{KeyMode, ProjectId, Vault};
use dwar_memory::MemoryStore;
use dwar_operator::{Access, Requester, Role};
use dwar_otp::sandbox::InboxMessage;
use dwar_otp::{Channel, Message};
use dwar_testkit::{CODE, FixedClock, Fixtures, Line, START, Stores, console, management, seconds};
use dwar_wallet::Amount;
use std::sync::Arc;

/// A project whose test key sends, and the operators who read its messages.
struct House {
    stores: Stores,
    manage: Management,
    vault: Arc<dyn Vault>,
    make: Fixtures,
    project: ProjectId,
}

impl House {
    async fn open() -> Self {
        let stores = Stores::from(&Arc::new(MemoryStore::default()));
        let parts = console(stores.clone(), &Arc::new(FixedClock::at(START)));
        let manage = management(&parts, &Arc::default());
        let name = "Acme".parse().unwrap();
        let made =
            manage.projects.create(&Requester::command_line(), &name, Amount::ZERO).await.unwrap();
        let (vault, make) = (parts.login.tools.vault.clone(), Fixtures::seeded(1));
        Self { stores, manage, vault, make, project: made.id }
    }

    /// Deposits a message this many seconds after the start.
    async fn land(&self, number: &str, text: &str, second: u64) {
        let at = START + seconds(second);
        let line = self.make.line(self.project.in_mode(KeyMode::Test));
        let line = Line { phone: number.parse().unwrap(), ..line };
        let mut otp = self.make.otp_with(&line, CODE, at);
        otp.sealed_phone = self.vault.seal_phone(self.project, &line.phone);
        let message = Message {
            otp: otp.id,
            attempt: self.make.id(),
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
        self.make.issue(&*self.stores.logins, otp).await;
        let landed = InboxMessage::seal(self.vault.as_ref(), &message, at);
        self.stores.inbox.deposit(self.project, landed).await.unwrap();
    }

    async fn list(&self, role: Role, wanted: &str, page: u32) -> Result<InboxPage, ManageError> {
        let access = Access::one(self.project, role);
        let by = Requester { access, ..Requester::command_line() };
        self.manage.inbox.list(&by, self.project, wanted, page).await
    }

    async fn found(&self, wanted: &str) -> Vec<String> {
        let page = self.list(Role::Member, wanted, 0).await.unwrap();
        let text = |line: InboxLine| line.text.unwrap();
        page.lines.into_iter().map(text).collect()
    }
}

#[tokio::test]
async fn it_is_for_those_who_may_use_the_playground() {
    let house = House::open().await;
    house.land("9876543210", "hello", 0).await;
    for role in Role::ALL {
        let answer = house.list(role, "", 0).await;
        let may = matches!(role, Role::Owner | Role::Member);
        assert_eq!(answer.is_ok(), may, "{role:?}");
    }
}

#[tokio::test]
async fn a_message_is_found_by_its_number_and_by_words_of_its_text() {
    let house = House::open().await;
    house.land("9876543210", "Your Chai code", 0).await;
    house.land("9123456789", "Your Tea code", 1).await;
    let (chai, tea) = ("Your Chai code", "Your Tea code");
    for (wanted, found) in [
        ("", vec![tea, chai]),
        ("  ", vec![tea, chai]),
        ("your CODE", vec![tea, chai]),
        ("chai", vec![chai]),
        ("98765 43210", vec![chai]),
        ("+91-98765-43210", vec![chai]),
        ("6789", vec![tea]),
        ("tea 6789", vec![tea]),
        ("chai 6789", vec![]),
        ("-", vec![]),
    ] {
        assert_eq!(house.found(wanted).await, found, "{wanted:?}");
    }
    let line = house.list(Role::Owner, "tea", 0).await.unwrap().lines.remove(0);
    assert_eq!(line.phone.as_ref().unwrap().e164(), "+919123456789");
    assert!(!format!("{line:?}").contains("Tea"));
}

#[tokio::test]
async fn the_newest_thousand_come_in_pages_of_fifty() {
    let house = House::open().await;
    for second in 0..1_003 {
        house.land("9876543210", &format!("#{second:04}"), second).await;
    }
    let text = |page: &InboxPage, at: usize| page.lines[at].text.clone().unwrap();
    for (page, first, last, has_older) in
        [(0, "#1002", "#0953", true), (19, "#0052", "#0003", false)]
    {
        let shown = house.list(Role::Member, "", page).await.unwrap();
        assert_eq!((text(&shown, 0).as_str(), text(&shown, 49).as_str()), (first, last));
        assert_eq!((shown.lines.len(), shown.has_older), (50, has_older));
    }
    assert_eq!(house.found("#0003").await, ["#0003"]);
    assert_eq!(house.found("#0002").await, Vec::<String>::new(), "beyond the newest thousand");
    for beyond in [20, u32::MAX] {
        assert_eq!(house.list(Role::Member, "", beyond).await.unwrap(), InboxPage::default());
    }
}
