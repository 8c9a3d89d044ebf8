package shellwords

import "strings"

// command reads one stage of a pipeline, nil when there is none.
func (p *parser) command() *Command {
	p.blanks()
	began := p.pos
	if !p.enter() {
		return nil
	}
	defer p.leave()
	c := p.compound()
	if c == nil {
		c = p.simple()
	} else {
		for p.blanks(); p.redir(c); p.blanks() {
		}
	}
	if c != nil {
		c.Text = strings.TrimSpace(p.src[began:p.pos])
	}
	return c
}

// compound reads what begins with a parenthesis or a reserved word, nil when
// neither is here.
func (p *parser) compound() *Command {
	if p.at(0) == '(' {
		if p.at(1) == '(' {
			if c := p.arithmetic(); c != nil {
				return c
			}
		}
		p.pos++
		c := &Command{Kind: Subshell, Body: []List{p.list(nil, false)}}
		p.closing(')')
		return c
	}
	k := p.keyword([]string{"{", "if", "while", "until", "for", "select", "case", "function", "[["})
	p.pos += len(k)
	switch k {
	case "{":
		return p.blocks(&Command{Kind: Group}, "}")
	case "if":
		return p.blocks(&Command{Kind: Compound, Name: k}, "fi", "then", "elif", "else")
	case "while", "until":
		return p.blocks(&Command{Kind: Compound, Name: k}, "done", "do")
	case "for", "select":
		return p.loop(k)
	case "case":
		return p.cases()
	case "function":
		p.blanks()
		return p.function(p.word().Text)
	case "[[":
		return p.condition()
	}
	return nil
}

// blocks reads lists up to the word end, each from one of the words mid.
func (p *parser) blocks(c *Command, end string, mid ...string) *Command {
	all := append(mid, end)
	for {
		c.Body = append(c.Body, p.list(all, false))
		k := p.keyword(all)
		p.pos += len(k)
		switch {
		case k == end:
			return c
		case k == "":
			p.trouble("no %q", end)
			return c
		}
	}
}

// loop reads for and select after the word.
func (p *parser) loop(name string) *Command {
	c := &Command{Kind: Compound, Name: name}
	p.blanks()
	if p.has("((") {
		if a := p.arithmetic(); a != nil {
			c.Words = a.Words
		}
	} else {
		c.Words = p.words(nil)
	}
	p.lines()
	if p.at(0) == ';' {
		p.pos++
	}
	return p.blocks(c, "done", "do")
}

// words reads words up to an operator, a line end or the word "do".
func (p *parser) words(ws []Word) []Word {
	for {
		p.blanks()
		if p.eof() || p.keyword([]string{"do"}) != "" || isMeta(p.src[p.pos]) && !p.substitutes() {
			return ws
		}
		ws = append(ws, p.word())
	}
}

// cases reads case after the word.
func (p *parser) cases() *Command {
	c := &Command{Kind: Compound, Name: "case"}
	p.blanks()
	c.Words = append(c.Words, p.word())
	p.lines()
	if k := p.keyword([]string{"in"}); k == "" {
		p.trouble("a case without in")
		return c
	}
	p.pos += len("in")
	for {
		p.lines()
		if k := p.keyword([]string{"esac"}); k != "" {
			p.pos += len(k)
			return c
		}
		if !p.pattern() {
			p.trouble("no \"esac\"")
			return c
		}
		c.Body = append(c.Body, p.list([]string{"esac"}, true))
		for p.at(0) == ';' || p.at(0) == '&' {
			p.pos++
		}
	}
}

// pattern skips the patterns of a branch and the parenthesis after them.
func (p *parser) pattern() bool {
	for !p.eof() {
		switch c := p.src[p.pos]; {
		case c == ')':
			p.pos++
			return true
		case c == '(' || c == '|' || c == ' ' || c == '\t' || c == '\n':
			p.pos++
		case isMeta(c):
			return false
		default:
			p.word()
		}
	}
	return false
}

// function reads the body of a definition.
func (p *parser) function(name string) *Command {
	c := &Command{Kind: Function, Name: name}
	p.blanks()
	if p.at(0) == '(' {
		p.pos++
		p.blanks()
		p.closing(')')
	}
	p.lines()
	if body := p.command(); body != nil {
		c.Body = []List{{Item{Stages: []*Command{body}}}}
	} else {
		p.trouble("a function without a body")
	}
	return c
}

// condition reads [[ … ]], in which the operators are not the shell's.
func (p *parser) condition() *Command {
	c := &Command{Kind: Compound, Name: "[["}
	for {
		p.lines()
		switch {
		case p.eof():
			p.trouble("no \"]]\"")
			return c
		case p.keyword([]string{"]]"}) != "":
			p.pos += 2
			return c
		case isMeta(p.src[p.pos]) && !p.substitutes():
			p.pos++
		default:
			c.Words = append(c.Words, p.word())
		}
	}
}

