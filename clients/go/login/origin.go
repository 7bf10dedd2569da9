package login

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const port = `(?::([1-9][0-9]{0,4}))?$`

var (
	// Scheme, name or IPv4 address, IPv6 address, port.
	originParts = regexp.MustCompile(`^(https?)://(?:((?:[a-z0-9_-]+\.)*[a-z0-9_-]+)|\[([0-9a-f:]+)\])` + port)
	// A host whose last label is one is an IPv4 address to browsers (the URL standard, «ends in a number checker»).
	endsInNumber = regexp.MustCompile(`(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$`)
	loopback     = regexp.MustCompile(`^(?:localhost|.+\.localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])` + port)
	appParts     = regexp.MustCompile(`^(capacitor|ionic):`)
)

// isLoopback says whether browsers keep Secure cookies of this host over plain http; a port may follow it.
func isLoopback(host string) bool { return loopback.MatchString(host) }

// checkOrigins refuses what no browser sends as the origin of a page that can keep the cookies. clients/login/README.md has
// the rule.
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
	if appParts.MatchString(origin) {
		return "is an app, whose web view keeps no cookies of yours: let it call by native HTTP, such as CapacitorHttp"
	}
	parts := originParts.FindStringSubmatch(origin)
	if parts == nil || !isOrdinaryPort(parts[1], parts[4]) || !isHost(parts[2], parts[3]) {
		return "is no origin as browsers send it, such as https://shop.example"
	}
	if parts[1] == "http" && !isLoopback(strings.TrimPrefix(origin, "http://")) {
		return "is plain http, of which browsers keep no login, but for loopback such as http://localhost:3000"
	}
	return ""
}

func isOrdinaryPort(scheme, port string) bool {
	number, _ := strconv.Atoi(port)
	return number < 65536 && (scheme != "http" || number != 80) && (scheme != "https" || number != 443)
}

func isHost(name, ipv6 string) bool {
	if name == "" || endsInNumber.MatchString(name) {
		return isAddress(name + ipv6)
	}
	return !slices.ContainsFunc(strings.Split(name, "."), func(label string) bool {
		encoded, isEncoded := strings.CutPrefix(label, "xn--")
		return isEncoded && !isPunycode(encoded)
	})
}

// isAddress says whether an address is written as browsers write it.
func isAddress(text string) bool {
	address, err := netip.ParseAddr(text)
	return err == nil && address.String() == text && !address.Is4In6()
}
