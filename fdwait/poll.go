package fdwait

import (
	"errors"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// pollSlice bounds one call to poll. There is no descriptor to interrupt it
// with, so this is how long a newly armed Waiter may go unwatched after its own
// zero-time poll found nothing, and how long Poller.Close may take.
const pollSlice = 20 * time.Millisecond

// The event bits of poll, as Linux, macOS and FreeBSD number them.
const (
	pollIn   = 0x1
	pollOut  = 0x4
	pollErr  = 0x8
	pollHup  = 0x10
	pollNval = 0x20
)

// A pollFD is one row of what poll is asked.
type pollFD struct {
	fd      int
	events  int16
	revents int16
}

// A fileKind is what fstat says about a descriptor, as far as it matters here.
type fileKind uint8

const (
	kindOther   fileKind = iota // pipe, socket, anything the kernel made up
	kindRegular                 // regular file or directory: never blocks
	kindDevice                  // character device: a terminal, /dev/null
)

// A fileKernel tells what a descriptor is.
type fileKernel interface {
	kind(fd int) (fileKind, error)
}

// A pollKernel is the part of the system that poll needs. Errors are bare errnos.
type pollKernel interface {
	fileKernel
	poll(rows []pollFD, timeout time.Duration) (n int, err error)
}

// A poll is the backend for a process that has no descriptor left for a better
// one. arm asks with a zero-time poll; what was not ready is watched by the
// loop in slices of pollSlice. While nothing is armed the loop sleeps without
// a slice.
type poll struct {
	k    pollKernel
	goos string
	kick chan struct{} // capacity 1; a full channel already says "look again"

	mu    sync.Mutex
	armed map[token]pollFD
	woken bool

	rows   []pollFD // used by wait only, like tokens
	tokens []token
}

func newPoll(k pollKernel, goos string) *poll {
	return &poll{k: k, goos: goos, kick: make(chan struct{}, 1), armed: make(map[token]pollFD)}
}

func (p *poll) mechanism() string { return "poll" }
func (p *poll) asks() bool        { return true }
func (p *poll) close() error      { return nil }

// add refuses what poll would not wait for: on macOS it reports a terminal as
// POLLNVAL at once.
func (p *poll) add(r *registration) (always bool, err error) {
	kind, err := p.k.kind(r.fd)
	if err != nil {
		return false, &SetupError{Op: "fstat", FD: r.fd, Err: err}
	}
	r.device = kind == kindDevice
	if r.device && (p.goos == "darwin" || p.goos == "ios") {
		return false, &SetupError{Op: "register", FD: r.fd, Err: ErrPollDevice}
	}
	return kind == kindRegular, nil
}

func (p *poll) arm(r *registration, want sides) (sides, error) {
	r.row[0] = pollFD{fd: r.fd, events: pollEvents(want)}
	if err := p.probe(r.row[:]); err != nil {
		return 0, &WaitError{Op: "poll", FD: r.fd, Err: err}
	}
	ready, err := pollReady(r.row[0])
	if err != nil {
		return 0, err
	}
	ready &= want
	p.mu.Lock()
	defer p.mu.Unlock()
	if want == ready {
		delete(p.armed, r.token)
		return ready, nil
	}
	p.armed[r.token] = pollFD{fd: r.fd, events: pollEvents(want &^ ready)}
	p.poke()
	return ready, nil
}

// probe polls without blocking.
func (p *poll) probe(rows []pollFD) error {
	for {
		_, err := p.k.poll(rows, 0)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func (p *poll) remove(r *registration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.armed, r.token)
	return nil
}

// poke makes the loop look at the armed set when it sleeps without a slice.
func (p *poll) poke() {
	select {
	case p.kick <- struct{}{}:
	default:
	}
}

func (p *poll) wake() error {
	p.mu.Lock()
	p.woken = true
	p.mu.Unlock()
	p.poke()
	return nil
}

func (p *poll) wait(out []event, block bool) (n int, full bool, err error) {
	for {
		if p.list() {
			return 0, false, nil
		}
		if len(p.rows) == 0 {
			if !block {
				return 0, false, nil
			}
			<-p.kick
			continue
		}
		slice := pollSlice
		if !block {
			slice = 0
		}
		got, err := p.k.poll(p.rows, slice)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, false, &WaitError{Op: "poll", FD: -1, Err: err}
		case got > 0:
			n = p.collect(out)
			return n, n == len(out), nil
		case !block:
			return 0, false, nil
		}
	}
}

// list writes the armed set into rows and tokens. It says whether wake was
// called since it last said so.
func (p *poll) list() (woken bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rows, p.tokens = p.rows[:0], p.tokens[:0]
	if p.woken {
		p.woken = false
		return true
	}
	for t, row := range p.armed {
		p.rows = append(p.rows, row)
		p.tokens = append(p.tokens, t)
	}
	return false
}

// collect turns the answered rows into events, as many as fit, and stops
// watching those. The rest stays armed and comes with the next poll.
func (p *poll) collect(out []event) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, row := range p.rows {
		if row.revents == 0 {
			continue
		}
		if n == len(out) {
			break
		}
		now, armed := p.armed[p.tokens[i]]
		if !armed {
			continue // removed while poll ran; its answer concerns nobody
		}
		ready, err := pollReady(row)
		out[n] = event{token: p.tokens[i], ready: ready, spent: sidesOf(row.events), err: err}
		n++
		// Armed for more while poll ran: only what was asked is spent. A row
		// for nothing would report a hang-up for ever.
		now.events &^= row.events
		if now.events == 0 || err != nil {
			delete(p.armed, p.tokens[i])
		} else {
			p.armed[p.tokens[i]] = now
		}
	}
	return n
}

func pollEvents(want sides) (events int16) {
	if want&readSide != 0 {
		events |= pollIn
	}
	if want&writeSide != 0 {
		events |= pollOut
	}
	return events
}

func sidesOf(events int16) (s sides) {
	if events&pollIn != 0 {
		s |= readSide
	}
	if events&pollOut != 0 {
		s |= writeSide
	}
	return s
}

// pollReady says which sides will not block. POLLNVAL is a descriptor that is
// not open: an error, never readiness.
func pollReady(row pollFD) (ready sides, err error) {
	if row.revents&pollNval != 0 {
		return 0, &WaitError{Op: "poll reports POLLNVAL", FD: row.fd, Err: unix.EBADF}
	}
	if row.revents&(pollHup|pollErr) != 0 {
		return bothSides, nil
	}
	return sidesOf(row.revents), nil
}
