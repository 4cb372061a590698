package store

import (
	"math"
	"slices"
	"strings"

	"github.com/valyala/fastjson"
)

// A key is one setting. The list of them below is the one place to add a
// setting: its name, who may set it, its kind, its default and its line of
// documentation. Members of objects are keys of their own, named with a dot.
type key struct {
	name string
	// tier says who may set it: everybody ("free"), the user alone ("user"), a
	// project once it is trusted ("trusted"), or a project where that is at
	// least as strict as what is in force ("narrowing free" and the like).
	tier string
	kind kind
	def  string // JSON text, "" for none
	doc  string
	// strict says whether value is at least as strict as old, the JSON text in
	// force ("" for none). Only keys of the last tier have it.
	strict func(old string, value *fastjson.Value) bool
	// to is the field of the Config for which the list was made, a pointer, into
	// which an approved value goes; put stores one that is no plain text, number or
	// list. Without both it is kept for the parts of the program that will read it.
	to   any
	put  func(*Config, *fastjson.Value)
	adds bool // a list that adds to what other tiers set
	// mild says that the default in a file is not the person's wish: Init wrote
	// it, and only what a person set is sent to every server.
	mild  bool
	later bool // nothing reads it yet
}

// anyTool stands in the list for the levels of all tools; each is a key of its
// own that levelKey makes.
const anyTool = "permissions.TOOL"

// KeyDoc documents one key. Kind completes "must be ...", Default is JSON text
// or "" for none; Later says that nothing reads the key yet.
type KeyDoc struct {
	Name, Tier, Kind, Default, Doc string
	Later                          bool
}

// Keys documents all keys in the order of the list.
func Keys() []KeyDoc {
	var docs []KeyDoc
	for _, k := range keys(new(Config)) {
		docs = append(docs, KeyDoc{k.name, k.tier, k.kind.desc, k.def, k.doc, k.later})
	}
	return docs
}

// keys is the list, with the fields of c. It is built where it is needed, since a
// run needs it a few times.
func keys(c *Config) (all []key) {
	for _, part := range []func(*Config) []key{
		originalKeys, limitKeys, requestKeys, toolKeys, webKeys, remoteKeys, safetyKeys, deviceKeys, laterKeys,
	} {
		all = append(all, part(c)...)
	}
	return all
}

// originalKeys are those that Init writes, in its order.
func originalKeys(c *Config) []key {
	return []key{
		{name: "base_url", tier: "trusted", kind: apiKind(), def: `"https://api.deepseek.com/v1"`, put: putURL,
			doc: "address of the API, without /chat/completions"},
		{name: "model", tier: "free", kind: textKind("a name", notEmpty), def: `"deepseek-v4-pro"`, to: &c.Model,
			doc: "model, or a name of the models object"},
		{name: "api_key", tier: "trusted", kind: keyKind(), def: `""`, to: &c.APIKey,
			doc: "key of the API; empty is none"},
		{name: "max_steps", tier: "free", kind: intKind(1, 1000), def: "100", to: &c.MaxSteps,
			doc: "most model requests in one turn"},
		{name: "max_tokens", tier: "free", mild: true, kind: intKind(1, math.MaxInt32), def: "131072", to: &c.MaxTokens,
			doc: "most tokens of one reply, sent as it is"},
		{name: "request_timeout", tier: "free", kind: intKind(5, 3600), def: "600", to: &c.RequestTimeout,
			doc: "seconds for a plain reply as a whole"},
		{name: "thinking", tier: "free", mild: true, kind: boolKind(), def: "true", to: &c.Thinking,
			doc: "false turns the model's thinking off"},
		{name: "reasoning_effort", tier: "free", mild: true, kind: textKind("a word", notEmpty), def: `"max"`, to: &c.Effort,
			doc: "how much to think, sent while thinking is on"},
		{name: "context_limit", tier: "free", mild: true, kind: intKind(1000, math.MaxInt32), def: "200000", to: &c.ContextLimit,
			doc: "tokens of the model's window; not set, what the server tells counts where it is less"},
		{name: "compact_threshold", tier: "free", kind: numberKind(0.1, 0.95), def: "0.85", to: &c.CompactAt,
			doc: "part of the window from which the model is asked to compact"},
		{name: anyTool, tier: "narrowing free", kind: oneOf("allow", "ask", "deny"),
			doc: "level of a tool: runs, is asked for, is refused; only the tools named change"},
	}
}

