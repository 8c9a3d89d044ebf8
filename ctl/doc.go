// Package ctl is how a command talks to a running window: one line of JSON
// asks, one line answers, over a unix socket that only the same user reaches.
//
//	honestty ctl split          the window
//	      │                          │
//	   Client ──{"id":1,"method":──▶ Server ──▶ Handler (Methods of a Window)
//	      ▲       "split",…}\n       │ peer uid      │
//	      └──{"id":1,"result":…}\n───┘               └─ context ends with the client
//
//	$HONESTTY_SOCKET                     a socket by its path
//	$XDG_RUNTIME_DIR/honestty/  ┐
//	/run/user/UID/honestty/     ├─ 0700  4711.sock 0600, latest ─▶ 4711.sock, lock
//	$TMPDIR/honestty-UID/       ┘
//
// Rules:
//   - Nobody but the owner gets in: the folder is 0700 and checked (owner, mode,
//     no link), the socket is 0600, and each side asks the kernel for the uid of
//     the other. The folder closes the moment between bind and chmod; the umask
//     of the process is never touched.
//   - A socket file is removed only while the folder's lock is held, and only
//     when the kernel refused a connection to it or when it is our own.
//   - A frame is one JSON object and a newline: at most 1 MiB asked, 16 MiB
//     answered. What is too long, torn, not UTF-8 or unknown is answered with an
//     error that says so; nothing is guessed and nothing is replaced in silence.
//   - The calls of one connection run one after the other, in the order they
//     came. Calls at the same time are connections at the same time; Client
//     opens them by itself.
//   - A client that goes away ends the context of its call. One that only closed
//     its sending side still gets its answers.
//   - A client that does not read, or does not end its frame, is dropped and
//     counted. It holds up nobody else.
//   - A call without an answer was perhaps carried out: ErrUnanswered says that
//     nobody can tell. Nothing is ever asked twice.
//
// Versions: both sides say theirs in hello and must be equal. A new field in an
// answer, a new method and a new error code make no new version; an older
// window refuses a parameter or a method it does not know, by name.
package ctl
