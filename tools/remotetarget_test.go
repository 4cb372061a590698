package tools

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// subject is the host that a remote_bash with these arguments is judged by, or
// the error.
func subject(t *testing.T, e *Env, a args) string {
	t.Helper()
	a["command"] = "true"
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Builtin.Parse(e, "remote_bash", string(text))
	if err != nil {
		return "error: " + err.Error()
	}
	return c.Subject.Host
}

func TestRemoteTarget(t *testing.T) {
	tests := []struct {
		a    args
		want string
	}{
		{args{"host": "ap1.lan"}, "root@ap1.lan:22"},
		{args{"host": "AP1.Lan."}, "root@ap1.lan:22"},
		{args{"host": "pi@ap1"}, "pi@ap1:22"},
		{args{"host": "pi@ap1", "username": "admin"}, "admin@ap1:22"},
		{args{"host": "ap1", "port": 2222}, "root@ap1:2222"},
		{args{"host": "ap1:2222"}, "root@ap1:2222"},
		{args{"host": "ap1:2222", "port": 22}, "root@ap1:22"},
		{args{"host": "ssh://pi@ap1:2222/"}, "pi@ap1:2222"},
		{args{"host": "a_b-c.d"}, "root@a_b-c.d:22"},
		{args{"host": "me@corp@gate"}, "me@corp@gate:22"},
		{args{"host": "192.168.1.2"}, "root@192.168.1.2:22"},
		{args{"host": "::1"}, "root@[::1]:22"},
		{args{"host": "[::1]"}, "root@[::1]:22"},
		{args{"host": "pi@[::1]:2222"}, "pi@[::1]:2222"},
		{args{"host": "2001:DB8:0:0::1", "port": 2222}, "root@[2001:db8::1]:2222"},
		{args{"host": "::ffff:10.0.0.1"}, "root@10.0.0.1:22"},
		{args{"host": "fe80::1%eth0"}, "root@[fe80::1%eth0]:22"},
		{args{"host": "ap1", "port": nil, "username": nil}, "root@ap1:22"},

		{args{"host": ""}, "error: the host is empty"},
		{args{"host": "root@"}, "error: the host is empty"},
		{args{"host": "@ap1"}, "error: the user is empty"},
		{args{"host": "-oProxyCommand=reboot"}, `error: host "-oProxyCommand=reboot" begins with a dash`},
		{args{"host": "root@-x"}, `error: host "-x" begins with a dash`},
		{args{"host": "-l@ap1"}, `error: user "-l" begins with a dash`},
		{args{"host": "ap1 ap2"}, `error: host "ap1 ap2" holds a blank or a control character`},
		{args{"host": "ap1\nap2"}, `error: host "ap1\nap2" holds a blank or a control character`},
		{args{"host": "ap1\u00a0x"}, `error: host "ap1\u00a0x" holds a blank or a control character`},
		{args{"host": "ap1", "username": "a b"}, `error: username "a b" holds a blank or a control character`},
		{args{"host": "ap1", "username": "-x"}, `error: username "-x" begins with a dash`},
		{args{"host": "ap1;reboot"}, `error: host "ap1;reboot" is neither a name nor an address`},
		{args{"host": "ap*"}, `error: host "ap*" is neither a name nor an address`},
		{args{"host": "a,b"}, `error: host "a,b" is neither a name nor an address`},
		{args{"host": "a:b:c"}, `error: host "a:b:c" is neither a name nor an address`},
		{args{"host": "fe80::1%e,x"}, `error: host "fe80::1%e,x" is neither a name nor an address`},
		{args{"host": "/tmp/socket"}, `error: host "/tmp/socket" is neither a name nor an address`},
		{args{"host": "ap1:0"}, `error: host "ap1:0": the port must be 1 to 65535`},
		{args{"host": "ap1:ssh"}, `error: host "ap1:ssh": the port must be 1 to 65535`},
		{args{"host": "[::1]x"}, `error: host "[::1]x": the port must be 1 to 65535`},
		{args{"host": "[::1"}, `error: host "[::1": the bracket is not closed`},
		{args{"host": "[ap1]:22"}, `error: host "[ap1]:22": brackets are for an IPv6 address, as in [fe80::1]:22`},
		{args{"host": "ap1", "port": 65536}, "error: port is 65536, must be 1 to 65535"},
		{args{"host": "ap1", "port": 0}, "error: port is 0, must be 1 to 65535"},
	}
	e := testEnv(t)
	for _, tt := range tests {
		shown := fmt.Sprint(tt.a)
		if got := subject(t, e, tt.a); got != tt.want {
			t.Errorf("%s = %q, want %q", shown, got, tt.want)
		}
	}
}

func TestRemoteCommandChecks(t *testing.T) {
	e := testEnv(t)
	wantError(t, e, "remote_bash", args{"host": "ap1", "command": " "}, "the command is empty")
	wantError(t, e, "remote_bash", args{"host": "ap1", "command": "a\x00b"}, "NUL byte")
	wantError(t, e, "remote_bash", args{"host": "ap1"}, `missing required parameter "command"`)
}

func TestRemotePreview(t *testing.T) {
	e := testEnv(t)
	e.SSH.Config = put(t, e, "config", "Host ap1\nProxyJump gate:2222\n")
	text, _ := json.Marshal(args{"host": "ap1", "command": "reboot\nnow", "timeout": 5})
	c, err := Builtin.Parse(e, "remote_bash", string(text))
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Preview()
	if want := "reboot\nnow\nthrough: root@gate:2222\ntimeout: 5 s"; got != want || err != nil {
		t.Errorf("preview = %q, %v, want %q", got, err, want)
	}
	if got, want := c.Gist(), "root@ap1:22 reboot now"; got != want {
		t.Errorf("gist = %q, want %q", got, want)
	}
	// What was judged is what is dialled.
	put(t, e, "config", "Host ap1\nHostName elsewhere\n")
	if _, err := c.Preview(); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("after a change of the configuration: %v", err)
	}
}

func FuzzParseHost(f *testing.F) {
	for _, s := range []string{"ap1", "pi@[fe80::1%e0]:22", "ssh://a@b:1/", "a:b:c", "[", "@", "é", "0..."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		typed, err := parseHost(s)
		if err != nil {
			return
		}
		host, err := canonicalHost(typed.host)
		if err != nil {
			return
		}
		again, err := canonicalHost(host)
		if err != nil || again != host {
			t.Errorf("canonicalHost(%q) = %q, %v, want it unchanged", host, again, err)
		}
		if strings.ContainsAny(host, " \t\n,*?!|#@[]/") || host[0] == '-' {
			t.Errorf("parseHost(%q) gives the host %q", s, host)
		}
	})
}
