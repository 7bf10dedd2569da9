// The calls to Dwar, the check of its access tokens, and what bounds sends. NOT RUN: see Program.cs.
using System.Collections.Concurrent;
using System.Net;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using Microsoft.IdentityModel.JsonWebTokens;
using Microsoft.IdentityModel.Tokens;

/// <summary>Why a call of the login contract failed, as the page or the app is told.</summary>
sealed class Refused(int status, string code, JsonObject? said = null, string retryAfter = "", string refusedBy = "") : Exception(code)
{
    // Refusals that the person can correct. Every other refusal of the service is shown as `LOGIN_UNAVAILABLE`.
    static readonly string[] ForPeople =
        ["INVALID_PHONE", "INVALID_OTP_CODE", "INVALID_OTP", "OTP_NOT_FOUND", "OTP_RATE_LIMITED", "PROOF_REQUIRED", "VERIFY_RATE_LIMITED", "SESSION_EXPIRED"];

    static readonly Dictionary<string, string> Sentences = new()
    {
        ["ORIGIN_REFUSED"] = "This page may not log in here.",
        ["HTTPS_REQUIRED"] = "Open this page with https to log in: without it the browser does not keep the login.",
        ["UNSUPPORTED_MEDIA_TYPE"] = "The body must be JSON.",
        ["PAYLOAD_TOO_LARGE"] = "The body is too large.",
        ["INVALID_REQUEST"] = "The request cannot be read.",
        ["INVALID_PHONE"] = "The phone number is not a valid Indian mobile number.",
        ["OTP_NOT_FOUND"] = "There is no active code for this phone number.",
        ["SESSION_EXPIRED"] = "The refresh token is expired or invalid.",
        ["TOO_MANY_SENDS"] = "Too many codes were requested from this address.",
        ["LOGIN_UNAVAILABLE"] = "Login is not possible at the moment.",
    };

    public int Status => status;
    public string Code => code;
    public string RetryAfter => retryAfter;
    public string RefusedBy => refusedBy;
    public JsonObject Body
    {
        get
        {
            var body = new JsonObject { ["error"] = said?["error"]?.DeepClone() ?? Sentences.GetValueOrDefault(code, code), ["code"] = code };
            if (said?["request_id"] is { } id) body["request_id"] = id.DeepClone();
            return body;
        }
    }

    /// <summary>The refusal for an answer of the service, or `LOGIN_UNAVAILABLE`.</summary>
    public static Refused Of(int status, JsonObject? said, string retryAfter)
    {
        var code = said?["code"]?.ToString() ?? "";
        return ForPeople.Contains(code)
            ? new Refused(status, code, said, retryAfter, code)
            : new Refused(503, "LOGIN_UNAVAILABLE", null, retryAfter, code);
    }
}

sealed class Dwar(IConfiguration settings)
{
    readonly HttpClient http = new(new SocketsHttpHandler { AllowAutoRedirect = false }) { Timeout = TimeSpan.FromSeconds(10) };
    readonly string url = settings["DWAR_URL"]!;
    readonly string projectId = settings["DWAR_PROJECT_ID"]!;
    readonly byte[] secret = settings["DWAR_SECRET"] is { Length: >= 32 } text
        ? Encoding.UTF8.GetBytes(text)
        : throw new ArgumentException("the secret must have 32 characters or more");
    (DateTimeOffset At, JsonWebKeySet Keys) kept = (DateTimeOffset.MinValue, new JsonWebKeySet());

