package dangercheck

import (
	"bufio"
	"io"
	"strings"
)

// Lines reads one command a line from r, in which \n, \t and \\ are escapes,
// and writes for each "pass" or "flag", a tab, the class, a colon and the
// reason. Every class is judged, whatever the surroundings.
func Lines(r io.Reader, w io.Writer) error {
	in := bufio.NewReader(r)
	out := bufio.NewWriter(w)
	for {
		line, err := in.ReadString('\n')
		if line != "" {
			out.WriteString(verdict(decodeLine(strings.TrimSuffix(line, "\n"))) + "\n")
		}
		if err == io.EOF {
			return out.Flush()
		}
		if err != nil {
			return err
		}
	}
}

func verdict(cmd string) string {
	found := Check(cmd, Options{Lockout: true})
	if len(found) == 0 {
		return "pass"
	}
	return "flag\t" + found[0].Class + ": " + found[0].Reason
}

// decodeLine undoes the escapes of one line.
func decodeLine(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 == len(s) {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		switch c := s[i+1]; c {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case '\\':
			b.WriteByte('\\')
		default:
			b.WriteString(s[i : i+2])
		}
		s = s[i+2:]
	}
}
