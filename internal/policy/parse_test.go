package policy

import (
	"strings"
	"testing"
)

func TestParseRule(t *testing.T) {
	for _, s := range []string{"bash", "Bash(uci show *)", "web_*", "mcp__ha__*", "mcp__HA__light", "mcp*", "*", "*light*", "Read(.env)", "path(**/*.pem)", "WebFetch(domain:example.org)",
		"Task", "remote_bash(ap*.lan: uptime)", "skill(wifi)", "skill(wifi*)", " bash ( ls ) ", "MultiEdit(x)", "PATH(x)",
		"bash(: x)", "bash(! rm *)", "bash(find . {} *)", "bash(sh -c \"rm *\")", "bash(echo (a) *)", "bash($HOME/x *)", "bash({ rm *)", "bash(rm:*)", "bash(npm run a:b *)", "bash([ -f x)", "bash(*)",
		"remote_bash(*)", "remote_bash(root@*:22)", "remote_bash(h:2222)", "remote_bash([::1]:22: uci *)", "remote_bash(fe80::*)", "remote_bash(h: *)", "remote_bash(10.0.0.*)",
		"web_fetch(domain:*.lan)", "web_fetch(domain:fe80:*)", "web_fetch(domain:10.*)",
		"read([!b]1.txt)", "read(\\[z)", "edit(a[b-d]/*.c)", "read(~)", "read(x~)", "read(~/x)", "read(a!b)", "read(Bob's x)", `read(\$HOME/x)`, `read(\~root)`, `read(\{a,b\})`, `read([{]a[}$])`, `read(?x?)`} {
		if _, err := ParseRule(s, ""); err != nil {
			t.Errorf("ParseRule(%q) = %v", s, err)
		}
	}
}

// TestLostRules: what could never cover a call is an error that says what to
// write.
func TestLostRules(t *testing.T) {
	for _, tt := range []struct{ says, rules string }{
		{"it names no tool; the tools are bash,", "|bsh(x)|(x)|bsh*|wbe_*|mcp_ha_*|Shell|bsh rm *|bsh:*"},
		{"not closed", "bash(rm|read(x]"},
		{`"x" stands behind`, "bash(opkg *)x|read(a)x"},
		{"nothing stands between the parentheses; write bash ", "bash()|bash( )"},
		{"more than one rule", "bash(opkg *), bash(x)|bash(a) bash(b)|bash(a);Read(b)|bash(a),path(b)|bash, read|bash read|bash,web_*|read edit(x)"},
		{"write Bash(*)", "Bash:*"},
		{"write bash(rm *)", "bash rm *|bash:rm *"},
		{"write mcp__ha__* for all", "mcp__ha|mcp__ha__"},
		{"nothing can be said of its calls; write", "mcp__ha__light(on)|web_search(x)|subagent(x)|web_*(x)|job(*)"},
		{"path(PATTERN)", "path"},
		{"write * for every command", "bash(:*)|remote_bash(h: :*)"},
		{"write opkg *", "bash(opkg: *)|bash(opkg:)|bash(opkg:* x)|remote_bash(h: opkg: *)"},
		{"without quotes", `bash("opkg *")|bash('opkg' *)`},
		{"means nothing in front", "bash(!rm *)|bash(^rm)"},
		{"a rule for each", "bash({opkg,apk} *)"},
		{"remote_bash(HOST: COMMAND)", "remote_bash(10.0.0.1:uptime)|remote_bash(:uptime)|remote_bash(: uptime)|remote_bash(a b: c)|remote_bash(opkg *)|remote_bash(h:)|remote_bash(h:0)|remote_bash(h:99999)|remote_bash(root@)|remote_bash(h:22:x)|remote_bash(a,b)|remote_bash({a,b})"},
		{"10.0.0.*", "remote_bash(10.0.0.0/24)|remote_bash(10.0.0)|remote_bash(10.0.0.300)|web_fetch(domain:10.0.0.0/8)|web_fetch(domain:10.0.0)"},
		{"no user", "remote_bash(@h)|remote_bash(a b@h)|remote_bash(ssh://root@h)"},
		{"web_fetch(domain:HOST)", "web_fetch(example.org)|web_fetch(https://a)|web_fetch(*)"},
		{"no name of a host", "web_fetch(domain:)|web_fetch(domain:.example.org)|web_fetch(domain:a..b)|web_fetch(domain:a,b)|web_fetch(domain:{a,b})|web_fetch(domain:$H)|web_fetch(domain:a b)|web_fetch(domain:u@h)"},
		{"more than a host", "web_fetch(domain:a:80)|web_fetch(domain:1:2:3)"},
		{"not ASCII", "web_fetch(domain:b*ü.de)"},
		{"a bracket is not closed", "read([z)|edit(/a/[b/c])|path(a\\)|glob([a-])|grep([])|read([]a])|read([[:alpha:]]x)"},
		{"write the path alone", "read(file:///x)"},
		{`\$ where a name`, "read($HOME/x)|read(a/${X})"},
		{`\~ where`, "read(~root/x)|path(~x)"},
		{`\" where`, `read("x")|read(/a/"b c"/d)`},
		{`\' where`, "read('x')|read(/a/'b c'/d)"},
		{`\{ where`, "read({x,y})|path(*.{pem,key})"},
		{`\} where`, "read(x})"},
		{`\! where`, "read(!x)"},
	} {
		for rule := range strings.SplitSeq(tt.rules, "|") {
			if r, err := ParseRule(rule, ""); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("ParseRule(%q) = %+v, %v, want an error with %q", rule, r, err, tt.says)
			}
		}
	}
	for _, rule := range []string{"bash(opkg|apk *)", "bash|read"} {
		if r, err := ParseRule(rule, ""); err == nil {
			t.Errorf("ParseRule(%q) = %+v, want an error", rule, r)
		}
	}
}

// TestLiteralDirectories: what is special in the name of the home or of the
// project is not so in a rule relative to it, here and in a run below.
func TestLiteralDirectories(t *testing.T) {
	for _, dir := range []string{"/r/a", "/r/[x", "/r/a*b", "/r/{x}", "/r/$x", `/r/"x"`, `/r/a\b`, "/r/'x", "/~x/!"} {
		p := &Policy{Levels: Defaults(), Project: dir + "/p", Home: dir, Rules: Rules{Deny: rules(t, "read(./sec)", "edit(~/notes)")}}
		below := &Policy{Levels: Defaults(), Project: "/other", Home: "/home"}
		for _, r := range p.Bounds().Deny {
			below.Rules.Deny = append(below.Rules.Deny, rules(t, r.Text)...)
		}
		for _, q := range []*Policy{p, below} {
			for _, tt := range []struct {
				tool, file string
				want       Verdict
			}{
				{"read", dir + "/p/sec/k", Deny}, {"write", dir + "/notes", Deny}, {"read", "/r/aXb/p/sec", Allow}, {"read", dir + "/p/other", Allow},
			} {
				if d := q.Refuse(Subject{Tool: tt.tool, Paths: file(tt.file)}); d.Verdict != tt.want {
					t.Errorf("in %s, %s %s: %+v, want %v", dir, tt.tool, tt.file, d, tt.want)
				}
			}
		}
	}
}