// arithmetic reads (( … )), nil when it is two subshells after all.
func (p *parser) arithmetic() *Command {
	var w wordBuilder
	if !p.sum(&w) {
		return nil
	}
	return &Command{Kind: Compound, Name: "((", Words: []Word{w.word()}}
}

func (p *parser) closing(c byte) {
	if p.at(0) == c {
		p.pos++
		return
	}
	p.trouble("no %q", string(c))
}

// simple reads assignments, words and redirections in any order.
func (p *parser) simple() *Command {
	c := &Command{}
	for {
		p.blanks()
		switch {
		case p.eof():
		case p.redir(c):
			continue
		case p.at(0) == '(' && len(c.Words) == 1 && len(c.Assigns) == 0 && len(c.Redirs) == 0:
			return p.function(c.Words[0].Text)
		case !isMeta(p.src[p.pos]) || p.substitutes():
			w := p.word()
			if w.joined && len(c.Words) == 0 {
				p.trouble("%s", goesOn) // it may be a reserved word
			}
			switch {
			case len(c.Words) > 0 || !w.assigns():
				c.Words = append(c.Words, w)
			case p.at(0) == '(': // an array: its words, the parentheses included
				p.array(&w)
				fallthrough
			default:
				c.Assigns = append(c.Assigns, w)
			}
			continue
		}
		if len(c.Words)+len(c.Assigns)+len(c.Redirs) == 0 {
			return nil
		}
		return c
	}
}

// array reads the words of NAME=( … ) for the substitutions in them.
func (p *parser) array(w *Word) {
	p.pos++
	for {
		p.lines()
		if p.eof() || p.at(0) == ')' {
			break
		}
		if isMeta(p.src[p.pos]) && !p.substitutes() {
			p.trouble("a %q in an array", p.src[p.pos:p.pos+1])
			p.pos++
			continue
		}
		w.Subs = append(w.Subs, p.word().Subs...)
	}
	p.closing(')')
	w.Text += "(…)"
	w.mask += "xxxxx"
}

// redir reads one redirection into c and reports whether there was one.
func (p *parser) redir(c *Command) bool {
	i := 0
	for p.at(i) >= '0' && p.at(i) <= '9' {
		i++
	}
	if p.at(0) == '{' { // {name}> opens a descriptor of its own
		if end := strings.IndexByte(p.src[p.pos:], '}'); end > 1 && isName(p.src[p.pos+1:p.pos+end]) {
			i = end + 1
		}
	}
	rest := p.src[min(p.pos+i, len(p.src)):]
	op := ""
	for _, o := range []string{"&>>", "&>", "<<<", "<<-", "<<", "<>", "<&", ">>", ">&", ">|", "<", ">"} {
		if strings.HasPrefix(rest, o) && (o[0] != '&' || i == 0) {
			op = o
			break
		}
	}
	if op == "" || i == 0 && p.substitutes() {
		return false
	}
	r := &Redir{FD: p.src[p.pos : p.pos+i], Op: op, stripTabs: op == "<<-"}
	if r.stripTabs {
		r.Op = "<<"
	}
	p.pos += i + len(op)
	p.blanks()
	if p.eof() || isMeta(p.src[p.pos]) && !p.substitutes() {
		p.trouble("a redirection without a target")
	} else {
		r.Target = p.word()
	}
	if r.Op == "<<" {
		p.heres = append(p.heres, r)
	}
	c.Redirs = append(c.Redirs, r)
	return true
}

// here reads the body of a here-document. A quoted delimiter makes it text;
// otherwise parameters and substitutions in it work.
func (p *parser) here(r *Redir) {
	end := r.Target.Text
	var body strings.Builder
	for closed := false; !closed; {
		if p.eof() {
			p.trouble("a here-document that does not end")
			break
		}
		line := p.src[p.pos:]
		if i := strings.IndexByte(line, '\n'); i >= 0 {
			line = line[:i+1]
		}
		p.pos += len(line)
		if r.stripTabs {
			line = strings.TrimLeft(line, "\t")
		}
		if strings.TrimSuffix(line, "\n") == end {
			closed = true
		} else {
			body.WriteString(line)
		}
	}
	if strings.Contains(r.Target.mask, "q") {
		r.Here = Literal(body.String())
		return
	}
	in := &parser{src: body.String(), depth: p.depth, steps: p.steps}
	var w wordBuilder
	in.quoted(&w, 0)
	r.Here = w.word()
	if in.problem != "" {
		p.trouble("%s", in.problem)
	}
}
