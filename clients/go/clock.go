package dwar

import "time"

// elapsedTime measures time that has passed, for one goroutine at a time. A clock that is set back takes nothing away, and
// the time that a machine slept counts, for which many monotonic clocks stand still.
func elapsedTime(wallNow func() time.Time) func() time.Duration {
	var elapsed time.Duration
	// Round takes the monotonic reading away.
	lastWall, lastMonotonic := wallNow().Round(0), time.Now()
	return func() time.Duration {
		wall, monotonic := wallNow().Round(0), time.Now()
		elapsed += max(wall.Sub(lastWall), monotonic.Sub(lastMonotonic))
		lastWall, lastMonotonic = wall, monotonic
		return elapsed
	}
}
