package keymap

import (
	"slices"
	"strconv"
)

// An Action is the name of something that a window can do. It stands in the
// config file, so a name once published stays.
type Action string

// The actions. Each has its line in actions below.
const (
	SplitRight Action = "split-right"
	SplitDown  Action = "split-down"
	FocusLeft  Action = "focus-left"
	FocusDown  Action = "focus-down"
	FocusUp    Action = "focus-up"
	FocusRight Action = "focus-right"
	FocusNext  Action = "focus-next"
	FocusPrev  Action = "focus-prev"
	FocusLast  Action = "focus-last"
	Zoom       Action = "zoom"
	SwapNext   Action = "swap-next"
	SwapPrev   Action = "swap-prev"
	MoveToTab  Action = "move-to-tab"
	BreakPane  Action = "break-pane"
	ChoosePane Action = "choose-pane"
	ReadOnly   Action = "read-only"
	Rerun      Action = "rerun"
	ClosePane  Action = "close-pane"

	ResizeLeft    Action = "resize-left"
	ResizeDown    Action = "resize-down"
	ResizeUp      Action = "resize-up"
	ResizeRight   Action = "resize-right"
	LayoutNext    Action = "layout-next"
	LayoutEqual   Action = "layout-equal"
	LayoutMain    Action = "layout-main"
	LayoutColumns Action = "layout-columns"
	LayoutRows    Action = "layout-rows"
	LayoutTop     Action = "layout-top"
	LayoutTiled   Action = "layout-tiled"

	NewTab    Action = "new-tab"
	NextTab   Action = "next-tab"
	PrevTab   Action = "prev-tab"
	LastTab   Action = "last-tab"
	TabLeft   Action = "move-tab-left"
	TabRight  Action = "move-tab-right"
	Tab1      Action = "tab-1"
	Tab2      Action = "tab-2"
	Tab3      Action = "tab-3"
	Tab4      Action = "tab-4"
	Tab5      Action = "tab-5"
	Tab6      Action = "tab-6"
	Tab7      Action = "tab-7"
	Tab8      Action = "tab-8"
	Tab9      Action = "tab-9"
	RenameTab Action = "rename-tab"
	CloseTab  Action = "close-tab"

	CopyMode       Action = "copy-mode"
	Search         Action = "search"
	Paste          Action = "paste"
	ScrollPageUp   Action = "scroll-page-up"
	ScrollPageDown Action = "scroll-page-down"
	ScrollUp       Action = "scroll-up"
	ScrollDown     Action = "scroll-down"
	ScrollTop      Action = "scroll-top"
	ScrollBottom   Action = "scroll-bottom"
	PromptPrev     Action = "prompt-prev"
	PromptNext     Action = "prompt-next"
	CopyLastOutput Action = "copy-last-output"
	FoldOutput     Action = "fold-output"
	PipeOutput     Action = "pipe-output"
	OpenInEditor   Action = "open-in-editor"
	ClearHistory   Action = "clear-history"

	ToggleDock  Action = "toggle-dock"
	FocusDock   Action = "focus-dock"
	DockNext    Action = "dock-next"
	DockPrev    Action = "dock-prev"
	DockSide    Action = "dock-side"
	PanelTools  Action = "panel-tools"
	PanelSpeech Action = "panel-speech"
	PanelSend   Action = "panel-send"
	PanelJobs   Action = "panel-jobs"
	PanelFDs    Action = "panel-fds"
	Compose     Action = "compose"
	WatchAgent  Action = "watch-agent"
	Doctor      Action = "doctor"
	Alerts      Action = "alerts"

	Palette      Action = "palette"
	Help         Action = "help"
	ChoosePrefix Action = "choose-prefix"
	SendPrefix   Action = "send-prefix"
	Redraw       Action = "redraw"
	ReloadConfig Action = "reload-config"
	Suspend      Action = "suspend"
	Quit         Action = "quit"
)

