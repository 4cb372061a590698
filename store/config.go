package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"cluade/internal/chat"
	"cluade/internal/jsonenc"
	"github.com/valyala/fastjson"
)

// Config is the merged configuration. Values are checked when they are stored;
// what is here is in range.
type Config struct {
	BaseURL          string // without a slash at the end
	Model            string
	APIKey           string // as configured; Credential says which one counts
	MaxSteps         int
	MaxTokens        int
	RequestTimeout   time.Duration
	FirstByteTimeout time.Duration // 0: RequestTimeout
	IdleTimeout      time.Duration
	Thinking         bool
	Effort           string
	ContextLimit     int
	CompactAt        float64 // part of ContextLimit
	HardCompactAt    float64 // the same, above CompactAt
	Compaction       bool
	MaxTotalTokens   int // 0: no limit
	TimeLimit        time.Duration
	Stream           bool
	Retries          int
	BashTimeout      time.Duration
	ResultBytes      int
	RepeatLimit      int
	ErrorLimit       int
	PollLimit        int
	ExtraBody        string // raw JSON object, "" if empty
	Provider         string // raw JSON object, "" if empty
	Headers          [][2]string
	TextTools        string // "auto", "true" or "false"
	CAFile           string
	Insecure         bool
	ScrubEnv         []string
	Safety           Safety
	SSH              SSH
	Web              Web
	SubagentModel    string // as configured: an id or a name of the models; "" is the session's
	SubagentSteps    int
	SubagentTimeout  time.Duration // 0: no limit
	Color            string
	SessionsDir      string            // "": sessions in the state directory
	JournalSync      string            // "none", "turn" or "always"
	SessionsKeep     int               // sessions to keep; 0: all
	RewindBytes      int               // of old contents of files that are kept to go back
	BundledSkills    bool              // those that come with the program are offered
	Levels           map[string]string // tool -> allow, ask, deny, as configured
	LevelFiles       map[string]string // tool -> file that set it
	Tools            []string          // subset offered, nil is all

	// Unknown are the keys of the files that mean nothing here.
	Unknown []UnknownKey

	home      string
	rule      func(string) error // of the Place
	guarded   []guardedValue
	trusting  bool // guarded values count
	keyFile   string
	undo      string // rewind_keep as JSON text, "" where it is not set
	models    []model
	entry     *model   // of models, in force
	overruled []string // keys whose value is the entry's
	values    map[string]setting
}

// SSH is how other hosts are reached. Paths are absolute, except those of
// IdentityFiles, which are as written; KnownHosts is "" where it is not set.
type SSH struct {
	IdentityFiles           []string
	KnownHosts, Config      string
	ConnectTimeout, Timeout time.Duration
	Strict, Legacy          bool
}

// Web is how pages are fetched and the web is searched.
type Web struct {
	UserAgent, Search, SearchURL string
	SearchKeyEnv                 string // the variable that holds the key
	FetchTimeout                 time.Duration
	FetchBytes                   int
}

// UnknownKey is a key that no part of the program reads. Nearest is the known
// key it may have been meant for, "" if none is like it. The texts are escaped.
type UnknownKey struct{ File, Key, Nearest string }

// setting is the value in force of one key, and who set it.
type setting struct {
	json string
	tier Tier
	file string   // "" if no file
	over *setting // what it took the place of, but for a default
}

// Source says which tier set key.
func (c *Config) Source(key string) Tier {
	if slices.Contains(c.overruled, key) {
		return TierUser
	}
	return c.values[key].tier
}

// Guarded are the values that wait for the project to be trusted, nil if there
// are none.
func (c *Config) Guarded(p Place) *Guarded {
	if len(c.guarded) == 0 {
		return nil
	}
	return &Guarded{File: p.projectFile(), dir: canonical(p.Dir), values: c.guarded}
}

func (p Place) projectFile() string { return filepath.Join(p.Dir, ".cluade", "config.json") }

// Load reads the files and the environment. A project's guarded values count
// where they are exactly those that trust is the word for, or the trust file
// has one. A faulty user file is an error (*ConfigError); whatever else is wrong
// is told in the notices, one sentence each, already escaped.
func Load(p Place, trust Trust) (*Config, []string, error) {
	c := Defaults(p)
	var notices []string
	user, project := "", p.projectFile()
	if p.State != "" {
		user = filepath.Join(p.State, "config.json")
		notes, err := c.loadFile(user, TierUser)
		if err != nil {
			return nil, nil, err
		}
		notices = append(notices, notes...)
	}
	if !sameFile(user, project) {
		next, notes, err := c.loadProject(p, trust)
		switch {
		case err == nil:
			c, notices = next, append(notices, notes...)
		case err.rules:
			c.keepRefusals(project)
			notices = append(notices, err.Error()+"; only the other rules of this file that refuse or ask are in force")
		default:
			notices = append(notices, err.Error()+"; nothing of this file is in force")
		}
	}
	if err := c.loadEnv(p.Getenv); err != nil {
		return nil, nil, err
	}
	if info, err := os.Stat(c.keyFile); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		notices = append(notices, othersRead(info.Mode(), chat.EscapeText(c.keyFile, maxQuoted)))
	}
	return c, notices, nil
}

