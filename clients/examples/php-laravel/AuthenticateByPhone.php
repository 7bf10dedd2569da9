<?php

namespace App\Dwar;

use Closure;
use Illuminate\Http\JsonResponse;
use Illuminate\Http\Request;
use Symfony\Component\HttpFoundation\Response;

/**
 * Middleware for pages that require a login: `$request->attributes->get('identity_id')` is the person.
 *
 * It renews the session of a page whose access token has expired. With the parameter `claims` it renews nothing, for
 * answers that carry no cookies.
 */
final class AuthenticateByPhone
{
    public function __construct(private Dwar $dwar, private LoginCookies $cookies)
    {
    }

    public function handle(Request $request, Closure $next, string $how = 'renew'): Response
    {
        $token = $this->cookies->bearer($request) ?? $this->cookies->get($request, LoginCookies::ACCESS);
        $claims = $this->dwar->claims($token);
        $canRenew = $claims === null && $this->cookies->canRenew($request);
        $renewed = [];
        try {
            if ($canRenew && $how === 'renew') {
                $tokens = $this->dwar->refresh($this->cookies->get($request, LoginCookies::REFRESH));
                $claims = $this->dwar->claims($tokens['access_token']);
                $renewed = LoginCookies::ofTokens($tokens);
            }
        } catch (Refused $refused) {
            // Without an answer of the service the login state is unknown: that is an error, not a logout.
            if ($refused->reason !== 'SESSION_EXPIRED') {
                return new JsonResponse($refused->body(), $refused->status, $refused->headers());
            }
            $renewed = LoginCookies::cleared();
        }
        $request->attributes->set('identity_id', $claims['sub'] ?? null);
        $help = $canRenew && $how !== 'renew' ? 'Bearer error="invalid_token"' : 'Bearer';
        $answer = $claims === null ? new JsonResponse(null, 401, ['WWW-Authenticate' => $help]) : $next($request);
        foreach ($renewed as $cookie) {
            $answer->headers->setCookie($cookie);
            $answer->headers->set('Cache-Control', 'no-store');
        }
        return $answer;
    }
}
