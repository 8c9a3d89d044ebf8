//go:build unix && !linux && !darwin && !freebsd

package fdwait

func native() []mechanism { return nil }
