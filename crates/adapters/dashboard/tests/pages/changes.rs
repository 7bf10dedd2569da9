use crate::support::{House, PASSWORD};
use dwar_kernel::{KeyMode, Phone};
use dwar_operator::{Access, Client, Role};
use dwar_testkit::{Fixtures, Line, minutes};

/// The first text in a page that looks like a new secret.
fn shown<'a>(page: &'a str, prefix: &str) -> &'a str {
    let start = page.find(prefix).unwrap();
    let end = page[start..].find('<').unwrap();
    &page[start..start + end]
}

#[actix_web::test]
async fn a_regenerated_key_is_shown_once_and_the_old_one_is_over() {
    let house = House::new().await;
    let owner = house.with_role(Role::Owner).await;
    let path = house.page("keys/regenerate");
    let before = house.keys().await[0].id.to_string();
    let form = |word: &'static str| [("mode", "live"), ("key", before.as_str()), ("word", word)];
    assert_eq!(owner.post(&path, &form("acme")).await.status, 422, "to the letter");
    assert_eq!(house.keys().await[0].id.to_string(), before);
    let made = owner.post(&path, &form("Acme")).await;
    let fresh = shown(&made.body, "svc_live_");
    assert!(house.opens(fresh).await, "{fresh}");
    assert!(!house.opens(&house.live_key).await);
    assert_eq!(owner.post(&path, &form("Acme")).await.status, 409, "sent twice, replaced once");
    assert!(house.opens(fresh).await);
    let page = owner.get(&house.page("keys")).await.body;
    assert!(!page.contains(fresh));
    // A ready call for each, with the key in a variable; the new test key is in its own call.
    for variable in ["$DWAR_LIVE_KEY", "$DWAR_TEST_KEY"] {
        let call = format!(
            "curl -s http://127.0.0.1:8080/v1/otp/send \\\n  -H &quot;X-Api-Key: {variable}&quot;"
        );
        assert!(page.contains(&call), "{call}: {page}");
    }
    assert!(!made.body.contains(&format!("X-Api-Key: {fresh}")), "it would send and be charged");
    let before = house.keys().await[1].id.to_string();
    let form = [("mode", "test"), ("key", before.as_str()), ("word", "Acme")];
    let made = owner.post(&path, &form).await.body;
    let fresh = shown(&made, "svc_test_");
    assert!(
        house.opens(fresh).await && made.contains(&format!("X-Api-Key: {fresh}&quot;")),
        "{made}"
    );
}

#[actix_web::test]
async fn money_is_paid_in_once_per_reference_and_shown_as_in_india() {
    let house = House::new().await;
    let owner = house.with_role(Role::Owner).await;
    let pay = |rupees: &'static str, reference: &'static str| {
        let (owner, path) = (owner.clone(), house.page("wallet/credit"));
        let form = [("rupees", rupees), ("reference", reference), ("confirmed", "yes")];
        async move { owner.post(&path, &form).await.status }
    };
    assert_eq!(pay("100.50", "INV-1").await, 303);
    assert_eq!(pay("100.50", "INV-1").await, 303, "the same reference: nothing more");
    assert_eq!(pay("", "INV-2").await, 422);
    assert_eq!(pay("-5", "INV-2").await, 422);
    assert_eq!(pay("5", " ").await, 422);
    let page = owner.get(&house.page("wallet")).await.body;
    assert!(page.contains("₹1,23,557.00") && page.contains("+₹100.50"), "{page}");
}

