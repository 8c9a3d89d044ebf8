package copymode

// maxCount is the largest count before a command.
const maxCount = 1_000_000

// A Binding is one line of the help: keys as input.Key.String spells them, and
// what they do. Keys in one Binding do the same.
type Binding struct {
	Keys []string
	Does string
	// run does it. n is the count, 1 when none was typed; given tells the two apart.
	run func(m *Mode, n int, given bool)
}

// bindings is every key of copy mode. Digits before a key are its count.
var bindings = []Binding{
	{[]string{"h", "left", "backspace"}, "left", func(m *Mode, n int, _ bool) { m.chars(-n) }},
	{[]string{"l", "right"}, "right", func(m *Mode, n int, _ bool) { m.chars(n) }},
	{[]string{"j", "down", "ctrl+n", "ctrl+j"}, "down", func(m *Mode, n int, _ bool) { m.vertical(n) }},
	{[]string{"k", "up", "ctrl+p"}, "up", func(m *Mode, n int, _ bool) { m.vertical(-n) }},
	{[]string{"w"}, "next word", func(m *Mode, n int, _ bool) { m.words(n, false, m.wordForward) }},
	{[]string{"b"}, "word before", func(m *Mode, n int, _ bool) { m.words(n, false, m.wordBack) }},
	{[]string{"e"}, "end of word", func(m *Mode, n int, _ bool) { m.words(n, false, m.wordEnd) }},
	{[]string{"W"}, "next word between blanks", func(m *Mode, n int, _ bool) { m.words(n, true, m.wordForward) }},
	{[]string{"B"}, "word before, between blanks", func(m *Mode, n int, _ bool) { m.words(n, true, m.wordBack) }},
	{[]string{"E"}, "end of word between blanks", func(m *Mode, n int, _ bool) { m.words(n, true, m.wordEnd) }},
	{[]string{"0", "home"}, "start of line", func(m *Mode, _ int, _ bool) { m.lineFirst() }},
	{[]string{"^"}, "first character of line", func(m *Mode, _ int, _ bool) { m.lineText() }},
	{[]string{"$", "end"}, "end of line", func(m *Mode, n int, _ bool) { m.lineLast(n) }},
	{[]string{"g", "ctrl+home"}, "oldest line, or the line of the count", func(m *Mode, n int, _ bool) { m.toRow(n - 1) }},
	{[]string{"G", "ctrl+end"}, "newest line, or the line of the count", (*Mode).toLast},
	{[]string{"{"}, "empty line before", func(m *Mode, n int, _ bool) { m.paragraphs(-n) }},
	{[]string{"}"}, "next empty line", func(m *Mode, n int, _ bool) { m.paragraphs(n) }},
	{[]string{"H"}, "top of the window", func(m *Mode, n int, _ bool) { m.window(n - 1) }},
	{[]string{"M"}, "middle of the window", func(m *Mode, _ int, _ bool) { m.window((min(m.height, m.total()-m.topLine()) - 1) / 2) }},
	{[]string{"L"}, "bottom of the window", func(m *Mode, n int, _ bool) { m.window(-n) }},
	{[]string{"ctrl+u"}, "half a page up", func(m *Mode, n int, _ bool) { m.scroll(-n*m.half(), true) }},
	{[]string{"ctrl+d"}, "half a page down", func(m *Mode, n int, _ bool) { m.scroll(n*m.half(), true) }},
	{[]string{"ctrl+b", "pgup"}, "page up", func(m *Mode, n int, _ bool) { m.scroll(-n*m.page(), true) }},
	{[]string{"ctrl+f", "pgdown"}, "page down", func(m *Mode, n int, _ bool) { m.scroll(n*m.page(), true) }},
	{[]string{"ctrl+y"}, "scroll up a line", func(m *Mode, n int, _ bool) { m.scroll(-n, false) }},
	{[]string{"ctrl+e"}, "scroll down a line", func(m *Mode, n int, _ bool) { m.scroll(n, false) }},
	{[]string{"v", "space"}, "select", func(m *Mode, _ int, _ bool) { m.selectAs(Chars) }},
	{[]string{"V"}, "select lines", func(m *Mode, _ int, _ bool) { m.selectAs(Lines) }},
	{[]string{"ctrl+v"}, "select a rectangle", func(m *Mode, _ int, _ bool) { m.selectAs(Block) }},
	{[]string{"o"}, "other end of the selection", func(m *Mode, _ int, _ bool) { m.swapEnds() }},
	{[]string{"y", "enter", "kpenter"}, "copy the selection and leave", func(m *Mode, _ int, _ bool) { m.copySelection(true) }},
	{[]string{"Y"}, "copy this line and leave", func(m *Mode, n int, _ bool) { m.copyLines(n) }},
	{[]string{"c"}, "copy the output of this command and leave", func(m *Mode, _ int, _ bool) { m.copyOutput() }},
	{[]string{"/"}, "search down", func(m *Mode, _ int, _ bool) { m.openPrompt(false) }},
	{[]string{"?"}, "search up", func(m *Mode, _ int, _ bool) { m.openPrompt(true) }},
	{[]string{"n"}, "next match", func(m *Mode, n int, _ bool) { m.seek(m.search.backward, n) }},
	{[]string{"N"}, "match before", func(m *Mode, n int, _ bool) { m.seek(!m.search.backward, n) }},
	{[]string{"*"}, "search down for this word", func(m *Mode, n int, _ bool) { m.word(false, n) }},
	{[]string{"#"}, "search up for this word", func(m *Mode, n int, _ bool) { m.word(true, n) }},
	{[]string{"[", "("}, "prompt before", func(m *Mode, n int, _ bool) { m.prompts(-n) }},
	{[]string{"]", ")"}, "next prompt", func(m *Mode, n int, _ bool) { m.prompts(n) }},
	{[]string{"zz"}, "this line to the middle", func(m *Mode, _ int, _ bool) { m.lineToTop(m.height / 2) }},
	{[]string{"zt"}, "this line to the top", func(m *Mode, _ int, _ bool) { m.lineToTop(0) }},
	{[]string{"zb"}, "this line to the bottom", func(m *Mode, _ int, _ bool) { m.lineToTop(m.height - 1) }},
	{[]string{"za", "tab"}, "fold or unfold this output", func(m *Mode, _ int, _ bool) { m.foldAt(true, true) }},
	{[]string{"zc"}, "fold this output", func(m *Mode, _ int, _ bool) { m.foldAt(false, true) }},
	{[]string{"zo"}, "unfold this output", func(m *Mode, _ int, _ bool) { m.foldAt(true, false) }},
	{[]string{"zM"}, "fold all outputs", func(m *Mode, _ int, _ bool) { m.foldAll() }},
	{[]string{"zR"}, "unfold all outputs", func(m *Mode, _ int, _ bool) { m.unfoldAll() }},
	{[]string{"esc", "ctrl+["}, "drop the selection, or leave", func(m *Mode, _ int, _ bool) { m.escape() }},
	{[]string{"q", "ctrl+c"}, "leave", func(m *Mode, _ int, _ bool) { m.res.Leave = true }},
}

