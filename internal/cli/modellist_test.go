package cli

import (
	"fmt"
	"strings"
	"testing"
)

func TestModelByNumber(t *testing.T) {
	w := newWorld(t)
	w.models = `{"data":[{"id":"first"},{"id":"second:7b","max_model_len":8192},{"id":"deepseek-v4-pro"},{"id":"bad\u001b[2Jname"}]}`
	w.config(`{"models":{"near":{"model":"qwen3:4b"}}}`)
	c := newPlainTalk(t, w)
	for _, tt := range []struct{ line, want string }{
		{"/model 2", "error: no models were listed: /model lists them, /model NAME takes one\r\n"},
		{"/model", "   1  near  of the configuration\r\n   2  first\r\n   3  second:7b  window 8192\r\n*  4  deepseek-v4-pro\r\n" +
			`   5  bad\x1b[2Jname` + "\r\nmodel: deepseek-v4-pro; /model NUMBER or /model NAME takes another\r\n"},
		{"/model 0", "error: the list has the numbers 1 to 5; /model shows it\r\n"},
		{"/model 6", "error: the list has the numbers 1 to 5; /model shows it\r\n"},
		{"/model -1", "error: the list has the numbers 1 to 5; /model shows it\r\n"},
		{"/model 3", "model: second:7b\r\n"},
		{"one", "done"},
		{"/model 1", "model: qwen3:4b\r\n"},
		{"/model", "*  1  near  of the configuration\r\n   2  first\r\n"},
		{"two", "done"},
		{"/model first", "model: first\r\n"},
		{"three", "done"},
	} {
		c.say(tt.line + "\n")
		c.see(tt.want)
	}
	c.say("/exit\n")
	c.end(0)
	for i, want := range []string{"second:7b", "qwen3:4b", "first"} {
		if got := w.requests[i].body["model"]; got != want {
			t.Errorf("request %d goes to %v, want %s", i, got, want)
		}
	}
}

// TestModelsUnknown has a server that tells none, and one that does not tell.
func TestModelsUnknown(t *testing.T) {
	for models, want := range map[string]string{
		`{"data":[]}`: "model: deepseek-v4-pro; /model NUMBER",
		``:            "the server does not tell its models: list models: ",
	} {
		w := newWorld(t)
		w.models = models
		c := newPlainTalk(t, w)
		c.say("/model\n")
		c.see(want)
		c.say("/model 1\n")
		c.see("error: no models were listed: ")
		c.say("/model 4b\n")
		c.see("model: 4b\r\n")
		c.say("/exit\n")
		c.end(0)
	}
}

// TestModelsOfARelay has a server with more models than a screen is for.
func TestModelsOfARelay(t *testing.T) {
	w := newWorld(t)
	var list []string
	for i := 1; i <= maxModels+20; i++ {
		list = append(list, fmt.Sprintf(`{"id":"m%d"}`, i))
	}
	w.models = `{"data":[` + strings.Join(list, ",") + `]}`
	c := newPlainTalk(t, w)
	c.say("/model\n")
	c.see(" 100  m100\r\nand 20 more\r\n")
	c.say("/model 110\n")
	c.see("model: m110\r\n")
	c.say("/exit\n")
	c.end(0)
}
