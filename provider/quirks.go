package provider

import (
	"path"
	"strings"
)

// Quirks are the ways in which one host differs from the common protocol. Sent
// to everybody are the model, the messages and the tools; what else is sent is
// said here. Facts are from the providers' documents and public reports; where
// a row is wrong, the repairs make it cost one request more.
type Quirks struct {
	Hosts string // patterns, blank between; matched against the host without its port

	Switch       string // how thinking is switched, one of the forms below; "" never
	SwitchModels string // patterns of the models that have the switch; "" all
	SwitchIfSet  bool   // only when the user set it

	Effort     []effort // first match counts; none: never sent
	EffortOff  string   // the effort that turns thinking off, for hosts without a switch
	EffortDef  string   // sent when the user set none
	EffortTool string   // patterns of models that take no effort beside tools

	MaxField string // the name of max_tokens; "" never sends it
	MaxDef   int    // sent when the user set none; -1 is Options.MaxTokens

	Usage     bool   // stream_options asks for usage
	Replay    replay // what of the thinking goes back
	NineIDs   bool   // call ids are exactly nine letters and digits
	KeyHeader string // in place of Authorization: Bearer
	Cache     bool   // Anthropic's models want marks where the cache ends
	TextTools bool   // models write calls as text, under text_tools "auto"
	LooseTags bool   // a closing think tag may come without its opening one
	Local     bool   // on this device or network: what it runs is asked for
}

// effort is the list of efforts that some models take, in rising order; an
// empty list takes any.
type effort struct {
	models string
	values string
}

// replay says which form of thinking goes back to the server.
type replay int

const (
	replayAsCame  replay = iota // under the name it came with
	replayNever                 // refused with a 400
	replayAlways                // missed with a 400: an empty one if there is none
	replayDetails               // reasoning_details, else as it came
	replayParts                 // as a part of the content
)

// The forms of the thinking switch.
const (
	switchType   = "thinking"        // {"type":"enabled"}
	switchOn     = "thinking_on"     // the same, left out when off
	switchKeep   = "thinking_keep"   // with clear_thinking false
	switchObject = "reasoning"       // {"enabled":true,"effort":..}
	switchBool   = "enable_thinking" // true
	switchSplit  = "reasoning_split" // always true
	switchBudget = "thinking_budget" // {"type":"enabled","budget_tokens":N}
)

const anyModel = "*"

// rows is the table, one row a host; the first that matches counts.
var rows = []Quirks{
	{
		Hosts: "api.deepseek.com", Switch: switchOn,
		Effort: []effort{{anyModel, ""}}, EffortDef: "max", MaxField: "max_tokens", MaxDef: -1,
		Usage: true, Replay: replayAlways,
	},
	{
		Hosts:  "api.openai.com",
		Effort: []effort{{"o1* o3* o4* gpt-5* gpt-6*", "minimal low medium high xhigh"}}, EffortTool: "gpt-5.[4-9]* gpt-6*",
		MaxField: "max_completion_tokens", Usage: true, Replay: replayNever,
	},
	{
		Hosts:  "*.openai.azure.com *.services.ai.azure.com",
		Effort: []effort{{anyModel, "minimal low medium high xhigh"}}, MaxField: "max_tokens",
		Usage: true, Replay: replayNever, KeyHeader: "api-key",
	},
	{
		Hosts: "openrouter.ai", Switch: switchObject,
		Effort: []effort{{anyModel, "none minimal low medium high xhigh"}}, MaxField: "max_tokens",
		Usage: true, Replay: replayDetails, Cache: true,
	},
	{
		Hosts:  "api.groq.com",
		Effort: []effort{{"*gpt-oss*", "low medium high"}, {"*qwen*", "none default"}, {anyModel, ""}}, EffortOff: "none",
		MaxField: "max_completion_tokens", Usage: true, Replay: replayNever,
	},
	{
		Hosts: "api.mistral.ai", Effort: []effort{{anyModel, ""}}, MaxField: "max_tokens",
		Usage: true, Replay: replayParts, NineIDs: true,
	},
	{
		Hosts: "generativelanguage.googleapis.com", Effort: []effort{{anyModel, "none low medium high"}}, EffortOff: "none",
		MaxField: "max_tokens", Usage: true, Replay: replayNever,
	},
	{
		Hosts: "api.x.ai", Effort: []effort{{"grok-3-mini* grok-4.3* grok-4.[5-9]* grok-[5-9]*", "low medium high"}},
		MaxField: "max_tokens", Usage: true, Replay: replayNever,
	},
	{
		Hosts: "api.moonshot.* api.kimi.*", Switch: switchType, SwitchModels: "kimi-k2.5* kimi-k2.6*",
		Effort: []effort{{"kimi-k3*", "low high max"}}, MaxField: "max_tokens", Usage: true, Replay: replayAlways,
	},
	{
		Hosts: "api.z.ai bigmodel.cn *.bigmodel.cn", Switch: switchKeep, MaxField: "max_tokens", Usage: true, Replay: replayAlways,
	},
	{
		Hosts: "api.minimax.* api.minimaxi.*", Switch: switchSplit, MaxField: "max_tokens", Usage: true, Replay: replayDetails,
	},
	{
		Hosts: "dashscope*.aliyuncs.com", Switch: switchBool, SwitchIfSet: true, MaxField: "max_tokens", Usage: true,
	},
	{
		Hosts:  "api.together.* api.fireworks.ai api.deepinfra.com",
		Effort: []effort{{anyModel, ""}}, MaxField: "max_tokens", Usage: true, LooseTags: true,
	},
	{
		Hosts: "api.cerebras.ai", Effort: []effort{{anyModel, ""}}, MaxField: "max_completion_tokens", Usage: true, Replay: replayNever,
	},
	{
		Hosts: "integrate.api.nvidia.com", Effort: []effort{{anyModel, ""}}, MaxField: "max_tokens", Usage: true, Replay: replayNever,
	},
	{
		Hosts: "api.anthropic.com", Switch: switchBudget, SwitchIfSet: true, MaxField: "max_tokens", MaxDef: 32000,
		Usage: true, Replay: replayNever,
	},
}