func limitKeys(c *Config) []key {
	return []key{
		{name: "hard_compact_threshold", tier: "free", kind: numberKind(0.1, 0.98), def: "0.95", to: &c.HardCompactAt,
			doc: "part of the window at which compaction no longer waits for the model; above compact_threshold"},
		{name: "compaction", tier: "free", kind: boolKind(), def: "true", to: &c.Compaction,
			doc: "false leaves the oldest messages out there, in place of a summary"},
		{name: "max_total_tokens", tier: "lowering free", kind: intKind(0, math.MaxInt32), def: "0", strict: lower, to: &c.MaxTotalTokens,
			doc: "stop when so many tokens were billed; 0 is no limit"},
		{name: "time_limit", tier: "lowering free", kind: durationKind(), def: "0", strict: lower, to: &c.TimeLimit,
			doc: "stop a turn after so long; 0 is no limit"},
		{name: "repeat_threshold", tier: "free", kind: intKind(2, 20), def: "3", to: &c.RepeatLimit,
			doc: "same call with the same result so often in a row is a loop"},
		{name: "error_threshold", tier: "free", kind: intKind(2, 20), def: "4", to: &c.ErrorLimit,
			doc: "so many failed calls in a row are a loop"},
		{name: "poll_threshold", tier: "free", kind: intKind(5, 1000), def: "25", to: &c.PollLimit,
			doc: "same call with changing results so often is a loop"},
	}
}

func requestKeys(c *Config) []key {
	return []key{
		{name: "api_key_file", tier: "user", kind: pathKind(), to: &c.keyFile,
			doc: "file whose first line is the key"},
		{name: "stream", tier: "free", kind: boolKind(), def: "true", to: &c.Stream,
			doc: "ask for the reply piece by piece"},
		{name: "idle_timeout", tier: "free", kind: intKind(5, 3600), def: "120", to: &c.IdleTimeout,
			doc: "seconds without a byte after which a streamed reply is given up"},
		{name: "first_byte_timeout", tier: "free", kind: intKind(5, 3600), to: &c.FirstByteTimeout,
			doc: "seconds to wait for the first byte; not set, request_timeout counts"},
		{name: "retries", tier: "free", kind: intKind(0, 5), def: "3", to: &c.Retries,
			doc: "how often a request that failed is sent again"},
		{name: "text_tools", tier: "false free", kind: autoKind(), def: `"auto"`, strict: becomes("false"), put: putAuto,
			doc: "read tool calls that a model writes as text; auto is on for loopback and private addresses"},
		{name: "fallback", tier: "user", kind: fallbackKind(), def: "[]", doc: "endpoints tried when the first fails: a list of {base_url, model, api_key_env}"},
		{name: "extra_body", tier: "user", kind: extraKind(), def: "{}", to: &c.ExtraBody,
			doc: "object merged into every request"},
		{name: "headers", tier: "user", kind: headersKind(), def: "{}", put: putHeaders,
			doc: "further request headers"},
		{name: "provider.thinking", tier: "user", kind: switchKind(), doc: "overrides how thinking is switched for this host"},
		{name: "provider.reasoning_effort", tier: "user", kind: switchKind(), doc: "overrides how the effort is sent"},
		{name: "provider.max_tokens_field", tier: "user", kind: switchKind(), doc: "overrides the name under which max_tokens is sent"},
		{name: "provider.stream_usage", tier: "user", kind: switchKind(), doc: "overrides whether the usage of a streamed reply is asked for"},
		{name: "provider.replay_reasoning", tier: "user", kind: switchKind(), doc: "overrides whether thinking is sent back"},
		{name: "models", tier: "user", kind: modelsKind(), def: "{}", put: putModels,
			doc: "names for models: an object of {model, base_url, api_key_env, context_limit, thinking}"},
		{name: "insecure", tier: "user", kind: boolKind(), def: "false", to: &c.Insecure,
			doc: "accept any certificate of a base_url on a private address"},
		{name: "ca_file", tier: "user", kind: pathKind(), to: &c.CAFile,
			doc: "further root certificates, PEM"},
	}
}