#[actix_web::test]
async fn settings_change_and_what_cannot_work_is_refused() {
    let house = House::new().await;
    let member = house.with_role(Role::Member).await;
    let find = || house.parts.stores.projects.find(house.project);
    assert_eq!(
        member.post(&house.page("settings/identities"), &[("identity_lookup", "on")]).await.status,
        303
    );
    let project = find().await.unwrap().unwrap();
    assert!(project.identity_lookup && !project.identity_delete);
    let text = |text: &'static str| {
        [
            ("brand", "Chai"),
            ("language", ""),
            ("sms_text", text),
            ("sms_template_id", ""),
            ("webotp_domain", "login.example.com"),
            ("app_hash", ""),
        ]
    };
    let preview = member.post(&house.page("settings/preview"), &text("{code} for {brand}")).await;
    assert!(
        preview.body.contains("482915 for Chai\n\n@login.example.com #482915"),
        "{}",
        preview.body
    );
    assert_eq!(member.post(&house.page("settings/messages"), &text("no code")).await.status, 422);
    assert_eq!(find().await.unwrap().unwrap().messages.brand, None);
    assert_eq!(member.post(&house.page("settings/messages"), &text("{code}")).await.status, 303);
    assert_eq!(find().await.unwrap().unwrap().messages.brand.as_deref(), Some("Chai"));
    let route = |sms: &'static str| {
        [("whatsapp_providers", "none"), ("sms_providers", sms), ("fallback_seconds", "30")]
    };
    assert_eq!(member.post(&house.page("settings/routing"), &route("pigeon")).await.status, 422);
    assert_eq!(member.post(&house.page("settings/routing"), &route("msg91")).await.status, 303);
    let routing = find().await.unwrap().unwrap().routing;
    assert_eq!((routing.whatsapp, routing.fallback_seconds), (Some(Vec::new()), Some(30)));
}

#[actix_web::test]
async fn a_webhook_is_added_rotated_and_removed() {
    let house = House::new().await;
    let owner = house.with_role(Role::Owner).await;
    let base = house.page("settings/events");
    let added = owner.post(&base, &[("url", "https://example.com/x")]).await;
    let first = shown(&added.body, "whsec_").to_owned();
    let endpoint = house.parts.stores.events.endpoints(house.project).await.unwrap().remove(0);
    let one = format!("{base}/{}", endpoint.id);
    let rotated = owner.post(&format!("{one}/rotate"), &[]).await;
    assert_ne!(shown(&rotated.body, "whsec_"), first);
    assert_eq!(owner.post(&format!("{one}/remove"), &[("word", "no")]).await.status, 422);
    assert_eq!(owner.post(&format!("{one}/remove"), &[("word", "remove")]).await.status, 303);
    assert!(house.parts.stores.events.endpoints(house.project).await.unwrap().is_empty());
}

#[actix_web::test]
async fn an_identity_is_found_by_number_masked_by_id_and_erased_by_a_typed_word() {
    let house = House::new().await;
    let member = house.with_role(Role::Member).await;
    let phone: Phone = "9876543210".parse().unwrap();
    let index = house.parts.tools.vault.phone_index(house.project.in_mode(KeyMode::Live), &phone);
    let line = Line { project_mode: house.project.in_mode(KeyMode::Live), phone, index };
    let make = Fixtures::seeded(3);
    let login = make.login(&line);
    let id = make.log_in(&*house.parts.stores.logins, &line, login).await.to_string();
    let path = house.page("identities");
    let by_number = member.post(&path, &[("mode", "live"), ("wanted", "98765 43210")]).await.body;
    assert!(by_number.contains(&id) && by_number.contains("+919876543210"));
    let by_id = member.post(&path, &[("mode", "live"), ("wanted", &id)]).await.body;
    assert!(by_id.contains("+9198••••3210") && !by_id.contains("9876543210"), "{by_id}");
    let elsewhere = member.post(&path, &[("mode", "test"), ("wanted", "9876543210")]).await.body;
    assert!(!elsewhere.contains(&id), "the other mode has data of its own");
    let erase = house.page("identities/erase");
    let fields = |word: &'static str| [("mode", "live"), ("id", id.as_str()), ("word", word)];
    assert_eq!(member.post(&erase, &fields("no")).await.status, 422);
    assert!(member.post(&erase, &fields("erase")).await.body.contains("Identity erased."));
    let gone = member.post(&path, &[("mode", "live"), ("wanted", "9876543210")]).await.body;
    assert!(!gone.contains(&id));
}

