use crate::otp::{is_open, supersede};
use crate::store::{MemoryStore, State};
use async_trait::async_trait;
use dwar_identity::Identity;
use dwar_kernel::{BlindIndex, EntryId, IdentityId, ProjectMode, StoreError, Timestamp};
use dwar_login::{
    LoginStore, MoneyOutcome, NewSend, Prepared, Redeemed, Redemption, ReportOutcome, SendReport,
};
use dwar_otp::{DeliveryStep, GuessBudget, GuessVerdict, Otp, OtpState, ReportedRequest};
use dwar_ratelimit::SendKey;
use dwar_ratelimit::guard::{GuardMark, GuardedPhone, TakenToken};

#[async_trait]
impl LoginStore for MemoryStore {
    async fn prepare(&self, send: NewSend, now: Timestamp) -> Result<Prepared, StoreError> {
        let state = &mut *self.step("LoginStore::prepare").await?;
        let (key, id) = (send.key(), send.otp.id);
        let mut log = state.send_log(&key, Some(id));
        if let Some(known) = state.otps.iter().find(|known| known.id == id) {
            if !send.is_unchanged(known) {
                let changed = "the repeated send was changed after it had been recorded".to_owned();
                return Err(StoreError::Unavailable(changed));
            }
            let admitted = Prepared::Ready(send.admit(&mut log, now));
            return Ok(admitted.marked(state.guard_marks.get(&id).copied()));
        }
        let hold = |own| state.hold(own, send.entry);
        let prepared = send.judge(&mut log, hold, now)?;
        let mut mark = None;
        if let Prepared::Ready(admission) = &prepared {
            mark = send.mark(admission, &state.guarded_phone(&send, now), now);
            if send.takes_place() {
                state.take_place(key, id, now);
            }
            if send.supersedes() {
                supersede(&mut state.otps, &send.otp);
            }
            state.otps.push(send.recorded(admission));
            state.guard_marks.extend(mark.map(|mark| (id, mark)));
        }
        Ok(prepared.marked(mark))
    }

    async fn report(
        &self,
        request: ReportedRequest,
        report: SendReport,
        now: Timestamp,
    ) -> Result<Option<(Otp, DeliveryStep)>, StoreError> {
        let state = &mut *self.step("LoginStore::report").await?;
        let is_meant = |otp: &Otp| (otp.project_mode.project, otp.id) == request.key();
        let Some(place) = state.otps.iter().position(is_meant) else { return Ok(None) };
        let mut otp = state.otps[place].clone();
        let ReportOutcome { step, ending, is_forgiven, event } = report.apply(&mut otp, now);
        if let Some(ending) = ending {
            state.end(ending, &otp, report.entries, now)?;
        }
        if is_forgiven {
            let key = SendKey { project_mode: otp.project_mode, phone: otp.phone };
            state.forgive(key, otp.id);
        }
        state.otps[place] = otp.clone();
        state.record(event);
        state.wake_receipts();
        Ok(Some((otp, step)))
    }

    async fn redeem(&self, redemption: Redemption, now: Timestamp) -> Result<Redeemed, StoreError> {
        let state = &mut *self.step("LoginStore::redeem").await?;
        let line = (redemption.project_mode, redemption.phone);
        if let Some(repeated) = state.redeemed(&redemption, now) {
            return Ok(repeated);
        }
        let Some(otp) = state.otps.iter_mut().find(|otp| is_open(otp, line)) else {
            return Ok(Redeemed::NotFound);
        };
        let budget = state.budgets.entry(line).or_default();
        let mark = state.guard_marks.get(&otp.id).copied();
        let (verdict, event) = redemption.judge(otp, budget, now);
        state.record(event);
        let identity = match verdict {
            GuessVerdict::Accepted(_) => state.log_in(line, &redemption),
            _ => None,
        };
        Ok(Redeemed::of(verdict, identity, mark))
    }
}

type Line = (ProjectMode, BlindIndex);

impl State {
    /// What is on record of the phone of a send for the guard.
    fn guarded_phone(&self, send: &NewSend, now: Timestamp) -> GuardedPhone {
        let line = (send.otp.project_mode, send.otp.phone);
        let of_phone = |otp: &&Otp| (otp.project_mode, otp.phone) == line;
        let earned = |otp: &Otp| {
            otp.state == OtpState::Used && now < otp.created_at + GuardMark::EARNS_EVERY
        };
        let open = self.otps.iter().find(|otp| is_open(otp, line)).map(|otp| otp.id);
        let mark = open.and_then(|open| self.guard_marks.get(&open));
        let take =
            |mark: &GuardMark| mark.taken_at.map(|at| TakenToken { at, visitor: mark.visitor });
        GuardedPhone {
            has_identity: self
                .identities
                .iter()
                .any(|(phone, known)| (known.project_mode, *phone) == line),
            earned: self.otps.iter().filter(of_phone).any(earned),
            taken: mark.and_then(take),
        }
    }

    /// Settles the hold of a send that ended.
    fn end(
        &mut self,
        ending: MoneyOutcome,
        otp: &Otp,
        entries: [EntryId; 2],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (capture, refunded) = self.captured(otp.project_mode.project, otp.id);
        let money = (self.held(otp.project_mode.project, otp.id), capture, refunded);
        self.apply(otp.project_mode.project, |wallet| ending.book(wallet, money, entries, now))?;
        if matches!(ending, MoneyOutcome::Settle(_)) {
            self.holds
                .retain(|hold| (hold.project, hold.send) != (otp.project_mode.project, otp.id));
        }
        Ok(())
    }

    /// Stores the identity and the session of a login, if one begins.
    fn log_in(&mut self, line: Line, redemption: &Redemption) -> Option<IdentityId> {
        redemption.session()?;
        let own =
            |(phone, known): &mut (BlindIndex, Identity)| (known.project_mode, *phone) == line;
        let known = self.identities.extract_if(.., own).next();
        let (identity, session) = redemption.log_in(known.map(|(_, known)| known))?;
        self.identities.push((redemption.phone, identity));
        let id = session.identity;
        if self.sessions.iter().all(|known| known.id != session.id) {
            self.sessions.push(session);
        }
        Some(id)
    }

    /// The answer to a right guess whose session is already stored, judged as at the first time.
    fn redeemed(&self, redemption: &Redemption, now: Timestamp) -> Option<Redeemed> {
        let id = redemption.session()?.id;
        let session = self.sessions.iter().find(|session| session.id == id)?;
        let is_used = |otp: &&Otp| {
            let line = (otp.project_mode, otp.phone);
            otp.state == OtpState::Used && line == (redemption.project_mode, redemption.phone)
        };
        let used = self.otps.iter().rfind(is_used)?;
        let mut again = Otp { state: OtpState::Active, ..used.clone() };
        let (verdict, _) = redemption.judge(&mut again, &mut GuessBudget::default(), now);
        let mark = self.guard_marks.get(&used.id).copied();
        let answer = Redeemed::of(verdict, Some(session.identity), mark);
        Some(answer).filter(|answer| matches!(answer, Redeemed::LoggedIn(..)))
    }
}
