package example;

import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.http.ResponseCookie;

/** The cookies of the login contract, and the requests whose cookies count. */
final class LoginCookies {
    static final String OTP = "__Host-dwar_otp";
    static final String ACCESS = "__Host-dwar_access";
    static final String REFRESH = "__Host-dwar_refresh";
    static final String DEVICE = "__Host-dwar_device";

    private static final String HOST = "[a-z0-9-]+(\\.[a-z0-9-]+)*(:\\d+)?";
    private static final String LOOPBACK = "(localhost|127(\\.\\d+){3}|\\[::1\\])(:\\d+)?";
    private static final Pattern ORIGIN = Pattern.compile("https://" + HOST + "|http://" + LOOPBACK);
    private static final Pattern OWN_MACHINE = Pattern.compile("([^:]*\\.)?localhost(:\\d+)?|" + LOOPBACK);
    private static final Pattern BEARER = Pattern.compile("bearer(?:[ \\t]+(.*))?", Pattern.CASE_INSENSITIVE);

    private final Set<String> origins;

    /** The origins of your own pages, exactly: {@code https://shop.example}. */
    LoginCookies(List<String> origins) {
        for (String origin : origins) {
            if (!ORIGIN.matcher(origin).matches()) {
                throw new IllegalArgumentException(origin + " is not an origin such as https://shop.example");
            }
        }
        if (origins.isEmpty()) {
            throw new IllegalArgumentException("at least one origin has to be named");
        }
        this.origins = Set.copyOf(origins);
    }

    /** Whether the request comes from a page, not from an app. */
    boolean isPage(HttpServletRequest request) {
        return request.getHeader("Origin") != null || request.getHeader("Sec-Fetch-Site") != null;
    }

    /** Whether the request comes from a page of another site. */
    boolean isForeign(HttpServletRequest request) {
        String origin = request.getHeader("Origin");
        String site = request.getHeader("Sec-Fetch-Site");
        return origin != null ? !origins.contains(origin) : site != null && !site.equals("same-origin");
    }

    /** Whether the request comes from an own page that was opened without https, where browsers keep no cookies. */
    boolean lacksHttps(HttpServletRequest request) {
        String host = String.valueOf(request.getHeader("Host"));
        return !OWN_MACHINE.matcher(host).matches() && ("http://" + host).equals(request.getHeader("Origin"));
    }

    /** A cookie of the request; empty if a page of another site may change something with it. */
    String get(HttpServletRequest request, String name) {
        boolean isSafe = Set.of("GET", "HEAD").contains(request.getMethod());
        if (request.getCookies() != null && (isSafe || !isForeign(request))) {
            for (Cookie cookie : request.getCookies()) {
                if (cookie.getName().equals(name)) {
                    return cookie.getValue();
                }
            }
        }
        return "";
    }

    /** Whether a renewal may help a request without a login. */
    boolean canRenew(HttpServletRequest request) {
        return bearer(request) == null && !get(request, REFRESH).isEmpty();
    }

    String bearer(HttpServletRequest request) {
        String shown = request.getHeader("Authorization");
        Matcher bearer = BEARER.matcher(shown == null ? "" : shown.strip());
        return bearer.matches() ? Objects.requireNonNullElse(bearer.group(1), "") : null;
    }

    static List<ResponseCookie> ofTokens(Map<String, Object> tokens) {
        return List.of(made(ACCESS, tokens.get("access_token"), tokens.get("expires_in")),
                made(REFRESH, tokens.get("refresh_token"), tokens.get("refresh_expires_in")));
    }

    /** The cookies that end the login. */
    static List<ResponseCookie> cleared() {
        return List.of(made(ACCESS, "", 0), made(REFRESH, "", 0));
    }

    static ResponseCookie made(String name, Object value, Object seconds) {
        String sameSite = Set.of(OTP, DEVICE).contains(name) ? "Strict" : "Lax";
        return ResponseCookie.from(name, value.toString()).maxAge(((Number) seconds).longValue()).path("/")
                .secure(true).httpOnly(true).sameSite(sameSite).build();
    }
}
