use actix_web::http::Method;

/// The `Allow` of a resource with these methods: what can be read with GET can be with HEAD.
pub fn allow<'a>(methods: impl IntoIterator<Item = &'a Method>) -> String {
    let words = methods.into_iter().map(|method| match *method {
        Method::GET => "GET, HEAD",
        ref other => other.as_str(),
    });
    words.collect::<Vec<_>>().join(", ")
}
