use actix_web::http::Method;

/// The methods that appear in logs and metrics under their own name.
pub const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// The name of a method in logs and metrics: `other` unless it is one of [`METHODS`], because
/// clients may send any word.
pub fn known_method(method: &Method) -> &'static str {
    METHODS.into_iter().find(|name| method == name).unwrap_or("other")
}
