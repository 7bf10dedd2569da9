package dwar

import "time"

// elapsedTime measures elapsed time, for one goroutine at a time. A clock that is set back does not reduce it, and time
// counts during which the machine slept, unlike with many monotonic clocks.
func elapsedTime(wallNow func() time.Time) func() time.Duration {
	var elapsed time.Duration
	// Round removes the monotonic reading.
	lastWall, lastMonotonic := wallNow().Round(0), time.Now()
	return func() time.Duration {
		wall, monotonic := wallNow().Round(0), time.Now()
		elapsed += max(wall.Sub(lastWall), monotonic.Sub(lastMonotonic))
		lastWall, lastMonotonic = wall, monotonic
		return elapsed
	}
}
