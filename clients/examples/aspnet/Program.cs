// Login by phone in ASP.NET Core: the login contract of Dwar (clients/login/README.md) at /login, and a page of those who
// are logged in at /me.
//
// NOT RUN: no .NET SDK was in reach when this was written. It follows the examples for Spring and Laravel beside it, which
// are run against the suite; run `node clients/suite/login.mjs dotnet run` before you rely on it.
using System.Net;
using System.Text.Json;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;

const string Otp = "__Host-dwar_otp", Access = "__Host-dwar_access", Refresh = "__Host-dwar_refresh",
    Device = "__Host-dwar_device";
const int DeviceSeconds = 180 * 86_400;

var builder = WebApplication.CreateBuilder(args);
builder.WebHost.UseUrls($"http://127.0.0.1:{Environment.GetEnvironmentVariable("PORT")}");
builder.WebHost.ConfigureKestrel(kestrel => kestrel.Limits.MaxRequestBodySize = 1 << 20);
builder.Services.AddSingleton<Dwar>();
builder.Services.AddSingleton(_ => new SendsPerAddress(30));
var app = builder.Build();
var origins = new HashSet<string> { app.Configuration["ORIGIN"]! };

app.Use(async (context, next) =>
{
    try
    {
        await next(context);
    }
    catch (Refused refused) when (!context.Response.HasStarted)
    {
        context.Response.StatusCode = refused.Status;
        context.Response.Headers.CacheControl = "no-store";
        if (refused.RetryAfter != "") context.Response.Headers.RetryAfter = refused.RetryAfter;
        if (refused.Code == "SESSION_EXPIRED") Clear(context);
        await context.Response.WriteAsJsonAsync(refused.Body);
    }
});

app.MapPost("/login/send", async (HttpContext context, Dwar dwar, SendsPerAddress sends) =>
{
    var body = await Body(context);
    var wanted = new JsonObject { ["phone"] = Phone(body) };
    var uncount = sends.Count(context.Connection.RemoteIpAddress);
    try
    {
        if (Visitor(context, body) is { Count: > 0 } visitor) wanted["visitor"] = visitor;
        if (DeviceOf(context, body) is { } device) wanted["device"] = device;
        var sent = await dwar.Call("/v1/otp/send", wanted, "otp_id");
        Set(context, Otp, (string)sent["otp_id"]!, (int)sent["expires_in"]!);
        return Answer(context, sent, "otp_id", "expires_in");
    }
    catch (Refused)
    {
        uncount();
        throw;
    }
});

app.MapPost("/login/verify", async (HttpContext context, Dwar dwar) =>
{
    var body = await Body(context);
    var inBody = WantsTokens(context, body);
    var (phone, otp) = (Phone(body), Credential(context, body, "otp_id", Otp));
    if (otp == "") throw new Refused(400, "OTP_NOT_FOUND");
    var guess = new JsonObject { ["phone"] = phone, ["code"] = Text(body, "code"), ["otp_id"] = otp };
    if (DeviceOf(context, body) is { } device) guess["device"] = device;
    var tokens = await dwar.Call("/v1/otp/verify", guess, "access_token");
    if (!IsDevice(Text(tokens, "device"))) tokens.Remove("device");
    if (!inBody) Set(context, Otp, "", 0);
    // It stays after the logout: the next login is that of a known device.
    if (!inBody && tokens.ContainsKey("device")) Set(context, Device, Text(tokens, "device"), DeviceSeconds);
    return LoggedIn(context, tokens, inBody);
});

app.MapPost("/login/refresh", async (HttpContext context, Dwar dwar) =>
{
    var body = await Body(context);
    var inBody = WantsTokens(context, body);
    return LoggedIn(context, await dwar.Refresh(Credential(context, body, "refresh_token", Refresh)), inBody);
});

