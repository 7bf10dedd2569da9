//! What operators can do with their rights, and no more.

use crate::common::{
    Answer, Database, Endpoint, Person, Program, Service, World, answer, at_once, tally,
};
use dwar_operator::{Command, CreatedCredential, RequiredAccess};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const KEY: &str = "Vg4Xk0rYfFz1P8mJq7yq2cS0hVd3Zk9uLw5t1oRb6nE=";
/// Searches in an hour, and in a day, for operators who see numbers masked.
const IN_AN_HOUR: usize = 60;
const IN_A_DAY: usize = 200;

fn service(database: Database) -> Service {
    let world = World::new(database)
        .with("DWAR__DASHBOARD__ADDRESS", "127.0.0.1:0")
        .with("DWAR__SECRETS__MASTER_KEY", KEY);
    Service::start_in(world)
}

fn phone(number: usize) -> String {
    format!("98765{number:05}")
}

/// A search of the admin API for one number.
fn asked(program: &Program, project: &str, number: usize) -> RequestBuilder {
    let path = format!("/projects/{project}/requests/search");
    program.request(Method::POST, &path).json(&json!({ "phone": phone(number) }))
}

fn assert_limited(answer: &Answer) {
    answer.refused(429, "SEARCH_RATE_LIMITED");
    let wait: u64 = answer.header("retry-after").parse().unwrap();
    assert!((1..=3_600).contains(&wait), "{wait}");
}

/// A mask hides four digits, so trying all of them would reveal the number. All interfaces share
/// one count.
async fn a_mask_cannot_be_searched(database: Database) {
    let service = service(database);
    let (one, other) = (service.world.project("10").id, service.world.project("10").id);
    let support = Program::in_project(&service, &one, "support");
    for number in 0..IN_AN_HOUR {
        let answer = answer(asked(&support, &one, number)).await;
        let left = (IN_AN_HOUR - 1 - number).to_string();
        assert_eq!(answer.header("ratelimit-limit"), "60");
        assert_eq!(answer.header("ratelimit-remaining"), left);
        answer.ok();
    }
    assert_limited(&answer(asked(&support, &one, 100)).await);
    // A repeated search is allowed and not recorded twice.
    answer(asked(&support, &one, 7)).await.ok();
    assert_eq!(service.audited("phone.searched"), IN_AN_HOUR);

    // A person: pages count, in every project, in the same count as the API.
    let invite = ["--name", "meena", "--project", one.as_str(), "--role", "viewer"];
    let viewer = Person::join(&service, &invite).await;
    let owner = Program::owner(&service);
    let operators = owner.get("/operators").await.ok();
    let meena = &operators["items"][0]["operator_id"];
    let both = [&one, &other].map(|id| json!({ "project_id": id, "role": "viewer" }));
    let path = format!("/operators/{}/access", meena.as_str().unwrap());
    owner.call(Method::PUT, &path, &json!({ "projects": both })).await.ok();
    for number in 0..IN_AN_HOUR {
        let project = [&one, &other][number % 2];
        let form = [("mode", "live"), ("phone", &phone(number))];
        let found = viewer.post(&format!("/p/{project}/activity/phone"), &form).await;
        assert_eq!(found.status, 200, "{number}");
        let left = format!("log. {} search", IN_AN_HOUR - 1 - number);
        assert!(found.text.contains(&left), "{left}: {}", found.text);
    }
    for project in [&one, &other] {
        let form = [("mode", "live"), ("phone", &phone(100))];
        let refused = viewer.post(&format!("/p/{project}/activity/phone"), &form).await;
        assert_eq!(refused.status, 429);
        assert!(!refused.header("retry-after").is_empty());
        assert!(refused.text.contains("60 an hour and 200 a day"), "{}", refused.text);
    }
    assert_eq!(service.audited("phone.searched"), 2 * IN_AN_HOUR);

    // Operators who may see numbers anyway are neither limited nor audited.
    let member = Program::in_project(&service, &one, "member");
    for number in 0..IN_AN_HOUR + 1 {
        let found = answer(asked(&member, &one, number)).await;
        assert_eq!((found.status.as_u16(), found.header("ratelimit-limit")), (200, ""));
    }
    assert_eq!(service.audited("phone.searched"), 2 * IN_AN_HOUR);
}

