use crate::answer::{PageResult, go};
use crate::format::{grouped, rupees, time};
use crate::layout::post_button;
use crate::refusal::Refusal;
use crate::texts::{common, wallet_proof as texts};
use crate::visit::{EmptyForm, SignedInForm, Visit};
use actix_web::web::Path;
use dwar_console::ProofScope;
use dwar_operator::Command;
use dwar_project::Project;
use dwar_wallet::LedgerProof;
use maud::{Markup, html};

/// `POST /p/{project}/wallet/proof`: begins a proof of the project's ledger, unless one is in
/// progress.
pub(crate) async fn prove(
    SignedInForm { visit, .. }: SignedInForm<EmptyForm>,
    path: Path<String>,
) -> PageResult {
    let project = visit.project(&path, Command::BeginWalletProof).await?;
    visit.console.manage.ledger.begin(&visit.by, project.id, ProofScope::Newer).await?;
    Ok(go(&format!("/p/{}/wallet#proof", project.id)))
}

/// The last proof, and the button for another one.
pub(crate) async fn section(visit: &Visit, project: &Project) -> Result<Markup, Refusal> {
    let proven = visit.console.manage.ledger.proven(&visit.by, project.id).await?;
    Ok(html! {
        section.card #proof {
            h2 { (texts::TITLE) }
            @match &proven.last {
                Some(proof) => (told(proof)),
                None => p.muted { (texts::NEVER) },
            }
            @if let Some(run) = &proven.running {
                p.notice role="status" {
                    (texts::RUNNING) " " (time(run.since)) ", " (texts::BY) " " (run.by) ". "
                    a href={ "/p/" (project.id) "/wallet#proof" } { (common::REFRESH) }
                }
            } @else if visit.may(project, Command::BeginWalletProof) {
                (post_button(visit, &format!("/p/{}/wallet/proof", project.id), "plain", texts::PROVE))
            }
        }
    })
}

fn told(proof: &LedgerProof) -> Markup {
    let sound = proof.is_sound();
    let (sums, wallet) = (proof.sum.sums, proof.wallet.balance);
    html! {
        p.notice.(if sound { "good" } else { "bad" }) role=(if sound { "status" } else { "alert" }) {
            @if sound { (texts::SOUND) } @else { (texts::UNSOUND) }
        }
        dl.facts {
            dt { (texts::WHEN) } dd { (time(proof.at)) " " (texts::BY) " " (proof.by) }
            dt { (texts::ENTRIES) } dd { (grouped(proof.sum.entries)) " / " (grouped(proof.wallet.position)) }
            dt { (texts::BALANCE) } dd { (rupees(sums.balance)) " / " (rupees(wallet.balance)) }
            dt { (texts::HELD) } dd { (rupees(sums.held)) " / " (rupees(wallet.held)) }
            dt { (texts::OPEN) } dd { (rupees(proof.wallet.open)) }
        }
    }
}
