use std::sync::Arc;
use tokio::sync::Barrier;

/// Runs `count` futures as tasks that all start together; returns their answers in order.
///
/// # Panics
/// If a task panics, so that an assertion inside one fails the test.
pub async fn race<F>(count: usize, make: impl Fn(usize) -> F) -> Vec<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    let start = Arc::new(Barrier::new(count));
    let run = |number| {
        let (start, work) = (Arc::clone(&start), make(number));
        tokio::spawn(async move {
            start.wait().await;
            work.await
        })
    };
    let tasks: Vec<_> = (0..count).map(run).collect();
    let mut answers = Vec::with_capacity(count);
    for task in tasks {
        answers.push(task.await.expect("a task of the race failed"));
    }
    answers
}
