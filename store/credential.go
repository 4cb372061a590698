package store

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"cluade/internal/chat"
	"github.com/valyala/fastjson"
)

// maxKey is the length of the longest key that is taken.
const maxKey = 512

// hostKeys are the variables that vendors name for their own key.
var hostKeys = []struct{ domain, name string }{
	{"deepseek.com", "DEEPSEEK_API_KEY"},
	{"openrouter.ai", "OPENROUTER_API_KEY"},
	{"groq.com", "GROQ_API_KEY"},
	{"mistral.ai", "MISTRAL_API_KEY"},
	{"generativelanguage.googleapis.com", "GEMINI_API_KEY"},
	{"x.ai", "XAI_API_KEY"},
}

// source is one place a key may come from.
type source struct{ name, key string }

// Credential picks the key for the base URL: flag, CLUADE_API_KEY,
// OPENAI_API_KEY, the variable of the host, files. from names where it came
// from, for people; no key is legal. The error names the source, never the
// value.
//
// A model of the models object that is reached at another host than the
// configured one gets no key that was meant for that: only flag, the variable
// that its entry names, and the variable of its host count.
func (c *Config) Credential(p Place, flag string) (key, from string, err error) {
	for _, s := range c.keySources(p, flag) {
		key, err := screen(s.key)
		if err != nil {
			return "", "", fmt.Errorf("key from %s: %w", s.name, err)
		}
		if key != "" {
			return key, s.name, nil
		}
	}
	if c.keyFile == "" || c.foreign() {
		return "", "", nil
	}
	from = "api_key_file " + chat.EscapeText(c.keyFile, maxQuoted)
	data, _, err := readFile(c.keyFile, maxConfig)
	if err != nil {
		return "", "", fmt.Errorf("key from %s: %s", from, why(err))
	}
	line, _, _ := strings.Cut(strings.TrimPrefix(string(data), "\ufeff"), "\n")
	key, err = screen(line)
	if err == nil && key == "" {
		err = errors.New("the first line is empty")
	}
	if err != nil {
		return "", "", fmt.Errorf("key from %s: %w", from, err)
	}
	return key, from, nil
}

// Private names the files that hold the key and the lines typed, as far as the
// configuration puts them outside the state directory.
func (c *Config) Private() []string {
	var files []string
	if c.keyFile != "" {
		files = append(files, c.keyFile)
	}
	if v, err := fastjson.Parse(c.values["history_file"].json); err == nil && len(v.GetStringBytes()) > 0 {
		files = append(files, expandHome(string(v.GetStringBytes()), c.home))
	}
	return files
}

// keySources are the places before api_key_file, in order.
func (c *Config) keySources(p Place, flag string) []source {
	variable := func(name string) source {
		if name == "" {
			return source{}
		}
		return source{name, p.Getenv(name)}
	}
	list := []source{{"the command line", flag}}
	if c.entry != nil {
		list = append(list, variable(c.entry.keyEnv))
	}
	host := variable(hostKey(c.BaseURL))
	if c.foreign() {
		return append(list, host)
	}
	return append(list, variable("CLUADE_API_KEY"), variable("OPENAI_API_KEY"), host,
		source{"api_key in " + chat.EscapeText(c.values["api_key"].file, maxQuoted), c.APIKey})
}

// foreign says whether the model's entry leads to another host than base_url.
func (c *Config) foreign() bool {
	if !c.OwnAddress() {
		return false
	}
	var plain Config
	putURL(&plain, fastjson.MustParse(c.values["base_url"].json))
	return hostOf(c.BaseURL) != hostOf(plain.BaseURL)
}

// hostOf is scheme, host and port of an address that was checked.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

// hostKey is the variable of the vendor whose host the address names, "" if
// there is none.
func hostKey(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	for _, h := range hostKeys {
		if host == h.domain || strings.HasSuffix(host, "."+h.domain) {
			return h.name
		}
	}
	return ""
}

// screen returns a key without the blanks around it, or says why it is none.
func screen(s string) (string, error) {
	s = strings.TrimSpace(s)
	if len(s) > maxKey {
		return "", fmt.Errorf("it is longer than %d bytes", maxKey)
	}
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return "", errors.New("it is not one line of printable ASCII")
		}
	}
	return s, nil
}
