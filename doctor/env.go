package doctor

import (
	"os"
	"os/exec"
	"time"

	"github.com/honestty/honestty/tools/fdmeter"
)

// An Answer is yes, no, or not known, which is the zero value.
type Answer uint8

const (
	NotKnown Answer = iota
	No
	Yes
)

// An Env is what the checks look at. Its zero value is this machine without
// what only the caller knows, and those checks then say unknown.
type Env struct {
	// Proc is where a proc file system lies; "" is the system's own. Tests put
	// a folder of their own there.
	Proc string
	// PIDs are the processes pointed at. Without any, every process that may
	// be looked at is.
	PIDs []int
	// NoSelect is the meter's; see fdmeter.Meter.
	NoSelect func(pid int) bool

	Temp  string // "" means os.TempDir
	State string // our own state folder; "" leaves it out

	Terminal Terminal
	// Waiting is how this process waits: "epoll", "kqueue", "poll"; "" when the
	// caller did not say. WaitingCause is why it fell back to poll.
	Waiting      string
	WaitingCause string
	// TryWait waits for real on a descriptor with a number above 1023 and
	// returns the number. Nil leaves that part out.
	TryWait func() (number int, err error)

	Leftovers []Leftover

	// SocketVariable is the environment variable in which a window tells its
	// socket to what it starts. "" leaves that check out. SocketDead reports
	// whether nobody answers on a socket; nil: the function of that name.
	SocketVariable string
	SocketDead     func(path string) (bool, error)

	// HermesHome is where Hermes keeps its files; "" means ~/.hermes.
	HermesHome string

	Getenv func(string) string             // nil: os.Getenv
	Look   func(string) (string, error)    // finds a program; nil: exec.LookPath
	Statfs func(path string) (Room, error) // nil: the system's
	Now    time.Time                       // zero: now

	meter *fdmeter.Meter
}

// A Terminal is what the caller found out about the outer terminal.
type Terminal struct {
	Passthrough Answer // inside tmux: whether allow-passthrough lets sequences through
	Clipboard   Answer // whether it takes OSC 52
	TrueColor   Answer // what it answered, beyond what COLORTERM claims
	Sync        Answer // synchronized output, DECSET 2026
}

// A Leftover is a folder of ours in which things may have been left behind.
type Leftover struct {
	What    string // "sockets", "spill files", "speech folders", "job records"
	Folder  string
	Pattern string // as filepath.Match has it; "" means every name
	// Dead says whether one is left over. An error means that nobody can tell.
	// Nil means: older than Age.
	Dead func(path string) (bool, error)
	Age  time.Duration
}

// Room is what is left in the file system of a folder.
type Room struct {
	Bytes, BytesAll uint64 // for users without privileges
	Files, FilesAll uint64 // inodes; FilesAll is 0 where the system has no fixed number
}

func (e Env) filled() Env {
	if e.Getenv == nil {
		e.Getenv = os.Getenv
	}
	if e.Look == nil {
		e.Look = exec.LookPath
	}
	if e.Statfs == nil {
		e.Statfs = statfs
	}
	if e.SocketDead == nil {
		e.SocketDead = SocketDead
	}
	if e.Temp == "" {
		e.Temp = os.TempDir()
	}
	if e.Now.IsZero() {
		e.Now = time.Now()
	}
	e.meter = &fdmeter.Meter{Root: e.Proc, NoSelect: e.NoSelect}
	if e.Proc == "" {
		e.Proc = "/proc"
	}
	return e
}

// read takes a full reading; in a tree of a test our own pid is not there.
func (e Env) read(pid int) fdmeter.Reading { return e.meter.Read(pid, e.Now) }
