package login

import (
	"errors"
	"net/netip"
	"testing"
	"time"
)

// clock is a limit whose time stands still until it is moved.
type clock struct {
	*limit
	at time.Time
}

func newClock() *clock {
	c := &clock{limit: newLimit(5), at: time.Unix(1_800_000_000, 0)}
	c.now = func() time.Time { return c.at }
	return c
}

// sent says how long an address has to wait, 0 if its send was admitted.
func (c *clock) sent(address string) time.Duration {
	place, err := c.take(netip.MustParseAddr(address))
	if refusal := new(Refusal); errors.As(err, &refusal) {
		return refusal.RetryAfter
	}
	place.count()
	place.leave()
	return 0
}

func TestFiveSendsInAnyTenMinutes(t *testing.T) {
	c := newClock()
	for range 5 {
		if wait := c.sent("192.0.2.1"); wait != 0 {
			t.Fatalf("refused for %v", wait)
		}
		c.at = c.at.Add(time.Minute)
	}
	if wait := c.sent("192.0.2.1"); wait != 5*time.Minute {
		t.Errorf("the sixth waits %v", wait)
	}
	if wait := c.sent("192.0.2.2"); wait != 0 {
		t.Errorf("another address waits %v", wait)
	}
	c.at = c.at.Add(5 * time.Minute)
	if wait := c.sent("192.0.2.1"); wait != 0 {
		t.Errorf("after ten minutes it waits %v", wait)
	}
	if wait := c.sent("192.0.2.1"); wait != time.Minute {
		t.Errorf("the next one waits %v", wait)
	}
}

func TestANetworkOfIPv6IsOneAddress(t *testing.T) {
	c := newClock()
	for _, end := range []string{"1", "2", "3%eth0", "ffff:1", "ffff:ffff:ffff:ffff"} {
		c.sent("2001:db8::" + end)
	}
	if c.sent("2001:db8::5") == 0 {
		t.Error("a sixth address of the network was admitted")
	}
	if c.sent("2001:db8:0:1::1") != 0 {
		t.Error("another network was refused")
	}
	for range 5 {
		c.sent("192.0.2.1")
	}
	if c.sent("::ffff:192.0.2.1") == 0 {
		t.Error("an IPv4 address in IPv6 was taken for another one")
	}
}

func TestSendsThatAreOpenHoldTheirPlaces(t *testing.T) {
	c := newClock()
	address := netip.MustParseAddr("192.0.2.1")
	places := make([]*place, 5)
	for i := range places {
		places[i], _ = c.take(address)
	}
	if wait := c.sent("192.0.2.1"); wait != time.Second {
		t.Errorf("a sixth at once waits %v", wait)
	}
	places[0].leave()
	if wait := c.sent("192.0.2.1"); wait != 0 {
		t.Errorf("a send that does not count still holds its place for %v", wait)
	}
}

func TestAHundredThousandAddressesAreRemembered(t *testing.T) {
	c := newClock()
	address := netip.MustParseAddr("10.0.0.0")
	for range maxAddresses + 1 {
		for range 2 {
			c.sent(address.String())
		}
		address = address.Next()
	}
	if len(c.sends) != maxAddresses || len(c.order) != 2*maxAddresses {
		t.Errorf("%d addresses, %d sends", len(c.sends), len(c.order))
	}
	if len(c.sends[netip.MustParseAddr("10.0.0.0")]) != 0 {
		t.Error("the oldest was not forgotten")
	}
	c.at = c.at.Add(window)
	c.sent("192.0.2.1")
	if len(c.sends) != 1 || len(c.order) != 1 || len(c.open) != 0 {
		t.Errorf("%d addresses, %d sends, %d open", len(c.sends), len(c.order), len(c.open))
	}
}
