<?php

namespace App\Dwar;

use Illuminate\Http\Request;
use Symfony\Component\HttpFoundation\Cookie;

/** The cookies of the login contract, and the requests whose cookies count. */
final class LoginCookies
{
    public const OTP = '__Host-dwar_otp';
    public const ACCESS = '__Host-dwar_access';
    public const REFRESH = '__Host-dwar_refresh';
    public const DEVICE = '__Host-dwar_device';

    /** @param string[] $origins those of your own pages, exactly: `https://shop.example` */
    public function __construct(private array $origins)
    {
        foreach ($origins as $origin) {
            $host = '[a-z0-9-]+(\.[a-z0-9-]+)*(:\d+)?';
            if (!preg_match("~^(https://$host|http://(localhost|127(\.\d+){3}|\[::1\])(:\d+)?)$~D", $origin)) {
                throw new \InvalidArgumentException("$origin is not an origin such as https://shop.example");
            }
        }
        if ($origins === []) {
            throw new \InvalidArgumentException('at least one origin has to be named');
        }
    }

    /** Whether the request comes from a page, not from an app. */
    public function isPage(Request $request): bool
    {
        return $request->headers->has('Origin') || $request->headers->has('Sec-Fetch-Site');
    }

    /** Whether the request comes from a page of another site. */
    public function isForeign(Request $request): bool
    {
        $origin = $request->headers->get('Origin');
        return $origin === null
            ? !in_array($request->headers->get('Sec-Fetch-Site'), [null, 'same-origin'], true)
            : !in_array($origin, $this->origins, true);
    }

    /** Whether the request comes from an own page that was opened without https, where browsers keep no cookies. */
    public function lacksHttps(Request $request): bool
    {
        $host = $request->headers->get('Host', '');
        $isLoopback = preg_match('~^(localhost|[^:]*\.localhost|127(\.\d+){3}|\[::1\])(:\d+)?$~D', $host);
        return !$isLoopback && $request->headers->get('Origin') === "http://$host";
    }

    /** A cookie of the request; empty if a page of another site may change something with it. */
    public function get(Request $request, string $name): string
    {
        $counts = $request->isMethodSafe() || !$this->isForeign($request);
        $value = $counts ? $request->cookies->all()[$name] ?? '' : '';
        return is_string($value) ? $value : '';
    }

    /** Whether a renewal may help a request without a login. */
    public function canRenew(Request $request): bool
    {
        return $this->bearer($request) === null && $this->get($request, self::REFRESH) !== '';
    }

    public function bearer(Request $request): ?string
    {
        $shown = trim($request->headers->get('Authorization', ''));
        return preg_match('/^Bearer(?:[ \t]+(.*))?$/i', $shown, $found) ? $found[1] ?? '' : null;
    }

    /** @return Cookie[] */
    public static function ofTokens(array $tokens): array
    {
        return [
            self::made(self::ACCESS, $tokens['access_token'], $tokens['expires_in']),
            self::made(self::REFRESH, $tokens['refresh_token'], $tokens['refresh_expires_in']),
        ];
    }

    /** @return Cookie[] that end the login */
    public static function cleared(): array
    {
        return [self::made(self::ACCESS, '', 0), self::made(self::REFRESH, '', 0)];
    }

    public static function made(string $name, string $value, int $seconds): Cookie
    {
        $sameSite = in_array($name, [self::OTP, self::DEVICE], true) ? 'strict' : 'lax';
        $until = $seconds === 0 ? 1 : time() + $seconds;
        // Symfony computes Max-Age from the expiry time; this keeps the number of the service.
        return new class ($name, $value, $until, '/', null, true, true, true, $sameSite, $seconds) extends Cookie {
            public function __construct(string $name, string $value, int $until, string $path, ?string $domain, bool $secure, bool $httpOnly, bool $raw, string $sameSite, private int $seconds)
            {
                parent::__construct($name, $value, $until, $path, $domain, $secure, $httpOnly, $raw, $sameSite);
            }

            public function getMaxAge(): int
            {
                return $this->seconds;
            }
        };
    }
}
