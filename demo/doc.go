// Package demo shows the failures this product answers, live: each part does
// one thing the old way and our way, beside each other, and counts.
//
//	Run ─▶ part ─▶ old way  ─▶ Row   what it shows, and how much is there
//	         │  └▶ honestty ─▶ Row   the same thing, by the product's own code
//	         └───▶ verdict           kept, failed or not run: ours is judged
//
// Rules:
//   - Ours is the product's own package, never a copy made for the demo.
//   - An old way is either a program that is really on this machine, or a few
//     lines that do what was found in the field. Its row says which.
//   - Only ours is judged. An old way that went well this time reads so.
//   - What could not be run is "not run" with the reason, and never a 0.
//   - Nothing leaves this machine, and nothing outside a private folder is
//     touched. select() is called here and nowhere else.
package demo