// Defaults is the configuration without any file or variable.
func Defaults(p Place) *Config {
	c := defaults(p.Home)
	c.rule = p.Rule
	return c
}

func defaults(home string) *Config {
	c := &Config{
		home: home, Levels: map[string]string{}, LevelFiles: map[string]string{}, values: map[string]setting{},
	}
	all := keys(c)
	for i := range all {
		if all[i].def != "" {
			c.store(&all[i], fastjson.MustParse(all[i].def), setting{})
		}
	}
	return c
}

func (c *Config) clone() *Config {
	next := *c
	next.Levels, next.LevelFiles, next.values = maps.Clone(c.Levels), maps.Clone(c.LevelFiles), maps.Clone(c.values)
	next.Unknown, next.Safety = slices.Clone(c.Unknown), c.Safety.clone()
	return &next
}

// sameFile says whether two names are one file, as the state directory's and
// the working directory's are in the home.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// admits answers the one question of the tiers: may t set k to v?
func (c *Config) admits(k *key, t Tier, v *fastjson.Value) bool {
	if t != TierProject || k.tier == "free" || c.trusting && k.tier != "user" {
		return true
	}
	if k.strict == nil {
		return false
	}
	old, ok := c.values[k.name]
	if !ok {
		old.json = k.def
	}
	return k.strict(old.json, v)
}

// store is the one procedure that puts values in force. It stores nothing that
// is not admitted. The value was approved by the key's kind.
func (c *Config) store(k *key, v *fastjson.Value, s setting) bool {
	if !c.admits(k, s.tier, v) {
		return false
	}
	old, had := c.values[k.name]
	if k.adds {
		v = union(old.json, v)
	}
	s.json = jsonText(v)
	if k.mild && s.file != "" && s.json == k.def {
		s.tier = old.tier
	}
	if had && old.tier > TierDefault && !k.adds {
		s.over = &old
	}
	c.values[k.name] = s
	k.assign(c, v)
	return true
}

// union is the list old with what v has beyond it.
func union(old string, v *fastjson.Value) *fastjson.Value {
	if old == "" {
		return v
	}
	list := stringsOf(fastjson.MustParse(old))
	for _, s := range stringsOf(v) {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	text := []byte{'['}
	for i, s := range list {
		if i > 0 {
			text = append(text, ',')
		}
		text = jsonenc.AppendString(text, s)
	}
	return fastjson.MustParseBytes(append(text, ']'))
}

// settle computes what follows from several keys together.
func (c *Config) settle() error {
	all := keys(c)
	c.overruled = nil
	for _, name := range []string{"base_url", "model", "context_limit", "thinking"} {
		findKey(all, name).assign(c, fastjson.MustParse(c.values[name].json))
	}
	c.applyModel()
	c.Provider = c.object("provider")
	findKey(all, "hard_compact_threshold").assign(c, fastjson.MustParse(c.values["hard_compact_threshold"].json))
	switch {
	case c.HardCompactAt > c.CompactAt:
	case c.Source("hard_compact_threshold") == TierDefault:
		c.HardCompactAt = (c.CompactAt + 1) / 2
	default:
		return fmt.Errorf("must be above compact_threshold, which is %g", c.CompactAt)
	}
	return nil
}

// object is the JSON object of the members of a group that are set.
func (c *Config) object(group string) string {
	names := make([]string, 0, len(c.values))
	for name := range c.values {
		names = append(names, name)
	}
	slices.Sort(names)
	text := []byte{'{'}
	for _, name := range names {
		if member, ok := strings.CutPrefix(name, group+"."); ok {
			text = append(jsonenc.AppendKey(text, member), c.values[name].json...)
		}
	}
	if len(text) == 1 {
		return ""
	}
	return string(append(text, '}'))
}

// Set stores a value from the command line or the environment, checked like
// one from a file. The error does not name the key.
func (c *Config) Set(t Tier, key, value string) error {
	next := c.clone()
	k := findKey(keys(next), key)
	if k == nil {
		return fmt.Errorf("unknown key %s", key)
	}
	v, err := k.parse(value)
	if err != nil {
		return err
	}
	if !next.store(k, v, setting{tier: t}) {
		return errors.New("may not be set by a project")
	}
	if err := next.settle(); err != nil {
		return err
	}
	*c = *next
	return nil
}

// parse reads a value as a person writes it: JSON, or where the key is a text,
// the text itself.
func (k *key) parse(value string) (*fastjson.Value, error) {
	v, err := fastjson.Parse(value)
	if err != nil || k.kind.text {
		v = fastjson.MustParse(quote(value))
	}
	return v, k.kind.verify(v)
}

// Inherit takes over what was set by hand in the run that had old, by option or
// command.
func (c *Config) Inherit(old *Config) error {
	all := keys(c)
	for i := range all {
		if s := old.values[all[i].name]; s.tier == TierFlag {
			c.store(&all[i], fastjson.MustParse(s.json), setting{tier: TierFlag})
		}
	}
	return c.settle()
}

func quote(s string) string { return string(jsonenc.AppendString(nil, s)) }

// loadEnv takes what the environment says.
func (c *Config) loadEnv(getenv func(string) string) *ConfigError {
	base := "CLUADE_BASE_URL"
	if getenv(base) == "" && c.Source("base_url") == TierDefault {
		base = "OPENAI_BASE_URL"
	}
	for _, v := range []struct{ name, key, value string }{
		{base, "base_url", getenv(base)},
		{"CLUADE_MODEL", "model", getenv("CLUADE_MODEL")},
		{"CLICOLOR_FORCE", "color", colorOf(getenv)},
	} {
		if v.value == "" {
			continue
		}
		if err := c.Set(TierEnv, v.key, v.value); err != nil {
			return configError("environment", v.name, err.Error())
		}
	}
	return nil
}

// colorOf is what NO_COLOR (no-color.org) and CLICOLOR_FORCE (bixense.com/clicolors)
// say; the former wins.
func colorOf(getenv func(string) string) string {
	force := getenv("CLICOLOR_FORCE")
	switch {
	case getenv("NO_COLOR") != "":
		return "never"
	case force != "" && force != "0":
		return "always"
	}
	return ""
}

// loadFile puts a file's values in force and returns what is to be said of
// it. A file that is not there has none. After an error c is unusable.
func (c *Config) loadFile(path string, t Tier) ([]string, *ConfigError) {
	data, mode, err := readConfig(path)
	if err != nil || data == nil {
		return nil, err
	}
	return c.apply(path, t, data, mode)
}

// readConfig reads a file; data is nil if there is none.
func readConfig(path string) (data []byte, mode fs.FileMode, fault *ConfigError) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, 0, nil
	}
	data, info, err := readFile(path, maxConfig)
	if err != nil {
		return nil, 0, configError(path, "", why(err))
	}
	return data, info.Mode(), nil
}

