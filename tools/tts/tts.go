package tts

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
	"github.com/honestty/honestty/tools/safepath"
	"github.com/honestty/honestty/tools/tts/publish"
)

// Params is what a caller asks for. The names are those agents know, and ours.
type Params struct {
	Text         string  `json:"text" jsonschema:"The text to speak. Markdown, emoji and thinking blocks are taken out first."`
	OutputPath   string  `json:"output_path,omitempty" jsonschema:"Where the audio goes. An existing file is kept until the new one is finished, and a checkpoint of it is kept after. Without a path the audio cache is used."`
	Speed        float64 `json:"speed,omitempty" jsonschema:"Speed, 0.25 to 4.0; 1 is normal."`
	Instructions string  `json:"instructions,omitempty" jsonschema:"How to speak, for servers with OpenAI's interface only."`
	Provider     string  `json:"provider,omitempty" jsonschema:"Name of a provider, or auto."`
	Voice        string  `json:"voice,omitempty" jsonschema:"Voice, in the provider's own words."`
	Language     string  `json:"language,omitempty" jsonschema:"Language of the text, such as de or fr-CA; found out from the text when missing."`
	NoClobber    bool    `json:"no_clobber,omitempty" jsonschema:"Refuse a path where a file is."`
	Force        bool    `json:"force,omitempty" jsonschema:"Replace also a read-only file, and one that no checkpoint can be kept of."`
	Resume       string  `json:"resume,omitempty" jsonschema:"Token of an earlier result: finishes that call without making its finished chunks again."`
}

// Speak makes the audio. It returns when the file is where it was asked for,
// or when nothing of this call is left. The result is never nil. Fields of c
// that are nil are left out.
func Speak(ctx context.Context, d Deps, p Params, c tools.Call) *Result {
	r := &Result{Asked: firstOf(p.Provider, auto), Duration: -1}
	began := d.now()
	if err := speak(ctx, d, p, complete(c), r); err != nil {
		r.fail(ctx, err)
	} else {
		r.Status = outcome.Complete
	}
	r.Took = d.now().Sub(began)
	return r
}

func complete(c tools.Call) tools.Call {
	if c.Report == nil {
		c.Report = func(int64, int64, string) {}
	}
	if c.Ask == nil {
		c.Ask = func(_ context.Context, q tools.Question) error {
			return &outcome.RefusedError{Rule: q.Rule + " needs approval, and nobody is here to give it"}
		}
	}
	return c
}

func speak(ctx context.Context, d Deps, p Params, c tools.Call, r *Result) error {
	if p.Resume != "" {
		var err error
		if p, err = recall(d, p); err != nil {
			return err
		}
		r.Asked = firstOf(p.Provider, auto)
	}
	j, err := prepare(ctx, d, p, c, r)
	if err != nil {
		r.keep(r.Requested)
		return err
	}
	j.sweep()
	w, err := j.target.Begin()
	if err != nil {
		j.kept()
		return &Error{Prefix: "TTS generation failed (" + r.Used + "): ", Err: err}
	}
	j.work = w
	err = j.run(ctx)
	if cerr := w.Close(); cerr != nil {
		r.note("the work folder could not be removed (%v); a later start does it", cerr)
	}
	if err != nil {
		j.kept()
		r.Path, r.MediaTag, r.Levels, r.SHA256 = "", "", nil, ""
	}
	return err
}

// A job is one call on its way.
type job struct {
	d    Deps
	p    Params
	call tools.Call
	r    *Result

	who    choice
	text   string // cleaned
	speed  float64
	plan   output
	target *publish.Target
	work   *publish.Work
	store  *store

	chunks []string
	keys   []string
	token  string
	parts  []part
}

// run does everything between the private folder's making and its removal.
func (j *job) run(ctx context.Context) error {
	if err := j.speakChunks(ctx); err != nil {
		return err
	}
	err := j.finish(ctx)
	if err != nil {
		j.offerResume() // every chunk is there: nothing has to be made again
		return err
	}
	j.store.forget(j.keys, j.token)
	j.r.Resume = ""
	return nil
}

// finish makes one file of the chunks, checks it and gives it its path.
func (j *job) finish(ctx context.Context) error {
	name, err := j.assemble(ctx)
	if err != nil {
		return wrap(j.who.Name(), err)
	}
	if err := j.measure(ctx, name); err != nil {
		return wrap(j.who.Name(), err)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	j.call.Report(int64(len(j.chunks)), int64(len(j.chunks)), "publish")
	pub, err := j.publish(name)
	if err != nil {
		if errors.Is(err, outcome.ErrRefused) {
			return err
		}
		return &Error{Prefix: "TTS generation failed (" + j.who.Name() + "): ", Err: err}
	}
	j.r.Path, j.r.Replaced = pub.Path, pub.Replaced
	j.r.Notes = append(j.r.Notes, pub.Notes...)
	j.r.MediaTag = safepath.Quote(pub.Path)
	if j.r.MediaTag == "" {
		j.r.note("no media tag: the path cannot be written as one directive")
	}
	return nil
}

// publish gives the file its path.
func (j *job) publish(name string) (publish.Published, error) {
	var keep publish.Keep
	if j.d.Keep != nil {
		keep = func(old *os.File, path string) (string, error) {
			id, err := j.d.Keep(old, path, j.call.ID)
			if err == nil && j.d.Cost != nil {
				j.r.Notes = append(j.r.Notes, j.d.Cost(id)...)
			}
			return id, err
		}
	}
	return j.work.Publish(name, keep)
}

// kept says what is at the path after a call that did not finish.
func (j *job) kept() {
	if j.target.Exists {
		j.r.keep(j.target.Path)
	}
}

// keep notes the file that is at path, when there is one and no other was noted.
func (r *Result) keep(path string) {
	if path == "" || r.Kept != nil {
		return
	}
	st, err := os.Stat(path)
	switch {
	case err == nil && st.Mode().IsRegular():
		r.Kept = &Kept{Path: path, Size: st.Size(), ModTime: st.ModTime()}
	case err != nil && !errors.Is(err, os.ErrNotExist):
		r.note("whether the file at the path is as it was could not be seen (%s)", outcome.Errno(bare(err)))
	}
}

// sweep removes what killed calls left where this one works. Trouble with it
// is told and stops nothing.
func (j *job) sweep() {
	left, err := SweepLeft(j.d)
	here, herr := publish.Sweep(filepath.Dir(j.target.Path))
	j.r.Sweep.Files, j.r.Sweep.Folders = left.Files, left.Folders+here.Removed
	for _, err := range []error{err, herr} {
		if err != nil {
			j.r.note("sweeping did not go through: %v", err)
		}
	}
	if j.r.Sweep.Folders > 0 {
		j.r.note("%s of calls that were killed removed", plural(j.r.Sweep.Folders, "work folder"))
	}
	switch age := j.d.maxAge(); {
	case !j.plan.cache:
		j.r.Sweep.Note = "at a path of yours; honestty never removes it"
	case age < 0:
		j.r.Sweep.Note = "in the audio cache; it is never removed"
	default:
		at := j.d.now().Add(age).Truncate(time.Second)
		j.r.Sweep.After = &at
		j.r.Sweep.Note = "in the audio cache; honestty removes it when it next starts or speaks after " + ageWords(age)
	}
}
