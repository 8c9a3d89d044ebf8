package picker

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// A ComposeTarget is a place that a message can go to, for the completion.
type ComposeTarget struct {
	Target string // "telegram:-100123"
	Name   string // "#ops", "home"; "" has none
	Needs  string // what to do before it can be used; "" when it is ready
}

// A FolderEntry is one name in a folder.
type FolderEntry struct {
	Name   string
	Folder bool
	Size   string // as it is shown; "" when it is not known
}

// A ComposeWant is what a form needs done for it. The zero value is nothing.
type ComposeWant struct {
	Folder string // a folder to be listed, for TakeFolder
	DryRun string // parameters of send_message to be tried dry, for TakePlan
}

// ComposeSend is the ID of the Result with which somebody pressed Send. Its Text
// holds the parameters of send_message as JSON.
const ComposeSend = "send"

// A Compose is the form of a message. Nothing is sent before somebody presses
// Send. After each key, paste and click the window asks Wants.
type Compose struct {
	To, Subject Line
	Text        Text
	Files       []string // paths that are attached
	Targets     []ComposeTarget
	Folder      string // where looking for files begins

	path  Line // that is typed to be attached
	focus composeField
	file  int // the chosen one of Files
	pick  int // the chosen one of the targets that fit

	note    string
	leaving bool // Esc was pressed once, with something written

	files   *Picker // the folder that is looked at; nil when none is
	entries []FolderEntry
	want    ComposeWant
	asked   string // the dry run on its way
	plan    *composePlan
	planFor string // the parameters that the plan is of

	verdictTop, verdictRows, verdictEnd int // what of the plan was drawn last

	places  []composePlace
	targets []target
	textAt  rect
}

type composeField uint8

const (
	fieldTo composeField = iota
	fieldSubject
	fieldText
	fieldFiles
	fieldDryRun
	fieldSend
	fieldCancel
	numFields
)

// A composePlace is where a field, or a row of one, was drawn.
type composePlace struct {
	rect
	field composeField
	row   int // of the files or the targets, counted from 1; 0 for none
}

// A composeRequest is the parameters of send_message.
type composeRequest struct {
	Target      string   `json:"target"`
	Subject     string   `json:"subject,omitempty"`
	Message     string   `json:"message"`
	Attachments []string `json:"attachments,omitempty"`
	DryRun      bool     `json:"dry_run"`
}

// request returns the parameters as they are written now.
func (d *Compose) request(dry bool) string {
	raw, err := json.Marshal(composeRequest{
		Target: strings.TrimSpace(d.To.Text()), Subject: d.Subject.Text(), Message: d.Text.String(),
		Attachments: d.Files, DryRun: dry,
	})
	if err != nil {
		return "" // strings always marshal
	}
	return string(raw)
}

// missing says what has to be written first, and where.
func (d *Compose) missing() (why string, where composeField) {
	switch {
	case strings.TrimSpace(d.To.Text()) == "":
		return "Where does it go? A target is missing.", fieldTo
	case strings.TrimSpace(d.Text.String()) == "" && len(d.Files) == 0:
		return "There is nothing to send: write a text or attach a file.", fieldText
	case strings.TrimSpace(d.path.Text()) != "":
		return "A path is typed and not attached yet: Enter attaches it, Ctrl+u clears it.", fieldFiles
	}
	return "", 0
}

// Wants returns what is to be done for the form, once.
func (d *Compose) Wants() ComposeWant {
	w := d.want
	d.want = ComposeWant{}
	return w
}

// Key takes one key.
func (d *Compose) Key(name, text string) Result {
	if d.files != nil {
		d.browse(d.files.Key(name, text))
		return Result{}
	}
	key := keypad(name)
	if leaves(key) {
		return d.leave()
	}
	if d.focus != fieldCancel || key != "enter" {
		d.leaving = false
	}
	d.note = ""
	switch key {
	case "tab":
		d.move(1)
		return Result{}
	case "shift+tab":
		d.move(-1)
		return Result{}
	}
	switch d.focus {
	case fieldTo:
		d.toKey(key, name, text)
	case fieldSubject:
		d.lineKey(&d.Subject, key, name, text)
	case fieldText:
		d.Text.Key(name, text)
		d.note = d.Text.Note()
	case fieldFiles:
		d.filesKey(key, name, text)
	default:
		return d.buttonKey(key)
	}
	return Result{}
}

