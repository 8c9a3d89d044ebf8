// Package checkpoint keeps the old content of a user's file before a tool of
// ours replaces or removes it, and brings it back.
//
//	Keep(open old file) ─▶ tmp/… ─▶ fsync ─▶ hash twice ─▶ blobs/ab/abcd…
//	                                                        │ then, and only then
//	                                                        ▼
//	                                                index.jsonl: one line more
//	Restore(id) ─▶ keep what is there now ─▶ write beside ─▶ fsync ─▶ rename
//
// Rules:
//   - Content is named by its sha256 and stored once. The index line is written
//     after the content is safe, so a crash at any step leaves a store that can
//     be read; content without a line is swept by Prune.
//   - A file that changes while it is copied, or is too large, is an error that
//     says so: the caller decides whether to go on without a checkpoint.
//   - Reaching a limit is told in the Entry that reached it.
//   - Restoring passes safepath for writing, replaces only a regular file, and
//     keeps that file first. It never follows a link at the target.
//   - Processes share a store: one lock file, held for short steps only, never
//     while content is copied.
package checkpoint
