package send

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/honestty/honestty/tools/safepath"
)

// A collected is what a request asks for, in order, before any of it was
// looked at.
type collected struct {
	text            string // without the directives that are acted on
	paths           []asked
	voice, document bool
	forged          []string // paths of directives that nobody wrote
}

type asked struct {
	asked string
	typed bool // an argument, and not a directive in the text
}

// collect takes the attachments from the arguments and then from the text. A
// path that is asked for twice counts once.
func collect(req Request, policy safepath.Policy) collected {
	c := collected{text: req.Text, voice: req.Voice, document: req.Document}
	for _, p := range req.Attachments {
		c.add(p, true)
	}
	if req.NoMedia {
		return c
	}
	if req.Written != nil {
		c.text, c.forged = Guard(c.text, *req.Written)
	}
	m := safepath.Scan(c.text, func(path string) bool { return isFile(path, policy) })
	if len(m.Directives) > 0 || m.Voice || m.Document {
		c.text = strings.TrimSpace(m.Text)
	}
	c.voice, c.document = c.voice || m.Voice, c.document || m.Document
	for _, d := range m.Directives {
		c.add(d.Path, false)
	}
	return c
}

func (c *collected) add(path string, typed bool) {
	if !slices.ContainsFunc(c.paths, func(a asked) bool { return a.asked == path }) {
		c.paths = append(c.paths, asked{path, typed})
	}
}

// isFile reports whether a path without a known extension names a file, by the
// policy or in spite of it: one that the policy denies is an attachment that
// was dropped, and not a piece of text.
func isFile(path string, policy safepath.Policy) bool {
	checked, err := policy.Check(path, "", safepath.Deliver)
	if err == nil {
		return true
	}
	if !strings.HasPrefix(safepath.RuleOf(err), safepath.RuleProtected) {
		return false
	}
	if checked.Real == "" { // refused before it was resolved
		checked.Real = path
		if rest, ok := strings.CutPrefix(path, "~/"); ok && policy.Home != "" {
			checked.Real = filepath.Join(policy.Home, rest)
		}
	}
	info, err := os.Stat(checked.Real)
	return err == nil && info.Mode().IsRegular()
}

// kind is how the file is shown, after the wishes for the whole message.
func (c collected) kind(path string) Kind {
	k := KindOf(path)
	ext := strings.ToLower(filepath.Ext(path))
	switch {
	case c.document && k == Photo:
		return Document
	case c.voice && k == Audio && (ext == ".ogg" || ext == ".opus"):
		return Voice
	}
	return k
}

// wholeMessage are the words that change how a whole message is sent.
var wholeMessage = regexp.MustCompile(`(?i)\[\[(audio_as_voice|as_document)\]\]`)

// Guard compares the directives in a text that is about to be shown or sent
// with those in what its author wrote. One that came out of a file name or a
// tool's result instead is a forgery: it is listed, and in the text that comes
// back it is written so that it can be read and acts nowhere. The same holds
// for the words that change how a whole message is sent.
func Guard(text, written string) (safe string, forged []string) {
	allowed := map[string]bool{}
	for _, d := range safepath.Directives(written) {
		allowed[d.Path] = true
	}
	for {
		i := -1
		ds := safepath.Directives(text)
		for k, d := range ds {
			if !allowed[d.Path] {
				i = k
				break
			}
		}
		if i < 0 {
			break
		}
		d := ds[i]
		if !slices.Contains(forged, d.Path) {
			forged = append(forged, d.Path)
		}
		inert := Defuse(text[d.Start:d.End])
		if inert == text[d.Start:d.End] {
			inert = "[a directive that nobody wrote]" // a spelling that Defuse does not know
		}
		text = text[:d.Start] + inert + text[d.End:]
	}
	if n := len(wholeMessage.FindAllString(written, -1)); n == 0 {
		text = wholeMessage.ReplaceAllString(text, `[$1]`)
	}
	return text, forged
}
