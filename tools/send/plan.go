package send

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/safepath"
)

// MaxAttachments bounds one message: each attachment holds a descriptor from
// the check to the last byte.
const MaxAttachments = 100

// A Request is what somebody wants to send.
type Request struct {
	Target      string
	Subject     string
	Text        string
	Attachments []string // paths; never parsed
	NoMedia     bool     // directives in Text are text
	Dir         string   // relative paths are meant from here

	// Written is Text as its author wrote it, before file names or results of
	// tools were put in. Nil: all of Text is the author's. A directive that is
	// not in it is a forgery: it stays text.
	Written *string

	Voice    bool     // audio as voice messages, as [[audio_as_voice]] says
	Document bool     // pictures as files, as [[as_document]] says
	Allow    []string // of the paths: allowed this once by a person

	// Progress is told the bytes handed to the connection, of all attachments.
	Progress func(done, total int64, what string)

	retry *retry // set by RetryDropped
}

// A Plan is what would go where.
type Plan struct {
	Target      string    `json:"target"`
	Subject     string    `json:"subject,omitempty"`
	Texts       []string  `json:"texts"`
	Caption     bool      `json:"caption,omitempty" jsonschema:"the text goes as the caption of the one file"`
	Attachments []Receipt `json:"attachments" jsonschema:"status sent means: would be sent"`
}

// An entry is one attachment on its way through the checks.
type entry struct {
	path    string // as asked
	typed   bool   // an argument, and not a directive in the text
	receipt Receipt
	file    *os.File
	item    Item
	drop    bool // not for the platform
}

// A prepared is a message whose checks are done: nothing of it went out yet.
type prepared struct {
	platform Platform
	target   Target
	key      string
	subject  string
	texts    []string
	textKeys []string
	caption  bool // texts has one part, and it goes with the one item
	entries  []*entry
	warnings []string
	forged   []string
}

func (p *prepared) close() {
	for _, e := range p.entries {
		if e.file != nil {
			e.file.Close() // only read
		}
	}
}

// prepare does everything that needs no network. The files it opened are
// closed by close, also after an error.
func (s *Sender) prepare(ctx context.Context, req Request) (*prepared, error) {
	p := &prepared{key: rand.Text()}
	var err error
	if p.platform, p.target, err = s.Places.Resolve(req.Target, s.Platforms); err != nil {
		return p, err
	}
	c := collect(req, s.Policy)
	for _, f := range c.forged {
		p.forged = append(p.forged, Shown(f))
	}
	if req.retry != nil {
		if len(req.retry.items) != len(c.paths) {
			return p, fmt.Errorf("%w: its attachments are not those that were asked for", ErrRetry)
		}
		p.key = req.retry.key
	}
	for i, path := range c.paths {
		e := &entry{path: path.asked, typed: path.typed, receipt: Receipt{Requested: Shown(path.asked), Key: fmt.Sprintf("%s-f%d", p.key, i+1)}}
		if req.retry != nil {
			if !req.retry.items[i] {
				continue
			}
			e.receipt.Key = req.retry.itemKeys[i]
		}
		p.entries = append(p.entries, e)
	}
	lim := p.platform.Limits()
	for i, e := range p.entries {
		switch {
		case ctx.Err() != nil:
			e.refuse(Drop("not tried: "+stopped(ctx)), "")
		case i >= MaxAttachments:
			e.refuse(Drop(fmt.Sprintf("one message has at most %d attachments", MaxAttachments)), "")
		case lim.Files > 0 && kept(p.entries[:i]) >= lim.Files:
			e.refuse(Drop(fmt.Sprintf("%s takes %d files in one message", p.platform.Name(), lim.Files)), "")
		default:
			s.check(ctx, req, c, p, e)
		}
	}
	p.fold()
	p.compose(req, c.text, lim)
	if len(p.texts) == 0 && len(p.entries) == 0 {
		return p, ErrNothing
	}
	return p, nil
}

func kept(es []*entry) int {
	n := 0
	for _, e := range es {
		if !e.drop {
			n++
		}
	}
	return n
}

// refuse settles an entry that does not go to the platform.
func (e *entry) refuse(o Outcome, rule string) {
	e.drop = true
	e.receipt.Status, e.receipt.Reason, e.receipt.Rule = o.Status, Defuse(o.Reason), rule
	if e.receipt.Kind == "" {
		e.receipt.Kind = KindOf(e.path).String()
	}
}

