package login

import (
	"net/netip"
	"slices"
	"sync"
	"time"
)

const (
	defaultSends = 30
	window       = 10 * time.Minute
	maxAddresses = 100_000
)

// limit allows each address so many sends in any ten minutes, an IPv6 network of 64 bits counting as one address. It
// remembers 100,000 addresses; above that it forgets the one that has not sent for the longest time.
type limit struct {
	most int
	now  func() time.Time

	mutex sync.Mutex
	sends map[netip.Addr][]time.Time
}

func newLimit(most int) *limit {
	return &limit{most: most, now: time.Now, sends: map[netip.Addr][]time.Time{}}
}

// take counts a send, or refuses it and says how long to wait. giveBack takes back a send that failed.
func (l *limit) take(address netip.Addr) (giveBack func(), err error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	address, now := network(address), l.now()
	if len(l.sends) >= maxAddresses && l.sends[address] == nil {
		l.forget(now)
	}
	sends := slices.DeleteFunc(l.sends[address], func(at time.Time) bool { return now.Sub(at) >= window })
	if len(sends) >= l.most {
		refusal := *errTooManySends
		refusal.RetryAfter = sends[0].Add(window).Sub(now)
		return nil, &refusal
	}
	l.sends[address] = append(sends, now)
	return func() { l.giveBack(address, now) }, nil
}

func (l *limit) giveBack(address netip.Addr, at time.Time) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if index := slices.Index(l.sends[address], at); index >= 0 {
		l.sends[address] = slices.Delete(l.sends[address], index, index+1)
	}
}

func (l *limit) forget(now time.Time) {
	oldest, oldestAt := netip.Addr{}, now
	for address, sends := range l.sends {
		if len(sends) == 0 || now.Sub(sends[len(sends)-1]) >= window {
			delete(l.sends, address)
		} else if last := sends[len(sends)-1]; !last.After(oldestAt) {
			oldest, oldestAt = address, last
		}
	}
	if len(l.sends) >= maxAddresses {
		delete(l.sends, oldest)
	}
}

func network(address netip.Addr) netip.Addr {
	address = address.Unmap().WithZone("")
	if address.Is6() {
		prefix, _ := address.Prefix(64)
		return prefix.Addr()
	}
	return address
}