/// Under load, with several processes where the database allows it, no more are admitted than one
/// after another.
async fn many_searches_at_once_are_admitted_up_to_the_limit(database: Database) {
    let service = service(database);
    let project = service.world.project("10").id;
    let twin = matches!(service.world.database, Database::Postgres { .. }).then(|| service.twin());
    let support = Program::in_project(&service, &project, "support");
    let there = twin.as_ref().map(|twin| Program::with(twin, &support.token));
    let everywhere = [Some(&support), there.as_ref().or(Some(&support))];
    let calls = (0..240).map(|number| {
        let program = everywhere[number % 2].unwrap();
        asked(program, &project, number)
    });
    let answers = at_once(calls).await;
    let outcomes = tally(&answers);
    assert_eq!(outcomes["200"], IN_AN_HOUR, "{outcomes:?}");
    assert_eq!(outcomes["SEARCH_RATE_LIMITED"], 240 - IN_AN_HOUR, "{outcomes:?}");
    assert_eq!(service.audited("phone.searched"), IN_AN_HOUR);

    // A day is a separate window: the searches of earlier hours are moved into the past.
    let sql = match &service.world.database {
        Database::Postgres { .. } => {
            "UPDATE phone_searches SET searched_at = searched_at - interval '61 minutes'"
        }
        _ => "UPDATE phone_searches SET searched_at = searched_at - 3660000",
    };
    let mut searched = IN_AN_HOUR;
    for round in 1..5 {
        service.world.database.run(sql).await;
        let calls = (0..90).map(|number| asked(&support, &project, 1_000 * round + number));
        searched += at_once(calls).await.iter().filter(|answer| answer.status == 200).count();
    }
    assert_eq!(searched, IN_A_DAY);
}

/// The requests with which a program creates something that works by itself, for each such command:
/// method, path and body. A new command of that kind fails the test until it is added here.
async fn makers(
    service: &Service,
    project: &str,
    operator: &str,
) -> Vec<(Command, Method, String, Value)> {
    let (owner, of) = (Program::owner(service), format!("/projects/{project}"));
    let webhook = json!({ "url": "https://nobody.invalid/events", "full_phone": true });
    let hook = json!({ "kind": "supabase", "mode": "live", "expires_in": 300 });
    let made = owner.post(&format!("{of}/webhooks"), &webhook).await.body;
    let one_webhook = format!("{of}/webhooks/{}", made["webhook"]["webhook_id"].as_str().unwrap());
    let made = owner.post(&format!("{of}/hooks"), &hook).await.body;
    let one_hook = format!("{of}/hooks/{}", made["hook"]["hook_id"].as_str().unwrap());
    let keys = owner.get(&format!("{of}/keys")).await.ok()["items"][0].clone();
    let regenerate = format!("{of}/keys/{}/regenerate", keys["mode"].as_str().unwrap());
    let access = json!({ "projects": [{ "project_id": project, "role": "viewer" }] });
    let token =
        json!({ "name": "eve", "access": access, "lifetime_seconds": 60, "may_delegate": true });
    let (post, operator) = (Method::POST, format!("/operators/{operator}"));
    let invitation = json!({ "name": "eve", "access": access });
    vec![
        (Command::CreateProject, post.clone(), "/projects".to_owned(), json!({ "name": "Eve" })),
        (Command::RestoreProject, post.clone(), format!("{of}/restore"), Value::Null),
        (Command::RegenerateKey, post.clone(), regenerate, json!({ "replaces": keys["key_id"] })),
        (Command::AddWebhook, post.clone(), format!("{of}/webhooks"), webhook),
        (
            Command::RotateWebhookSecret,
            post.clone(),
            format!("{one_webhook}/rotate-secret"),
            Value::Null,
        ),
        (Command::EnableWebhook, post.clone(), format!("{one_webhook}/enable"), Value::Null),
        (Command::AddHook, post.clone(), format!("{of}/hooks"), hook),
        (Command::RotateHookSecret, post.clone(), format!("{one_hook}/rotate-secret"), Value::Null),
        (Command::InviteOperator, post.clone(), "/operators".to_owned(), invitation),
        (Command::RenewInvitation, post.clone(), format!("{operator}/invitation"), Value::Null),
        (Command::ChangeOperator, Method::PUT, format!("{operator}/access"), access),
        (Command::RemoveOperator, Method::DELETE, operator, Value::Null),
        (Command::MakeToken, post, "/tokens".to_owned(), token),
    ]
}

