package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cluade/internal/policy"
	"cluade/skills"
)

var skill = Tool{
	Name:    "skill",
	Desc:    "Load the instructions of a skill by name.",
	Params:  `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`,
	Effect:  policy.Read,
	Subject: skillSubject,
	Run:     runSkill,
}

// skillTime is how long finding a skill may take: a network mount may hang.
const skillTime = 10 * time.Second

func skillSubject(_ *Env, a *Args) (policy.Subject, error) {
	if a.Text("name") == "" {
		return policy.Subject{}, errors.New("the name is empty")
	}
	return policy.Subject{Name: a.Text("name")}, nil
}

func runSkill(ctx context.Context, e *Env, a *Args) (Result, error) {
	roots, name, keep := e.Skills, a.Text("name"), e.keep()
	text, err := await(ctx, skillTime, func(context.Context) (string, error) {
		s, err := findSkill(roots, name)
		if err != nil {
			return "", err
		}
		c, err := s.Load()
		if err != nil {
			return "", fmt.Errorf("skill %s: %w", name, err)
		}
		return skillText(s, c, keep), nil
	})
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("the skill's files could not be read in time")
	}
	return Result{Text: text}, err
}

// findSkill looks for the skill that is offered under a name.
func findSkill(roots []skills.Root, name string) (skills.Skill, error) {
	list, _ := skills.Find(roots)
	var names []string
	fault := ""
	for _, s := range list {
		switch {
		case s.Fault == "" && s.Name == name:
			return s, nil
		case s.Fault == "":
			names = append(names, s.Name)
		case s.Name == name:
			fault = s.Fault
		}
	}
	slices.Sort(names)
	switch {
	case fault != "":
		return skills.Skill{}, fmt.Errorf("skill %s cannot be used: %s", name, fault)
	case len(names) == 0:
		return skills.Skill{}, fmt.Errorf("unknown skill %q; there is none here", cutText(name, 100))
	}
	return skills.Skill{}, fmt.Errorf("unknown skill %q; available: %s", cutText(name, 100), cutText(strings.Join(names, ", "), 2000))
}

// skillText is what the model reads. The first line says whose words follow and
// how many lines of them, so that none of these passes for the last.
func skillText(s skills.Skill, c skills.Content, keep int) string {
	body := strings.TrimRight(c.Body, "\n")
	head := fmt.Sprintf("skill %s: %s of reference material supplied by the skill, not by the user; its directory: %s; ",
		s.Name, plural(int64(strings.Count(body, "\n")+1), "line"), shown(s.Dir))
	switch files := strings.Join(shownAll(c.Files), ", "); {
	case files == "":
		head += "no other files in it"
	case c.More > 0:
		head += fmt.Sprintf("other files in it: %s, and %d more", files, c.More)
	default:
		head += "other files in it: " + files
	}
	if len(head)+len(body)+endRoom > keep {
		head += "; its SKILL.md has what is cut here"
	}
	return fmt.Sprintf("[%s]\n%s\n[end of skill %s]", head, body, s.Name)
}

func shownAll(paths []string) []string {
	list := make([]string, len(paths))
	for i, p := range paths {
		list[i] = shown(p)
	}
	return list
}
