package journal

import (
	"errors"
	"os"
)

// OwnerOf is the process with this number as it is now. Began is 0 when that
// cannot be told.
func OwnerOf(pid int) Owner {
	at, err := began(pid)
	if err != nil {
		at = 0
	}
	return Owner{PID: pid, Began: at}
}

// Gone reports whether the process has surely ended: there is none with its
// number, or one that was started at another time. What cannot be told is not
// gone.
func (o Owner) Gone() bool {
	if o.PID <= 0 {
		return false
	}
	at, err := began(o.PID)
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	return o.Began != 0 && at != o.Began
}

// Gone returns those of the owners that have ended. It asks the system, so a
// window calls it outside of Update.
func Gone(owners []Owner) []Owner {
	var gone []Owner
	for _, o := range owners {
		if o.Gone() {
			gone = append(gone, o)
		}
	}
	return gone
}
