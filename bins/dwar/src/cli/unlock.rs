use super::answer::instant;
use super::{Answer, Failure, no_such_project};
use dwar_app::{UnlockPhone, UnlockPhoneError, Unlocked};
use dwar_kernel::{Phone, ProjectId};
use dwar_otp::{GuessBudget, SendPace};
use serde_json::json;

pub async fn run(
    phones: &UnlockPhone,
    project: ProjectId,
    phone: &Phone,
) -> Result<Answer, Failure> {
    let unlocked = phones.unlock(project, phone).await.map_err(|cause| match cause {
        UnlockPhoneError::NoSuchProject => no_such_project(project),
        UnlockPhoneError::Store(cause) => cause.into(),
    })?;
    let Unlocked { guesses, pace } = unlocked;
    let (was, seconds) = match pace {
        SendPace::Usual => ("usual", None),
        SendPace::OnePer(window) => ("slowed", Some(window.as_secs())),
        SendPace::Stopped(rest) => ("stopped", Some(rest.as_secs())),
    };
    let json = json!({
        "project_id": project.to_string(),
        "phone": phone.e164(),
        "was": was,
        "seconds": seconds,
        "wrong_in_a_row": guesses.wrong,
        "wrong_in_period": guesses.period.map_or(0, |period| period.wrong),
        "period_began_at": guesses.period.map(|period| instant(period.began_at)),
    });
    Ok(Answer::new(json, text_of(guesses, pace)))
}

fn text_of(guesses: GuessBudget, pace: SendPace) -> String {
    if guesses == GuessBudget::default() {
        return "There was nothing to lift: no wrong codes are on record for this phone."
            .to_owned();
    }
    let lifted = match pace {
        SendPace::Usual => "Sends were not slowed down.".to_owned(),
        SendPace::OnePer(window) => format!("Lifted: one send per {} s.", window.as_secs()),
        SendPace::Stopped(rest) => format!("Lifted: no sends for another {} s.", rest.as_secs()),
    };
    let in_period = guesses.period.map_or(0, |period| period.wrong);
    format!(
        "{lifted}\nForgotten: {} wrong codes in a row, {in_period} in the period.",
        guesses.wrong
    )
}
