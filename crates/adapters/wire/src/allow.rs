use actix_web::http::Method;

/// The `Allow` header of a resource with these methods. Includes HEAD wherever GET is allowed.
pub fn allow<'a>(methods: impl IntoIterator<Item = &'a Method>) -> String {
    let words = methods.into_iter().map(|method| match *method {
        Method::GET => "GET, HEAD",
        ref other => other.as_str(),
    });
    words.collect::<Vec<_>>().join(", ")
}
