package checkpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/honestty/honestty/internal/redact"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
	"github.com/honestty/honestty/tools/safepath"
)

// Params are the parameters of the tool.
type Params struct {
	Action     string `json:"action" jsonschema:"list, show, diff, restore or prune"`
	ID         string `json:"id,omitempty" jsonschema:"which checkpoint: its id or the first 4 or more characters of it; for show, diff and restore"`
	Path       string `json:"path,omitempty" jsonschema:"list: only checkpoints of this file or of files below this folder"`
	Limit      int    `json:"limit,omitempty" jsonschema:"list: at most this many, newest first; 20 when not given"`
	OutputPath string `json:"output_path,omitempty" jsonschema:"restore: another path to write to"`
	MaxAgeDays int    `json:"max_age_days,omitempty" jsonschema:"prune: drop what is older; 30 when not given"`
	MaxSizeMB  int    `json:"max_size_mb,omitempty" jsonschema:"prune: drop the oldest until all content together is no more; 1024 when not given"`
}

// A Result is what the tool answers. The field that belongs to the action is
// set.
type Result struct {
	Success  bool           `json:"success"`
	Error    *string        `json:"error"`
	Status   outcome.Status `json:"status"`
	List     *Listing       `json:"list,omitempty"`
	More     int            `json:"more,omitempty"` // checkpoints that limit left out
	Shown    *Shown         `json:"shown,omitempty"`
	Diff     *Diff          `json:"diff,omitempty"`
	Restored *Restored      `json:"restored,omitempty"`
	Pruned   *Pruned        `json:"pruned,omitempty"`
	Redacted int            `json:"redactions"` // secrets replaced in the text
}

const defaultListed = 20

// More than these would not fit into a duration, or into a count of bytes.
const maxDays, maxMB = 100_000, 1 << 40

// Tool is the tool that lists checkpoints and brings them back. The policy
// decides what may be read and written.
func Tool(s *Store, p safepath.Policy) tools.Tool {
	return tools.Tool{
		Name:   "checkpoint",
		Short:  "List, show, compare and restore what files held before a tool replaced them",
		Params: Params{}, Result: Result{},
		Title: title,
		Run: func(ctx context.Context, c *tools.Call, raw json.RawMessage) tools.Answer {
			return s.run(ctx, p, c, raw)
		},
	}
}

func title(raw json.RawMessage) string {
	var p Params
	if json.Unmarshal(raw, &p) != nil || safepath.Printable(p.Action) != p.Action {
		return "a checkpoint call that cannot be read"
	}
	for _, word := range []string{p.ID, p.Path} {
		if word != "" {
			return p.Action + " " + safepath.Printable(word)
		}
	}
	return p.Action
}

func (s *Store) run(ctx context.Context, policy safepath.Policy, c *tools.Call, raw json.RawMessage) tools.Answer {
	var p Params
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return answer(Result{}, &outcome.RefusedError{Rule: "parameters that cannot be read: " + redactedLine(err)}, "")
	}
	if err := ctx.Err(); err != nil {
		return answer(Result{}, err, "")
	}
	var r Result
	var summary string
	var err error
	switch p.Action {
	case "list":
		summary, err = s.toolList(&r, p, policy, c.Dir)
	case "show":
		summary, err = s.toolShow(&r, p, policy)
	case "diff":
		summary, err = s.toolDiff(&r, p, policy)
	case "restore":
		summary, err = s.toolRestore(ctx, &r, p, policy, c)
	case "prune":
		summary, err = s.toolPrune(&r, p)
	default:
		err = &outcome.RefusedError{Rule: "action is not one of list, show, diff, restore, prune"}
	}
	return answer(r, err, summary)
}

func redactedLine(err error) string {
	text, _ := redact.String(err.Error())
	return strings.ReplaceAll(text, "\n", " ")
}

func (s *Store) toolList(r *Result, p Params, policy safepath.Policy, dir string) (string, error) {
	if p.Limit < 0 {
		return "", &outcome.RefusedError{Rule: "limit below 0"}
	}
	if p.Limit == 0 {
		p.Limit = defaultListed
	}
	l, err := s.List()
	if err != nil {
		return "", err
	}
	if p.Path != "" {
		under, err := policy.Check(p.Path, dir, safepath.Read)
		if err != nil {
			return "", err
		}
		l.Entries = below(l.Entries, under.Real)
	}
	total := len(l.Entries)
	l.Entries = l.Entries[:min(total, p.Limit)]
	r.List, r.More = &l, total-len(l.Entries)
	return fmt.Sprintf("%d of %d checkpoints, %s kept", len(l.Entries), total, outcome.Size(l.Bytes)), nil
}

