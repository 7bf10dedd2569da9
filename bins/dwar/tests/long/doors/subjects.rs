//! Creates the subjects of commands, as an owner of the installation.

use crate::common::answer;
use crate::doors::asking::Case;
use crate::doors::stage::{About, PHONE, Stage, Subject};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

impl About {
    pub const ALL: [Self; 16] = [
        Self::Nothing,
        Self::Archived,
        Self::InUse,
        Self::LiveKey,
        Self::Prices,
        Self::Settings,
        Self::Charge,
        Self::Request,
        Self::Number,
        Self::IdleLedger,
        Self::Webhook,
        Self::ToldWebhook,
        Self::Hook,
        Self::Identity,
        Self::Operator,
        Self::Token,
    ];

    /// Tells whether the subject is unchanged after a command.
    pub fn lasts(self) -> bool {
        matches!(self, Self::Nothing | Self::Request | Self::Number)
    }
}

impl Subject {
    /// The id of the subject, or, in the case [`Case::Elsewhere`], the id of the same subject in the other
    /// project.
    pub fn id_in(&self, case: Case) -> &str {
        if case == Case::Elsewhere { &self.other } else { &self.id }
    }
}

impl Stage {
    pub async fn make(&self, about: About, project: &str) -> Subject {
        match about {
            About::Nothing => Subject::default(),
            About::Archived => self.set_archived(project, "archive").await,
            About::InUse => self.set_archived(project, "restore").await,
            About::LiveKey => Subject { id: self.live_key().await, ..Subject::default() },
            About::Prices => self.prices(project).await,
            About::Settings => self.settings(project).await,
            About::Charge => self.charge().await,
            About::Request => {
                let sent = self.service.send(&self.ours.test, PHONE).await.ok();
                Subject { id: text(&sent["otp_id"]), ..Subject::default() }
            }
            About::Number => self.number().await,
            About::IdleLedger => self.idle_ledger(project).await,
            About::Webhook => self.webhook().await,
            About::ToldWebhook => self.told.lock().unwrap().pop().unwrap(),
            About::Hook => self.hook().await,
            About::Identity => self.identity().await,
            About::Operator => self.operator(project).await,
            About::Token => self.token().await,
        }
    }

    fn own(&self, path: &str) -> String {
        format!("/projects/{}{path}", self.ours.id)
    }

    async fn made(&self, path: &str, body: Value) -> Value {
        let made = self.owner.post(path, &body).await;
        assert!(made.status.is_success(), "{path}: {}", made.text);
        made.body
    }

    async fn live_key(&self) -> String {
        let keys = self.owner.get(&self.own("/keys")).await.ok();
        text(&keys["items"][0]["key_id"])
    }

    async fn set_archived(&self, project: &str, word: &str) -> Subject {
        self.made(&format!("/projects/{project}/{word}"), Value::Null).await;
        Subject::default()
    }

    async fn prices(&self, project: &str) -> Subject {
        let own =
            ["whatsapp_price_paise", "sms_price_paise", "low_balance_paise", "daily_spend_paise"];
        let none: Value = own.map(|name| (name.to_owned(), Value::Null)).into_iter().collect();
        let path = format!("/projects/{project}/prices");
        self.owner.call(Method::PATCH, &path, &none).await.ok();
        Subject::default()
    }

    async fn settings(&self, project: &str) -> Subject {
        let settings = json!({
            "brand": null,
            "fallback_seconds": null,
            "guard": "off",
            "identity_lookup": false,
            "relay_test": false,
            "sms_providers": null,
            "token_claims": {},
            "token_type": "at+jwt",
        });
        self.owner.call(Method::PATCH, &format!("/projects/{project}"), &settings).await.ok();
        Subject::default()
    }

