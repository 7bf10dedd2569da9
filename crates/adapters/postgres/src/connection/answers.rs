//! Delivers the answers of one statement to the many callers that joined it.

use crate::connection::error::{no_answer_in_time, unavailable};
use dwar_kernel::StoreError;
use std::sync::Arc;
use std::thread::{self, ThreadId};
use std::time::Duration;
use tokio::sync::oneshot;

pub(crate) struct Reply<T> {
    sender: oneshot::Sender<Answers<T>>,
    thread: ThreadId,
}

pub(crate) struct Pending<T>(oneshot::Receiver<Answers<T>>);

/// Makes the two ends of an answer to a task on this thread.
pub(crate) fn reply<T>() -> (Reply<T>, Pending<T>) {
    let (sender, receiver) = oneshot::channel();
    (Reply { sender, thread: thread::current().id() }, Pending(receiver))
}

impl<T> Reply<T> {
    /// Tells whether the caller has stopped waiting.
    pub(crate) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    fn send(self, answers: Answers<T>) {
        // The caller may have stopped waiting.
        let _ = self.sender.send(answers);
    }
}

impl<T> Pending<T> {
    /// Waits for the answer, at most this long.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if there is none; otherwise those of the answer.
    pub(crate) async fn answer(self, patience: Duration) -> Result<T, StoreError> {
        match tokio::time::timeout(patience, self.0).await {
            Ok(Ok(answers)) => answers.answer,
            Ok(Err(_)) => Err(unavailable("the request was abandoned")),
            Err(_) => Err(no_answer_in_time()),
        }
    }
}

/// The answer for one caller, and those for other callers on the same thread.
///
/// Each thread is woken once and distributes its own answers. Waking a thread is a system call, and
/// on the same processor the woken thread may run before the one that still has answers to send.
struct Answers<T> {
    answer: Result<T, StoreError>,
    others: OtherAnswers<T>,
}

impl<T> Answers<T> {
    fn alone(answer: Result<T, StoreError>) -> Self {
        Self { answer, others: OtherAnswers(Vec::new()) }
    }
}

/// Answers for other callers. Dropping this value sends them, so they are sent even if nobody reads the answer
/// that arrived together with them.
struct OtherAnswers<T>(Vec<(Reply<T>, Result<T, StoreError>)>);

impl<T> Drop for OtherAnswers<T> {
    fn drop(&mut self) {
        for (reply, answer) in self.0.drain(..) {
            reply.send(Answers::alone(answer));
        }
    }
}

/// Sends the answers in order. If the statement failed, every caller gets the cause.
pub(crate) fn tell<T>(
    replies: impl IntoIterator<Item = Reply<T>>,
    answers: Result<impl IntoIterator<Item = Result<T, StoreError>>, StoreError>,
) {
    match answers {
        Ok(answers) => send(replies.into_iter().zip(answers)),
        Err(cause) => {
            let cause = Arc::new(cause);
            send(replies.into_iter().map(|reply| (reply, Err(again(&cause)))));
        }
    }
}

fn send<T>(answers: impl Iterator<Item = (Reply<T>, Result<T, StoreError>)>) {
    let mut threads: Vec<(Reply<T>, Answers<T>)> = Vec::new();
    for (reply, answer) in answers {
        match threads.iter_mut().find(|(first, _)| first.thread == reply.thread) {
            Some((_, answers)) => answers.others.0.push((reply, answer)),
            None => threads.push((reply, Answers::alone(answer))),
        }
    }
    for (first, answers) in threads {
        first.send(answers);
    }
}

/// Returns an error of the same kind for one more caller, because [`StoreError`] cannot be cloned.
fn again(cause: &Arc<StoreError>) -> StoreError {
    match cause.as_ref() {
        StoreError::Unavailable(text) => StoreError::Unavailable(text.clone()),
        StoreError::Unreachable { told, .. } => {
            StoreError::Unreachable { told, cause: Box::new(Arc::clone(cause)) }
        }
        StoreError::NoRoom => StoreError::NoRoom,
        _ => StoreError::Failed(Box::new(Arc::clone(cause))),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failing test should panic")]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(5);

    fn told(count: u32) -> Vec<Pending<u32>> {
        let (replies, waiting): (Vec<_>, Vec<_>) = (0..count).map(|_| reply()).unzip();
        tell(replies, Ok((0..count).map(Ok)));
        waiting
    }

    #[tokio::test]
    async fn each_is_told_its_own() {
        for (place, waiting) in told(3).into_iter().enumerate() {
            assert_eq!(waiting.answer(PATIENCE).await.unwrap(), u32::try_from(place).unwrap());
        }
    }

    #[test]
    fn a_thread_is_woken_for_its_first_answer_and_hands_out_the_rest() {
        let mut waiting = told(3);
        assert!(waiting[0].0.try_recv().is_ok_and(|told| told.others.0.len() == 2));
        assert!(waiting[1].0.try_recv().is_ok_and(|told| told.others.0.is_empty()));
        assert!(waiting[2].0.try_recv().is_ok());
    }

    #[test]
    fn another_thread_is_told_by_itself() {
        let (replies, mut waiting): (Vec<_>, Vec<_>) =
            [reply(), thread::spawn(reply).join().unwrap()].into_iter().unzip();
        tell(replies, Ok([Ok(1), Ok(2)]));
        assert!(waiting[1].0.try_recv().is_ok());
    }

    #[test]
    fn the_rest_is_told_when_the_first_has_gone() {
        let (replies, mut waiting): (Vec<_>, Vec<_>) = (0..3).map(|_| reply()).unzip();
        drop(waiting.remove(0));
        tell(replies, Ok((0..3).map(Ok)));
        assert!(waiting.iter_mut().all(|waiting| waiting.0.try_recv().is_ok()));

        let mut waiting = told(3);
        drop(waiting.remove(0));
        assert!(waiting.iter_mut().all(|waiting| waiting.0.try_recv().is_ok()), "told, not heard");
    }
}
