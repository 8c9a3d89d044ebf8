package tui

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/honestty/honestty/tui/picker"
)

func TestALinkToAFolderIsListedAsAFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"to-sub": "sub", "to-a": "a.txt", "to-nothing": "gone"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := listFolder(dir)
	want := []picker.FolderEntry{
		{Name: "a.txt", Size: "5 B"},
		{Name: "sub", Folder: true},
		{Name: "to-a", Size: "5 B"},
		{Name: "to-nothing"},
		{Name: "to-sub", Folder: true},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}
