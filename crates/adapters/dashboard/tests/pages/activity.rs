use crate::support::{Browser, Events, House, Reply};
use actix_web::http::header;
use dwar_kernel::{KeyMode, ProjectId};
use dwar_operator::{Access, Action, AuditFilter, Requester, Role};
use dwar_otp::{GuessPolicy, Reason, Refusal, RefusedSends, Report, ReportedRequest};
use dwar_testkit::{CODE, Fixtures, Line, START, WRONG_CODE, minutes, seconds};
use std::time::Duration;

pub const NATIONAL: &str = "9811223344";

fn line_of(house: &House, project: ProjectId) -> Line {
    let phone: dwar_kernel::Phone = NATIONAL.parse().unwrap();
    let index = house.parts.tools.vault.phone_index(project.in_mode(KeyMode::Live), &phone);
    Line { project_mode: project.in_mode(KeyMode::Live), phone, index }
}

/// A code that WhatsApp refused and no SMS delivered, and two sends that the limit refused.
pub async fn failed_send(house: &House, project: ProjectId) -> (Line, dwar_kernel::OtpId) {
    let (make, line) = (Fixtures::random(), line_of(house, project));
    let otp = make.otp(&line);
    let stores = &house.parts.stores;
    make.issue(&*stores.logins, otp.clone()).await;
    for reason in [Reason::NotOnChannel, Reason::Blocked] {
        let found = stores.otps.find(line.project_mode, otp.id).await.unwrap().unwrap();
        let last = found.delivery.attempts.last().unwrap().id;
        let of = ReportedRequest::Id(project, otp.id);
        let report = make.send_report(last, Report::Failed(reason));
        stores.logins.report(of, report, START).await.unwrap();
    }
    let refused = RefusedSends {
        project_mode: line.project_mode,
        phone: Some(line.index),
        reason: Refusal::Limit,
        minute: RefusedSends::minute_of(START),
        count: 2,
    };
    stores.refusals.count(make.id(), vec![refused]).await.unwrap();
    (line, otp.id)
}

async fn search(house: &House, browser: &Browser<'_>, phone: &str) -> Reply {
    let form = [("mode", "live"), ("phone", phone)];
    browser.post(&house.page("activity/phone"), &form).await
}

