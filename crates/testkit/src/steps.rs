use crate::{CODE, Fixtures, Line};
use dwar_kernel::{GuessPolicy, IdentityId, Timestamp};
use dwar_login::{Cost, LoginStore, NewSend, Prepared, Redeemed, Redemption};
use dwar_otp::{DeliveryStep, GuessVerdict, Otp, Report, ReportedRequest};
use dwar_session::Login;
use dwar_wallet::Paise;

/// Steps of a login, with defaults for everything that a test is not about.
impl Fixtures {
    /// Records a request, free of charge and regardless of the phone's limit.
    pub async fn issue(&self, store: &dyn LoginStore, otp: Otp) -> Otp {
        let prepared = store.prepare(self.new_send_of(otp.clone()), otp.created_at).await.unwrap();
        assert!(matches!(prepared, Prepared::Ready(_)), "{prepared:?}");
        otp
    }

    /// Records a request that holds `amount`; whether it succeeded.
    pub async fn hold(&self, store: &dyn LoginStore, otp: Otp, amount: Paise) -> bool {
        let now = otp.created_at;
        let send = NewSend { cost: Cost::Hold(amount), ..self.new_send_of(otp) };
        matches!(store.prepare(send, now).await.unwrap(), Prepared::Ready(_))
    }

    /// Reports on the first attempt of a request.
    pub async fn report(
        &self,
        store: &dyn LoginStore,
        request: ReportedRequest,
        otp: &Otp,
        report: Report,
        now: Timestamp,
    ) -> Option<(Otp, DeliveryStep)> {
        let report = self.send_report(otp.delivery.attempts[0].id, report);
        store.report(request, report, now).await.unwrap()
    }

    /// Guesses the code of a phone; the right code logs in.
    pub async fn judge(
        &self,
        store: &dyn LoginStore,
        line: &Line,
        code: &str,
        policy: GuessPolicy,
        now: Timestamp,
    ) -> GuessVerdict {
        let redemption = Redemption { policy, ..self.redemption(line, code) };
        verdict(store.redeem(redemption, now).await.unwrap())
    }

    /// Logs in with a code of its own; returns the phone's identity.
    pub async fn log_in(&self, store: &dyn LoginStore, line: &Line, login: Login) -> IdentityId {
        let now = login.session.created_at;
        self.issue(store, self.otp_with(line, CODE, now)).await;
        let redemption = Redemption { login: Some(login), ..self.redemption(line, CODE) };
        match store.redeem(redemption, now).await.unwrap() {
            Redeemed::LoggedIn(_, identity, _) => identity,
            other => panic!("the right code gave {other:?}"),
        }
    }
}

/// The verdict on the code, without the identity.
pub const fn verdict(redeemed: Redeemed) -> GuessVerdict {
    match redeemed {
        Redeemed::LoggedIn(allowance, ..) | Redeemed::Verified(allowance, _) => {
            GuessVerdict::Accepted(allowance)
        }
        Redeemed::Wrong(allowance) => GuessVerdict::Wrong(allowance),
        Redeemed::Locked(allowance) => GuessVerdict::Locked(allowance),
        Redeemed::NotFound => GuessVerdict::NotFound,
    }
}
