package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSSHConfig(t *testing.T) {
	tests := []struct{ name, config, host, want string }{
		{"nothing", "", "ap1", "root@ap1:22"},
		{"alias", "Host ap1\n  HostName 192.168.1.2\n  User admin\n  Port 2222\n", "ap1", "admin@192.168.1.2:2222"},
		{"another host", "Host ap1\n  HostName 192.168.1.2\n", "ap2", "root@ap2:22"},
		{"before any host", "User admin\nHost ap1\nUser late\n", "ap1", "admin@ap1:22"},
		{"first counts", "Host ap*\nPort 1\nHost ap1\nPort 2\n", "ap1", "root@ap1:1"},
		{"pattern", "Host ap?.lan 10.*\nUser u\n", "10.0.0.1", "u@10.0.0.1:22"},
		{"pattern does not fit", "Host ap?.lan\nUser u\n", "ap10.lan", "root@ap10.lan:22"},
		{"negated", "Host * !ap1\nUser u\n", "ap1", "root@ap1:22"},
		{"negated, another", "Host !ap1 *\nUser u\n", "ap2", "u@ap2:22"},
		{"negated alone", "Host !ap1\nUser u\n", "ap2", "root@ap2:22"},
		{"case", "hOST AP1\nhostname Router.LAN\n", "ap1", "root@router.lan:22"},
		{"equals signs", "Host=ap1\nHostName = 10.0.0.1\nPort=22\nUser =\tu\n", "ap1", "u@10.0.0.1:22"},
		{"quotes", "Host \"ap1\"\nUser \"u\"\n", "ap1", "u@ap1:22"},
		{"comments", "# Host x\nHost ap1 # the first\n  # User no\n  User u # yes\n", "ap1", "u@ap1:22"},
		{"CRLF", "Host ap1\r\n\tUser u\r\n\r\n", "ap1", "u@ap1:22"},
		{"last line without end", "Host ap1\nUser u", "ap1", "u@ap1:22"},
		{"unknown words", "Host ap1\nForwardAgent yes\nSendEnv LANG LC_*\nUser u\nStrictHostKeyChecking no\n", "ap1", "u@ap1:22"},
		{"token", "Host *\nHostName %h.lan\n", "ap1", "root@ap1.lan:22"},
		{"address as host name", "Host r\nHostName ::1\n", "r", "root@[::1]:22"},
		{"typed user first", "Host ap1\nUser u\nPort 1\n", "me@ap1:5", "me@ap1:5"},

		{"match all", "Match all\nUser u\n", "ap1", "u@ap1:22"},
		{"match host", "Match host ap1,ap2\nUser u\n", "ap2", "u@ap2:22"},
		{"match host after HostName", "Host a\nHostName b\nMatch host b\nUser u\n", "a", "u@b:22"},
		{"match originalhost", "Host a\nHostName b\nMatch originalhost b\nUser u\n", "a", "root@b:22"},
		{"match user", "Match user root\nPort 7\n", "ap1", "root@ap1:7"},
		{"match not", "Match !host ap1\nUser u\n", "ap2", "u@ap2:22"},
		{"match not, fails", "Match !host ap1\nUser u\n", "ap1", "root@ap1:22"},
		{"match ends host", "Host ap1\nMatch host none\nUser u\n", "ap1", "root@ap1:22"},
		{"match without value", "Match host\nUser u\n", "ap1", "root@ap1:22"},

		{"jump", "Host ap1\nProxyJump gate\n", "ap1", "root@gate:22 root@ap1:22"},
		{"jump with all", "Host ap1\nProxyJump j@gate:2222\n", "ap1", "j@gate:2222 root@ap1:22"},
		{"jump by address", "Host ap1\nProxyJump ssh://j@[::1]:2222\n", "ap1", "j@[::1]:2222 root@ap1:22"},
		{"two jumps", "Host ap1\nProxyJump a,b\n", "ap1", "root@a:22 root@b:22 root@ap1:22"},
		{"jump has a block", "Host ap1\nProxyJump gate\nHost gate\nHostName 10.0.0.1\nUser g\nPort 9\n", "ap1", "g@10.0.0.1:9 root@ap1:22"},
		{"jump behind a jump", "Host ap1\nProxyJump b\nHost b\nProxyJump a\n", "ap1", "root@a:22 root@b:22 root@ap1:22"},
		{"later jump's own jump", "Host ap1\nProxyJump a,b\nHost b\nProxyJump c\n", "ap1", "root@a:22 root@b:22 root@ap1:22"},
		{"jump none", "Host ap1\nProxyJump none\nHost *\nProxyJump gate\n", "ap1", "root@ap1:22"},
		{"jump for all", "Host *\nProxyJump gate\n", "ap1", "root@gate:22 root@ap1:22"},
		{"jump for all, itself", "Host *\nProxyJump gate\n", "gate", "root@gate:22"},
		{"jump token", "Host ap?\nProxyJump gate-%h\n", "ap1", "root@gate-ap1:22 root@ap1:22"},
		{"command none", "Host ap1\nProxyCommand none\nProxyJump gate\n", "ap1", "root@ap1:22"},

		{"jump in a ring", "Host a\nProxyJump b\nHost b\nProxyJump a\n", "a", "error: the jump hosts of the SSH configuration are more than 7, or lead back to themselves"},
		{"command", "Host ap1\nProxyCommand touch ran\n", "ap1", "error: FILE line 2: ProxyCommand is a program and is not run, so ap1 cannot be reached; use ProxyJump"},
		{"command before jump", "Host ap1\nProxyCommand nc %h %p\nProxyJump gate\n", "ap1", "error: FILE line 2: ProxyCommand is a program and is not run, so ap1 cannot be reached; use ProxyJump"},
		{"jump before command", "Host ap1\nProxyJump gate\nProxyCommand nc %h %p\n", "ap1", "root@gate:22 root@ap1:22"},
		{"command of a jump host", "Host ap1\nProxyJump g\nHost g\nProxyCommand x\n", "ap1", "error: FILE line 4: ProxyCommand is a program and is not run, so g cannot be reached; use ProxyJump"},
		{"command of another", "Host x\nProxyCommand x\n", "ap1", "root@ap1:22"},
		{"port", "Host ap1\nPort ssh\n", "ap1", "error: SSH configuration: FILE line 2: the port must be 1 to 65535"},
		{"port of another", "Host x\nPort ssh\n", "ap1", "root@ap1:22"},
		{"quote", "Host \"ap1\nUser u\n", "ap1", "error: SSH configuration: FILE line 1: a quote is not closed"},
		{"no value", "Host ap1\nHostName\n", "ap1", "error: SSH configuration: FILE line 2: hostname takes one value"},
		{"two values", "Host ap1\nUser a b\n", "ap1", "error: SSH configuration: FILE line 2: user takes one value"},
		{"dash", "Host ap1\nHostName -oX\n", "ap1", `error: host "-ox" begins with a dash`},
		{"jump with a dash", "Host ap1\nProxyJump -x\n", "ap1", `error: SSH configuration: FILE line 2: host "-x" begins with a dash`},
	}
	for _, tt := range tests {
		e := testEnv(t)
		e.SSH.Config = put(t, e, "config", tt.config)
		way, _, err := e.remoteRoute(&Args{vals: map[string]any{"host": tt.host}})
		got := way.String()
		if err != nil {
			got = "error: " + strings.ReplaceAll(err.Error(), e.SSH.Config, "FILE")
		}
		if got != tt.want {
			t.Errorf("%s: %q = %q, want %q", tt.name, tt.host, got, tt.want)
		}
	}
}

