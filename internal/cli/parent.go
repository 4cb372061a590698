package cli

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"cluade/internal/policy"
	"cluade/internal/proc"
)

// The rules between runs. Every child process is told in CLUADE_PARENT what the
// run that started it may do, and a run that is told so does no more: whatever
// stands there can only take away. What cannot be understood refuses the run,
// for it may be a limit. Not caught: a command that empties its environment is
// no child to us.

// parent is what a run is told of the one above it.
type parent struct {
	depth   int    // of the run that is told
	baseURL string // where the run above sends its requests
	bounds  policy.Bounds
	sandbox proc.Level // commands are confined so at least
	must    bool       // and do not run where they are not
}

// The members of CLUADE_PARENT. A run that does not know one of them refuses to
// start, so adding one needs no version.
const (
	keyDepth   = "depth"
	keyBaseURL = "base_url"
	keyAllow   = "allow"
	keyTools   = "tools" // absent: every tool
	keyMode    = "mode"
	keyDeny    = "deny" // once for each rule
	keyAsk     = "ask"  // the same
	keyScope   = "scope"
	keyExempt  = "exempt"
	keyRemote  = "skip_remote"
	keySandbox = "sandbox"
	keyMust    = "sandbox_required"
)

// String is the text of CLUADE_PARENT, in the form of a URL's query.
func (p *parent) String() string {
	b := p.bounds
	v := url.Values{
		keyDepth: {strconv.Itoa(p.depth)}, keyBaseURL: {p.baseURL}, keyAllow: {strings.Join(b.Allow, ",")}, keyMode: {b.Mode.String()},
	}
	if b.Toolset != nil {
		v.Set(keyTools, strings.Join(b.Toolset, ","))
	}
	if b.Scope != "" {
		v.Set(keyScope, b.Scope)
	}
	if len(b.Exempt) > 0 {
		v.Set(keyExempt, strings.Join(b.Exempt, ","))
	}
	if b.SkipRemote {
		v.Set(keyRemote, "true")
	}
	if p.sandbox != proc.Off {
		v.Set(keySandbox, p.sandbox.String())
	}
	if p.must {
		v.Set(keyMust, "true")
	}
	for _, r := range b.Deny {
		v.Add(keyDeny, r.Text)
	}
	for _, r := range b.Ask {
		v.Add(keyAsk, r.Text)
	}
	return v.Encode()
}

// parseParent reads what String writes; nil is no run above. What is needed has
// to be there, everything but rules once, and nothing that is not known.
func parseParent(text string) (*parent, error) {
	if text == "" {
		return nil, nil
	}
	v, err := url.ParseQuery(text)
	if err == nil {
		err = checkMembers(v)
	}
	var p parent
	if err == nil {
		err = p.take(v)
	}
	if err != nil {
		return nil, fmt.Errorf("CLUADE_PARENT cannot be read, which limits what this run may do: %w", err)
	}
	return &p, nil
}

func checkMembers(v url.Values) error {
	for name, list := range v {
		switch name {
		case keyDeny, keyAsk:
		case keyDepth, keyBaseURL, keyAllow, keyTools, keyMode, keyScope, keyExempt, keyRemote, keySandbox, keyMust:
			if len(list) != 1 {
				return fmt.Errorf("%s stands there %d times", name, len(list))
			}
		default:
			return fmt.Errorf("unknown limit %.40q", name)
		}
	}
	for _, name := range []string{keyDepth, keyBaseURL, keyAllow, keyMode} {
		if !v.Has(name) {
			return fmt.Errorf("%s is missing", name)
		}
	}
	return nil
}

// take reads the members, whose presence was checked.
func (p *parent) take(v url.Values) (err error) {
	if p.depth, err = strconv.Atoi(v.Get(keyDepth)); err != nil || p.depth < 1 {
		return fmt.Errorf("%s is %.20q", keyDepth, v.Get(keyDepth))
	}
	p.baseURL = v.Get(keyBaseURL)
	b := policy.Bounds{Allow: splitList(v.Get(keyAllow)), Scope: v.Get(keyScope), SkipRemote: v.Get(keyRemote) == "true"}
	if v.Has(keyTools) {
		b.Toolset = splitList(v.Get(keyTools))
	}
	if classes := v.Get(keyExempt); classes != "" {
		b.Exempt = splitList(classes)
	}
	var ok bool
	if b.Mode, ok = policy.ParseMode(v.Get(keyMode)); !ok || b.Mode == policy.ModeBypass {
		return fmt.Errorf("%s is %.20q", keyMode, v.Get(keyMode))
	}
	if p.sandbox, ok = proc.ParseLevel(v.Get(keySandbox)); !ok && v.Has(keySandbox) {
		return fmt.Errorf("%s is %.20q", keySandbox, v.Get(keySandbox))
	}
	p.must = v.Has(keyMust)
	if v.Has(keyScope) && !filepath.IsAbs(b.Scope) {
		return fmt.Errorf("%s is %.80q", keyScope, b.Scope)
	}
	if b.Deny, err = parentRules(v[keyDeny]); err == nil {
		b.Ask, err = parentRules(v[keyAsk])
	}
	p.bounds = b
	return err
}

func parentRules(texts []string) (rules []policy.Rule, err error) {
	for _, text := range texts {
		r, err := policy.ParseRule(text, "the run above this one")
		if err != nil {
			return nil, err
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// splitList parts names at commas. No names are a list without members, which is
// not the same as none.
func splitList(text string) []string {
	if text == "" {
		return []string{}
	}
	return strings.Split(text, ",")
}

// projectDir is the project of the run, or the directory outside of which the
// run above lets nothing be written, if the project is not in it.
func (a *app) projectDir() string {
	dir := projectRoot(a.place.Dir)
	if a.above != nil && a.above.bounds.Scope != "" && !within(resolved(dir), a.above.bounds.Scope) {
		return a.above.bounds.Scope
	}
	return dir
}

// asParent is what the runs below this one are told.
func (a *app) asParent() *parent {
	b := a.policy.Bounds()
	if b.Scope != "" {
		b.Scope = resolved(b.Scope)
	}
	return &parent{
		depth: a.depth + 1, baseURL: a.cfg.BaseURL, bounds: b,
		sandbox: a.sandbox().Level, must: a.mustConfine(),
	}
}

// childVars is the environment of child processes: what this process has,
// without the configured names, with what a run that a child starts must know.
// A key given as an option would not reach it otherwise.
func (a *app) childVars() []string {
	var vars []string
	for _, v := range a.env.Environ {
		name, _, _ := strings.Cut(v, "=")
		if name != reportVar && !slices.Contains(a.cfg.ScrubEnv, name) {
			vars = append(vars, v)
		}
	}
	if a.flags.apiKey != "" && !slices.Contains(a.cfg.ScrubEnv, "CLUADE_API_KEY") {
		vars = setVar(vars, "CLUADE_API_KEY", a.key)
	}
	vars = setVar(vars, "CLUADE_DEPTH", strconv.Itoa(a.depth+1))
	return setVar(vars, "CLUADE_PARENT", a.asParent().String())
}

// setVar puts a variable in the place of any of that name.
func setVar(vars []string, name, value string) []string {
	vars = slices.DeleteFunc(vars, func(v string) bool { return strings.HasPrefix(v, name+"=") })
	return append(vars, name+"="+value)
}
