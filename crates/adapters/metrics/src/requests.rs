//! Counts of requests to the API, by route, method and result.

use crate::cells::ShardedCounters;
use crate::page::Page;
use crate::table::OTHER;
use crate::times::{Times, WORK};
use dwar_app::AnsweredRequest;
use dwar_wire::Endpoint;
use std::collections::BTreeSet;
use std::fmt;

/// The route label of an unknown path, and the status label of a request whose client disconnected.
const NONE: &str = "none";

/// The labels of requests. No text of a client becomes a label.
#[derive(Clone, Debug)]
pub struct Api {
    pub endpoints: Vec<Endpoint>,
    pub methods: Vec<&'static str>,
    /// Every refusal: status and code.
    pub refusals: Vec<(u16, &'static str)>,
}

/// The result of a request: status and code, as labels have them.
type RequestResult = (String, &'static str);

#[derive(Debug)]
pub(crate) struct Requests {
    /// The last is [`NONE`].
    routes: Vec<&'static str>,
    /// The last is [`OTHER`].
    methods: Vec<&'static str>,
    answers: Vec<(u16, &'static str)>,
    /// As `answers`, then the disconnected, then [`OTHER`].
    ends: Vec<RequestResult>,
    expected: BTreeSet<usize>,
    counts: ShardedCounters,
    times: Times,
}

impl Requests {
    /// Makes counts with the labels of `api`. The answers of its endpoints are shown from the
    /// start.
    pub(crate) fn new(api: Api) -> Self {
        let Api { endpoints, mut methods, refusals } = api;
        let unique: BTreeSet<_> = endpoints.iter().map(|it| it.route).collect();
        let routes: Vec<_> = unique.into_iter().chain([NONE]).collect();
        methods.push(OTHER);
        let answers: BTreeSet<_> =
            endpoints.iter().flat_map(|it| &it.answers).chain(&refusals).copied().collect();
        let answers: Vec<_> = answers.into_iter().collect();
        let ends = answers.iter().map(|(status, code)| (status.to_string(), *code));
        let ends: Vec<_> = ends.chain([(NONE.to_owned(), ""), (OTHER.to_owned(), OTHER)]).collect();
        let counts = ShardedCounters::new(routes.len() * methods.len() * ends.len());
        let times = Times::new(WORK, routes.len());
        let expected = BTreeSet::new();
        let mut this = Self { routes, methods, answers, ends, expected, counts, times };
        for Endpoint { route, method, answers } in endpoints {
            for (status, code) in answers {
                let end = this.end(Some(status), Some(code));
                let place = this.place(this.route(Some(route)), method, end);
                this.expected.insert(place);
            }
        }
        this
    }

    pub(crate) fn count(&self, answered: &AnsweredRequest) {
        let AnsweredRequest { route, method, status, code, took } = *answered;
        let route = self.route(route);
        self.counts.add(self.place(route, method, self.end(status, code)), 1);
        self.times.observe(route, took);
    }

    pub(crate) fn show(&self, page: &mut Page<'_>) -> fmt::Result {
        let places = 0..self.routes.len() * self.methods.len() * self.ends.len();
        let shown = places.filter_map(|place| {
            let count = self.counts.sum(place);
            (count > 0 || self.expected.contains(&place)).then(|| (self.labels(place), count))
        });
        page.counters("dwar_http_requests", "Requests to the API, by how they ended.", shown)?;
        let times = self.routes.iter().enumerate();
        let times = times.map(|(place, route)| ([("route", *route)], self.times.read(place)));
        let help = "Time from the head of a request to its answer.";
        page.histograms("dwar_http_request_duration_seconds", help, times)
    }

    fn place(&self, route: usize, method: &str, end: usize) -> usize {
        let method =
            self.methods.iter().position(|it| *it == method).unwrap_or(self.methods.len() - 1);
        (route * self.methods.len() + method) * self.ends.len() + end
    }

    fn route(&self, route: Option<&str>) -> usize {
        let known = route.and_then(|route| self.routes.iter().position(|it| *it == route));
        known.unwrap_or(self.routes.len() - 1)
    }

    fn end(&self, status: Option<u16>, code: Option<&str>) -> usize {
        let Some(status) = status else { return self.answers.len() };
        let answer = (status, code.unwrap_or_default());
        self.answers.iter().position(|it| *it == answer).unwrap_or(self.answers.len() + 1)
    }

    fn labels(&self, place: usize) -> [(&'static str, &str); 4] {
        let (place, end) = (place / self.ends.len(), place % self.ends.len());
        let (route, method) = (place / self.methods.len(), place % self.methods.len());
        let (status, code) = &self.ends[end];
        [
            ("route", self.routes[route]),
            ("method", self.methods[method]),
            ("status", status.as_str()),
            ("code", code),
        ]
    }
}
