// Package audio reads, checks, joins and writes the few containers that speech
// comes in, so that nobody has to believe a file name or an exit code.
//
//	file ──Sniff──▶ container ──Inspect──▶ Info (rate, channels, frames, peak)
//	                                         │ an error says what is wrong with it
//	chunks ──Join──▶ one WAV, header from the true length, levels for a line
//	mp3 chunks ──JoinMP3──▶ one MP3, frame after frame
//
// Rules:
//   - The bytes decide what a file is. Its name and a Content-Type do not.
//   - A header is a claim: the samples are counted, and a file that ends before
//     its header says is truncated and never "short".
//   - Memory is bounded: no file is read whole.
//   - Numbers: a frame is one sample of every channel; a sample is 16 bits,
//     little endian, signed.
package audio
