use dwar_app::{
    Claim, ClockWatch, CommonPorts, ExternalPorts, Parts, Policies, Routes, Service, Stores,
};
use dwar_gateways::{
    BreakerGateway, BulkheadGateway, Gupshup, HashedReferences, HttpClient, HttpGateway,
    SandboxGateway, Secret, TimedGateway,
};
use dwar_josekit::JosekitSigner;
use dwar_memory::MemoryRequestLimiter;
use dwar_otp::{Channel, CodeKeys, Gateway, Hop, Route};
use dwar_sqlite::{Settings, SqliteStore};
use dwar_system::{MasterKey, RustCryptoVault, SystemClock, SystemEntropy, SystemSteadyClock};
use dwar_wallet::Amount;
use dwar_webhooks::{HttpWebhookSender, WebhookSettings};
use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

fn setting(name: &str) -> Result<String, Box<dyn Error>> {
    std::env::var(name).map_err(|_| format!("{name} is not set").into())
}

fn typed(asked: &str) -> Result<String, Box<dyn Error>> {
    println!("{asked}");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

/// The clocks and the entropy of the system, a vault and code keys under the master key, a signer of tokens.
fn parts(store: &Arc<SqliteStore>, master: MasterKey) -> Parts {
    let policies = Policies { issuer: "https://mine.example".into(), ..Policies::default() };
    let stores = Stores::from(store);
    let codes = Arc::new(CodeKeys::new(*master.code_secret(), []));
    let entropy = Arc::new(SystemEntropy::default());
    let vault = Arc::new(RustCryptoVault::new(master, [], None, entropy.clone()));
    let keys = stores.signing_keys.clone();
    let signer = Arc::new(JosekitSigner::new(keys, vault.clone(), policies.issuer.as_str()));
    let clock = Arc::new(SystemClock);
    let watch = Arc::new(ClockWatch::new(clock.clone(), Arc::new(SystemSteadyClock)));
    let tools = CommonPorts { clock, watch, entropy, vault, observer: Arc::new(()) };
    Parts { tools, stores, signer, codes, policies }
}

fn account() -> Result<Gupshup, Box<dyn Error>> {
    Ok(Gupshup {
        base_url: setting("GUPSHUP_URL")?.parse()?, // https://enterprise.smsgupshup.com
        user_id: setting("GUPSHUP_USER")?,
        password: Secret::new(setting("GUPSHUP_PASSWORD")?),
        sender: None,
        entity_id: setting("DLT_ENTITY")?,
        template_id: setting("DLT_TEMPLATE")?,
        // Nothing here serves /webhooks/, so no receipt is waited for.
        webhook_token: Secret::default(),
    })
}

fn outside(parts: &Parts, account: Gupshup) -> Result<ExternalPorts, Box<dyn Error>> {
    let Parts { tools, stores, policies, .. } = parts;
    let client = HttpClient::new(Duration::from_secs(2), policies.call_timeout, None)?;
    // The guards of the service, the innermost first: no reference of a provider is kept as it came, a call ends in
    // time, a provider that keeps failing is left alone, and one that hangs does not take every call.
    let gupshup: Arc<dyn Gateway> = Arc::new(HttpGateway::new(account, client));
    let gupshup = Arc::new(HashedReferences { inner: gupshup, vault: tools.vault.clone() });
    let (limit, took) = (policies.call_timeout, Arc::new(|_, _| ()));
    let gupshup = Arc::new(TimedGateway { inner: gupshup, limit, took });
    let gupshup = BulkheadGateway::new(Arc::new(BreakerGateway::new(gupshup, 10)), 200);
    let sandbox = SandboxGateway {
        inbox: stores.inbox.clone(),
        receipts: stores.receipts.clone(),
        vault: tools.vault.clone(),
        clock: tools.clock.clone(),
        entropy: tools.entropy.clone(),
    };
    let route =
        |hops| Route { hops, receipt_window: policies.receipt_window, lease: policies.lease() };
    let live = route(vec![Hop::new(Channel::Sms, gupshup.provider())]);
    let of_sandbox = |channel| Hop::new(channel, sandbox.provider());
    let test = route([Channel::Whatsapp, Channel::Sms].map(of_sandbox).to_vec());
    let gateways: [Arc<dyn Gateway>; 2] = [Arc::new(gupshup), Arc::new(sandbox)];
    Ok(ExternalPorts {
        requests: Arc::new(MemoryRequestLimiter::default()),
        routes: Routes {
            live,
            test,
            gateways: HashMap::from(gateways.map(|one| (one.provider(), one))),
            fixed_minutes: HashMap::new(),
            login_lifetime: policies.code_lifetime,
        },
        sources: HashMap::new(),
        hook_formats: dwar_http::hooks::format_of,
        sender: Arc::new(HttpWebhookSender::new(WebhookSettings { allow_private: false })?),
    })
}

/// What goes on beside requests: overdue sends go to the next provider, money of sends that were cut off is given
/// back, old rows go.
async fn upkeep(service: Service) {
    let mut seconds = tokio::time::interval(Duration::from_secs(1));
    for second in 0_u64.. {
        seconds.tick().await;
        let sweep = &service.sweep;
        let mut results = vec![
            sweep.follow_up().await.map(drop),
            sweep.settle_stale_holds().await.map(drop),
            service.usage_recorder.write().await,
        ];
        if second % 60 == 0 {
            results.push(sweep.tidy().await.map(drop));
        }
        for cause in results.into_iter().filter_map(Result::err) {
            eprintln!("upkeep: {cause}");
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let phone = typed("Phone number:")?.parse()?;
    let store = Arc::new(SqliteStore::open(Settings::new("mine.db"))?);
    store.migrate().await?;
    let parts = parts(&store, setting("MASTER_KEY")?.parse()?);
    parts.signing_keys().ensure().await?;
    let service = parts.service(outside(&parts, account()?)?);
    let dwar = service.use_cases.clone();
    tokio::spawn(upkeep(service));

    // Yours makes a project once, and keeps its keys.
    let (name, balance) = ("Mine".parse()?, Amount::from(100));
    let project = parts.create_project().create(&name, balance).await?;
    let caller = dwar.authenticate.caller(&Claim::Key(project.live_key)).await?;

    dwar.send_otp.send(&caller, &phone, None, None).await?;
    let code = typed("Code:")?.parse()?;
    let login = dwar.verify_otp.verify(&caller, &phone, code, None).await?;
    println!("{} is logged in", login.tokens.identity);
    Ok(())
}
