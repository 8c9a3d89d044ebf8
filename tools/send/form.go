package send

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
)

// A Form is a multipart/form-data body that streams its files and knows its
// length before the first byte goes out.
type Form struct {
	frame   bytes.Buffer // what the writer put out since the last part was cut
	w       *multipart.Writer
	parts   []io.Reader
	closers []io.Closer
	size    int64
}

// NewForm makes an empty form.
func NewForm() *Form {
	f := &Form{}
	f.w = multipart.NewWriter(&f.frame)
	return f
}

var quoteEscaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", "_", "\n", "_")

// Field adds a value. An empty contentType adds none.
func (f *Form) Field(name, contentType, value string) {
	h := textproto.MIMEHeader{}
	h.Set("Content-Disposition", fmt.Sprintf(`form-data; name="%s"`, quoteEscaper.Replace(name)))
	if contentType != "" {
		h.Set("Content-Type", contentType)
	}
	w, err := f.w.CreatePart(h)
	if err == nil {
		_, err = io.WriteString(w, value)
	}
	if err != nil {
		panic("a buffer refused a form field: " + err.Error()) // bytes.Buffer never does
	}
}

// File adds an item whose content is read from body when the form is sent.
func (f *Form) File(field string, it Item, body *Body) {
	h := textproto.MIMEHeader{}
	h.Set("Content-Disposition", fmt.Sprintf(`form-data; name="%s"; filename="%s"`,
		quoteEscaper.Replace(field), quoteEscaper.Replace(it.Name)))
	h.Set("Content-Type", it.Type)
	if _, err := f.w.CreatePart(h); err != nil {
		panic("a buffer refused a form part: " + err.Error()) // bytes.Buffer never does
	}
	f.cut()
	f.parts = append(f.parts, body)
	f.closers = append(f.closers, body)
	f.size += it.Size
}

// cut moves what the writer put out into the list of parts.
func (f *Form) cut() {
	b := bytes.Clone(f.frame.Bytes())
	f.frame.Reset()
	f.parts = append(f.parts, bytes.NewReader(b))
	f.size += int64(len(b))
}

// Request ends the form and makes a POST of it. Closing the request's body
// closes the bodies of its files.
func (f *Form) Request(ctx context.Context, url string) (*http.Request, error) {
	if err := f.w.Close(); err != nil {
		return nil, fmt.Errorf("end form: %w", err)
	}
	f.cut()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
	if err != nil {
		return nil, err
	}
	req.Body = &formBody{io.MultiReader(f.parts...), f.closers}
	req.ContentLength = f.size
	req.Header.Set("Content-Type", f.w.FormDataContentType())
	return req, nil
}

type formBody struct {
	io.Reader
	closers []io.Closer
}

func (b *formBody) Close() error {
	for _, c := range b.closers {
		c.Close() // a Body's Close cannot fail
	}
	return nil
}
