package tools

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"cluade/internal/policy"
)

// refusing is a policy with deny rules that answers for an Env.
func refusing(t *testing.T, e *Env, rules ...string) *policy.Policy {
	t.Helper()
	p := &policy.Policy{Levels: policy.Defaults()}
	for _, text := range rules {
		r, err := policy.ParseRule(text, "config.json")
		if err != nil {
			t.Fatal(err)
		}
		p.Rules.Deny = append(p.Rules.Deny, r)
	}
	e.Hidden, e.SSH.Met = p.Hides, p.Met
	return p
}

// Where a path leads on a host is judged before anything of it is shown: rules
// and the guard of the state hold for glob and grep as they do for read.
func TestRemoteLinksLead(t *testing.T) {
	for name, s := range remoteServers(t) {
		e := known(t, s)
		dir := files(t, e, map[string]string{".cluade/config.json": "TOP SECRET\n", ".cluade/skills/s": "SECRET of none\n", "secret/f": "SECRET\n", "proj/open": "SECRET no more\n"})
		for link, target := range map[string]string{
			"l": "../.cluade", "cfg": "../.cluade/config.json", "s": "../secret", "sf": "../secret/f", "up": dir, "dots": "..", "slash": "../secret/", "two": "sf", "o": "open",
		} {
			if err := os.Symlink(target, dir+"/proj/"+link); err != nil {
				t.Fatal(err)
			}
		}
		refusing(t, e, "read("+dir+"/secret)")
		root := "/proc/self/root" + dir
		for _, path := range []string{
			dir + "/proj/l", dir + "/proj/cfg", dir + "/proj/s", dir + "/proj/sf", dir + "/proj/two", dir + "/proj/slash", dir + "/proj/up/secret", dir + "/proj/dots/secret", root + "/secret", root + "/proj/cfg",
			dir + "/secret", dir + "/.cluade/config.json",
		} {
			got, err := use(t, e, "grep", at(t, s, args{"pattern": "SECRET", "path": path}))
			if strings.Contains(got, "SECRET\n") || strings.HasSuffix(got, "SECRET") || err != nil && !strings.Contains(err.Error(), "denied") {
				t.Errorf("%s: grep %s = %q, %v", name, path, got, err)
			}
			got, err = use(t, e, "glob", at(t, s, args{"pattern": path + "/*"}))
			if strings.Contains(got, "/f") || strings.Contains(got, "config.json") || err != nil && !strings.Contains(err.Error(), "denied") {
				t.Errorf("%s: glob %s/* = %q, %v", name, path, got, err)
			}
		}
		for _, path := range []string{dir + "/proj", dir, root + "/proj", dir + "/proj/up", dir + "/proj/dots"} {
			got, err := use(t, e, "grep", at(t, s, args{"pattern": "SECRET", "path": path}))
			if err != nil || !strings.Contains(got, "/open:1:SECRET no more") || !strings.Contains(got, "/o:1:SECRET no more") || strings.Count(got, "SECRET") > strings.Count(got, "SECRET no more")+strings.Count(got, "SECRET of none") {
				t.Errorf("%s: grep %s = %q, %v", name, path, got, err)
			}
		}
		wantError(t, e, "glob", at(t, s, args{"pattern": dir + "/proj/{o,dots/secret}/*"}), "denied by rule")
	}
}

// Nobody was asked about what a link on a host leads to.
func TestRemoteLinkUnasked(t *testing.T) {
	s := newSSHD(t, []string{"ed25519"})
	e := known(t, s)
	dir := files(t, e, map[string]string{"secret/f": "SECRET\n", "open": "SECRET no more\n"})
	e.Dir = dir
	link(t, e, "secret/f", "to-secret")
	link(t, e, "/etc/passwd", "to-users")
	p := refusing(t, e)
	p.Danger.Lockout = true
	ask, err := policy.ParseRule("read("+dir+"/secret)", "config.json")
	if err != nil {
		t.Fatal(err)
	}
	p.Rules.Ask = []policy.Rule{ask}
	wantError(t, e, "read", at(t, s, args{"filePath": dir + "/to-secret"}), "denied: rule read("+dir+"/secret) asks")
	want(t, e, "grep", at(t, s, args{"pattern": "SECRET", "path": dir}), dir+"/open:1:SECRET no more")
	want(t, e, "grep", at(t, s, args{"pattern": "SECRET", "path": dir + "/secret"}), dir+"/secret/f:1:SECRET")
	wantError(t, e, "edit", at(t, s, args{"filePath": dir + "/to-users", "oldString": "no such line in it", "newString": ""}), "denied: dangerous write (lockout")
}

// A rule may name a file by a link on the way to it, also where a walk begins at
// that link.
func TestRuleNamesLink(t *testing.T) {
	s := newSSHD(t, []string{"ed25519"})
	e := known(t, s)
	dir := files(t, e, map[string]string{"real/secret": "SECRET\n", "real/open": "SECRET no more\n"})
	if err := os.Symlink("real", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	refusing(t, e, "read("+dir+"/link/secret)")
	for _, a := range []args{{"path": dir + "/link"}, at(t, s, args{"path": dir + "/link"})} {
		a["pattern"] = "SECRET"
		want(t, e, "grep", a, dir+"/link/open:1:SECRET no more")
		a["pattern"] = "*"
		want(t, e, "glob", a, dir+"/link/open")
	}
}

// The host may be this machine: what is protected here is so there, wherever
// the state directory is.
func TestRemoteState(t *testing.T) {
	s := newSSHD(t, []string{"ed25519"})
	e := known(t, s)
	dir := files(t, e, map[string]string{"state/config.json": "{}\n", "state/hooks.json": "{}\n", "state/skills/s/SKILL.md": "x\n", "keys/old": "x\n", "saved/20260101-000000-abcd.jsonl": "{}\n"})
	e.State, e.Private, e.Saved = dir+"/state", []string{dir + "/keys"}, dir+"/saved"
	refusing(t, e)
	if err := os.Symlink(dir+"/state", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	judged := func(tool string, a args) policy.Decision {
		text, err := json.Marshal(at(t, s, a))
		if err != nil {
			t.Fatal(err)
		}
		c, err := Builtin.Parse(e, tool, string(text))
		if err != nil {
			t.Fatal(err)
		}
		return (&policy.Policy{Levels: policy.Defaults()}).Refuse(c.Subject)
	}
	for _, file := range []string{"state/config.json", "keys/old", "saved/20260101-000000-abcd.jsonl"} {
		if d := judged("read", args{"filePath": dir + "/" + file}); d.Verdict != policy.Deny {
			t.Errorf("read %s: %+v", file, d)
		}
	}
	for _, file := range []string{"state/config.json", "state/hooks.json", "state/new"} {
		if d := judged("write", args{"filePath": dir + "/" + file, "content": ""}); d.Verdict != policy.Deny {
			t.Errorf("write %s: %+v", file, d)
		}
	}
	if d := judged("write", args{"filePath": dir + "/state/skills/s/SKILL.md", "content": ""}); d.Verdict == policy.Deny {
		t.Errorf("write of a skill: %+v", d)
	}
	wantError(t, e, "read", at(t, s, args{"filePath": dir + "/link/config.json"}), "cluade's own state")
	wantError(t, e, "write", at(t, s, args{"filePath": dir + "/link/hooks.json", "content": ""}), "cluade's own state")
	want(t, e, "grep", at(t, s, args{"path": dir, "pattern": "{}"}), dir+"/state/hooks.json:1:{}")
}
