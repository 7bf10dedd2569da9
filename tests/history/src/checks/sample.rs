//! Small histories written by hand. Times are seconds.

use crate::history::{
    Action, Fault, History, Ledger, Lost, Message, Op, Outcome, Pair, SECOND, Switch,
};

pub fn history(ops: impl IntoIterator<Item = Op>) -> History {
    let mut ops: Vec<_> = ops.into_iter().collect();
    ops.sort_by_key(|op| (op.began, op.ended));
    History { ops, ..History::default() }
}

fn op(action: Action, began: u64, ended: u64) -> Op {
    let (began, ended) = (began * SECOND, ended * SECOND);
    let (instance, outcome) = (Some(0), Outcome::Done);
    Op { client: 0, instance, project: 0, key: 0, began, ended, action, outcome }
}

pub fn send(phone: &str, began: u64, ended: u64) -> Op {
    op(Action::Send { phone: phone.to_owned(), once: None }, began, ended)
}

pub fn verify(phone: &str, code: &str, began: u64, ended: u64) -> Op {
    let (phone, code) = (phone.to_owned(), code.to_owned());
    op(Action::Verify { phone, code, otp: None }, began, ended)
}

pub fn validate(access: &str, began: u64, ended: u64) -> Op {
    op(Action::Validate { access: access.to_owned() }, began, ended)
}

pub fn refresh(refresh: &str, began: u64, ended: u64) -> Op {
    op(Action::Refresh { refresh: refresh.to_owned(), once: None }, began, ended)
}

pub fn logout(access: &str, began: u64, ended: u64) -> Op {
    op(Action::Logout { access: access.to_owned() }, began, ended)
}

pub fn delete(identity: &str, began: u64, ended: u64) -> Op {
    op(Action::Delete { identity: identity.to_owned() }, began, ended)
}

pub fn look_up(identity: &str, began: u64, ended: u64) -> Op {
    op(Action::LookUp { identity: identity.to_owned() }, began, ended)
}

pub fn status(otp: &str, began: u64, ended: u64) -> Op {
    op(Action::Status { otp: otp.to_owned() }, began, ended)
}

pub fn turn(switch: Switch, on: bool, began: u64, ended: u64) -> Op {
    Op { instance: None, ..op(Action::Turn { switch, on }, began, ended) }
}

pub fn new_key(began: u64, ended: u64) -> Op {
    Op { instance: None, ..op(Action::NewKey, began, ended) }
}

pub fn top_up(reference: &str, paise: i64, began: u64, ended: u64) -> Op {
    let reference = reference.to_owned();
    Op { instance: None, ..op(Action::TopUp { reference, paise }, began, ended) }
}

pub fn limit(paise: i64, began: u64, ended: u64) -> Op {
    Op { instance: None, ..op(Action::Limit { paise }, began, ended) }
}

pub fn message(phone: &str, code: &str, otp: &str, at: u64) -> Message {
    let [phone, code, otp] = [phone, code, otp].map(str::to_owned);
    Message { at: at * SECOND, phone, code, otp }
}

pub fn fault(kind: &'static str, instance: usize, began: u64, ended: u64) -> Fault {
    Fault { kind, instance: Some(instance), began: began * SECOND, ended: ended * SECOND }
}

impl Op {
    pub fn with(self, outcome: Outcome) -> Self {
        Self { outcome, ..self }
    }

    pub fn key(self, key: usize) -> Self {
        Self { key, ..self }
    }

    pub fn sent(self, otp: &str) -> Self {
        self.with(Outcome::Sent { otp: otp.to_owned(), replayed: false })
    }

    pub fn replayed(self, otp: &str) -> Self {
        self.with(Outcome::Sent { otp: otp.to_owned(), replayed: true })
    }

    /// The identity has the session's name with `-person` appended.
    pub fn paired(self, session: &str, access: &str, refresh: &str) -> Self {
        let identity = format!("{session}-person");
        let [session, access, refresh] = [session, access, refresh].map(str::to_owned);
        self.with(Outcome::Pair(Pair { session, identity, access, refresh }))
    }

    pub fn valid(self, session: &str) -> Self {
        let identity = format!("{session}-person");
        self.with(Outcome::Valid { session: session.to_owned(), identity })
    }

    pub fn refused(self, status: u16, code: &str) -> Self {
        self.with(Outcome::Refused { status, code: code.to_owned() })
    }

    pub fn failed(self, status: u16) -> Self {
        self.with(Outcome::Failed { status, code: "FAILED".to_owned() })
    }

    pub fn lost(self) -> Self {
        self.with(Outcome::Lost { why: Lost::Cut })
    }

    pub fn timed_out(self) -> Self {
        self.with(Outcome::Lost { why: Lost::TimedOut })
    }

    pub fn once(mut self, key: &str) -> Self {
        if let Action::Send { once, .. } | Action::Refresh { once, .. } = &mut self.action {
            *once = Some(key.to_owned());
        }
        self
    }

    pub fn named(mut self, id: &str) -> Self {
        if let Action::Verify { otp, .. } = &mut self.action {
            *otp = Some(id.to_owned());
        }
        self
    }
}

impl History {
    pub fn got(mut self, messages: impl IntoIterator<Item = Message>) -> Self {
        self.messages.extend(messages);
        self
    }

    pub fn hit(mut self, faults: impl IntoIterator<Item = Fault>) -> Self {
        self.faults.extend(faults);
        self
    }

    pub fn with_ledger(mut self, ledger: Ledger) -> Self {
        self.ledgers.push(ledger);
        self
    }
}
