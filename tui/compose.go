package tui

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tui/picker"
)

type (
	// targetsMsg carries the places that a message can go to.
	targetsMsg struct {
		Form    *picker.Compose
		Targets []picker.ComposeTarget
	}

	// folderMsg carries the names in a folder.
	folderMsg struct {
		Form    *picker.Compose
		Folder  string
		Entries []picker.FolderEntry
		Err     error
	}

	// planMsg carries what a dry run says.
	planMsg struct {
		Form    *picker.Compose
		Request string
		Result  json.RawMessage
		Err     error
	}
)

// openForm opens the form of a message.
func (m *Model) openForm() tea.Cmd {
	if m.w.opt.Program == "" {
		m.say("this window does not know its own program, so it cannot send", true)
		return nil
	}
	f := &picker.Compose{Folder: m.here().Dir}
	if f.Folder == "" {
		f.Folder = m.w.opt.Env("HOME")
	}
	m.open(&dialog{Dialog: f, chosen: m.sendForm})
	w := m.w
	return func() tea.Msg {
		defer w.guard()
		return targetsMsg{f, w.targets()}
	}
}

// formWants does what the form that is open asks for.
func (m *Model) formWants() tea.Cmd {
	if m.dialog == nil {
		return nil
	}
	f, ok := m.dialog.Dialog.(*picker.Compose)
	if !ok {
		return nil
	}
	want, w := f.Wants(), m.w
	var cmds []tea.Cmd
	if want.Folder != "" {
		cmds = append(cmds, func() tea.Msg {
			defer w.guard()
			entries, err := listFolder(want.Folder)
			return folderMsg{f, want.Folder, entries, err}
		})
	}
	if want.DryRun != "" {
		cmds = append(cmds, func() tea.Msg {
			defer w.guard()
			result, err := w.dryRun(want.DryRun)
			return planMsg{f, want.DryRun, result, err}
		})
	}
	return tea.Batch(cmds...)
}

// takeForm gives a form what it asked for, also when it was closed since.
func (m *Model) takeForm(msg tea.Msg) {
	m.dirty = true
	switch msg := msg.(type) {
	case targetsMsg:
		msg.Form.Targets = msg.Targets
	case folderMsg:
		msg.Form.TakeFolder(msg.Folder, msg.Entries, msg.Err)
	case planMsg:
		msg.Form.TakePlan(msg.Request, msg.Result, msg.Err)
	}
}

func listFolder(folder string) ([]picker.FolderEntry, error) {
	names, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	out := make([]picker.FolderEntry, 0, len(names))
	for _, n := range names {
		e := picker.FolderEntry{Name: n.Name(), Folder: n.IsDir()}
		info, err := n.Info()
		if n.Type()&fs.ModeSymlink != 0 { // a link to a folder is opened like one
			info, err = os.Stat(filepath.Join(folder, n.Name()))
		}
		if err == nil {
			e.Folder = info.IsDir()
			if info.Mode().IsRegular() {
				e.Size = outcome.Size(info.Size())
			}
		}
		out = append(out, e)
	}
	return out, nil
}

// A sendForm is the parameters of send_message as the form writes them.
type sendForm struct {
	Target      string   `json:"target"`
	Subject     string   `json:"subject"`
	Message     string   `json:"message"`
	Attachments []string `json:"attachments"`
}

// args are the arguments of `honestty send` for a form. The text is not among
// them: arguments of a process can be read by everybody on the machine.
func (f sendForm) args() []string {
	args := []string{"send", "--to", f.Target}
	if f.Subject != "" {
		args = append(args, "--subject", f.Subject)
	}
	for _, path := range f.Attachments {
		args = append(args, "--attach", path)
	}
	return args
}

// sendForm sends what the form holds, in a tab that shows how it goes.
func (m *Model) sendForm(r picker.Result) tea.Cmd {
	if r.ID != picker.ComposeSend {
		return nil
	}
	var f sendForm
	if err := json.Unmarshal([]byte(r.Text), &f); err != nil {
		m.say("nothing was sent: the form cannot be read: "+err.Error(), true)
		return nil
	}
	program := m.w.opt.Program
	return m.withFile(f.Message, func(path string) session.Spec {
		return session.Spec{
			Command: slices.Concat([]string{"/bin/sh", "-c", sendOnce, "sh", program}, f.args()),
			Env:     append(os.Environ(), "HONESTTY_OUTPUT="+path),
		}
	})
}

// sendOnce sends the message in the file and removes it: a pane can be run
// again with one key, and what arrived must not arrive twice.
const sendOnce = `[ -e "$HONESTTY_OUTPUT" ] || {
	echo "This message was sent once already. In the Send panel r sends again only what did not arrive." >&2
	exit 2
}
"$@" --file "$HONESTTY_OUTPUT"
code=$?
rm -f "$HONESTTY_OUTPUT"
exit $code`

// dryRun tries a message and returns what the tool says of it.
func (w *Window) dryRun(request string) (json.RawMessage, error) {
	var f sendForm
	if err := json.Unmarshal([]byte(request), &f); err != nil {
		return nil, fmt.Errorf("read the form: %w", err)
	}
	path, err := tempText(f.Message)
	if err != nil {
		return nil, err
	}
	defer os.Remove(path)
	return w.own(append(f.args(), "--dry-run", "--json", "--file", path)...)
}

// own runs our own program and returns the object that it prints, also when it
// says that something failed.
func (w *Window) own(args ...string) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(context.Background(), ownLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, w.opt.Program, args...).Output()
	if json.Valid(out) && len(out) > 0 {
		return out, nil
	}
	if ee, ok := errors.AsType[*exec.ExitError](err); ok && len(ee.Stderr) > 0 {
		return nil, errors.New(oneLine(string(ee.Stderr)))
	}
	return nil, errors.Join(errors.New("it said nothing that can be read"), err)
}

// targets asks our own program where messages can go. Without an answer the form
// completes nothing.
func (w *Window) targets() []picker.ComposeTarget {
	raw, err := w.own("send", "--list", "--json")
	if err != nil {
		return nil
	}
	var r struct {
		Platforms map[string]struct {
			Ready  bool   `json:"ready"`
			Needs  string `json:"needs"`
			Places []struct {
				Target string `json:"target"`
				Name   string `json:"name"`
				Home   bool   `json:"home"`
			} `json:"places"`
		} `json:"platforms"`
	}
	if json.Unmarshal(raw, &r) != nil {
		return nil
	}
	var out []picker.ComposeTarget
	for name, p := range r.Platforms {
		out = append(out, picker.ComposeTarget{Target: name, Needs: p.Needs})
		for _, place := range p.Places {
			t := picker.ComposeTarget{Target: place.Target, Name: place.Name}
			if place.Home {
				t.Name = "home"
			}
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b picker.ComposeTarget) int {
		if (a.Needs == "") != (b.Needs == "") { // what is ready stands first
			if a.Needs == "" {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Target, b.Target)
	})
	return slices.CompactFunc(out, func(a, b picker.ComposeTarget) bool { return a.Target == b.Target })
}