// loadProject returns the configuration with the project's file in force: once
// without what it has that is guarded, and where that is trusted, once more
// with it. Both times it is the same text.
func (c *Config) loadProject(p Place, trust Trust) (*Config, []string, *ConfigError) {
	path := p.projectFile()
	next := c.clone()
	data, mode, fault := readConfig(path)
	if fault != nil || data == nil {
		return next, nil, fault
	}
	notes, fault := next.apply(path, TierProject, data, mode)
	g := next.Guarded(p)
	if fault != nil || g == nil {
		return next, notes, fault
	}
	if !trust.accepts(g) {
		known, err := p.known(g.dir)
		if err != nil {
			notes = append(notes, "no project is trusted: "+chat.EscapeText(err.Error(), maxQuoted))
		}
		trust = known
	}
	if trust.accepts(g) {
		next = c.clone()
		next.trusting = true
		notes, fault = next.apply(path, TierProject, data, mode)
		next.trusting = false
	}
	return next, notes, fault
}

// apply puts the values of a file's text in force.
func (c *Config) apply(path string, t Tier, data []byte, mode fs.FileMode) ([]string, *ConfigError) {
	v, fault := parseObject(path, data)
	if fault != nil {
		return nil, fault
	}
	l := newLoader(c, path, t)
	l.address = v.Get("base_url") != nil
	if fault := l.members("", v.GetObject()); fault != nil {
		return nil, fault
	}
	if err := c.settle(); err != nil {
		return nil, configError(path, "hard_compact_threshold", err.Error())
	}
	if mode.Perm()&0o077 != 0 && holdsSecret(v) {
		l.notices = append(l.notices, othersRead(mode, l.shown))
	}
	return l.said(), nil
}

func othersRead(mode fs.FileMode, shown string) string {
	return fmt.Sprintf("%s: it holds a key and others can read it (mode %04o): chmod 600 %s", shown, mode.Perm(), shown)
}

func holdsSecret(v *fastjson.Value) bool {
	headers := v.GetObject("headers")
	return len(v.GetStringBytes("api_key")) > 0 || headers != nil && headers.Len() > 0
}

// parseObject reads the text of a configuration file.
func parseObject(path string, data []byte) (*fastjson.Value, *ConfigError) {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return nil, configError(path, "", "is UTF-16: save it as UTF-8")
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, configError(path, "", "is empty: a configuration is a JSON object, {} at least")
	}
	if line, col, msg := checkSyntax(data); msg != "" {
		e := configError(path, "", msg)
		e.Line, e.Col = line, col
		return nil, e
	}
	v, err := fastjson.ParseBytes(data)
	if err != nil {
		return nil, configError(path, "", err.Error())
	}
	if v.Type() != fastjson.TypeObject {
		return nil, configError(path, "", "is not a JSON object")
	}
	return v, nil
}
