// Package file sends into a folder: every message becomes a folder of its own.
//
//	outbox/
//	  20260102T150405.000000000Z-KEY/   whole, or not there
//	    message.json                    target, subject, one line for each file
//	    text.txt
//	    files/01-report.pdf
//	  .tmp-KEY-N/                       being written; locked while it is
//
// Rules:
//   - A message is written under a temporary name, synced, and renamed. Whoever
//     reads the outbox sees whole messages only, also after kill -9 and a power
//     cut.
//   - A temporary folder belongs to whoever holds its lock. One that nobody
//     holds was left by a process that died; a later message removes it.
//   - Nothing else in the outbox is touched.
package file