func toolKeys(c *Config) []key {
	return []key{
		{name: "tools", tier: "narrowing free", kind: toolsKind(), strict: subset, put: putTools,
			doc: "the tools that the model is offered; not set, all"},
		{name: "bash_timeout", tier: "free", kind: intKind(1, 600), def: "30", to: &c.BashTimeout,
			doc: "seconds a command may run unless the call says otherwise"},
		{name: "tool_result_bytes", tier: "free", kind: intKind(4096, 131072), def: "30720", to: &c.ResultBytes,
			doc: "most bytes of a result that the model reads"},
		{name: "scrub_env", tier: "adding free", kind: listKind("names of environment variables", isVariable), def: "[]", adds: true, strict: always,
			to:  &c.ScrubEnv,
			doc: "environment variables that commands do not get"},
		{name: "subagent_model", tier: "free", kind: textKind("a name", notEmpty), to: &c.SubagentModel,
			doc: "model of subagents, or a name of the models object; not set, the session's"},
		{name: "subagent_max_steps", tier: "free", kind: intKind(1, 1000), def: "100", to: &c.SubagentSteps,
			doc: "most steps of a subagent"},
		{name: "subagent_timeout", tier: "free", kind: durationKind(), def: "1800", to: &c.SubagentTimeout,
			doc: "how long a subagent may run; 0 is no limit"},
	}
}

func remoteKeys(c *Config) []key {
	return []key{
		{name: "ssh.identity_files", tier: "user", kind: listKind("paths", notEmpty), def: "[]", to: &c.SSH.IdentityFiles,
			doc: "private keys for every host; empty, the usual ones in ~/.ssh"},
		{name: "ssh.known_hosts", tier: "user", kind: pathKind(), to: &c.SSH.KnownHosts,
			doc: "host keys, and where new ones are recorded; not set, known_hosts in the state directory"},
		{name: "ssh.connect_timeout", tier: "user", kind: intKind(1, 3600), def: "10", to: &c.SSH.ConnectTimeout,
			doc: "seconds to connect and log in, for each host on the way"},
		{name: "ssh.timeout", tier: "user", kind: intKind(1, 3600), def: "30", to: &c.SSH.Timeout,
			doc: "seconds a remote command may run unless the call says otherwise"},
		{name: "ssh.strict", tier: "user", kind: boolKind(), def: "false", to: &c.SSH.Strict,
			doc: "refuse hosts whose key is not on file"},
		{name: "ssh.legacy", tier: "user", kind: boolKind(), def: "false", to: &c.SSH.Legacy,
			doc: "allow algorithms that are no longer thought safe, for old devices"},
		{name: "ssh.config", tier: "user", kind: pathKind(), def: `"~/.ssh/config"`, to: &c.SSH.Config,
			doc: "configuration of OpenSSH that names hosts"},
	}
}

func webKeys(c *Config) []key {
	return []key{
		{name: "web.user_agent", tier: "user", kind: textKind("a text", notEmpty), to: &c.Web.UserAgent,
			doc: "name under which pages are fetched; not set, that of a browser"},
		{name: "web.search", tier: "user", kind: oneOf("duckduckgo", "searxng", "brave"), def: `"duckduckgo"`, to: &c.Web.Search,
			doc: "search engine"},
		{name: "web.search_url", tier: "user", kind: urlKind(), to: &c.Web.SearchURL,
			doc: "address of the SearXNG server, or one in the place of the engine's own"},
		{name: "web.search_key_env", tier: "user", kind: textKind("the name of an environment variable", isVariable), to: &c.Web.SearchKeyEnv,
			doc: "variable that holds the key of the Brave API"},
		{name: "web.fetch_timeout", tier: "user", kind: intKind(1, 3600), def: "15", to: &c.Web.FetchTimeout,
			doc: "seconds for a page or a search"},
		{name: "web.fetch_bytes", tier: "user", kind: intKind(1024, 1<<20), def: "32768", to: &c.Web.FetchBytes,
			doc: "most bytes of a page; no more than tool_result_bytes"},
	}
}