// leave closes the form. What was written is not thrown away by one key.
func (d *Compose) leave() Result {
	written := d.Text.String() != "" || d.Subject.Text() != "" || len(d.Files) > 0
	if written && !d.leaving {
		d.leaving, d.note = true, "Once more leaves the form; what is written here is not kept."
		return Result{}
	}
	return Result{State: Cancelled}
}

func (d *Compose) move(by int) {
	d.focus = composeField((int(d.focus) + by + int(numFields)) % int(numFields))
	d.pick = 0
}

// lineKey takes a key of a field of one line.
func (d *Compose) lineKey(l *Line, key, name, text string) {
	switch key {
	case "enter", "down":
		d.move(1)
	case "up":
		d.move(-1)
	default:
		l.Key(name, text)
		if l.Cut() {
			d.note = cutNote
		}
	}
}

// fitting returns the targets that what is typed fits, the best first.
func (d *Compose) fitting() []ComposeTarget {
	typed := strings.TrimSpace(d.To.Text())
	items := make([]Item, 0, len(d.Targets))
	for _, t := range d.Targets {
		if t.Target == typed {
			return nil // nothing is left to complete
		}
		items = append(items, Item{Title: t.Target + " " + t.Name})
	}
	var out []ComposeTarget
	for _, h := range Subsequence(typed, items) {
		out = append(out, d.Targets[h.Index])
	}
	return out
}

func (d *Compose) toKey(key, name, text string) {
	fit := d.fitting()
	switch key {
	case "down":
		if len(fit) == 0 || d.pick == len(fit) {
			d.move(1)
			return
		}
		d.pick++
	case "up":
		d.pick = max(d.pick-1, 0)
	case "enter":
		d.complete(fit)
	default:
		d.To.Key(name, text)
		d.pick = 0
		if d.To.Cut() {
			d.note = cutNote
		}
	}
}

// complete takes the chosen target. Without one what is typed stands.
func (d *Compose) complete(fit []ComposeTarget) {
	if d.pick == 0 || d.pick > len(fit) {
		d.move(1)
		return
	}
	t := fit[d.pick-1]
	if t.Needs != "" {
		d.note = t.Target + ": " + t.Needs
		return
	}
	d.To.Set(t.Target)
	d.move(1)
}

func (d *Compose) filesKey(key, name, text string) {
	typed := strings.TrimSpace(d.path.Text())
	switch {
	case key == "enter" && typed != "":
		d.attach(typed)
		d.path = Line{}
	case key == "enter":
		d.open(d.folder())
	case key == "up" && d.file == 0 && len(d.Files) > 0:
		d.file = len(d.Files)
	case key == "up" && d.file > 1:
		d.file--
	case key == "up":
		d.move(-1)
	case key == "down" && d.file > 0:
		d.file = (d.file + 1) % (len(d.Files) + 1)
	case key == "down":
		d.move(1)
	case (key == "delete" || key == "backspace") && d.file > 0:
		d.Files = slices.Delete(d.Files, d.file-1, d.file)
		d.file = min(d.file, len(d.Files))
	default:
		d.file = 0
		d.path.Key(name, text)
	}
}

// attach adds a path. One that is typed is meant from the folder where looking
// begins: what sends the message runs elsewhere. The same one twice would be
// sent once.
func (d *Compose) attach(file string) {
	if !utf8.ValidString(file) {
		d.note = "Its name is no UTF-8, so it cannot be told on: give it another name, or a link with one."
		return
	}
	if !path.IsAbs(file) && file[0] != '~' && path.IsAbs(d.Folder) {
		file = path.Join(d.Folder, file)
	}
	if slices.Contains(d.Files, file) {
		d.note = "It is attached already."
		return
	}
	d.Files = append(d.Files, file)
}

func (d *Compose) buttonKey(key string) Result {
	switch key {
	case "left", "up":
		d.move(-1)
	case "right", "down":
		if d.focus < fieldCancel {
			d.move(1)
		}
	case "pgdown": // beyond the last row it begins again
		if d.verdictTop += max(d.verdictRows-1, 1); d.verdictTop >= d.verdictEnd-1 {
			d.verdictTop = 0
		}
	case "pgup":
		d.verdictTop = max(d.verdictTop-max(d.verdictRows-1, 1), 0)
	case "enter", "space":
		return d.press(d.focus)
	}
	return Result{}
}

