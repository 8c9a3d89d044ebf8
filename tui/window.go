package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/config"
	"github.com/honestty/honestty/ctl"
	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/jobhost"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tui/input"
	"github.com/honestty/honestty/tui/screen"
)

// ErrTerminalGone is why a window ended when its terminal hung up or broke.
var ErrTerminalGone = errors.New("the terminal is gone")

// A SignalError is why a window ended when a signal asked it to.
type SignalError struct{ Signal os.Signal }

func (e *SignalError) Error() string {
	if sig, ok := e.Signal.(unix.Signal); ok {
		return "ended by " + outcome.SignalName(sig)
	}
	return "ended by " + e.Signal.String()
}

// Options say how a window is opened.
type Options struct {
	Poller  *fdwait.Poller
	Version string
	Spec    session.Spec // what the first pane runs
	Env     func(string) string

	Journal  string             // folder of the journal; empty: calls are not shown
	Program  string             // our own, for commands in tabs; empty: not known
	NoSelect func(pid int) bool // the meter's; see session.Config
	Settings *config.Store

	// Jobs reaches the job host, or returns jobhost.ErrNoHost; nil: there is
	// none. Play plays an audio file until its end or ctx's; nil: nothing can.
	Jobs  func() (*jobhost.Client, error)
	Play  func(ctx context.Context, path string) error
	State config.State // as remembered, this start counted
	// Troubles are what went wrong before the window opened, for its bar; a nil
	// one is none.
	Troubles []error

	fault func(key string) // fails on purpose in tests; nil in the product
}

// A writer owns the outer terminal's output. *screen.Writer is one.
type writer interface {
	Enter(screen.Modes) error
	SetModes(screen.Modes) error
	Busy() bool
	Submit(frame []byte) bool
	Pass(p []byte) bool
	Restore() error
	Close() error
}

// A reader owns the outer terminal's input. *input.Reader is one.
type reader interface {
	SetKitty(on bool)
	Done() <-chan struct{}
	End() (input.End, error)
	Close() error
}

// A Window is the outer terminal with everything that reads and writes it.
//
//	goroutine   started by  ends on               joined by
//	reader      Run         close, terminal gone  close
//	writer      Run         close, terminal gone  close
//	signals     Run         close                 close
type Window struct {
	opt     Options
	tty     *input.TTY
	reader  reader
	writer  writer
	router  *router
	program *tea.Program
	session *session.Session
	server  *ctl.Server // nil where there is no socket
	unheard error       // why there is none

	leftMu  sync.Mutex
	left    []session.Info // of panes that were closed while something outlived them
	filesMu sync.Mutex
	files   []string // that commands in panes read; they go with their panes
	signals chan os.Signal
	wg      sync.WaitGroup
	once    sync.Once
}

// Run opens a window on the terminal behind the standard streams and returns
// when it is closed and the terminal is as it was. The infos say what became
// of the panes that were still there.
func Run(ctx context.Context, o Options) ([]session.Info, error) {
	tty, err := input.OpenTerminal()
	if err != nil {
		return nil, err
	}
	return run(ctx, o, tty)
}

func run(ctx context.Context, o Options, tty *input.TTY) ([]session.Info, error) {
	w := &Window{opt: o, tty: tty, signals: make(chan os.Signal, 8)}
	if err := w.open(ctx); err != nil {
		return nil, errors.Join(err, tty.Close())
	}
	defer w.guard()
	final, err := w.program.Run()
	closeErr := w.close()
	infos := append(w.left, w.session.Close()...)
	closeErr = errors.Join(closeErr, w.dropFiles())
	if m, ok := final.(*Model); ok && m.why != nil {
		return infos, errors.Join(m.why, closeErr)
	}
	if err != nil {
		return infos, errors.Join(fmt.Errorf("run the window: %w", err), closeErr)
	}
	return infos, closeErr
}

// open takes the terminal over and starts everything, the first pane last. An
// error leaves the terminal as it was.
func (w *Window) open(ctx context.Context) error {
	size, err := w.size()
	if err != nil {
		return err
	}
	waiter, err := w.opt.Poller.Register(w.tty.FD())
	if err != nil {
		return fmt.Errorf("wait on the terminal: %w", err)
	}
	if err := w.tty.MakeRaw(); err != nil {
		return errors.Join(err, waiter.Close())
	}
	w.writer = screen.NewWriter(w.tty.FD(), waiter, w.frameDone)
	env := w.listen()
	w.router = newRouter(func(msg ordered, done chan<- struct{}) { w.program.Send(orderedMsg{msg, done}) })
	m := newModel(w, size)
	// FPS is the rate of a renderer that is not there; its ticker runs all the
	// same, and at its default it would wake an idle window 60 times a second.
	w.program = tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(nil), tea.WithOutput(io.Discard),
		tea.WithoutRenderer(), tea.WithFPS(1), tea.WithoutSignalHandler(), tea.WithoutCatchPanics())
	conf := w.opt.Settings.Config()
	w.session = session.New(session.Config{
		Poller: w.opt.Poller, Version: w.opt.Version, Env: env,
		Scrollback: conf.Terminal.Scrollback, ScrollbackBytes: int(conf.Terminal.ScrollbackBytes),
		NoSelect: w.opt.NoSelect,
		Publish:  func(f session.Fact) { w.program.Send(f) },
		Guard:    w.guard,
	})
	// Enter only queues bytes and fails only on a writer that has ended.
	if err := w.writer.Enter(m.modes); err != nil {
		return errors.Join(err, w.close())
	}
	w.writer.Pass(m.caps.Queries())
	w.reader = input.NewReader(w.tty.FD(), waiter, func(tokens []input.Token) {
		defer w.guard()
		w.router.take(tokens)
	})
	signal.Notify(w.signals, unix.SIGWINCH, unix.SIGCONT, unix.SIGTSTP, unix.SIGTERM, unix.SIGHUP, unix.SIGINT, unix.SIGQUIT)
	w.wg.Go(w.watch)
	if w.server != nil {
		w.wg.Go(w.serve)
	}
	return nil
}

