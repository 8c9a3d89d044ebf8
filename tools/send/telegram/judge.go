package telegram

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/honestty/honestty/tools/send"
)

// failed says what an error of the library means, by what is known of the
// trip.
func (r *run) failed(ctx context.Context, t *trip, err error) send.Outcome {
	o := r.judge(ctx, t, err)
	o.Reason = r.p.scrub(o.Reason)
	return o
}

func (r *run) judge(ctx context.Context, t *trip, err error) send.Outcome {
	if t.reply.Status == 0 {
		if c := t.changed(); c != nil {
			err = c
		}
		o := t.at.Failed(ctx, err)
		// Without a connection every other part would wait for the same end.
		o.Fatal = o.Status == send.Rejected
		return o
	}
	said := send.Excerpt(t.reply.Body)
	if later, ok := errors.AsType[*bot.TooManyRequestsError](err); ok {
		return send.Reject("Telegram asks to wait: " + said).After(wait(later, t.reply))
	}
	switch {
	case errors.Is(err, bot.ErrorUnauthorized):
		return send.Reject("Telegram does not accept the bot's token (401 Unauthorized)").Stop()
	case errors.Is(err, bot.ErrorNotFound):
		return send.Reject("Telegram knows no bot with this token (404 Not Found)").Stop()
	case errors.Is(err, bot.ErrorForbidden):
		return send.Reject("Telegram forbids it: " + said).Stop()
	case errors.Is(err, bot.ErrorConflict):
		return send.Reject("Telegram refuses it: " + said)
	case errors.Is(err, bot.ErrorBadRequest):
		return r.badRequest(said)
	}
	if _, ok := errors.AsType[*bot.MigrateError](err); ok {
		return send.Reject("the group became a supergroup a second time: " + said).Stop()
	}
	switch code := errorCode(t.reply); {
	case code >= 500:
		return send.Unsure(fmt.Sprintf("Telegram had an error of its own (%d): %s; it may have arrived", code, said))
	case code >= 400:
		return send.Reject(fmt.Sprintf("Telegram refuses it (%d): %s", code, said))
	case t.reply.Status/100 == 2:
		return send.Unsure("the answer could not be read (" + describe(said) + "): it may have arrived")
	}
	return send.Refusal(t.reply)
}

func describe(said string) string {
	if said == "" {
		return "it is empty"
	}
	return said
}

// errorCode is the number in an answer of the Bot API itself; 0 when the
// answer came from something before it.
func errorCode(r send.Reply) int {
	var a struct {
		OK        bool `json:"ok"`
		ErrorCode int  `json:"error_code"`
	}
	if r.JSON(&a) != nil || a.OK {
		return 0
	}
	return a.ErrorCode
}

func wait(e *bot.TooManyRequestsError, r send.Reply) time.Duration {
	if e.RetryAfter > 0 {
		return time.Duration(e.RetryAfter) * time.Second
	}
	if d := send.RetryAfter(r.Header.Get("Retry-After")); d > 0 {
		return d
	}
	return time.Second // it asks to wait and does not say how long
}

// A complaint is a description of the Bot API for which there is no code of
// its own.
type complaint struct {
	part  string // of the description, lower case
	fatal bool   // holds for the whole chat
	help  string
}

var complaints = []complaint{
	{"chat not found", true, "the bot has to be in the chat, and the id of a group is negative"},
	{"message thread not found", true, ""},
	{"topic_deleted", true, ""},
	{"topic_closed", true, "the topic is closed"},
	{"user not found", true, "the person has to write to the bot first"},
	{"peer_id_invalid", true, "the person has to write to the bot first"},
	{"group chat was deactivated", true, ""},
	{"chat_write_forbidden", true, "the bot may not write there"},
	{"have no rights to send a message", true, "the bot may not write there"},
	{"file is too big", false, ""},
}

func (r *run) badRequest(said string) send.Outcome {
	low := strings.ToLower(said)
	for _, c := range complaints {
		if !strings.Contains(low, c.part) {
			continue
		}
		reason := "Telegram refuses it: " + said
		switch {
		case c.help != "":
			reason += " (" + c.help + ")"
		case r.thread != 0 && c.fatal:
			reason += fmt.Sprintf(" (%s does not exist there; nothing was put elsewhere)", topic(r.thread))
		}
		o := send.Reject(reason)
		o.Fatal = c.fatal
		return o
	}
	return send.Reject("Telegram refuses it: " + said)
}

// refusedPicture reports whether a certain refusal is about a photo being one,
// so that it may go as a document.
func refusedPicture(o send.Outcome, err error) bool {
	if o.Status != send.Rejected || !errors.Is(err, bot.ErrorBadRequest) {
		return false
	}
	low := strings.ToLower(err.Error())
	for _, part := range []string{"photo_", "image_process_failed", "photo dimensions"} {
		if strings.Contains(low, part) {
			return true
		}
	}
	return false
}

// text judges the answer to a text.
func (r *run) tookText(t *trip, msg *models.Message) send.Outcome {
	if o, ok := r.took(t, msg); !ok {
		return o
	}
	return send.SentAs(strconv.Itoa(msg.ID))
}

// tookFile judges the answer to item i.
func (r *run) tookFile(t *trip, msg *models.Message, kind send.Kind, i int) send.Outcome {
	if o, ok := r.took(t, msg); !ok {
		return o
	}
	id, sent := strconv.Itoa(msg.ID), r.m.Items[i].Size
	if kind == send.Photo {
		for _, p := range msg.Photo {
			if p.FileID != "" {
				return send.SentAs(id)
			}
		}
	}
	held, ok := fileSize(msg)
	switch {
	case !ok:
		return send.Outcome{ID: id, Reason: "Telegram took a message, but its answer shows no file"}
	case held == 0:
		return send.Outcome{ID: id, Reason: "Telegram took a file, but its answer does not say how many bytes it has"}
	}
	return send.SentSize(id, sent, held)
}

// took reports whether an answer is a message at all.
func (r *run) took(t *trip, msg *models.Message) (send.Outcome, bool) {
	switch {
	case msg == nil || msg.ID == 0:
		return send.SentAs(""), false
	case !t.whole:
		return send.Unsure("Telegram answered before all of the message had gone out"), false
	}
	if msg.Chat.ID != 0 {
		r.d.Chat = strconv.FormatInt(msg.Chat.ID, 10)
	}
	if r.thread != 0 && msg.MessageThreadID != r.thread {
		r.warn(fmt.Sprintf("it was sent to %s, and Telegram put it elsewhere", topic(r.thread)))
	}
	return send.Outcome{}, true
}

// fileSize is the size of the file object in a message, whichever it is:
// Telegram may show a file as another kind than was asked for.
func fileSize(m *models.Message) (int64, bool) {
	switch {
	case m.Document != nil && m.Document.FileID != "":
		return m.Document.FileSize, true
	case m.Audio != nil && m.Audio.FileID != "":
		return m.Audio.FileSize, true
	case m.Video != nil && m.Video.FileID != "":
		return m.Video.FileSize, true
	case m.Voice != nil && m.Voice.FileID != "":
		return m.Voice.FileSize, true
	case m.Animation != nil && m.Animation.FileID != "":
		return m.Animation.FileSize, true
	}
	return 0, false
}
