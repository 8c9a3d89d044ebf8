// Package claims turns what an agent's record says of a call into what the
// journal holds, and compares what the result claims with what can be seen.
//
//	agent/hook ─┐                ┌─▶ Call.Begin ─▶ journal.Start   secrets redacted
//	            ├─▶ Call, Result ┤
//	transcript ─┘                └─▶ Deps.End ──▶ journal.End     status, summary, Checks
//	                                    │
//	                                    └ Check: claimed / seen / verdict
//	                                         stat of the named path · decode of the named audio
//	                                         attachments asked, dropped · pid and its start
//
// Rules:
//   - A verdict has three words. Complete: what can be seen agrees. Failed: it
//     contradicts. Unknown: it cannot be told, and Seen says why.
//   - A contradiction needs proof in time: a file counts against a claim only
//     when the kernel's change time says that it was so while the call ran. A
//     file or folder that was changed since proves nothing.
//   - A relative path without a known directory, and a path of a machine or
//     sandbox that is not this one, proves nothing either.
//   - Paths pass safepath's policy for reading before anything looks at them.
//     What it refuses is not looked at, and is never repeated.
//   - Looking is bounded: stat only, but for audio up to a size that is decoded.
//     No network, and never the content of any other file.
//   - A result without proof is not improved: no output and no seen end is
//     unknown, not empty.
package claims