/// A token that was stolen for a minute leaves nothing that works after it expires.
async fn a_token_leaves_nothing_behind_that_outlives_it(database: Database) {
    let service = service(database);
    let project = service.world.project("10").id;
    let person = Person::join(&service, &["--name", "asha", "--owner"]).await;
    let invited = ["--name", "ravi", "--project", &project, "--role", "viewer"];
    let invited = service.world.cli(&[&["operator", "invite"], &invited[..]].concat());
    let makers =
        makers(&service, &project, invited["operator"]["operator_id"].as_str().unwrap()).await;
    let listed: BTreeSet<Command> = makers.iter().map(|(command, ..)| *command).collect();
    let all = Command::ALL.into_iter().filter(|it| it.makes() != CreatedCredential::Nothing);
    // Only the command line resets an operator.
    let wanted: BTreeSet<_> = all.filter(|it| it.needs() != RequiredAccess::Machine).collect();
    assert_eq!(listed, wanted);

    let deploy = Program::new(&service, &["--name", "deploy", "--everything", "--days", "1"]);
    let owner = Program::in_project(&service, &project, "owner");
    let delegating = ["--name", "m", "--project", &project, "--role", "member", "--may-delegate"];
    let members =
        [Program::in_project(&service, &project, "member"), Program::new(&service, &delegating)];
    let before = service.audited("");
    for (command, method, path, body) in &makers {
        let refused = deploy.call(method.clone(), path, body).await;
        refused.refused(403, "FORBIDDEN");
        assert!(refused.text.contains("has no right to delegate"), "{command}: {}", refused.text);
        for program in members.iter().chain([&owner]) {
            let refused = program.call(method.clone(), path, body).await;
            assert_eq!(refused.status, 403, "{command}: {}", refused.text);
        }
    }
    assert_eq!(service.audited(""), before, "nothing was written down");
    // Commands that remove something need only the role.
    let hooks = owner.get(&format!("/projects/{project}/hooks")).await.ok();
    let path =
        format!("/projects/{project}/hooks/{}", hooks["items"][0]["hook_id"].as_str().unwrap());
    answer(members[1].request(Method::DELETE, &path)).await.refused(403, "FORBIDDEN");
    answer(owner.request(Method::DELETE, &path)).await.ok();

    let all = json!({ "everything": true });
    let viewer = json!({ "projects": [{ "project_id": project, "role": "viewer" }] });
    // The page creates a token with the right to delegate, shows it in red, and grants no more time
    // than that token has.
    let form = [("name", "maker"), ("role", "everything"), ("days", "1"), ("may_delegate", "on")];
    let red = "pill bad\">Can create what keeps working after it expires: keys, hooks, \
               endpoints of events, people, tokens";
    let marked = async || person.get("/tokens").await.text.matches(red).count();
    let before = marked().await;
    let made = person.post("/tokens", &form).await;
    assert_eq!(marked().await, before + 1);
    let start = made.text.find("svc_adm_").unwrap();
    let secret = made.text[start..].split('<').next().unwrap();
    let maker = Program::with(&service, secret);
    let long = json!({ "name": "long", "access": all, "lifetime_seconds": 172_800 });
    maker.post("/tokens", &long).await.refused(422, "INVALID_FIELD");
    let child = json!({ "name": "child", "access": viewer, "lifetime_seconds": 60 });
    let child = maker.post("/tokens", &child).await;
    assert_eq!(child.status, 201, "{}", child.text);
    assert_eq!(child.body["token"]["may_delegate"], false);
    let eve = json!({ "name": "eve", "access": all });
    assert_eq!(maker.post("/operators", &eve).await.status, 201);
    let listed = service.world.cli(&["admin-token", "list"]);
    let may = |token: &Value| (token["name"].clone(), token["may_delegate"].clone());
    let mut may: Vec<_> = listed["items"].as_array().unwrap().iter().map(may).collect();
    let wanted = [("maker", true), ("child", false)];
    assert_eq!(may.split_off(may.len() - 2), wanted.map(|(name, may)| (json!(name), json!(may))));
}

