<?php

namespace App\Dwar;

/** Why a call of the login contract failed, as the page or the app is told. */
final class Refused extends \RuntimeException
{
    /** Refusals that the person can correct. Every other refusal of the service is shown as `LOGIN_UNAVAILABLE`. */
    private const FOR_PEOPLE = [
        'INVALID_PHONE', 'INVALID_OTP_CODE', 'INVALID_OTP', 'OTP_NOT_FOUND', 'OTP_RATE_LIMITED', 'PROOF_REQUIRED',
        'VERIFY_RATE_LIMITED', 'SESSION_EXPIRED',
    ];

    private const SENTENCES = [
        'NOT_FOUND' => 'There is no such resource.',
        'METHOD_NOT_ALLOWED' => 'The resource does not support this method.',
        'ORIGIN_REFUSED' => 'This page may not log in here.',
        'HTTPS_REQUIRED' => 'Open this page with https to log in: without it the browser does not keep the login.',
        'UNSUPPORTED_MEDIA_TYPE' => 'The body must be JSON.',
        'PAYLOAD_TOO_LARGE' => 'The body is too large.',
        'INVALID_REQUEST' => 'The request cannot be read.',
        'INVALID_PHONE' => 'The phone number is not a valid Indian mobile number.',
        'OTP_NOT_FOUND' => 'There is no active code for this phone number.',
        'SESSION_EXPIRED' => 'The refresh token is expired or invalid.',
        'TOO_MANY_SENDS' => 'Too many codes were requested from this address.',
        'LOGIN_UNAVAILABLE' => 'Login is not possible at the moment.',
    ];

    /** `$refusedBy` is the code of the service, if it refused. */
    public function __construct(
        public readonly int $status,
        public readonly string $reason,
        public readonly array $said = [],
        public readonly string $retryAfter = '',
        public readonly string $refusedBy = '',
    ) {
        parent::__construct($reason);
    }

    /** The refusal for an answer of the service, or `LOGIN_UNAVAILABLE`. */
    public static function of(int $status, array $said, string $retryAfter): self
    {
        $code = is_string($said['code'] ?? null) ? $said['code'] : '';
        return in_array($code, self::FOR_PEOPLE, true)
            ? new self($status, $code, array_intersect_key($said, ['error' => 1, 'request_id' => 1]), $retryAfter, $code)
            : new self(503, 'LOGIN_UNAVAILABLE', [], $retryAfter, $code);
    }

    public function body(): array
    {
        return ['code' => $this->reason] + $this->said + ['error' => self::SENTENCES[$this->reason]];
    }

    public function headers(): array
    {
        return $this->retryAfter === '' ? [] : ['Retry-After' => $this->retryAfter];
    }
}