func deviceKeys(c *Config) []key {
	return []key{
		{name: "sessions_dir", tier: "user", kind: pathKind(), to: &c.SessionsDir,
			doc: "where sessions are kept; not set, sessions/ in the state directory"},
		{name: "journal_sync", tier: "user", kind: oneOf("none", "turn", "always"), def: `"turn"`, to: &c.JournalSync,
			doc: "when a session is forced to the disk: never, once a turn, with every message"},
		{name: "sessions_keep", tier: "user", kind: intKind(0, math.MaxInt32), def: "0", to: &c.SessionsKeep,
			doc: "sessions kept, newest first; 0 keeps all"},
		{name: "rewind_keep", tier: "user", kind: boolKind(), to: &c.undo,
			doc: "keep what is needed to undo the last turn beside the session; not set, true unless the sessions are on flash"},
		{name: "rewind_bytes", tier: "lowering free", kind: intKind(0, 67108864), def: "4194304", strict: atMost, to: &c.RewindBytes,
			doc: "most bytes of old contents of files that are kept to go back"},
		{name: "bundled_skills", tier: "false free", kind: boolKind(), def: "true", strict: becomes("false"), to: &c.BundledSkills,
			doc: "offer the skills that come with the program"},
		{name: "history_file", tier: "user", kind: historyKind(), doc: "file of the lines typed; empty keeps them in memory; not set, history in the state directory unless that is on flash"},
		{name: "history_size", tier: "user", kind: intKind(0, 100000), def: "500", doc: "lines kept on disk"},
		{name: "color", tier: "free", kind: oneOf("auto", "always", "never"), def: `"auto"`, to: &c.Color,
			doc: "colours on a terminal"},
	}
}

// laterKeys are checked and kept; nothing reads them yet.
func laterKeys(c *Config) []key {
	text, yes := textKind("a text", notEmpty), boolKind()
	seconds := intKind(1, 3600)
	words := listKind("texts", notEmpty)
	list := []key{
		{name: "veil.enabled", tier: "true free", kind: yes, def: "true", strict: becomes("true"), doc: "hide secrets from the model"},
		{name: "veil.patterns", tier: "adding free", kind: words, def: "[]", adds: true, strict: always, doc: "what else is a secret"},
		{name: "veil.paths", tier: "adding free", kind: words, def: "[]", adds: true, strict: always, doc: "files that are secret"},
		{name: "guard.timeout", tier: "user", kind: seconds, def: "120", doc: "seconds to confirm a guarded change"},
		{name: "guard.paths", tier: "user", kind: words, doc: "files that a guarded change may touch"},
		{name: "guard.restore", tier: "user", kind: text, doc: "command that restores"},
		{name: "guard.probe", tier: "user", kind: text, doc: "command that tells whether the device is still reached"},
		{name: "guard.unattended", tier: "user", kind: yes, def: "false", doc: "guarded changes with nobody there"},
		{name: "mcpServers", tier: "user", kind: serversKind(), def: "{}", doc: "MCP servers by name"},
	}
	for i := range list {
		list[i].later = true
	}
	return list
}

// findKey returns the key of that name, nil if there is none.
func findKey(all []key, name string) *key {
	for i := range all {
		if all[i].name == name {
			return &all[i]
		}
	}
	return nil
}

// isGroup says whether name is an object whose members are keys.
func isGroup(all []key, name string) bool {
	return slices.ContainsFunc(all, func(k key) bool { return strings.HasPrefix(k.name, name+".") })
}
