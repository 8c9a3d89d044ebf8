package telegram

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/honestty/honestty/tools/send"
)

// A run sends one message. It is used by one goroutine.
type run struct {
	p      *Platform
	m      send.Message
	chat   any // int64 or "@name"
	thread int // 0: none

	kinds    []send.Kind     // how each item goes
	files    []*send.Outcome // of each item; nil: not settled by this run
	migrated bool            // the group's new id is used already
	d        send.Delivery
}

func (r *run) warn(s string) {
	s = r.p.scrub(s)
	if !slices.Contains(r.d.Warnings, s) {
		r.d.Warnings = append(r.d.Warnings, s)
	}
}

func (r *run) send(ctx context.Context) send.Delivery {
	r.kinds = make([]send.Kind, len(r.m.Items))
	all := make([]int, len(r.m.Items))
	notes := make([]string, len(r.m.Items))
	for i, it := range r.m.Items {
		all[i] = i
		r.kinds[i], notes[i] = shape(it)
	}
	rest := r.round(ctx, r.m.Texts, r.units(all))
	if len(rest) > 0 {
		r.round(ctx, nil, alone(rest))
	}
	r.d.Items = make([]send.Outcome, len(r.m.Items))
	for i, o := range r.files {
		if o == nil {
			continue // unknown: nothing says what became of it
		}
		r.d.Items[i] = *o
		if notes[i] != "" && o.Status == send.Sent {
			r.warn(notes[i])
		}
	}
	return r.d
}

// A unit is one request: a file, or an album of photos and videos.
type unit struct {
	items []int
	tried bool
	apart bool // Telegram refused the album for one of its pictures: its items go alone
}

func alone(items []int) []*unit {
	us := make([]*unit, len(items))
	for n, i := range items {
		us[n] = &unit{items: []int{i}}
	}
	return us
}

// units puts photos and videos that follow each other into albums. Their
// order stays. An album is no larger than one file may be, so that no request
// is larger than the server is known to take.
func (r *run) units(items []int) []*unit {
	var us []*unit
	var bytes int64 // of the last unit
	visual := func(i int) bool { return r.kinds[i] == send.Photo || r.kinds[i] == send.Video }
	for _, i := range items {
		size := r.m.Items[i].Size
		if len(us) > 0 && visual(i) {
			u := us[len(us)-1]
			if visual(u.items[0]) && len(u.items) < maxAlbum && bytes+size <= r.p.bytes {
				u.items = append(u.items, i)
				bytes += size
				continue
			}
		}
		us = append(us, &unit{items: []int{i}})
		bytes = size
	}
	return us
}

// round sends texts and units, and returns the items that were not tried only
// because the first file of their album had changed.
func (r *run) round(ctx context.Context, texts []string, us []*unit) []int {
	lead := r.m
	lead.Texts, lead.Items = texts, nil
	for _, u := range us {
		lead.Items = append(lead.Items, r.m.Items[u.items[0]])
	}
	d := send.InOrder(ctx, lead,
		func(ctx context.Context, i int) send.Outcome { return r.text(ctx, texts[i]) },
		func(ctx context.Context, i int) send.Outcome { return r.unit(ctx, us[i]) })
	if texts != nil {
		r.d.Texts = d.Texts
	}
	var rest []int
	for n, u := range us {
		o := d.Items[n]
		o.Later = 0
		for k, i := range u.items {
			switch {
			case r.files[i] != nil:
			case !u.tried && o.Status == send.Rejected && k > 0:
				rest = append(rest, i)
			default:
				r.files[i] = &o
			}
		}
	}
	return rest
}

// unit sends what is not settled of u. An outcome that asks for patience
// leaves the rest of u for the next call.
func (r *run) unit(ctx context.Context, u *unit) send.Outcome {
	u.tried = true
	if open := r.open(u); len(open) > 1 && !u.apart {
		if o, again := r.album(ctx, open); !again {
			return o
		}
		u.apart = true
	}
	var last send.Outcome
	for _, i := range r.open(u) {
		o := r.single(ctx, i)
		if o.Status == send.Rejected && o.Later > 0 {
			return o
		}
		r.files[i] = &o
		last = o
		if o.Fatal {
			break
		}
	}
	return last
}

// open lists the items of u that are not settled. One that changed is settled
// here: it is not given away.
func (r *run) open(u *unit) []int {
	var open []int
	for _, i := range u.items {
		if r.files[i] != nil {
			continue
		}
		if err := r.m.Items[i].Check(); err != nil {
			o := send.Reject(err.Error())
			r.files[i] = &o
			continue
		}
		open = append(open, i)
	}
	return open
}

