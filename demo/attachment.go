package demo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/safepath"
	"github.com/honestty/honestty/tools/send"
	"github.com/honestty/honestty/tools/send/file"
)

func attachment(ctx context.Context, s *stage) error {
	s.part.Done = "A message names two files to attach. One is there, the other is not. It goes to a folder on this machine."
	there, gone := filepath.Join(s.dir, "report.txt"), filepath.Join(s.dir, "report.html")
	if err := os.WriteFile(there, []byte("all is well\n"), 0o600); err != nil {
		return err
	}
	text := "The report is attached. MEDIA:" + there + " MEDIA:" + gone
	arrived, err := oldSend(filepath.Join(s.dir, "old"), text)
	if err != nil {
		return err
	}
	s.add(counted(false, "a sender that filters and is silent", arrived, 2, "attachments arrived; it says success: true, exit 0"))
	box, err := file.New(filepath.Join(s.dir, "outbox"))
	if err != nil {
		return err
	}
	sender := &send.Sender{Platforms: []send.Platform{box}, Policy: safepath.Policy{Home: s.dir}, Scrub: &send.Scrubber{}}
	r := sender.Send(ctx, send.Request{Target: "file", Text: text, Dir: s.dir})
	var sent, dropped int64
	reason := ""
	for _, d := range r.Delivery {
		switch {
		case d.Kind == send.TextKind:
		case d.Status == send.Sent:
			sent++
		case d.Status == send.Dropped:
			dropped++
			reason = d.Reason
		}
	}
	says := fmt.Sprintf("attachments arrived; it says success: %v, partial_success: %v, exit 1", r.Success, r.PartialSuccess)
	if r.Success {
		says = "attachments arrived; it says success: true, exit 0"
	}
	for _, d := range r.MediaDropped {
		says += fmt.Sprintf("; dropped: %s (%s)", filepath.Base(d.Path), d.Reason)
	}
	s.add(counted(true, "honestty", sent, 2, says))
	told := s.found(r.Status.String()) == outcome.Partial.String() && !r.Success && r.Error != nil
	s.judge(told && sent == 1 && dropped == 1 && len(r.MediaDropped) == 1 && reason == send.NotFound,
		"1 arrived and 1 was dropped, and that is what it says; the old way dropped it and said success",
		"what it says is not what arrived")
	return nil
}

// oldSend sends what is there of the attachments and answers success, because
// nothing failed. It returns how many arrived.
func oldSend(outbox, text string) (arrived int64, err error) {
	if err := os.Mkdir(outbox, 0o700); err != nil {
		return 0, err
	}
	for _, d := range safepath.Directives(text) {
		content, err := os.ReadFile(d.Path)
		if err != nil {
			continue // a warning in a log that nobody sees
		}
		if err := os.WriteFile(filepath.Join(outbox, filepath.Base(d.Path)), content, 0o600); err != nil {
			return arrived, err
		}
		arrived++
	}
	return arrived, os.WriteFile(filepath.Join(outbox, "message.txt"), []byte(safepath.Strip(text)), 0o600)
}
