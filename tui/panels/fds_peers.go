package panels

import (
	"fmt"
	"strings"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/fdmeter"
)

// Holders is the answer to a ReadHolders: who holds what on this machine, and
// the descriptors of the process that was asked about and of its parent.
type Holders struct {
	Survey  fdmeter.Survey
	Sockets fdmeter.Sockets
	Types   fdmeter.Breakdown // joined with Sockets
	Shared  []fdmeter.Shared  // what the process has of its parent's; nil when it has none
	Parent  string            // the parent's name; "" when it is not known
}

// holdersShown bounds how many processes are named at one descriptor.
const holdersShown = 4

// peersOf says who is at the other end of a descriptor, once that was looked
// for; a line each.
func (f *FDs) peersOf(fd fdmeter.FD) []string {
	if f.holders == nil || f.holders.Types.PID != f.types.PID {
		return nil
	}
	s := &f.holders.Survey
	switch fd.Kind {
	case fdmeter.KindPipe:
		inode, ok := fd.Inode()
		if !ok {
			return nil
		}
		return f.named("also held by", s.Holders(inode), fd.Number)
	case fdmeter.KindSocket:
		if fd.Socket == nil {
			return nil
		}
		peer, ok := f.holders.Sockets.PeerOf(*fd.Socket)
		if !ok && fd.Socket.Peer == 0 {
			if fd.Socket.Remote == "" {
				return nil // it has no peer
			}
			return []string{"its peer is not on this machine, or in another network namespace"}
		}
		inode := peer.Inode
		if !ok {
			inode = fd.Socket.Peer
		}
		return f.named("peer:", s.Holders(inode), -1)
	case fdmeter.KindPTY:
		return f.terminalPeers(fd)
	}
	return nil
}

// terminalPeers names who is at the other end of a pseudo-terminal.
func (f *FDs) terminalPeers(fd fdmeter.FD) []string {
	slave := fd.Detail.Slave
	if slave == "" {
		slave = fd.Target
	}
	for _, t := range f.holders.Survey.Terminals() {
		switch {
		case t.Slave != slave:
		case fd.Detail.Slave == "":
			return f.named("master:", t.Masters, -1)
		case len(t.Slaves) > 0 || len(t.Sessions) == 0:
			return f.named("slave:", t.Slaves, -1)
		default:
			return []string{fmt.Sprintf("slave: the terminal of %d", t.Sessions[0])}
		}
	}
	return nil
}

// named lists holders, our own descriptor of the process itself left out.
func (f *FDs) named(lead string, holders []fdmeter.Holder, self int) []string {
	var names []string
	for _, h := range holders {
		if h.PID == f.types.PID && h.FD == self {
			continue
		}
		names = append(names, fmt.Sprintf("%s (%d) fd %d", h.Name, h.PID, h.FD))
	}
	if n := len(names) - holdersShown; n > 0 {
		names = append(names[:holdersShown], fmt.Sprintf("%d more", n))
	}
	switch {
	case len(names) > 0:
		return []string{lead + " " + strings.Join(names, ", ")}
	case !f.holders.Survey.Complete():
		return []string{lead + " ? nobody that could be looked at"}
	}
	return []string{lead + " nobody"}
}

// problemRows lays out what is wrong, or may be: on the machine, and with the
// subject.
func (f *FDs) problemRows() []detailRow {
	h := f.holders
	s := &h.Survey
	var out []detailRow
	for _, text := range unseen(s) {
		out = append(out, detailRow{text: text, caution: true})
	}
	ghosts := s.Ghosts()
	out = append(out, detailRow{count: outcome.Count(int64(len(ghosts))), text: "terminals without anybody at their other end", heading: true})
	for _, g := range ghosts {
		text := orUnknown(g.Slave)
		if g.Certain != fdmeter.MaybeYes {
			text += "  ? somebody who could not be looked at may hold it"
		}
		out = append(out, holderRow(g.Holder, text))
	}
	deleted := s.Deleted()
	out = append(out, detailRow{count: outcome.Count(int64(len(deleted))), text: "deleted files that are open", heading: true})
	for _, d := range deleted {
		size := "? bytes"
		if n, known := d.Size.Get(); known {
			size = outcome.Size(n)
		}
		out = append(out, holderRow(d.Holder, d.Path+"  "+size))
	}
	return append(out, f.subjectProblems()...)
}

// subjectProblems are those of the process that is looked at.
func (f *FDs) subjectProblems() []detailRow {
	h := f.holders
	who := called(f.subject())
	if !h.Types.Listed.Known() {
		return []detailRow{{text: "? unknown of " + who + ": " + h.Types.Listed.Reason(), caution: true}}
	}
	leakable := h.Types.Leakable()
	out := []detailRow{{count: outcome.Count(int64(len(leakable))), text: "of " + who + " that a child inherits (no close-on-exec)", heading: true}}
	if n := h.Types.FlagsUnknown; n > 0 {
		out = append(out, detailRow{text: "? of " + outcome.Count(int64(n)) + " more nobody can tell", caution: true})
	}
	for _, t := range targetsOf(leakable) {
		out = append(out, detailRow{count: outcome.Count(int64(len(t.fds))), kind: string(t.fds[0].Kind), text: t.key})
	}
	var got, unsure []fdmeter.Shared
	for _, s := range h.Shared {
		switch {
		case s.Shared == fdmeter.MaybeYes && s.FD.Number > 2:
			got = append(got, s)
		case s.Shared == fdmeter.MaybeUnknown:
			unsure = append(unsure, s)
		}
	}
	parent := "its parent"
	if h.Parent != "" {
		parent = h.Parent
	}
	out = append(out, detailRow{count: outcome.Count(int64(len(got))), text: "of " + who + " that it has from " + parent + ", beyond the standard streams", heading: true})
	if len(unsure) > 0 {
		out = append(out, detailRow{text: "? of " + outcome.Count(int64(len(unsure))) + " nobody can tell", caution: true})
	}
	for _, s := range got {
		out = append(out, detailRow{count: fmt.Sprintf("fd %d", s.FD.Number), kind: string(s.FD.Kind), text: keyOf(s.FD) + " (" + s.By.String() + ")"})
	}
	return out
}

func holderRow(h fdmeter.Holder, text string) detailRow {
	return detailRow{count: pidText(h.PID), kind: h.Name, text: fmt.Sprintf("fd %d  %s", h.FD, text)}
}

func orUnknown(s string) string {
	if s == "" {
		return "? which is not told"
	}
	return s
}

// unseen says what a survey did not look at.
func unseen(s *fdmeter.Survey) []string {
	var out []string
	if !s.Scan.Listed {
		return []string{"? unknown: the processes could not be listed: " + s.Scan.Cause.String()}
	}
	if s.Cut {
		out = append(out, "! partial: there are more descriptors than one look may take")
	}
	if n := len(s.Unseen) + s.Scan.Unseen(); n > 0 {
		why := ""
		if len(s.Unseen) > 0 {
			why = " (" + s.Unseen[0].Reason + ")"
		}
		were := " processes were"
		if n == 1 {
			were = " process was"
		}
		out = append(out, "! partial: "+outcome.Count(int64(n))+were+" not looked at"+why)
	}
	if s.Scan.Hidden {
		out = append(out, "! partial: processes of other users are hidden from this user")
	}
	return out
}
