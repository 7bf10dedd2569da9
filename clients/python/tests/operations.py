"""The method of each operation of docs/openapi.json."""

METHODS = {
    "sendOtp": "send",
    "relayOtp": "relay",
    "getOtpStatus": "status",
    "verifyOtp": "verify",
    "checkOtp": "check",
    "validateSession": "validate",
    "refreshSession": "refresh",
    "logoutSession": "logout",
    "getIdentity": "identity",
    "findIdentity": "identity_by_phone",
    "deleteIdentity": "delete_identity",
    "listSandboxMessages": "sandbox_messages",
    "getPublicKeys": "keys",
}
