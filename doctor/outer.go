package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/honestty/honestty/tools/fdmeter"
)

// clipboardTools are programs that take what is to be copied, with the variable
// that names the display they need.
var clipboardTools = []struct{ name, display string }{
	{"wl-copy", "WAYLAND_DISPLAY"}, {"xclip", "DISPLAY"}, {"xsel", "DISPLAY"}, {"pbcopy", ""}, {"clip.exe", ""}, {"termux-clipboard-set", ""},
}

// clipboard looks for a way to copy: through the terminal, or by a program.
func clipboard(_ context.Context, env Env, c *Check) {
	usable := false
	for _, tool := range clipboardTools {
		path, err := env.Look(tool.name)
		if err != nil {
			continue
		}
		if tool.display != "" && env.Getenv(tool.display) == "" {
			c.sees("%s is %s, but %s is not set", tool.name, clean(path), tool.display)
			continue
		}
		c.sees("%s is %s", tool.name, clean(path))
		usable = true
	}
	if !usable {
		c.sees("no program to copy with")
	}
	c.sees("terminal takes copies (OSC 52): %s", env.Terminal.Clipboard)
	install := "Install wl-clipboard (Wayland) or xclip (X11), or switch OSC 52 on in the terminal."
	switch {
	case usable || env.Terminal.Clipboard == Yes:
		c.finds(OK, "There is a way to copy.", "")
	case env.Terminal.Clipboard == No:
		c.finds(Attention, "What is copied here does not leave this window.", install)
	default:
		c.finds(Unknown, "Whether the terminal takes copies is not known, and no program does.", install)
	}
}

func (a Answer) String() string {
	switch a {
	case Yes:
		return "yes"
	case No:
		return "no"
	}
	return "not known"
}

// terminal looks at what the outer terminal says of itself.
func terminal(_ context.Context, env Env, c *Check) {
	term, color := env.Getenv("TERM"), env.Getenv("COLORTERM")
	c.sees("TERM=%s, COLORTERM=%s, TERM_PROGRAM=%s", quoted(term), quoted(color), quoted(env.Getenv("TERM_PROGRAM")))
	c.sees("true colour: %s, synchronized output: %s", env.Terminal.TrueColor, env.Terminal.Sync)
	switch term {
	case "":
		c.finds(Failure, "TERM is not set: nobody can tell what the terminal understands.", "Set TERM to what the terminal is, for example xterm-256color.")
	case "dumb", "unknown":
		c.finds(Failure, "The terminal says that it understands nothing.", "Run this in a terminal emulator, or use --plain.")
	}
	if locale := firstSet(env, "LC_ALL", "LC_CTYPE", "LANG"); !isUTF8(locale) {
		c.sees("locale %s", quoted(locale))
		c.finds(Attention, "The locale is not UTF-8: letters beyond ASCII may be shown wrongly.", "Set LANG to a UTF-8 locale, for example C.UTF-8.")
	}
	if env.Getenv("NO_COLOR") != "" {
		c.sees("NO_COLOR is set: no colours are used")
	} else if env.Terminal.TrueColor == No || env.Terminal.TrueColor == NotKnown && color != "truecolor" && color != "24bit" {
		c.finds(Attention, "The terminal does not say that it has true colour: the nearest of 256 colours are used.", "Set COLORTERM=truecolor where the terminal has it.")
	}
	env.judgeTmux(c, term)
	c.finds(OK, "The terminal says what it can.", "")
}

func (e Env) judgeTmux(c *Check, term string) {
	if e.Getenv("TMUX") == "" {
		return
	}
	c.sees("inside tmux; passthrough: %s", e.Terminal.Passthrough)
	if !strings.HasPrefix(term, "tmux") && !strings.HasPrefix(term, "screen") {
		c.finds(Attention, "TERM does not say tmux although tmux is the terminal.", "Remove what sets TERM in the shell's start files.")
	}
	switch e.Terminal.Passthrough {
	case No:
		c.finds(Attention, "tmux keeps sequences for the terminal outside: images and copies may not arrive.", "Run `tmux set -g allow-passthrough on`.")
	case NotKnown:
		c.finds(Unknown, "Whether tmux lets sequences through is not known.", "See `tmux show -gv allow-passthrough`.")
	}
}

func quoted(s string) string { return fmt.Sprintf("%q", clean(s)) }

func firstSet(env Env, names ...string) string {
	for _, name := range names {
		if v := env.Getenv(name); v != "" {
			return v
		}
	}
	return ""
}

func isUTF8(locale string) bool {
	l := strings.ToLower(strings.ReplaceAll(locale, "-", ""))
	return strings.Contains(l, "utf8")
}

// waiting looks at how this process waits for output.
func waiting(_ context.Context, env Env, c *Check) {
	switch env.Waiting {
	case "epoll", "kqueue":
		c.sees("this process waits with %s, which has no limit by number", env.Waiting)
	case "poll":
		c.sees("this process waits with poll: %s", clean(env.WaitingCause))
		c.finds(Attention, "poll was the last resort: on macOS it cannot wait for a terminal.", "Free descriptors, and start again.")
	case "":
		c.sees("nobody said how this process waits")
		c.finds(Unknown, "How this process waits is not known.", "See `honestty --version`.")
	default:
		c.sees("this process waits with %s", quoted(env.Waiting))
		c.finds(Unknown, "That way of waiting is not known here.", "See `honestty --version`.")
	}
	if env.TryWait != nil {
		number, err := env.TryWait()
		switch {
		case outOfDescriptors(err):
			c.sees("no descriptor was free to try it with: %s", reason(err))
			c.finds(Unknown, "Whether descriptors above 1023 are waited for was not tried.", noneFree)
		case err != nil:
			c.sees("a descriptor with a high number could not be waited for: %s", clean(err.Error()))
			c.finds(Failure, "Output of a descriptor above 1023 would not be seen.", "Report this with the output of `honestty doctor --json`.")
		case number < fdmeter.FDSetSize:
			c.sees("waited for descriptor %d; the limit leaves no higher number to try", number)
			c.finds(Unknown, "Whether descriptors above 1023 are waited for was not tried.", "Run this under a higher `ulimit -n`.")
		default:
			c.sees("waited for descriptor %d and saw its output", number)
		}
	}
	c.finds(OK, "Waiting does not stop at 1024.", "")
}
