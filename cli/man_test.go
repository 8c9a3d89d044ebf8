package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// TestManualPagesSayWhatTheHelpSays holds docs/man against the commands.
// HONESTTY_GOLDEN=write writes the pages anew.
func TestManualPagesSayWhatTheHelpSays(t *testing.T) {
	dir := filepath.Join("..", "docs", "man")
	root := (&app{version: "test"}).root()
	root.InitDefaultHelpCmd()
	date := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) // of the format, so that pages do not change by themselves
	seen := map[string]bool{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if !c.IsAvailableCommand() && c != root || c.Name() == "help" {
			return
		}
		c.DisableAutoGenTag = true
		name := manName(c)
		var page bytes.Buffer
		header := &doc.GenManHeader{Title: name, Section: "1", Source: "honestty", Manual: "honestty", Date: &date}
		if err := doc.GenMan(c, header, &page); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name+".1")
		seen[name+".1"] = true
		if os.Getenv("HONESTTY_GOLDEN") == "write" {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, page.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, page.Bytes()) {
			t.Errorf("%s is not what the help says (%v): make golden writes it anew", path, err)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	pages, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if !seen[p.Name()] {
			t.Errorf("%s is of a command that is gone", p.Name())
		}
	}
}

func manName(c *cobra.Command) string {
	if c.HasParent() {
		return manName(c.Parent()) + "-" + c.Name()
	}
	return c.Name()
}
