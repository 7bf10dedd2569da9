//! Public information about signing keys and issuers.

use crate::json::schema;
use dwar_session::Algorithm;
use serde::Serialize;
use utoipa::ToSchema;

/// Metadata of an issuer (OpenID Connect Discovery 1.0 section 3, RFC 8414 section 2). The issuer
/// has no authorization or token endpoint, so the lists of response and grant types are empty.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssuerMetadata {
    /// `iss` of the project's live tokens.
    #[schema(
        format = "uri",
        max_length = 2_048,
        example = "https://otp.example.com/p/0199a000-0000-7000-8000-000000000000"
    )]
    issuer: String,
    #[schema(
        format = "uri",
        max_length = 2_048,
        example = "https://otp.example.com/p/0199a000-0000-7000-8000-000000000000/.well-known/jwks.json"
    )]
    jwks_uri: String,
    #[schema(max_items = 0)]
    response_types_supported: [&'static str; 0],
    #[schema(max_items = 0)]
    grant_types_supported: [&'static str; 0],
    #[schema(min_items = 1, max_items = 1, example = json!(["public"]))]
    subject_types_supported: [&'static str; 1],
    /// Algorithms of the public keys.
    #[schema(max_items = 3, example = json!(["ES256"]))]
    id_token_signing_alg_values_supported: Vec<&'static str>,
    #[schema(max_items = 16, example = json!(["sub"]))]
    claims_supported: [&'static str; 9],
}

impl IssuerMetadata {
    pub(crate) fn new(issuer: String, algorithms: &[Algorithm]) -> Self {
        Self {
            jwks_uri: format!("{issuer}/.well-known/jwks.json"),
            issuer,
            response_types_supported: [],
            grant_types_supported: [],
            subject_types_supported: ["public"],
            id_token_signing_alg_values_supported: algorithms
                .iter()
                .map(|it| it.as_str())
                .collect(),
            claims_supported: [
                "iss",
                "sub",
                "aud",
                "client_id",
                "sid",
                "jti",
                "mode",
                "iat",
                "exp",
            ],
        }
    }
}

/// A set of public keys (RFC 7517 section 5).
#[derive(ToSchema)]
pub(crate) struct PublicKeys {
    #[expect(dead_code, reason = "read by nothing but the document")]
    #[schema(max_items = 32)]
    keys: Vec<PublicKey>,
}

/// A public key (RFC 7517); `ES256` unless configured otherwise.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by nothing but the document")]
struct PublicKey {
    #[schema(schema_with = schema::key_type)]
    kty: String,
    #[schema(schema_with = schema::signature_use)]
    r#use: String,
    #[schema(min_length = 2, max_length = 10, example = "ES256")]
    alg: String,
    /// Key id, as in the header of a token.
    #[schema(min_length = 1, max_length = 100, example = "3dKr9…")]
    kid: String,
    /// For `EC` and `OKP` keys.
    #[schema(max_length = 20, example = "P-256")]
    crv: Option<String>,
    /// For `EC` and `OKP` keys.
    #[schema(max_length = 100, example = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU")]
    x: Option<String>,
    /// For `EC` keys.
    #[schema(max_length = 100, example = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")]
    y: Option<String>,
    /// For `RSA` keys.
    #[schema(max_length = 1_000, example = "0vx7agoebGcQ…")]
    n: Option<String>,
    /// For `RSA` keys.
    #[schema(max_length = 10, example = "AQAB")]
    e: Option<String>,
}
