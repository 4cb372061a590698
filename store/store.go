// Package store owns the files under the state directory (~/.cluade, or
// CLUADE_HOME): configuration and sessions. Everything it replaces is written
// to a temporary name beside it and renamed, mode 0600; journals are only
// appended to. Without a state directory nothing is persisted.
package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"cluade/internal/chat"
)

// ErrNoSession says that no saved session has that id.
var ErrNoSession = errors.New("no such session")

// maxQuoted is how many bytes of a file's text a notice or an error shows.
const maxQuoted = 240

// ConfigError is a configuration that cannot be used. File is the path of the
// file, or "environment". Line and Col are set for syntax errors, counted from
// 1, Col in characters. Key is the key with its objects ("ssh.timeout"), "" for
// the file as a whole. All texts are escaped and cut.
type ConfigError struct {
	File      string
	Line, Col int
	Key, Msg  string

	rules bool // in the lists of rules, of which the others count
}

func (e *ConfigError) Error() string {
	switch {
	case e.Line > 0:
		return fmt.Sprintf("%s: line %d, column %d: %s", e.File, e.Line, e.Col, e.Msg)
	case e.Key != "":
		return fmt.Sprintf("%s: %s %s", e.File, e.Key, e.Msg)
	}
	return e.File + ": " + e.Msg
}

// configError makes a ConfigError whose texts may be shown.
func configError(file, key, msg string) *ConfigError {
	return &ConfigError{
		File: chat.EscapeText(file, maxQuoted),
		Key:  chat.EscapeText(key, 80),
		Msg:  chat.EscapeText(msg, maxQuoted),
	}
}

// Tier says who set a value. Later tiers overrule earlier ones.
type Tier int

// The tiers, in merge order.
const (
	TierDefault Tier = iota
	TierUser
	TierProject
	TierEnv
	TierFlag
)

// Place is where a run happens. All paths are absolute.
type Place struct {
	State  string // state directory, "" if there is none
	Dir    string // working directory
	Home   string // "" if there is none
	Getenv func(string) string
	Rule   func(text string) error // what is wrong with a rule; nil takes any
}

// FindPlace names the state directory from CLUADE_HOME, HOME or, where that is
// not set as in bare cron jobs, the passwd entry of the user. A home that is not
// an absolute path of an existing directory counts as none, as with "nobody".
// Neither the passwd entry nor the working directory takes its place: who names
// another home does not want this one's key and sessions. CLUADE_HOME need not
// exist; a relative one counts as none.
func FindPlace(dir string, getenv func(string) string) Place {
	p := Place{Dir: dir, Home: getenv("HOME"), Getenv: getenv}
	switch {
	case p.Home == "":
		p.Home = passwdHome(os.Getuid())
	case !isHome(p.Home):
		p.Home = ""
	}
	switch state := getenv("CLUADE_HOME"); {
	case filepath.IsAbs(state):
		p.State = filepath.Clean(state)
	case state != "": // it would be another one in each directory
	case p.Home != "":
		p.State = filepath.Join(p.Home, ".cluade")
	}
	return p
}

func isHome(dir string) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// passwdHome is the home directory that /etc/passwd gives to uid, "" if that
// is none.
func passwdHome(uid int) string {
	f, err := os.Open("/etc/passwd")
	if err != nil {
		return ""
	}
	defer f.Close()
	if dir := findHome(f, uid); isHome(dir) {
		return dir
	}
	return ""
}

// findHome reads the home directory of uid from a file in the form of
// passwd(5): name, password, uid, gid, comment, home, shell.
func findHome(r io.Reader, uid int) string {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		f := strings.Split(lines.Text(), ":")
		if len(f) >= 6 && f[2] == strconv.Itoa(uid) {
			return f[5]
		}
	}
	return ""
}
