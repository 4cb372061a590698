package provider

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cluade/internal/chat"
)

var pngHead = "\x89PNG\r\n\x1a\n"

func writeImage(t *testing.T, text string) (path string, im chat.Image) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "photo.png")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	im, err := LoadImage(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, im
}

func TestLoadImage(t *testing.T) {
	dir := t.TempDir()
	tests := []struct{ name, text, mime, err string }{
		{"a.png", pngHead + "x", "image/png", ""},
		{"a.txt", "\xff\xd8\xff\xe0", "image/jpeg", ""},
		{"a.gif", "GIF89a", "image/gif", ""},
		{"a.webp", "RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp", ""},
		{"text.png", "hello, no image at all", "", "no png"},
		{"empty.png", "", "", "no png"},
		{"wav.webp", "RIFF\x00\x00\x00\x00WAVEfmt ", "", "no png"},
		{"big.png", pngHead + strings.Repeat("x", maxImage), "", "5 MiB"},
	}
	for _, tt := range tests {
		path := filepath.Join(dir, tt.name)
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		im, err := LoadImage(path)
		if tt.err == "" && (err != nil || im.MIME != tt.mime || im.Size != int64(len(tt.text)) || len(im.Hash) != 64) {
			t.Errorf("LoadImage(%s) = %+v, %v, want %s", tt.name, im, err, tt.mime)
		}
		if tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("LoadImage(%s): error %v, want %q", tt.name, err, tt.err)
		}
	}
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{fifo, dir, filepath.Join(dir, "none")} {
		if _, err := LoadImage(p); err == nil {
			t.Errorf("LoadImage(%s) gave no error", p)
		}
	}
}

// content is the content of the last message of a request's body.
func content(t *testing.T, body []byte) string {
	t.Helper()
	var m struct {
		Messages []struct{ Content json.RawMessage }
	}
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatal(err)
	}
	return string(m.Messages[len(m.Messages)-1].Content)
}

// TestImages: an image goes as a part, and is a note where it is refused or
// no longer the same.
func TestImages(t *testing.T) {
	data := pngHead + strings.Repeat("\x00\x01\xfe", 5000)
	path, im := writeImage(t, data)
	req := testRequest()
	req.Messages = []chat.Message{{Role: chat.User, Content: "what is it?", Images: []chat.Image{im}}}
	part := `[{"type":"text","text":"what is it?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` +
		base64.StdEncoding.EncodeToString([]byte(data)) + `"}}]`

	s := &server{t: t, answers: []testResponse{
		says("a"), refuses("this model does not support image input"), says("b"), says("c"),
	}, n: 64}
	c := testClient(t, s, nil)
	for range 3 {
		if _, err := c.Chat(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
	}
	refused := `"[image photo.png is not shown: this model takes no images]\n\nwhat is it?"`
	for i, want := range []string{part, part, refused, refused} {
		if got := content(t, s.asked[i]); got != want {
			t.Errorf("request %d: content %.200s, want %.200s", i+1, got, want)
		}
	}

	for _, change := range []func(){
		func() { os.WriteFile(path, []byte(data[:len(data)-1]+"?"), 0o600) },
		func() { os.Remove(path) },
	} {
		change()
		var b bytes.Buffer
		r := testClient(t, s, nil).newRequest(req, "")
		if err := r.writeTo(&b); err != nil || int64(b.Len()) != r.size() {
			t.Errorf("error %v, %d bytes, announced %d", err, b.Len(), r.size())
		}
		if got := content(t, b.Bytes()); !strings.Contains(got, "removed or changed") || strings.Contains(got, "base64") {
			t.Errorf("content %.200s of a changed image", got)
		}
	}
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	hostile := im
	hostile.MIME = `image/png","x":"`
	req.Messages[0].Images = []chat.Image{hostile}
	var b bytes.Buffer
	testClient(t, s, nil).newRequest(req, "").writeTo(&b)
	if !json.Valid(b.Bytes()) || strings.Contains(b.String(), `"x":`) {
		t.Errorf("a hostile type got into the request: %.300s", b.String())
	}
}

// TestImagesRefused: the ways in which servers say that they take no images, one
// of which is that the content has to be a string.
func TestImagesRefused(t *testing.T) {
	_, im := writeImage(t, pngHead+"x")
	req := testRequest()
	req.Messages = []chat.Message{{Role: chat.User, Content: "what is it?", Images: []chat.Image{im}}}
	for _, a := range []testResponse{
		status(422, `{"detail":[{"loc":["body","messages",1,"content"],"msg":"Input should be a valid string"}]}`),
		status(422, `messages[1].content: invalid type: sequence, expected a string`),
		status(404, `{"error":{"message":"No endpoints found that support image input","code":404}}`),
		refuses("At most 0 image(s) may be provided in one request."),
		refuses("x is not a multimodal model"),
	} {
		s := &server{t: t, answers: []testResponse{a, says("b")}, n: 64}
		if _, err := testClient(t, s, nil).Chat(t.Context(), req, nil); err != nil || len(s.asked) != 2 || strings.Contains(string(s.asked[1]), "base64") {
			t.Errorf("%s: asked %d times, error %v", *a.Text, len(s.asked), err)
		}
	}
}

// TestNoImageSent: a refusal of images where there are none is no repair.
func TestNoImageSent(t *testing.T) {
	s := &server{t: t, answers: []testResponse{refuses("image input is not supported"), says("x")}, n: 64}
	if _, _, err := ask(t, testClient(t, s, nil)); err == nil || len(s.asked) != 1 {
		t.Errorf("asked %d times, error %v, want one request and an error", len(s.asked), err)
	}
}