/// What was created legitimately still works after its creator is gone, whether that was a token
/// with the right to delegate or a person. So only those who could hand out a key can create it.
async fn what_works_by_itself_outlives_its_maker(database: Database) {
    let world = World::new(database)
        .with("DWAR__DASHBOARD__ADDRESS", "127.0.0.1:0")
        .with("DWAR__EVENTS__ALLOW_PRIVATE", "true")
        .with("DWAR__SECRETS__MASTER_KEY", KEY);
    let service = Service::start_in(world);
    let (project, endpoint) = (service.world.project("10"), Endpoint::start().await);
    let of = format!("/projects/{}", project.id);
    let listed = service.world.cli(&["admin-token", "list"])["items"].as_array().unwrap().len();
    let maker = Program::new(&service, &["--name", "maker", "--everything", "--may-delegate"]);
    let keys = maker.get(&format!("{of}/keys")).await.ok()["items"].as_array().unwrap().clone();
    let live = keys.iter().find(|key| key["mode"] == "live").unwrap();
    let mut made = Vec::new();
    for (path, body) in [
        (format!("{of}/keys/live/regenerate"), json!({ "replaces": live["key_id"] })),
        (format!("{of}/hooks"), json!({ "kind": "logto", "mode": "test", "expires_in": 300 })),
        (format!("{of}/webhooks"), json!({ "url": endpoint.url })),
        (
            "/tokens".to_owned(),
            json!({ "name": "child", "access": { "everything": true }, "lifetime_seconds": 600 }),
        ),
        ("/operators".to_owned(), json!({ "name": "ravi", "access": { "everything": true } })),
    ] {
        let answer = maker.post(&path, &body).await;
        assert_eq!(answer.status, 201, "{path}: {}", answer.text);
        made.push(answer.body);
    }
    let [key, hook, _, token, ravi] = made.try_into().unwrap_or_else(|_| panic!());
    let tokens = service.world.cli(&["admin-token", "list"]);
    let id = tokens["items"][listed]["token_id"].as_str().unwrap();
    service.world.cli(&["admin-token", "revoke", "--token", id]);
    maker.get("/projects").await.refused(401, "INVALID_ADMIN_TOKEN");

    let phone = service.world.phone();
    service.send(key["key"].as_str().unwrap(), &phone).await.ok();
    endpoint.hears("otp.sent").await;
    let path = format!("/hooks/{}", hook["hook"]["hook_id"].as_str().unwrap());
    let call = json!({ "to": format!("91{phone}"), "payload": { "code": "123456" } });
    let call = service.request(Method::POST, &path).json(&call);
    answer(call.header("authorization", hook["secret"].as_str().unwrap())).await.ok();
    Program::with(&service, token["secret"].as_str().unwrap()).get("/projects").await.ok();
    let (_, secret) = ravi["link"].as_str().unwrap().split_once('#').unwrap();
    let ravi = Person::accept(&service, secret).await;

    // Also of an operator who is removed.
    let page = ravi
        .post(
            &format!("/p/{}/settings/hooks", project.id),
            &[("kind", "logto"), ("mode", "test"), ("expires_in", "300")],
        )
        .await;
    assert_eq!(page.status, 200, "{}", page.text);
    let shown = page.text.split("Bearer whsec_").nth(1).unwrap().split('<').next().unwrap();
    service.world.cli(&["operator", "remove", "ravi"]);
    assert_eq!(ravi.get("/projects").await.status, 303);
    let hooks = service.world.cli(&["hook", "list", "--project", &project.id]);
    let path = format!("/hooks/{}", hooks["items"][1]["hook_id"].as_str().unwrap());
    let call = json!({ "to": format!("91{phone}"), "payload": { "code": "654321" } });
    let call = service.request(Method::POST, &path).json(&call);
    answer(call.header("authorization", format!("Bearer whsec_{shown}"))).await.ok();
}

/// An id in capitals is the same id: an identity that was looked up by it is shown masked.
async fn an_id_in_capitals_shows_no_whole_number(database: Database) {
    let service = service(database);
    let (project, number) = (service.world.project("10"), service.world.phone());
    let login = service.log_in(&project.test, &number).await;
    let id = login["identity_id"].as_str().unwrap();
    let invite = ["--name", "asha", "--project", &project.id, "--role", "member"];
    let member = Person::join(&service, &invite).await;
    let path = format!("/p/{}/identities", project.id);
    for wanted in [id.to_owned(), id.to_uppercase()] {
        let page = member.post(&path, &[("mode", "test"), ("wanted", &wanted)]).await;
        assert_eq!(page.status, 200);
        assert!(page.text.contains(id), "{wanted}: {}", page.text);
        assert!(!page.text.contains(&number), "{wanted} shows the number");
    }
    // Cursors of lists are ids too.
    let owner = Program::owner(&service);
    let first = owner.get("/projects?limit=1").await.ok()["items"][0]["project_id"].clone();
    let upper = first.as_str().unwrap().to_uppercase();
    assert_eq!(owner.get(&format!("/projects?cursor={upper}")).await.status, 200);
}

