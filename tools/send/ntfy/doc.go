// Package ntfy sends to topics of an ntfy server.
//
//	text ──▶ PUT /topic   body: the text
//	file ──▶ PUT /topic   body: the file   Filename, X-Message
//	           ▼
//	         {"id","attachment":{"size"}}   compared with what was sent
//
// Rules:
//   - A header carries ASCII; other text goes in it as RFC 2047 says.
//   - The server turns a text that is too long into a file, and an empty file
//     into a text. Neither is what was asked for, so neither is sent.
package ntfy
