package dwar

import "time"

// elapsedTime measures time that has passed. A clock that is set back takes nothing away, and the time that a machine
// slept counts, for which many monotonic clocks stand still.
type elapsedTime struct {
	wallNow   func() time.Time
	wall      time.Time
	monotonic time.Time
	elapsed   time.Duration
}

func newElapsedTime(wallNow func() time.Time) *elapsedTime {
	return &elapsedTime{wallNow: wallNow, wall: wallNow().Round(0), monotonic: time.Now()}
}

// now is for one goroutine at a time.
func (e *elapsedTime) now() time.Duration {
	// Round takes the monotonic reading away.
	wall, monotonic := e.wallNow().Round(0), time.Now()
	e.elapsed += max(wall.Sub(e.wall), monotonic.Sub(e.monotonic))
	e.wall, e.monotonic = wall, monotonic
	return e.elapsed
}
