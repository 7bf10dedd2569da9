use crate::support::{Browser, House};
use dwar_kernel::{KeyMode, ProjectId};
use dwar_operator::{Action, AuditFilter, Role};
use dwar_otp::{CodeDigest, Otp, OtpState};
use dwar_testkit::{Fixtures, START};
use dwar_wallet::{Credit, Credited, LedgerProof, Paise, ProofRun};
use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);

impl House {
    /// Adds money, this many days after the start.
    pub async fn paid_in(&self, project: ProjectId, paise: i64, reference: &str, days: u32) {
        let (id, amount) = (self.make_id(), paise.try_into().unwrap());
        let credit = Credit { id, amount, reference: reference.parse().unwrap() };
        let paid = self.parts.stores.wallets.credit(project, credit, START + DAY * days).await;
        assert_eq!(paid.unwrap(), Credited::Booked);
    }

    fn make_id(&self) -> dwar_kernel::EntryId {
        dwar_kernel::EntryId::new(START, self.parts.tools.entropy.as_ref())
    }

    async fn last_proof(&self) -> Option<LedgerProof> {
        self.kept.ledger.last_proof(self.project).await.unwrap()
    }

    pub async fn proofs_asked_for(&self) -> usize {
        let filter = AuditFilter { action: Some(Action::LedgerProved), ..AuditFilter::default() };
        self.kept.audit.page(filter, None, 100).await.unwrap().len()
    }
}

async fn csv(browser: &Browser<'_>, house: &House, query: &str) -> Vec<String> {
    let reply = browser.get(&house.page(&format!("wallet/statement.csv?{query}"))).await;
    assert_eq!(reply.status, 200, "{query}");
    assert_eq!(reply.header("content-type"), "text/csv; charset=utf-8");
    reply.body.lines().map(str::to_owned).collect()
}

#[actix_web::test]
async fn the_statement_shows_what_is_asked_for() {
    let house = House::new().await;
    let viewer = house.with_role(Role::Viewer).await;
    for (number, reference) in ["first", "second", "third"].into_iter().enumerate() {
        house.paid_in(house.project, 100, reference, u32::try_from(number * 2).unwrap()).await;
    }
    let shown = |query: String| {
        let viewer = viewer.clone();
        let path = house.page(&format!("wallet?{query}"));
        async move {
            let page = viewer.get(&path).await.body;
            ["first", "second", "third"].map(|one| page.contains(&format!("{one}</td>")))
        }
    };
    let day = |days: u32| (START + DAY * days).format("%Y-%m-%d");
    assert_eq!(shown(String::new()).await, [true; 3]);
    assert_eq!(shown(format!("from={}", day(1))).await, [false, true, true]);
    assert_eq!(shown(format!("from={0}&until={0}", day(2))).await, [false, true, false]);
    assert_eq!(shown("reference=first&kind=credit".to_owned()).await, [true, false, false]);
    assert_eq!(shown("kind=refund".to_owned()).await, [false; 3]);
    assert_eq!(viewer.get(&house.page("wallet?from=yesterday")).await.status, 400);
    assert_eq!(viewer.get(&house.page("wallet?kind=theft")).await.status, 400);
}

#[actix_web::test]
async fn pages_of_the_statement_lead_to_older_ones_until_the_end() {
    let house = House::new().await;
    let viewer = house.with_role(Role::Viewer).await;
    for number in 0..120 {
        house.paid_in(house.project, 100, &format!("no {number}."), 1).await;
    }
    let (mut path, mut seen) = (house.page("wallet?kind=credit"), Vec::new());
    for lines in [50, 50, 21] {
        let page = viewer.get(&path).await.body;
        let found: Vec<_> = (0..120).filter(|no| page.contains(&format!(">no {no}.<"))).collect();
        assert_eq!(page.matches("<tr>").count(), lines + 1);
        seen.extend(found);
        let link = page.split(r#"href="?"#).nth(1).map(|rest| rest.split('"').next().unwrap());
        assert_eq!(link.is_some(), lines == 50);
        if let Some(link) = link {
            path = house.page(&format!("wallet?{}", link.replace("&amp;", "&")));
        }
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..120).collect::<Vec<_>>());
}

