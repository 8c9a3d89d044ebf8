package hostbench

import (
	"context"
	"strings"
	"sync"

	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/vt"
)

// outerRows leaves a host with bars of its own room for a command.
const outerRows = rows + 6

// An outer is the terminal of a host that wants one: a pair of ours with our
// engine behind it, which answers what the host asks of it.
type outer struct {
	bridge *ptybridge.Bridge

	mu   sync.Mutex // guards term, which the bridge's reader feeds
	term *vt.Terminal
}

func (b *bed) openOuter(dir string, argv []string) (*outer, error) {
	o := &outer{term: vt.New(cols, outerRows, vt.Options{Version: b.conf.Version})}
	ready := make(chan struct{}) // closed when o.bridge is set
	var err error
	o.bridge, err = ptybridge.Start(ptybridge.Config{
		Command: argv, Dir: dir, Env: proc.ChildEnv(b.env, b.conf.Version), Poller: b.conf.Poller,
		Size: ptybridge.Size{Cols: cols, Rows: outerRows},
		Output: func(p []byte) {
			<-ready
			o.mu.Lock()
			reply := append([]byte(nil), o.term.Write(p).Reply...)
			o.mu.Unlock()
			_, _ = o.bridge.Write(reply) // a host that is gone needs no answer
		},
	})
	if err != nil {
		return nil, err
	}
	close(ready)
	return o, nil
}

// text is what the terminal shows, without the blanks at the ends of rows.
func (o *outer) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.TrimSpace(screenText(o.term))
}

// ended reports whether the host has ended, and how.
func (o *outer) ended() (ptybridge.Exit, bool) {
	select {
	case <-o.bridge.Done():
		return o.bridge.Exit(), true
	default:
		return ptybridge.Exit{}, false
	}
}

// close ends the host, by force when it takes too long.
func (o *outer) close() { o.bridge.Close() }

// crashed is in Kept.Trouble of a host that died of a panic.
const crashed = "crashed"

// troubleOf says how a host ended that should not have ended yet.
func troubleOf(e ptybridge.Exit, text string) string {
	switch {
	case strings.Contains(text, "goroutine ") || strings.Contains(text, "panicked at"):
		return crashed
	case e.Signal != 0:
		return outcome.SignalName(e.Signal)
	case e.Err != nil || e.Code < 0:
		return "an unknown end"
	}
	return "exit " + itoa(e.Code)
}

// screenText is what an engine holds: its history and its screen, a line a row.
func screenText(t *vt.Terminal) string {
	var b []byte
	var cells []vt.Cell
	for i := range t.HistoryLen() {
		cells = t.HistoryLine(i, cells[:0])
		b = appendRow(t, b, cells)
	}
	_, n := t.Size()
	for r := range vt.Row(n) {
		b = appendRow(t, b, t.Line(r))
	}
	return string(b)
}

func appendRow(t *vt.Terminal, dst []byte, cells []vt.Cell) []byte {
	start := len(dst)
	for _, c := range cells {
		n := len(dst)
		if dst = t.AppendText(dst, c); len(dst) == n {
			dst = append(dst, ' ')
		}
	}
	for len(dst) > start && dst[len(dst)-1] == ' ' {
		dst = dst[:len(dst)-1]
	}
	return append(dst, '\n')
}

// shown waits until the terminal shows what find looks for. When the host ends
// before, it says how.
func (o *outer) shown(ctx context.Context, what string, find func(text string) bool) (k Kept, err error) {
	err = until(ctx, what, func() (bool, error) {
		exit, gone := o.ended() // before the text is read: then it is the last
		text := o.text()
		if find(text) {
			return true, nil
		}
		if gone {
			k.Trouble, k.Said = troubleOf(exit, text), lastLine(text)
		}
		return gone, nil
	})
	return k, err
}

// lastLine is the line that names the lack of descriptors, else the last one
// with something on it: an error comes last.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, l := range lines {
		if tells(l) || strings.HasPrefix(l, "fatal error:") {
			return firstLine(l)
		}
	}
	return firstLine(lines[len(lines)-1])
}
