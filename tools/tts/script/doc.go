// Package script turns a text that was written to be read into pieces that can
// be spoken, and counts everything that it left out.
//
//	text ──Clean──▶ words (what was left out, counted)
//	                  │
//	                  ├──Letters, Coverage──▶ is there anything a voice can say?
//	                  └──Chunks──▶ pieces under a provider's limit, cut at sentence ends
//
// Rules:
//   - The pieces joined give the cleaned text again. Nothing is cut off.
//   - What Clean leaves out is counted by kind, so that a result can say it.
//   - A length is in characters (Unicode code points).
//   - Pure: no file, no clock.
package script
