// Package email sends by SMTP, with go-mail.
//
//	greeting EHLO STARTTLS AUTH MAIL RCPT DATA │ content │ . │ 250 │ QUIT
//	└──────── a cut here: nothing was sent ────┘└ unknown ──┘└ sent ─────┘
//
// Rules:
//   - One message is one e-mail: its text and its files have one fate. A file
//     that does not fit, or changed, is left out by name before the connection.
//   - Files were opened by the core and are attached by their reader. The
//     library's AttachFile delivers a mail without a file that it cannot open;
//     so the attachments are counted before the connection, and each body says
//     that it was read whole before the end of the mail is written.
//   - The library holds each file in memory to encode it. So the encoding is
//     ours, and writes to the connection.
//   - The steps are ours and not the library's, so that each has its outcome:
//     one refused recipient, and nobody is sent anything.
//   - A password goes over an encrypted connection, or to this machine.
package email
