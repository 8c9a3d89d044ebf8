package safepath

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/honestty/honestty/outcome"
)

// A Use is what a path is wanted for.
type Use uint8

// The uses. The zero value is the one that can do the least harm.
const (
	Read    Use = iota // its content is shown to the caller
	Write              // a file is created or replaced there
	Deliver            // its content leaves the machine
)

var useNames = [...]string{"read", "write", "deliver"}

func (u Use) String() string {
	if int(u) < len(useNames) {
		return useNames[u]
	}
	return fmt.Sprintf("invalid(%d)", u)
}

// The rules that refuse. A rule about a place is RuleProtected followed by
// the name of the place; a rule about the kind of a file is RuleKind followed
// by the kind.
const (
	RuleEmpty     = "empty path"
	RuleControl   = "control characters or line separators"
	RuleEncoding  = "not UTF-8"
	RuleMedia     = "media directive"
	RuleTraversal = "'..' component"
	RuleProtected = "protected place: "
	RuleRelative  = "not an absolute path"
	RuleKind      = "not a regular file: "
	RuleMount     = "leads out of the mounted folder"
	RuleRoots     = "outside the folders for writing"
	RuleStrict    = "strict delivery: not in an allowed folder and not changed lately"
	RuleChanged   = "changed while it was opened"
)

// DefaultRecency is how long ago a file may have been changed to be delivered
// in strict mode, unless the policy says otherwise.
const DefaultRecency = 600 * time.Second

// ErrNotFound matches the error of a path to deliver where nothing is.
var ErrNotFound = fmt.Errorf("not found on this host: %w", fs.ErrNotExist)

// A Path is a path that passed. All its spellings are free of control
// characters and of media directives, so they may be repeated.
type Path struct {
	Asked   string // as the caller wrote it
	Abs     string // absolute and clean, links not followed
	Real    string // Abs with every link followed, also where the end is missing
	Approve string // the rule that wants approval; empty when none does
	Mount   string // the folder inside a sandbox that was translated; empty when none was
}

// A Mount says where a folder of a sandbox lies on this machine.
type Mount struct {
	Inside string // absolute, as the sandbox names it
	Here   string // absolute, as this machine names it
}

// A Policy holds what differs between machines and users. The zero value
// protects the places of the system and has no home. Its folders are absolute
// or start with "~/".
type Policy struct {
	Home   string   // absolute; "~" in paths and places means it
	Moved  []Move   // places of the home that lie elsewhere
	State  []string // our own folders: never written to or delivered by a tool
	Allow  []string // folders that may be delivered although a place around them is denied
	Deny   []string // folders and files that are denied for every use
	Mounts []Mount  // folders of sandboxes, for Deliver

	// WriteRoots are the only folders to write to; none means everywhere.
	WriteRoots []string

	Strict  bool          // deliver only from Allow, or what was changed lately
	Recency time.Duration // what lately is; 0 means DefaultRecency
}

// Default is the policy of the user who runs this process.
func Default() (Policy, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return Policy{}, fmt.Errorf("find the home folder: %w", err)
	}
	if !filepath.IsAbs(home) {
		return Policy{}, errors.New("find the home folder: HOME is not an absolute path")
	}
	return Policy{Home: filepath.Clean(home), Moved: Moved(os.Getenv)}, nil
}

// Check is Policy.Check by the default policy, from the working directory.
func Check(path string, use Use) (Path, error) {
	p, err := Default()
	if err != nil {
		return Path{}, err
	}
	return p.Check(path, "", use)
}

// Check passes path through the gates in order. A relative path is meant from
// dir, or from the working directory when dir is empty; for Deliver it is
// refused. The error matches outcome.ErrRefused when a rule forbids the path,
// and fs.ErrNotExist when there is nothing to deliver. A path to write or to
// read need not exist.
func (p Policy) Check(path, dir string, use Use) (Path, error) {
	if err := checkText(path); err != nil {
		return Path{}, err
	}
	if hasTraversal(path) {
		return Path{}, refuse(RuleTraversal)
	}
	out := Path{Asked: path}
	abs, err := p.absolute(path, dir, use, &out)
	if err != nil {
		return Path{}, err
	}
	out.Abs = abs
	if err := checkText(out.Abs); err != nil {
		return Path{}, err
	}
	l := newLook()
	real, resolveErr := l.resolve(out.Abs)
	if resolveErr == nil {
		out.Real = real
		if err := checkText(out.Real); err != nil {
			return Path{}, err
		}
	}
	v := p.judge(out, use, l)
	switch {
	case v.verdict == denied:
		return Path{}, refuse(RuleProtected + v.name)
	case resolveErr != nil:
		return Path{}, fmt.Errorf("follow the path: %w", bare(resolveErr))
	case v.verdict == approval:
		out.Approve = v.name
	}
	if use == Write && !p.inRoots(out, l) {
		return Path{}, refuse(RuleRoots)
	}
	if use == Deliver {
		if err := p.deliverable(out, v); err != nil {
			return Path{}, err
		}
	}
	return out, nil
}

