package send

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Sentinels of a request that was turned down before anything was looked at.
var (
	ErrTarget  = errors.New("no such target")           // matches every TargetError
	ErrNothing = errors.New("there is nothing to send") // no text and no attachment
)

// A TargetError says why a target names no place, and what to do.
type TargetError struct {
	Why string
}

func (e *TargetError) Error() string        { return e.Why }
func (e *TargetError) Is(target error) bool { return target == ErrTarget }

// A TargetParser is a platform whose chats have names with colons in them. It
// gets what follows "platform:".
type TargetParser interface {
	ParseTarget(rest string) (chat, thread string, err error)
}

// Places are the targets that are known by name.
type Places struct {
	Homes map[string]Target            // platform: where "platform" alone goes
	Names map[string]map[string]string // platform: "#name": chat id

	// Missing are platforms that exist and are not set up, with what to do:
	// "set TELEGRAM_BOT_TOKEN".
	Missing map[string]string
}

// Resolve finds the platform and the place that a target names: "platform",
// "platform:chat" or "platform:chat:thread".
func (p Places) Resolve(target string, platforms []Platform) (Platform, Target, error) {
	name, rest, chatGiven := strings.Cut(strings.TrimSpace(target), ":")
	name = strings.ToLower(name)
	if strings.ContainsFunc(target, unsafeRune) {
		return nil, Target{}, &TargetError{"the target has a control character in it"}
	}
	if anchored.MatchString(target) {
		return nil, Target{}, &TargetError{"the target has a media directive in it"}
	}
	if name == "" {
		return nil, Target{}, &TargetError{"a target is needed: platform, platform:chat or platform:chat:thread"}
	}
	i := slices.IndexFunc(platforms, func(x Platform) bool { return x.Name() == name })
	if i < 0 {
		return nil, Target{}, p.unknown(name, platforms)
	}
	pl := platforms[i]
	if !chatGiven || rest == "" {
		t, err := p.home(pl)
		return pl, t, err
	}
	t := Target{Platform: name}
	var err error
	if tp, ok := pl.(TargetParser); ok {
		t.Chat, t.Thread, err = tp.ParseTarget(rest)
	} else {
		t.Chat, t.Thread, _ = strings.Cut(rest, ":")
	}
	if err != nil {
		return nil, Target{}, &TargetError{err.Error()}
	}
	if id, ok := p.Names[name][t.Chat]; ok {
		t.Chat = id
	}
	if t.Chat == "" && pl.Limits().Chat != "" {
		return nil, Target{}, &TargetError{fmt.Sprintf("the target names no chat of %s before the thread", name)}
	}
	return pl, t, threads(pl, t)
}

// threads refuses a thread where there are none: the message would go somewhere
// else than it was meant to.
func threads(pl Platform, t Target) error {
	if t.Thread == "" || pl.Limits().Threads {
		return nil
	}
	place := Target{Platform: pl.Name(), Chat: t.Chat}
	return &TargetError{fmt.Sprintf("%s has no threads: write %s without what follows", pl.Name(), place)}
}

func (p Places) home(pl Platform) (Target, error) {
	name := pl.Name()
	if t, ok := p.Homes[name]; ok {
		t.Platform = name
		return t, threads(pl, t)
	}
	if pl.Limits().Chat == "" {
		return Target{Platform: name}, nil
	}
	return Target{}, &TargetError{fmt.Sprintf("no home channel is set for %s: write %s:CHAT, where CHAT is %s, or set %s_HOME_CHANNEL",
		name, name, pl.Limits().Chat, strings.ToUpper(name))}
}

func (p Places) unknown(name string, platforms []Platform) error {
	if what, ok := p.Missing[name]; ok {
		return &TargetError{fmt.Sprintf("%s is not set up: %s", name, what)}
	}
	known := make([]string, 0, len(platforms))
	for _, x := range platforms {
		known = append(known, x.Name())
	}
	slices.Sort(known)
	return &TargetError{fmt.Sprintf("no platform is called %q; set up are: %s", clip(name), strings.Join(known, ", "))}
}

// homeNames are the variables that do not follow PLATFORM_HOME_CHANNEL.
var homeNames = map[string]string{"matrix": "MATRIX_HOME_ROOM", "email": "EMAIL_HOME_ADDRESS"}

// HomeFromEnv is the home channel of a platform that the environment names, by
// the variables that Hermes reads: TELEGRAM_HOME_CHANNEL and
// TELEGRAM_HOME_CHANNEL_THREAD_ID, MATRIX_HOME_ROOM, EMAIL_HOME_ADDRESS.
func HomeFromEnv(platform string, env func(name string) (string, bool)) (Target, bool) {
	name := strings.ToUpper(platform) + "_HOME_CHANNEL"
	chat, ok := env(name)
	if other, has := homeNames[platform]; has && (!ok || chat == "") {
		name = other
		chat, ok = env(name)
	}
	if !ok || chat == "" {
		return Target{}, false
	}
	thread, _ := env(name + "_THREAD_ID")
	return Target{Platform: platform, Chat: chat, Thread: thread}, true
}

// A Place is one line of the list of targets.
type Place struct {
	Target string `json:"target"`         // as it is written on a command line
	Name   string `json:"name,omitempty"` // "#ops"
	Home   bool   `json:"home,omitempty"`
}

// A PlatformList is what --list tells of one platform.
type PlatformList struct {
	Ready  bool    `json:"ready"`
	Needs  string  `json:"needs,omitempty"` // what to do, when it is not ready
	Chat   string  `json:"chat,omitempty"`  // what a chat is, in words
	Attach bool    `json:"attachments"`
	Places []Place `json:"places"`
}

// List is every platform with the places that are known by name. It asks no
// network.
func (p Places) List(platforms []Platform) map[string]PlatformList {
	out := map[string]PlatformList{}
	for name, what := range p.Missing {
		out[name] = PlatformList{Needs: what, Places: []Place{}}
	}
	for _, pl := range platforms {
		name, lim := pl.Name(), pl.Limits()
		l := PlatformList{Ready: true, Chat: lim.Chat, Attach: lim.Attach, Places: []Place{}}
		if h, ok := p.Homes[name]; ok {
			h.Platform = name
			l.Places = append(l.Places, Place{Target: h.String(), Home: true})
		}
		names := p.Names[name]
		for _, n := range slices.Sorted(maps.Keys(names)) {
			l.Places = append(l.Places, Place{Target: Target{Platform: name, Chat: names[n]}.String(), Name: n})
		}
		out[name] = l
	}
	return out
}
