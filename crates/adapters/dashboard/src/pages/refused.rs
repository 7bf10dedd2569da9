//! The answers to refused requests: a page, or a redirect to the sign-in page.

use crate::address::PageAddress;
use crate::answer::HTML;
use crate::format::plain_moment;
use crate::layout::bare;
use crate::refusal::{RETRY_SOON, Refusal};
use crate::texts::refusals as texts;
use actix_web::http::{StatusCode, header};
use actix_web::{HttpResponse, ResponseError};
use std::borrow::Cow;

impl ResponseError for Refusal {
    fn status_code(&self) -> StatusCode {
        self.page().0
    }

    fn error_response(&self) -> HttpResponse {
        let (status, (title, sentence)) = self.page();
        let mut answer = HttpResponse::build(status);
        if let Self::SignIn(page) = self {
            let address = PageAddress::sign_in(page.as_ref());
            return answer.insert_header((header::LOCATION, address)).finish();
        }
        if matches!(self, Self::Busy) {
            answer.insert_header(RETRY_SOON);
        }
        let mut sentence = Cow::from(sentence);
        if let Self::SearchedTooMuch { until, seconds } = self {
            answer.insert_header((header::RETRY_AFTER, *seconds));
            sentence = format!("{sentence} {}.", plain_moment(*until)).into();
        }
        let back = match self {
            Self::Stale(page) => (PageAddress::sign_in(page.as_ref()), texts::SIGN_IN.0),
            _ => ("/".to_owned(), texts::BACK),
        };
        let page = bare(title, &sentence, (&back.0, back.1));
        answer.content_type(HTML).body(page.into_string())
    }
}
