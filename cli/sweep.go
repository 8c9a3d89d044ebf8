package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/honestty/honestty/internal/atomicfile"
	"github.com/honestty/honestty/tools"
	"github.com/honestty/honestty/tools/execcode"
	"github.com/honestty/honestty/tools/terminal"
	"github.com/honestty/honestty/tools/tts"
)

const (
	// sweepEvery is the time between two sweeps, whoever makes them: a call
	// must not look through folders each time.
	sweepEvery = 6 * time.Hour

	// mostKept is how much of one kind of output is kept on disk before the
	// older of it goes early.
	mostKept = 8 << 30
)

// keptFor are the ages from which on output is removed: the first one always,
// the next while there is more than mostKept. Nothing that may still be written
// to is younger than the last.
var keptFor = []time.Duration{7 * 24 * time.Hour, 24 * time.Hour, 12 * time.Hour}

// sweep removes what calls left on disk and nobody needs any more: the output
// that was kept for watching, whole outputs, scripts of processes that died,
// speech of the audio cache and what killed speech calls left beside their
// targets. Windows do it when they start, tools when they have ended. What is
// not speech is looked at only when the last sweep is long ago; the stamp says
// when that was.
func sweep(state string, now time.Time) error {
	if info, err := os.Stat(state); err != nil || !info.IsDir() {
		return nil // nothing was ever kept there
	}
	_, left := tts.SweepLeft(tts.Deps{AudioDir: audioDir(), StateDir: state})
	stamp := filepath.Join(state, "swept")
	if info, err := os.Stat(stamp); err == nil && now.Sub(info.ModTime()) < sweepEvery && !info.ModTime().After(now) {
		return left
	}
	if err := atomicfile.Write(stamp, nil, 0o600); err != nil {
		return errors.Join(left, err)
	}
	_, err := execcode.Sweep(filepath.Join(state, "code"))
	return errors.Join(left, err,
		sweepKind(filepath.Join(state, "live"), now, tools.SweepLive),
		sweepKind(filepath.Join(state, "spill"), now, terminal.SweepSpills))
}

func sweepKind(dir string, now time.Time, remove func(dir string, age time.Duration, now time.Time) (int, error)) error {
	var errs []error
	for _, age := range keptFor {
		if _, err := remove(dir, age, now); err != nil {
			errs = append(errs, err)
		}
		if size, err := folderSize(dir); err != nil || size <= mostKept {
			return errors.Join(append(errs, err)...)
		}
	}
	return errors.Join(errs...)
}

// folderSize is how many bytes the files of a folder have; 0 where there is
// none.
func folderSize(dir string) (int64, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	var n int64
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // else it went meanwhile
			n += info.Size()
		}
	}
	return n, err
}
