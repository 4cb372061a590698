package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cluade/internal/chat"
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
		return fmt.Errorf("%s: %w", shownSource(c.src), err)
	}
	im := skills.Importer{Dest: c.dest, Force: c.has("force"), Link: c.has("link"), DryRun: c.has("dry-run")}
	if !im.DryRun {
		if err := a.makeDest(c.dest); err != nil {
			return err
		}
	}
	target := a.target(c)
	var r importReport
	for _, s := range list {
		i := imported{Skill: s, Judgement: s.Judge(target), path: s.Path()}
		if im.Link && !a.followsLink(c.dest, s.Dir) {
			i.err = errors.New("a link from there is not followed, so copy it")
		} else if i.done, i.err = im.Put(ctx, s); ctx.Err() != nil {
			return ctx.Err()
		}
		r.add(&i)
		if !c.has("json") {
			a.out.Print(i.line(im.DryRun))
		}
	}
	if c.has("json") {
		_, err = a.print(r.json(c))
	} else {
		a.out.Print(r.total(len(list), c.dest, im.DryRun))
	}
	if err != nil {
		return err
	}
	if r.put == 0 && r.failed > 0 {
		return errors.New("no skill was installed")
	}
	return nil
}

// followsLink says whether a link to the skill in dir is one when it is in dest;
// of a place that no run looks at, nothing is known.
func (a *app) followsLink(dest, dir string) bool {
	for _, r := range skills.Roots(a.place.Dir, a.place.Home, a.place.State) {
		if resolved(r.Dir) == resolved(dest) && !r.Reaches(dir) {
			return false
		}
	}
	return true
}

// nameDest makes the directory for skills an absolute path, the user's own where
// none was named.
func (a *app) nameDest(c *treeCommand) (err error) {
	if c.name != "skillimport" {
		return nil
	}
	if c.dest == "" {
		if a.place.State == "" {
			return errors.New("there is no home directory; --dest DIR says where to put the skills")
		}
		c.dest = filepath.Join(a.place.State, "skills")
	}
	c.dest, err = filepath.Abs(c.dest)
	return err
}

// makeDest makes the directory for skills. In the state directory nobody else
// looks at them.
func (a *app) makeDest(dest string) error {
	perm := os.FileMode(0o755)
	if a.place.State != "" && within(dest, a.place.State) {
		perm = 0o700
	}
	if exists(dest) && !isDir(dest) {
		return fmt.Errorf("%s is there and is no directory, or a link to none", chat.EscapeText(dest, 200))
	}
	return os.MkdirAll(dest, perm)
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
	verdicts             [4]int
	put, skipped, failed int
	items                []string // JSON objects
}

func (r *importReport) add(i *imported) {
	r.verdicts[i.Verdict]++
	switch {
	case i.err != nil:
		r.failed++
	case strings.HasPrefix(i.done, "skipped"):
		r.skipped++
	default:
		r.put++
	}
	r.items = append(r.items, i.json())
}

func (r *importReport) total(n int, dest string, dry bool) string {
	var counts []string
	for v, n := range r.verdicts {
		if n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, skills.Verdict(v)))
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

// json is the object of one skill.
func (i *imported) json() string {
	done, why, _ := strings.Cut(i.done, ", ")
	if i.err != nil {
		done, why = "refused", i.err.Error()
	}
	var o object
	o.texts("name", i.Name, "path", i.path, "verdict", i.Verdict.String(), "reason", i.Reason(), "result", done, "why", why,
		"fault", i.Fault, "warning", i.Warning)
	o.list("lacks", i.Lacks)
	o.list("uses", i.Uses)
	return o.String()
}

// json is the whole report on one line.
func (r *importReport) json(c *treeCommand) string {
	var o, total object
	total.counts("full portable partial limited installed skipped refused", r.verdicts[skills.Full], r.verdicts[skills.Portable],
		r.verdicts[skills.Partial], r.verdicts[skills.Limited], r.put, r.skipped, r.failed)
	o.texts("source", shownURL(c.src), "dest", c.dest)
	o.flag("dry_run", c.has("dry-run"))
	o.raw("skills", "["+strings.Join(r.items, ",")+"]")
	o.raw("total", total.String())
	return o.String() + "\n"
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