// A Group is a heading of the help.
type Group string

// The groups, in the order of the help.
const (
	Panes  Group = "Panes"
	Layout Group = "Layout"
	Tabs   Group = "Tabs"
	Output Group = "Output"
	Dock   Group = "Dock"
	Window Group = "Window"
)

// An Info describes an action.
type Info struct {
	Action      Action
	Group       Group
	Title       string // as the palette shows it
	Description string // one line
	// Repeat says that the action is often wanted several times in a row, so that
	// for a moment its keys work without another prefix, as in tmux. Only keys that
	// type no character have it: what is typed next is the program's.
	Repeat bool

	keys  []string // behind the prefix in the tmux preset; none: the prefix itself
	alt   []string // without a prefix in the zellij-like preset
	never bool     // has no key: it comes with the prefix
}

// actions is every action with its keys, in the order of the help. The keys
// behind the prefix are tmux's where tmux has one for it. Exceptions: h j k l
// move the focus, as in zellij's tmux mode and in vim, so tmux's l for the last
// window is Tab here.
var actions = []Info{
	{Action: SplitRight, Group: Panes, Title: "Split right", Description: "open a pane at the right of this one", keys: []string{"%"}, alt: []string{"alt+n"}},
	{Action: SplitDown, Group: Panes, Title: "Split down", Description: "open a pane below this one", keys: []string{`"`}, alt: []string{"alt+shift+n"}},
	{Action: FocusLeft, Group: Panes, Title: "Focus left", Description: "go to the pane at the left", keys: []string{"left", "h"}, alt: []string{"alt+left", "alt+h"}},
	{Action: FocusDown, Group: Panes, Title: "Focus down", Description: "go to the pane below", keys: []string{"down", "j"}, alt: []string{"alt+down", "alt+j"}},
	{Action: FocusUp, Group: Panes, Title: "Focus up", Description: "go to the pane above", keys: []string{"up", "k"}, alt: []string{"alt+up", "alt+k"}},
	{Action: FocusRight, Group: Panes, Title: "Focus right", Description: "go to the pane at the right", keys: []string{"right", "l"}, alt: []string{"alt+right", "alt+l"}},
	{Action: FocusNext, Group: Panes, Title: "Focus next pane", Description: "go to the next pane of the tab", keys: []string{"o"}, alt: []string{"alt+o"}},
	{Action: FocusPrev, Group: Panes, Title: "Focus previous pane", Description: "go to the previous pane of the tab", keys: []string{"O"}, alt: []string{"alt+i"}},
	{Action: FocusLast, Group: Panes, Title: "Focus last pane", Description: "go back to the pane focused before", keys: []string{";"}, alt: []string{"alt+;"}},
	{Action: Zoom, Group: Panes, Title: "Zoom pane", Description: "give this pane the whole tab, or end that", keys: []string{"z"}, alt: []string{"alt+z"}},
	{Action: SwapNext, Group: Panes, Title: "Swap with next pane", Description: "exchange places with the next pane", keys: []string{"}"}, alt: []string{"alt+}"}},
	{Action: SwapPrev, Group: Panes, Title: "Swap with previous pane", Description: "exchange places with the previous pane", keys: []string{"{"}, alt: []string{"alt+{"}},
	{Action: MoveToTab, Group: Panes, Title: "Move pane to tab…", Description: "take this pane to another tab", keys: []string{"m"}, alt: []string{"alt+m"}},
	{Action: BreakPane, Group: Panes, Title: "Move pane to a new tab", Description: "take this pane to a tab of its own", keys: []string{"!"}, alt: []string{"alt+!"}},
	{Action: ChoosePane, Group: Panes, Title: "Go to pane…", Description: "find a pane of any tab by its name", keys: []string{"w"}, alt: []string{"alt+w"}},
	{Action: ReadOnly, Group: Panes, Title: "Read-only pane", Description: "let no key reach this pane, or end that", keys: []string{"P"}, alt: []string{"alt+shift+i"}},
	{Action: Rerun, Group: Panes, Title: "Run again", Description: "run the command of an ended pane again", keys: []string{"R"}, alt: []string{"alt+shift+r"}},
	{Action: ClosePane, Group: Panes, Title: "Close pane", Description: "close this pane; asks if something runs", keys: []string{"x"}, alt: []string{"alt+shift+w"}},

	{Action: ResizeLeft, Group: Layout, Title: "Resize left", Description: "move the pane's border to the left", Repeat: true, keys: []string{"ctrl+left", "alt+left"}, alt: []string{"alt+shift+left"}},
	{Action: ResizeDown, Group: Layout, Title: "Resize down", Description: "move the pane's border down", Repeat: true, keys: []string{"ctrl+down", "alt+down"}, alt: []string{"alt+shift+down"}},
	{Action: ResizeUp, Group: Layout, Title: "Resize up", Description: "move the pane's border up", Repeat: true, keys: []string{"ctrl+up", "alt+up"}, alt: []string{"alt+shift+up"}},
	{Action: ResizeRight, Group: Layout, Title: "Resize right", Description: "move the pane's border to the right", Repeat: true, keys: []string{"ctrl+right", "alt+right"}, alt: []string{"alt+shift+right"}},
	{Action: LayoutNext, Group: Layout, Title: "Next layout", Description: "arrange the panes in the next of five ways", keys: []string{"space"}, alt: []string{"alt+a"}},
	{Action: LayoutEqual, Group: Layout, Title: "Equal panes", Description: "make the panes equally large", keys: []string{"E"}, alt: []string{"alt+="}},
	{Action: LayoutMain, Group: Layout, Title: "Main layout", Description: "this pane large at the left, others stacked", keys: []string{"M", "alt+4"}, alt: []string{"alt+shift+m"}},
	{Action: LayoutColumns, Group: Layout, Title: "Layout columns", Description: "all panes beside each other", keys: []string{"alt+1"}},
	{Action: LayoutRows, Group: Layout, Title: "Layout rows", Description: "all panes below each other", keys: []string{"alt+2"}},
	{Action: LayoutTop, Group: Layout, Title: "Layout main on top", Description: "the first pane large on top, others below", keys: []string{"alt+3"}},
	{Action: LayoutTiled, Group: Layout, Title: "Layout tiled", Description: "all panes in a grid", keys: []string{"alt+5"}},

	{Action: NewTab, Group: Tabs, Title: "New tab", Description: "open a tab with a shell", keys: []string{"c"}, alt: []string{"alt+t"}},
	{Action: NextTab, Group: Tabs, Title: "Next tab", Description: "go to the tab at the right", keys: []string{"n"}, alt: []string{"alt+pgdown"}},
	{Action: PrevTab, Group: Tabs, Title: "Previous tab", Description: "go to the tab at the left", keys: []string{"p"}, alt: []string{"alt+pgup"}},
	{Action: LastTab, Group: Tabs, Title: "Last tab", Description: "go back to the tab shown before", keys: []string{"tab"}, alt: []string{"alt+0"}},
	{Action: TabLeft, Group: Tabs, Title: "Move tab left", Description: "exchange places with the tab at the left", Repeat: true, keys: []string{"shift+left"}, alt: []string{"alt+<"}},
	{Action: TabRight, Group: Tabs, Title: "Move tab right", Description: "exchange places with the tab at the right", Repeat: true, keys: []string{"shift+right"}, alt: []string{"alt+>"}},
	tab(Tab1, 1), tab(Tab2, 2), tab(Tab3, 3), tab(Tab4, 4), tab(Tab5, 5), tab(Tab6, 6), tab(Tab7, 7), tab(Tab8, 8), tab(Tab9, 9),
	{Action: RenameTab, Group: Tabs, Title: "Rename tab…", Description: "give this tab a name", keys: []string{","}, alt: []string{"alt+,"}},
	{Action: CloseTab, Group: Tabs, Title: "Close tab", Description: "close this tab; asks if something runs", keys: []string{"&"}, alt: []string{"alt+&"}},

	{Action: CopyMode, Group: Output, Title: "Copy mode", Description: "move, select and copy with vi's keys", keys: []string{"["}, alt: []string{"alt+v"}},
	{Action: Search, Group: Output, Title: "Search output…", Description: "search upwards in what was written", keys: []string{"/"}, alt: []string{"alt+/"}},
	{Action: Paste, Group: Output, Title: "Paste", Description: "paste what was copied here last", keys: []string{"]"}, alt: []string{"alt+shift+v"}},
	{Action: ScrollPageUp, Group: Output, Title: "Scroll page up", Description: "go back one page", keys: []string{"pgup"}, alt: []string{"shift+pgup"}},
	{Action: ScrollPageDown, Group: Output, Title: "Scroll page down", Description: "go forward one page", keys: []string{"pgdown"}, alt: []string{"shift+pgdown"}},
	{Action: ScrollUp, Group: Output, Title: "Scroll up", Description: "go back one line", Repeat: true, keys: []string{"shift+up"}},
	{Action: ScrollDown, Group: Output, Title: "Scroll down", Description: "go forward one line", Repeat: true, keys: []string{"shift+down"}},
	{Action: ScrollTop, Group: Output, Title: "Scroll to the top", Description: "go to the oldest line that is kept", keys: []string{"home"}},
	{Action: ScrollBottom, Group: Output, Title: "Scroll to the bottom", Description: "go to the newest line", keys: []string{"end"}},
	{Action: PromptPrev, Group: Output, Title: "Previous prompt", Description: "go to the prompt before", keys: []string{"("}, alt: []string{"alt+("}},
	{Action: PromptNext, Group: Output, Title: "Next prompt", Description: "go to the prompt behind", keys: []string{")"}, alt: []string{"alt+)"}},
	{Action: CopyLastOutput, Group: Output, Title: "Copy last output", Description: "copy what the last command wrote", keys: []string{"y"}, alt: []string{"alt+shift+y"}},
	{Action: FoldOutput, Group: Output, Title: "Fold output", Description: "fold or unfold a command's output", keys: []string{"-"}, alt: []string{"alt+-"}},
	{Action: PipeOutput, Group: Output, Title: "Pipe last output…", Description: "give the last output to a command", keys: []string{"|"}, alt: []string{"alt+|"}},
	{Action: OpenInEditor, Group: Output, Title: "Open output in the editor", Description: "open all that was written in $EDITOR", keys: []string{"e"}, alt: []string{"alt+shift+e"}},
	{Action: ClearHistory, Group: Output, Title: "Clear history", Description: "forget the lines above the screen", keys: []string{"ctrl+l"}},

	{Action: ToggleDock, Group: Dock, Title: "Open or close the dock", Description: "show or hide the panels", keys: []string{"D"}, alt: []string{"alt+shift+d"}},
	{Action: FocusDock, Group: Dock, Title: "Focus dock", Description: "go to the dock, or back to the pane", keys: []string{"g"}, alt: []string{"alt+g"}},
	{Action: DockNext, Group: Dock, Title: "Next panel", Description: "show the next panel in the dock", keys: []string{">"}, alt: []string{"alt+shift+k"}},
	{Action: DockPrev, Group: Dock, Title: "Previous panel", Description: "show the previous panel in the dock", keys: []string{"<"}, alt: []string{"alt+shift+j"}},
	{Action: DockSide, Group: Dock, Title: "Move the dock", Description: "put the dock at the right or at the bottom", keys: []string{"B"}, alt: []string{"alt+shift+b"}},
	{Action: PanelTools, Group: Dock, Title: "Tools panel", Description: "what tools were called and what they did", keys: []string{"T"}, alt: []string{"alt+shift+t"}},
	{Action: PanelSpeech, Group: Dock, Title: "Speech panel", Description: "where speech files went", keys: []string{"V"}, alt: []string{"alt+shift+s"}},
	{Action: PanelSend, Group: Dock, Title: "Send panel", Description: "what was sent, and what was not", keys: []string{"S"}, alt: []string{"alt+shift+x"}},
	{Action: PanelJobs, Group: Dock, Title: "Jobs panel", Description: "commands in the background", keys: []string{"J"}, alt: []string{"alt+shift+u"}},
	{Action: PanelFDs, Group: Dock, Title: "FDs panel", Description: "who holds descriptors, how near the limits", keys: []string{"f"}, alt: []string{"alt+shift+f"}},
	{Action: Compose, Group: Dock, Title: "Compose a message…", Description: "write a message with files and send it", keys: []string{"C"}, alt: []string{"alt+shift+g"}},
	{Action: WatchAgent, Group: Dock, Title: "Watch an agent", Description: "follow the newest session of an agent", keys: []string{"A"}, alt: []string{"alt+shift+z"}},
	{Action: Doctor, Group: Dock, Title: "Doctor", Description: "check limits, descriptors, leftovers", keys: []string{"H"}, alt: []string{"alt+shift+h"}},
	{Action: Alerts, Group: Dock, Title: "Look at alerts", Description: "show the result that waits to be seen", keys: []string{"a"}, alt: []string{"alt+shift+a"}},

	{Action: Palette, Group: Window, Title: "Palette", Description: "find an action by name and run it", keys: []string{":"}, alt: []string{"alt+:"}},
	{Action: Help, Group: Window, Title: "Help", Description: "all keys; can be searched, Enter runs", keys: []string{"?"}, alt: []string{"alt+?"}},
	{Action: ChoosePrefix, Group: Window, Title: "Choose the prefix…", Description: "take another key for honestty", keys: []string{"K"}, alt: []string{"alt+shift+c"}},
	{Action: SendPrefix, Group: Window, Title: "Send the prefix", Description: "send the prefix key to the program", never: true},
	{Action: Redraw, Group: Window, Title: "Redraw", Description: "draw everything again", keys: []string{"r"}, alt: []string{"alt+shift+l"}},
	{Action: ReloadConfig, Group: Window, Title: "Reload config", Description: "read config.toml; a bad one changes nothing", keys: []string{"ctrl+r"}},
	{Action: Suspend, Group: Window, Title: "Suspend", Description: "stop, back to the shell; fg returns", keys: []string{"ctrl+z"}},
	{Action: Quit, Group: Window, Title: "Quit", Description: "leave; asks if something runs", keys: []string{"q"}, alt: []string{"alt+shift+q"}},
}

// tab describes the action that goes to a tab by its number.
func tab(a Action, n int) Info {
	d := strconv.Itoa(n)
	return Info{
		Action: a, Group: Tabs, Title: "Tab " + d, Description: "go to tab " + d,
		keys: []string{d}, alt: []string{"alt+" + d},
	}
}

// Actions returns every action in the order of the help.
func Actions() []Info { return slices.Clone(actions) }

// Lookup returns what is known of an action.
func Lookup(a Action) (Info, bool) {
	i := slices.IndexFunc(actions, func(info Info) bool { return info.Action == a })
	if i < 0 {
		return Info{}, false
	}
	return actions[i], true
}

// ParseAction returns the action of a name, or an UnknownError with the name
// that comes nearest.
func ParseAction(name string) (Action, error) {
	if info, ok := Lookup(Action(name)); ok {
		return info.Action, nil
	}
	names := make([]string, len(actions))
	for i, info := range actions {
		names[i] = string(info.Action)
	}
	return "", &UnknownError{Kind: "action", Name: name, Nearest: nearest(name, names)}
}
