use actix_web::http::Method;

/// The methods that are logged and counted by their own name.
pub const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// The name of a method, for logs and metrics: `other` unless it is one of [`METHODS`], since a method is any
/// word a client likes.
pub fn known_method(method: &Method) -> &'static str {
    METHODS.into_iter().find(|name| method == name).unwrap_or("other")
}
