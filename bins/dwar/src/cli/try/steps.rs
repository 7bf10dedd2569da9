//! The steps of a login, in order.

use super::client::{Answer, Call, Client, Field, PATIENCE, Trouble, printable, printable_lines};
use super::report::{Report, Step};
use crate::cli::failure::Failure;
use dwar_kernel::Phone;
use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// Pause between two reads of the inbox; far below the rate limit of a test key.
const LOOK_AGAIN: Duration = Duration::from_millis(250);
const LONGEST_LINE: u64 = 64;
/// The code with which the service refuses the token of an ended session.
const ENDED: &str = "INVALID_ACCESS_TOKEN";

pub enum Recipient {
    /// With a test key: the message stays in the inbox.
    Nobody(Phone),
    Person(Phone),
}

pub struct Trial<'a> {
    pub client: &'a Client,
    pub recipient: &'a Recipient,
    pub report: &'a mut Report,
}

/// The result of a step with a remark on it, or the reason of its failure.
type Judged<T> = Result<(T, String), Trouble>;

struct Tokens {
    access: Zeroizing<String>,
    refresh: Zeroizing<String>,
}

impl Trial<'_> {
    /// Runs every step, until one fails.
    ///
    /// # Errors
    /// The first step that failed, and why.
    pub async fn run(mut self) -> Result<(), Failure> {
        let otp_id = self.send().await?;
        let code = match self.recipient {
            Recipient::Nobody(phone) => self.message(phone, &otp_id).await?,
            Recipient::Person(phone) => ask(phone)?,
        };
        let first = self.verify(&code).await?;
        self.validate("validate", &first.access).await?;
        let second = self.refresh(&first.refresh).await?;
        self.validate("validate new", &second.access).await?;
        self.log_out(&second.access).await?;
        self.validate_ended(&second.access).await
    }

    async fn send(&mut self) -> Result<String, Failure> {
        let call = Call::post("/v1/otp/send", &[self.recipient.field()]);
        self.step("send", &call, |answer| {
            let id = answer.text("otp_id")?.to_owned();
            Ok((id, printable(&format!("over {}", answer.text("channel")?))))
        })
        .await
    }

    /// Waits for the message of this request and returns its code.
    async fn message(&mut self, phone: &Phone, otp_id: &str) -> Result<Zeroizing<String>, Failure> {
        let call = Call::get(format!("/v1/sandbox/messages?phone={}", phone.national()));
        let began = Instant::now();
        loop {
            let answered = self.client.call(&call).await;
            let status = answered.as_ref().ok().map(|answer| answer.status);
            let late = began.elapsed() >= PATIENCE;
            let judged = match answered.and_then(|answer| arrived(&answer, otp_id)) {
                Ok(None) if !late => {
                    tokio::time::sleep(LOOK_AGAIN).await;
                    continue;
                }
                Ok(None) => Err(Trouble::of("the inbox does not have the message".to_owned())),
                Ok(Some(message)) => Ok(message),
                Err(trouble) => Err(trouble),
            };
            return self.tell("message", &call, began.elapsed(), status, judged);
        }
    }

    async fn verify(&mut self, code: &str) -> Result<Tokens, Failure> {
        let shown = match self.recipient {
            Recipient::Nobody(_) => printable(code),
            Recipient::Person(_) => "…".to_owned(),
        };
        let code = Field { name: "code", value: code, shown };
        let call = Call::post("/v1/otp/verify", &[self.recipient.field(), code]);
        self.step("verify", &call, tokens).await
    }

    async fn validate(&mut self, name: &'static str, access: &str) -> Result<(), Failure> {
        let call = Call::post("/v1/session/validate", &[Field::token("access_token", access)]);
        self.step(name, &call, |answer| Ok((answer.says("valid")?, String::new()))).await
    }

    async fn refresh(&mut self, refresh: &str) -> Result<Tokens, Failure> {
        let call = Call::post("/v1/session/refresh", &[Field::token("refresh_token", refresh)]);
        self.step("refresh", &call, tokens).await
    }

    async fn log_out(&mut self, access: &str) -> Result<(), Failure> {
        let call = Call::post("/v1/session/logout", &[Field::token("access_token", access)]);
        self.step("log out", &call, |answer| Ok((answer.says("revoked")?, String::new()))).await
    }

    /// Checks that the token is refused, because only then has the session ended.
    async fn validate_ended(&mut self, access: &str) -> Result<(), Failure> {
        let call = Call::post("/v1/session/validate", &[Field::token("access_token", access)]);
        self.step("validate ended", &call, |answer| match answer.good() {
            Ok(_) => Err(Trouble::of("the access token still works after the logout".to_owned())),
            Err(_) if answer.code() == Some(ENDED) => Ok(((), format!("{ENDED}, as it should be"))),
            Err(trouble) => Err(trouble),
        })
        .await
    }

    /// Makes a call, prints the step, and returns what `judge` finds in the answer.
    async fn step<T>(
        &mut self,
        name: &'static str,
        call: &Call,
        judge: impl FnOnce(&Answer) -> Judged<T>,
    ) -> Result<T, Failure> {
        let began = Instant::now();
        let answered = self.client.call(call).await;
        let took = began.elapsed();
        let status = answered.as_ref().ok().map(|answer| answer.status);
        self.tell(name, call, took, status, answered.and_then(|answer| judge(&answer)))
    }

    fn tell<T>(
        &mut self,
        name: &'static str,
        call: &Call,
        took: Duration,
        status: Option<u16>,
        judged: Judged<T>,
    ) -> Result<T, Failure> {
        let outcome = judged.as_ref().map(|(_, note)| note.as_str());
        let curl = call.curl(self.client.url());
        self.report.step(&Step { name, status, took, curl, outcome })?;
        match judged {
            Ok((found, _)) => Ok(found),
            Err(trouble) => Err(Failure::Refused(format!("{name}: {trouble}"))),
        }
    }
}

