package fdmeter

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"syscall"
)

// A Cause says why a figure is not known. The zero value is NotRead: nobody
// has looked yet.
type Cause uint8

const (
	NotRead       Cause = iota
	Denied              // the kernel refused (EACCES, EPERM)
	Gone                // the process or descriptor does not exist any more
	Unsupported         // this system does not offer the figure
	NoDescriptors       // reading it needs a descriptor and none was free (EMFILE, ENFILE)
	Stale               // what was read earlier is proved wrong, and was not read again yet
	Unlimited           // there is no such limit
	TooFew              // not enough samples yet
	Broken              // any other error
	Elsewhere           // in another network namespace, whose tables are not ours
	NotListed           // not in the tables that were read
	NotRecorded         // the process is not in that snapshot, and may have been there
)

var causeWords = [...]string{
	NotRead:       "not read",
	Denied:        "not permitted",
	Gone:          "process is gone",
	Unsupported:   "not supported on this system",
	NoDescriptors: "no free descriptor to read it with",
	Stale:         "changed since it was read",
	Unlimited:     "unlimited",
	TooFew:        "too few samples",
	Broken:        "read failed",
	Elsewhere:     "in another network namespace",
	NotListed:     "not in the socket tables",
	NotRecorded:   "not in that snapshot",
}

func (c Cause) String() string {
	if int(c) < len(causeWords) {
		return causeWords[c]
	}
	return "cause " + strconv.Itoa(int(c))
}

// Sentinels for the causes a caller tests with errors.Is.
var (
	ErrDenied        = errors.New("not permitted")
	ErrGone          = errors.New("process is gone")
	ErrUnsupported   = errors.New("not supported on this system")
	ErrNoDescriptors = errors.New("no free descriptor")
)

// An UnknownError reports a figure that could not be had.
type UnknownError struct {
	Cause Cause
	Errno syscall.Errno // 0 when no system call failed
}

func (e *UnknownError) Error() string {
	if e.Cause == Broken && e.Errno != 0 {
		return fmt.Sprintf("%v: %v", e.Cause, e.Errno)
	}
	return e.Cause.String()
}

// Is matches the sentinel of the cause.
func (e *UnknownError) Is(target error) bool {
	switch e.Cause {
	case Denied:
		return target == ErrDenied
	case Gone:
		return target == ErrGone
	case Unsupported:
		return target == ErrUnsupported
	case NoDescriptors:
		return target == ErrNoDescriptors
	}
	return false
}

func (e *UnknownError) Unwrap() error {
	if e.Errno == 0 {
		return nil
	}
	return e.Errno
}

// A Value is a figure, or the reason why there is none. The zero Value is
// unknown. Values compare with ==.
type Value struct {
	n     int64
	known bool
	cause Cause
	errno uint16
}

// Known returns the Value n.
func Known(n int64) Value { return Value{n: n, known: true} }

// Unknown returns a Value without a figure.
func Unknown(c Cause) Value { return Value{cause: c} }

// failed returns the unknown Value that err stands for.
func failed(err error) Value {
	v := Value{cause: causeOf(err)}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		v.errno = uint16(errno)
	}
	return v
}

// causeOf sorts an error of the operating system.
func causeOf(err error) Cause {
	if unknown, ok := errors.AsType[*UnknownError](err); ok {
		return unknown.Cause
	}
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, ErrDenied):
		return Denied
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ESRCH), errors.Is(err, ErrGone):
		return Gone
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return NoDescriptors
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, ErrUnsupported):
		return Unsupported
	}
	return Broken
}

func isGone(err error) bool { return err != nil && causeOf(err) == Gone }

// Get returns the figure and whether it is known. The figure of an unknown
// Value is 0 and means nothing.
func (v Value) Get() (n int64, known bool) { return v.n, v.known }

// Known reports whether there is a figure.
func (v Value) Known() bool { return v.known }

// Cause says why there is no figure; it means nothing for a known Value.
func (v Value) Cause() Cause { return v.cause }

// Err returns nil for a known Value and an *UnknownError otherwise.
func (v Value) Err() error {
	if v.known {
		return nil
	}
	return &UnknownError{Cause: v.cause, Errno: syscall.Errno(v.errno)}
}

// Reason returns why there is no figure, and "" for a known Value.
func (v Value) Reason() string {
	if v.known {
		return ""
	}
	return v.Err().Error()
}

// String returns the figure, "unlimited", or "?".
func (v Value) String() string {
	switch {
	case v.known:
		return strconv.FormatInt(v.n, 10)
	case v.cause == Unlimited:
		return Unlimited.String()
	}
	return "?"
}

// MarshalJSON writes the figure, or null.
func (v Value) MarshalJSON() ([]byte, error) {
	if !v.known {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, v.n, 10), nil
}

// UnmarshalJSON reads a figure, or null as unknown.
func (v *Value) UnmarshalJSON(data []byte) error {
	var n *int64
	if err := json.Unmarshal(data, &n); err != nil {
		return fmt.Errorf("read value: %w", err)
	}
	*v = Value{}
	if n != nil {
		*v = Known(*n)
	}
	return nil
}

// A Method says how a count was made. The zero value names none.
type Method uint8

const (
	ByNone     Method = iota
	ByStat            // the size of /proc/PID/fd
	ByListing         // the names in /proc/PID/fd
	ByProcInfo        // macOS proc_info, PROC_PIDLISTFDS
)

func (m Method) String() string {
	switch m {
	case ByStat:
		return "stat"
	case ByListing:
		return "listing"
	case ByProcInfo:
		return "proc_info"
	}
	return "none"
}

// MarshalJSON writes the method's name, or null when nothing was counted.
func (m Method) MarshalJSON() ([]byte, error) {
	if m == ByNone {
		return []byte("null"), nil
	}
	return json.Marshal(m.String())
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (m *Method) UnmarshalJSON(data []byte) error {
	var name *string
	if err := json.Unmarshal(data, &name); err != nil {
		return fmt.Errorf("read method: %w", err)
	}
	*m = ByNone
	if name == nil {
		return nil
	}
	for _, known := range []Method{ByStat, ByListing, ByProcInfo} {
		if known.String() == *name {
			*m = known
			return nil
		}
	}
	return fmt.Errorf("read method: unknown name %q", *name)
}

// A LimitMethod says where the limits of a process were read. The zero value
// says nowhere.
type LimitMethod uint8

const (
	LimitsByNone    LimitMethod = iota
	LimitsByPrlimit             // prlimit(2)
	LimitsByFile                // /proc/PID/limits, where prlimit was refused
	LimitsByOwn                 // getrlimit(2), our own only
)

func (m LimitMethod) String() string {
	switch m {
	case LimitsByPrlimit:
		return "prlimit"
	case LimitsByFile:
		return "limits file"
	case LimitsByOwn:
		return "getrlimit"
	}
	return "none"
}

// MarshalJSON writes the method's name, or null when nothing was read.
func (m LimitMethod) MarshalJSON() ([]byte, error) {
	if m == LimitsByNone {
		return []byte("null"), nil
	}
	return json.Marshal(m.String())
}
