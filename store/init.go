package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"cluade/internal/jsonenc"
)

// Init writes the default configuration and returns its path. An existing file
// is left alone with an error (fs.ErrExist) unless force is set; then it is kept
// beside the new one, with .old behind its name.
func Init(p Place, force bool) (string, error) {
	if p.State == "" {
		return "", errors.New("there is no home directory to write a configuration to")
	}
	path := filepath.Join(p.State, "config.json")
	if _, err := os.Lstat(path); err == nil && !force {
		return "", fmt.Errorf("write configuration %s: %w", path, fs.ErrExist)
	}
	if err := os.MkdirAll(p.State, 0o700); err != nil {
		return "", fmt.Errorf("make state directory: %w", err)
	}
	if old, _, err := readFile(path, maxConfig); err == nil && string(old) != string(defaultFile()) {
		if err := writeFile(path+".old", old, true); err != nil {
			return "", fmt.Errorf("keep the old configuration: %w", err)
		}
	}
	if err := writeConfig(path, defaultFile()); err != nil {
		return "", fmt.Errorf("write configuration: %w", err)
	}
	return path, nil
}

// defaultFile is the text of the configuration that Init writes: the original
// keys, and of the levels those that people change.
func defaultFile() []byte {
	out := []byte("{\n")
	for _, k := range originalKeys(new(Config)) {
		if k.name == anyTool {
			break
		}
		out = append(jsonenc.AppendString(append(out, "  "...), k.name), ": "...)
		out = append(append(out, k.def...), ",\n"...)
	}
	return append(out, `  "permissions": {
    "bash": "allow",
    "remote_bash": "ask",
    "write": "allow"
  }
}
`...)
}
