package email

import (
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"net/mail"
	"regexp"
	"strings"
	"sync"

	gomail "github.com/wneessen/go-mail"

	"github.com/honestty/honestty/tools/send"
)

const (
	// RFC 2045, 6.8: encoded lines have 76 characters at most, which are 57
	// bytes.
	lineBytes = 57
	lineChars = 76 + 2

	// chunkLines is how many lines are written at once.
	chunkLines = 512

	// maxSubject keeps the line of a subject without a space within the 998
	// characters of RFC 5322, 2.1.1.
	maxSubject = 250
)

// encoded is how many bytes n bytes are in lines of base64.
func encoded(n int64) int64 { return (n + lineBytes - 1) / lineBytes * lineChars }

// decoded is how many bytes fit into n bytes of such lines.
func decoded(n int64) int64 { return n / lineChars * lineBytes }

// A sink is where a mail is written to. It counts, and once something failed
// it takes nothing more, so that a mail never goes on behind a gap.
type sink struct {
	w   io.Writer
	n   int64
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(p)
	s.n += int64(n)
	s.err = err
	return n, err
}

// stream writes a file in lines of base64.
func (s *sink) stream(r io.Reader) (int64, error) {
	in := make([]byte, lineBytes*chunkLines)
	out := make([]byte, 0, lineChars*chunkLines)
	var total int64
	for {
		n, err := io.ReadFull(r, in)
		out = out[:0]
		for line := in[:n]; len(line) > 0; {
			k := min(lineBytes, len(line))
			out = base64.StdEncoding.AppendEncode(out, line[:k])
			out = append(out, "\r\n"...)
			line = line[k:]
		}
		if _, werr := s.Write(out); werr != nil {
			return total, werr
		}
		total += int64(len(out))
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			return total, nil
		default:
			s.err = err // the mail ends here
			return total, err
		}
	}
}

// A letter is a mail that is ready to be written, once.
type letter struct {
	msg    *gomail.Msg
	out    *sink
	bodies []*send.Body
	id     string
}

// key is what of a message's key may be a message id.
var key = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{7,99}$`)
})

// compose makes the mail of m with the items that are given.
func (p *Platform) compose(m send.Message, to []*mail.Address, items []int, d *send.Delivery) (*letter, error) {
	l := &letter{msg: gomail.NewMsg(gomail.WithNoDefaultUserAgent()), out: &sink{}}
	l.msg.FromMailAddress(&p.from)
	l.msg.ToMailAddress(to...)
	subject := send.Plain(m.Subject)
	if r := []rune(subject); len(r) > maxSubject {
		subject = strings.TrimSpace(string(r[:maxSubject])) + "…"
		d.Warnings = append(d.Warnings, fmt.Sprintf("the subject was cut after %d characters", maxSubject))
	}
	if subject != "" {
		l.msg.Subject(subject)
	}
	l.msg.SetDate()
	if key().MatchString(m.Key) {
		_, domain, _ := strings.Cut(p.from.Address, "@")
		l.msg.SetMessageIDWithValue(m.Key + "@" + domain)
	} else {
		l.msg.SetMessageID()
	}
	l.id = l.msg.GetMessageID()
	texts := append([]string{}, m.Texts...)
	if m.Caption != "" {
		texts = append(texts, m.Caption)
	}
	l.msg.SetBodyString(gomail.TypeTextPlain, strings.Join(texts, "\n"))
	for _, i := range items {
		l.attach(m, i)
	}
	if n := len(l.msg.GetAttachments()); n != len(items) {
		return nil, fmt.Errorf("compose the mail: it has %d of %d attachments", n, len(items))
	}
	return l, nil
}

// attach adds item i. Its content is not what the library writes there: the
// library would hold all of it in memory. The header of the part is written by
// then, and the next part is written after it, so the sink is the place.
func (l *letter) attach(m send.Message, i int) {
	it, body := m.Items[i], m.Body(i)
	l.bodies = append(l.bodies, body)
	l.msg.AttachReadSeeker(it.Name, body, func(f *gomail.File) {
		f.Header.Set("Content-Type", typeWithName(it))
		f.Header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": it.Name}))
		f.Writer = func(io.Writer) (int64, error) { return l.out.stream(body) }
	})
}

// typeWithName is the item's type with its name, by RFC 2231: what the library
// writes changes names with a colon or a question mark.
func typeWithName(it send.Item) string {
	t, params, err := mime.ParseMediaType(it.Type)
	if err != nil {
		t, params = "application/octet-stream", map[string]string{}
	}
	params["name"] = it.Name
	return mime.FormatMediaType(t, params)
}

// write writes the mail to w, without its end. It returns nil only when every
// file was read whole.
func (l *letter) write(w io.Writer) error {
	l.out.w = w
	_, err := l.msg.WriteTo(l.out)
	if l.out.err != nil {
		err = l.out.err // the first one; the library may have written over it
	}
	if err != nil {
		return err
	}
	for _, b := range l.bodies {
		if !b.Whole() {
			return fmt.Errorf("write the mail: a file was read to byte %d and not to its end", b.Sent())
		}
	}
	return nil
}
