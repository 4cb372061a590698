// Package store owns the files under the state directory (~/.cluade, or
// CLUADE_HOME): configuration and sessions. Everything it replaces is written
// to a temporary name beside it and renamed, mode 0600; journals are only
// appended to. Without a state directory nothing is persisted.
package store

import (
	"errors"
	"fmt"
	"time"

	"cluade/internal/chat"
)

// ErrNoSession says that no saved session has that id.
var ErrNoSession = errors.New("no such session")

// ConfigError is a configuration file that cannot be used. Line and Col are
// set for syntax errors, counted from 1.
type ConfigError struct {
	File      string
	Line, Col int
	Key, Msg  string
}

func (e *ConfigError) Error() string { return fmt.Sprintf("%s: %s: %s", e.File, e.Key, e.Msg) }

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

// Place is where a run happens.
type Place struct {
	State  string // state directory, "" if there is none
	Dir    string // working directory
	Home   string
	Getenv func(string) string
}

// FindPlace names the state directory from CLUADE_HOME, HOME, or the passwd
// entry of the user, in that order.
func FindPlace(dir string, getenv func(string) string) Place { return Place{} }

// Config is the merged configuration. Values are checked when they are stored;
// what is here is in range.
type Config struct {
	BaseURL          string
	Model            string
	APIKey           string
	MaxSteps         int
	MaxTokens        int
	RequestTimeout   time.Duration
	FirstByteTimeout time.Duration // 0: RequestTimeout
	IdleTimeout      time.Duration
	Thinking         bool
	Effort           string
	ContextLimit     int
	CompactAt        float64
	MaxTotalTokens   int
	TimeLimit        time.Duration
	Stream           bool
	Retries          int
	BashTimeout      time.Duration
	ResultBytes      int
	RepeatLimit      int
	ErrorLimit       int
	PollLimit        int
	ExtraBody        string // raw JSON object
	Provider         string // raw JSON object
	Headers          [][2]string
	TextTools        string
	CAFile           string
	Insecure         bool
	ScrubEnv         []string
	Color            string
	SessionsDir      string
	JournalSync      string
	Levels           map[string]string // tool -> allow, ask, deny, as configured
	LevelFiles       map[string]string // tool -> file that set it
	Tools            []string          // subset offered, nil is all

	sources map[string]Tier
}

// Source says which tier set key.
func (c *Config) Source(key string) Tier { return c.sources[key] }

// Load reads the files and the environment. A faulty user file is an error
// (*ConfigError); whatever else is wrong is told in the notices, one sentence
// each, already escaped.
func Load(p Place) (*Config, []string, error) { return nil, nil, errors.New("not built") }

// Set stores a value from the command line or the environment, checked like
// one from a file.
func (c *Config) Set(t Tier, key, value string) error { return errors.New("not built") }

// Credential picks the key for the base URL: flag, CLUADE_API_KEY,
// OPENAI_API_KEY, the variable of the host, files. source names where it came
// from, for people; no key is legal. The error names the source, never the
// value.
func (c *Config) Credential(p Place, flag string) (key, source string, err error) {
	return "", "", errors.New("not built")
}

// Init writes the default configuration and returns its path. An existing file
// is left alone with an error unless force is set.
func Init(p Place, force bool) (string, error) { return "", errors.New("not built") }

// Sessions is the directory of saved sessions.
type Sessions struct{ dir string }

// OpenSessions names the directory; nothing is made before the first message.
func OpenSessions(p Place, c *Config) *Sessions { return &Sessions{} }

// SetSecret makes s be replaced by *** wherever it would enter a journal.
func (s *Sessions) SetSecret(key string) {}

// New starts a session. Its file is made with the first message; until then the
// id in sess is empty.
func (s *Sessions) New(sess *chat.Session, version string) *Journal { return &Journal{} }

// Resumed is a loaded session with what had to be said about it.
type Resumed struct {
	Session *chat.Session
	Journal *Journal
	Notices []string
	Pending string // an unanswered last user message that was dropped
}

// Resume loads a session by id or unique prefix and locks it. A session that
// another process holds is copied under a new id.
func (s *Sessions) Resume(id, version string) (*Resumed, error) { return nil, errors.New("not built") }

// Latest is the session that the pointer names, else the newest.
func (s *Sessions) Latest() (string, error) { return "", ErrNoSession }

// Summary is one line of a listing.
type Summary struct {
	ID       string
	Created  time.Time
	Messages int
	Bytes    int64
	First    string // the first prompt, escaped, at most 50 columns
	Damage   string // "empty", "torn", "3 lines skipped"; "" if whole
}

// List returns the sessions, newest first.
func (s *Sessions) List() ([]Summary, error) { return nil, errors.New("not built") }

// OpenFile opens a session file at a path of the user's choice
// (--session-file): loaded if present, else a fresh start.
func (s *Sessions) OpenFile(path string, sess *chat.Session, version string) (*Resumed, error) {
	return nil, errors.New("not built")
}

// Journal is the append-only file of one session. It fits agent.Journal.
type Journal struct{}

// Path is the file, "" before the first message.
func (j *Journal) Path() string { return "" }

// Append writes one message.
func (j *Journal) Append(m chat.Message) error { return nil }

// Reset replaces everything before by msgs.
func (j *Journal) Reset(why string, msgs []chat.Message) error { return nil }

// Truncate keeps the first n messages.
func (j *Journal) Truncate(n int, why string) error { return nil }

// State writes the counters and, as configured, syncs.
func (j *Journal) State(s *chat.Session) error { return nil }

// Close releases the lock.
func (j *Journal) Close() error { return nil }