// check opens an attachment through the policy, applies the platform's limits
// and hashes it.
func (s *Sender) check(ctx context.Context, req Request, c collected, p *prepared, e *entry) {
	lim := p.platform.Limits()
	f, path, err := s.open(ctx, req, e)
	if err != nil {
		reason, rule := s.explain(err)
		e.refuse(Drop(reason), rule)
		return
	}
	e.file = f
	e.receipt.Resolved = Shown(path.Real)
	if path.Mount != "" {
		p.warnings = append(p.warnings, fmt.Sprintf("%s is a path inside a sandbox; its file here was taken", e.receipt.Requested))
	}
	info, err := f.Stat()
	if err != nil {
		e.refuse(Drop("it could not be looked at: "+outcome.Errno(err)), "")
		return
	}
	size := info.Size()
	e.receipt.Size = &size
	kind := c.kind(e.path)
	if small, ok := lim.Kinds[kind]; ok && size > small && (lim.FileBytes == 0 || size <= lim.FileBytes) {
		kind = Document
	}
	e.receipt.Kind = kind.String()
	if why := beyond(p.platform.Name(), lim, kind, size); why != "" {
		e.refuse(Drop(why), "")
		return
	}
	it, err := Seal(ctx, e.path, kind, f)
	if err != nil {
		e.refuse(Drop("it could not be read: "+Cause(err)), "")
		return
	}
	it.Key = e.receipt.Key
	e.item = it
	e.receipt.SHA256 = it.SHA256
	*e.receipt.Size = it.Size
}

// open opens an attachment through the policy. What a person allowed, now or
// beforehand, is opened as if its place were an allowed one.
func (s *Sender) open(ctx context.Context, req Request, e *entry) (*os.File, safepath.Path, error) {
	path, policy := e.path, s.Policy
	if e.typed && !filepath.IsAbs(path) && !strings.HasPrefix(path, "~") && filepath.IsAbs(req.Dir) {
		// Not Join: it would take away the components that the policy refuses.
		path = strings.TrimRight(req.Dir, "/") + "/" + path
	}
	if slices.Contains(req.Allow, e.path) {
		policy.Allow = append(slices.Clone(policy.Allow), path)
	}
	f, checked, err := policy.Open(path, "", safepath.Deliver)
	if err != nil {
		return nil, checked, err
	}
	if checked.Approve != "" && !slices.Contains(req.Allow, e.path) {
		if err := s.approve(ctx, checked); err != nil {
			return nil, checked, errors.Join(err, f.Close())
		}
	}
	return f, checked, nil
}

// beyond says which limit of the platform a file breaks; empty when none.
func beyond(name string, lim Limits, kind Kind, size int64) string {
	most := lim.Max(kind)
	switch {
	case !lim.Attach:
		return name + " takes no attachments"
	case size == 0 && lim.NoEmpty:
		return name + " takes no empty files"
	case most > 0 && size > most:
		return fmt.Sprintf("too big: %s, and %s takes %s", outcome.Size(size), name, outcome.Size(most))
	}
	return ""
}

// fold makes one of entries that are the same file, so that it is sent once.
func (p *prepared) fold() {
	var out []*entry
	for _, e := range p.entries {
		if same := p.sameFile(out, e); same != nil {
			e.file.Close() // only read; the first one stays open
			p.warnings = append(p.warnings, fmt.Sprintf("%s is named more than once and is sent once", same.receipt.Requested))
			continue
		}
		out = append(out, e)
	}
	p.entries = out
}

func (p *prepared) sameFile(es []*entry, e *entry) *entry {
	if e.file == nil {
		return nil
	}
	b, err := e.file.Stat()
	if err != nil {
		return nil
	}
	for _, x := range es {
		if x.file == nil {
			continue
		}
		if a, err := x.file.Stat(); err == nil && os.SameFile(a, b) {
			return x
		}
	}
	return nil
}

// compose splits the text, or makes it the caption of the one file.
func (p *prepared) compose(req Request, text string, lim Limits) {
	subject := Plain(req.Subject)
	if strings.TrimSpace(text) == "" {
		text = "" // the line end of an empty stdin; no platform takes such a text
	}
	if lim.Subject {
		p.subject = subject
	} else if subject != "" {
		text = strings.TrimRight(subject+"\n\n"+text, "\n")
	}
	if clean := strings.ToValidUTF8(text, "\uFFFD"); clean != text {
		text = clean
		p.warnings = append(p.warnings, "bytes of the text that are not UTF-8 were replaced")
	}
	if req.retry != nil {
		p.texts, p.textKeys = req.retry.texts, req.retry.textKeys
	} else {
		p.texts = Split(text, lim.Text, lim.Unit)
		for i := range p.texts {
			p.textKeys = append(p.textKeys, fmt.Sprintf("%s-t%d", p.key, i+1))
		}
	}
	if items := p.items(); len(items) == 1 && len(p.texts) == 1 && items[0].Kind != Voice && len(p.entries) == 1 {
		p.caption = lim.Caption > 0 && lim.Unit.Count(p.texts[0]) <= lim.Caption
	}
}

// items are the attachments that go to the platform.
func (p *prepared) items() []Item {
	var out []Item
	for _, e := range p.entries {
		if !e.drop {
			out = append(out, e.item)
		}
	}
	return out
}

// textReceipt is the receipt of part i, before it was sent.
func (p *prepared) textReceipt(i int) Receipt {
	n := int64(len(p.texts[i]))
	sum := sha256.Sum256([]byte(p.texts[i]))
	return Receipt{
		Kind: TextKind, Requested: fmt.Sprintf("text %d/%d", i+1, len(p.texts)),
		Size: &n, SHA256: hex.EncodeToString(sum[:]), Key: p.textKeys[i],
	}
}
