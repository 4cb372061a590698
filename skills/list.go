package skills

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

const (
	maxDescription = 320 // bytes of a description in the list
	minDescription = 24  // below that it says nothing
)

// List tells a model of the skills that can be used, "- name: description" one
// a line, in at most budget bytes. Where all is too long the descriptions are
// shortened, then left out, then the last skills are only counted: a line says
// how many. "" if there is nothing to tell.
func List(skills []Skill, budget int) string {
	var list []Skill
	for _, s := range skills {
		if s.Fault == "" {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		return ""
	}
	const most = maxDescription - minDescription
	fits := func(cut int) bool { return len(lines(list, maxDescription-cut)) <= budget }
	if cut := sort.Search(most+1, fits); cut <= most {
		return lines(list, maxDescription-cut)
	}
	text := lines(list, 0)
	if len(text) <= budget {
		return text
	}
	text = ""
	for i, s := range list {
		line := "- " + s.Name + "\n"
		if len(text)+len(line)+len(more(len(list)-i-1)) > budget {
			return text + more(len(list)-i)
		}
		text += line
	}
	return text
}

func more(n int) string { return fmt.Sprintf("(%d more skills not listed)\n", n) }

// lines shows skills with descriptions of at most max bytes, 0 with none.
func lines(list []Skill, max int) string {
	var b strings.Builder
	for _, s := range list {
		b.WriteString("- " + s.Name)
		if max > 0 {
			b.WriteString(": " + shorten(s.Description, max))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// shorten cuts s to max bytes, the dots that say so included.
func shorten(s string, max int) string {
	const dots = "..."
	if len(s) <= max {
		return s
	}
	n := max - len(dots)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.TrimRight(s[:n], " ") + dots
}