// below are the entries of the file at path, or of the files in the folder.
func below(entries []Entry, path string) []Entry {
	found := []Entry{}
	for _, e := range entries {
		if e.Path == path || strings.HasPrefix(e.Path, strings.TrimSuffix(path, "/")+"/") {
			found = append(found, e)
		}
	}
	return found
}

func (s *Store) toolShow(r *Result, p Params, policy safepath.Policy) (string, error) {
	shown, err := s.Show(policy, p.ID)
	if err != nil {
		return "", err
	}
	shown.Text, r.Redacted = redact.String(shown.Text)
	r.Shown = &shown
	return fmt.Sprintf("%s as of %s, %s", shown.Entry.Path, shown.Entry.Time.Format(time.RFC3339), outcome.Size(shown.Entry.Size)), nil
}

func (s *Store) toolDiff(r *Result, p Params, policy safepath.Policy) (string, error) {
	d, err := s.Diff(policy, p.ID)
	if err != nil {
		return "", err
	}
	d.Unified, r.Redacted = redact.String(d.Unified)
	r.Diff = &d
	switch {
	case d.Absent:
		return "the file is not there now", nil
	case d.Same:
		return "the file is the same as its checkpoint", nil
	}
	summary := fmt.Sprintf("the file differs from its checkpoint: %s then, %s now", outcome.Size(d.Entry.Size), outcome.Size(d.Size))
	if d.Why != "" {
		summary += " (" + d.Why + ", so not compared line by line)"
	}
	return summary, nil
}

func (s *Store) toolRestore(ctx context.Context, r *Result, p Params, policy safepath.Policy, c *tools.Call) (string, error) {
	e, err := s.Find(p.ID)
	if err != nil {
		return "", err
	}
	o := RestoreOrder{ID: e.ID, Call: c.ID, Target: e.Path}
	if p.OutputPath != "" {
		o.Target = p.OutputPath
	}
	checked, err := policy.Check(o.Target, c.Dir, safepath.Write)
	if err != nil {
		return "", err
	}
	o.Target = checked.Abs
	if checked.Approve != "" {
		if err := c.Ask(ctx, tools.Question{Rule: checked.Approve, Detail: "write checkpoint " + e.ID + " to " + checked.Real}); err != nil {
			return "", err
		}
		o.Approved = true
	}
	done, err := s.Restore(policy, o)
	if done.Path != "" {
		r.Restored = &done
	}
	if err != nil {
		return "", err
	}
	summary := "restored " + done.Path
	switch {
	case done.Same:
		summary += ": it had this content already"
	case done.Kept != nil:
		summary += "; what was there is checkpoint " + done.Kept.ID
		done.Notes = append(done.Notes, done.Kept.Cost()...)
	}
	return strings.Join(append([]string{summary}, done.Notes...), "; "), nil
}

func (s *Store) toolPrune(r *Result, p Params) (string, error) {
	switch {
	case p.MaxAgeDays < 0:
		return "", &outcome.RefusedError{Rule: "max_age_days below 0"}
	case p.MaxSizeMB < 0:
		return "", &outcome.RefusedError{Rule: "max_size_mb below 0"}
	}
	pruned, err := s.Prune(Limits{
		Age:   time.Duration(min(p.MaxAgeDays, maxDays)) * 24 * time.Hour,
		Total: int64(min(p.MaxSizeMB, maxMB)) << 20,
	})
	r.Pruned = &pruned
	n := len(pruned.Dropped)
	summary := fmt.Sprintf("%s checkpoints dropped, %s freed", outcome.Count(int64(n)), outcome.Size(pruned.Bytes))
	if n == 1 {
		summary = fmt.Sprintf("1 checkpoint dropped, %s freed", outcome.Size(pruned.Bytes))
	}
	if pruned.Temps > 0 {
		summary += "; unfinished copies of killed processes removed: " + outcome.Count(int64(pruned.Temps))
	}
	if pruned.Lines > 0 {
		summary += "; lines of the index that could not be read, taken out: " + outcome.Count(int64(pruned.Lines))
	}
	return summary, err
}

func answer(r Result, err error, summary string) tools.Answer {
	r.Status = outcome.Complete
	switch {
	case errors.Is(err, outcome.ErrRefused):
		r.Status = outcome.Refused
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		r.Status = outcome.Cancelled
	case err != nil:
		r.Status = outcome.Failed
	}
	r.Success = err == nil
	if err != nil {
		text := strings.ReplaceAll(outcome.Errno(err), "\n", "; ")
		if said := safepath.Message("path", err); said != "" && strings.HasPrefix(safepath.RuleOf(err), safepath.RuleProtected) {
			text = said
		}
		r.Error, summary = &text, text
	}
	return tools.Answer{Status: r.Status, Err: err, Result: r, Summary: summary}
}
