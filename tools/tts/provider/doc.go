// Package provider asks speech engines for audio: programs on this machine,
// servers that speak HTTP or Wyoming, and commands that a user wrote.
//
//	Request (text, voice, Out) ──▶ Provider.Speak ──▶ Made, and a file at Out
//	                                     │
//	                                     └──▶ *Error: what kind, the engine's own words
//
// Rules:
//   - One request makes one file, at Request.Out, in a folder that is the
//     caller's alone. Nothing else on the machine is written.
//   - The text goes by file, pipe or body. It is never an argument: arguments
//     are for everyone to read.
//   - An exit code of 0 and a status of 200 prove nothing. Here it is checked
//     that the file begins as audio and, where the transport can tell, that all
//     of it came; the caller reads it to its end.
//   - Nothing is asked twice. A request that failed is the caller's to repeat.
//   - An error carries the engine's own message, cut, in one line, without
//     control characters, MEDIA directives and keys.
//   - Memory is bounded and so is what a server can make us store.
//
// All providers pass the one contract suite in contract_test.go.
package provider
