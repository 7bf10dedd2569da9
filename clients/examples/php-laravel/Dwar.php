<?php

// The calls to Dwar, and the check of its access tokens. Needs ext-openssl and Laravel's HTTP client and cache.

namespace App\Dwar;

use Illuminate\Http\Client\ConnectionException;
use Illuminate\Support\Facades\Cache;
use Illuminate\Support\Facades\Http;

final class Dwar
{
    public function __construct(
        private string $url,
        private string $apiKey,
        private string $projectId,
        private string $secret,
        private string $mode = 'live',
        private string $issuer = 'dwar',
    ) {
        if (strlen($secret) < 32) {
            throw new \InvalidArgumentException('the secret must have 32 characters or more');
        }
    }

    /** The answer of the service, if it has `$field`; otherwise throws a refusal. Calls are not repeated. */
    public function call(string $path, array $body, string $field, array $headers = []): array
    {
        try {
            $answer = Http::withHeaders(['X-Api-Key' => $this->apiKey] + $headers)
                ->withOptions(['allow_redirects' => false])
                ->timeout(10)
                ->post($this->url . $path, $body);
        } catch (ConnectionException) {
            throw new Refused(503, 'LOGIN_UNAVAILABLE');
        }
        $said = $answer->json();
        if ($answer->status() === 200 && isset($said[$field])) {
            return $said;
        }
        throw Refused::of($answer->status(), is_array($said) ? $said : [], $answer->header('Retry-After'));
    }

    /**
     * A new pair for a refresh token. Tabs that refresh at the same time, also in other processes, get the same pair.
     */
    public function refresh(string $token): array
    {
        if ($token === '') {
            throw new Refused(401, 'SESSION_EXPIRED');
        }
        $key = hash_hmac('sha256', $token, $this->secret);
        $body = ['refresh_token' => $token];
        return $this->call('/v1/session/refresh', $body, 'access_token', ['Idempotency-Key' => $key]);
    }

    /** The claims of an access token, or null if it is not a valid one of this project and mode. */
    public function claims(string $token): ?array
    {
        $parts = explode('.', $token);
        if (count($parts) !== 3) {
            return null;
        }
        $header = json_decode(self::decoded($parts[0]), true);
        $signature = self::decoded($parts[2]);
        if (!is_array($header) || ($header['alg'] ?? '') !== 'ES256' || strlen($signature) !== 64) {
            return null;
        }
        $type = strtolower(is_string($header['typ'] ?? null) ? $header['typ'] : '');
        $key = is_string($header['kid'] ?? null) ? $this->key($header['kid']) : null;
        if (!in_array($type, ['at+jwt', 'application/at+jwt'], true) || $key === null) {
            return null;
        }
        $signed = "$parts[0].$parts[1]";
        if (openssl_verify($signed, self::der($signature), $key, OPENSSL_ALGO_SHA256) !== 1) {
            return null;
        }
        $claims = json_decode(self::decoded($parts[1]), true);
        $expected = ['iss' => $this->issuer, 'client_id' => $this->projectId, 'mode' => $this->mode];
        $matches = is_array($claims) && array_intersect_assoc($expected, $claims) === $expected
            && in_array($this->projectId, (array) ($claims['aud'] ?? []), true)
            && is_int($claims['exp'] ?? null) && $claims['exp'] > time() - 30;
        return $matches ? $claims : null;
    }

    /**
     * The public key of this id, in PEM. Keys are cached for five minutes, and fetched for an unknown id once a minute.
     */
    private function key(string $kid): ?string
    {
        $kept = Cache::get('dwar.keys', ['at' => 0, 'keys' => []]);
        $isOld = $kept['at'] < time() - 300;
        if (($isOld || !isset($kept['keys'][$kid])) && Cache::add('dwar.keys.asked', true, $isOld ? 5 : 60)) {
            try {
                $found = Http::timeout(5)->get($this->url . '/.well-known/jwks.json')->throw()->json('keys');
                $kept = ['at' => time(), 'keys' => array_map(self::pem(...), array_column($found, null, 'kid'))];
                Cache::put('dwar.keys', $kept, 3600);
            } catch (\Exception) {
                // The cached keys are used for an hour at most.
            }
        }
        return $kept['keys'][$kid] ?? null;
    }

    /** An EC key of P-256 (RFC 7517) as SubjectPublicKeyInfo (RFC 5480). */
    private static function pem(array $key): ?string
    {
        if (($key['crv'] ?? '') !== 'P-256') {
            return null;
        }
        $prefix = hex2bin('3059301306072a8648ce3d020106082a8648ce3d03010703420004');
        $der = base64_encode($prefix . self::decoded($key['x']) . self::decoded($key['y']));
        return "-----BEGIN PUBLIC KEY-----\n" . chunk_split($der, 64, "\n") . "-----END PUBLIC KEY-----\n";
    }

    /** A signature of a JWT (RFC 7518 section 3.4) as OpenSSL reads it: two integers in ASN.1. */
    private static function der(string $signature): string
    {
        $integer = static function (string $half): string {
            $value = ltrim($half, "\0");
            $value = $value === '' || ord($value[0]) > 127 ? "\0" . $value : $value;
            return "\x02" . chr(strlen($value)) . $value;
        };
        $both = $integer(substr($signature, 0, 32)) . $integer(substr($signature, 32));
        return "\x30" . chr(strlen($both)) . $both;
    }

    private static function decoded(string $text): string
    {
        return (string) base64_decode(strtr($text, '-_', '+/'), true);
    }
}
