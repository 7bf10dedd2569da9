package example;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseCookie;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** The login contract of Dwar (clients/login/README.md): four endpoints for a login form and for apps. */
@RestController
@RequestMapping("/login")
final class LoginController {
    private static final int LONGEST_BODY = 16 * 1024;
    private static final Pattern DIGITS = Pattern.compile("\\+?[0-9]+");
    /** A text of bounded size that a cookie holds as it is. */
    private static final Pattern DEVICE = Pattern.compile("[A-Za-z0-9._~+/=-]{1,512}");
    private static final int DEVICE_SECONDS = 180 * 86_400;
    private static final ObjectMapper JSON =
            new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    private final Dwar dwar;
    private final LoginCookies cookies;
    private final SendsPerAddress sends = new SendsPerAddress(30);

    LoginController(Dwar dwar, LoginCookies cookies) {
        this.dwar = dwar;
        this.cookies = cookies;
    }

    @PostMapping("/send")
    ResponseEntity<Object> send(HttpServletRequest request) throws IOException {
        Map<String, Object> body = body(request);
        String phone = phone(body);
        Runnable uncount = sends.count(request.getRemoteAddr());
        try {
            Map<String, Object> wanted = new LinkedHashMap<>(Map.of("phone", phone));
            wanted.putAll(visitor(request, body));
            wanted.putAll(device(request, body));
            Map<String, Object> sent = dwar.call("/v1/otp/send", wanted, "otp_id");
            ResponseCookie cookie = LoginCookies.made(LoginCookies.OTP, sent.get("otp_id"), sent.get("expires_in"));
            return answer(200, only(sent, "otp_id", "expires_in"), List.of(cookie));
        } catch (Refused refused) {
            uncount.run();
            throw refused;
        }
    }

    @PostMapping("/verify")
    ResponseEntity<Object> verify(HttpServletRequest request) throws IOException {
        Map<String, Object> body = body(request);
        boolean inBody = wantsTokens(request, body);
        String phone = phone(body);
        String otp = credential(request, body, "otp_id", LoginCookies.OTP);
        if (otp.isEmpty()) {
            throw new Refused(400, "OTP_NOT_FOUND");
        }
        Map<String, Object> guess = new LinkedHashMap<>(Map.of("phone", phone, "code", text(body, "code"), "otp_id", otp));
        guess.putAll(device(request, body));
        Map<String, Object> tokens = dwar.call("/v1/otp/verify", guess, "access_token");
        List<ResponseCookie> all = new ArrayList<>(List.of(LoginCookies.made(LoginCookies.OTP, "", 0)));
        if (tokens.get("device") instanceof String device && DEVICE.matcher(device).matches()) {
            // It stays after the logout: the next login is that of a known device.
            all.add(LoginCookies.made(LoginCookies.DEVICE, device, DEVICE_SECONDS));
        } else {
            tokens.remove("device");
        }
        return loggedIn(tokens, inBody, all);
    }

    @PostMapping("/refresh")
    ResponseEntity<Object> refresh(HttpServletRequest request) throws IOException {
        Map<String, Object> body = body(request);
        boolean inBody = wantsTokens(request, body);
        String token = credential(request, body, "refresh_token", LoginCookies.REFRESH);
        return loggedIn(dwar.refresh(token), inBody, List.of());
    }

    @PostMapping("/logout")
    ResponseEntity<Object> logout(HttpServletRequest request) throws IOException {
        Map<String, Object> body = body(request);
        String access = credential(request, body, "access_token", LoginCookies.ACCESS);
        String refresh = credential(request, body, "refresh_token", LoginCookies.REFRESH);
        try {
            if (!ends(access) && !refresh.isEmpty()) {
                ends(dwar.refresh(refresh).get("access_token").toString());
            }
        } catch (Refused refused) {
            if (!refused.getMessage().equals("SESSION_EXPIRED")) {
                throw refused;
            }
        }
        return answer(204, null, cookies.isPage(request) ? LoginCookies.cleared() : List.of());
    }

    @PostMapping("/{other}")
    ResponseEntity<Object> other(@PathVariable String other) {
        throw new Refused(404, "NOT_FOUND");
    }

    @ExceptionHandler
    ResponseEntity<Object> refused(Refused refused) {
        boolean isOver = refused.getMessage().equals("SESSION_EXPIRED");
        ResponseEntity<Object> answer = answer(refused.status, refused.body, isOver ? LoginCookies.cleared() : List.of());
        return refused.retryAfter.isEmpty() ? answer
                : ResponseEntity.status(refused.status).headers(answer.getHeaders())
                        .header(HttpHeaders.RETRY_AFTER, refused.retryAfter).body(refused.body);
    }