// absolute makes path absolute: "~" is the home, and for Deliver the folder of
// a sandbox is the one on this machine.
func (p Policy) absolute(path, dir string, use Use, out *Path) (string, error) {
	if use == Deliver {
		for _, m := range p.Mounts {
			if rest, ok := below(filepath.Clean(path), filepath.Clean(m.Inside)); ok && filepath.IsAbs(path) {
				out.Mount = m.Inside
				return filepath.Join(p.folder(m.Here), rest), nil
			}
		}
	}
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		if p.Home == "" {
			return "", errors.New("expand ~: the home folder is not known")
		}
		return filepath.Join(p.Home, rest), nil
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	if use == Deliver {
		return "", refuse(RuleRelative)
	}
	if dir == "" {
		wd, err := os.Getwd()
		if err != nil {
			return "", fmt.Errorf("find the working directory: %w", bare(err))
		}
		dir = wd
	}
	if !filepath.IsAbs(dir) {
		return "", errors.New("make the path absolute: the caller's directory is not absolute")
	}
	return filepath.Join(dir, path), nil
}

// inRoots reports whether the path leads into one of the folders for writing.
func (p Policy) inRoots(path Path, l *look) bool {
	for _, root := range p.WriteRoots {
		real, err := l.resolve(p.folder(root))
		if err == nil && under(path.Real, real) {
			return true
		}
	}
	return len(p.WriteRoots) == 0
}

// folder is a folder of the configuration, absolute and clean.
func (p Policy) folder(name string) string {
	if rest, ok := strings.CutPrefix(name, "~"); ok && p.Home != "" && (rest == "" || rest[0] == '/') {
		return filepath.Join(p.Home, rest)
	}
	return filepath.Clean(name)
}

// deliverable says whether the file is there, regular, inside its mount, and
// by strict mode known well enough.
func (p Policy) deliverable(path Path, v judgement) error {
	for _, m := range p.Mounts {
		if m.Inside != path.Mount {
			continue
		}
		here, err := newLook().resolve(p.folder(m.Here))
		if err != nil {
			return fmt.Errorf("follow the mounted folder: %w", bare(err))
		}
		if !under(path.Real, here) {
			return refuse(RuleMount)
		}
	}
	info, err := os.Lstat(path.Real)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("look at the file: %w", bare(err))
	}
	if !info.Mode().IsRegular() {
		return refuse(RuleKind + Kind(info.Mode()))
	}
	return p.strict(info, v)
}

func (p Policy) strict(info fs.FileInfo, v judgement) error {
	if !p.Strict || v.verdict == open {
		return nil
	}
	lately := p.Recency
	if lately <= 0 {
		lately = DefaultRecency
	}
	// A time far in the future proves no recent change either.
	if time.Since(info.ModTime()).Abs() <= lately {
		return nil
	}
	return refuse(RuleStrict)
}

// Kind names what a file is when it is not a regular one.
func Kind(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return "a regular file"
	case m.IsDir():
		return "a folder"
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "of an unknown kind"
}

// RuleOf is the rule that refused, or empty when err is no refusal.
func RuleOf(err error) string {
	if r, ok := errors.AsType[*outcome.RefusedError](err); ok {
		return r.Rule
	}
	return ""
}

// Message says in the words that agents know why the parameter was refused.
// It is empty when err is no refusal.
func Message(param string, err error) string {
	rule := RuleOf(err)
	place, protected := strings.CutPrefix(rule, RuleProtected)
	switch {
	case rule == "":
		return ""
	case rule == RuleControl:
		return param + " contains control characters or line separators; use a plain filesystem path"
	case rule == RuleMedia:
		return param + " must not contain a media directive (MEDIA:<path>)"
	case rule == RuleTraversal:
		return param + " contains '..' traversal component"
	case protected:
		return param + " targets a protected credential or system path: " + place
	}
	return param + " was refused: " + rule
}

// Reason is the reason that a dropped attachment carries: "not found on this
// host", "denied by the delivery policy", or what could not be found out.
func Reason(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, outcome.ErrRefused):
		return "denied by the delivery policy"
	case errors.Is(err, fs.ErrNotExist):
		return "not found on this host"
	}
	return outcome.Errno(err)
}

func refuse(rule string) error { return &outcome.RefusedError{Rule: rule} }

// bare takes the path out of an error of the file system.
func bare(err error) error {
	if no, ok := errors.AsType[syscall.Errno](err); ok {
		return no
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
