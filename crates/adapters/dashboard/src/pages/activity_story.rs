use super::identities;
use super::parts::{DestructiveForm, notice, pill, sign};
use crate::answer::PageResult;
use crate::format::{clock, moment, time};
use crate::layout::{Frame, csrf};
use crate::refusal::Refusal;
use crate::texts::{activity as texts, common};
use crate::visit::{SignedInForm, Visit};
use actix_web::http::StatusCode;
use actix_web::web::Path;
use dwar_console::explain::{self, Tone};
use dwar_console::{Entry, NextSend, RefusalGroup, RequestHistory, Timeline, TimelineFact};
use dwar_kernel::{GuessBudget, KeyMode, Phone, Sealed, Timestamp};
use dwar_operator::{Command, SearchAllowance};
use dwar_project::Project;
use maud::{Markup, html};
use serde::Deserialize;

/// `GET /p/{project}/activity/{otp}`: every record of the number of one request.
pub(crate) async fn of_request(visit: Visit, path: Path<(String, String)>) -> PageResult {
    let (project, otp) = visit.in_project(&path, Command::ShowRequest).await?;
    let (mode, phone, told) =
        visit.console.manage.activity.story(&visit.by, project.id, otp).await?;
    show_story(&visit, &project, (mode, &phone), told, None).await
}

/// The number of a page, as its forms send it: sealed for the project, because the page is also for
/// people who may not read it.
#[derive(Deserialize)]
pub(crate) struct SealedPhoneForm {
    mode: String,
    number: String,
}

impl SealedPhoneForm {
    fn open(&self, visit: &Visit, project: &Project) -> Result<(KeyMode, Phone), Refusal> {
        let mode: KeyMode = self.mode.parse().map_err(|_| Refusal::Unreadable)?;
        let sealed = base16ct::lower::decode_vec(&self.number).map_err(|_| Refusal::Unreadable)?;
        let vault = visit.console.tools.vault.as_ref();
        let phone = vault.open_phone(project.id, &Sealed(sealed));
        // The number of another project, or an invented one, is unknown in this project.
        Ok((mode, phone.map_err(|_| Refusal::NotFound)?))
    }
}

/// `POST /p/{project}/activity/unmask`: shows the number once to operators with the right to it.
/// Recorded in the audit log first.
pub(crate) async fn unmask(
    SignedInForm { visit, form }: SignedInForm<SealedPhoneForm>,
    path: Path<String>,
) -> PageResult {
    let project = visit.project(&path, Command::UnmaskRequest).await?;
    let (mode, phone) = form.open(&visit, &project)?;
    visit.console.manage.activity.unmask(&visit.by, project.id, &phone).await?;
    let shown = phone.e164();
    again(&visit, &project, (mode, &phone), StoryNotice::Number(&shown)).await
}

/// `POST /p/{project}/activity/unlock`: resets the wrong codes of a number.
pub(crate) async fn unlock(
    SignedInForm { visit, form }: SignedInForm<SealedPhoneForm>,
    path: Path<String>,
) -> PageResult {
    let project = visit.project(&path, Command::UnlockPhone).await?;
    let (mode, phone) = form.open(&visit, &project)?;
    let above = if visit.confirms(texts::LIFT_WORD) {
        visit.console.manage.phones.unlock(&visit.by, project.id, &phone).await?;
        StoryNotice::Lifted
    } else {
        StoryNotice::NotLifted
    };
    again(&visit, &project, (mode, &phone), above).await
}

pub(super) enum StoryNotice<'a> {
    Number(&'a str),
    Lifted,
    NotLifted,
    /// The number was searched for; this many searches remain.
    Left(SearchAllowance),
}

/// Shows the page of the same number again.
async fn again(
    visit: &Visit,
    project: &Project,
    (mode, phone): (KeyMode, &Phone),
    above: StoryNotice<'_>,
) -> PageResult {
    let activity = &visit.console.manage.activity;
    let told = activity.timeline(&visit.by, project.id.in_mode(mode), phone).await?;
    show_story(visit, project, (mode, phone), told, Some(above)).await
}

