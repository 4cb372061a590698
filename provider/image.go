package provider

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"cluade/internal/chat"
	"cluade/internal/jsonenc"
)

// maxImage is the largest image that is sent.
const maxImage = 5 << 20

// LoadImage describes the picture at path, which stays where it is: png, jpeg,
// gif or webp, by what is in the file, of at most 5 MiB.
func LoadImage(path string) (chat.Image, error) {
	f, size, err := openImage(path)
	if err != nil {
		return chat.Image{}, err
	}
	defer f.Close()
	head := make([]byte, 16)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return chat.Image{}, fmt.Errorf("read image: %w", err)
	}
	mime := imageType(string(head[:n]))
	if mime == "" {
		return chat.Image{}, fmt.Errorf("%s is no png, jpeg, gif or webp", path)
	}
	h := sha256.New()
	h.Write(head[:n])
	if _, err := io.Copy(h, f); err != nil {
		return chat.Image{}, fmt.Errorf("read image: %w", err)
	}
	return chat.Image{Path: path, Size: size, Hash: hex.EncodeToString(h.Sum(nil)), MIME: mime}, nil
}

// openImage opens a file that can be an image by its kind and size. A pipe is
// not opened: that would wait for its other end.
func openImage(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, fmt.Errorf("read image: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is no file", path)
	}
	if info.Size() > maxImage {
		return nil, 0, fmt.Errorf("%s has %d bytes; an image may have 5 MiB at most", path, info.Size())
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("read image: %w", err)
	}
	return f, info.Size(), nil
}

func imageType(head string) string {
	switch {
	case strings.HasPrefix(head, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case strings.HasPrefix(head, "\xff\xd8\xff"):
		return "image/jpeg"
	case strings.HasPrefix(head, "GIF87a"), strings.HasPrefix(head, "GIF89a"):
		return "image/gif"
	case strings.HasPrefix(head, "RIFF") && len(head) >= 12 && head[8:12] == "WEBP":
		return "image/webp"
	}
	return ""
}

// shown says whether an image can go out as it is in the transcript. One that
// was removed or changed since is replaced by a note, so that a resumed
// session goes on.
func (r *request) shown(im *chat.Image) bool {
	if r.c.learnt().noImages {
		return false
	}
	key := im.Hash + im.Path
	if good, ok := r.c.images[key]; ok {
		return good
	}
	now, err := LoadImage(im.Path)
	good := err == nil && now == *im
	r.c.images[key] = good
	return good
}

// imageNote stands in the text for an image that is not sent.
func (r *request) imageNote(im *chat.Image) string {
	why := "this model takes no images"
	if !r.c.learnt().noImages {
		why = "the file was removed or changed"
	}
	return "[image " + filepath.Base(im.Path) + " is not shown: " + why + "]"
}

// image writes an image as a part. It is coded while it is read, never held.
func (r *request) image(w *jsonenc.Writer, im *chat.Image) {
	w.Raw(`{"type":"image_url","image_url":{"url":"data:` + im.MIME + `;base64,`)
	if r.counting {
		r.skipped += int64(base64.StdEncoding.EncodedLen(int(im.Size)))
	} else if err := copyImage(w, im); err != nil && r.err == nil {
		r.err = err
	}
	w.Raw(`"}}`)
}

func copyImage(w *jsonenc.Writer, im *chat.Image) error {
	f, size, err := openImage(im.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	if size != im.Size {
		return fmt.Errorf("%s was changed while it was sent", im.Path)
	}
	enc := base64.NewEncoder(base64.StdEncoding, rawWriter{w})
	if _, err := io.CopyN(enc, f, size); err != nil {
		return fmt.Errorf("read image: %w", err)
	}
	return enc.Close()
}

// rawWriter writes bytes that need no escapes.
type rawWriter struct{ w *jsonenc.Writer }

func (r rawWriter) Write(p []byte) (int, error) {
	r.w.Raw(string(p))
	return len(p), nil
}
