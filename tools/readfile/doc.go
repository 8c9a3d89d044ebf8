// Package readfile reads a part of a text file and says what it read and what
// it did not.
//
//	path ──▶ safepath.Open ──▶ one descriptor ── fstat: size
//	                                │ read to the end: lines counted, some kept
//	                                ▼
//	                          fstat again ──▶ Result: content, total_lines,
//	                                          file_size, bytes_read, eof_seen
//
// Rules:
//   - The file is opened once. Its size, its kind and its content come from that
//     descriptor, and nothing else is started to find them out.
//   - A number that is not known is null, never 0. Bytes that were read and the
//     size before and after must agree; where they do not, that is an error.
//   - What is left out is counted, and next_offset says where to go on.
//   - Secrets in the content are masked and counted.
package readfile
