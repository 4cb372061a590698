package policy

import (
	"strings"
	"testing"
)

func rules(t testing.TB, texts ...string) []Rule {
	t.Helper()
	var out []Rule
	for _, s := range texts {
		r, err := ParseRule(s, "config.json")
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func file(abs string) []Path { return []Path{{Abs: abs, Real: abs}} }

func TestDenyRules(t *testing.T) {
	bash := func(cmd string) Subject { return Subject{Tool: "bash", Effect: Execute, Command: cmd, Dir: "/root"} }
	tests := []struct {
		rule string
		s    Subject
		want bool
	}{
		{"bash", bash("ls"), true},
		{"bash(*)", bash("ls"), true},
		{"bash(rm *)", bash("rm x"), true},
		{"bash(rm *)", bash("rm"), true},
		{"bash(rm:*)", bash("rm x"), true},
		{"bash(rm :*)", bash("rm x"), true},
		{"bash(rm :*)", bash("rm"), true},
		{"bash(rm *)", bash("rmdir x"), false},
		{"bash(rm *)", bash("echo rm x"), false},
		// what people tried elsewhere to get around such a rule
		{"bash(rm *)", bash("cd /tmp && rm x"), true},
		{"bash(rm *)", bash("ls; rm x"), true},
		{"bash(rm *)", bash("ls\nrm x"), true},
		{"bash(rm *)", bash("ls | rm x"), true},
		{"bash(rm *)", bash("ls & rm x"), true},
		{"bash(rm *)", bash("A=1 rm x"), true},
		{"bash(rm *)", bash("env A=1 rm x"), true},
		{"bash(rm *)", bash("sudo -u root rm x"), true},
		{"bash(rm *)", bash("timeout 5 nice -n 3 rm x"), true},
		{"bash(rm *)", bash("'rm' x"), true},
		{"bash(rm *)", bash(`r""m x`), true},
		{"bash(rm *)", bash(`\rm x`), true},
		{"bash(rm *)", bash("rm  \t x"), true},
		{"bash(rm *)", bash(">f rm x"), true},
		{"bash(rm *)", bash("2>&1 rm x"), true},
		{"bash(rm *)", bash("sh -c 'rm x'"), true},
		{"bash(rm *)", bash("bash -lc \"rm x\""), true},
		{"bash(rm *)", bash("eval rm x"), true},
		{"bash(rm *)", bash("echo $(rm x)"), true},
		{"bash(rm *)", bash("echo `rm x`"), true},
		{"bash(rm *)", bash("(rm x)"), true},
		{"bash(rm *)", bash("{ rm x; }"), true},
		{"bash(rm *)", bash("if true; then rm x; fi"), true},
		{"bash(rm *)", bash("for f in a; do rm $f; done"), true},
		{"bash(rm *)", bash("f() { rm x; }; f"), true},
		{"bash(rm *)", bash("ls | xargs rm"), true},
		{"bash(rm *)", bash("find . -exec rm {} +"), true},
		{"bash(rm *)", bash("sh <<E\nrm x\nE"), true},
		{"bash(rm *)", bash("busybox rm x"), true},
		{"bash(rm *)", bash("X=rm; $X y"), true},
		{"bash(rm *)", bash("echo 'rm x'"), false},
		{"bash(rm *)", bash("grep rm x"), false},
		{"bash(opkg *)", bash("cd /tmp && opkg install x"), true},
		{"bash(uci set network.*)", bash("uci set network.lan.proto=dhcp"), true},
		{"bash(uci set network.*)", bash("uci set dhcp.lan.start=5"), false},
		{"read(.env)", Subject{Tool: "read", Paths: file("/root/p/.env")}, true},
		{"read(.env)", Subject{Tool: "grep", Paths: file("/root/p/a/.env")}, true},
		{"read(.env)", Subject{Tool: "read", Paths: file("/root/p/.envrc")}, false},
		{"read(.env)", Subject{Tool: "write", Paths: file("/root/p/.env")}, false},
		{"edit(/etc/shadow)", Subject{Tool: "write", Paths: file("/etc/shadow")}, true},
		{"edit(/etc/shadow)", Subject{Tool: "edit", Paths: []Path{{Abs: "/tmp/l", Real: "/etc/shadow"}}}, true},
		{"write(/etc/shadow)", Subject{Tool: "edit", Paths: file("/etc/shadow")}, false},
		{"edit(/etc/config)", Subject{Tool: "edit", Paths: file("/etc/config/network")}, true},
		{"edit(/etc/config/)", Subject{Tool: "edit", Paths: file("/etc/config/network")}, true},
		{"path(**/*.pem)", Subject{Tool: "read", Paths: file("/root/p/x/y.pem")}, true},
		{"path(*.pem)", Subject{Tool: "glob", Paths: file("/z/y.pem")}, true},
		{"path(~/.ssh)", Subject{Tool: "read", Paths: file("/root/.ssh/id_rsa")}, true},
		{"read(src/*.c)", Subject{Tool: "read", Paths: file("/root/p/src/a.c")}, true},
		{"read(src/*.c)", Subject{Tool: "read", Paths: file("/root/p/src/d/a.c")}, false},
		{"read(src/**/a.c)", Subject{Tool: "read", Paths: file("/root/p/src/a.c")}, true},
		{"read(/a/**)", Subject{Tool: "read", Paths: file("/a/b")}, true},
		{"read(//a/b)", Subject{Tool: "read", Paths: file("/a/b")}, true},
		{"read([!b]1.txt)", Subject{Tool: "read", Paths: file("/root/p/a1.txt")}, true},
		{"read([!b]1.txt)", Subject{Tool: "read", Paths: file("/root/p/!1.txt")}, true},
		{"read([!b]1.txt)", Subject{Tool: "read", Paths: file("/root/p/b1.txt")}, false},
		{"read([^b]1.txt)", Subject{Tool: "read", Paths: file("/root/p/a1.txt")}, true},
		{"read(\\[!b]1.txt)", Subject{Tool: "read", Paths: file("/root/p/[!b]1.txt")}, true},
		{"read(/root/p/./sec)", Subject{Tool: "read", Paths: file("/root/p/sec/k")}, true},
		{"read(/root/p/x/../sec)", Subject{Tool: "read", Paths: file("/root/p/sec/k")}, true},
		{"read(//root//p/sec/)", Subject{Tool: "read", Paths: file("/root/p/sec/k")}, true},
		{"read(./sec)", Subject{Tool: "read", Paths: file("/root/p/sec/k")}, true},
		{"read(x/../sec)", Subject{Tool: "read", Paths: file("/root/p/sec/k")}, true},
		{"read(.)", Subject{Tool: "read", Paths: file("/root/p/a")}, true},
		{"read(.)", Subject{Tool: "read", Paths: file("/root/q/a")}, false},
		{"read(..)", Subject{Tool: "read", Paths: file("/root/q/a")}, true},
		{"read(/)", Subject{Tool: "read", Paths: file("/etc/x")}, true},
		{"read(**)", Subject{Tool: "read", Paths: file("/etc/x")}, true},
		{"*_bash", Subject{Tool: "read", Host: "root@10.0.0.7:22", Paths: file("/etc/x")}, true},
		{"*_bash", Subject{Tool: "read", Paths: file("/etc/x")}, false},
		{"web_fetch(domain:example.org)", Subject{Tool: "web_fetch", URL: "https://EXAMPLE.org:8443/x"}, true},
		{"web_fetch(domain:example.org)", Subject{Tool: "web_fetch", URL: "https://www.example.org/"}, true},
		{"web_fetch(domain:example.org)", Subject{Tool: "web_fetch", URL: "https://example.org.evil.net/"}, false},
		{"web_fetch(domain:example.org)", Subject{Tool: "web_fetch", URL: "https://user@example.org./"}, true},
		{"web_fetch(domain:bücher.example)", Subject{Tool: "web_fetch", URL: "http://xn--bcher-kva.example/"}, true},
		{"web_fetch(domain:xn--bcher-kva.example)", Subject{Tool: "web_fetch", URL: "http://www.BÜCHER.example/"}, true},
		{"web_fetch(domain:*.bücher.example)", Subject{Tool: "web_fetch", URL: "http://www.bücher.example/"}, true},
		{"web_fetch(domain:127.0.0.1)", Subject{Tool: "web_fetch", URL: "http://127。0。0。1:80/"}, true},
		{"web_fetch(domain:127.0.0.1)", Subject{Tool: "web_fetch", URL: "http://[::ffff:7f00:1]/"}, true},
		{"web_fetch(domain:[::1])", Subject{Tool: "web_fetch", URL: "http://[0:0:0:0:0:0:0:1]/"}, true},
		{"web_fetch(domain:fe80:*)", Subject{Tool: "web_fetch", URL: "http://[FE80::1%25eth0]/"}, true},
		{"web_fetch(domain:127.0.0.1)", Subject{Tool: "web_fetch", URL: "http://127.0.0.10/"}, false},
		{"web_fetch(domain:*)", Subject{Tool: "web_fetch", URL: "http://a/"}, true},
		{"remote_bash(AP1.lan.)", Subject{Tool: "remote_bash", Host: "root@ap1.lan:22"}, true},
		{"remote_bash(::ffff:10.0.0.7)", Subject{Tool: "remote_bash", Host: "root@10.0.0.7:22"}, true},
		{"remote_bash([0:0::1]:22)", Subject{Tool: "remote_bash", Host: "root@[::1]:22"}, true},
		{"remote_bash(admin@fe80:0::1%eth0)", Subject{Tool: "remote_bash", Host: "admin@[fe80::1%eth0]:2222"}, true},
		{"remote_bash([fe80::*]:22)", Subject{Tool: "remote_bash", Host: "root@[fe80::1%eth0]:22"}, true},
		{"remote_bash([fe80::*]:22)", Subject{Tool: "remote_bash", Host: "root@[fd00::1]:22"}, false},
		{"remote_bash(jump)", Subject{Tool: "remote_bash", Host: "root@inner:22", Via: []string{"root@a:22", "root@jump:22"}, Command: "ls"}, true},
		{"remote_bash(jump)", Subject{Tool: "read", Host: "root@inner:22", Via: []string{"root@jump:22"}, Paths: file("/etc/x")}, true},
		{"remote_bash(jump: ls)", Subject{Tool: "remote_bash", Host: "root@inner:22", Via: []string{"root@jump:22"}, Command: "ls"}, false},
		{"remote_bash(router)", Subject{Tool: "remote_bash", Host: "root@10.0.0.1:22", Named: []string{"root@router:22"}, Command: "ls"}, true},
		{"remote_bash(router: ls)", Subject{Tool: "remote_bash", Host: "root@10.0.0.1:22", Named: []string{"root@router:22"}, Command: "ls"}, true},
		{"remote_bash(router)", Subject{Tool: "write", Host: "root@10.0.0.1:22", Named: []string{"root@router:22"}, Paths: file("/etc/x")}, true},
		{"remote_bash(gate)", Subject{Tool: "remote_bash", Host: "root@10.0.0.1:22", Via: []string{"root@10.0.0.2:22"}, Named: []string{"root@gate:22", "root@router:22"}, Command: "ls"}, true},
		{"remote_bash(gate: ls)", Subject{Tool: "remote_bash", Host: "root@10.0.0.1:22", Via: []string{"root@10.0.0.2:22"}, Named: []string{"root@gate:22", "root@router:22"}, Command: "ls"}, false},
		{"read(/etc)", Subject{Tool: "remote_bash", Host: "root@inner:22", Via: []string{"root@jump:22"}, Command: "ls"}, false},
		{"web_*", Subject{Tool: "web_search"}, true},
		{"mcp__ha__*", Subject{Tool: "mcp__ha__light", Effect: External}, true},
		{"mcp__HA__*", Subject{Tool: "mcp__HA__light", Effect: External}, true},
		{"mcp__Ha__*", Subject{Tool: "mcp__hb__light", Effect: External}, false},
		{"skill(wifi)", Subject{Tool: "skill", Name: "wifi"}, true},
		{"skill(wifi)", Subject{Tool: "skill", Name: "wifi2"}, false},
		{"skill(wifi*)", Subject{Tool: "skill", Name: "wifi2"}, true},
		{"remote_bash(10.0.0.*)", Subject{Tool: "remote_bash", Host: "root@10.0.0.7:22", Command: "ls"}, true},
		{"remote_bash(admin@10.0.0.7)", Subject{Tool: "remote_bash", Host: "root@10.0.0.7:22", Command: "ls"}, false},
		{"remote_bash(10.0.0.7:2222)", Subject{Tool: "remote_bash", Host: "root@10.0.0.7:22", Command: "ls"}, false},
		{"remote_bash(ap*.lan: uptime)", Subject{Tool: "remote_bash", Host: "root@ap1.lan:22", Command: "ls; uptime"}, true},
		{"remote_bash(ap*.lan: uptime)", Subject{Tool: "remote_bash", Host: "root@ap1.lan:22", Command: "ls"}, false},
		{"remote_bash([fe80::1]:22)", Subject{Tool: "remote_bash", Host: "root@[fe80::1]:22", Command: "ls"}, true},
		{"remote_bash([fe80::1])", Subject{Tool: "remote_bash", Host: "root@[fe80::1]:22", Command: "ls"}, true},
		{"remote_bash(10.0.0.7)", Subject{Tool: "write", Host: "root@10.0.0.7:22", Paths: file("/etc/x")}, true},
		{"remote_bash(10.0.0.7: *)", Subject{Tool: "write", Host: "root@10.0.0.7:22", Paths: file("/etc/x")}, true},
		{"remote_bash(10.0.0.7: uptime)", Subject{Tool: "write", Host: "root@10.0.0.7:22", Paths: file("/etc/x")}, false},
		{"edit(/etc/x)", Subject{Tool: "write", Host: "root@10.0.0.7:22", Paths: file("/etc/x")}, true},
	}
	for _, tt := range tests {
		p := &Policy{Levels: Defaults(), Rules: Rules{Deny: rules(t, tt.rule)}, Project: "/root/p", Home: "/root", Attended: true, Mode: ModeBypass}
		p.ApplyYes()
		d := p.Refuse(tt.s)
		if got := strings.HasPrefix(d.Reason, "denied by rule"); got != tt.want || got && d.Verdict != Deny {
			t.Errorf("rule %s, %+v: %+v, want denied %v", tt.rule, tt.s, d, tt.want)
		}
	}
}

// TestAllowedHostIsDialled: what the SSH configuration calls a host allows nothing.
func TestAllowedHostIsDialled(t *testing.T) {
	p := &Policy{Rules: Rules{Allow: rules(t, "remote_bash(router)")}}
	s := Subject{Tool: "remote_bash", Host: "root@10.0.0.1:22", Named: []string{"root@router:22"}, Command: "ls"}
	if p.covered(p.Rules.Allow, &s) {
		t.Error("an allowance for a name covers what it leads to")
	}
}

func TestAllowRules(t *testing.T) {
	tests := []struct {
		rules string
		cmd   string
		want  bool
	}{
		{"bash(uci show *)", "uci show wireless", true},
		{"bash(uci show *)", "uci show", true},
		{"bash(uci *)", "uci show | uci get x", true},
		{"bash(uci *),bash(grep *)", "uci show | grep x && uci get y", true},
		{"bash(uci *)", "uci get x; rm x", false},
		{"bash(uci *)", "uci get x > /etc/passwd", false},
		{"bash(uci *)", "uci get $(rm x)", false},
		{"bash(uci *)", "uci get `rm x`", false},
		{"bash(uci *)", "uci get x &", false},
		{"bash(uci *)", "LD_PRELOAD=/tmp/x uci get", false},
		{"bash(uci *)", "sudo uci get x", false},
		{"bash(uci *)", "/tmp/uci get x", false},
		{"bash(uci *)", "./uci get x", false},
		{"bash(uci *)", "uci batch <<E\nset a=b\nE", false},
		{"bash(uci *)", "uci get x\nrm y", false},
		{"bash(uci *)", "sh -c 'uci get x'", false},
		{"bash(sh *)", "sh -c 'rm x'", true},
		{"bash(uci *)", "uci get <(rm x)", false},
		{"bash(uci *)", "uci get \"$(rm x)\"", false},
		{"bash(uci *)", "uci get ${x:-$(rm y)}", false},
		{"bash(uci *)", "f() { rm x; }; uci get", false},
		{"bash(uci *)", "uci get x)", false},
		{"bash(uci *)", "uci get 'x", false},
		{"bash(uci *)", "", false},
		{"bash", "rm x > y", true},
		{"bash(./run.sh *)", "./run.sh a", true},
		{"bash(./run.sh *),bash(cd *)", "cd evil && ./run.sh a", false},
		{"bash(cd *),bash(uci *)", "cd /tmp && uci show", true},
		{"bash(alias *),bash(uci *)", "alias uci=rm\nuci show", false},
		{"bash(export *),bash(ubus *)", "export PATH=/evil; ubus show", false},
		{"bash(export *)", "export A=b", true},
	}
	for _, tt := range tests {
		p := &Policy{Levels: map[string]Level{"bash": {Ask, "config.json"}}, Attended: false, Dir: "/root", Rules: Rules{Allow: rules(t, strings.Split(tt.rules, ",")...)}}
		s := Subject{Tool: "bash", Effect: Execute, Command: tt.cmd, Dir: "/root"}
		d := p.Gate(s, p.Refuse(s), WishNone)
		if got := d.Verdict == Allow; got != tt.want {
			t.Errorf("allow %s, %q: %+v, want %v", tt.rules, tt.cmd, d, tt.want)
		}
	}
}

// TestRelativeProgram holds that a program named relative to the directory is
// allowed where the session works, and nowhere else.
func TestRelativeProgram(t *testing.T) {
	for _, tt := range []struct {
		session, dir string
		want         Verdict
	}{{"/root", "/root", Allow}, {"/root", "/root/evil", Deny}, {"", "", Deny}, {"", "/root", Deny}} {
		p := &Policy{Levels: map[string]Level{"bash": {Ask, "config.json"}}, Dir: tt.session, Rules: Rules{Allow: rules(t, "bash(./run.sh *)")}}
		s := Subject{Tool: "bash", Effect: Execute, Command: "./run.sh a", Dir: tt.dir}
		if d := p.Gate(s, p.Refuse(s), WishNone); d.Verdict != tt.want {
			t.Errorf("session in %q, command in %q: %+v, want %v", tt.session, tt.dir, d, tt.want)
		}
		if g, why := p.Grant(s, Decision{Verdict: Ask}); (g != "") != (tt.want == Allow) || g == "" && why == "" {
			t.Errorf("session in %q, command in %q: grant %q, %q", tt.session, tt.dir, g, why)
		}
	}
}

// TestOtherHosts holds that what a file tool may do here says nothing of other
// hosts, where the rules of remote_bash count.
func TestOtherHosts(t *testing.T) {
	for rule, want := range map[string]Verdict{
		"edit": Deny, "write": Deny, "edit(/tmp/**)": Deny, "path(/tmp/**)": Deny, "bash": Deny, "web_*": Deny,
		"remote_bash": Allow, "remote_bash(root@a)": Allow, "remote_bash(a:22)": Allow, "*_bash": Allow, "*": Allow,
		"remote_bash(b)": Deny, "remote_bash(a: ls)": Deny,
	} {
		s := Subject{Tool: "write", Effect: Write, Host: "root@a:22", Paths: file("/tmp/x")}
		p := &Policy{Levels: Defaults(), Rules: Rules{Allow: rules(t, rule)}}
		if d := p.Gate(s, p.Refuse(s), WishNone); d.Verdict != want {
			t.Errorf("allow %s: %+v, want %v", rule, d, want)
		}
	}
}

// TestUnreadCommands holds that a rule on commands covers one that hides what
// it would run, that others run, and that the reason says so.
func TestUnreadCommands(t *testing.T) {
	hides := []string{
		strings.Repeat("eval ", 12) + "rm x",
		strings.Repeat("env ", 1000) + "rm x",
		strings.Repeat("{ ", 100) + "rm x; " + strings.Repeat("}; ", 100),
		strings.Repeat("( ", 20) + "rm x" + strings.Repeat(" )", 20),
		strings.Repeat("echo $( ", 20) + "rm x" + strings.Repeat(" )", 20),
		"set --" + strings.Repeat(" a", 300) + strings.Repeat("; : $@ $@ $@ $@", 300) + "; env rm x",
		"/bin/r? x",
	}
	for _, cmd := range hides {
		for _, tool := range []string{"bash", "remote_bash"} {
			s := Subject{Tool: tool, Effect: Execute, Command: cmd, Dir: "/root", Host: "root@a:22"}
			if tool == "bash" {
				s.Host = ""
			}
			rule := map[string]string{"bash": "bash(rm *)", "remote_bash": "remote_bash(a: rm *)"}[tool]
			p := &Policy{Levels: map[string]Level{tool: {Allow, "default"}}, Attended: true, Rules: Rules{Deny: rules(t, rule)}}
			if d := p.Refuse(s); d.Verdict != Deny || !strings.Contains(d.Reason, "simpler") {
				t.Errorf("deny %s, %.40q: %+v", rule, cmd, d)
			}
			p.Rules = Rules{Ask: rules(t, rule)}
			if d := p.Gate(s, p.Refuse(s), WishNone); d.Verdict != Ask || !d.Firm || !strings.Contains(d.Reason, "simpler") {
				t.Errorf("ask %s, %.40q: %+v", rule, cmd, d)
			}
			for _, other := range []string{"", "remote_bash(b: rm *)", "read(x)"} {
				p.Rules = Rules{}
				if other != "" {
					p.Rules.Deny = rules(t, other)
				}
				if d := p.Refuse(s); d.Verdict != Allow {
					t.Errorf("deny %q, %.40q: %+v", other, cmd, d)
				}
			}
		}
	}
	p := &Policy{Levels: Defaults(), Rules: Rules{Deny: rules(t, "bash(a *)", "bash(rm *)")}}
	s := Subject{Tool: "bash", Effect: Execute, Command: "rm x; " + hides[1]}
	if d := p.Refuse(s); d.Reason != "denied by rule bash(rm *) (config.json)" {
		t.Errorf("a rule that covers what was read: %+v", d)
	}
}

// TestDangerDir holds that a command is judged by where its directory leads.
func TestDangerDir(t *testing.T) {
	p := &Policy{Levels: Defaults(), Attended: true, Home: "/root"}
	for _, tt := range []struct {
		s    Subject
		want Verdict
	}{
		{Subject{Tool: "bash", Effect: Execute, Command: "rm -rf config", Dir: "/root/e", RealDir: "/etc"}, Ask},
		{Subject{Tool: "bash", Effect: Execute, Command: "rm -rf config", Dir: "/etc", RealDir: "/tmp/e"}, Ask},
		{Subject{Tool: "bash", Effect: Execute, Command: "rm -rf config", Dir: "/root/e", RealDir: "/tmp/e"}, Allow},
		{Subject{Tool: "remote_bash", Effect: Execute, Host: "root@a:22", Command: "echo {} > .cluade/config.json"}, Ask},
		{Subject{Tool: "remote_bash", Effect: Execute, Host: "root@a:22", Command: "echo {} > p/.cluade/config.json"}, Allow},
	} {
		p.Levels["remote_bash"] = Level{Allow, "config.json"}
		if d := p.Gate(tt.s, p.Refuse(tt.s), WishNone); d.Verdict != tt.want || d.Danger != (tt.want == Ask) {
			t.Errorf("%+v: %+v, want %v", tt.s, d, tt.want)
		}
	}
	p.Mode = ModePlan
	for dir, want := range map[string]Verdict{"/root": Allow, "/dev": Deny} {
		for _, s := range []Subject{{Dir: dir}, {Dir: "/root", RealDir: dir}} {
			s.Tool, s.Effect, s.Command = "bash", Execute, "head -c 4 zero"
			if d := p.Refuse(s); d.Verdict != want {
				t.Errorf("plan mode, %+v: %+v, want %v", s, d, want)
			}
		}
	}
}

func TestGrant(t *testing.T) {
	bash := func(cmd string) Subject { return Subject{Tool: "bash", Effect: Execute, Command: cmd} }
	tests := []struct {
		s    Subject
		want string
	}{
		{bash("uci show network"), "bash(uci *)"},
		{bash("/sbin/uci show"), "bash(/sbin/uci *)"},
		{bash("uci show; ls"), ""},
		{bash("uci show | grep x"), ""},
		{bash("uci show; uci show"), ""},
		{bash("uci sh\\\now network"), "bash(uci *)"},
		{bash("A=1 uci show"), ""},
		{bash("sudo uci show"), ""},
		{bash("python3 x.py"), ""},
		{bash("git status"), ""},
		{bash("./cluade x"), ""},
		{bash("$X y"), ""},
		{bash("uci show > f"), ""},
		{bash("alias a=b"), ""},
		{bash("export A=b"), ""},
		{bash("set -x"), ""},
		{bash("hash -r"), ""},
		{bash("enable -n x"), ""},
		{bash("cd /tmp"), ""},
		{bash("./uci show"), ""},
		{Subject{Tool: "write", Effect: Write, Paths: []Path{{Abs: "/root/p/a", Real: "/root/p/a", Root: "/root/p"}}}, "edit(/root/p/**)"},
		{Subject{Tool: "edit", Effect: Write, Paths: file("/etc/x")}, "edit(/etc/x)"},
		{Subject{Tool: "web_fetch", Effect: Network, URL: "https://a.b/c"}, "web_fetch(domain:a.b)"},
		{Subject{Tool: "web_search", Effect: Network}, "web_search"},
		{Subject{Tool: "remote_bash", Effect: Execute, Host: "root@h:22", Command: "uci show"}, "remote_bash(root@h:22: uci *)"},
		{Subject{Tool: "remote_bash", Effect: Execute, Host: "root@h:22", Command: "sh -c x"}, ""},
		{Subject{Tool: "mcp__a__b", Effect: External}, "mcp__a__b"},
		{Subject{Tool: "subagent", Effect: Execute}, ""},
	}
	p := &Policy{}
	for _, tt := range tests {
		got, _ := p.Grant(tt.s, Decision{Verdict: Ask})
		if got != tt.want {
			t.Errorf("Grant(%+v) = %q, want %q", tt.s, got, tt.want)
		}
		if got == "" {
			continue
		}
		q := &Policy{Levels: map[string]Level{tt.s.Tool: {Ask, "x"}}, Attended: true, Grants: rules(t, got)}
		if d := q.Gate(tt.s, q.Refuse(tt.s), WishNone); d.Verdict != Allow {
			t.Errorf("%+v under its own grant %s: %+v", tt.s, got, d)
		}
		q.Attended = false
		if d := q.Gate(tt.s, q.Refuse(tt.s), WishNone); d.Verdict != Deny {
			t.Errorf("%+v under grant %s with nobody there: %+v", tt.s, got, d)
		}
		if g, _ := p.Grant(tt.s, Decision{Verdict: Ask, Firm: true}); g != "" {
			t.Errorf("Grant of a firm ask = %q", g)
		}
	}
}

func TestGateDangerAndAskRules(t *testing.T) {
	for _, yes := range []bool{false, true} {
		for _, mode := range []Mode{ModeDefault, ModeAsk, ModeAcceptEdits, ModeBypass} {
			for _, wish := range []Wish{WishNone, WishAsk, WishAllow} {
				for _, there := range []bool{false, true} {
					p := &Policy{Levels: Defaults(), Attended: there, Mode: mode, Rules: Rules{Ask: rules(t, "bash(opkg *)"), Allow: rules(t, "bash", "remote_bash")}, Grants: rules(t, "bash")}
					if yes {
						p.ApplyYes()
					}
					for _, s := range []Subject{
						{Tool: "bash", Effect: Execute, Command: "rm -rf /etc", Dir: "/root"},
						{Tool: "bash", Effect: Execute, Command: "rm -rf config", Dir: "/etc"},
						{Tool: "bash", Effect: Execute, Command: "opkg install x", Dir: "/root"},
						{Tool: "remote_bash", Effect: Execute, Command: "reboot", Host: "root@a:22"},
					} {
						d := p.Gate(s, p.Refuse(s), wish)
						want := Ask
						if !there {
							want = Deny
						}
						if d.Verdict != want || !d.Firm {
							t.Errorf("yes %v mode %v wish %v attended %v %q: %+v, want %v", yes, mode, wish, there, s.Command, d, want)
						}
						if !there && d.Danger && !strings.HasPrefix(d.Reason, "denied: dangerous command (") {
							t.Errorf("reason %q", d.Reason)
						}
					}
				}
			}
		}
	}
}

func TestHides(t *testing.T) {
	for rule, want := range map[string]bool{
		"read(*.pem)": true, "grep(*.pem)": true, "glob(*.pem)": true, "path(*.pem)": true, "read(/s)": true, "grep(/s)": true, "glob(/s)": true,
		"edit(*.pem)": false, "write(/s)": false, "read(*.key)": false, "read": false, "grep": false, "bash(x)": false,
	} {
		p := &Policy{Rules: Rules{Deny: rules(t, rule)}, Project: "/p", Home: "/root"}
		for _, f := range []Path{{Abs: "/s/k.pem", Real: "/s/k.pem"}, {Abs: "/l", Real: "/s/k.pem"}, {Abs: "/s/k.pem", Real: "/x"}} {
			if got := p.Hides(Subject{}, f); got != want {
				t.Errorf("deny %s: Hides(%+v) = %v, want %v", rule, f, got, want)
			}
		}
	}
}

func TestModes(t *testing.T) {
	subjects := map[string]Subject{
		"read":        {Tool: "read", Effect: Read},
		"write":       {Tool: "write", Effect: Write, Paths: file("/x")},
		"bash":        {Tool: "bash", Effect: Execute, Command: "make"},
		"bash look":   {Tool: "bash", Effect: Execute, Command: "cat /etc/hosts | wc -l"},
		"web_fetch":   {Tool: "web_fetch", Effect: Network, URL: "http://a/"},
		"remote_bash": {Tool: "remote_bash", Effect: Execute, Host: "root@a:22", Command: "ls"},
		"mcp__a__b":   {Tool: "mcp__a__b", Effect: External},
		"compact":     {Tool: "compact", Effect: Session},
		"host read":   {Tool: "read", Effect: Read, Host: "root@a:22", Paths: file("/x")},
	}
	want := map[Mode]map[string]Verdict{
		ModeDefault:     {"read": Allow, "write": Allow, "bash": Allow, "bash look": Allow, "web_fetch": Allow, "remote_bash": Ask, "mcp__a__b": Ask, "compact": Allow},
		ModeAsk:         {"read": Allow, "write": Ask, "bash": Ask, "bash look": Ask, "web_fetch": Ask, "remote_bash": Ask, "mcp__a__b": Ask, "compact": Allow},
		ModeAcceptEdits: {"read": Allow, "write": Allow, "bash": Ask, "bash look": Ask, "web_fetch": Ask, "remote_bash": Ask, "mcp__a__b": Ask, "compact": Allow},
		ModePlan:        {"read": Allow, "write": Deny, "bash": Deny, "bash look": Allow, "web_fetch": Deny, "remote_bash": Deny, "mcp__a__b": Deny, "compact": Allow, "host read": Deny},
		ModeBypass:      {"read": Allow, "write": Allow, "bash": Allow, "bash look": Allow, "web_fetch": Allow, "remote_bash": Allow, "mcp__a__b": Allow, "compact": Allow},
	}
	for mode, row := range want {
		for name, v := range row {
			p := &Policy{Levels: Defaults(), Attended: true, Mode: mode}
			s := subjects[name]
			if d := p.Gate(s, p.Refuse(s), WishNone); d.Verdict != v {
				t.Errorf("mode %v, %s: %+v, want %v", mode, name, d, v)
			}
			p.Levels = map[string]Level{s.Tool: {Deny, "config.json"}}
			if d := p.Gate(s, p.Refuse(s), WishAllow); d.Verdict != Deny {
				t.Errorf("mode %v, %s with level deny: %+v", mode, name, d)
			}
		}
	}
	for _, w := range []string{"default", "ask", "accept-edits", "acceptEdits", "plan", "bypass", "bypassPermissions"} {
		if _, ok := ParseMode(w); !ok {
			t.Errorf("ParseMode(%q) fails", w)
		}
	}
	if _, ok := ParseMode(""); ok {
		t.Error("ParseMode of nothing succeeds")
	}
}

func FuzzRules(f *testing.F) {
	f.Add("bash(rm *)", "ls; rm x", "/etc/x")
	f.Fuzz(func(t *testing.T, rule, cmd, path string) {
		r, err := ParseRule(rule, "")
		if err != nil {
			return
		}
		p := &Policy{Levels: Defaults(), Project: "/p", Home: "/h", Rules: Rules{Deny: []Rule{r}, Allow: []Rule{r}}}
		for _, s := range []Subject{{Tool: "bash", Command: cmd}, {Tool: "write", Effect: Write, Paths: file(path)}, {Tool: "web_fetch", URL: path}, {Tool: "remote_bash", Host: path, Command: cmd}} {
			p.Gate(s, p.Refuse(s), WishAllow)
			if p.covered(p.Rules.Allow, &s) {
				if _, _, ok := p.first(p.Rules.Deny, &s); !ok {
					t.Errorf("%q allows %+v but would not deny it", rule, s)
				}
			}
		}
	})
}
