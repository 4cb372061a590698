package policy

import (
	"strings"
	"testing"
)

// TestMet: what a call comes upon is refused where it would have been asked
// about, unless the call was asked about for the same cause.
func TestMet(t *testing.T) {
	page := func(url string) Subject { return Subject{Tool: "web_fetch", Effect: Network, URL: url} }
	there := func(tool, abs, real string) Subject {
		e := Read
		if tool == "write" {
			e = Write
		}
		return Subject{Tool: tool, Effect: e, Host: "root@gw:22", Paths: []Path{{Abs: abs, Real: real}}}
	}
	tests := []struct {
		name    string
		rules   Rules
		levels  string // of web_fetch; "" as they come
		by, met Subject
		reason  string // part of it; "" is allowed
	}{
		{"nothing", Rules{}, "", page("http://a/"), page("http://b/"), ""},
		{"a level that refuses", Rules{}, "deny", page("http://a/"), page("http://b/"), "permission for web_fetch is deny"},
		{"a level that asked", Rules{}, "ask", page("http://a/"), page("http://b/"), ""},
		{"a deny rule", Rules{Deny: rules(t, "web_fetch(domain:b)")}, "", page("http://a/"), page("http://b/"), "denied by rule web_fetch(domain:b)"},
		{"an ask rule", Rules{Ask: rules(t, "web_fetch(domain:b)")}, "", page("http://a/"), page("http://b/"), "rule web_fetch(domain:b) asks (config.json), and only the call was allowed"},
		{"an ask rule on the call alone", Rules{Ask: rules(t, "web_fetch(domain:a)")}, "", page("http://a/"), page("http://b/"), ""},
		{"an ask rule on both", Rules{Ask: rules(t, "web_fetch(domain:a)", "web_fetch(domain:*)")}, "", page("http://a/"), page("http://b/"), ""},
		{"an ask rule on every call", Rules{Ask: rules(t, "web_fetch")}, "", page("http://a/"), page("http://b/"), ""},
		{"allowed by a rule that ends before it", Rules{Allow: rules(t, "web_fetch(domain:a)")}, "ask", page("http://a/"), page("http://b/"), "permission for web_fetch is ask, and only the call"},
		{"allowed by a rule on both", Rules{Allow: rules(t, "web_fetch(domain:*)")}, "ask", page("http://a/"), page("http://b/"), ""},
		{"allowed by the level, whatever the rules", Rules{Allow: rules(t, "web_fetch(domain:a)")}, "allow", page("http://a/"), page("http://b/"), ""},
		{"a file behind a link", Rules{Ask: rules(t, "read(/s/**)")}, "", there("read", "/l", "/l"), there("read", "/l", "/s/x"), "rule read(/s/**) asks"},
		{"a file that was asked about", Rules{Ask: rules(t, "read(/s/**)")}, "", there("read", "/s/l", "/s/l"), there("read", "/s/l", "/s/x"), ""},
		{"a link to a file of logins", Rules{}, "", there("write", "/l", "/l"), there("write", "/l", "/etc/sudoers.d/x"), "dangerous write (lockout"},
		{"a file of logins that was asked about", Rules{}, "", there("write", "/etc/passwd", "/etc/passwd"), there("write", "/etc/passwd", "/rom/etc/passwd"), ""},
		{"looking at such a file", Rules{}, "", there("read", "/l", "/l"), there("read", "/l", "/etc/sudoers.d/x"), ""},
	}
	for _, attended := range []bool{true, false} {
		for _, tt := range tests {
			p := &Policy{Levels: Defaults(), Rules: tt.rules, Attended: attended, Danger: Danger{Lockout: true}}
			if tt.levels != "" {
				l, ok := ParseVerdict(tt.levels)
				if !ok {
					t.Fatalf("%q is no verdict", tt.levels)
				}
				p.Levels["web_fetch"] = Level{Verdict: l}
			}
			d := p.Met(tt.by, tt.met)
			if allowed := d.Verdict == Allow; allowed != (tt.reason == "") || !strings.Contains(d.Reason, tt.reason) {
				t.Errorf("%s: %v %q, want %q", tt.name, d.Verdict, d.Reason, tt.reason)
			}
			if d.Verdict == Ask {
				t.Errorf("%s: asks where nobody is asked", tt.name)
			}
		}
	}
}

// A grant answers for the call; where nobody can be asked there is none.
func TestMetGrant(t *testing.T) {
	p := &Policy{Levels: Defaults(), Grants: rules(t, "web_fetch(domain:a)"), Attended: true}
	p.Levels["web_fetch"] = Level{Verdict: Ask}
	a, b := Subject{Tool: "web_fetch", Effect: Network, URL: "http://a/"}, Subject{Tool: "web_fetch", Effect: Network, URL: "http://b/"}
	if d := p.Met(a, b); d.Verdict != Deny {
		t.Errorf("another host than that of the grant: %v", d.Verdict)
	}
	if d := p.Met(a, a); d.Verdict != Allow {
		t.Errorf("the same host: %v %q", d.Verdict, d.Reason)
	}
}

func TestHidesAsked(t *testing.T) {
	at := func(p string) Path { return Path{Abs: p, Real: p} }
	for _, tt := range []struct {
		rule, call string
		hidden     bool
	}{
		{"read(.env)", "/p", true},
		{"grep(.env)", "/p", true},
		{"read(/p/**)", "/p/sub", false},
		{"read(/p)", "/p", false},
		{"read", "/p", false},
		{"edit(.env)", "/p", false},
		{"read(.env)", "/p/sub/.env", false},
	} {
		p := &Policy{Rules: Rules{Ask: rules(t, tt.rule)}, Project: "/p"}
		if got := p.Hides(Subject{Paths: []Path{at(tt.call)}}, at("/p/sub/.env")); got != tt.hidden {
			t.Errorf("ask %s, call on %s: hidden %v", tt.rule, tt.call, got)
		}
	}
	p := &Policy{Rules: Rules{Ask: rules(t, "read", "read(.env)")}, Project: "/p"}
	if !p.Hides(Subject{}, at("/p/.env")) {
		t.Error("a rule on every call hides one on a file")
	}
}

// ~ in a rule that refuses or asks is every home there may be on another host.
func TestHomeElsewhere(t *testing.T) {
	p := &Policy{Levels: Defaults(), Home: "/home/me", Rules: Rules{Deny: rules(t, "read(~/.ssh)")}}
	for file, want := range map[string]Verdict{
		"/root/.ssh/id": Deny, "/home/admin/.ssh/id": Deny, "/home/me/.ssh/id": Deny, "/etc/.ssh/id": Ask, "/root/ssh": Ask,
	} {
		s := Subject{Tool: "read", Effect: Read, Host: "root@gw:22", Paths: []Path{{Abs: file}}}
		if got := p.Refuse(s).Verdict; got != want {
			t.Errorf("%s on a host: %v, want %v", file, got, want)
		}
		if got, want := p.Hides(Subject{Host: s.Host}, Path{Abs: file}), want == Deny; got != want {
			t.Errorf("%s on a host: hidden %v, want %v", file, got, want)
		}
	}
	s := Subject{Tool: "read", Effect: Read, Paths: []Path{{Abs: "/home/admin/.ssh/id"}}}
	if got := p.Refuse(s).Verdict; got != Allow {
		t.Errorf("another's home here: %v", got)
	}
}
