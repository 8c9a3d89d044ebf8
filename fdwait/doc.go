// Package fdwait waits until one descriptor is readable or has room, without
// select(), without a thread for each reader, and without ever calling a
// failure the end of the file.
//
//	reader ──Wait──▶ Waiter ──arm──▶ ┌ backend ──────────────┐
//	   ▲               │             │ epoll   Linux         │
//	   │ read until    │ parks a     │ kqueue  macOS FreeBSD │──▶ kernel
//	   │ EAGAIN        │ goroutine   │ poll    no descriptor │
//	   └───ready───────┘◀──deliver── └───────────── loop ────┘
//	                                      one goroutine, one Poller
//
// The rules:
//
//   - A process makes one Poller, at its start, and one Waiter for each reader,
//     for the reader's life. A Waiter costs no descriptor, so it cannot fail
//     with EMFILE when a reader needs it.
//   - The owner closes the Waiter before the descriptor. The package never
//     closes, reads, writes or changes the mode of a descriptor it waits for.
//   - A registration is armed by each Wait for one event and asks for the state,
//     not for a change. "Ready" therefore does not depend on what happened
//     before, and a hung-up descriptor that nobody reads is reported once.
//   - "Ready" may be old by one event. A reader reads until EAGAIN and waits
//     again; the descriptor must be non-blocking.
//   - ErrDeadline is the kernel's word and not the clock's: it is asked once
//     more after the time has passed.
//   - Whoever was woken runs before the loop waits again, on the thread of the
//     loop: no other thread has to be started first.
//   - A failure of set-up is a *SetupError, a failure of waiting a *WaitError.
//     Neither is end of file, neither is readiness. When the kernel refuses to
//     wait at all, every Waiter gets that error, now and later.
//   - A file that never blocks (a regular file, /dev/null) is always ready.
//   - An event that was on its way when its Waiter closed reaches nobody, also
//     when the number of the descriptor has been given out again.
//
// poll is used only when EMFILE or ENFILE left no descriptor for the better
// mechanism, and Mechanism says so. It has no descriptor to be woken with. So
// each Wait first polls its own descriptor without blocking, and then one
// goroutine polls all that are armed, in slices of 20 ms: an event that comes
// while a slice runs may be seen that much later by a Waiter that was armed in
// between, and Poller.Close may take that long. Wake and Waiter.Close do not.
// On macOS poll does not wait for terminals; there Register refuses a character
// device with ErrPollDevice.
//
// On macOS a Wait for a character device is also told "ready" every 250 ms
// while nothing comes, as a guard against events that kqueue misses on the
// master of a pseudo-terminal. The reader then finds EAGAIN.
package fdwait