// byKey finds the binding of a key.
var byKey = func() map[string]*Binding {
	keys := map[string]*Binding{}
	for i := range bindings {
		for _, k := range bindings[i].Keys {
			keys[k] = &bindings[i]
		}
	}
	return keys
}()

// Bindings returns every key and what it does, for the help.
func Bindings() []Binding { return append([]Binding(nil), bindings...) }

// Key takes a key, named as input.Key.String does. Digits are kept as the count
// of the key that follows.
func (m *Mode) Key(name string) Result {
	m.begin()
	m.res.Handled = true
	switch {
	case m.prompt.open:
		m.promptKey(name)
		return m.result()
	case m.prefix:
		m.prefix = false
		name = "z" + name
	case len(name) == 1 && (name[0] >= '1' && name[0] <= '9' || name == "0" && m.count > 0):
		m.count = min(m.count*10+int(name[0]-'0'), maxCount)
		return m.result()
	case name == "z":
		m.prefix = true
		return m.result()
	case name == "esc" && m.count > 0:
		m.count = 0
		return m.result()
	}
	n, given := max(m.count, 1), m.count > 0
	m.count = 0
	b := byKey[name]
	if b == nil {
		// An esc after z only takes the z back.
		m.res.Handled = name == "zesc"
		return m.result()
	}
	m.search.seek.active = false
	b.run(m, n, given)
	return m.result()
}

// begin starts a call by a person: the last notice has been read.
func (m *Mode) begin() { m.notice, m.warning = "", false }

func (m *Mode) toLast(n int, given bool) {
	if given {
		m.toRow(n - 1)
		return
	}
	m.toRow(m.last)
}

func (m *Mode) half() int { return max(m.height/2, 1) }
func (m *Mode) page() int { return max(m.height-1, 1) }

// lineToTop scrolls so that the cursor is n lines below the top.
func (m *Mode) lineToTop(n int) {
	m.setTop(m.shown(m.cursor.Line) - n)
	m.show()
}

func (m *Mode) unfoldAll() {
	m.folds = nil
	m.show()
}

func (m *Mode) escape() {
	if m.sel.kind != NoSelection {
		m.sel = selection{}
		return
	}
	m.res.Leave = true
}
