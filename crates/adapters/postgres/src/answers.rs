//! Answers for many who asked by one statement.

use dwar_kernel::StoreError;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Where one of them waits.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

/// Hands out the answers, in order; if there are none, each is told why.
pub(crate) fn tell<T>(
    replies: impl IntoIterator<Item = Reply<T>>,
    answers: Result<impl IntoIterator<Item = Result<T, StoreError>>, StoreError>,
) {
    match answers {
        // Whoever asked may have gone.
        Ok(answers) => replies.into_iter().zip(answers).for_each(|(reply, answer)| {
            let _ = reply.send(answer);
        }),
        Err(cause) => {
            let cause = Arc::new(cause);
            for reply in replies {
                let _ = reply.send(Err(again(&cause)));
            }
        }
    }
}

/// The same error for one more who asked.
fn again(cause: &Arc<StoreError>) -> StoreError {
    match cause.as_ref() {
        StoreError::Unavailable(text) => StoreError::Unavailable(text.clone()),
        StoreError::NoRoom => StoreError::NoRoom,
        _ => StoreError::Failed(Box::new(Arc::clone(cause))),
    }
}