impl Recipient {
    /// The phone field of a body; a person's number is shown masked.
    fn field(&self) -> Field<'_> {
        match self {
            Self::Nobody(phone) => Field::open("phone", phone.national()),
            Self::Person(phone) => {
                Field { name: "phone", value: phone.national(), shown: phone.to_string() }
            }
        }
    }
}

fn tokens(answer: &Answer) -> Judged<Tokens> {
    let token = |field| Ok(Zeroizing::new(answer.text(field)?.to_owned()));
    let tokens = Tokens { access: token("access_token")?, refresh: token("refresh_token")? };
    Ok((tokens, String::new()))
}

/// Code and text of this request's message, once the answer contains it.
fn arrived(answer: &Answer, otp_id: &str) -> Result<Option<(Zeroizing<String>, String)>, Trouble> {
    let Some(messages) = answer.good()?.body["messages"].as_array() else {
        return Err(Trouble::of("no answer of Dwar: it lacks `messages`".to_owned()));
    };
    let found = messages.iter().find(|message| message["otp_id"] == otp_id);
    Ok(found.and_then(|message| {
        let code = Zeroizing::new(message["code"].as_str()?.to_owned());
        Some((code, printable_lines(message["text"].as_str()?)))
    }))
}

/// Asks the person for the code that arrived.
fn ask(phone: &Phone) -> Result<Zeroizing<String>, Failure> {
    if io::stdin().is_terminal() {
        write!(io::stderr(), "The code that arrives on {phone}: ")?;
    }
    let mut line = Zeroizing::new(String::new());
    io::stdin().lock().take(LONGEST_LINE).read_line(&mut line)?;
    match line.trim() {
        "" => Err(Failure::Refused("no code was given on standard input".to_owned())),
        code => Ok(Zeroizing::new(code.to_owned())),
    }
}
