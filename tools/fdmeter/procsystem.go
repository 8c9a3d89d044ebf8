package fdmeter

import (
	"bytes"
	"strconv"
)

// This file answers what procfs is asked beside descriptors and limits: whose a
// process is, the sockets, and the machine as a whole.

// owner returns the effective user of a process. The owner of its folder in
// /proc is root's for a process that may not be traced, so the status is read.
func (p *procfs) owner(pid int) (uid int, err error) {
	err = p.with(p.path(pid, "status"), func(text []byte) (err error) {
		uid, err = parseOwner(text)
		return err
	})
	if err != nil {
		return -1, p.hidden(pid, err)
	}
	return uid, nil
}

// newest is the last field of /proc/loadavg: the last number that a process or
// a thread was given.
func (p *procfs) newest() (pid int, known bool) {
	if !p.real {
		return 0, false
	}
	err := p.with(p.root+"/loadavg", func(text []byte) error {
		words := bytes.Fields(text)
		if len(words) == 5 {
			pid, known = number(words[4])
		}
		return nil
	})
	return pid, known && err == nil
}

func (p *procfs) alive(pid int) bool { return !p.real || p.files.exists(pid) }

func (p *procfs) sockets() Sockets {
	if !p.real {
		return noSockets(Unsupported)
	}
	return p.files.sockets()
}

// elsewhere reports whether a process has another network namespace than we
// have, and so other socket tables.
func (p *procfs) elsewhere(pid int) Maybe {
	theirs, err := p.files.link(p.path(pid, "ns/net"))
	if err != nil {
		return MaybeUnknown
	}
	ours, err := p.files.link(p.path(p.self, "ns/net"))
	if err != nil {
		return MaybeUnknown
	}
	return maybe(theirs != ours)
}

func (p *procfs) protocol(pid, fd int) string {
	return p.files.protocol(p.path(pid, "fd/"+strconv.Itoa(fd)))
}

func (p *procfs) same(pidA, fdA, pidB, fdB int) (bool, error) {
	if !p.real {
		return false, ErrUnsupported
	}
	return p.files.same(pidA, fdA, pidB, fdB)
}

// bootID tells two runs of the machine apart; "" when it cannot be read.
func (p *procfs) bootID() (id string) {
	_ = p.with(p.root+"/sys/kernel/random/boot_id", func(text []byte) error {
		id = string(bytes.TrimSpace(text))
		return nil
	})
	return id
}

func (p *procfs) system() System {
	var s System
	p.moved(&s)
	s.PerProcess = p.sysctl("fs/nr_open")
	s.PTYsMax = p.sysctl("kernel/pty/max")
	s.PTYsReserve = p.sysctl("kernel/pty/reserve")
	return s
}

func (p *procfs) moved(s *System) {
	s.Files, s.FilesMax = p.filesUsed()
	s.PTYs = p.sysctl("kernel/pty/nr")
}

// filesUsed reads file-nr: allocated, allocated but free (0 since Linux 2.6),
// and the maximum.
func (p *procfs) filesUsed() (used, limit Value) {
	err := p.with(p.root+"/sys/fs/file-nr", func(text []byte) error {
		n, err := parseNumbers(text, 3)
		if err == nil {
			used, limit = Known(n[0]-n[1]), limitValue(uint64(n[2]))
		}
		return err
	})
	if err != nil {
		return failed(err), failed(err)
	}
	return used, limit
}

func (p *procfs) sysctl(name string) (v Value) {
	err := p.with(p.root+"/sys/"+name, func(text []byte) error {
		n, err := parseNumbers(text, 1)
		if err == nil {
			v = Known(n[0])
		}
		return err
	})
	if err != nil {
		if isGone(err) {
			return Unknown(Unsupported) // the kernel was built without it
		}
		return failed(err)
	}
	return v
}
