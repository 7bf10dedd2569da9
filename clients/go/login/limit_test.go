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
	_, err := c.take(netip.MustParseAddr(address))
	if refusal := new(Refusal); errors.As(err, &refusal) {
		return refusal.RetryAfter
	}
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

func TestASendThatWasNoneLeavesItsPlace(t *testing.T) {
	c := newClock()
	address := netip.MustParseAddr("192.0.2.1")
	for range 4 {
		c.sent("192.0.2.1")
	}
	for range 5 {
		giveBack, err := c.take(address)
		if err != nil {
			t.Fatal(err)
		}
		if wait := c.sent("192.0.2.1"); wait != window {
			t.Errorf("beside a send that is under way a sixth waits %v", wait)
		}
		giveBack()
	}
	if c.sent("192.0.2.1") != 0 || c.sent("192.0.2.1") == 0 {
		t.Error("four sends and one are not five")
	}
}

func TestAHundredThousandAddressesAreRemembered(t *testing.T) {
	c := newClock()
	first := netip.MustParseAddr("10.0.0.0")
	address := first
	for range maxAddresses {
		c.sent(address.String())
		address, c.at = address.Next(), c.at.Add(time.Millisecond)
	}
	c.sent(first.String())
	c.sent(address.String())
	if len(c.sends) != maxAddresses || len(c.sends[first]) != 2 || c.sends[first.Next()] != nil {
		t.Errorf("%d addresses, %d sends of the first, which has sent again", len(c.sends), len(c.sends[first]))
	}
	c.at = c.at.Add(window)
	c.sent("192.0.2.1")
	if len(c.sends) != 1 {
		t.Errorf("%d addresses are remembered for ever", len(c.sends))
	}
}
