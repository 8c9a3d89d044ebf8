// Package tts is text_to_speech: a text becomes an audio file, at no cost to any
// file that was there before, and the result says where it went.
//
//	Params ─▶ plan ── path checked, provider chosen, container decided
//	            │       nothing was written and nothing was asked so far
//	            ▼
//	          work folder beside the target ─▶ chunk ▸ verify ▸ chunk ▸ verify …
//	            │                                (finished ones are kept for a resume)
//	            ▼
//	          join as PCM ▸ encode once ▸ verify ─▶ publish ─▶ Result
//
// Rules:
//   - The target is touched by one rename, after everything else has worked.
//   - A provider's word is not believed: each chunk is decoded to its end, has
//     sound, and lasts as long as its text can.
//   - What was asked for and what was done stand side by side: path, provider,
//     container, speed. Where they differ a note says why.
//   - No provider takes the place of one that failed.
//   - Everything that leaves in a result is free of control characters, keys
//     and MEDIA directives but the one that media_tag is.
//
// Decisions where several were possible:
//   - A symbolic link is written through: the file that it leads to is replaced
//     and the link stays.
//   - Without an encoder notes.mp3 becomes notes.wav. A notes.wav that exists is
//     never replaced for that, except by force: nobody named it.
//   - A path without an extension gets that of what was made.
//   - A chunk that failed is not asked for again in the same call; the others
//     are still made, so that a resume has less to pay.
package tts