    /// Makes a live send that is charged. Resets the prices and replaces the live key first, because earlier
    /// cases may have changed both.
    async fn charge(&self) -> Subject {
        self.prices(&self.ours.id).await;
        let replaces = json!({ "replaces": self.live_key().await });
        let key = self.made(&self.own("/keys/live/regenerate"), replaces).await;
        let phone = self.service.world.phone();
        let sent = self.service.send(key["key"].as_str().unwrap(), &phone).await.ok();
        Subject { id: text(&sent["otp_id"]), ..Subject::default() }
    }

    async fn number(&self) -> Subject {
        let (id, other) = (self.sealed(&self.ours.id).await, self.sealed(&self.theirs.id).await);
        let request = self.kept(About::Request, Case::Right).id.clone();
        Subject { id, other, request, ..Subject::default() }
    }

    /// [`PHONE`] as a page of the project contains it in its forms.
    async fn sealed(&self, project: &str) -> String {
        let fields = [("mode", "test"), ("phone", PHONE)];
        let page = self.reader.post(&format!("/p/{project}/activity/phone"), &fields).await.text;
        let (_, rest) = page.split_once("name=\"number\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    async fn idle_ledger(&self, project: &str) -> Subject {
        let proof = format!("/projects/{project}/wallet/proof");
        while !self.owner.get(&proof).await.ok()["running"].is_null() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Subject::default()
    }

    /// Removes unused webhooks or hooks of the stage once there are many, because a project has at
    /// most twenty of each.
    pub async fn make_room(&self, kind: &str) {
        let told: Vec<Subject> = self.told.lock().unwrap().clone();
        let needed = |id: &str| self.all_kept().chain(&told).any(|known| known.id == id);
        let listed = self.owner.get(&self.own(&format!("/{kind}s?limit=500"))).await.ok();
        let listed = listed["items"].as_array().unwrap();
        for one in listed.iter().filter(|_| listed.len() > 15) {
            let foreign = one.get("url").is_some_and(|url| *url != self.hook.as_str());
            let id = text(&one[format!("{kind}_id")]);
            if !foreign && !needed(&id) {
                let path = self.own(&format!("/{kind}s/{id}"));
                answer(self.owner.request(Method::DELETE, &path)).await.ok();
            }
        }
    }

    async fn webhook(&self) -> Subject {
        self.make_room("webhook").await;
        let made = self.made(&self.own("/webhooks"), json!({ "url": self.hook })).await;
        Subject { id: text(&made["webhook"]["webhook_id"]), ..Subject::default() }
    }

    async fn hook(&self) -> Subject {
        self.make_room("hook").await;
        let hook = json!({ "kind": "supabase", "mode": "test", "expires_in": 300 });
        let made = self.made(&self.own("/hooks"), hook).await;
        Subject { id: text(&made["hook"]["hook_id"]), ..Subject::default() }
    }

    pub async fn told_webhook(&self) -> Subject {
        let webhook = self.webhook().await;
        let path = self.own(&format!("/webhooks/{}/test", webhook.id));
        let call = self.made(&path, Value::Null).await;
        Subject { event: text(&call["event_id"]), ..webhook }
    }

    async fn identity(&self) -> Subject {
        let phone = self.service.world.phone();
        let login = self.service.log_in(&self.ours.test, &phone).await;
        let (id, session) = (text(&login["identity_id"]), text(&login["session_id"]));
        Subject { id, session, phone, ..Subject::default() }
    }

    async fn operator(&self, project: &str) -> Subject {
        let (name, role) = (self.word(), json!({ "project_id": project, "role": "viewer" }));
        let invitation = json!({ "name": name, "access": { "projects": [role] } });
        let made = self.made("/operators", invitation).await;
        Subject { id: text(&made["operator"]["operator_id"]), name, ..Subject::default() }
    }

    async fn token(&self) -> Subject {
        let (name, role) = (self.word(), json!({ "project_id": self.ours.id, "role": "viewer" }));
        let access = json!({ "projects": [role] });
        let token = json!({ "name": name, "access": access, "lifetime_seconds": 3_600 });
        let made = self.made("/tokens", token).await;
        Subject { id: text(&made["token"]["token_id"]), name, ..Subject::default() }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}