#[actix_web::test]
async fn somebody_is_invited_changed_and_removed_and_the_log_tells_it() {
    let house = House::new().await;
    let owner = house.owner().await;
    let project = house.project.to_string();
    let fields = [("name", "ravi"), ("project", project.as_str()), ("role", "support")];
    let invited = owner.post("/team", &fields).await;
    assert!(invited.body.contains("http://127.0.0.1:8081/invite#"), "{}", invited.body);
    assert_eq!(owner.post("/team", &fields).await.status, 409, "the name is taken");
    let ravi = house.manage.operators.named("ravi").await.unwrap();
    let path = format!("/team/{}", ravi.id);
    let access = [("project", project.as_str()), ("role", "viewer"), ("confirmed", "yes")];
    assert_eq!(owner.post(&format!("{path}/access"), &access).await.status, 303);
    let ravi = house.manage.operators.named("ravi").await.unwrap();
    assert_eq!(ravi.access.projects.get(&house.project), Some(&Role::Viewer));
    let secret = invited.body.split("/invite#").nth(1).unwrap().split('<').next().unwrap();
    let sign_in = &house.admin.sign_in;
    sign_in.follow_link(secret, Some(PASSWORD), Client::default()).await.unwrap();
    assert_eq!(owner.post(&format!("{path}/remove"), &[("word", "x")]).await.status, 422);
    assert_eq!(owner.post(&format!("{path}/remove"), &[("word", "ravi")]).await.status, 303);
    assert!(house.manage.operators.named("ravi").await.is_err());
    let log = owner.get("/audit").await.body;
    let both = "<th scope=\"row\">Access</th><td><span title=";
    assert!(log.contains("<th scope=\"col\">Before</th>") && log.contains(both), "{log}");
    for action in ["operator.invited", "operator.changed", "operator.removed"] {
        assert!(log.contains(action), "{action}");
    }
}

#[actix_web::test]
async fn the_team_lists_the_projects_for_one_member_at_a_time_however_many_there_are() {
    let house = House::new().await;
    let owner = house.owner().await;
    let project = house.project.to_string();
    for name in ["ravi", "kabir", "meera"] {
        let fields = [("name", name), ("project", project.as_str()), ("role", "viewer")];
        assert_eq!(owner.post("/team", &fields).await.status, 200, "{name}");
    }
    let choice = format!("<option value=\"{}\">", house.other);
    let lists = |page: &str| page.matches(&choice).count();
    assert_eq!(lists(&owner.get("/team").await.body), 1, "of the invitation alone");
    let ravi = house.manage.operators.named("ravi").await.unwrap().id;
    let page = owner.get(&format!("/team?change={ravi}")).await.body;
    assert_eq!(lists(&page), 2);
    assert!(page.contains(&format!("action=\"/team/{ravi}/access\"")), "{page}");
    assert_eq!(page.matches("/access\"").count(), 2, "their role, and other projects: {page}");
}

#[actix_web::test]
async fn names_and_texts_of_people_are_never_markup() {
    let house = House::new().await;
    let owner = house.owner().await;
    let evil = "<script>alert(1)</script>";
    let fields = [
        ("brand", evil),
        ("language", ""),
        ("sms_text", "{code} <b>"),
        ("sms_template_id", "\"'><i>"),
        ("webotp_domain", ""),
        ("app_hash", ""),
    ];
    owner.post(&house.page("settings/messages"), &fields).await;
    for path in [house.page("settings/messages"), house.page("playground")] {
        let page = owner.get(&path).await.body;
        assert!(
            !page.contains(evil) && !page.contains("<b>\"") && !page.contains("'><i>"),
            "{path}"
        );
    }
    let back = owner.post("/theme", &[("theme", "dark"), ("back", "//evil.example")]).await;
    assert_eq!(back.header("location"), "/");
    let query = owner.get("/account?done=%3Cscript%3Ex").await.body;
    assert!(!query.contains("<script>x"));
}

