package login

import (
	"net/netip"
	"sync"
	"time"
)

const (
	defaultSends = 30
	window       = 10 * time.Minute
	maxAddresses = 100_000
)

// limit allows each address so many sends in any ten minutes, an IPv6 network of 64 bits counting as one address. It
// remembers 100,000 addresses, and forgets the oldest sends beyond that.
type limit struct {
	most int
	now  func() time.Time

	mutex sync.Mutex
	// By address, each at most as long as most.
	sends map[netip.Addr][]time.Time
	// The addresses of all sends, in their order.
	order []netip.Addr
	// Sends of which it is not known yet whether they count.
	open map[netip.Addr]int
}

func newLimit(most int) *limit {
	return &limit{most: most, now: time.Now, sends: map[netip.Addr][]time.Time{}, open: map[netip.Addr]int{}}
}

// place is that of one send.
type place struct {
	limit   *limit
	address netip.Addr
	counts  bool
}

// take gives a place, or the refusal that says how long to wait for one.
func (l *limit) take(address netip.Addr) (*place, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	address = network(address)
	for len(l.order) > 0 && l.untilFree(l.order[0]) <= 0 {
		l.forgetOldest()
	}
	sends := l.sends[address]
	if len(sends)+l.open[address] >= l.most {
		refusal := *errTooManySends
		refusal.RetryAfter = l.untilFree(address)
		return nil, &refusal
	}
	l.open[address]++
	return &place{limit: l, address: address}, nil
}

// untilFree is a second where every place is taken by a send that is still open.
func (l *limit) untilFree(address netip.Addr) time.Duration {
	sends := l.sends[address]
	if len(sends) == 0 {
		return time.Second
	}
	return sends[0].Add(window).Sub(l.now())
}

func (l *limit) forgetOldest() {
	address := l.order[0]
	l.order = l.order[1:]
	if l.sends[address] = l.sends[address][1:]; len(l.sends[address]) == 0 {
		delete(l.sends, address)
	}
}

// count keeps the place taken for ten minutes.
func (p *place) count() {
	if p != nil {
		p.counts = true
	}
}

func (p *place) leave() {
	if p == nil {
		return
	}
	l := p.limit
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.open[p.address]--; l.open[p.address] == 0 {
		delete(l.open, p.address)
	}
	if !p.counts {
		return
	}
	for len(l.sends) >= maxAddresses && l.sends[p.address] == nil {
		l.forgetOldest()
	}
	l.sends[p.address] = append(l.sends[p.address], l.now())
	l.order = append(l.order, p.address)
}

func network(address netip.Addr) netip.Addr {
	address = address.Unmap().WithZone("")
	if address.Is6() {
		prefix, _ := address.Prefix(64)
		return prefix.Addr()
	}
	return address
}
