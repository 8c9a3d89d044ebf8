package fdmeter

// A source answers questions about processes on one kind of system. Its
// methods may be called from several goroutines at once.
type source interface {
	// pids calls each for every process and fails as a whole or not at all.
	pids(each func(pid int)) error
	// identity returns who a process is; the command line is not part of it.
	identity(pid int) (Proc, error)
	// command returns argv, which is empty for a kernel thread.
	command(pid int) ([]string, error)
	// count counts as cheaply as the system allows.
	count(pid int) (Value, Method)
	// numbers calls each for every descriptor. A descriptor that the listing
	// itself opened in our own process is left out. The hint is whatever
	// describe may want to be told again.
	numbers(pid int, each func(fd int, hint uint32)) error
	limits(pid int) (soft, hard Value)
	// describe says what one descriptor is. ErrGone means it was closed
	// meanwhile; every other failure is part of the FD.
	describe(pid, fd int, hint uint32) (FD, error)
	system() System
}

// nowhere is the source of a system that offers nothing, such as FreeBSD so far.
type nowhere struct{}

func (nowhere) pids(func(int)) error                  { return ErrUnsupported }
func (nowhere) identity(int) (Proc, error)            { return Proc{}, ErrUnsupported }
func (nowhere) command(int) ([]string, error)         { return nil, ErrUnsupported }
func (nowhere) count(int) (Value, Method)             { return Unknown(Unsupported), ByNone }
func (nowhere) numbers(int, func(int, uint32)) error  { return ErrUnsupported }
func (nowhere) limits(int) (soft, hard Value)         { return Unknown(Unsupported), Unknown(Unsupported) }
func (nowhere) describe(int, int, uint32) (FD, error) { return FD{}, ErrUnsupported }
func (nowhere) system() System {
	none := Unknown(Unsupported)
	return System{none, none, none, none, none, none}
}
