// Package danger knows which shell commands a person should be asked about,
// and which are not run at all.
//
//	command ──▶ shellwords ──▶ every simple command within ──▶ rules ──▶ Matches
//	             wrappers off, literals followed,                        │
//	             scripts of sh -c, eval, here-documents read             ▼
//	                                        Policy ──▶ Decide ──▶ Run, Ask, Refuse
//
// Rules:
//   - A rule looks at commands and their words, never at raw text: echo "rm -rf
//     /" is no match, and r'm' -rf / is one.
//   - A match of level Never is refused, whatever the policy says.
//   - What cannot be read, or is not known before it runs, is asked about. It
//     is never taken for harmless.
//   - This is a seat belt and no wall: a program can do from within whatever it
//     likes, and no text tells.
package danger
