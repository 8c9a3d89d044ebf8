// Package shellwords reads a shell command the way a shell does, as far as
// that can be done without running it.
//
//	text ──▶ Parse ──▶ Script ──▶ List of Items, joined by ; && || &
//	                                │
//	                                ▼
//	                              Stages, joined by |
//	                                │
//	                                ▼
//	                    Command: Words, Redirs, Body ──▶ Lists within
//	                                │
//	                                ▼
//	                      Word: Text, Params, Subs ──▶ Lists within
//
// Rules:
//   - Nothing is executed, expanded from the environment or looked up. What a
//     word becomes is Known or it is not, and nobody guesses.
//   - Quoting decides: a quoted operator, glob or parameter is text.
//   - Parse takes every text. What it could not read it names in Problem, and
//     what it read before stays.
//   - Depth, size and the number of words that braces make are bounded.
package shellwords
