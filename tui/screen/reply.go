package screen

import (
	"strconv"
	"strings"
)

// Reply takes one complete reply of the terminal and reports whether it was one
// that Caps understand. Known are DECRPM for 2026 and 2027, the kitty keyboard
// flags, XTVERSION, DA1 and OSC 11. Anything else, cut replies included,
// changes nothing.
func (c *Caps) Reply(p []byte) bool {
	s := string(p)
	switch {
	case strings.HasPrefix(s, "\x1b[?"):
		return c.replyCSI(s[3:])
	case strings.HasPrefix(s, "\x1bP>|"):
		text, ok := strings.CutSuffix(s[4:], "\x1b\\")
		if !ok || text == "" {
			return false
		}
		c.Name = text
		if f, ok := find(text); ok {
			c.learn(f)
		}
		return true
	case strings.HasPrefix(s, "\x1b]11;"):
		return c.replyBackground(s[5:])
	}
	return false
}

// replyCSI handles what follows CSI ?. The whole of it must be parameters and a
// final byte.
func (c *Caps) replyCSI(s string) bool {
	n := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != ';' })
	if n < 0 {
		return false
	}
	params := strings.Split(s[:n], ";")
	switch s[n:] {
	case "u": // kitty keyboard flags
		c.Kitty = true
		return true
	case "c": // DA1
		c.Answered = true
		for _, p := range params[1:] {
			if p == "22" {
				c.raise(Color16)
			}
		}
		return true
	case "$y": // DECRPM: 0 unknown, 1 set, 2 reset, 3 always set, 4 always reset
		if len(params) != 2 {
			return false
		}
		can := params[1] == "1" || params[1] == "2"
		switch params[0] {
		case "2026":
			c.Sync = can
			return true
		case "2027":
			c.Graphemes = can || params[1] == "3"
			c.ClustersOn = params[1] == "1" || params[1] == "3"
			return true
		}
	}
	return false
}

// replyBackground reads rgb:RRRR/GGGG/BBBB, rgba: and #RRGGBB, ended by ST or BEL.
func (c *Caps) replyBackground(s string) bool {
	body, ok := strings.CutSuffix(s, "\x1b\\")
	if !ok {
		if body, ok = strings.CutSuffix(s, "\a"); !ok {
			return false
		}
	}
	var parts []string
	switch {
	case strings.HasPrefix(body, "rgb:"):
		parts = strings.Split(body[4:], "/")
	case strings.HasPrefix(body, "rgba:"):
		parts = strings.Split(body[5:], "/")
	case len(body) == 7 && body[0] == '#':
		parts = []string{body[1:3], body[3:5], body[5:7]}
	}
	if len(parts) < 3 {
		return false
	}
	var rgb [3]uint8
	for i := range rgb {
		v, err := strconv.ParseUint(parts[i], 16, 16)
		if err != nil {
			return false
		}
		// X11 scales a channel of n digits to the full range.
		rgb[i] = uint8((v*255 + (1<<(4*len(parts[i]))-1)/2) / (1<<(4*len(parts[i])) - 1))
	}
	c.Background, c.HasBG = rgb, true
	return true
}
