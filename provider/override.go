package provider

import (
	"fmt"
	"strings"

	"github.com/valyala/fastjson"
)

// override lets the configuration change the row of the host.
func (q *Quirks) override(s string) error {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	v, err := fastjson.Parse(s)
	if err != nil || v.Type() != fastjson.TypeObject {
		return errNotObject("provider")
	}
	v.GetObject().Visit(func(k []byte, v *fastjson.Value) {
		if !q.set(string(k), v) && err == nil {
			err = fmt.Errorf("provider: %s cannot be %s", k, raw(v))
		}
	})
	return err
}

// set takes one key; false if it is unknown or the value does not fit.
func (q *Quirks) set(key string, v *fastjson.Value) bool {
	yes, isBool := kind(v) == fastjson.TypeTrue, kind(v) == fastjson.TypeTrue || kind(v) == fastjson.TypeFalse
	switch key {
	case "thinking":
		return q.setSwitch(text(v), yes, isBool)
	case "reasoning_effort":
		q.Effort, q.EffortDef, q.EffortTool = nil, "", ""
		if yes {
			q.Effort = []effort{{anyModel, ""}}
		}
		return isBool
	case "max_tokens_field", "max_tokens":
		if isBool && !yes {
			q.MaxField = ""
			return true
		}
		q.MaxField = text(v)
		return kind(v) == fastjson.TypeString
	case "stream_usage":
		q.Usage = yes
		return isBool
	case "replay_reasoning":
		return q.setReplay(text(v), yes, isBool)
	}
	return false
}

func (q *Quirks) setSwitch(form string, yes, isBool bool) bool {
	q.SwitchModels, q.SwitchIfSet = "", false
	switch {
	case isBool && !yes, form == "none":
		q.Switch = ""
	case isBool:
		q.Switch = switchType
	case form == switchType, form == switchObject, form == switchBool, form == switchSplit:
		q.Switch = form
	default:
		return false
	}
	return true
}

func (q *Quirks) setReplay(form string, yes, isBool bool) bool {
	switch {
	case isBool && yes, form == "always":
		q.Replay = replayAlways
	case isBool, form == "never":
		q.Replay = replayNever
	case form == "as_came":
		q.Replay = replayAsCame
	case form == "details":
		q.Replay = replayDetails
	default:
		return false
	}
	return true
}