// press presses a button.
func (d *Compose) press(button composeField) Result {
	d.focus = button
	if button == fieldCancel {
		return d.leave()
	}
	if why, where := d.missing(); why != "" {
		d.note, d.focus = why, where
		return Result{}
	}
	if button == fieldSend {
		return Result{State: Chosen, ID: ComposeSend, Text: d.request(false)}
	}
	d.asked = d.request(true)
	d.want.DryRun = d.asked
	d.note = "The dry run looks at what would go; nothing is sent."
	return Result{}
}

// folder is where to look for files: where the last one was, or the beginning.
func (d *Compose) folder() string {
	if n := len(d.Files); n > 0 && path.IsAbs(d.Files[n-1]) {
		return path.Dir(d.Files[n-1])
	}
	return d.Folder
}

// open begins to look at a folder.
func (d *Compose) open(folder string) {
	if !path.IsAbs(folder) {
		d.note = "No folder is known to look in: type the path of the file."
		return
	}
	d.want.Folder = path.Clean(folder)
	d.note = "The folder is being read."
}

// TakeFolder takes the names of a folder that Wants asked for.
func (d *Compose) TakeFolder(folder string, entries []FolderEntry, err error) {
	d.note = ""
	if err != nil {
		d.note = "The folder cannot be read: " + oneLine(err.Error())
		return
	}
	d.focus, d.Folder = fieldFiles, folder
	d.entries = slices.Clone(entries)
	slices.SortStableFunc(d.entries, func(a, b FolderEntry) int {
		switch {
		case a.Folder == b.Folder:
			return strings.Compare(a.Name, b.Name)
		case a.Folder:
			return -1
		}
		return 1
	})
	items := []Item{{ID: "..", Title: "..", Detail: "the folder above"}}
	for _, e := range d.entries {
		title := e.Name
		if e.Folder {
			title += "/"
		}
		items = append(items, Item{ID: e.Name, Title: title, Detail: e.Size})
	}
	d.files = New(folder, "file", items, nil)
	d.files.Does = "attaches it or opens it"
	d.files.move(min(1, len(items)-1))
}

// browse follows what was chosen in a folder.
func (d *Compose) browse(r Result) {
	switch r.State {
	case Open:
		return
	case Cancelled:
		d.files = nil
		return
	}
	folder := d.Folder
	if r.ID == ".." {
		d.open(path.Dir(folder))
		return
	}
	for _, e := range d.entries {
		if e.Name != r.ID {
			continue
		}
		if e.Folder {
			d.open(path.Join(folder, e.Name))
			return
		}
		d.files = nil
		d.attach(path.Join(folder, e.Name))
		return
	}
}

// Paste puts text where the cursor is.
func (d *Compose) Paste(text string) {
	d.leaving = false
	switch {
	case d.files != nil:
		d.files.Paste(text)
	case d.focus == fieldTo:
		d.To.Insert(text)
		d.pick = 0
	case d.focus == fieldSubject:
		d.Subject.Insert(text)
	case d.focus == fieldText:
		d.Text.Insert(text)
		d.note = d.Text.Note()
	case d.focus == fieldFiles:
		d.file = 0
		d.path.Insert(strings.TrimSpace(text))
	}
}

// Click goes to the field under it, or presses the button.
func (d *Compose) Click(x, y int) Result {
	if d.files != nil {
		d.browse(d.files.Click(x, y))
		return Result{}
	}
	if name, ok := pressed(d.targets, x, y); ok {
		return d.Key(name, "")
	}
	for _, p := range d.places {
		if !p.has(x, y) {
			continue
		}
		if p.field != fieldCancel {
			d.leaving, d.note = false, ""
		}
		if p.field >= fieldDryRun {
			return d.press(p.field)
		}
		d.focus = p.field
		switch {
		case p.field == fieldTo && p.row > 0:
			d.pick = p.row
			d.complete(d.fitting())
		case p.field == fieldFiles:
			d.file = p.row
		case p.field == fieldText:
			d.Text.click(x-d.textAt.x, y-d.textAt.y)
		}
	}
	return Result{}
}

// Wheel scrolls the folder that is looked at, or moves in the text.
func (d *Compose) Wheel(lines int) {
	if d.files != nil {
		d.files.Wheel(lines)
		return
	}
	if d.focus == fieldText {
		rows := d.Text.rows()
		row := rowOf(rows, d.Text.edit.at)
		d.Text.toRow(rows, row, row+lines)
	}
}
