package fdwait

// A side is one of the two things a Waiter can wait for.
type side uint8

const (
	reading side = iota // a read will not block
	writing             // a write will not block
	numSides
)

// sides is a set of side.
type sides uint8

const (
	readSide  sides = 1 << reading
	writeSide sides = 1 << writing
	bothSides       = readSide | writeSide
)

func (s side) bit() sides { return 1 << s }

// A token names one registration. Tokens count up, so an event that was taken
// from the kernel before its Waiter was closed never matches the Waiter that
// has the same descriptor number now. 0 is the wake-up of the loop.
type token uintptr

// A registration is what a backend knows about one Waiter. The Waiter's lock
// guards it.
type registration struct {
	token    token
	fd       int
	device   bool      // a character device; set by add
	hasWrite bool      // kqueue: the write filter has been added
	row      [1]pollFD // poll: scratch of arm, here so that a Wait allocates nothing
}

// An event says what became of one registration.
type event struct {
	token token
	ready sides // sides that will not block now
	spent sides // sides the kernel watches no longer, ready or not
	err   error // the registration failed; never readiness, never end of file
}

// A backend is one way to wait in the kernel for many descriptors.
//
// wait is called by the loop alone. Every other method may be called from any
// goroutine while wait blocks; none of them blocks.
type backend interface {
	// mechanism is the word shown to people: epoll, kqueue, poll.
	mechanism() string

	// add registers r for nothing yet. always means that the kernel does not
	// watch this file because it never blocks; such a file is not registered.
	add(r *registration) (always bool, err error)

	// arm asks for one event for the sides in want, in place of what was asked
	// before. A side that is ready is reported even when it became so before.
	// A backend that asks the kernel itself returns what is ready at once and
	// watches the rest.
	arm(r *registration, want sides) (ready sides, err error)

	// remove undoes add. Events already taken from the kernel may still come.
	remove(r *registration) error

	// wait fills out and returns how many it filled, after at least one event,
	// after wake, or at once when block is false. full means that the kernel
	// may have more to say. Interruption by a signal is not an error.
	wait(out []event, block bool) (n int, full bool, err error)

	// wake makes the current or the next wait return.
	wake() error

	// asks reports that arm itself asks the kernel, so that a deadline needs
	// no round of the loop to know the truth.
	asks() bool

	// close gives the backend's own descriptors back. No other call follows.
	close() error
}
