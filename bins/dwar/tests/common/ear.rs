//! Records the output of services and commands, for a test that needs all of it.

use reqwest::header::{HeaderMap, SET_COOKIE};
use std::process::Output;
use std::sync::{Arc, Mutex};

tokio::task_local! {
    /// Hears what is answered to the task that it is given to.
    pub static EAR: Ear;
}

#[derive(Clone, Debug, Default)]
pub struct Ear {
    answers: Arc<Mutex<Vec<String>>>,
    runs: Arc<Mutex<Vec<Run>>>,
}

#[derive(Clone, Debug)]
pub struct Run {
    /// As they were given, with spaces between them.
    pub arguments: String,
    pub stdout: String,
    pub stderr: String,
}

impl Ear {
    /// The cookies and the body of every answer.
    pub fn answers(&self) -> Vec<String> {
        self.answers.lock().unwrap().clone()
    }

    pub fn runs(&self) -> Vec<Run> {
        self.runs.lock().unwrap().clone()
    }
}

/// Records an answer, if this task has an ear.
pub fn note_answer(headers: &HeaderMap, body: &str) {
    let _nobody_listens = EAR.try_with(|ear| {
        let mut answers = ear.answers.lock().unwrap();
        let cookies = headers.get_all(SET_COOKIE).iter();
        answers.extend(cookies.map(|cookie| cookie.to_str().unwrap().to_owned()));
        answers.push(body.to_owned());
    });
}

/// Records the output of a command, if this task has an ear.
pub fn note_run(arguments: &[&str], output: &Output) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let _nobody_listens = EAR.try_with(|ear| {
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        ear.runs.lock().unwrap().push(Run { arguments: arguments.join(" "), stdout, stderr });
    });
}
