package lineedit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// History is what was entered before, oldest first. Its file is read when it is
// opened and written when it is closed, both once: flash wears.
type History struct {
	lines []string
	max   int
	file  string // "" is none
	keep  int    // entries of the file
	fresh []string

	Skip func(line string) bool // says what is not to be kept, such as a secret; nil keeps all
}

// maxHistory bounds what is read of the file, and so an entry, in bytes.
const maxHistory = 256 << 10

// OpenHistory returns a history that holds max entries, those at the end of the
// file to begin with. file may be "", for memory only; it keeps about so many
// entries. A file that is not there yet is no error; with one, the history
// works without the file.
func OpenHistory(max int, file string, keep int) (*History, error) {
	h := &History{max: max, keep: keep}
	if file == "" || keep <= 0 {
		return h, nil
	}
	lines, _, err := readTail(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return h, fmt.Errorf("read history: %w", err)
	}
	h.file = file
	for _, l := range lines {
		h.push(cleanText([]byte(unescape(l))))
	}
	return h, nil
}

// readTail returns the lines at the end of a file, and whether they are all.
func readTail(file string) (lines []string, all bool, err error) {
	info, err := os.Stat(file) // opening a pipe would wait
	if err != nil {
		return nil, true, err
	}
	if !info.Mode().IsRegular() {
		return nil, true, errors.New(file + " is no regular file")
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, true, err
	}
	defer f.Close()
	from := max(info.Size()-maxHistory, 0)
	data, err := io.ReadAll(io.NewSectionReader(f, from, maxHistory))
	if err != nil {
		return nil, true, err
	}
	text := strings.TrimSuffix(string(data), "\n")
	if from > 0 {
		_, text, _ = strings.Cut(text, "\n")
	}
	if text == "" {
		return nil, from == 0, nil
	}
	return strings.Split(text, "\n"), from == 0, nil
}

// Add appends an entry. Empty ones, those that begin with a blank, a repetition
// of the last and what is too long for a file are not kept.
func (h *History) Add(line string) {
	if strings.TrimSpace(line) == "" || line[0] == ' ' || len(line) > maxHistory/4 || h.Skip != nil && h.Skip(line) {
		return
	}
	if n := len(h.lines); n > 0 && h.lines[n-1] == line {
		return
	}
	h.push(line)
	if h.file != "" {
		h.fresh = append(h.fresh, line)
	}
}

// Close writes the new entries to the file, which has mode 0600 then: they are appended, unless the file has grown to twice its size.
func (h *History) Close() error {
	if len(h.fresh) == 0 {
		return nil
	}
	if len(h.fresh) > h.keep {
		h.fresh = h.fresh[len(h.fresh)-h.keep:]
	}
	var b strings.Builder
	for _, l := range h.fresh {
		b.WriteString(escape(l) + "\n")
	}
	h.fresh = nil
	if err := h.write(b.String()); err != nil {
		return fmt.Errorf("save history: %w", err)
	}
	return nil
}

func (h *History) write(text string) error {
	old, all, err := readTail(h.file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if all && len(old) < 2*h.keep {
		f, err := os.OpenFile(h.file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		f.Chmod(0o600) // of one that others could read; who does not own it may still add to it
		_, err = f.WriteString(text)
		return errors.Join(err, f.Close())
	}
	if extra := len(old) + strings.Count(text, "\n") - h.keep; extra > 0 {
		old = old[min(extra, len(old)):]
	}
	if len(old) > 0 {
		text = strings.Join(old, "\n") + "\n" + text
	}
	return replaceFile(h.file, text)
}

// replaceFile puts a new file in the place of an old one; a link stays one.
func replaceFile(file, text string) error {
	if target, err := os.Readlink(file); err == nil {
		return errors.New(file + " leads to " + target + ", which is not replaced")
	}
	tmp, err := os.CreateTemp(dirOf(file), ".history-")
	if err != nil {
		return err
	}
	_, err = tmp.WriteString(text)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}

func dirOf(file string) string {
	if i := strings.LastIndexByte(file, '/'); i >= 0 {
		return file[:i+1]
	}
	return "."
}

func (h *History) push(line string) {
	if line == "" {
		return
	}
	h.lines = append(h.lines, line)
	if extra := len(h.lines) - h.max; extra > 0 {
		h.lines = append(h.lines[:0], h.lines[extra:]...)
	}
}

// escape puts an entry on one line.
func escape(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), "\n", `\n`)
}

func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' && i+1 < len(s) {
			if i++; s[i] == 'n' {
				c = '\n'
			} else {
				c = s[i]
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}