// request makes one request, and a second one when the group has a new id:
// Telegram says that before it takes anything.
func (r *run) request(ctx context.Context, do func(ctx context.Context, t *trip) error) (*trip, error) {
	for {
		tctx, t := newTrip(ctx)
		err := do(tctx, t)
		moved, ok := errors.AsType[*bot.MigrateError](err)
		if !ok || r.migrated {
			return t, err
		}
		r.migrated = true
		r.warn(fmt.Sprintf("the group became a supergroup: its id was %v and is %d now; change the target", r.chat, moved.MigrateToChatID))
		r.chat = int64(moved.MigrateToChatID)
	}
}

func (r *run) text(ctx context.Context, text string) send.Outcome {
	var msg *models.Message
	t, err := r.request(ctx, func(ctx context.Context, _ *trip) (err error) {
		msg, err = r.p.bot.SendMessage(ctx, &bot.SendMessageParams{ChatID: r.chat, MessageThreadID: r.thread, Text: text})
		return err
	})
	if err != nil {
		return r.failed(ctx, t, err)
	}
	return r.tookText(t, msg)
}

// single sends one item, a photo as a document when Telegram says that it is
// none: that refusal is certain.
func (r *run) single(ctx context.Context, i int) send.Outcome {
	o, err := r.file(ctx, i, r.kinds[i])
	if r.kinds[i] != send.Photo || !refusedPicture(o, err) {
		return o
	}
	r.kinds[i] = send.Document
	o, _ = r.file(ctx, i, send.Document)
	if o.Status == send.Sent {
		r.warn(r.m.Items[i].Name + " went as a document and not as a photo: Telegram could not read it as one")
	}
	return o
}

func (r *run) file(ctx context.Context, i int, kind send.Kind) (send.Outcome, error) {
	var msg *models.Message
	t, err := r.request(ctx, func(ctx context.Context, t *trip) (err error) {
		up := &models.InputFileUpload{Filename: r.m.Items[i].Name, Data: t.file(r.m, i)}
		b, chat, thread, caption := r.p.bot, r.chat, r.thread, r.m.Caption
		switch kind {
		case send.Photo:
			msg, err = b.SendPhoto(ctx, &bot.SendPhotoParams{ChatID: chat, MessageThreadID: thread, Photo: up, Caption: caption})
		case send.Video:
			msg, err = b.SendVideo(ctx, &bot.SendVideoParams{ChatID: chat, MessageThreadID: thread, Video: up, Caption: caption, SupportsStreaming: true})
		case send.Audio:
			msg, err = b.SendAudio(ctx, &bot.SendAudioParams{ChatID: chat, MessageThreadID: thread, Audio: up, Caption: caption})
		case send.Voice:
			msg, err = b.SendVoice(ctx, &bot.SendVoiceParams{ChatID: chat, MessageThreadID: thread, Voice: up, Caption: caption})
		default:
			msg, err = b.SendDocument(ctx, &bot.SendDocumentParams{ChatID: chat, MessageThreadID: thread, Document: up, Caption: caption})
		}
		return err
	})
	if err != nil {
		return r.failed(ctx, t, err), err
	}
	return r.tookFile(t, msg, kind, i), nil
}

// album sends items in one request and settles them. It reports true when
// Telegram refused one of the pictures, which leaves all of them to be sent
// alone, and returns an outcome that asks for patience without settling any.
func (r *run) album(ctx context.Context, items []int) (o send.Outcome, apart bool) {
	var msgs []*models.Message
	t, err := r.request(ctx, func(ctx context.Context, t *trip) (err error) {
		var media []models.InputMedia
		for n, i := range items {
			media = append(media, r.media(t, n, i))
		}
		msgs, err = r.p.bot.SendMediaGroup(ctx, &bot.SendMediaGroupParams{ChatID: r.chat, MessageThreadID: r.thread, Media: media})
		return err
	})
	if err != nil {
		o = r.failed(ctx, t, err)
		if refusedPicture(o, err) {
			return o, true
		}
		if o.Status == send.Rejected && o.Later > 0 {
			return o, false
		}
		for _, i := range items {
			r.files[i] = &o
		}
		return o, false
	}
	if len(msgs) != len(items) {
		o = send.Unsure(fmt.Sprintf("%d files were sent as one album, and the answer shows %d", len(items), len(msgs)))
		for _, i := range items {
			r.files[i] = &o
		}
		return o, false
	}
	for n, i := range items {
		took := r.tookFile(t, msgs[n], r.kinds[i], i)
		r.files[i] = &took
		o = took
	}
	return o, false
}

// media is item i as number n of an album. The library uses one name for the
// form's field and for the file, so it is ours: unique and plain.
func (r *run) media(t *trip, n, i int) models.InputMedia {
	name := fmt.Sprintf("attach://file%d%s", n, strings.ToLower(filepath.Ext(r.m.Items[i].Name)))
	if r.kinds[i] == send.Video {
		return &models.InputMediaVideo{Media: name, MediaAttachment: t.file(r.m, i), SupportsStreaming: true}
	}
	return &models.InputMediaPhoto{Media: name, MediaAttachment: t.file(r.m, i)}
}
