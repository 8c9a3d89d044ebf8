package hostbench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// window is our own window on a terminal, asked through its socket like any
// script would.
type window struct{}

func (window) name() string    { return "honestty" }
func (window) program() string { return "" }

func (window) version(_ context.Context, b *bed) (string, error) { return b.conf.Version, nil }

// The part of our JSON that is read.
type (
	waitJSON struct {
		Happened string `json:"happened"`
		Exit     *struct {
			Code   *int   `json:"code"`
			Signal string `json:"signal"`
		} `json:"exit"`
		Capture captureJSON `json:"capture"`
	}
	captureJSON struct {
		State    string `json:"state"`
		CutLines int64  `json:"cut_lines"`
		Why      string `json:"why"`
	}
	textJSON struct {
		Text string `json:"text"`
		captureJSON
	}
)

func (window) run(ctx context.Context, b *bed, t Task) (Kept, error) {
	dir, remove, err := b.folder()
	if err != nil {
		return Kept{}, err
	}
	defer remove()
	settings := filepath.Join(dir, "settings.toml")
	if err := b.write(settings, fmt.Sprintf("[ui]\nhints = false\n[terminal]\nscrollback = %d\n", t.History)); err != nil {
		return Kept{}, err
	}
	argv, err := b.start(t, append([]string{b.conf.Self, "--config", settings, "--"}, t.Command...)...)
	if err != nil {
		return Kept{}, err
	}
	o, err := b.openOuter(dir, argv)
	if err != nil {
		return Kept{}, err
	}
	defer o.close()
	ctl := func(ctx context.Context, args ...string) (ran, error) {
		return b.do(ctx, dir, append([]string{b.conf.Self, "ctl", "--json", "--window", itoa(o.bridge.PID())}, args...)...)
	}
	var k Kept
	var wait waitJSON
	var ended time.Time
	err = until(ctx, "honestty", func() (bool, error) {
		exit, gone := o.ended()
		text := o.text()
		switch {
		case gone:
			k.Trouble, k.Said = troubleOf(exit, text), lastLine(text)
		case strings.Contains(text, notStarted): // perhaps without a socket to ask
			k.Trouble, k.Said = notStarted, lastLine(text)
		case strings.Contains(text, endedPane) && since(&ended) > socketTime:
			k.Text, k.Said = text, "it shows the output, and its socket does not listen"
			return true, nil
		}
		if k.Trouble != "" {
			return true, nil
		}
		// It fails until the window listens. One that has no descriptor left for
		// it lets it hang; then the screen is looked at again.
		short, cancel := context.WithTimeout(ctx, socketTime)
		defer cancel()
		r, err := ctl(short, "wait", "--until", "exit")
		if errors.Is(err, ErrSlow) && ctx.Err() == nil {
			return false, nil
		}
		if err != nil || !r.ok() {
			return false, err
		}
		return true, parseJSON(r.out, &wait)
	})
	if err != nil || k.Trouble != "" || k.Said != "" {
		return k, err
	}
	r, err := ctl(ctx, "capture", "--scrollback")
	if err != nil {
		return k, err
	}
	var text textJSON
	if err := parseJSON(r.out, &text); err != nil {
		k.Trouble, k.Said = r.trouble(), r.said()
		return k, nil
	}
	k.Text, k.End = text.Text, endOf(wait)
	k.Cut, k.CutSays = text.CutLines, cutSays(text.CutLines)
	if text.State != "complete" && text.State != "truncated" {
		k.Said = text.State + ": " + text.Why
	}
	return k, nil
}

// notStarted is what a pane shows whose command could not be started.
const notStarted = "did not start"

// endedPane is what a pane shows whose command has ended, and socketTime how
// long it may take to be told so through the socket too: to start the program
// that asks is a part of it.
const (
	endedPane  = "Enter runs it again"
	socketTime = 3 * time.Second
)

// since is how long ago it was asked for the first time.
func since(first *time.Time) time.Duration {
	if first.IsZero() {
		*first = time.Now()
	}
	return time.Since(*first)
}

func endOf(w waitJSON) End {
	switch {
	case w.Exit == nil:
		return End{}
	case w.Exit.Signal != "":
		return End{Signal: w.Exit.Signal, Words: w.Exit.Signal + ", output " + w.Capture.State}
	case w.Exit.Code != nil:
		return End{Code: w.Exit.Code, Words: "exit " + itoa(*w.Exit.Code) + ", output " + w.Capture.State}
	}
	return End{}
}

func cutSays(lines int64) string {
	if lines == 0 {
		return ""
	}
	return fmt.Sprintf("%s rows were cut from the history", count(int(lines)))
}

func parseJSON(text string, v any) error {
	if err := json.Unmarshal([]byte(strings.TrimSpace(text)), v); err != nil {
		return fmt.Errorf("read an answer of honestty: %w", err)
	}
	return nil
}