// listen opens the socket through which commands reach the window, and returns
// what tells children of it. A window without a socket is still a window.
func (w *Window) listen() []string {
	s, err := ctl.Listen(ctl.Env{Getenv: w.opt.Env, Version: w.opt.Version})
	if err != nil {
		w.unheard = fmt.Errorf("commands cannot reach this window: %w", err)
		return nil
	}
	w.server = s
	return []string{ctl.SocketVariable + "=" + s.Path()}
}

// serve answers commands until the window closes.
func (w *Window) serve() {
	defer w.guard()
	if err := w.server.Serve(ctl.Methods(remote{w})); err != nil {
		w.program.Send(noteMsg{"commands cannot reach this window any more: " + err.Error(), true})
	}
}

// leave remembers a closed pane whose processes outlived it.
func (w *Window) leave(i session.Info) {
	w.leftMu.Lock()
	defer w.leftMu.Unlock()
	if len(i.Exit.Capture.Holders) > 0 {
		w.left = append(w.left, i)
	}
}

// watch turns signals and the reader's end into messages.
func (w *Window) watch() {
	defer w.guard()
	for {
		select {
		case sig, ok := <-w.signals:
			if !ok {
				return
			}
			if sig == unix.SIGCONT {
				w.resume()
				continue
			}
			if sig == unix.SIGTSTP {
				w.suspend()
				continue
			}
			if sig == unix.SIGWINCH {
				if size, err := w.size(); err == nil {
					w.program.Send(resizedMsg{size})
				}
				continue
			}
			w.program.Send(endMsg{&SignalError{sig}})
		case <-w.reader.Done():
			end, err := w.reader.End()
			if end != input.EndStopped {
				w.program.Send(endMsg{fmt.Errorf("%w: %w", ErrTerminalGone, orError(err, end.String()))})
			}
			return
		}
	}
}

// suspend gives the terminal back and stops the process, as job control wants
// it: the order came as SIGTSTP. The panes go on. It is ignored, as the kernel
// ignores it, where nobody could continue us.
//
// The stop itself is SIGSTOP: once Go has been asked to notice SIGTSTP, it does
// not give the signal its default action back.
func (w *Window) suspend() {
	if orphaned() {
		w.program.Send(noteMsg{"not suspended: no shell with job control could bring this window back", true})
		return
	}
	_ = w.writer.Restore() // a terminal that refuses is gone, and the reader says so
	_ = w.tty.Restore()
	_ = unix.Kill(os.Getpid(), unix.SIGSTOP) // cannot fail: we may signal ourselves; SIGCONT resumes
}

// orphaned reports whether our process group is one that no shell controls
// (POSIX 3.269): it is the session leader's own, or the leader has gone.
func orphaned() bool {
	leader, err := unix.Getsid(0)
	if err != nil {
		return true
	}
	group, err := unix.Getpgid(leader)
	return err != nil || group == unix.Getpgrp()
}

// resume takes the terminal over again after a stop, in which a shell put its
// own modes in force. The modes of the line come first: in the background that
// stops us again, before anything is written over the shell's screen. A
// terminal that refuses is gone, and the reader says so.
func (w *Window) resume() {
	_ = w.tty.MakeRaw()
	_ = w.writer.Restore()
	w.program.Send(resumedMsg{})
	if size, err := w.size(); err == nil {
		w.program.Send(resizedMsg{size})
	}
}

func orError(err error, text string) error {
	if err != nil {
		return err
	}
	return errors.New(text)
}

// frameDone is called by the writer after each frame, and once when the
// terminal is gone.
func (w *Window) frameDone(err error) {
	defer w.guard()
	if err != nil {
		w.program.Send(endMsg{fmt.Errorf("%w: %w", ErrTerminalGone, err)})
		return
	}
	w.program.Send(frameDoneMsg{})
}

func (w *Window) size() (ptybridge.Size, error) {
	cols, rows, px, py, err := w.tty.Size()
	if err != nil {
		return ptybridge.Size{}, err
	}
	if cols == 0 || rows == 0 { // a terminal that was never told its size
		cols, rows = 80, 24
	}
	return ptybridge.Size{Cols: cols, Rows: rows, PixelsX: px, PixelsY: py}.Clamp(), nil
}

// close gives the terminal back and joins what reads and writes it. The order
// is the reverse of open's: nobody is left who could write to the terminal
// once its modes are restored.
func (w *Window) close() error {
	var err error
	w.once.Do(func() {
		w.router.stop()
		if w.server != nil {
			err = w.server.Close()
		}
		err = errors.Join(err, w.writer.Close())
		if w.reader != nil {
			err = errors.Join(err, w.reader.Close())
		}
		signal.Stop(w.signals)
		close(w.signals)
		w.wg.Wait()
		err = errors.Join(err, w.tty.Close())
	})
	return err
}

// guard is deferred by every goroutine of the window: a panic ends the
// program, but never with the outer terminal in our modes.
func (w *Window) guard() {
	if cause := recover(); cause != nil {
		_ = w.writer.Restore()
		_ = w.tty.Restore()
		panic(cause)
	}
}
