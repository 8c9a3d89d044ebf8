// Package telegram sends through a bot of the Telegram Bot API, by
// go-telegram/bot.
//
//	Message ─▶ units ─▶ library ─▶ client.Do ─▶ Wire ─▶ server
//	           one file, │            │ keeps the answer    │
//	           or album  │            │ joins the writer    │
//	                     ▼            ▼                     │
//	Delivery ◀─ judge ◀─ error, message, trip ◀─────────────┘
//
// Rules:
//   - The library returns a message on every error, and no error for an answer
//     without a message. So a text counts as sent only with a message id, and a
//     file only with a message id and a file object of the size that was sent.
//     Telegram encodes photos anew: of a photo the object alone is compared.
//   - The library hides the HTTP answer behind decode errors. The trip keeps it,
//     and the judgement rests on the status, the answer and the bytes that went
//     out, never on the text of an error.
//   - The token is part of every URL. No error of the library is shown as it is,
//     and every text is scrubbed.
//   - The library writes the form in a goroutine that it does not join. Do joins
//     it before it returns, so no file is read after Send.
//   - A topic that is gone is an error. Nothing is put elsewhere unasked.
package telegram
