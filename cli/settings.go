package cli

import (
	"errors"
	"os"
	"slices"

	"github.com/honestty/honestty/config"
	"github.com/honestty/honestty/tui"
	"github.com/honestty/honestty/tui/keymap"
)

// settings opens the settings of the user, or of one file. The Store is usable
// also with an error: the defaults are in force then.
func settings(path string) (*config.Store, error) {
	return config.NewStore(settingsFrom(path))
}

func settingsFrom(path string) config.Options {
	return config.Options{Path: path, Env: os.Getenv, Check: checkKeys}
}

// checkKeys lets the keymap judge the keys of a settings file.
func checkKeys(k config.Keys) []config.KeyProblem {
	_, err := keymap.New(tui.KeyOptions(k))
	var out []config.KeyProblem
	for _, b := range bindErrors(err) {
		p := config.KeyProblem{Key: config.BindKey(b.Setting), Item: slices.Index(k.Bind[b.Setting], b.Key), Text: b.Error()}
		if b.Setting == "preset" || b.Setting == "prefix" {
			p.Key, p.Item = "keys."+b.Setting, -1
		}
		out = append(out, p)
	}
	return out
}

// bindErrors takes joined errors apart.
func bindErrors(err error) []*keymap.BindError {
	if err == nil {
		return nil
	}
	if b, ok := err.(*keymap.BindError); ok {
		return []*keymap.BindError{b}
	}
	var out []*keymap.BindError
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			out = append(out, bindErrors(e)...)
		}
		return out
	}
	return bindErrors(errors.Unwrap(err))
}

// countStart remembers this start of a window, for the hints of the first ones.
// What cannot be remembered costs the hints and nothing else, and is told.
func countStart() (config.State, error) {
	file := config.StateFile{Path: config.StatePath(os.Getenv)}
	s, err := file.Update(func(s *config.State) error {
		s.Starts++
		return nil
	})
	if errors.Is(err, config.ErrNoState) {
		return s, nil
	}
	return s, err
}
