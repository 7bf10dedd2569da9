//! The floor: a bare actix handler that reads a whole request and repeats an answer of Dwar.

use crate::Outcome;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::web::{Bytes, Data, to};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The answer for each path.
pub type Answers = BTreeMap<String, Recorded>;

/// An answer with status 200.
#[derive(Clone, Deserialize, Serialize)]
pub struct Recorded {
    /// Without those that every server adds by itself.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

/// Serves until it is killed.
pub fn serve(address: &str, answers: &str) -> Outcome<()> {
    let answers: Answers = serde_json::from_str(answers)?;
    let mut kept = BTreeMap::new();
    for (path, Recorded { headers, body }) in answers {
        let headers = headers.iter().map(|(name, value)| {
            Ok((HeaderName::from_bytes(name.as_bytes())?, HeaderValue::from_str(value)?))
        });
        kept.insert(path, (headers.collect::<Outcome<Vec<_>>>()?, Bytes::from(body)));
    }
    let kept = Data::new(kept);
    let app = move || App::new().app_data(kept.clone()).default_service(to(answer));
    let server = HttpServer::new(app).workers(1).bind(address)?.run();
    Ok(actix_web::rt::System::new().block_on(server)?)
}

type Kept = BTreeMap<String, (Vec<(HeaderName, HeaderValue)>, Bytes)>;

async fn answer(request: HttpRequest, _: Bytes, kept: Data<Kept>) -> HttpResponse {
    let Some((headers, body)) = kept.get(request.path()) else {
        return HttpResponse::NotFound().finish();
    };
    let mut response = HttpResponse::Ok();
    for header in headers {
        response.insert_header(header.clone());
    }
    response.body(body.clone())
}
