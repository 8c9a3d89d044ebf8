// Package discord sends to Discord, by a webhook or as a bot.
//
//	webhook   POST /webhooks/ID/TOKEN?wait=true
//	bot       POST /channels/CHAT/messages
//	            │  payload_json + files[0]
//	            ▼
//	          {"id","attachments":[{"size"}]}   compared with what was sent
//
// Rules:
//   - A webhook is always asked to wait: without it the answer proves nothing.
//   - Each file is a message of its own, so that each has an answer of its own.
//   - Nothing we send notifies anybody by a name that happens to be in it.
//   - The size limit has changed over the years and differs by server: it is a
//     setting.
package discord
