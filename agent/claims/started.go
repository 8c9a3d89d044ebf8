package claims

import "time"

// slackOfStart is how much later than said a process may have been started:
// agents say their times in whole seconds, and rounded.
const slackOfStart = 3 * time.Second

// startedAfter reports whether a process is known to have been started later
// than said. A zero time says nothing, and neither does a process that cannot
// be looked at.
func startedAfter(pid int, said time.Time) bool {
	if said.IsZero() {
		return false
	}
	at, ok := started(pid)
	return ok && at.After(said.Add(slackOfStart))
}
