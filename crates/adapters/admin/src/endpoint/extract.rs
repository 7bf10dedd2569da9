use crate::endpoint::refusal::ApiRefusal;
use actix_web::HttpRequest;
use actix_web::dev::Payload;
use dwar_wire::openapi::Operation;

/// The part of a request that a handler takes: its query or its body.
pub(crate) trait Extract: Sized + 'static {
    /// Reads that part.
    ///
    /// # Errors
    /// A refusal that names the invalid part.
    async fn read(request: &HttpRequest, payload: &mut Payload) -> Result<Self, ApiRefusal>;

    fn describe(operation: Operation) -> Operation;
}

impl Extract for () {
    async fn read(_: &HttpRequest, _: &mut Payload) -> Result<Self, ApiRefusal> {
        Ok(())
    }

    fn describe(operation: Operation) -> Operation {
        operation
    }
}