app.MapPost("/login/logout", async (HttpContext context, Dwar dwar) =>
{
    var body = await Body(context);
    var access = Credential(context, body, "access_token", Access);
    var refresh = Credential(context, body, "refresh_token", Refresh);
    try
    {
        if (!await dwar.Ends(access) && refresh != "")
            await dwar.Ends((string)(await dwar.Refresh(refresh))["access_token"]!);
    }
    catch (Refused refused) when (refused.Code == "SESSION_EXPIRED")
    {
        // The session is over already, as requested.
    }
    if (IsPage(context)) Clear(context);
    context.Response.Headers.CacheControl = "no-store";
    return Results.NoContent();
});

app.MapMethods("/me", ["GET", "POST"], async (HttpContext context, Dwar dwar) =>
    await Identity(context, dwar, renews: true) is { } identity ? Results.Json(new { identity_id = identity }) : Unknown(context, true));
app.MapMethods("/claims", ["GET", "POST"], async (HttpContext context, Dwar dwar) =>
    await Identity(context, dwar, renews: false) is { } identity ? Results.Json(new { identity_id = identity }) : Unknown(context, false));

app.Run();

// The identity that is logged in. Renews the session of a page whose access token has expired, if the answer can carry
// cookies.
async Task<string?> Identity(HttpContext context, Dwar dwar, bool renews)
{
    var identity = await dwar.Identity(Bearer(context) ?? Cookie(context, Access));
    if (identity is not null || !renews || !CanRenew(context)) return identity;
    context.Response.Headers.CacheControl = "no-store";
    try
    {
        var tokens = await dwar.Refresh(Cookie(context, Refresh));
        SetTokens(context, tokens);
        return await dwar.Identity((string)tokens["access_token"]!);
    }
    catch (Refused refused) when (refused.Code == "SESSION_EXPIRED")
    {
        Clear(context);
        return null;
    }
}

IResult Unknown(HttpContext context, bool renewed)
{
    context.Response.Headers.WWWAuthenticate =
        !renewed && CanRenew(context) ? "Bearer error=\"invalid_token\"" : "Bearer";
    return Results.StatusCode(401);
}

// Ask the vendor of your captcha here whether this answer to it is good.
bool Proves(HttpContext context, string proof) => false;

// What the service is told about the person. Only Proves says that a proof is good: whatever a page or an app sends under
// these names is ignored.
JsonObject Visitor(HttpContext context, JsonObject body)
{
    var visitor = new JsonObject();
    if (context.Connection.RemoteIpAddress is { } address) visitor["address"] = address.ToString();
    var proof = Text(body, "proof");
    if (proof != "" && Proves(context, proof)) visitor["trusted"] = true;
    return visitor;
}

// The device of an earlier login of this browser or app.
string? DeviceOf(HttpContext context, JsonObject body)
{
    var device = Credential(context, body, "device", Device);
    return IsDevice(device) ? device : null;
}

// A text of bounded size that a cookie holds as it is.
bool IsDevice(string text) => Regex.IsMatch(text, @"\A[A-Za-z0-9._~+/=-]{1,512}\z");

// The body, after checks of origin, type, size and format, in this order.
async Task<JsonObject> Body(HttpContext context)
{
    var request = context.Request;
    if (IsForeign(context)) throw new Refused(403, LacksHttps(request) ? "HTTPS_REQUIRED" : "ORIGIN_REFUSED");
    var type = (request.ContentType ?? "").Split(';')[0].Trim();
    if (!type.Equals("application/json", StringComparison.OrdinalIgnoreCase))
        throw new Refused(415, "UNSUPPORTED_MEDIA_TYPE");
    var bytes = new byte[16 * 1024 + 1];
    var length = await request.Body.ReadAtLeastAsync(bytes, bytes.Length, throwOnEndOfStream: false);
    if (length == bytes.Length) throw new Refused(413, "PAYLOAD_TOO_LARGE");
    try
    {
        return JsonNode.Parse(bytes.AsSpan(0, length)) as JsonObject ?? throw new JsonException();
    }
    catch (JsonException)
    {
        throw new Refused(400, "INVALID_REQUEST");
    }
}

