package fdmeter

import "sync"

// This file looks for the highest number of a process. To list all of a
// process's descriptors costs the kernel something for each, and what is looked
// for is mostly the one that it was before.

// placeOf is where a descriptor's number stands in /proc/PID/fd: after "." and
// "..", one place for each number, whether it is open or not.
func placeOf(fd int) int64 { return int64(fd) + 2 }

// highest begins where the number was last. When that one is still open, or
// one above it, nothing below matters. Our own listing may open a descriptor
// above it, so our own are all listed.
func (p *procfs) highest(pid, last int) (top, looked int, err error) {
	if p.real && pid > 0 && pid != p.self && last > 0 {
		if top, looked = p.above(pid, last); top >= last {
			return top, looked, nil
		}
	}
	return p.highestOfAll(pid)
}

func (p *procfs) highestOfAll(pid int) (top, looked int, err error) {
	top = -1
	err = p.numbers(pid, func(fd int, _ uint32) {
		top = max(top, fd)
		looked++
	})
	return top, looked, err
}

// above returns the highest number from last on, and -1 when it found none,
// for whatever reason.
func (p *procfs) above(pid, last int) (top, looked int) {
	t := topmosts.Get().(*topmost)
	defer topmosts.Put(t)
	t.top, t.looked = -1, 0
	if _, err := p.files.names(p.at(t.path[:0], pid, "fd"), placeOf(last), t.each); err != nil {
		return -1, t.looked
	}
	return t.top, t.looked
}

// A topmost looks for the highest number without an allocation.
type topmost struct {
	path        [128]byte
	top, looked int
	each        func(name []byte) // its note
}

var topmosts = sync.Pool{New: func() any {
	t := &topmost{}
	t.each = t.note
	return t
}}

func (t *topmost) note(name []byte) {
	if fd, ok := number(name); ok {
		t.top = max(t.top, fd)
		t.looked++
	}
}
