package safepath

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// openFlags keep the opening of what took the place of a file meanwhile from
// blocking, and from becoming our terminal.
const openFlags = syscall.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY

// openTries is how often Open begins again when another file took the name
// between the check and the opening, as editors do when they save.
const openTries = 3

// Open checks path and opens for reading the very file that was checked. A
// link that is put in the way between the check and the opening is a refusal,
// and so is anything but a regular file: a device is not even opened, a named
// pipe does not block. The caller closes the file.
func (p Policy) Open(path, dir string, use Use) (*os.File, Path, error) {
	for range openTries {
		f, checked, same, err := p.openOnce(path, dir, use)
		if err != nil || same {
			return f, checked, err
		}
	}
	return nil, Path{}, refuse(RuleChanged)
}

// openOnce also says whether the open file is the one that was looked at.
func (p Policy) openOnce(path, dir string, use Use) (*os.File, Path, bool, error) {
	checked, err := p.Check(path, dir, use)
	if err != nil {
		return nil, Path{}, false, err
	}
	before, err := os.Lstat(checked.Real)
	if err != nil {
		return nil, checked, false, fmt.Errorf("look at the file: %w", bare(err))
	}
	if !before.Mode().IsRegular() {
		return nil, checked, false, refuse(RuleKind + Kind(before.Mode()))
	}
	f, err := openNoLinks(checked.Real, openFlags)
	if err != nil {
		return nil, checked, false, opened(err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = fmt.Errorf("look at the open file: %w", bare(err))
	case !info.Mode().IsRegular():
		err = refuse(RuleKind + Kind(info.Mode()))
	case os.SameFile(before, info):
		return f, checked, true, nil
	}
	return nil, checked, false, errors.Join(err, f.Close())
}

// OpenFolder opens the folder that a checked path lies in, with no link on the
// way, so that files can be created and renamed in it by descriptor. The folder
// must exist. The caller closes it.
func OpenFolder(checked Path) (*os.File, error) {
	f, err := openNoLinks(filepath.Dir(checked.Real), syscall.O_RDONLY|syscall.O_DIRECTORY)
	if err != nil {
		return nil, opened(err)
	}
	return f, nil
}

// opened says what an error of openNoLinks means: a link where the check saw
// none, or a file where it saw a folder, is a change in between.
func opened(err error) error {
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENOTDIR) {
		return refuse(RuleChanged)
	}
	return fmt.Errorf("open the file: %w", bare(err))
}
