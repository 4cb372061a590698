package cli

import (
	"slices"
	"syscall"
	"testing"
	"unsafe"
)

func TestOwnCommands(t *testing.T) {
	tests := []struct {
		input string
		want  []string
	}{
		{"!ls", []string{"ls"}},
		{"!a\n!b\n", []string{"a", "b"}},
		{"!ls\n", []string{"ls"}},
		{"![a badge](x)\ntext", nil},
		{"!a\n\n!b", nil},
		{"text\n!a", nil},
		{"", nil},
	}
	for _, tt := range tests {
		if got := ownCommands(tt.input); !slices.Equal(got, tt.want) {
			t.Errorf("ownCommands(%q) = %q, want %q", tt.input, got, tt.want)
		}
	}
}

func TestDrawsScreen(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "plain\x1b": false, "\x1b[": false, "\x1b[31mred\x1b[0m\x1b[K\x1b[?25h": false,
		"\x1b[0m\x1b[2J": true, "\x1b[3;4Hx": true, "\x1b[H": true, "\x1b[?1049h": true,
	} {
		if got := drawsScreen(text); got != want {
			t.Errorf("drawsScreen(%q) = %v, want %v", text, got, want)
		}
	}
}

func (p *pty) termios() (modes syscall.Termios) {
	control(p.t, p.tty, syscall.TCGETS, unsafe.Pointer(&modes))
	return modes
}

// TestLentTerminal: a command that dies leaves the terminal as it was, and the
// key that ends it does not end the conversation.
func TestLentTerminal(t *testing.T) {
	w := newWorld(t)
	c := newPlainTalk(t, w)
	c.prompted()
	found := c.termios()
	c.typed("!stty raw -echo; kill -9 $$\n")
	c.see("ended with 137")
	if got := c.termios(); got != found {
		t.Errorf("the modes are %+v, were %+v", got, found)
	}
	c.see("> ")
	c.typed("!kill -QUIT $PPID; sleep 0.2; echo went on\n")
	c.see("\nwent on")
	c.prompted()
	c.typed("!kill -INT $$\n")
	c.see("$$\r\n\r\ncluade: the command ended with 130") // the key would stand there as ^C
	c.say("/exit\n")
	c.end(0)
}
