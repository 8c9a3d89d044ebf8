// Package sendtest is the contract of a send platform, as tests: what every
// platform does against a strict fake of its service.
//
//	Run ──▶ Platform ──▶ Cutter ──▶ Fake
//	  │      under test    breaks     strict; hashes what it accepts;
//	  │                    at byte n  armed with one Fault at a time
//	  └── compares what the platform said with what the fake accepted
//
// Rules:
//   - What a platform says is checked against what arrived: sent means that it
//     arrived with these bytes, dropped and rejected that it did not.
//   - A fault is met once, and a second send is a failure of its own.
//   - The secret of a fake may be in nothing that a platform returns.
package sendtest
