package login

import (
	"regexp"
	"strings"
)

var (
	// Scheme, host, port.
	originParts = regexp.MustCompile(
		`^(https?)://((?:[a-z0-9_-]+\.)*[a-z0-9_-]+|\[[0-9a-f:]+\])(?::([1-9][0-9]{0,4}))?$`)
	loopback = regexp.MustCompile(`^(?:(?:.+\.)?localhost|127(?:\.(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])){3}|\[::1\])(?::[0-9]+)?$`)
)

// isLoopback says whether browsers keep Secure cookies of this host over plain http; a port may follow it.
func isLoopback(host string) bool { return loopback.MatchString(host) }

// checkOrigins refuses an origin that is not in the form in which browsers send it, or whose pages cannot keep the
// cookies. clients/login/README.md has the rule.
func checkOrigins(origins []string) error {
	if len(origins) == 0 {
		return argumentError("origins must be a list of at least one, such as https://shop.example")
	}
	for _, origin := range origins {
		if fault := originFault(origin); fault != "" {
			return argumentError(`origins: "` + origin + `" ` + fault)
		}
	}
	return nil
}

func originFault(origin string) string {
	parts := originParts.FindStringSubmatch(origin)
	switch {
	case strings.HasPrefix(origin, "capacitor:"), strings.HasPrefix(origin, "ionic:"):
		return "is an app, whose web view keeps no cookies of yours: let it call by native HTTP, such as CapacitorHttp"
	case parts == nil, parts[1] == "https" && parts[3] == "443", parts[1] == "http" && parts[3] == "80":
		return "is not an origin as browsers send it, such as https://shop.example"
	case parts[1] == "http" && !isLoopback(parts[2]):
		return "is plain http, of which browsers keep no login, but for loopback such as http://localhost:3000"
	}
	return ""
}
