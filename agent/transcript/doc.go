// Package transcript follows the files in which agents keep their sessions and
// tells the calls in them. It only reads.
//
//	Find ──▶ Session ──▶ Follow ── stat every 250 ms ──▶ lines ──▶ reader of the format
//	                       │                              │ bounded    │ began, ended, rewound …
//	                       ▼                              ▼            ▼
//	               cursor file: place,            counted: torn,   fold: open calls
//	               file, open calls               too long,            │
//	                                              unknown              ▼
//	                                                        Sink: Begin, Progress, End
//
// Rules:
//   - A call has the same id whenever it is read. The cursor says how far a file
//     was read, so that following twice tells nothing twice; it is written after
//     what it covers was told.
//   - A line counts once its end is there. What is no record is counted and
//     passed over; so is a line that is longer than MaxLine.
//   - A file that became shorter, was replaced, or has other bytes before the
//     place is read again from its beginning, without what was told before.
//   - What the record does not prove is not added: a call without a result is
//     unknown once nothing more is to come, and never done.
//   - Memory does not grow with a file: open calls, names of unknown records and
//     the ids that were told last are bounded, and what falls out is counted.
//   - One process follows a file at a time; another is told ErrFollowed.
package transcript
