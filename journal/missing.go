package journal

// Missing writes that events are missing here which never came to any journal,
// and why, in words: -1 is for a number that nobody knows. It is for those who
// learn of a loss that another process had. Unlike an event, what could not be
// written is not owed: the error tells it, and the caller may try again.
func (j *Journal) Missing(events int64, why string) error {
	return j.writeOne(gapLine(Gap{Events: events, Why: why}))
}