/// The form for an operator's role starts with the current role.
async fn a_role_that_is_saved_unread_stays_as_it_is(database: Database) {
    let service = service(database);
    let [one, other, third] = [(); 3].map(|()| service.world.project("10").id);
    let owner = Person::join(&service, &["--name", "asha", "--owner"]).await;
    let program = Program::owner(&service);
    let roles = [(&one, "viewer"), (&other, "owner")];
    let access = roles.map(|(id, role)| json!({ "project_id": id, "role": role }));
    let invitation = json!({ "name": "ravi", "access": { "projects": access } });
    let ravi = program.post("/operators", &invitation).await.body["operator"].clone();
    let ravi = ravi["operator_id"].as_str().unwrap().to_owned();
    let page = owner.get(&format!("/team?change={ravi}")).await.text;
    let action = format!("action=\"/team/{ravi}/access\"");
    let forms: Vec<&str> = page.split("<form").filter(|form| form.contains(&action)).collect();
    assert_eq!(forms.len(), 3, "one for each role, and one for other projects: {page}");
    for (project, role) in roles {
        let own = forms.iter().find(|form| form.contains(&format!("value=\"{project}\"")));
        let chosen = format!("<option value=\"{role}\" selected>");
        assert!(own.unwrap().contains(&chosen), "{role}: {own:?}");
    }
    let rest = forms.iter().find(|form| form.contains(&third)).unwrap();
    assert!(rest.contains("<option value=\"none\" selected>"), "{rest}");
    // All of them are saved unchanged.
    let path = format!("/team/{ravi}/access");
    for (project, role) in [(&one, "viewer"), (&other, "owner"), (&third, "none")] {
        let form = [("project", project.as_str()), ("role", role)];
        assert_eq!(owner.post(&path, &form).await.status, 303);
    }
    let form = [("project", "everything"), ("role", "none")];
    assert_eq!(owner.post(&path, &form).await.status, 303);
    let listed = program.get("/operators").await.ok();
    let listed = listed["items"].as_array().unwrap().clone();
    let now = listed.iter().find(|one| one["operator_id"] == ravi.as_str()).unwrap();
    assert_eq!(now["access"]["everything"], false);
    assert_eq!(now["access"]["projects"].as_array().unwrap().len(), 2, "{now}");
}

/// The sessions of an unknown identity are answered as not found, instead of as an empty list.
async fn sessions_of_another_projects_identity_are_not_found(database: Database) {
    let service = service(database);
    let (ours, theirs) = (service.world.project("10"), service.world.project("10"));
    let login = service.log_in(&ours.test, &service.world.phone()).await;
    let id = login["identity_id"].as_str().unwrap();
    let owner = Program::owner(&service);
    let sessions =
        |project: &str, mode: &str| format!("/projects/{project}/identities/{mode}/{id}/sessions");
    let own = owner.get(&sessions(&ours.id, "test")).await.ok();
    assert_eq!(own["items"].as_array().unwrap().len(), 1);
    let before = service.audited("");
    for path in [sessions(&theirs.id, "test"), sessions(&ours.id, "live")] {
        owner.get(&path).await.refused(404, "NOT_FOUND");
        answer(owner.request(Method::DELETE, &path)).await.refused(404, "NOT_FOUND");
        let one = format!("{path}/{}", login["session_id"].as_str().unwrap());
        answer(owner.request(Method::DELETE, &one)).await.refused(404, "NOT_FOUND");
    }
    assert_eq!(service.audited(""), before, "nothing was written down");
    let asha = Person::join(&service, &["--name", "asha", "--owner"]).await;
    let page = |project: &str| format!("/p/{project}/identities/test/{id}/sessions");
    assert_eq!(asha.get(&page(&ours.id)).await.status, 200);
    assert_eq!(asha.get(&page(&theirs.id)).await.status, 404);
}

on_both_databases! {
    a_mask_cannot_be_searched;
    many_searches_at_once_are_admitted_up_to_the_limit;
    a_token_leaves_nothing_behind_that_outlives_it;
    what_works_by_itself_outlives_its_maker;
    an_id_in_capitals_shows_no_whole_number;
    a_role_that_is_saved_unread_stays_as_it_is;
    sessions_of_another_projects_identity_are_not_found;
}
