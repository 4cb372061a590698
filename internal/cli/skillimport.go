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
	"cluade/skills"
)

// imported is what became of one skill.
type imported struct {
	skills.Skill
	skills.Judgement
	path string // from the top of the tree
	done string
	err  error
}

// importSkills puts the skills of a tree where they are found, and says how far
// each can be used. It is an error if none could be put there for one.
func (a *app) importSkills(ctx context.Context, c *treeCommand, t *checkout) error {
	list, err := skills.FindTree(t.dir, t.name)
	if err != nil {
		return fmt.Errorf("%s: %w", chat.EscapeText(c.src, 200), err)
	}
	im := skills.Importer{Dest: c.dest, Force: c.force, Link: c.link, DryRun: c.dryRun}
	if err := a.prepareDest(&im); err != nil {
		return err
	}
	top, _ := filepath.EvalSymlinks(t.dir)
	target := a.target(c)
	r := importReport{verdicts: map[string]int{}}
	for _, s := range list {
		i := imported{Skill: s, Judgement: s.Judge(target)}
		i.path, _ = filepath.Rel(top, s.Dir)
		if i.done, i.err = im.Put(ctx, s); ctx.Err() != nil {
			return ctx.Err()
		}
		r.add(&i)
		if !c.json {
			a.out.Print(i.line(c.dryRun))
		}
	}
	if c.json {
		_, err = a.print(r.json(c, im.Dest))
	} else {
		a.out.Print(r.total(len(list), im.Dest, c.dryRun))
	}
	if err != nil {
		return err
	}
	if r.put == 0 && r.failed > 0 {
		return errors.New("no skill was installed")
	}
	return nil
}

// prepareDest names the directory for skills and makes it.
func (a *app) prepareDest(im *skills.Importer) (err error) {
	perm := os.FileMode(0o755)
	if im.Dest == "" {
		if a.place.State == "" {
			return errors.New("there is no home directory; --dest DIR says where to put the skills")
		}
		im.Dest, perm = filepath.Join(a.place.State, "skills"), 0o700
	}
	if im.Dest, err = filepath.Abs(im.Dest); err != nil || im.DryRun {
		return err
	}
	return os.MkdirAll(im.Dest, perm)
}

// line tells of one skill: the verdict, the name, what was done and what there
// is to know.
func (i *imported) line(dry bool) string {
	done := i.done
	switch {
	case i.err != nil:
		done = "refused, " + i.err.Error()
	case dry && !strings.HasPrefix(done, "skipped"):
		done = "would be " + done
	}
	for _, about := range []string{i.Reason(), i.Warning} {
		if about != "" {
			done += "; " + about
		}
	}
	if i.Fault != "" {
		done += "; the model is not told of it: " + i.Fault
	}
	return chat.EscapeText(fmt.Sprintf("%s %-12s  %s: %s", i.Verdict.Label(), i.Judgement, i.Name, done), 0)
}

// importReport is the sum of an import.
type importReport struct {
	verdicts             map[string]int
	put, skipped, failed int
	items                []byte // of the JSON list
}

func (r *importReport) add(i *imported) {
	r.verdicts[i.Verdict.String()]++
	switch {
	case i.err != nil:
		r.failed++
	case strings.HasPrefix(i.done, "skipped"):
		r.skipped++
	default:
		r.put++
	}
	r.items = i.appendJSON(r.items)
}

func (r *importReport) total(n int, dest string, dry bool) string {
	var counts []string
	for v := skills.Full; v <= skills.Limited; v++ {
		if n := r.verdicts[v.String()]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, v))
		}
	}
	put := "installed in"
	if dry {
		put = "would be installed in"
	}
	text := fmt.Sprintf("%s: %s; %d %s %s", plural(n, "skill"), strings.Join(counts, ", "), r.put, put, chat.EscapeText(dest, 0))
	if r.skipped > 0 {
		text += fmt.Sprintf(", %d skipped", r.skipped)
	}
	if r.failed > 0 {
		text += fmt.Sprintf(", %d refused", r.failed)
	}
	return text
}

// appendJSON appends the object of one skill to the items of a list.
func (i *imported) appendJSON(dst []byte) []byte {
	if len(dst) > 0 {
		dst = append(dst, ',')
	}
	done, why, _ := strings.Cut(i.done, ", ")
	if i.err != nil {
		done, why = "refused", i.err.Error()
	}
	dst = append(dst, '{')
	for _, m := range [][2]string{
		{"name", i.Name}, {"path", i.path}, {"verdict", i.Verdict.String()}, {"reason", i.Reason()}, {"result", done}, {"why", why},
		{"fault", i.Fault}, {"warning", i.Warning},
	} {
		dst = jsonenc.AppendString(jsonenc.AppendKey(dst, m[0]), m[1])
	}
	dst = appendStrings(jsonenc.AppendKey(dst, "lacks"), i.Lacks)
	dst = appendStrings(jsonenc.AppendKey(dst, "uses"), i.Uses)
	return append(dst, '}')
}

// json is the whole report on one line.
func (r *importReport) json(c *treeCommand, dest string) string {
	dst := jsonenc.AppendString(jsonenc.AppendKey([]byte{'{'}, "source"), shownURL(c.src))
	dst = jsonenc.AppendString(jsonenc.AppendKey(dst, "dest"), dest)
	dst = jsonenc.AppendBool(jsonenc.AppendKey(dst, "dry_run"), c.dryRun)
	dst = append(append(append(jsonenc.AppendKey(dst, "skills"), '['), r.items...), ']')
	dst = append(jsonenc.AppendKey(dst, "total"), '{')
	for v := skills.Full; v <= skills.Limited; v++ {
		dst = appendCount(dst, v.String(), r.verdicts[v.String()])
	}
	dst = appendCount(dst, "installed", r.put)
	dst = appendCount(dst, "skipped", r.skipped)
	return string(appendCount(dst, "refused", r.failed)) + "}}\n"
}

func appendCount(dst []byte, key string, n int) []byte {
	return jsonenc.AppendInt(jsonenc.AppendKey(dst, key), int64(n))
}

func appendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonenc.AppendString(dst, s)
	}
	return append(dst, ']')
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
