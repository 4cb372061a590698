package cli

import (
	"runtime"
	"runtime/debug"
	"strings"
	"unicode/utf8"
)

const (
	helpWidth  = 80 // columns of a serial console
	helpColumn = 29 // where the texts begin
)

const usageHead = `usage: cluade [options] [prompt...]
       cluade help exit-codes
       cluade doctor | status
       cluade dangercheck < commands
       cluade skillimport SRC | marketplace SRC (--help tells more)

A prompt is answered and the run ends; without one a conversation begins.
Standard input that is no terminal is added to the prompt, or is the prompt.

`

const usageTail = `
A lone - among the words reads standard input to its end, however long that
takes; -- ends the options.
`

const exitCodes = `0    the turn finished; a refused call does not change this
1    the turn failed: provider error, empty answer, session not saved
2    usage, configuration or start-up error; nothing was sent
3    finished, but a call was refused and --fail-on-refusal was given
4    stopped by a guard: loop, step, token or time limit
129  ended by SIGHUP
130  interrupted
131  ended by SIGQUIT
141  nobody reads standard output any more
143  ended by SIGTERM
`

// usage is the text of --help, no line of it wider than helpWidth.
func usage() string {
	var b strings.Builder
	b.WriteString(usageHead)
	var later []string
	all := new(flags).options()
	for i := range all {
		o := &all[i]
		if o.later {
			later = append(later, "--"+o.long)
			continue
		}
		left := "      --" + o.long
		if o.short != 0 {
			left = "  -" + string(o.short) + ", --" + o.long
		}
		switch {
		case o.optional:
			left += " [" + o.value + "]"
		case o.value != "":
			left += " " + o.value
		}
		writeEntry(&b, left, o.help)
	}
	b.WriteString(usageTail)
	b.WriteByte('\n')
	writeWrapped(&b, "Not there yet: "+strings.Join(later, ", ")+"; commands: "+strings.Join(commands[readyCommands:], ", ")+".", 0)
	return b.String()
}

// writeEntry writes an option and its text in two columns.
func writeEntry(b *strings.Builder, left, text string) {
	b.WriteString(left)
	if len(left) > helpColumn-2 {
		b.WriteByte('\n')
		left = ""
	}
	b.WriteString(strings.Repeat(" ", helpColumn-len(left)))
	writeWrapped(b, text, helpColumn)
}

// writeWrapped writes text, whose first line begins at column indent, in lines
// of at most helpWidth.
func writeWrapped(b *strings.Builder, text string, indent int) {
	col := indent
	for i, w := range strings.Fields(text) {
		switch {
		case i == 0:
		case col+1+len(w) > helpWidth:
			b.WriteByte('\n')
			b.WriteString(strings.Repeat(" ", indent))
			col = indent
		default:
			b.WriteByte(' ')
			col++
		}
		b.WriteString(w)
		col += len(w)
	}
	b.WriteByte('\n')
}

// versionText is the text of --version: version, target and modules, one a
// line.
func versionText(version string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	target := runtime.GOOS + "/" + runtime.GOARCH
	for _, s := range info.Settings {
		switch s.Key {
		case "GOARM", "GOMIPS", "GO386":
			target += " " + s.Value
		}
	}
	var b strings.Builder
	b.WriteString("cluade " + version + " " + target + " " + runtime.Version() + "\n")
	for _, m := range info.Deps {
		b.WriteString(m.Path + " " + m.Version + "\n")
	}
	return b.String()
}

// buildVersion is the version given at build time, else that of the module as
// Go recorded it, else devel.
func buildVersion(given string) string {
	if given != "" {
		return given
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

// nearest returns the name that takes the fewest changes to become word: a
// character inserted, removed or replaced, or two neighbours exchanged. Of
// equals the first wins; "" if there are no names.
func nearest(word string, names []string) string {
	best, least := "", -1
	for _, n := range names {
		if d := distance(word, n); least < 0 || d < least {
			best, least = n, d
		}
	}
	return best
}

// distance is the optimal string alignment distance of a and b, in bytes. Words
// are compared up to their first 64 bytes.
func distance(a, b string) int {
	const most = 64
	a, b = a[:min(len(a), most)], b[:min(len(b), most)]
	var before, row, next [most + 1]int
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}

// meant suggests an option for an unknown name. None is better than one that
// was not meant.
func (f *flags) meant(name string) string {
	name = strings.ToLower(name)
	if near := nearest(name, f.optionNames()); distance(name, near) <= len(near)/3 {
		return "the nearest is --" + near
	}
	return "--help shows what there is"
}

// nearestShort suggests an option for an unknown letter: the same letter in
// the other case, else an option that begins with it, else --help.
func (f *flags) nearestShort(c byte) string {
	if o := f.option(func(o *option) bool { return o.short|0x20 == c|0x20 }); o != nil && c|0x20 >= 'a' {
		return "-" + string(rune(o.short))
	}
	if o := f.option(func(o *option) bool { return o.long[0] == c|0x20 }); o != nil {
		return "--" + o.long
	}
	return "--help"
}

// firstRune is the first character of s as it may be shown.
func firstRune(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}
