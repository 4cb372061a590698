package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cluade/internal/chat"
	"cluade/internal/jsonenc"
	"cluade/internal/policy"
	"cluade/provider"
	"cluade/tools"
)

// maxAttached is how many files go with one message.
const maxAttached = 10

// A message takes with it the files that its text names as @path. What counts
// for the read tool counts here: the state directory, the rules that refuse,
// the bounds. A word that names no file is a word.

// compose makes the message of a text: with the output of the commands that the
// person ran since the last one, the images of the command line, and the files
// that typed names, which is the part of the text that a person typed.
func (a *app) compose(ctx context.Context, text, typed string) (chat.Message, error) {
	m := chat.Message{Content: strings.Join(a.typed, "") + text, Images: a.images[:len(a.images):len(a.images)]}
	texts := 0
	var paths []string
	for _, name := range mentions(typed) {
		name, text, image, err := a.attach(ctx, name, &paths)
		switch {
		case errors.Is(err, errNoFile), errors.Is(err, errAttached):
			continue
		case err != nil:
			return m, fmt.Errorf("@%s: %w", chat.EscapeText(name, 200), err)
		case image != nil:
			m.Images = append(m.Images, *image)
			continue
		}
		if texts++; texts > maxAttached {
			return m, fmt.Errorf("more than %d files are attached", maxAttached)
		}
		m.Content += "\n\n--- " + name + " ---\n" + text
	}
	return m, nil
}

// startsMention says that an @ at byte i begins a word.
func startsMention(text string, i int) bool {
	return i == 0 || strings.IndexByte(" \t\n(\"'", text[i-1]) >= 0
}

// mentions are the paths that a text names: a word that begins with @, or what
// stands in quotes behind it, whose end may be that of the line.
func mentions(text string) (names []string) {
	for i := 0; i < len(text); i++ {
		if text[i] != '@' || !startsMention(text, i) {
			continue
		}
		name := text[i+1:]
		if quoted, ok := strings.CutPrefix(name, `"`); ok {
			line, _, _ := strings.Cut(quoted, "\n")
			name, _, _ = strings.Cut(line, `"`)
		} else if end := strings.IndexAny(name, " \t\n\r"); end >= 0 {
			name = name[:end]
		}
		i += len(name)
		if name != "" && !contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// errNoFile says that what a text names is no file here.
var errNoFile = errors.New("no such file")

// errAttached says that it is a file that the message has already.
var errAttached = errors.New("attached already")

// attach reads one file, as the read tool shows it, or as an image, and adds it to
// paths, unless it is there. name loses what ends a sentence, if only then it names
// a file.
func (a *app) attach(ctx context.Context, name string, paths *[]string) (file, text string, image *chat.Image, err error) {
	call, path, err := a.mayRead(name)
	for err == errNoFile && name != "" && strings.IndexByte(".,;:!?)'\"", name[len(name)-1]) >= 0 {
		name = name[:len(name)-1]
		call, path, err = a.mayRead(name)
	}
	if err == nil && contains(*paths, path) {
		err = errAttached
	}
	if err != nil {
		return name, "", nil, err
	}
	*paths = append(*paths, path)
	if isImageName(path) {
		im, err := provider.LoadImage(path)
		return name, "", &im, err
	}
	text, err = call.Page(ctx)
	return name, text, nil, err
}

// mayRead finds the file that a name means and asks the rules for it.
func (a *app) mayRead(name string) (call *tools.Call, path string, err error) {
	args := string(jsonenc.AppendString([]byte(`{"filePath":`), name)) + "}"
	call, err = tools.Builtin.Parse(a.tools, "read", args)
	if err != nil {
		return nil, "", errNoFile
	}
	path = call.Subject.Paths[0].Real
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return nil, "", errNoFile
	}
	if d := a.policy.Refuse(call.Subject); d.Verdict == policy.Deny {
		return nil, "", errors.New(d.Reason)
	}
	return call, path, nil
}

func isImageName(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp":
		return true
	}
	return false
}

// loadImages takes the images that the command line names.
func (a *app) loadImages() error {
	for _, name := range a.flags.images {
		_, path, err := a.mayRead(name)
		if err != nil {
			return fmt.Errorf("--image %s: %w", chat.EscapeText(name, 200), err)
		}
		im, err := provider.LoadImage(path)
		if err != nil {
			return fmt.Errorf("--image: %w", err)
		}
		a.images = append(a.images, im)
	}
	return nil
}
