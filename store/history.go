package store

import (
	"path/filepath"

	"github.com/valyala/fastjson"
)

// History is the file that keeps the lines typed, "" if none does, and how many
// of them. Unless a person names one, it is not on flash.
func (c *Config) History(p Place) (file string, lines int) {
	if v, err := fastjson.Parse(c.values["history_size"].json); err == nil {
		lines = v.GetInt()
	}
	v, err := fastjson.Parse(c.values["history_file"].json)
	switch {
	case c.Source("history_file") > TierDefault && err == nil:
		if file = string(v.GetStringBytes()); file != "" {
			file = expandHome(file, c.home)
		}
	case p.State != "" && !OnFlash(p.State):
		file = filepath.Join(p.State, "history")
	}
	return file, lines
}