// TestSubjectNames: the policy is told what each host on the way was called.
func TestSubjectNames(t *testing.T) {
	e := testEnv(t)
	e.SSH.Config = put(t, e, "config", "Host Router\nHostName 10.0.0.1\nUser admin\nProxyJump gate:2222\nHost gate\nHostName 10.0.0.2\n")
	s, err := e.remoteSubject(&Args{vals: map[string]any{"host": "Router"}})
	if got := strings.Join(s.Named, " "); err != nil || s.Host != "admin@10.0.0.1:22" || got != "root@gate:2222 admin@router:22" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestSSHConfigNotes(t *testing.T) {
	tests := []struct{ config, notes string }{
		{"Match exec \"touch ran\"\nUser u\n", "FILE line 1: Match exec is a program and is not run; its block does not count"},
		{"Match host ap1 exec x\nUser u\n", "FILE line 1: Match exec is a program and is not run; its block does not count"},
		{"Match host ap2 exec x\nUser u\n", ""},
		{"Match localnetwork 10.0.0.0/8\nUser u\n", "FILE line 1: Match localnetwork is not known here; its block does not count"},
		{"Host ap2\nMatch exec x\n", "FILE line 2: Match exec is a program and is not run; its block does not count"},
	}
	for _, tt := range tests {
		e := testEnv(t)
		e.SSH.Config = put(t, e, "config", tt.config)
		way, notes, err := e.remoteRoute(&Args{vals: map[string]any{"host": "ap1"}})
		got := strings.ReplaceAll(strings.Join(notes, "|"), e.SSH.Config, "FILE")
		if err != nil || got != tt.notes || way.String() != "root@ap1:22" {
			t.Errorf("%q: %s, notes %q, %v, want %q", tt.config, way, got, err, tt.notes)
		}
	}
}

func TestSSHConfigIdentity(t *testing.T) {
	e := testEnv(t)
	e.SSH.Config = put(t, e, "config", "Host a\nIdentityFile ~/.ssh/%n-%r\nIdentityFile \"/keys/my key\"\nHostName h\nHost n\nIdentityFile none\nHost *\nIdentityFile %d/all\n")
	tests := []struct{ host, want string }{
		{"u@a", e.Home + "/.ssh/a-u|/keys/my key|" + e.Home + "/all"},
		{"n", e.Home + "/all"},
	}
	for _, tt := range tests {
		way, _, err := e.remoteRoute(&Args{vals: map[string]any{"host": tt.host}})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(way[0].identity, "|"); got != tt.want {
			t.Errorf("identity files of %s = %q, want %q", tt.host, got, tt.want)
		}
	}
	if way, _, _ := (&Env{SSH: SSH{Config: put(t, e, "none", "IdentityFile none\n")}}).remoteRoute(&Args{vals: map[string]any{"host": "a"}}); way[0].identity == nil {
		t.Error("IdentityFile none leaves the usual keys")
	}
}

func TestSSHConfigKnownHosts(t *testing.T) {
	e := testEnv(t)
	e.SSH.Config = put(t, e, "config", "Host a\nHostKeyAlias Name\nHostKeyAlias other\nUserKnownHostsFile ~/one \"%d/two 2\"\nHost a b\nUserKnownHostsFile /dev/null none\n")
	tests := []struct{ host, alias, known string }{
		{"a", "name", e.Home + "/one|" + e.Home + "/two 2"}, {"b", "", ""}, {"c", "", "usual"},
	}
	for _, tt := range tests {
		way, _, err := e.remoteRoute(&Args{vals: map[string]any{"host": tt.host}})
		if err != nil {
			t.Fatal(err)
		}
		known := strings.Join(way[0].known, "|")
		if way[0].known == nil {
			known = "usual"
		}
		if way[0].alias != tt.alias || known != tt.known {
			t.Errorf("%s: alias %q, files %q, want %q, %q", tt.host, way[0].alias, known, tt.alias, tt.known)
		}
	}
}

// A key counts that is filed in the files of the configuration, under the alias
// that it gives.
func TestRemoteKnownElsewhere(t *testing.T) {
	s := newSSHD(t, []string{"ed25519"})
	e := client(t, s)
	e.SSH.Strict = true
	where := "Host box\n HostName 127.0.0.1\n User " + me(t).Username + "\n Port " + number(s.port()) + "\n"
	put(t, e, e.SSH.Config, where+" HostKeyAlias name\n UserKnownHostsFile ~/known\n")
	ask := args{"host": "box", "command": "echo ok"}
	wantError(t, e, "remote_bash", ask, "the host key of name (ssh-ed25519", "is not known")
	put(t, e, e.Home+"/known", "name "+s.hostKey("ed25519")+"\n")
	want(t, e, "remote_bash", ask, "ok\n")
	e.Close()
	put(t, e, e.SSH.Config, where+" HostKeyAlias name\n")
	wantError(t, e, "remote_bash", ask, "is not known")
	e.SSH.Strict = false
	if got, err := use(t, e, "remote_bash", ask); err != nil || !strings.Contains(got, "new host key of name accepted") {
		t.Errorf("an unknown alias: %q, %v", got, err)
	}
	if text, err := os.ReadFile(e.SSH.KnownHosts); err != nil || string(text) != "name "+s.hostKey("ed25519")+"\n" {
		t.Errorf("recorded %q, %v", text, err)
	}
}

func TestSSHConfigInclude(t *testing.T) {
	e := testEnv(t)
	e.SSH.Config = put(t, e, "ssh/config", "Include conf.d/* ~/more\nHost ap1\nInclude inner\nHost *\nUser late\n")
	put(t, e, "ssh/conf.d/10", "Host b\nPort 10\n")
	put(t, e, "ssh/conf.d/20", "Host b\nPort 20\n")
	put(t, e, e.Home+"/more", "Host m\nUser more\n")
	put(t, e, "ssh/inner", "Port 5\nHost ap2\nPort 6\n")
	for host, want := range map[string]string{
		"b": "late@b:10", "m": "more@m:22", "ap1": "late@ap1:5", "ap2": "late@ap2:22", // inner does not count for ap2
	} {
		way, _, err := e.remoteRoute(&Args{vals: map[string]any{"host": host}})
		if err != nil || way.String() != want {
			t.Errorf("%s = %q, %v, want %q", host, way, err, want)
		}
	}
	put(t, e, "ssh/inner", "Include inner\n") // without end
	if _, _, err := e.remoteRoute(&Args{vals: map[string]any{"host": "ap1"}}); err != nil {
		t.Errorf("a file that includes itself: %v", err)
	}
}

func TestSSHConfigUnreadable(t *testing.T) {
	e := testEnv(t)
	for what, path := range map[string]string{
		"a directory": e.Dir, "a device": "/dev/zero", "too large": put(t, e, "large", strings.Repeat("#\n", maxSSHConfig)),
	} {
		e.SSH.Config = path
		if _, _, err := e.remoteRoute(&Args{vals: map[string]any{"host": "a"}}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want an error that names it", what, err)
		}
	}
	if err := os.Symlink("nowhere", filepath.Join(e.Dir, "gone")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{e.Dir + "/none", e.Dir + "/gone", "", "~/.ssh/config"} {
		e.SSH.Config = path
		if way, _, err := e.remoteRoute(&Args{vals: map[string]any{"host": "a"}}); err != nil || way.String() != "root@a:22" {
			t.Errorf("%q: %s, %v", path, way, err)
		}
	}
}

func TestMatchHost(t *testing.T) {
	tests := []struct {
		pattern, name string
		want          bool
	}{
		{"*", "", true}, {"*", "a", true}, {"", "", true}, {"", "a", false}, {"a", "", false}, {"?", "", false},
		{"a*c", "abc", true}, {"a*c", "ac", true}, {"a*c", "abd", false}, {"*.lan", "ap.lan", true}, {"*.lan", "lan", false},
		{"a?c", "abc", true}, {"a?c", "ac", false}, {"**", "x", true}, {"[ab]", "a", false}, {"[::1]", "[::1]", true},
		{strings.Repeat("*a", 30) + "b", strings.Repeat("a", 300), false},
	}
	for _, tt := range tests {
		if got := matchHost(tt.pattern, tt.name); got != tt.want {
			t.Errorf("matchHost(%q, %q) = %v, want %v", tt.pattern, tt.name, got, tt.want)
		}
	}
}

func FuzzSSHConfig(f *testing.F) {
	for _, s := range []string{
		"Host a !b *\nHostName=%h\nPort 22\n", "Match host a,b user c exec \"d\"\n", "ProxyJump a,b:1,ssh://c@[::1]:2\n", "\"\\\"\n", "Include *\n",
	} {
		f.Add(s, "a")
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, config, host string) {
		e := &Env{Dir: dir, Home: dir, SSH: SSH{Config: dir + "/config"}}
		if err := os.WriteFile(e.SSH.Config, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		way, _, err := e.remoteRoute(&Args{vals: map[string]any{"host": host}})
		if err == nil && (len(way) == 0 || len(way) > maxHops) {
			t.Errorf("%q, %q: %d hops", config, host, len(way))
		}
	})
}
