//! A refused form keeps what was typed, and the address of a form leads back to its page.

use crate::support::{House, ORIGIN, PASSWORD};
use dwar_operator::{Requester, Role};
use serde_json::{Value, json};

fn holds(page: &str, parts: &[&str]) {
    for part in parts {
        assert!(page.contains(part), "{part} is missing: {page}");
    }
}

#[actix_web::test]
async fn a_refused_setting_comes_back_as_typed_with_its_field_marked() {
    let house = House::new().await;
    let member = house.with_role(Role::Member).await;
    let fields = [
        ("brand", "Chai & Co"),
        ("language", "ta"),
        ("sms_text", "{code} for {brand}"),
        ("sms_template_id", "1107"),
        ("webotp_domain", "not a domain"),
        ("app_hash", ""),
    ];
    let refused = member.post(&house.page("settings/messages"), &fields).await;
    assert_eq!(refused.status, 422);
    holds(
        &refused.body,
        &[
            r#"value="Chai &amp; Co""#,
            r#"<option value="ta" selected>"#,
            "{code} for {brand}</textarea>",
            r#"value="1107""#,
            r#"value="not a domain""#,
            r#"aria-describedby="webotp_domain-error webotp_domain-hint" aria-invalid="true" autofocus"#,
            r#"<p class="error" id="webotp_domain-error">"#,
            r##"<a href="#webotp_domain">"##,
        ],
    );
    assert_eq!(refused.body.matches("aria-invalid").count(), 1);
    let page = member.get(&house.page("settings/messages")).await.body;
    assert!(!page.contains("Chai") && !page.contains("1107"), "nothing was saved");
}

const SETTINGS: [&str; 5] = ["messages", "delivery", "tokens", "events", "project"];

