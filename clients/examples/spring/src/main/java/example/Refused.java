package example;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** Why a call of the login contract failed, as the page or the app is told. */
final class Refused extends RuntimeException {
    /** Refusals that the person can correct. Every other refusal of the service is shown as `LOGIN_UNAVAILABLE`. */
    private static final Set<String> FOR_PEOPLE = Set.of("INVALID_PHONE", "INVALID_OTP_CODE", "INVALID_OTP",
            "OTP_NOT_FOUND", "OTP_RATE_LIMITED", "PROOF_REQUIRED", "VERIFY_RATE_LIMITED", "SESSION_EXPIRED");

    private static final Map<String, String> SENTENCES = Map.ofEntries(
            Map.entry("NOT_FOUND", "There is no such resource."),
            Map.entry("ORIGIN_REFUSED", "This page may not log in here."),
            Map.entry("HTTPS_REQUIRED",
                    "Open this page with https to log in: without it the browser does not keep the login."),
            Map.entry("UNSUPPORTED_MEDIA_TYPE", "The body must be JSON."),
            Map.entry("PAYLOAD_TOO_LARGE", "The body is too large."),
            Map.entry("INVALID_REQUEST", "The request cannot be read."),
            Map.entry("INVALID_PHONE", "The phone number is not a valid Indian mobile number."),
            Map.entry("OTP_NOT_FOUND", "There is no active code for this phone number."),
            Map.entry("SESSION_EXPIRED", "The refresh token is expired or invalid."),
            Map.entry("TOO_MANY_SENDS", "Too many codes were requested from this address."),
            Map.entry("LOGIN_UNAVAILABLE", "Login is not possible at the moment."));

    final int status;
    final Map<String, Object> body = new LinkedHashMap<>();
    /** Empty if it does not say. */
    final String retryAfter;
    /** The code of the service, if it refused. */
    final String refusedBy;

    Refused(int status, String code) {
        this(status, code, Map.of(), "", "");
    }

    Refused(int status, String code, Map<String, ?> said, String retryAfter, String refusedBy) {
        super(code);
        this.status = status;
        this.retryAfter = retryAfter;
        this.refusedBy = refusedBy;
        body.put("error", SENTENCES.getOrDefault(code, code));
        body.put("code", code);
        for (String name : new String[] {"error", "request_id"}) {
            if (said.get(name) instanceof String text) {
                body.put(name, text);
            }
        }
    }

    /** The refusal for an answer of the service, or `LOGIN_UNAVAILABLE`. */
    static Refused of(int status, Map<String, ?> said, String retryAfter) {
        String code = said.get("code") instanceof String text ? text : "";
        return FOR_PEOPLE.contains(code)
                ? new Refused(status, code, said, retryAfter, code)
                : new Refused(503, "LOGIN_UNAVAILABLE", Map.of(), retryAfter, code);
    }
}