/// The hidden field with the sealed number.
fn sealed(page: &str) -> String {
    let after = page.split(r#"name="number" value=""#).nth(1).unwrap_or_default();
    after.split('"').next().unwrap_or_default().to_owned()
}

pub async fn unmaskings(house: &House) -> Vec<String> {
    let filter = AuditFilter { action: Some(Action::PhoneUnmasked), ..AuditFilter::default() };
    let page = house.kept.audit.page(filter, None, 9).await.unwrap();
    page.into_iter().map(|entry| format!("{entry:?}")).collect()
}

#[actix_web::test]
async fn support_lands_on_activity_and_finds_out_why_without_seeing_a_number() {
    let house = House::new().await;
    let (_, otp) = failed_send(&house, house.project).await;
    let support = house.with_role(Role::Support).await;
    assert_eq!(support.get("/").await.header("location"), house.page("activity"));
    let list = support.get(&house.page("activity")).await;
    let story = support.get(&house.page(&format!("activity/{otp}"))).await;
    let found = search(&house, &support, "+91 98112-23344").await;
    for page in [&list, &story, &found] {
        assert_eq!(page.status, 200);
        assert!(page.body.contains("+9198••••3344"), "{}", page.body);
        assert!(!page.body.contains(NATIONAL));
    }
    for page in [&story, &found] {
        for words in [
            "the number has no account on WhatsApp",
            "Fell back to SMS via msg91",
            "the user or their mobile network blocks such messages",
            "Nothing was charged.",
            "2 sends were refused",
            "limit of 3 per 10 minutes",
        ] {
            assert!(page.body.contains(words), "{words} is not in {}", page.body);
        }
    }
    assert!(!story.body.contains("activity/unmask") && !story.body.contains("activity/unlock"));
    assert_eq!(search(&house, &support, "12345").await.status, 422);
}

#[actix_web::test]
async fn a_number_is_shown_to_who_may_once_and_never_without_a_line_in_the_log() {
    let house = House::new().await;
    let (_, otp) = failed_send(&house, house.project).await;
    let path = house.page("activity/unmask");
    let member = house.with_role(Role::Member).await;
    let story = member.get(&house.page(&format!("activity/{otp}"))).await.body;
    let number = sealed(&story);
    let form = [("mode", "live"), ("number", number.as_str())];
    for role in [Role::Support, Role::Viewer] {
        let refused = house.with_role(role).await.post(&path, &form).await;
        assert_eq!(refused.status, 403, "{role:?}");
        assert!(!refused.body.contains(NATIONAL), "{role:?}");
    }
    assert_eq!(unmaskings(&house).await.len(), 0);
    house.store.faults().next("AuditStore::append", dwar_memory::Fault::Fails);
    let unheard = member.post(&path, &form).await;
    assert!(unheard.status >= 500 && !unheard.body.contains(NATIONAL), "{}", unheard.status);
    let shown = member.post(&path, &form).await;
    assert!(shown.status == 200 && shown.body.contains("+919811223344"));
    let log = unmaskings(&house).await;
    assert_eq!(log.len(), 1);
    assert!(!log[0].contains(NATIONAL) && log[0].contains("member"), "{}", log[0]);
    let again = member.get(&house.page(&format!("activity/{otp}"))).await.body;
    assert!(!again.contains(NATIONAL));
}

#[actix_web::test]
async fn another_project_has_no_activity_here() {
    let house = House::new().await;
    let (line, otp) = failed_send(&house, house.other).await;
    let owner = house.with_role(Role::Owner).await;
    let list = owner.get(&house.page("activity")).await.body;
    assert!(
        !list.contains(&otp.to_string())
            && list.contains("No codes requested with the live key yet")
    );
    assert_eq!(owner.get(&house.page(&format!("activity/{otp}"))).await.status, 404);
    let foreign = format!("/p/{}/activity/{otp}", house.other);
    assert_eq!(owner.get(&foreign).await.status, 404);
    let live = format!("/p/{}/activity/live", house.other);
    assert_eq!(owner.get(&live).await.status, 404);
    let found = search(&house, &owner, NATIONAL).await.body;
    assert!(found.contains("Nothing on record for this number"), "{found}");
    // A number that was sealed for a page of another project is unknown here.
    let vault = &house.parts.tools.vault;
    let sealed = vault.seal_phone(house.other, &line.phone);
    let hex: String = sealed.0.iter().map(|byte| format!("{byte:02x}")).collect();
    let form = [("mode", "live"), ("number", hex.as_str())];
    assert_eq!(owner.post(&house.page("activity/unmask"), &form).await.status, 404);
}

#[actix_web::test]
async fn a_lock_is_lifted_by_who_may_after_a_typed_word() {
    let house = House::new().await;
    let (make, line) = (Fixtures::random(), line_of(&house, house.project));
    let (logins, policy) = (&*house.parts.stores.logins, house.parts.policies.limits.guesses);
    make.issue(logins, make.otp(&line)).await;
    make.judge(logins, &line, WRONG_CODE, policy, START).await;
    let owner = house.with_role(Role::Owner).await;
    let path = house.page("activity/unlock");
    let number = sealed(&search(&house, &owner, NATIONAL).await.body);
    let form = |word| [("mode", "live"), ("number", number.as_str()), ("word", word)];
    for role in [Role::Support, Role::Viewer] {
        let refused = house.with_role(role).await.post(&path, &form("clear")).await;
        assert_eq!(refused.status, 403, "{role:?}");
    }
    assert_eq!(owner.post(&path, &form("clean")).await.status, 422);
    let log = || house.parts.stores.sends.log(line.send_key());
    assert_eq!(log().await.unwrap().guesses().wrong, 1);
    let lifted = owner.post(&path, &form("clear")).await;
    assert!(
        lifted.status == 200 && lifted.body.contains("Failed attempts cleared."),
        "{}",
        lifted.body
    );
    assert_eq!(log().await.unwrap().guesses().wrong, 0);
}

/// The next event of a stream, within some seconds.
async fn next(events: &mut Events) -> String {
    tokio::time::timeout(Duration::from_secs(20), events.next()).await.unwrap()
}

#[actix_web::test]
async fn a_row_comes_as_soon_as_its_request_and_again_when_that_changes() {
    let house = House::new().await;
    let support = house.with_role(Role::Support).await;
    let mut events = support.events(&house.page("activity/live"), None).await;
    assert_eq!(events.status, 200);
    assert_eq!(events.header(header::CONTENT_TYPE), "text/event-stream");
    tokio::time::pause();
    let (make, line) = (Fixtures::random(), line_of(&house, house.project));
    let logins = &*house.parts.stores.logins;
    let otp = make.issue(logins, make.otp(&line)).await;
    let row = next(&mut events).await;
    assert!(row.contains(&format!("id: {}\nevent: row\n", otp.id)), "{row}");
    assert!(row.contains("98••••3344") && !row.contains(NATIONAL), "{row}");
    let of = ReportedRequest::Id(house.project, otp.id);
    make.report(logins, of, &otp, Report::Delivered, START).await;
    assert!(next(&mut events).await.contains("Delivered"));
    // Without news there is a heartbeat.
    assert!(next(&mut events).await.starts_with(':'));
}

#[actix_web::test]
async fn a_stream_goes_on_where_it_was_cut_and_says_when_it_cannot() {
    let house = House::new().await;
    let support = house.with_role(Role::Support).await;
    let make = Fixtures::random();
    let mut issued = Vec::new();
    for number in 0..3_u64 {
        let at = START + seconds(number);
        let mut otp = make.otp_with(&make.line(house.project.in_mode(KeyMode::Live)), CODE, at);
        otp.id = dwar_kernel::OtpId::new(at, &make.entropy);
        issued.push(otp.id);
        make.issue(&*house.parts.stores.logins, otp).await;
    }
    let path = house.page("activity/live");
    let mut events = support.events(&path, Some(issued[1])).await;
    let news = next(&mut events).await;
    assert!(!news.contains("event: gap"), "{news}");
    assert!(news.contains(&format!("id: {}\n", issued[2])), "{news}");
    for number in 0..60_u64 {
        let at = START + minutes(1) + seconds(number);
        let mut otp = make.otp_with(&make.line(house.project.in_mode(KeyMode::Live)), CODE, at);
        otp.id = dwar_kernel::OtpId::new(at, &make.entropy);
        make.issue(&*house.parts.stores.logins, otp).await;
    }
    drop(events);
    tokio::time::pause();
    tokio::time::sleep(Duration::from_secs(3)).await;
    let mut events = support.events(&path, Some(issued[2])).await;
    assert!(next(&mut events).await.contains("event: gap"));
}

#[actix_web::test]
async fn a_stream_ends_with_the_session_or_the_role() {
    let house = House::new().await;
    let signed_in = house.joined("sita", Access::one(house.project, Role::Support)).await;
    let sita = house.browser(&signed_in);
    let path = house.page("activity/live");
    let mut events = sita.events(&path, None).await;
    tokio::time::pause();
    assert!(next(&mut events).await.starts_with(':'));
    let operators = &house.manage.operators;
    let elsewhere = Access::one(house.other, Role::Support);
    operators
        .change_access(&Requester::command_line(), signed_in.operator.id, elsewhere)
        .await
        .unwrap();
    assert!(next(&mut events).await.contains("event: over"));
    assert!(events.is_over().await);
    // A stream does not keep a session from idling too long.
    let kept = house.joined("gita", Access::one(house.project, Role::Support)).await;
    let gita = house.browser(&kept);
    let mut events = gita.events(&path, None).await;
    house.clock.advance(minutes(59));
    assert!(next(&mut events).await.starts_with(':'));
    house.clock.advance(minutes(2));
    assert!(next(&mut events).await.contains("event: over"));
}

#[actix_web::test]
async fn the_newest_streams_stay_and_share_one_look_a_second() {
    let house = House::new().await;
    let path = house.page("activity/live");
    let support = house.with_role(Role::Support).await;
    let viewer = house.with_role(Role::Viewer).await;
    tokio::time::pause();
    let mut open = Vec::new();
    for _ in 0..4 {
        open.push(support.events(&path, None).await);
    }
    assert!(open.iter().all(|events| events.status == 200));
    // Five reloads within seconds: none is refused, and the oldest stream ends.
    for _ in 0..5 {
        open.push(support.events(&path, None).await);
        assert_eq!(open.last().unwrap().status, 200);
        let mut oldest = open.remove(0);
        assert!(next(&mut oldest).await.contains("event: replaced"));
        assert!(oldest.is_over().await);
    }
    assert_eq!(viewer.events(&path, None).await.status, 200, "another operator has room");
    let looks = || house.store.faults().calls("OtpHistory::newest");
    let before = looks();
    tokio::time::sleep(Duration::from_secs(10)).await;
    let asked = looks() - before;
    assert!((8..=12).contains(&asked), "asked {asked} times in ten seconds");
    drop(open);
    tokio::time::sleep(Duration::from_secs(3)).await;
    let before = looks();
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(looks(), before, "nobody watches");
}

#[actix_web::test]
async fn codes_of_the_other_mode_hide_none_whatever_their_number() {
    let house = House::new().await;
    let support = house.with_role(Role::Support).await;
    let (make, line) = (Fixtures::random(), line_of(&house, house.project));
    let logins = &*house.parts.stores.logins;
    let live = make.issue(logins, make.otp(&line)).await;
    for number in 0..520_u64 {
        let at = START + minutes(1) + seconds(number);
        let mut otp = make.otp_with(&make.line(house.project.in_mode(KeyMode::Test)), CODE, at);
        otp.id = dwar_kernel::OtpId::new(at, &make.entropy);
        make.issue(logins, otp).await;
    }
    let list = support.get(&house.page("activity?mode=live")).await.body;
    assert!(list.contains(&live.id.to_string()), "{list}");
    let none = support.get(&house.page("activity?mode=live&status=failed")).await.body;
    assert!(none.contains("No requests match") && !none.contains("before="), "{none}");
    let mut events = support.events(&house.page("activity/live?mode=live"), None).await;
    let row = next(&mut events).await;
    assert!(row.contains(&live.id.to_string()) && !row.contains("event: gap"), "{row}");
    let test = support.get(&house.page("activity?mode=test&channel=sms")).await.body;
    assert!(test.contains("Searched 520 requests, back to"), "{test}");
}

/// Each row shows the result of a request and its reason. The address contains the whole filter:
/// everybody who follows the link sees the same.
#[actix_web::test]
async fn each_row_says_why_and_each_view_has_an_address() {
    let house = House::new().await;
    let (line, failed) = failed_send(&house, house.project).await;
    let (make, logins) = (Fixtures::random(), &*house.parts.stores.logins);
    let test = make.line(house.project.in_mode(KeyMode::Test));
    let [live, test] = [make.line(line.project_mode), test];
    let verified = make.issue(logins, make.otp(&live)).await.id;
    make.judge(logins, &live, CODE, GuessPolicy::OFF, START).await;
    let tested = make.issue(logins, make.otp(&test)).await.id;
    let support = house.with_role(Role::Support).await;
    let page = support.get(&house.page("activity?view=failed")).await.body;
    for expected in [
        "data-label=\"Mode\">Live<",
        "The user or their mobile network blocks such messages",
        "SMS <span class=\"muted\">via msg91",
        &format!("<code>{failed}</code>"),
        "activity.csv?mode=live&amp;view=failed",
        "activity/live?mode=live&amp;view=failed",
    ] {
        assert!(page.contains(expected), "{expected} in {page}");
    }
    for (query, expected) in [
        ("", vec![failed, verified]),
        ("view=all", vec![failed, verified, tested]),
        ("mode=test", vec![tested]),
        ("view=failed", vec![failed]),
        ("view=verified", vec![verified]),
        ("view=unused&mode=test", vec![tested]),
        ("status=failed&provider=msg91", vec![failed]),
        ("reason=any", vec![failed]),
        ("reason=blocked", vec![failed]),
        ("reason=timeout", vec![]),
        ("from=2027-01-15T13:30&until=2027-01-15T13:31", vec![failed, verified]),
        ("from=2027-01-15T13:31", vec![]),
        ("until=2027-01-15T13:30", vec![]),
        ("until=2027-01-15", vec![failed, verified]),
    ] {
        let page = support.get(&house.page(&format!("activity?{query}"))).await.body;
        let csv = support.get(&house.page(&format!("activity.csv?{query}"))).await;
        assert!(csv.header("content-type").starts_with("text/csv"), "{query}");
        for otp in [failed, verified, tested] {
            let wanted = expected.contains(&otp);
            assert_eq!(page.contains(&format!("id=\"r-{otp}\"")), wanted, "{query}: {page}");
            assert_eq!(csv.body.contains(&otp.to_string()), wanted, "{query}: {}", csv.body);
        }
        assert_eq!(csv.body.lines().count(), 1 + expected.len(), "{query}: {}", csv.body);
        assert!(!csv.body.contains(NATIONAL));
    }
    let csv = support.get(&house.page("activity.csv?view=failed")).await.body;
    let expected = format!(
        "at,otp_id,mode,phone,status,state,reason,channel,provider,charged_paise\r\n\
         2027-01-15T08:00:00.123Z,{failed},live,\"'+9198••••3344\",failed,void,blocked,sms,\"msg91\",0\r\n"
    );
    assert_eq!(csv, expected);
    let refused = support.get(&house.page("activity?view=refused")).await.body;
    assert!(
        refused.contains("Refused sends, by minute") && !refused.contains("id=\"r-"),
        "{refused}"
    );
}

/// In a filtered list, only matching requests appear, and they keep being updated afterwards.
#[actix_web::test]
async fn a_live_list_keeps_its_filters() {
    let house = House::new().await;
    let support = house.with_role(Role::Support).await;
    let path = |query: &str| house.page(&format!("activity/live?mode=live{query}"));
    let mut only_failed = support.events(&path("&view=failed"), None).await;
    let mut all = support.events(&path(""), None).await;
    let (line, failed) = failed_send(&house, house.project).await;
    let make = Fixtures::random();
    let other =
        make.issue(&*house.parts.stores.logins, make.otp(&make.line(line.project_mode))).await.id;
    tokio::time::pause();
    let told = next(&mut all).await;
    assert!(told.contains(&other.to_string()) && told.contains(&failed.to_string()), "{told}");
    let told = next(&mut only_failed).await;
    assert!(told.contains(&failed.to_string()) && !told.contains(&other.to_string()), "{told}");
}
