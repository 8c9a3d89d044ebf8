//go:build unix && !linux

package fdwait

// runtimePolls cannot be known here: a kqueue does not tell who made it.
func runtimePolls() answer { return couldNotTell }