pub(super) async fn show_story(
    visit: &Visit,
    project: &Project,
    (mode, phone): (KeyMode, &Phone),
    timeline: Timeline,
    above: Option<StoryNotice<'_>>,
) -> PageResult {
    let sealed = visit.console.tools.vault.seal_phone(project.id, phone);
    let number = base16ct::lower::encode_string(&sealed.0);
    let hidden = [("mode", mode.as_str()), ("number", number.as_str())];
    let identity = match visit.may(project, Command::ShowIdentity) {
        true => {
            visit
                .console
                .manage
                .identities
                .of_phone(&visit.by, project.id.in_mode(mode), phone)
                .await?
        }
        false => None,
    };
    let content = html! {
        div.stack {
            p { a href={ "/p/" (project.id) "/activity?mode=" (mode) } { "← " (texts::BACK) } }
            @match &above {
                Some(StoryNotice::Lifted) => (notice("good", texts::LIFTED)),
                Some(StoryNotice::NotLifted) => (notice("bad", common::WRONG_WORD)),
                Some(StoryNotice::Left(left)) => {
                    p.muted #searches-left { (texts::searches_left(left.remaining)) " " (moment(left.resets_at)) "." }
                }
                _ => {}
            }
            section.card {
                dl.facts {
                    dt { (common::PHONE) }
                    dd { (whose(visit, project, phone, above.as_ref(), &hidden)) }
                    @if let Some(id) = identity {
                        dt { (common::IDENTITY) }
                        dd { a href=(identities::address(project, mode, id)) { code { (id) } } }
                    }
                    dt { (texts::NEXT) }
                    dd { (next(timeline.next)) }
                    @if timeline.guesses != GuessBudget::default() {
                        dt { (texts::WRONG_CODES) }
                        dd { (wrong_codes(&timeline.guesses)) }
                    }
                }
                @if timeline.guesses != GuessBudget::default() && visit.may(project, Command::UnlockPhone) {
                    (lift(visit, project, &hidden))
                }
            }
            (told(&timeline))
        }
    };
    let frame = Frame::new(visit, texts::STORY, texts::STORY_LEAD).of(project);
    let frame = frame.in_mode(mode, "activity");
    let failed = matches!(above, Some(StoryNotice::NotLifted));
    let status = if failed { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    frame.answer(status, &content)
}

fn whose(
    visit: &Visit,
    project: &Project,
    phone: &Phone,
    above: Option<&StoryNotice<'_>>,
    hidden: &[(&str, &str)],
) -> Markup {
    html! {
        @if let Some(StoryNotice::Number(number)) = above {
            strong #unmasked { (number) }
        } @else {
            (phone)
            @if visit.may(project, Command::UnmaskRequest) {
                form.inline method="post" action={ "/p/" (project.id) "/activity/unmask" } {
                    (csrf(visit))
                    @for (name, value) in hidden { input type="hidden" name=(name) value=(value); }
                    button.quiet type="submit" title=(texts::UNMASK_HINT) { (texts::UNMASK) }
                }
            }
        }
    }
}

fn next(next: NextSend) -> Markup {
    html! {
        @match next {
            NextSend::Now { remaining } => (explain::now(remaining)),
            NextSend::At(at, bound) => { (explain::bound(bound)) " " (moment(at)) "." },
            NextSend::Never => (explain::NEVER),
        }
    }
}

fn wrong_codes(guesses: &GuessBudget) -> Markup {
    html! {
        (guesses.wrong) " " (texts::IN_A_ROW)
        @if let Some(period) = guesses.period {
            ", " (period.wrong.max(guesses.wrong)) " " (texts::SINCE) " " (time(period.began_at))
        }
    }
}

fn lift(visit: &Visit, project: &Project, hidden: &[(&str, &str)]) -> Markup {
    let action = &format!("/p/{}/activity/unlock", project.id);
    let words = &texts::LIFT;
    DestructiveForm { id: "lift", action, word: texts::LIFT_WORD, words }.show(visit, hidden)
}

fn told(timeline: &Timeline) -> Markup {
    html! {
        @if timeline.entries.is_empty() {
            section.empty {
                p { (texts::NOTHING) }
                ul.consequences { @for line in texts::NOTHING_NEXT { li { (line) } } }
            }
        }
        ol.timeline {
            @for entry in &timeline.entries {
                @match entry {
                    Entry::Request(story) => (request(story)),
                    Entry::Refused(refused) => (refusals(refused, timeline.next)),
                }
            }
        }
    }
}

fn request(story: &RequestHistory) -> Markup {
    let status = texts::status(story.status);
    html! {
        li.(status.0.as_str()) {
            h2 { (moment(story.at)) " " (pill(status)) " " (pill(texts::state(story.state))) }
            ol.story { @for (at, fact) in &story.facts { (line(*at, fact)) } }
        }
    }
}

fn line(at: Option<Timestamp>, fact: &TimelineFact) -> Markup {
    let sentence = explain::fact(fact);
    html! {
        li.{ "tone-" (sentence.tone.as_str()) } {
            (sign(sentence.tone))
            div {
                (sentence.text)
                @if let Some(until) = sentence.until { " " (moment(until)) "." }
                @if let Some(at) = at { " " span.at { (clock(at)) } }
                @if !sentence.advice.is_empty() { p.advice { (sentence.advice) } }
            }
        }
    }
}

/// Refusals are counted per minute: the last of them was in the named minute.
fn refusals(refused: &RefusalGroup, next: NextSend) -> Markup {
    let (why, advice) = explain::refusal(refused.reason, refused.limit);
    html! {
        li.bad {
            h2 { (time(refused.first)) " " (pill((Tone::Bad, texts::REFUSED))) }
            ol.story {
                li.tone-bad {
                    (sign(Tone::Bad))
                    div {
                        (explain::refused(refused.count))
                        @if refused.first == refused.last { " " (texts::AT) " " (time(refused.first)) }
                        @else { " " (texts::BETWEEN) " " (time(refused.first)) " " (texts::AND) " " (time(refused.last)) }
                        ": " (why) "."
                        @if refused.reason.is_of_phone() && let NextSend::At(at, _) = next { " " (texts::NEXT_AT) " " (moment(at)) "." }
                        p.advice { (advice) }
                    }
                }
            }
        }
    }
}