// Whether the tokens go into the body: only for an app, since no script of a page may read a token.
bool WantsTokens(HttpContext context, JsonObject body)
{
    var wants = Text(body, "tokens") == "body";
    return wants && IsPage(context) ? throw new Refused(403, "ORIGIN_REFUSED") : wants;
}

string Text(JsonObject body, string field) => body[field] is JsonValue value && value.TryGetValue(out string? text) ? text : "";

string Phone(JsonObject body)
{
    var phone = Text(body, "phone");
    return Regex.IsMatch(phone, @"\A\+?[0-9]+\z") ? phone : throw new Refused(422, "INVALID_PHONE");
}

// The cookie of a page, or the field in the body of an app.
string Credential(HttpContext context, JsonObject body, string field, string cookie) =>
    IsPage(context) ? Cookie(context, cookie) : Text(body, field);

bool IsPage(HttpContext context) =>
    context.Request.Headers.ContainsKey("Origin") || context.Request.Headers.ContainsKey("Sec-Fetch-Site");

bool IsForeign(HttpContext context)
{
    var headers = context.Request.Headers;
    return headers.ContainsKey("Origin")
        ? !origins.Contains(headers.Origin.ToString())
        : headers.ContainsKey("Sec-Fetch-Site") && headers["Sec-Fetch-Site"] != "same-origin";
}

// Whether the request comes from an own page that was opened without https, where browsers keep no cookies.
bool LacksHttps(HttpRequest request)
{
    var isLoopback = request.Host.Host is "localhost" or "[::1]" || request.Host.Host.EndsWith(".localhost")
        || IPAddress.TryParse(request.Host.Host, out var address) && IPAddress.IsLoopback(address);
    return !isLoopback && request.Headers.Origin == $"http://{request.Host}";
}

// A cookie of the request; empty if a page of another site may change something with it.
string Cookie(HttpContext context, string name)
{
    var isSafe = HttpMethods.IsGet(context.Request.Method) || HttpMethods.IsHead(context.Request.Method);
    return isSafe || !IsForeign(context) ? context.Request.Cookies[name] ?? "" : "";
}

string? Bearer(HttpContext context)
{
    var shown = Regex.Match(context.Request.Headers.Authorization.ToString().Trim(), @"^Bearer(?:[ \t]+(.*))?$", RegexOptions.IgnoreCase);
    return shown.Success ? shown.Groups[1].Value : null;
}

bool CanRenew(HttpContext context) => Bearer(context) is null && Cookie(context, Refresh) != "";

IResult LoggedIn(HttpContext context, JsonObject tokens, bool inBody)
{
    if (inBody)
        return Answer(context, tokens, "identity_id", "expires_in", "access_token", "refresh_token", "refresh_expires_in", "device");
    SetTokens(context, tokens);
    return Answer(context, tokens, "identity_id", "expires_in");
}

IResult Answer(HttpContext context, JsonObject from, params string[] fields)
{
    context.Response.Headers.CacheControl = "no-store";
    return Results.Json(new JsonObject(fields.Where(from.ContainsKey).Select(field => KeyValuePair.Create(field, from[field]?.DeepClone()))));
}

void SetTokens(HttpContext context, JsonObject tokens)
{
    Set(context, Access, (string)tokens["access_token"]!, (int)tokens["expires_in"]!);
    Set(context, Refresh, (string)tokens["refresh_token"]!, (int)tokens["refresh_expires_in"]!);
}

void Clear(HttpContext context)
{
    Set(context, Access, "", 0);
    Set(context, Refresh, "", 0);
}

void Set(HttpContext context, string name, string value, int seconds) =>
    context.Response.Headers.Append("Set-Cookie",
        $"{name}={value}; Max-Age={seconds}; Path=/; Secure; HttpOnly; SameSite={(name is Otp or Device ? "Strict" : "Lax")}");
