package example;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.springframework.security.oauth2.jose.jws.SignatureAlgorithm;
import org.springframework.security.oauth2.jwt.BadJwtException;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.jwt.NimbusJwtDecoder;

/** The calls to Dwar, and the check of its access tokens. */
final class Dwar {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(5)).build();
    private final String url;
    private final String apiKey;
    private final String projectId;
    private final String mode;
    private final byte[] secret;
    private final NimbusJwtDecoder decoder;

    Dwar(String url, String apiKey, String projectId, String mode, String secret) {
        if (secret.length() < 32) {
            throw new IllegalArgumentException("the secret must have 32 characters or more");
        }
        this.url = url;
        this.apiKey = apiKey;
        this.projectId = projectId;
        this.mode = mode;
        this.secret = secret.getBytes(StandardCharsets.UTF_8);
        // By default Spring accepts only the type "JWT". Keys are cached for five minutes.
        decoder = NimbusJwtDecoder.withJwkSetUri(url + "/.well-known/jwks.json")
                .jwsAlgorithm(SignatureAlgorithm.ES256)
                .jwtProcessorCustomizer(processor -> processor.setJWSTypeVerifier(
                        new DefaultJOSEObjectTypeVerifier<>(new JOSEObjectType("at+jwt"))))
                .build();
    }

    /** The answer of the service, if it has {@code field}; otherwise throws a refusal. Calls are not repeated. */
    Map<String, Object> call(String path, Map<String, ?> body, String field, String... headers) {
        try {
            HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path)).timeout(Duration.ofSeconds(10))
                    .header("X-Api-Key", apiKey).header("Content-Type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body)));
            if (headers.length > 0) {
                request.headers(headers);
            }
            HttpResponse<byte[]> answer = http.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
            Map<String, Object> said = read(answer.body());
            if (answer.statusCode() == 200 && said.get(field) != null) {
                return said;
            }
            throw Refused.of(answer.statusCode(), said, answer.headers().firstValue("Retry-After").orElse(""));
        } catch (IOException fault) {
            throw new Refused(503, "LOGIN_UNAVAILABLE");
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new Refused(503, "LOGIN_UNAVAILABLE");
        }
    }

    private static Map<String, Object> read(byte[] body) {
        try {
            return JSON.readValue(body, new TypeReference<>() {});
        } catch (IOException noJson) {
            return Map.of();
        }
    }

    /**
     * A new pair for a refresh token. Tabs that refresh at the same time, also in other processes, get the same pair.
     */
    Map<String, Object> refresh(String token) {
        if (token.isEmpty()) {
            throw new Refused(401, "SESSION_EXPIRED");
        }
        return call("/v1/session/refresh", Map.of("refresh_token", token), "access_token",
                "Idempotency-Key", keyOf(token));
    }

    private String keyOf(String token) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret, "HmacSHA256"));
            return HexFormat.of().formatHex(mac.doFinal(token.getBytes(StandardCharsets.UTF_8)));
        } catch (java.security.GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** The identity of an access token, or nothing if it is not a valid one of this project and mode. */
    Optional<String> identity(String token) {
        if (token.isEmpty()) {
            return Optional.empty();
        }
        try {
            Jwt jwt = decoder.decode(token);
            boolean isOurs = "dwar".equals(jwt.getClaimAsString("iss"))
                    && jwt.getAudience() != null && jwt.getAudience().contains(projectId)
                    && projectId.equals(jwt.getClaimAsString("client_id"))
                    && mode.equals(jwt.getClaimAsString("mode"));
            return isOurs ? Optional.ofNullable(jwt.getSubject()) : Optional.empty();
        } catch (BadJwtException notOurs) {
            return Optional.empty();
        }
    }
}
