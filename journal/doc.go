// Package journal is the append-only record of calls: what was asked, from
// where, and how it ended.
//
//	window · cli · mcp ──Begin, Progress, End──▶ Journal ── lock, number, one write ──▶ journal.jsonl
//	                                                          │ full: renamed            │
//	                                                          ▼                          ▼
//	             results/CALL.json (large results)   journal-FIRST.jsonl         Follower.Poll (new)
//	                                                          │                          │
//	                                 Tail.Chunk (older) ◀─────┴──────────────────────────┤
//	                                        │                                            │
//	                                        └──────────▶ Book ◀──────────────────────────┘
//	                                            one Record a call, newest first
//
// Rules:
//   - Writing never fails a call. What could not be written is counted, Trouble
//     says so now, and a Gap says so in the journal as soon as writing works.
//   - All writers of one folder share one sequence of numbers that counts up by
//     one. A number that is missing when reading is itself told, as a Gap.
//   - An event is one line and is written by one write. A part of a line is
//     taken back by its writer; where the writer was killed, the next one ends
//     the line and says that an event was torn.
//   - Files are 0600 in a 0700 folder, both our own. A symbolic link in their
//     place is refused.
//   - Events outlive a killed process at once. They outlive a power cut only
//     when the system has written them back: an fsync for each event would
//     make the tools as slow as the disk.
//   - A Book holds what lists show. Arguments and results stay in the files
//     until Detail is asked for them.
package journal
