// Package doctor runs checks on this machine and says what each of them saw.
//
//	Env ──▶ Run ──▶ limits · select() · terminals pool · space · clipboard
//	                terminal · waiting · leftovers · outlived · Hermes
//	                    │
//	                    ▼
//	              []Check{verdict, evidence, why, remedy} ──▶ text, JSON
//
// Rules:
//   - A check runs for real and gives what it saw as evidence: figures, paths,
//     answers of the kernel. A verdict without evidence does not exist.
//   - The zero verdict is unknown. What could not be looked at is unknown with
//     the reason, and never ok.
//   - A remedy is a thing to do, and stands beside every verdict that is not ok.
//   - Nothing is repaired, removed or signalled here. The only thing a check
//     writes is one small file in each folder whose space it tests, and it
//     removes that file again.
//   - Names and paths from outside are shown without control characters.
package doctor