    /// <summary>The answer of the service, if it has <c>field</c>; otherwise throws a refusal. Calls are not
    /// repeated.</summary>
    public async Task<JsonObject> Call(string path, JsonObject body, string field, string? idempotencyKey = null)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, url + path)
        {
            Content = new StringContent(body.ToJsonString(), Encoding.UTF8, "application/json"),
        };
        request.Headers.Add("X-Api-Key", settings["DWAR_API_KEY"]);
        if (idempotencyKey is not null) request.Headers.Add("Idempotency-Key", idempotencyKey);
        try
        {
            using var answer = await http.SendAsync(request);
            JsonObject? said = null;
            try
            {
                said = JsonNode.Parse(await answer.Content.ReadAsStringAsync()) as JsonObject;
            }
            catch (JsonException)
            {
                // Not an answer of the service.
            }
            if (answer.StatusCode == HttpStatusCode.OK && said?[field] is not null) return said;
            var wait = answer.Headers.TryGetValues("Retry-After", out var values) ? values.First() : "";
            throw Refused.Of((int)answer.StatusCode, said, wait);
        }
        catch (Exception fault) when (fault is HttpRequestException or TaskCanceledException)
        {
            throw new Refused(503, "LOGIN_UNAVAILABLE");
        }
    }

    /// <summary>A new pair for a refresh token. Tabs that refresh at the same time, also in other processes, get the
    /// same pair.</summary>
    public Task<JsonObject> Refresh(string token) => token == ""
        ? throw new Refused(401, "SESSION_EXPIRED")
        : Call("/v1/session/refresh", new() { ["refresh_token"] = token }, "access_token",
            Convert.ToHexStringLower(HMACSHA256.HashData(secret, Encoding.UTF8.GetBytes(token))));

    /// <summary>Ends the session of an access token; false if the token is not valid.</summary>
    public async Task<bool> Ends(string access)
    {
        if (access == "") return false;
        try
        {
            await Call("/v1/session/logout", new() { ["access_token"] = access }, "revoked");
            return true;
        }
        catch (Refused refused) when (refused.RefusedBy == "INVALID_ACCESS_TOKEN")
        {
            return false;
        }
    }

    /// <summary>The identity of an access token, or null if it is not a valid one of this project and mode.</summary>
    public async Task<string?> Identity(string token)
    {
        if (token == "") return null;
        var judged = await new JsonWebTokenHandler { MapInboundClaims = false }.ValidateTokenAsync(token, new()
        {
            ValidIssuer = "dwar",
            ValidAudience = projectId,
            ValidAlgorithms = ["ES256"],
            ValidTypes = ["at+jwt"],
            ClockSkew = TimeSpan.FromSeconds(30),
            IssuerSigningKeys = (await Keys()).GetSigningKeys(),
        });
        var isOurs = judged.IsValid && Equals(judged.Claims["client_id"], projectId)
            && Equals(judged.Claims["mode"], settings["DWAR_MODE"] ?? "live");
        return isOurs ? judged.Claims["sub"] as string : null;
    }

    // Cached for five minutes, and longer while they cannot be fetched.
    async Task<JsonWebKeySet> Keys()
    {
        if (kept.At < DateTimeOffset.UtcNow.AddMinutes(-5))
        {
            try
            {
                kept = (DateTimeOffset.UtcNow, new JsonWebKeySet(await http.GetStringAsync(url + "/.well-known/jwks.json")));
            }
            catch (Exception fault) when (fault is HttpRequestException or TaskCanceledException)
            {
                // As said above.
            }
        }
        return kept.Keys;
    }
}

/// <summary>Counts the codes that an address has requested in ten minutes, in the memory of this process.</summary>
sealed class SendsPerAddress(int most)
{
    readonly ConcurrentDictionary<string, List<DateTimeOffset>> sends = new();

    /// <summary>Counts a send, and returns a function that takes it back.</summary>
    public Action Count(IPAddress? address)
    {
        if (address is null) return () => { };
        var bytes = (address.IsIPv4MappedToIPv6 ? address.MapToIPv4() : address).GetAddressBytes();
        var recent = sends.GetOrAdd(Convert.ToHexString(bytes.Length == 16 ? bytes[..8] : bytes), _ => []);
        var now = DateTimeOffset.UtcNow;
        lock (recent)
        {
            recent.RemoveAll(at => at <= now.AddMinutes(-10));
            if (recent.Count >= most)
            {
                var wait = (int)Math.Ceiling((recent[0].AddMinutes(10) - now).TotalSeconds);
                throw new Refused(429, "TOO_MANY_SENDS", null, wait.ToString());
            }
            recent.Add(now);
        }
        return () =>
        {
            lock (recent) recent.Remove(now);
        };
    }
}
