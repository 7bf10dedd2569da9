use crate::address::PageAddress;
use crate::console::Console;
use crate::cookies::SESSION;
use crate::form::{FormView, RefusedForm, SubmittedFields};
use crate::language::Language;
use crate::mode;
use crate::recent;
use crate::refusal::Refusal;
use crate::theme::Theme;
use actix_web::dev::Payload;
use actix_web::http::header::HeaderMap;
use actix_web::web::{Bytes, Data, Query};
use actix_web::{FromRequest, HttpRequest};
use dwar_console::SignedInOperator;
use dwar_kernel::{KeyMode, ProjectId, Timestamp};
use dwar_operator::{Command, Requester, SessionToken};
use dwar_project::Project;
use dwar_wire::client_address;
use futures_util::future::LocalBoxFuture;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::str::FromStr;

const LONGEST_FORM: usize = 32 * 1_024;
const CSRF_HEADER: &str = "x-csrf-token";

pub(crate) struct Visit {
    pub(crate) console: Data<Console>,
    pub(crate) present: SignedInOperator,
    pub(crate) by: Requester,
    /// The secret that this session's own pages put into their forms.
    pub(crate) csrf: String,
    pub(crate) theme: Theme,
    pub(crate) language: Language,
    /// Live or test: from the address, or the choice for all pages.
    pub(crate) mode: KeyMode,
    pub(crate) path: String,
    /// The fields of the submitted form, as typed.
    pub(crate) typed: SubmittedFields,
    /// The form of the page that was refused, if any.
    pub(crate) refused: Option<RefusedForm>,
    /// What was just done, as the address says.
    pub(crate) done: String,
    /// The page of this request, or the page that sent its form.
    pub(crate) page: Option<PageAddress>,
    /// The address of the page that answers this request, if it is a form.
    pub(crate) answers: Option<PageAddress>,
    /// The project whose pages were opened last: its id, and the project itself if this page
    /// belongs to no project and the operator may still see it.
    pub(crate) recent: (Option<ProjectId>, Option<Project>),
    token: SessionToken,
}

/// A form or fetch that a page of this session sent.
pub(crate) struct SignedInForm<T> {
    pub(crate) visit: Visit,
    pub(crate) form: T,
}

/// A form that a page of ours sent, with or without a session.
pub(crate) struct PublicForm<T> {
    pub(crate) request: HttpRequest,
    pub(crate) console: Data<Console>,
    pub(crate) form: T,
}

#[derive(Deserialize)]
pub(crate) struct EmptyForm {}

impl Visit {
    pub(crate) fn now(&self) -> Timestamp {
        self.console.tools.now()
    }

    /// The session's token, for code that has to check the session again.
    pub(crate) fn token(&self) -> &str {
        self.token.expose()
    }

    /// Tells whether this operator has the right to a command in the project; for the content of a
    /// page.
    pub(crate) fn may(&self, project: &Project, command: Command) -> bool {
        self.by.may(command, Some(project.id))
    }

    /// The projects that this operator may see, oldest first.
    pub(crate) async fn projects(&self) -> Result<Vec<Project>, Refusal> {
        Ok(self.console.manage.projects.list(&self.by).await?)
    }

    /// Finds the project of an address, for a command.
    ///
    /// # Errors [`Refusal::NotFound`] if there is no such project that this operator may see,
    /// [`Refusal::Forbidden`] if they lack the right to the command.
    pub(crate) async fn project(&self, id: &str, command: Command) -> Result<Project, Refusal> {
        let id = id.parse().map_err(|_| Refusal::NotFound)?;
        Ok(self.console.manage.control.project(&self.by, command, id).await?)
    }

    /// Like [`Visit::project`], with the id of an object in it.
    pub(crate) async fn in_project<T: FromStr>(
        &self,
        (project, id): &(String, String),
        command: Command,
    ) -> Result<(Project, T), Refusal> {
        let project = self.project(project, command).await?;
        Ok((project, id.parse().map_err(|_| Refusal::NotFound)?))
    }

    /// The same visit, for the page that shows a refused form again.
    pub(crate) fn refuse(self, refused: RefusedForm) -> Self {
        Self { refused: Some(refused), ..self }
    }

