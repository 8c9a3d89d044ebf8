package tts

import (
	"errors"
	"io/fs"
	"os"
	"regexp"
	"syscall"
	"time"

	"github.com/honestty/honestty/tools/tts/publish"
)

// cacheName is the shape of the names that we give in the audio cache. Only
// such files are ever swept.
var cacheName = regexp.MustCompile(`^tts_\d{8}_\d{6}_\d{6}\.(wav|mp3|ogg|flac|m4a)$`)

// cacheFile names a file of the audio cache after the time, to the microsecond.
func cacheFile(now time.Time, ext string) string {
	return "tts_" + now.Format("20060102_150405") + "_" + now.Format(".000000")[1:] + ext
}

// SweepCache removes the files of the audio cache that are older than maxAge,
// and returns their names. Other files in the folder are left alone. A maxAge
// below 0 removes nothing.
func SweepCache(dir string, maxAge time.Duration, now time.Time) (removed []string, err error) {
	return sweepFiles(dir, maxAge, now, cacheName)
}

func sweepFiles(dir string, maxAge time.Duration, now time.Time, name *regexp.Regexp) (removed []string, err error) {
	if dir == "" || maxAge < 0 {
		return nil, nil
	}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, e := range entries {
		if !name.MatchString(e.Name()) {
			continue
		}
		st, err := root.Lstat(e.Name())
		if err != nil || !st.Mode().IsRegular() || !own(st) || now.Sub(st.ModTime()) <= maxAge {
			continue
		}
		if err := root.Remove(e.Name()); err != nil {
			errs = append(errs, err)
			continue
		}
		removed = append(removed, e.Name())
	}
	return removed, errors.Join(errs...)
}

func own(st fs.FileInfo) bool {
	s, ok := st.Sys().(*syscall.Stat_t)
	return ok && s.Uid == uint32(os.Geteuid())
}

// SweepLeft removes what calls of ours left behind when their process was
// killed: work folders, old chunks, old files of the audio cache. A program
// calls it when it starts; Speak does too, for the folder it works in.
func SweepLeft(d Deps) (Sweep, error) {
	var s Sweep
	var folders publish.Swept
	var errs []error
	if r := d.registry(); r != "" {
		var err error
		folders, err = publish.SweepRegistered(r)
		errs = append(errs, err)
	}
	files, err := SweepCache(d.AudioDir, d.maxAge(), d.now())
	errs = append(errs, err)
	if d.StateDir != "" {
		_, err = sweepFiles(d.chunkDir(), resumeAge, d.now(), chunkName)
		errs = append(errs, err)
		_, err = sweepFiles(d.resumeDir(), resumeAge, d.now(), resumeName)
		errs = append(errs, err)
	}
	s.Files, s.Folders = len(files), folders.Removed
	s.Note = "files of the audio cache go after " + ageWords(d.maxAge())
	return s, errors.Join(errs...)
}

func ageWords(age time.Duration) string {
	switch {
	case age < 0:
		return "never"
	case age%time.Hour == 0 && age > time.Hour:
		return plural(int(age/time.Hour), "hour")
	}
	return age.String()
}
