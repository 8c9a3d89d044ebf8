package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/honestty/honestty/outcome"
)

// Below little room a call may fail; below none it does. A spoken page is a few
// megabytes, a spill file of a long build some hundred.
const (
	littleRoom, noRoom   = 256 << 20, 4 << 20
	littleFiles, noFiles = 1000, 8
)

// probeSize is what the check writes: one block.
const probeSize = 4096

// space looks at the room of the folders that we write to, and writes there.
func space(_ context.Context, env Env, c *Check) {
	for _, f := range []struct{ what, path string }{{"temporary folder", env.Temp}, {"state folder", env.State}} {
		if f.path == "" {
			c.sees("%s: not given", f.what)
			continue
		}
		path := nearestFolder(f.path)
		if path != f.path {
			c.sees("%s %s is not there yet; looking at %s", f.what, clean(f.path), clean(path))
		}
		env.judgeRoom(c, f.what, path)
		judgeWrite(c, f.what, path)
	}
	c.finds(OK, "There is room, and it can be written to.", "")
}

func (e Env) judgeRoom(c *Check, what, path string) {
	room, err := e.Statfs(path)
	if err != nil {
		c.sees("%s %s: room unknown: %s", what, clean(path), reason(err))
		c.finds(Unknown, "The room of the "+what+" is not known.", "Look with `df -h` and `df -i`.")
		return
	}
	c.sees("%s %s: %s of %s free, %s of %s inodes free", what, clean(path),
		outcome.Size(int64(room.Bytes)), outcome.Size(int64(room.BytesAll)), outcome.Count(int64(room.Files)), outcome.Count(int64(room.FilesAll)))
	remedy := "Remove what is not needed there, or point TMPDIR (or XDG_STATE_HOME) at another disk."
	short := func(free, limit, all uint64) bool { return all > 0 && free < limit }
	switch {
	case short(room.Bytes, noRoom, room.BytesAll) || short(room.Files, noFiles, room.FilesAll):
		c.finds(Failure, "The "+what+" is full: what is written there is lost.", remedy)
	case short(room.Bytes, littleRoom, room.BytesAll) || short(room.Files, littleFiles, room.FilesAll):
		c.finds(Attention, "The "+what+" is nearly full.", remedy)
	}
}

// judgeWrite writes one block and removes it. A file system can have room and
// refuse all the same: read-only, a quota, another owner.
func judgeWrite(c *Check, what, path string) {
	err := writeProbe(path)
	if err == nil {
		c.sees("%s: wrote and removed a file of %d bytes", what, probeSize)
		return
	}
	c.sees("%s: a file of %d bytes could not be written: %s", what, probeSize, reason(err))
	if outOfDescriptors(err) {
		c.finds(Unknown, "Whether the "+what+" can be written to is not known: no descriptor was free.", noneFree)
		return
	}
	c.finds(Failure, "The "+what+" cannot be written to.", "Check its owner, its mode and its mount with `ls -ld` and `findmnt -T`.")
}

// outOfDescriptors reports whether an error says that none was left to open.
func outOfDescriptors(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// reason is an error of the system as a person may see it: it names a path.
func reason(err error) string { return clean(outcome.Errno(err)) }

func writeProbe(folder string) (err error) {
	f, err := os.CreateTemp(folder, ".honestty-doctor-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	_, err = f.Write(make([]byte, probeSize))
	return errors.Join(err, f.Close())
}

// nearestFolder returns the path or the first folder above it that exists.
func nearestFolder(path string) string {
	for {
		info, err := os.Stat(path)
		if err == nil && info.IsDir() {
			return path
		}
		above := filepath.Dir(path)
		if above == path {
			return path
		}
		path = above
	}
}

// leftovers counts what we left behind. It removes nothing.
func leftovers(ctx context.Context, env Env, c *Check) {
	if len(env.Leftovers) == 0 {
		c.sees("no folder of ours was given")
		c.finds(Unknown, "There was nothing to look at.", "Run `honestty doctor`, which gives its folders.")
		return
	}
	for _, l := range env.Leftovers {
		if ctx.Err() != nil {
			return
		}
		env.judgeLeftover(c, l)
	}
	c.finds(OK, "Nothing of ours was left behind.", "")
}

func (e Env) judgeLeftover(c *Check, l Leftover) {
	entries, err := os.ReadDir(l.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		c.sees("%s: %s is not there, so there are none", l.What, clean(l.Folder))
		return
	}
	if err != nil {
		c.sees("%s: %s could not be listed: %s", l.What, clean(l.Folder), reason(err))
		remedy := "Check the owner and the mode of the folder."
		if outOfDescriptors(err) {
			remedy = noneFree
		}
		c.finds(Unknown, "Whether "+l.What+" were left behind is not known.", remedy)
		return
	}
	var dead []string
	size, alive, unknown := int64(0), 0, 0
	for _, entry := range entries {
		if ok, err := filepath.Match(l.pattern(), entry.Name()); err != nil || !ok {
			continue
		}
		path := filepath.Join(l.Folder, entry.Name())
		gone, err := e.dead(l, path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			unknown++
		case gone:
			dead = append(dead, clean(entry.Name()))
			size += sizeOf(path)
		default:
			alive++
		}
	}
	c.sees("%s in %s: %d left over (%s), %d in use, %d unknown", l.What, clean(l.Folder), len(dead), outcome.Size(size), alive, unknown)
	if len(dead) > 0 {
		c.sees("left over: %s", strings.Join(dead[:min(len(dead), shown)], ", "))
		c.finds(Attention, "There are "+l.What+" that nobody uses any more.", "They can be removed: "+clean(l.Folder)+".")
	}
	if unknown > 0 {
		c.finds(Unknown, "Of some "+l.What+" nobody can tell whether they are in use.", "Look at them by hand in "+clean(l.Folder)+".")
	}
}

func (l Leftover) pattern() string {
	if l.Pattern == "" {
		return "*"
	}
	return l.Pattern
}

func (e Env) dead(l Leftover, path string) (bool, error) {
	if l.Dead != nil {
		return l.Dead(path)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return false, err
	}
	return e.Now.Sub(info.ModTime()) > l.Age, nil
}

// sizeOf returns the bytes of a file, or of the files directly in a folder.
func sizeOf(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil {
		return 0
	}
	if !info.IsDir() {
		return info.Size()
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return 0
	}
	total := int64(0)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
	}
	return total
}