#[actix_web::test]
async fn a_saved_section_says_so_where_it_is_and_each_old_link_still_leads_to_its_page() {
    let house = House::new().await;
    let owner = house.owner().await;
    for (form, part, fields) in [
        ("relay", "delivery", vec![("relay_test", "on")]),
        ("events_feed", "events", vec![("events_feed", "on")]),
        ("identities", "project", vec![]),
    ] {
        let saved = owner.post(&house.page(&format!("settings/{form}")), &fields).await;
        let page = house.page(&format!("settings/{part}"));
        assert_eq!(saved.header("location"), format!("{page}?done={form}#{form}"));
        let shown = owner.get(&format!("{page}?done={form}")).await.body;
        assert_eq!(shown.matches("Saved.").count(), 1, "{shown}");
        let section = shown.split(&format!(r#"id="{form}" method"#)).nth(1).unwrap();
        assert!(section.split("</form>").next().unwrap().contains("Saved."), "{section}");
    }
    let first = owner.get(&house.page("settings/messages")).await.body;
    let old = ["project", "routing", "identities", "relay", "tokens", "hooks", "money", "webhooks"];
    for section in old.into_iter().chain(["events_feed", "archive", "messages"]) {
        assert_eq!(first.matches(&format!(r#"id="{section}""#)).count(), 1, "{section}");
    }
    for part in SETTINGS {
        let page = owner.get(&house.page(&format!("settings/{part}"))).await;
        assert_eq!(page.status, 200, "{part}");
        assert!(!page.body.to_lowercase().replace("standard webhooks", "").contains(">webhook"));
        let current =
            format!(r#"href="{}" aria-current="page""#, house.page(&format!("settings/{part}")));
        assert!(page.body.contains(&current), "{part}");
        assert!(page.body.contains(r#"/settings" aria-current="true""#), "the navigation: {part}");
    }
}

#[actix_web::test]
async fn the_text_to_register_is_shown_for_each_portal_with_what_may_be_rejected() {
    let house = House::new().await;
    let owner = house.owner().await;
    let page = owner.get(&house.page("settings/messages")).await.body;
    holds(
        &page,
        &[
            "{#numeric#} is your Acme verification code. It is valid for {#numeric#} min.",
            "{#var#} is your Acme verification code. It is valid for {#var#} min.",
            "Airtel, Jio, Vodafone Idea, BSNL",
            r#"href="/help/going-live#1-dlt-for-sms-in-india""#,
        ],
    );
    assert!(!page.contains("variables:"), "{page}");
    let form = [
        ("brand", ""),
        ("language", ""),
        ("sms_text", "{code} {minutes} opens {brand}"),
        ("sms_template_id", ""),
        ("webotp_domain", "login.example.com"),
        ("app_hash", ""),
    ];
    let preview = owner.post(&house.page("settings/preview"), &form).await.body;
    let typed = "{#numeric#} {#numeric#} opens Acme\n\n@login.example.com #{#numeric#}";
    holds(
        &preview,
        &[typed, "3 variables: ", "Two variables follow each other", "A variable comes last"],
    );
}

#[actix_web::test]
async fn what_was_done_is_said_once() {
    let house = House::new().await;
    let owner = house.owner().await;
    let plain = house.page("settings/project");
    let own = format!(r#"data-address="{plain}""#);
    let saved = owner.get(&format!("{plain}?done=money")).await.body;
    holds(&saved, &["Saved.", &own]);
    assert!(!owner.get(&plain).await.body.contains("data-address"));
    // The page before the refused one said what was done.
    let csrf = owner.csrf().await;
    let prices = [
        ("whatsapp_price", ""),
        ("sms_price", "x"),
        ("low_balance", ""),
        ("daily_spend", ""),
        ("csrf", &csrf),
    ];
    let form = owner.form(&house.page("settings/money"), &prices);
    let sent = form.insert_header(("Referer", format!("{ORIGIN}{plain}?done=money")));
    let refused = house.send(sent).await;
    assert_eq!(refused.status, 422);
    holds(&refused.body, &[&own]);
    assert!(!refused.body.contains("?done="), "{}", refused.body);
}

#[actix_web::test]
async fn a_refused_text_is_previewed_as_it_was_typed() {
    let house = House::new().await;
    let owner = house.owner().await;
    let form = [
        ("brand", "Chai"),
        ("language", "en"),
        ("sms_text", "No place for it"),
        ("sms_template_id", ""),
        ("webotp_domain", ""),
        ("app_hash", ""),
        ("last_lines", ""),
    ];
    let refused = owner.post(&house.page("settings/messages"), &form).await;
    assert_eq!(refused.status, 422);
    let preview = refused.body.split(r#"id="preview""#).nth(1).unwrap();
    let preview = preview.split("</form>").next().unwrap();
    assert!(!preview.contains("bubble") && preview.contains("notice bad"), "{preview}");
}

#[actix_web::test]
async fn every_kind_of_form_keeps_what_was_typed() {
    let house = House::new().await;
    let owner = house.owner().await;
    let money = [
        ("whatsapp_price", "0.30"),
        ("sms_price", "1,5x"),
        ("low_balance", ""),
        ("daily_spend", ""),
    ];
    let refused = owner.post(&house.page("settings/money"), &money).await;
    assert_eq!(refused.status, 422);
    holds(&refused.body, &[r#"value="0.30""#, r#"value="1,5x""#, r#"id="sms_price-error""#]);
    let routing = [
        ("whatsapp_providers", "none"),
        ("sms_providers", ""),
        ("sms_providers_2", "msg91"),
        ("fallback_seconds", "soon"),
    ];
    let refused = owner.post(&house.page("settings/routing"), &routing).await;
    assert_eq!(refused.status, 422);
    holds(
        &refused.body,
        &[
            r#"<option value="none" selected>"#,
            r#"<option value="msg91" selected>"#,
            r#"value="soon""#,
        ],
    );
    let hook = [("url", "http://x\ty"), ("full_phone", "on")];
    let refused = owner.post(&house.page("settings/events"), &hook).await;
    assert_eq!(refused.status, 422);
    holds(&refused.body, &["value=\"http://x\ty\"", r#"id="url-error""#, "checked"]);
    let credit = [("rupees", "ten"), ("reference", "INV-7")];
    let refused = owner.post(&house.page("wallet/credit"), &credit).await;
    assert_eq!(refused.status, 422);
    holds(&refused.body, &[r#"value="ten""#, r#"value="INV-7""#, r#"id="rupees-error""#]);
    let project = format!("project-{}", house.other);
    let token = [("name", "deploy"), ("role", "support"), ("days", "x"), (project.as_str(), "on")];
    let refused = owner.post("/tokens", &token).await;
    assert_eq!(refused.status, 422);
    holds(
        &refused.body,
        &[
            r#"value="deploy""#,
            r#"<option value="support" selected>"#,
            &format!(r#"name="{project}" value="on" checked"#),
            r#"id="days-error""#,
        ],
    );
}

#[actix_web::test]
async fn what_somebody_may_not_change_is_text() {
    let house = House::new().await;
    let viewer = house.with_role(Role::Viewer).await;
    for part in SETTINGS {
        let page = viewer.get(&house.page(&format!("settings/{part}"))).await.body;
        let main = page.split("<main").nth(1).unwrap().split("</main>").next().unwrap();
        for dead in ["<input", "<select", "<textarea", "<form", "disabled"] {
            assert!(!main.contains(dead), "{dead}: {main}");
        }
    }
    let member = house.with_role(Role::Member).await;
    let page = member.get(&house.page("settings/messages")).await.body;
    assert!(page.contains(r#"name="brand""#));
    let page = member.get(&house.page("settings/project")).await.body;
    assert!(page.contains(r#"name="name""#) && !page.contains(r#"name="sms_price""#));
}

#[actix_web::test]
async fn providers_are_chosen_in_their_order() {
    let house = House::new().await;
    let member = house.with_role(Role::Member).await;
    let path = house.page("settings/routing");
    let chosen = |first: &'static str, second: &'static str| {
        [
            ("whatsapp_providers", ""),
            ("sms_providers", first),
            ("sms_providers_2", second),
            ("fallback_seconds", ""),
        ]
    };
    let sms = || async {
        let project = house.parts.stores.projects.find(house.project).await.unwrap();
        project.unwrap().routing.sms
    };
    assert_eq!(member.post(&path, &chosen("twilio", "msg91")).await.status, 303);
    assert_eq!(sms().await, Some(vec!["twilio".to_owned(), "msg91".to_owned()]));
    let page = member.get(&house.page("settings/delivery")).await.body;
    let (first, second) = page.split_once(r#"name="sms_providers_2""#).unwrap();
    let first = first.split(r#"name="sms_providers""#).nth(1).unwrap();
    assert!(first.contains(r#"value="twilio" selected"#), "{first}");
    assert!(second.contains(r#"value="msg91" selected"#), "{second}");
    assert!(first.contains("twilio (paused for 12 s)"), "{first}");
    assert_eq!(member.post(&path, &chosen("none", "msg91")).await.status, 303);
    assert_eq!(sms().await, Some(Vec::new()), "nothing is sent over SMS");
    assert_eq!(member.post(&path, &chosen("", "")).await.status, 303);
    assert_eq!(sms().await, None, "as the installation");
}

/// The input with this id, up to its end.
fn input<'a>(body: &'a str, id: &str) -> &'a str {
    let found = body.split_once(&format!(r#"<input id="{id}""#));
    let (_, rest) = found.unwrap_or_else(|| panic!("{id}: {body}"));
    rest.split('>').next().unwrap()
}

#[actix_web::test]
async fn a_refused_form_of_the_account_marks_its_field_and_shows_no_password() {
    let house = House::new().await;
    let owner = house.owner().await;
    let (old, new) = ("not the present one", "twelve blue boats at dawn");
    for (current, again, marked) in [(old, new, "current"), (PASSWORD, "other", "again")] {
        let fields = [("current", current), ("new", new), ("again", again)];
        let refused = owner.post("/account/password", &fields).await;
        assert_eq!(refused.status, 422);
        for id in ["current", "new", "again"] {
            let is_marked = input(&refused.body, id).contains("aria-invalid");
            assert_eq!(is_marked, id == marked, "{id} {}", refused.body);
        }
        assert!(refused.body.contains(&format!("<a href=\"#{marked}\">")), "{}", refused.body);
        for password in [old, new, PASSWORD] {
            assert!(!refused.body.contains(password), "{}", refused.body);
        }
    }
    let offered = owner.post("/account/totp", &[]).await.body;
    let secret = offered.split(r#"name="secret" value=""#).nth(1).unwrap();
    let secret = secret.split('"').next().unwrap();
    let wrong = [("secret", secret), ("code", "12345"), ("current", PASSWORD)];
    let refused = owner.post("/account/totp/add", &wrong).await;
    assert_eq!(refused.status, 422);
    let code = input(&refused.body, "code");
    assert!(code.contains("aria-invalid") && code.contains("12345"), "{code}");
    assert!(refused.body.contains(&format!(r#"name="secret" value="{secret}""#)), "the same app");
    assert!(!input(&refused.body, "current").contains("aria-invalid"), "another form's");
    let unproven = [("secret", secret), ("code", "123456"), ("current", "wrong")];
    let refused = owner.post("/account/totp/add", &unproven).await;
    assert!(input(&refused.body, "current-totp").contains("aria-invalid"), "{}", refused.body);
}

#[actix_web::test]
async fn languages_say_what_is_sent_in_them() {
    let house = House::new().await;
    let page = house.owner().await.get(&house.page("settings/messages")).await.body;
    let place = |label: &str| page.find(label).unwrap_or_else(|| panic!("{label}: {page}"));
    let tamil = place(">Tamil: WhatsApp template, SMS in English<");
    assert!(place(">Hindi<") < tamil && tamil < place(">Bengali: messages in English<"));
}

#[actix_web::test]
async fn the_address_of_a_form_leads_back_to_its_page() {
    let house = House::new().await;
    let owner = house.owner().await;
    let endpoint = house.page("settings/events/1");
    for (form, page) in [
        ("/theme".to_owned(), "/".to_owned()),
        ("/mode".to_owned(), "/".to_owned()),
        ("/account/password".to_owned(), "/account".to_owned()),
        (format!("/team/{}/access", house.project), "/team".to_owned()),
        (format!("/tokens/{}/revoke", house.project), "/tokens".to_owned()),
        (house.page("settings/routing"), house.page("settings/delivery")),
        (house.page("settings/archive"), house.page("settings/project")),
        (house.page("settings/hooks/1/remove"), house.page("settings/events")),
        (house.page("wallet/refund"), house.page("wallet")),
        (house.page("settings/webhooks"), house.page("settings/events")),
        (house.page("settings?mode=live"), house.page("settings/messages?mode=live")),
        (format!("{endpoint}/test"), endpoint),
        (house.page("wallet/credit"), house.page("wallet")),
        (house.page("identities/erase"), house.page("identities")),
        (house.page("activity/phone"), house.page("activity")),
        (house.page("identities/live/1/sessions/end"), house.page("identities/live/1/sessions")),
    ] {
        let answer = owner.get(&form).await;
        assert_eq!((answer.status, answer.header("location")), (303, page.as_str()), "{form}");
    }
}

#[actix_web::test]
async fn the_audit_log_is_filtered_by_who_what_and_when() {
    let house = House::new().await;
    let owner = house.owner().await;
    let money =
        [("whatsapp_price", "0.30"), ("sms_price", ""), ("low_balance", ""), ("daily_spend", "")];
    assert_eq!(owner.post(&house.page("settings/money"), &money).await.status, 303);
    let page = house.page("audit");
    let rows = |body: String| {
        let rows = body.split_once("<tbody>").map(|(_, rows)| rows).unwrap_or_default();
        (rows.contains("Changed the prices"), rows.contains("Created the project"))
    };
    assert_eq!(rows(owner.get(&page).await.body), (true, true));
    let query = format!("{page}?action=project.repriced");
    assert_eq!(rows(owner.get(&query).await.body), (true, false));
    let day = "2027-01-15";
    let of = |query: String| format!("{page}?{query}");
    assert_eq!(rows(owner.get(&of(format!("from={day}&until={day}"))).await.body), (true, true));
    assert_eq!(rows(owner.get(&of("until=2020-01-01".to_owned())).await.body), (false, false));
    let body = owner.get(&page).await.body;
    let actors = body.split("?actor=").skip(1).filter_map(|rest| rest.split('"').next());
    let by = actors.into_iter().find(|actor| *actor != "command_line").unwrap();
    assert_eq!(rows(owner.get(&of(format!("actor={by}"))).await.body), (true, false));
    let shell = owner.get(&of("actor=command_line".to_owned())).await.body;
    assert!(shell.contains("value=\"command_line\" selected"), "{shell}");
    assert_eq!(rows(shell), (false, true));
    for wrong in ["actor=asha", "action=nonsense", "from=yesterday"] {
        assert_eq!(owner.get(&of(wrong.to_owned())).await.status, 400, "{wrong}");
        let export = format!("{page}/export?{wrong}");
        assert_eq!(owner.get(&export).await.status, 400, "{wrong}");
    }
    // The file contains the entries that match the filters.
    let shown = owner.get(&of("action=project.repriced".to_owned())).await.body;
    let link = format!("href=\"{page}/export?action=project.repriced\"");
    assert!(shown.contains(&link) && shown.contains(", 1:30:00 pm IST"), "{shown}");
    for (path, lines) in
        [(format!("{page}/export?action=project.repriced"), 1), ("/audit/export".to_owned(), 5)]
    {
        let file = owner.get(&path).await;
        assert_eq!((file.status, file.header("content-type")), (200, "application/x-ndjson"));
        assert!(file.header("content-disposition").starts_with("attachment"), "{path}");
        let entries = file.body.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let actions: Vec<_> = entries.map(|entry| entry["action"].clone()).collect();
        // Entries of the same instant have no fixed order.
        assert_eq!(actions.len(), lines, "{actions:?}");
        assert!(actions.contains(&json!("project.repriced")), "{actions:?}");
    }
    for role in [Role::Member, Role::Support, Role::Viewer] {
        let browser = house.with_role(role).await;
        for path in [format!("{page}/export"), "/audit/export".to_owned()] {
            assert_eq!(browser.get(&path).await.status, 403, "{role:?} {path}");
        }
    }
}

/// Saving an unchanged form changes nothing and is not recorded; entries show the names of their
/// subjects.
#[actix_web::test]
async fn the_audit_log_has_names_and_nothing_that_altered_nothing() {
    let house = House::new().await;
    let owner = house.owner().await;
    let hook = [("kind", "supabase"), ("mode", "live"), ("expires_in", "300")];
    assert_eq!(owner.post(&house.page("settings/hooks"), &hook).await.status, 200);
    let money =
        [("whatsapp_price", "0.30"), ("sms_price", ""), ("low_balance", ""), ("daily_spend", "")];
    for _ in 0..3 {
        assert_eq!(owner.post(&house.page("settings/money"), &money).await.status, 303);
    }
    let log = owner.get("/audit").await.body;
    assert_eq!(log.matches(">Changed the prices<").count(), 2, "in the filter, and once: {log}");
    let hook =
        house.manage.hooks.list(&Requester::command_line(), house.project).await.unwrap().remove(0);
    let named = |name: &str| format!("<span title=\"{}\">{name}</span>", hook.id);
    assert!(log.contains(&named("Supabase, Send SMS (live)")), "{log}");
    let path = house.page(&format!("settings/hooks/{}/remove", hook.id));
    assert_eq!(owner.post(&path, &[("word", "remove")]).await.status, 303);
    let log = owner.get("/audit").await.body;
    assert!(log.contains(&named("supabase")), "what is gone: {log}");
}
