//! Generated values through the text fields of every interface: each accepts or refuses the same
//! values as the others, and stores the same. All of them show an accepted value alike, also after
//! a restart. The interfaces are those of a service in this process, or of the real binary.

use reqwest::{Client, Method, RequestBuilder, redirect};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use values::Draw;

#[path = "values.rs"]
mod values;

const PASSWORD: &str = "correct horse battery staple";

pub trait Cli {
    /// The answer of a command, or `None` if it refuses.
    async fn run(&self, arguments: &[&str]) -> Option<Value>;
}

/// Every interface of a service, for an owner of the installation.
pub struct Doors<C> {
    cli: C,
    base: String,
    client: Client,
    token: String,
    cookie: String,
    csrf: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Door {
    Api,
    Pages,
    Cli,
}

const DOORS: [Door; 3] = [Door::Api, Door::Pages, Door::Cli];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    /// A setting of a project that is one text, by its name in the admin API.
    Setting(&'static str),
    /// The only entry of a list in a project's settings.
    Entry(&'static str),
    ClaimName,
    ClaimValue,
    NewProject,
    Operator,
    Token,
    Credit,
    Adjustment,
    Webhook,
}

const FIELDS: [(Field, &[&str]); 18] = [
    (Field::Setting("name"), &["Chai & Co", "दुकान", "O'Neil \"x\""]),
    (Field::Setting("brand"), &["Chai", "चाय", "Tea <3"]),
    (Field::Setting("language"), &["hi", "en-IN", "pa-Guru-IN"]),
    (Field::Setting("sms_text"), &["{code} is it", "{code}\nfor {brand}", "कोड {code}"]),
    (Field::Setting("sms_template_id"), &["1107160000000000001", "a-b_c"]),
    (Field::Setting("webotp_domain"), &["login.example.com", "a.b"]),
    (Field::Setting("app_hash"), &["FA+9qCX9VSu", "abcdefghijk"]),
    (Field::Entry("last_lines"), &["staging.example.com", "AAAAAAAAAAA"]),
    (Field::Entry("whatsapp_providers"), &["console"]),
    (Field::Entry("sms_providers"), &["console"]),
    (Field::ClaimName, &["org", "role", "https://a.example/b", "iss", "email_x", "groups"]),
    (Field::ClaimValue, &["authenticated", "a b", "₹ <&>", "service_role"]),
    (Field::NewProject, &["Masala & Sons", "मसाला"]),
    (Field::Operator, &["asha rao", "प्रिया", "a.b@example.com"]),
    (Field::Token, &["deploy bot", "ci-1"]),
    (Field::Credit, &["UTR 4123", "opening balance", "a/b?c=d"]),
    (Field::Adjustment, &["a slip", "É"]),
    (Field::Webhook, &["https://example.com/hook?a=b", "https://bücher.example/ü"]),
];

impl Field {
    /// Tells whether an interface would read this value as several values of the field.
    fn is_written_differently(self, value: &str) -> bool {
        match self {
            Self::ClaimName => value.contains([',', '\n', '=']),
            Self::ClaimValue => value.contains([',', '\n']),
            Self::Entry(_) => {
                value.trim().is_empty() || value.contains(',') || {
                    value.trim().contains(char::is_whitespace) || value != value.trim()
                }
            }
            _ => false,
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn items(list: &Value) -> &[Value] {
    list["items"].as_array().unwrap()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

impl<C: Cli> Doors<C> {
    /// Opens them: a token, and an operator with this name who accepts an invitation.
    pub async fn open(cli: C, base: String, name: &str) -> Self {
        let token = ["admin-token", "add", "--name", name, "--everything", "--may-delegate"];
        let token = text(&cli.run(&token).await.unwrap()["secret"]).unwrap();
        let invited = cli.run(&["operator", "invite", "--name", name, "--owner"]).await.unwrap();
        let (_, secret) = invited["link"].as_str().unwrap().split_once('#').unwrap();
        let client = Client::builder().redirect(redirect::Policy::none()).build().unwrap();
        let form = [("secret", secret), ("password", PASSWORD), ("again", PASSWORD)];
        let entered = client.post(format!("{base}/invite")).header("Origin", &base).form(&form);
        let entered = entered.send().await.unwrap();
        let cookie = entered.headers()["set-cookie"].to_str().unwrap();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        let mut doors = Self { cli, base, client, token, cookie, csrf: String::new() };
        let page = doors.page("/account").await;
        let csrf = page.split(r#"name="csrf-token" content=""#).nth(1).unwrap();
        csrf.split('"').next().unwrap().clone_into(&mut doors.csrf);
        doors
    }

    async fn sent(&self, request: RequestBuilder) -> (u16, String) {
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    /// The answer of the admin API; `None` if it refuses.
    async fn api(&self, method: Method, path: &str, body: Value) -> Option<Value> {
        let request = self.client.request(method, format!("{}/admin/v1{path}", self.base));
        let mut request = request.bearer_auth(&self.token);
        if !body.is_null() {
            request = request.json(&body);
        }
        let (status, text) = self.sent(request).await;
        assert!([200, 201, 400, 409, 413, 422].contains(&status), "{path} {body}: {status} {text}");
        (status < 300).then(|| serde_json::from_str(&text).unwrap())
    }

    async fn get(&self, path: &str) -> Value {
        self.api(Method::GET, path, Value::Null).await.unwrap()
    }

    async fn page(&self, path: &str) -> String {
        let request = self.client.get(format!("{}{path}", self.base));
        let (status, text) = self.sent(request.header("Cookie", &self.cookie)).await;
        assert_eq!(status, 200, "{path}: {text}");
        text
    }

    /// The target of a form's redirect; `None` if it is refused.
    async fn form(&self, path: &str, fields: &[(&str, &str)]) -> Option<String> {
        let fields = [fields, &[("csrf", self.csrf.as_str())]].concat();
        let request = self.client.post(format!("{}{path}", self.base)).form(&fields);
        let request = request.header("Cookie", &self.cookie).header("Origin", &self.base);
        let (status, text) = self.sent(request).await;
        assert!(
            [200, 201, 303, 400, 409, 413, 422].contains(&status),
            "{path} {fields:?}: {status} {text}"
        );
        (status < 400).then_some(text)
    }

    async fn settings(&self, project: &str) -> Value {
        self.get(&format!("/projects/{project}")).await
    }

    /// Writes through one interface; returns the stored value, or `None` if it was refused.
    async fn write(&self, door: Door, field: Field, value: &str, project: &str) -> Option<String> {
        let known = self.listed(field, project).await;
        let taken = match door {
            Door::Api => self.write_by_api(field, value, project).await,
            Door::Pages => self.write_by_page(field, value, project).await,
            Door::Cli => self.write_by_cli(field, value, project).await,
        };
        taken.then_some(())?;
        Some(self.read(field, project, &known).await)
    }

    async fn write_by_api(&self, field: Field, value: &str, project: &str) -> bool {
        let own = |path: &str| format!("/projects/{project}{path}");
        let everything = json!({ "everything": true });
        let (method, path, body) = match field {
            Field::Setting(name) => (Method::PATCH, own(""), json!({ name: value })),
            Field::Entry(name) => (Method::PATCH, own(""), json!({ name: [value] })),
            Field::ClaimName => (Method::PATCH, own(""), json!({ "token_claims": { value: "x" } })),
            Field::ClaimValue => {
                (Method::PATCH, own(""), json!({ "token_claims": { "org": value } }))
            }
            Field::NewProject => (Method::POST, "/projects".to_owned(), json!({ "name": value })),
            Field::Operator => (
                Method::POST,
                "/operators".to_owned(),
                json!({ "name": value, "access": everything }),
            ),
            Field::Token => {
                let body =
                    json!({ "name": value, "access": everything, "lifetime_seconds": 86_400 });
                (Method::POST, "/tokens".to_owned(), body)
            }
            Field::Credit => (
                Method::POST,
                own("/wallet/credits"),
                json!({ "amount_paise": 100, "reference": value }),
            ),
            Field::Adjustment => {
                let body = json!({ "amount_paise": 100, "reference": value });
                (Method::POST, own("/wallet/adjustments"), body)
            }
            Field::Webhook => (Method::POST, own("/webhooks"), json!({ "url": value })),
        };
        self.api(method, &path, body).await.is_some()
    }

    async fn write_by_page(&self, field: Field, value: &str, project: &str) -> bool {
        let own = |path: &str| format!("/p/{project}{path}");
        let done = match field {
            Field::Setting("name") => {
                self.form(&own("/settings/project"), &[("name", value)]).await
            }
            Field::Setting(name) | Field::Entry(name @ "last_lines") => {
                let present = self.settings(project).await;
                let names = [
                    "brand",
                    "language",
                    "sms_text",
                    "sms_template_id",
                    "webotp_domain",
                    "app_hash",
                ];
                let text = |name: &str| present[name].as_str().unwrap_or_default().to_owned();
                let mut typed: BTreeMap<&str, String> = names.map(|name| (name, text(name))).into();
                let lines =
                    present["last_lines"].as_array().unwrap().iter().filter_map(Value::as_str);
                typed.insert("last_lines", lines.collect::<Vec<_>>().join(", "));
                typed.insert(name, value.to_owned());
                let typed: Vec<_> =
                    typed.iter().map(|(name, value)| (*name, value.as_str())).collect();
                self.form(&own("/settings/messages"), &typed).await
            }
            Field::Entry(name) => {
                let present = self.settings(project).await;
                let of = |name: &str| text(&present[name][0]).unwrap_or_default();
                let (whatsapp, sms) = (of("whatsapp_providers"), of("sms_providers"));
                let pick = |its: &str, own: &str| {
                    if its == name { value.to_owned() } else { own.to_owned() }
                };
                let (whatsapp, sms) =
                    (pick("whatsapp_providers", &whatsapp), pick("sms_providers", &sms));
                let form = [
                    ("whatsapp_providers", whatsapp.as_str()),
                    ("sms_providers", &sms),
                    ("fallback_seconds", ""),
                ];
                self.form(&own("/settings/routing"), &form).await
            }
            Field::ClaimName => {
                self.form(&own("/settings/tokens"), &[("token_claims", &format!("{value}=x"))])
                    .await
            }
            Field::ClaimValue => {
                self.form(&own("/settings/tokens"), &[("token_claims", &format!("org={value}"))])
                    .await
            }
            Field::NewProject => self.form("/projects", &[("name", value)]).await,
            Field::Operator => {
                let form = [("name", value), ("project", "everything"), ("role", "owner")];
                self.form("/team", &form).await
            }
            Field::Token => {
                let form = [("name", value), ("role", "everything"), ("days", "1")];
                self.form("/tokens", &form).await
            }
            Field::Credit => {
                let form = [("rupees", "1"), ("reference", value), ("confirmed", "yes")];
                self.form(&own("/wallet/credit"), &form).await
            }
            Field::Adjustment => {
                let form = [("correction", "1"), ("reason", value), ("confirmed", "yes")];
                self.form(&own("/wallet/adjustment"), &form).await
            }
            Field::Webhook => self.form(&own("/settings/events"), &[("url", value)]).await,
        };
        done.is_some()
    }

    async fn write_by_cli(&self, field: Field, value: &str, project: &str) -> bool {
        let (of, name) = (format!("--project={project}"), format!("--name={value}"));
        let flag = |flag: &str| format!("--{}={value}", flag.replace('_', "-"));
        let set = ["project", "set", of.as_str()];
        let done = match field {
            Field::Setting(name) | Field::Entry(name) => {
                self.cli.run(&[set.as_slice(), &[flag(name).as_str()]].concat()).await
            }
            Field::ClaimName | Field::ClaimValue => {
                let claim = match field {
                    Field::ClaimName => format!("--token-claims={value}=x"),
                    _ => format!("--token-claims=org={value}"),
                };
                self.cli.run(&[set.as_slice(), &[claim.as_str()]].concat()).await
            }
            Field::NewProject => self.cli.run(&["project", "create", &name]).await,
            Field::Operator => self.cli.run(&["operator", "invite", &name, "--owner"]).await,
            Field::Token => self.cli.run(&["admin-token", "add", &name, "--everything"]).await,
            Field::Credit | Field::Adjustment => {
                let verb = if field == Field::Credit { "credit" } else { "adjust" };
                self.cli.run(&["wallet", verb, &of, "--rupees=1", &flag("reference")]).await
            }
            Field::Webhook => self.cli.run(&["webhook", "add", &of, &flag("url")]).await,
        };
        done.is_some()
    }

    /// The entries of the list that a field adds to, by id, as the admin API shows them.
    async fn listed(&self, field: Field, project: &str) -> BTreeMap<String, String> {
        let (path, id, name) = match field {
            Field::NewProject => ("/projects?limit=500".to_owned(), "project_id", "name"),
            Field::Operator => ("/operators?limit=500".to_owned(), "operator_id", "name"),
            Field::Token => ("/tokens?limit=500".to_owned(), "token_id", "name"),
            Field::Webhook => (format!("/projects/{project}/webhooks"), "webhook_id", "url"),
            Field::Credit | Field::Adjustment => {
                (format!("/projects/{project}/wallet/entries"), "entry_id", "reference")
            }
            _ => return BTreeMap::new(),
        };
        let list = self.get(&path).await;
        let pair = |item: &Value| Some((text(&item[id])?, text(&item[name])?));
        items(&list).iter().filter_map(pair).collect()
    }

    /// The stored value of a field, without the `known` entries of a list; empty for none.
    async fn read(&self, field: Field, project: &str, known: &BTreeMap<String, String>) -> String {
        match field {
            Field::Setting(name) => text(&self.settings(project).await[name]).unwrap_or_default(),
            Field::Entry(name) => text(&self.settings(project).await[name][0]).unwrap_or_default(),
            Field::ClaimName | Field::ClaimValue => {
                let claims = self.settings(project).await["token_claims"].clone();
                let mut said = claims.as_object().unwrap().iter();
                said.next().map_or_else(String::new, |(name, value)| match field {
                    Field::ClaimName => name.clone(),
                    _ => text(value).unwrap(),
                })
            }
            _ => {
                let mut listed = self.listed(field, project).await;
                listed.retain(|id, _| !known.contains_key(id));
                assert!(listed.len() <= 1, "{field:?}: {listed:?}");
                // A reference that was booked before is booked once.
                listed.into_values().next().unwrap_or_default()
            }
        }
    }

    /// The interface that does not show the field's value: the command line, or the pages.
    async fn hidden(&self, field: Field, project: &str, stored: &str) -> Option<String> {
        if stored.is_empty() {
            return None;
        }
        let of = format!("--project={project}");
        let (command, page) = match field {
            Field::NewProject => {
                let listed = self.listed(field, project).await;
                let made = listed.iter().rev().find(|(_, name)| *name == stored).unwrap().0;
                (vec!["project", "list"], format!("/p/{made}/settings/project"))
            }
            Field::Operator => (vec!["operator", "list"], "/team".to_owned()),
            Field::Token => (vec!["admin-token", "list"], "/tokens".to_owned()),
            Field::Webhook => {
                (vec!["webhook", "list", &of], format!("/p/{project}/settings/events"))
            }
            Field::Credit | Field::Adjustment => {
                (vec!["wallet", "statement", &of], format!("/p/{project}/wallet"))
            }
            Field::Setting("name") => {
                (vec!["project", "show", &of], format!("/p/{project}/settings/project"))
            }
            Field::Setting(_) | Field::Entry("last_lines") => {
                (vec!["project", "show", &of], format!("/p/{project}/settings/messages"))
            }
            Field::Entry(_) => {
                (vec!["project", "show", &of], format!("/p/{project}/settings/delivery"))
            }
            Field::ClaimName | Field::ClaimValue => {
                (vec!["project", "show", &of], format!("/p/{project}/settings/tokens"))
            }
        };
        let printed = self.cli.run(&command).await.unwrap().to_string();
        let shown = self.page(&page).await;
        if !printed.contains(&json!(stored).to_string()) {
            return Some(format!("{command:?} hides {field:?} {stored:?}: {printed}"));
        }
        let is_shown = shown.contains(&escape(stored));
        (!is_shown).then(|| format!("{page} hides {field:?} {stored:?}"))
    }

    async fn forget_operators(&self, known: &BTreeMap<String, String>) {
        for id in self.listed(Field::Operator, "").await.into_keys() {
            if !known.contains_key(&id) {
                self.api(Method::DELETE, &format!("/operators/{id}"), Value::Null).await.unwrap();
            }
        }
    }
}

#[derive(Default)]
pub struct Kept {
    settings: Vec<(String, Value)>,
    lists: Vec<(Field, String, BTreeMap<String, String>)>,
    faults: Vec<String>,
    /// How many values were accepted, and how many refused.
    pub taken: usize,
    pub refused: usize,
}

/// Writes this many generated values, each through every interface.
pub async fn write<C: Cli>(doors: &Doors<C>, seed: u64, values: usize) -> Kept {
    let (mut draw, mut kept) = (Draw(seed), Kept::default());
    let mut projects: Vec<String> = Vec::new();
    for number in 0..values {
        let (field, good) = FIELDS[number % FIELDS.len()];
        if number % FIELDS.len() == 0 {
            kept.note(doors, &projects).await;
            projects.clear();
            for name in ["A", "B", "C"] {
                let made = doors.api(Method::POST, "/projects", json!({ "name": name })).await;
                projects.push(text(&made.unwrap()["project_id"]).unwrap());
            }
        }
        let mut value = draw.value(good);
        while field.is_written_differently(&value) {
            value = draw.value(good);
        }
        let operators = match field {
            Field::Operator => doors.listed(field, "").await,
            _ => BTreeMap::new(),
        };
        let mut answers = Vec::new();
        for (door, project) in DOORS.into_iter().zip(&projects) {
            if field == Field::Operator {
                doors.forget_operators(&operators).await;
            }
            answers.push(doors.write(door, field, &value, project).await);
        }
        if answers.iter().any(|answer| *answer != answers[0]) {
            kept.faults.push(format!("{field:?} {value:?}: {DOORS:?} kept {answers:?}"));
        }
        match &answers[0] {
            Some(stored) => {
                kept.taken += 1;
                let project = &projects[number % projects.len()];
                kept.faults.extend(doors.hidden(field, project, stored).await);
            }
            None => kept.refused += 1,
        }
    }
    assert!(kept.faults.is_empty(), "{:#?}", kept.faults);
    kept.note(doors, &projects).await;
    for field in [Field::NewProject, Field::Operator, Field::Token] {
        kept.lists.push((field, String::new(), doors.listed(field, "").await));
    }
    kept
}

impl Kept {
    async fn note<C: Cli>(&mut self, doors: &Doors<C>, projects: &[String]) {
        for project in projects {
            self.settings.push((project.clone(), doors.settings(project).await));
            for field in [Field::Webhook, Field::Credit] {
                self.lists.push((field, project.clone(), doors.listed(field, project).await));
            }
        }
    }

    /// Checks that all of them are still shown unchanged.
    pub async fn is_there<C: Cli>(&self, doors: &Doors<C>) {
        for (project, settings) in &self.settings {
            assert_eq!(doors.settings(project).await, *settings);
        }
        for (field, project, list) in &self.lists {
            let mut listed = doors.listed(*field, project).await;
            listed.retain(|id, _| list.contains_key(id));
            assert_eq!(listed, *list);
        }
    }
}