#[actix_web::test]
async fn a_download_has_every_wanted_line_once_and_no_formula() {
    let house = House::new().await;
    let viewer = house.with_role(Role::Viewer).await;
    // More than two batches, all of one instant.
    for number in 0..1_203 {
        house.paid_in(house.project, 5, &format!("no {number}"), 1).await;
    }
    house.paid_in(house.project, 12_345, "=cmd|' /C calc'!A0", 3).await;
    house.paid_in(house.other, 100, "of another project", 3).await;
    let all = csv(&viewer, &house, "").await;
    assert!(all[0].starts_with("position,entry_id,at,kind,reference,amount_paise,held_paise,"));
    assert_eq!(all.len(), 1 + 1_203 + 2);
    let positions: Vec<u32> =
        all[1..].iter().map(|line| line.split(',').next().unwrap().parse().unwrap()).collect();
    assert!(positions.is_sorted_by(|one, next| one > next), "each once");
    assert!(all[1].contains(r#","'=cmd|' /C calc'!A0",12345,0,"#), "{}", all[1]);
    assert!(!all.iter().any(|line| line.contains("of another project")));
    let day = (START + DAY * 3).format("%Y-%m-%d");
    assert_eq!(csv(&viewer, &house, &format!("from={day}")).await.len(), 2);
    assert_eq!(csv(&viewer, &house, "kind=capture").await.len(), 1);
}

#[actix_web::test]
async fn the_statement_tells_relayed_codes_from_others() {
    let house = House::new().await;
    let viewer = house.with_role(Role::Viewer).await;
    let (make, logins) = (Fixtures::random(), &*house.parts.stores.logins);
    let otp = || make.otp(&make.line(house.project.in_mode(KeyMode::Live)));
    let relay = Otp { state: OtpState::Relayed, code: CodeDigest::NONE, ..otp() };
    let (relayed, login) = (relay.id.to_string(), otp());
    let other = login.id.to_string();
    assert!(make.hold(logins, relay, Paise(40)).await);
    assert!(make.hold(logins, login, Paise(40)).await);
    for (send, mark, cell) in [(relayed, ",true,", true), (other, ",false,", false)] {
        let query = format!("reference={send}");
        let lines = csv(&viewer, &house, &query).await;
        assert!(lines[0].ends_with(",relayed,closed") && lines[1].ends_with(mark), "{lines:?}");
        let page = viewer.get(&house.page(&format!("wallet?{query}"))).await;
        assert_eq!(page.body.contains(">(relay)<"), cell, "{send}");
    }
}

#[actix_web::test]
async fn a_code_has_one_line_behind_which_are_its_steps() {
    let house = House::new().await;
    let viewer = house.with_role(Role::Viewer).await;
    let send = house.charged().await;
    let (make, logins) = (Fixtures::random(), &*house.parts.stores.logins);
    let open = make.otp(&make.line(house.project.in_mode(KeyMode::Live)));
    let under_way = open.id;
    assert!(make.hold(logins, open, Paise(40)).await);
    let page = viewer.get(&house.page("wallet")).await.body;
    for id in [send, under_way] {
        assert_eq!(page.matches(&format!("activity/{id}\"")).count(), 1, "{id}");
    }
    for part in [
        "<summary>Charged</summary>",
        "<li>Reserved ₹0.40, ",
        "<li>Charged ₹0.25, ",
        "<li>Returned ₹0.15, ",
        "<summary>Reserved</summary>",
        "−₹0.25",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    for gone in ["Hold", "Capture", "Release", "Book"] {
        assert!(!page.contains(gone), "{gone}: {page}");
    }
    // A single kind is listed entry by entry, and a download has every entry.
    let holds = viewer.get(&house.page("wallet?kind=hold")).await.body;
    assert!(holds.contains(&send.to_string()) && !holds.contains("<summary>"), "{holds}");
    assert_eq!(csv(&viewer, &house, &format!("reference={send}")).await.len(), 1 + 3);
}

#[actix_web::test]
async fn the_wallet_says_when_it_is_low_or_empty_what_months_cost_and_how_long_it_lasts() {
    let house = crate::overview::with_sends().await;
    let owner = house.with_role(Role::Owner).await;
    let page = async || owner.get(&house.page("wallet")).await.body;
    let full = page().await;
    for part in ["January 2027", "3 codes", "<dd>–</dd>", "nothing was charged"] {
        assert!(full.contains(part), "{part}: {full}");
    }
    assert!(!full.contains("Empty:") && !full.contains("Low:"), "{full}");
    assert!(!full.contains("Spent today"), "without a limit: {full}");
    let taken = house.balance().await - 30;
    let take = async |form: &str, fields: &[(&str, &str)]| {
        let fields = [fields, &[("confirmed", "yes")]].concat();
        owner.post(&house.page(form), &fields).await.status
    };
    let low = [
        ("whatsapp_price", ""),
        ("sms_price", ""),
        ("low_balance", "1,00,000"),
        ("daily_spend", "2000"),
    ];
    assert_eq!(owner.post(&house.page("settings/money"), &low).await.status, 303);
    assert!(!page().await.contains("Low:"));
    assert!(page().await.contains("of ₹2,000.00, until midnight in India"));
    let amount = format!("-{}.{:02}", taken / 100, taken % 100);
    let fields = [("correction", amount.as_str()), ("reason", "moved")];
    assert_eq!(take("wallet/adjustment", &fields).await, 303);
    assert!(
        page().await.contains("Low: the balance is below the alert of this project, ₹1,00,000.00.")
    );
    let fields = [("correction", "-0.06"), ("reason", "moved too")];
    assert_eq!(take("wallet/adjustment", &fields).await, 303);
    assert!(page().await.contains("Too little for the next code: live codes are refused"));
}

#[actix_web::test]
async fn money_is_shown_to_nobody_else() {
    let house = House::new().await;
    let download = house.page("wallet/statement.csv");
    for role in [Role::Member, Role::Support] {
        assert_eq!(house.with_role(role).await.get(&download).await.status, 403, "{role:?}");
    }
    assert_eq!(house.stranger().get(&download).await.header("location"), "/sign-in");
    let elsewhere = format!("/p/{}/wallet/statement.csv", house.other);
    assert_eq!(house.with_role(Role::Viewer).await.get(&elsewhere).await.status, 404);
}

#[actix_web::test]
async fn a_proof_is_made_in_the_background_and_kept() {
    let house = House::new().await;
    let owner = house.with_role(Role::Owner).await;
    assert!(owner.get(&house.page("wallet")).await.body.contains("Not checked yet"));
    assert_eq!(owner.post(&house.page("wallet/proof"), &[]).await.status, 303);
    while house.last_proof().await.is_none() {
        tokio::task::yield_now().await;
    }
    let proof = house.last_proof().await.unwrap();
    assert!(proof.is_sound() && proof.by == "owner", "{proof:?}");
    let page = house.with_role(Role::Viewer).await.get(&house.page("wallet")).await.body;
    assert!(
        page.contains("The ledger matches the wallet") && !page.contains("Run check"),
        "{page}"
    );
}

#[actix_web::test]
async fn a_running_proof_is_shown_and_a_second_click_begins_none() {
    let house = House::new().await;
    let owner = house.with_role(Role::Owner).await;
    let run = ProofRun::begin(house.project, "Ravi".to_owned(), START);
    house.kept.ledger.begin_proof(run.clone()).await.unwrap();
    let page = owner.get(&house.page("wallet")).await.body;
    assert!(page.contains("running since") && page.contains("Ravi"), "{page}");
    assert!(!page.contains("Run check"));
    assert_eq!(owner.post(&house.page("wallet/proof"), &[]).await.status, 303);
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    assert_eq!(house.kept.ledger.proof_run(house.project).await.unwrap(), Some(run));
    assert_eq!((house.last_proof().await, house.proofs_asked_for().await), (None, 0));
    house.clock.advance(ProofRun::LEASE);
    assert!(owner.get(&house.page("wallet")).await.body.contains("Run check"));
}
