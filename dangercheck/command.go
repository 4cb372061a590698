package dangercheck

import "strings"

// command reads one command with its redirections; nil where none starts.
func (p *parser) command() *command {
	for p.acceptPrefix() {
		p.skipBlank()
	}
	c := &command{pos: p.pos}
	w := p.peekBare()
	if w == "[[" && p.posix {
		return p.simple(c)
	}
	switch w {
	case "{":
		p.pos++
		c.kind = group
		c.body = []*list{p.compound()}
		p.acceptWord("}")
	case "if", "while", "until":
		p.pos += len(w)
		p.branches(c, w)
	case "for", "select":
		p.pos += len(w)
		p.forLoop(c)
	case "case":
		p.pos += len(w)
		p.caseOf(c)
	case "function":
		p.pos += len(w)
		return p.functionNamed(c)
	case "[[":
		p.doubleBracket(c)
	default:
		if p.peek(0) != '(' {
			if name, ok := p.functionHead(); ok {
				return p.functionBody(c, name)
			}
			return p.simple(c)
		}
		p.parentheses(c)
	}
	c.end = p.pos
	for p.skipBlank(); p.redirect(c); p.skipBlank() {
		c.end = p.pos
	}
	return c
}

// acceptPrefix takes a word that changes nothing of what runs: ! before any
// command, time and coproc before a compound one.
func (p *parser) acceptPrefix() bool {
	w := p.peekBare()
	switch w {
	case "!":
		p.pos++
		return true
	case "time", "coproc":
		start := p.pos
		p.pos += len(w)
		p.skipBlank()
		switch p.peekBare() {
		case "{", "if", "while", "until", "for", "case":
			return true
		case "":
			if p.peek(0) == '(' && p.pos > start+len(w) {
				return true
			}
		}
		p.pos = start
	}
	return false
}

// parentheses reads ( list ) or (( arithmetic )).
func (p *parser) parentheses(c *command) {
	if p.peek(1) == '(' && !p.posix && p.isArithmetic(p.pos) {
		p.differs = true
		var b wordBuilder
		p.arithmetic(&b, false)
		c.kind = test
		c.words = []word{{parts: b.w.parts, pos: c.pos, end: p.pos}}
		return
	}
	p.pos++
	c.kind = subshell
	c.body = []*list{p.nested()}
	p.accept(')')
}

// maxOpen bounds compound commands within compound commands.
const maxOpen = 4 * maxDepth

// compound reads the list inside a compound command.
func (p *parser) compound() *list {
	if p.open >= maxOpen {
		p.cut = true
		p.pos = len(p.src)
		return &list{}
	}
	p.open++
	l := p.list(false)
	p.open--
	return l
}

// branches reads the lists of if, while and until up to fi or done.
func (p *parser) branches(c *command, keyword string) {
	c.kind = group
	if keyword != "if" {
		c.kind = whileLoop
	}
	for {
		c.body = append(c.body, p.compound())
		switch w := p.peekBare(); w {
		case "then", "elif", "else", "do":
			p.pos += len(w)
		case "fi", "done":
			p.pos += len(w)
			return
		default:
			return
		}
	}
}

func (p *parser) forLoop(c *command) {
	c.kind = forLoop
	p.skipBlank()
	if p.peek(0) == '(' {
		var b wordBuilder
		p.arithmetic(&b, false)
		c.words = []word{b.w}
		p.skipBlank()
	} else {
		c.name = p.peekBare()
		p.pos += len(c.name)
		p.skipBlank()
		if p.peekBare() == "in" {
			p.pos += 2
			c.words = p.wordsToEnd()
		} else {
			c.words = []word{{parts: []part{{kind: partVar, text: "@", quoted: true}}}}
		}
	}
	if p.acceptWord("do") || p.acceptWord("{") {
		c.body = []*list{p.compound()}
		if !p.acceptWord("done") {
			p.acceptWord("}")
		}
	}
}

func (p *parser) wordsToEnd() []word {
	var ws []word
	for {
		p.skipBlank()
		w, ok := p.word()
		if !ok {
			return ws
		}
		ws = append(ws, w)
	}
}

