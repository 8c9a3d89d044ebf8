// Package execcode runs a script in one of several languages.
//
//	language, code ──▶ interpreter found in PATH
//	                   private folder 0700 ── lock, script 0600
//	                        │
//	                        ▼
//	                   Runner: the contract of the terminal tool
//	                        │
//	                        ▼
//	                   its result, and language and interpreter besides
//
// Rules:
//   - The script runs once, from a file that nobody else can read, and the
//     folder is removed when it has ended. A process that is killed leaves the
//     folder behind: Sweep removes those whose owner is gone.
//   - The outcome is the Runner's, word for word. Nothing of it is judged again.
//   - A language whose interpreter is not there is not started, and what was
//     looked for is said.
package execcode
