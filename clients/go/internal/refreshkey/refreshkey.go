// Package refreshkey makes the Idempotency-Key of a refresh.
package refreshkey

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"
)

const minSecretLength = 32

// Of makes the keys of refresh tokens under a secret of the backend: the same in all its processes and in clients of
// other languages, and of no use to a thief of a refresh token. It is nil if the secret is shorter than 32 characters.
func Of(secret string) func(refreshToken string) string {
	if utf8.RuneCountInString(secret) < minSecretLength {
		return nil
	}
	return func(refreshToken string) string {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(refreshToken))
		return hex.EncodeToString(mac.Sum(nil))
	}
}