/// The new rights are shown before they are granted.
#[actix_web::test]
async fn a_rise_is_confirmed_in_a_sentence_and_a_fall_is_not() {
    let house = House::new().await;
    let owner = house.owner().await;
    house.joined("ravi", Access::one(house.project, Role::Member)).await;
    let (project, other) = (house.project.to_string(), house.other.to_string());
    let role = async || house.manage.operators.named("ravi").await.unwrap().access;
    let path = format!("/team/{}/access", house.manage.operators.named("ravi").await.unwrap().id);
    let post = async |project: &str, role: &str, confirmed: &str| {
        let fields = [("project", project), ("role", role), ("confirmed", confirmed)];
        owner.post(&path, &fields).await
    };
    for (project, role_wanted, sentence) in [
        (
            &project,
            "owner",
            "will be able to do everything in Acme, including keys, hooks, endpoints of events, money and the team.",
        ),
        (&project, "viewer", "will be able to see prices and the wallet in Acme."),
        (&other, "support", "will be able to find out why a code did not arrive in Other."),
        (
            &"everything".to_owned(),
            "viewer",
            "will be able to do everything in every project, and to invite",
        ),
    ] {
        let before = role().await;
        let asked = post(project, role_wanted, "").await;
        assert_eq!(asked.status, 200, "{role_wanted}");
        let said = asked.body.replace("<strong>ravi</strong> ", "");
        assert!(said.contains(sentence), "{sentence}: {said}");
        assert!(said.contains(r#"name="confirmed" value="yes""#), "{said}");
        assert_eq!(role().await, before, "nothing is done yet");
    }
    for same_or_less in ["member", "support", "none"] {
        assert_eq!(post(&project, same_or_less, "").await.status, 303, "{same_or_less}");
    }
    let asked = post(&project, "member", "").await.body;
    assert!(asked.contains("see settings, change settings, look up identities, erase identities, use the playground and see phone numbers in Acme."), "{asked}");
    assert_eq!(post(&project, "member", "yes").await.status, 303);
    assert_eq!(role().await, Access::one(house.project, Role::Member));
}

#[actix_web::test]
async fn an_invitation_says_how_long_and_is_renewed_or_revoked() {
    let house = House::new().await;
    let owner = house.owner().await;
    let project = house.project.to_string();
    let fields = [("name", "ravi"), ("project", project.as_str()), ("role", "viewer")];
    let link = |page: &str| {
        let secret = page.split("/invite#").nth(1).unwrap_or_default();
        secret.split('<').next().unwrap().to_owned()
    };
    let first = link(&owner.post("/team", &fields).await.body);
    let page = owner.get("/team").await.body;
    assert!(page.contains("Invited. The link works until"), "{page}");
    assert_eq!(page.matches("Password only").count(), 1, "of the owner alone: {page}");
    let ravi = house.manage.operators.named("ravi").await.unwrap().id;
    let renewed = owner.post(&format!("/team/{ravi}/invitation"), &[]).await;
    let second = link(&renewed.body);
    assert!(renewed.status == 200 && !second.is_empty() && second != first, "{}", renewed.body);
    let accept = async |secret: &str| {
        let fields = [("secret", secret), ("password", PASSWORD), ("again", PASSWORD)];
        house.send(house.stranger().form("/invite", &fields)).await
    };
    let gone = accept(&first).await;
    assert!(
        gone.status == 403 && gone.body.contains("Ask the person who invited you"),
        "{}",
        gone.body
    );
    assert!(!gone.body.contains("dwar operator"), "{}", gone.body);
    house.clock.advance(minutes(72 * 60));
    let owner = house.browser(&house.joined("chief", Access::everything()).await);
    assert!(owner.get("/team").await.body.contains("Invited. The link has expired."));
    let third = link(&owner.post(&format!("/team/{ravi}/invitation"), &[]).await.body);
    assert_eq!(accept(&third).await.status, 303);
    let late = owner.post(&format!("/team/{ravi}/invitation"), &[]).await;
    assert!(late.status == 409 && late.body.contains("signed in already"), "{}", late.body);
    assert_eq!(owner.post(&format!("/team/{ravi}/remove"), &[]).await.status, 422, "a word");

    let fields = [("name", "zoya"), ("project", project.as_str()), ("role", "viewer")];
    let zoyas = link(&owner.post("/team", &fields).await.body);
    let zoya = house.manage.operators.named("zoya").await.unwrap().id;
    assert_eq!(owner.post(&format!("/team/{zoya}/remove"), &[]).await.status, 303);
    assert_eq!(accept(&zoyas).await.status, 403);
    assert!(house.manage.operators.named("zoya").await.is_err());
}
