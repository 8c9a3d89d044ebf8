package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/honestty/honestty/config"
	"github.com/honestty/honestty/tui"
	"github.com/honestty/honestty/tui/keymap"
)

func (a *app) cmdConfig() *cobra.Command {
	var showDefault, check, schema bool
	var file string
	cmd := &cobra.Command{
		Use:   "config [flags]",
		Short: "Show the settings and where each came from, or check a settings file",
		Long: `config prints every setting that is in force and where it came from. --default
prints a file of all settings with their defaults and what they mean; --schema
prints its JSON schema; --check says everything that is wrong with the file, with
line and nearest name.

Success means that the settings are good. With a problem it exits with 1.`,
		Example: "  honestty config --default > ~/.config/honestty/config.toml\n  honestty config --check",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			switch {
			case showDefault:
				return a.print(config.Default())
			case schema:
				return a.print(string(config.Schema()))
			}
			c, err := config.Load(settingsFrom(file))
			if problems, ok := errors.AsType[config.Problems](err); ok {
				for _, p := range problems {
					fmt.Fprintln(a.err, "honestty: "+p.Error())
				}
				return &codeError{exitNotComplete}
			}
			if err != nil {
				return err
			}
			if check {
				return a.print("the settings are good\n")
			}
			for _, name := range c.Names() {
				value, _ := c.Value(name)
				if _, err := fmt.Fprintf(a.out, "%s = %s  # %s\n", name, value, c.Origin(name)); err != nil {
					return fmt.Errorf("write the settings: %w", err)
				}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&showDefault, "default", false, "print a file of all settings with their defaults")
	f.BoolVar(&check, "check", false, "say what is wrong with the settings file")
	f.BoolVar(&schema, "schema", false, "print the JSON schema of the file")
	f.StringVar(&file, "config", "", "read these settings over the user's own")
	cmd.MarkFlagsMutuallyExclusive("default", "check", "schema")
	return cmd
}

func (a *app) print(text string) error {
	if _, err := fmt.Fprint(a.out, text); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

func (a *app) cmdKeys() *cobra.Command {
	var asJSON bool
	var file string
	cmd := &cobra.Command{
		Use:   "keys [flags]",
		Short: "Print the table of keys, and which programs want the same ones",
		Long: `keys prints every action with its keys as the settings make them, and names
conflicts: keys that programs use themselves, keys that a terminal may not send,
keys that one action took from another.

Success means that the settings are good. With a problem it exits with 1.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			c, err := config.Load(settingsFrom(file))
			if err != nil {
				return err
			}
			m, err := keymap.New(tui.KeyOptions(c.Keys))
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(a.out).Encode(m.Table())
			}
			if err := m.WriteTable(a.out); err != nil {
				return fmt.Errorf("write: %w", err)
			}
			return a.print(tui.CopyKeys(m))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	cmd.Flags().StringVar(&file, "config", "", "read these settings over the user's own")
	return cmd
}
