// Package atomicfile replaces small files of our own so that a reader sees the
// old content or the new, never a part.
//
//	create beside (exclusive) ─▶ write ─▶ fsync ─▶ rename ─▶ fsync the folder
//	        │ a step fails: the target is as it was,
//	        ▼ and what was made beside it is gone
//
// Rules:
//   - The target is a regular file or absent. A symbolic link, a device, a pipe
//     or a folder in its place is refused: whoever put it there meant another file.
//   - Only a file that this call created is removed, and only after its
//     exclusive create succeeded.
//   - The mode is exactly the one asked for, whatever the umask is.
package atomicfile
