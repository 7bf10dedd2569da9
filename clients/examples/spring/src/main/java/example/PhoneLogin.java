package example;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseCookie;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Lets only logged-in requests through: the request attribute {@code identity_id} is the person.
 *
 * It renews the session of a page whose access token has expired; with {@code renews} false it does not, for answers
 * that carry no cookies.
 */
final class PhoneLogin extends OncePerRequestFilter {
    private final Dwar dwar;
    private final LoginCookies cookies;
    private final boolean renews;

    PhoneLogin(Dwar dwar, LoginCookies cookies, boolean renews) {
        this.dwar = dwar;
        this.cookies = cookies;
        this.renews = renews;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain next)
            throws ServletException, IOException {
        String bearer = cookies.bearer(request);
        Optional<String> identity = dwar.identity(bearer != null ? bearer : cookies.get(request, LoginCookies.ACCESS));
        boolean canRenew = identity.isEmpty() && cookies.canRenew(request);
        if (canRenew && renews) {
            try {
                Map<String, Object> tokens = dwar.refresh(cookies.get(request, LoginCookies.REFRESH));
                identity = dwar.identity(tokens.get("access_token").toString());
                carry(response, LoginCookies.ofTokens(tokens));
            } catch (Refused refused) {
                // Without an answer of the service the login state is unknown: that is an error, not a logout.
                if (!refused.getMessage().equals("SESSION_EXPIRED")) {
                    response.sendError(refused.status);
                    return;
                }
                carry(response, LoginCookies.cleared());
            }
        }
        if (identity.isEmpty()) {
            boolean mayHelp = canRenew && !renews;
            response.setHeader(HttpHeaders.WWW_AUTHENTICATE, mayHelp ? "Bearer error=\"invalid_token\"" : "Bearer");
            response.setStatus(401);
            return;
        }
        request.setAttribute("identity_id", identity.get());
        next.doFilter(request, response);
    }

    private static void carry(HttpServletResponse response, List<ResponseCookie> cookies) {
        response.setHeader(HttpHeaders.CACHE_CONTROL, "no-store");
        cookies.forEach(cookie -> response.addHeader(HttpHeaders.SET_COOKIE, cookie.toString()));
    }
}
