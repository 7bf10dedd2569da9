<?php

namespace App\Dwar;

use Illuminate\Http\JsonResponse;
use Illuminate\Http\Request;
use Illuminate\Http\Response;
use Illuminate\Support\Facades\Cache;

/** The login contract of Dwar (clients/login/README.md): four endpoints for a login form and for apps. */
final class LoginController
{
    private const LONGEST_BODY = 16 * 1024;

    /** How many codes one address may request in ten minutes. Raise it if many people log in behind one address. */
    private const SENDS_PER_ADDRESS = 30;

    private const DEVICE_SECONDS = 180 * 86_400;

    public function __construct(private Dwar $dwar, private LoginCookies $cookies)
    {
    }

    public function __invoke(Request $request, string $step): JsonResponse|Response
    {
        try {
            if (!in_array($step, ['send', 'verify', 'refresh', 'logout'], true)) {
                throw new Refused(404, 'NOT_FOUND');
            }
            return $this->$step($request, $this->body($request))->header('Cache-Control', 'no-store');
        } catch (Refused $refused) {
            $answer = new JsonResponse($refused->body(), $refused->status, $refused->headers());
            $cookies = $refused->reason === 'SESSION_EXPIRED' ? LoginCookies::cleared() : [];
            return $this->with($answer, $cookies)->header('Cache-Control', 'no-store');
        }
    }

    private function send(Request $request, array $body): JsonResponse
    {
        $phone = $this->phone($body);
        $uncount = $this->counted($request->ip());
        try {
            $wanted = ['phone' => $phone] + $this->visitor($request, $body) + $this->device($request, $body);
            $sent = $this->dwar->call('/v1/otp/send', $wanted, 'otp_id');
        } catch (Refused $refused) {
            $uncount();
            throw $refused;
        }
        $answer = new JsonResponse(array_intersect_key($sent, ['otp_id' => 1, 'expires_in' => 1]));
        return $this->with($answer, [LoginCookies::made(LoginCookies::OTP, $sent['otp_id'], $sent['expires_in'])]);
    }

    private function verify(Request $request, array $body): JsonResponse
    {
        $inBody = $this->wantsTokens($request, $body);
        $guess = [
            'phone' => $this->phone($body),
            'code' => $this->text($body, 'code'),
            'otp_id' => $this->credential($request, $body, 'otp_id', LoginCookies::OTP),
        ];
        if ($guess['otp_id'] === '') {
            throw new Refused(400, 'OTP_NOT_FOUND');
        }
        $tokens = $this->dwar->call('/v1/otp/verify', $guess + $this->device($request, $body), 'access_token');
        if (!self::isDevice($tokens['device'] ?? null)) {
            unset($tokens['device']);
        }
        $cookies = [LoginCookies::made(LoginCookies::OTP, '', 0)];
        if (isset($tokens['device'])) {
            // It stays after the logout: the next login is that of a known device.
            $cookies[] = LoginCookies::made(LoginCookies::DEVICE, $tokens['device'], self::DEVICE_SECONDS);
        }
        return $this->loggedIn($tokens, $inBody, $cookies);
    }

    private function refresh(Request $request, array $body): JsonResponse
    {
        $inBody = $this->wantsTokens($request, $body);
        $token = $this->credential($request, $body, 'refresh_token', LoginCookies::REFRESH);
        return $this->loggedIn($this->dwar->refresh($token), $inBody);
    }

    private function logout(Request $request, array $body): Response
    {
        $access = $this->credential($request, $body, 'access_token', LoginCookies::ACCESS);
        $refresh = $this->credential($request, $body, 'refresh_token', LoginCookies::REFRESH);
        try {
            if (!$this->ends($access) && $refresh !== '') {
                $this->ends($this->dwar->refresh($refresh)['access_token']);
            }
        } catch (Refused $refused) {
            if ($refused->reason !== 'SESSION_EXPIRED') {
                throw $refused;
            }
        }
        return $this->with(new Response('', 204), $this->cookies->isPage($request) ? LoginCookies::cleared() : []);
    }

    /** Ends the session of an access token; false if the token is not valid. */
    private function ends(string $access): bool
    {
        if ($access === '') {
            return false;
        }
        try {
            $this->dwar->call('/v1/session/logout', ['access_token' => $access], 'revoked');
            return true;
        } catch (Refused $refused) {
            if ($refused->refusedBy !== 'INVALID_ACCESS_TOKEN') {
                throw $refused;
            }
            return false;
        }
    }

    /** Ask the vendor of your captcha here whether this answer to it is good. */
    private function proves(Request $request, string $proof): bool
    {
        return false;
    }

    /**
     * What the service is told about the person. Only `proves` says that a proof is good: whatever a page or an app sends
     * under these names is ignored.
     */
    private function visitor(Request $request, array $body): array
    {
        $proof = $this->text($body, 'proof');
        $visitor = array_filter([
            'address' => self::network($request->ip()) === null ? null : $request->ip(),
            'trusted' => $proof !== '' && $this->proves($request, $proof),
        ]);
        return $visitor === [] ? [] : ['visitor' => $visitor];
    }