func (p *parser) caseOf(c *command) {
	c.kind = group
	p.skipBlank()
	if w, ok := p.word(); ok {
		c.words = []word{w}
	}
	if !p.acceptWord("in") {
		return
	}
	for p.pos < len(p.src) {
		p.skipSeparators()
		for strings.HasPrefix(p.src[p.pos:], ";;") {
			p.pos += 2
			p.skipSeparators()
		}
		if p.acceptWord("esac") {
			return
		}
		p.accept('(')
		for p.pos < len(p.src) && p.peek(0) != ')' { // the patterns
			if p.accept('|') || isBlank(p.peek(0)) && p.accept(p.peek(0)) {
				continue
			}
			if _, ok := p.word(); !ok {
				break
			}
		}
		if !p.accept(')') {
			return
		}
		c.body = append(c.body, p.compound())
	}
}

// doubleBracket passes a [[ ]] test; only its substitutions matter. Other
// shells take it for a command, which is a worry where bash would not take it
// for a test.
func (p *parser) doubleBracket(c *command) {
	c.kind, p.tests = test, true
	from := 1 // behind the [[
	for p.pos < len(p.src) && p.peekBare() != "]]" {
		next := p.peek(0)
		if next == '\n' || next == ';' {
			p.differs = true
			return
		}
		if w, ok := p.word(); ok {
			c.words = append(c.words, w)
			continue
		}
		if !isBlank(next) {
			p.differs = p.differs || !isTerm(c.words[from:])
			from = len(c.words)
		}
		p.pos++
	}
	p.differs = p.differs || p.pos == len(p.src) || !isTerm(c.words[from:])
	p.pos = min(p.pos+2, len(p.src))
}

// isTerm reports whether words could stand between the operators of a test.
func isTerm(ws []word) bool {
	for len(ws) > 0 && ws[0].bare() == "!" {
		ws = ws[1:]
	}
	switch len(ws) {
	case 0, 1:
		return true
	case 2:
		return strings.HasPrefix(ws[0].bare(), "-")
	case 3:
		return hasWord("= == != =~ -eq -ne -lt -le -gt -ge -nt -ot -ef", ws[1].bare())
	}
	return false
}

// functionHead recognises name() and leaves the position behind it.
func (p *parser) functionHead() (string, bool) {
	i := p.pos
	for i < len(p.src) && !isMeta(p.src[i]) && strings.IndexByte("'\"\\$`=", p.src[i]) < 0 {
		i++
	}
	name := p.src[p.pos:i]
	for i < len(p.src) && isBlank(p.src[i]) {
		i++
	}
	if name == "" || i >= len(p.src) || p.src[i] != '(' {
		return "", false
	}
	for i++; i < len(p.src) && isBlank(p.src[i]); i++ {
	}
	if i >= len(p.src) || p.src[i] != ')' {
		return "", false
	}
	p.pos = i + 1
	return name, true
}

// functionNamed reads what follows the word function.
func (p *parser) functionNamed(c *command) *command {
	p.skipBlank()
	name := p.peekBare()
	p.pos += len(name)
	p.skipBlank()
	if p.accept('(') {
		p.skipBlank()
		p.accept(')')
	}
	return p.functionBody(c, name)
}

func (p *parser) functionBody(c *command, name string) *command {
	c.kind, c.name = function, name
	p.skipSeparators()
	if p.open >= maxOpen {
		p.cut = true
		return c
	}
	p.open++
	var body *command
	if p.peek(0) == '{' && !isMeta(p.peek(1)) { // "{:|:&}" is meant as a group
		body = &command{kind: group, pos: p.pos}
		p.pos++
		body.body = []*list{p.list(false)}
		p.acceptWord("}")
		body.end = p.pos
	} else {
		body = p.command()
	}
	p.open--
	if body != nil {
		c.body = []*list{{items: []item{{pipe: []*command{body}}}, foreign: p.foreign}}
	}
	c.end = p.pos
	return c
}