    /** Ends the session of an access token; false if the token is not valid. */
    private boolean ends(String access) {
        if (access.isEmpty()) {
            return false;
        }
        try {
            dwar.call("/v1/session/logout", Map.of("access_token", access), "revoked");
            return true;
        } catch (Refused refused) {
            if (!refused.refusedBy.equals("INVALID_ACCESS_TOKEN")) {
                throw refused;
            }
            return false;
        }
    }

    /** Ask the vendor of your captcha here whether this answer to it is good. */
    private boolean proves(HttpServletRequest request, String proof) {
        return false;
    }

    /**
     * What the service is told about the person. Only `proves` says that a proof is good: whatever a page or an app sends
     * under these names is ignored.
     */
    private Map<String, Object> visitor(HttpServletRequest request, Map<String, Object> body) {
        Map<String, Object> visitor = new LinkedHashMap<>(Map.of("address", request.getRemoteAddr()));
        String proof = text(body, "proof");
        if (!proof.isEmpty() && proves(request, proof)) {
            visitor.put("trusted", true);
        }
        return Map.of("visitor", visitor);
    }

    /** The device of an earlier login of this browser or app. */
    private Map<String, Object> device(HttpServletRequest request, Map<String, Object> body) {
        String device = credential(request, body, "device", LoginCookies.DEVICE);
        return DEVICE.matcher(device).matches() ? Map.of("device", device) : Map.of();
    }

    /** The body, after checks of origin, type, size and format, in this order. */
    private Map<String, Object> body(HttpServletRequest request) throws IOException {
        if (cookies.isForeign(request)) {
            throw new Refused(403, cookies.lacksHttps(request) ? "HTTPS_REQUIRED" : "ORIGIN_REFUSED");
        }
        String type = request.getContentType() == null ? "" : request.getContentType();
        if (!type.split(";", 2)[0].strip().equalsIgnoreCase("application/json")) {
            throw new Refused(415, "UNSUPPORTED_MEDIA_TYPE");
        }
        byte[] bytes = request.getInputStream().readNBytes(LONGEST_BODY + 1);
        if (bytes.length > LONGEST_BODY) {
            throw new Refused(413, "PAYLOAD_TOO_LARGE");
        }
        try {
            String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
            Map<String, Object> body = JSON.readValue(text, new TypeReference<>() {});
            if (body != null) {
                return body;
            }
        } catch (IOException noObject) {
            // As below.
        }
        throw new Refused(400, "INVALID_REQUEST");
    }

    /** Whether the tokens go into the body: only for an app, since no script of a page may read a token. */
    private boolean wantsTokens(HttpServletRequest request, Map<String, Object> body) {
        boolean wants = "body".equals(body.get("tokens"));
        if (wants && cookies.isPage(request)) {
            throw new Refused(403, "ORIGIN_REFUSED");
        }
        return wants;
    }

    /** The cookie of a page, or the field in the body of an app. */
    private String credential(HttpServletRequest request, Map<String, Object> body, String field, String cookie) {
        return cookies.isPage(request) ? cookies.get(request, cookie) : text(body, field);
    }

    private static String text(Map<String, Object> body, String field) {
        return body.get(field) instanceof String text ? text : "";
    }

    private static String phone(Map<String, Object> body) {
        String phone = text(body, "phone");
        if (!DIGITS.matcher(phone).matches()) {
            throw new Refused(422, "INVALID_PHONE");
        }
        return phone;
    }

    private static ResponseEntity<Object> loggedIn(Map<String, Object> tokens, boolean inBody, List<ResponseCookie> more) {
        if (inBody) {
            return answer(200, only(tokens, "identity_id", "expires_in", "access_token", "refresh_token",
                    "refresh_expires_in", "device"), List.of());
        }
        List<ResponseCookie> all = new ArrayList<>(LoginCookies.ofTokens(tokens));
        all.addAll(more);
        return answer(200, only(tokens, "identity_id", "expires_in"), all);
    }

    private static Map<String, Object> only(Map<String, Object> of, String... fields) {
        Map<String, Object> some = new LinkedHashMap<>();
        for (String field : fields) {
            if (of.get(field) != null) {
                some.put(field, of.get(field));
            }
        }
        return some;
    }

    private static ResponseEntity<Object> answer(int status, Object body, List<ResponseCookie> cookies) {
        ResponseEntity.BodyBuilder answer = ResponseEntity.status(status).header(HttpHeaders.CACHE_CONTROL, "no-store");
        cookies.forEach(cookie -> answer.header(HttpHeaders.SET_COOKIE, cookie.toString()));
        return answer.body(body);
    }
}