    /** The device of an earlier login of this browser or app. */
    private function device(Request $request, array $body): array
    {
        $device = $this->credential($request, $body, 'device', LoginCookies::DEVICE);
        return self::isDevice($device) ? ['device' => $device] : [];
    }

    /** A text of bounded size that a cookie holds as it is. */
    private static function isDevice(mixed $value): bool
    {
        return is_string($value) && preg_match('~^[A-Za-z0-9._\~+/=-]{1,512}$~D', $value) === 1;
    }

    /** The body, after checks of origin, type, size and format, in this order. */
    private function body(Request $request): array
    {
        if ($this->cookies->isForeign($request)) {
            throw new Refused(403, $this->cookies->lacksHttps($request) ? 'HTTPS_REQUIRED' : 'ORIGIN_REFUSED');
        }
        $type = strtolower(trim(explode(';', $request->headers->get('Content-Type', ''))[0]));
        if ($type !== 'application/json') {
            throw new Refused(415, 'UNSUPPORTED_MEDIA_TYPE');
        }
        $text = $request->getContent();
        if (strlen($text) > self::LONGEST_BODY) {
            throw new Refused(413, 'PAYLOAD_TOO_LARGE');
        }
        $body = json_decode($text, true);
        if (!is_array($body) || !str_starts_with(ltrim($text), '{')) {
            throw new Refused(400, 'INVALID_REQUEST');
        }
        return $body;
    }

    /** Whether the tokens go into the body: only for an app, since no script of a page may read a token. */
    private function wantsTokens(Request $request, array $body): bool
    {
        $wants = ($body['tokens'] ?? null) === 'body';
        if ($wants && $this->cookies->isPage($request)) {
            throw new Refused(403, 'ORIGIN_REFUSED');
        }
        return $wants;
    }

    /** The cookie of a page, or the field in the body of an app. */
    private function credential(Request $request, array $body, string $field, string $cookie): string
    {
        return $this->cookies->isPage($request)
            ? $this->cookies->get($request, $cookie)
            : $this->text($body, $field);
    }

    private function text(array $body, string $field): string
    {
        return is_string($body[$field] ?? null) ? $body[$field] : '';
    }

    private function phone(array $body): string
    {
        $phone = $this->text($body, 'phone');
        return preg_match('/^\+?[0-9]+$/D', $phone) ? $phone : throw new Refused(422, 'INVALID_PHONE');
    }

    private function loggedIn(array $tokens, bool $inBody, array $cookies = []): JsonResponse
    {
        $fields = ['identity_id', 'expires_in', ...($inBody ? ['access_token', 'refresh_token', 'refresh_expires_in', 'device'] : [])];
        $answer = new JsonResponse(array_intersect_key($tokens, array_flip($fields)));
        return $this->with($answer, $inBody ? [] : [...LoginCookies::ofTokens($tokens), ...$cookies]);
    }

    private function with(JsonResponse|Response $answer, array $cookies): JsonResponse|Response
    {
        foreach ($cookies as $cookie) {
            $answer->headers->setCookie($cookie);
        }
        return $answer;
    }

    /**
     * The network that is counted as one: an IPv4 address, also one that is written as IPv6, or the /64 of an IPv6 one.
     */
    public static function network(?string $ip): ?string
    {
        if (filter_var($ip, FILTER_VALIDATE_IP) === false) {
            return null;
        }
        $address = inet_pton($ip);
        if (str_starts_with($address, "\0\0\0\0\0\0\0\0\0\0\xff\xff")) {
            return bin2hex(substr($address, 12));
        }
        return bin2hex(substr($address, 0, 8));
    }

    /** Counts a send from this address, an IPv6 one by its /64, and returns a function that takes it back. */
    private function counted(?string $ip): callable
    {
        $network = self::network($ip);
        if ($network === null) {
            return static fn () => null;
        }
        $key = "dwar.sends.$network";
        $mine = microtime(true);
        $change = static fn (callable $how) => Cache::lock("$key.lock", 10)->block(10, static function () use ($key, $how) {
            $recent = array_filter(Cache::get($key, []), static fn (float $at) => $at > microtime(true) - 600);
            Cache::put($key, $how($recent), 600);
        });
        $change(static function (array $recent) use ($mine): array {
            if (count($recent) >= self::SENDS_PER_ADDRESS) {
                throw new Refused(429, 'TOO_MANY_SENDS', [], (string) max(1, (int) ceil(min($recent) + 600 - $mine)));
            }
            return [...$recent, $mine];
        });
        return static fn () => $change(static function (array $recent) use ($mine): array {
            $at = array_search($mine, $recent, true);
            if ($at !== false) {
                unset($recent[$at]);
            }
            return array_values($recent);
        });
    }
}