// simple reads assignments, words and redirections in any order.
func (p *parser) simple(c *command) *command {
	for {
		p.skipBlank()
		if p.redirect(c) || (len(c.words) == 0 || p.arrayIn(c)) && p.assignment(c) {
			c.end = p.pos
			continue
		}
		w, ok := p.word()
		if !ok {
			break
		}
		c.end = p.pos
		if len(c.words) == 0 && w.setsElement() {
			c.assigns = append(c.assigns, assign{value: w})
			continue
		}
		c.words = append(c.words, w)
	}
	if c.end == 0 {
		return nil
	}
	if p.posix && p.peek(0) == '(' { // a syntax error, behind which nothing runs
		p.pos = len(p.src)
	}
	return c
}

// setsElement reports whether a word is NAME[...]=value.
func (w *word) setsElement() bool {
	if len(w.parts) == 0 || w.parts[0].kind != partText || w.parts[0].quoted {
		return false
	}
	name, _, found := strings.Cut(w.parts[0].text, string(markBracket))
	if !found || !isAssignment(name+"=") {
		return false
	}
	for _, p := range w.parts {
		if p.kind == partText && !p.quoted && (strings.Contains(p.text, "]=") || strings.Contains(p.text, "]+=")) {
			return true
		}
	}
	return false
}

// arrayIn reports whether NAME=( comes next and the command declares it.
func (p *parser) arrayIn(c *command) bool {
	if !declares(c.words[0].bare()) {
		return false
	}
	i := p.pos
	for i < len(p.src) && isNameByte(p.src[i], i == p.pos) {
		i++
	}
	return strings.HasPrefix(p.src[i:], "=(")
}

// redirect reads one redirection, if one starts here.
func (p *parser) redirect(c *command) bool {
	i := p.pos
	for i < len(p.src) && p.src[i] >= '0' && p.src[i] <= '9' {
		i++
	}
	if i == p.pos && p.peek(0) == '{' { // {name}> gives the variable a new descriptor
		for i++; i < len(p.src) && isNameByte(p.src[i], false); i++ {
		}
		if i == p.pos+1 || i == len(p.src) || p.src[i] != '}' {
			return false
		}
		i++
	}
	r := redir{fd: p.src[p.pos:i], pos: p.pos, op: redirectOperator(p.src[i:])}
	if r.op == "" || r.op[0] == '&' && r.fd != "" {
		return false
	}
	p.pos = i + len(r.op)
	p.skipBlank()
	r.target, _ = p.word()
	r.end = p.pos
	if r.op == "<<" || r.op == "<<-" {
		r.body = new(word)
		delim, quoted := p.delimiter(p.src[r.target.pos:r.target.end])
		p.heredoc = append(p.heredoc, heredoc{r.body, delim, r.op == "<<-", quoted})
	}
	c.redirs = append(c.redirs, r)
	return true
}

func redirectOperator(s string) string {
	if s == "" || s[0] != '<' && s[0] != '>' && s[0] != '&' {
		return ""
	}
	for _, op := range [...]string{"&>>", "&>", "<<<", "<<-", "<<", "<>", "<&", ">>", ">|", ">&", "<", ">"} {
		if strings.HasPrefix(s, op) {
			if len(op) == 1 && strings.HasPrefix(s[1:], "(") {
				return ""
			}
			return op
		}
	}
	return ""
}

// assignment reads NAME=value, NAME+=value or NAME=(words).
func (p *parser) assignment(c *command) bool {
	i := p.pos
	for i < len(p.src) && isNameByte(p.src[i], i == p.pos) {
		i++
	}
	a := assign{name: p.src[p.pos:i]}
	if rest := p.src[i:]; strings.HasPrefix(rest, "+=") && a.name != "" {
		p.differs = true
		if p.posix {
			return false
		}
		a.added = true
		i++
	} else if !strings.HasPrefix(rest, "=") {
		return false
	}
	if a.name == "" {
		return false
	}
	p.pos = i + 1
	if p.accept('(') {
		for p.pos < len(p.src) && !p.accept(')') {
			p.skipSeparators()
			if w, ok := p.word(); ok {
				a.array = append(a.array, w)
			} else if p.pos < len(p.src) && p.src[p.pos] != ')' {
				p.pos++
			}
		}
	} else {
		a.value, _ = p.word()
	}
	c.assigns = append(c.assigns, a)
	return true
}
