package fdmeter

// A source answers questions about processes on one kind of system. Its
// methods may be called from several goroutines at once.
type source interface {
	// pids calls each for every process and fails as a whole or not at all.
	pids(each func(pid int)) error
	// partial reports whether pids is known to leave out processes of others.
	partial() bool
	// identity returns who a process is; the command line is not part of it.
	identity(pid int) (Proc, error)
	// command returns argv, which is empty for a kernel thread.
	command(pid int) ([]string, error)
	// count counts as cheaply as the system allows. As long as holder is the
	// same number, the pid belongs to the same process. Another one proves
	// nothing, and 0 says that the system has none.
	count(pid int) (n Value, by Method, holder uint64)
	// numbers calls each for every descriptor. A descriptor that the listing
	// itself opened in our own process is left out. The hint is whatever
	// describe may want to be told again.
	numbers(pid int, each func(fd int, hint uint32)) error
	// highest returns the highest number, -1 when there is no descriptor, and
	// how many numbers were looked at for it. Last is what it was when the count
	// was last had by ByStat, or -1: it makes the answer cheaper and changes
	// nothing in it.
	highest(pid, last int) (top, looked int, err error)
	limits(pid int) (soft, hard Value, by LimitMethod)
	// describe says what one descriptor is. ErrGone means it was closed
	// meanwhile; every other failure is part of the FD.
	describe(pid, fd int, hint uint32) (FD, error)
	// target is describe without what costs another look: no Detail except the
	// size of a deleted file, and no flags.
	target(pid, fd int, hint uint32) (FD, error)
	system() System
	// moved brings those figures of s up to date that change by themselves.
	moved(s *System)
	// owner returns the effective user of a process.
	owner(pid int) (uid int, err error)
	// newest returns the pid that was given out last. They are given out in
	// order, and start again at the lowest free one. Known is false where the
	// system does not tell, or where that is not cheap.
	newest() (n int, known bool)
	// alive reports, at a small part of identity's price, whether a process or
	// a thread has the pid, or whether that cannot be told.
	alive(pid int) bool
	// sockets reads the tables of all sockets; elsewhere says whether those of
	// a process are in others, and protocol names the protocol of one socket.
	sockets() Sockets
	elsewhere(pid int) Maybe
	protocol(pid, fd int) string
	// same asks whether two descriptors are one open file description.
	same(pidA, fdA, pidB, fdB int) (bool, error)
	// bootID tells two runs of the machine apart; "" when it is not known.
	bootID() string
}

// nowhere is the source of a system that offers nothing, such as FreeBSD so far.
type nowhere struct{}

func (nowhere) pids(func(int)) error                 { return ErrUnsupported }
func (nowhere) partial() bool                        { return false }
func (nowhere) identity(int) (Proc, error)           { return Proc{}, ErrUnsupported }
func (nowhere) command(int) ([]string, error)        { return nil, ErrUnsupported }
func (nowhere) count(int) (Value, Method, uint64)    { return Unknown(Unsupported), ByNone, 0 }
func (nowhere) numbers(int, func(int, uint32)) error { return ErrUnsupported }
func (nowhere) highest(int, int) (int, int, error)   { return -1, 0, ErrUnsupported }
func (nowhere) limits(int) (soft, hard Value, by LimitMethod) {
	return Unknown(Unsupported), Unknown(Unsupported), LimitsByNone
}
func (nowhere) owner(int) (int, error)                { return -1, ErrUnsupported }
func (nowhere) newest() (int, bool)                   { return 0, false }
func (nowhere) alive(int) bool                        { return true }
func (nowhere) sockets() Sockets                      { return noSockets(Unsupported) }
func (nowhere) elsewhere(int) Maybe                   { return MaybeUnknown }
func (nowhere) protocol(int, int) string              { return "" }
func (nowhere) same(_, _, _, _ int) (bool, error)     { return false, ErrUnsupported }
func (nowhere) bootID() string                        { return "" }
func (nowhere) describe(int, int, uint32) (FD, error) { return FD{}, ErrUnsupported }
func (nowhere) target(int, int, uint32) (FD, error)   { return FD{}, ErrUnsupported }
func (nowhere) moved(*System)                         {}
func (nowhere) system() System {
	none := Unknown(Unsupported)
	return System{none, none, none, none, none, none}
}