    /// The form of this name; without `editable` it is shown as text.
    pub(crate) fn form(&self, name: &str, editable: bool) -> FormView<'_> {
        let refused = self.refused.as_ref().filter(|it| it.form == name);
        FormView::new(refused, &self.typed, editable)
    }

    /// The current password that was typed; empty for an operator who has none.
    pub(crate) fn current(&self) -> &str {
        self.typed.get("current").unwrap_or_default()
    }

    /// Tells whether the form of a destructive action has this word in its field for it.
    pub(crate) fn confirms(&self, word: &str) -> bool {
        self.typed.get("word").is_some_and(|typed| typed.trim() == word.trim())
    }
}

impl FromRequest for Visit {
    type Error = Refusal;
    type Future = LocalBoxFuture<'static, Result<Self, Refusal>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            let console = request.app_data::<Data<Console>>().ok_or(Refusal::Failed)?.clone();
            let page = PageAddress::of(&request);
            let stranger = || Refusal::SignIn(page.clone());
            let cookie = SESSION.of(&request, console.names.tls).ok_or_else(stranger)?;
            let token: SessionToken = cookie.parse().map_err(|_| stranger())?;
            let present = console.admin.sign_in.session(token.expose()).await?;
            let present = present.ok_or_else(stranger)?;
            let by =
                Requester::operator(&present.operator, client_address(&request, console.names.tls));
            let csrf = token.csrf(console.tools.vault.as_ref());
            let (theme, path) = (Theme::of(&request), request.path().to_owned());
            let (language, mode) = (Language::of(&request), mode::of(&request));
            let done = request.query_string().strip_prefix("done=").unwrap_or_default().to_owned();
            let (typed, refused) = (SubmittedFields::default(), None);
            let answers = PageAddress::answered(&request);
            let recent = recent::of(&request);
            let beside = match recent.filter(|_| !path.starts_with("/p/")) {
                Some(id) => {
                    console.manage.control.project(&by, Command::ListRequests, id).await.ok()
                }
                None => None,
            };
            Ok(Self {
                console,
                present,
                by,
                csrf,
                theme,
                language,
                mode,
                path,
                done,
                page,
                answers,
                recent: (recent, beside),
                typed,
                refused,
                token,
            })
        })
    }
}

impl<T: DeserializeOwned + 'static> FromRequest for SignedInForm<T> {
    type Error = Refusal;
    type Future = LocalBoxFuture<'static, Result<Self, Refusal>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let visit = Visit::from_request(request, payload);
        let body = text(request, payload);
        let header = csrf_header(request.headers());
        Box::pin(async move {
            // If the session ended in between, say so instead of redirecting to another page.
            let visit = match visit.await {
                Err(Refusal::SignIn(page)) => return Err(Refusal::Stale(page)),
                visit => visit?,
            };
            let body = body.await?;
            let given = header.or_else(|| csrf_field(&body)).unwrap_or_default();
            if !visit.token.is_csrf(&given, visit.console.tools.vault.as_ref()) {
                return Err(Refusal::Stale(visit.page));
            }
            let typed = SubmittedFields::of(&body);
            Ok(Self { visit: Visit { typed, ..visit }, form: read(&body)? })
        })
    }
}

impl<T: DeserializeOwned + 'static> FromRequest for PublicForm<T> {
    type Error = Refusal;
    type Future = LocalBoxFuture<'static, Result<Self, Refusal>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let body = text(request, payload);
        let request = request.clone();
        Box::pin(async move {
            let console = request.app_data::<Data<Console>>().ok_or(Refusal::Failed)?.clone();
            Ok(Self { form: read(&body.await?)?, request, console })
        })
    }
}

fn text(
    request: &HttpRequest,
    payload: &mut Payload,
) -> impl Future<Output = Result<String, Refusal>> + use<> {
    let bytes = Bytes::from_request(request, payload);
    async move {
        let bytes = bytes.await.map_err(|_| Refusal::Unreadable)?;
        if bytes.len() > LONGEST_FORM {
            return Err(Refusal::Unreadable);
        }
        String::from_utf8(bytes.to_vec()).map_err(|_| Refusal::Unreadable)
    }
}

fn read<T: DeserializeOwned>(form: &str) -> Result<T, Refusal> {
    Query::from_query(form).map(Query::into_inner).map_err(|_| Refusal::Unreadable)
}

fn csrf_header(headers: &HeaderMap) -> Option<String> {
    headers.get(CSRF_HEADER)?.to_str().ok().map(str::to_owned)
}

fn csrf_field(form: &str) -> Option<String> {
    let mut fields = form_urlencoded::parse(form.as_bytes());
    fields.find(|(name, _)| name == "csrf").map(|(_, value)| value.into_owned())
}