// localRow is the row of hosts on this device or its network: llama.cpp,
// Ollama, LM Studio, vLLM and their like. otherRow is that of all the rest.
var (
	localRow = Quirks{
		Effort: []effort{{anyModel, ""}}, EffortOff: "none", MaxField: "max_tokens",
		Usage: true, TextTools: true, LooseTags: true, Local: true,
	}
	otherRow = Quirks{Effort: []effort{{anyModel, ""}}, MaxField: "max_tokens", Usage: true, LooseTags: true}
)

// quirksOf finds the row of a host (without its port).
func quirksOf(host string) Quirks {
	for _, q := range rows {
		if matchAny(q.Hosts, host) {
			return q
		}
	}
	if isPrivateHost(host) {
		return localRow
	}
	return otherRow
}

// matchAny says whether s matches one of the patterns.
func matchAny(patterns, s string) bool {
	for _, p := range strings.Fields(patterns) {
		if ok, _ := path.Match(p, s); ok {
			return true
		}
	}
	return false
}

// efforts is the scale on which a wish is brought within what a model takes.
const efforts = " none minimal low medium high xhigh max "

// effortFor is the effort to send to model when want is wished for, "" for
// none. A word that is not on the scale is the user's own and goes as it is.
func (q *Quirks) effortFor(model, want string) string {
	model = bareModel(model)
	for _, e := range q.Effort {
		if !matchAny(e.models, model) {
			continue
		}
		if e.values == "" || strings.Contains(" "+e.values+" ", " "+want+" ") {
			return want
		}
		return within(e.values, want)
	}
	return ""
}

// within is the highest of values that is not above want, else the lowest that
// thinks at all.
func within(values, want string) string {
	rank := strings.Index(efforts, " "+want+" ")
	if rank < 0 {
		return want
	}
	best, lowest := "", ""
	for _, v := range strings.Fields(values) {
		at := strings.Index(efforts, " "+v+" ")
		if at < 0 || v == "none" {
			continue
		}
		if lowest == "" {
			lowest = v
		}
		if at <= rank {
			best = v
		}
	}
	if best == "" {
		return lowest
	}
	return best
}

// bareModel is a model's name as the patterns know it: in lower case, without
// the directory that some hosts put before it.
func bareModel(model string) string {
	return strings.ReplaceAll(strings.TrimPrefix(strings.ToLower(model), "models/"), "/", "-")
}
