package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/honestty/honestty/cli/shellmarks"
)

func (a *app) cmdShell() *cobra.Command {
	var lines, names []string
	for _, s := range shellmarks.Shells() {
		names = append(names, s.Name)
		lines = append(lines, fmt.Sprintf("  # %s\n  %s", s.File, s.Line))
	}
	return &cobra.Command{
		Use:   "shell [" + strings.Join(names, "|") + "]",
		Short: "Print what makes a shell mark its prompts and commands",
		Long: `shell prints code with which a shell marks where a prompt, a command's output and
its end are (OSC 133). In a window, prompts then have a badge with exit code and
duration, and keys jump between prompts and copy, fold and pipe an output.

It prints and installs nothing: one line in the shell's own file does. Without a
name it is for the shell in SHELL. bash before 4.4 marks its prompts only; fish
from version 4 on marks everything by itself.

Success means that the code was printed. It exits with 2 for another shell.`,
		Example: strings.Join(lines, "\n"),
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			name := os.Getenv("SHELL")
			if len(args) > 0 {
				name = args[0]
			}
			s, ok := shellmarks.Find(name)
			switch {
			case name == "":
				return usagef("SHELL is not set: name one of %s", strings.Join(names, ", "))
			case !ok:
				return usagef("%q is not a shell that this has marks for: name one of %s", name, strings.Join(names, ", "))
			}
			return a.print(s.Code)
		},
	}
}
