package policy

import "testing"

// TestHint: the person is told all that it takes, and nothing that has no effect.
func TestHint(t *testing.T) {
	levels := func(tool string, source string) map[string]Level {
		l := Defaults()
		l[tool] = Level{Ask, source}
		return l
	}
	const (
		yes     = `-y or "permissions": {"bash": "allow"} in the configuration`
		set     = `"permissions": {"bash": "allow"} in the configuration`
		typed   = "--permission-mode default (the mode ask asks)"
		here    = "a person at a terminal"
		above   = "a person whom the run above asks"
		mode    = "the mode default in the configuration and in the run above"
		power   = `"danger_allow": ["power"] in your own configuration`
		project = ".cluade/config.json asks, which your own configuration cannot lift"
	)
	bash := func(cmd string) Subject { return Subject{Tool: "bash", Effect: Execute, Command: cmd} }
	ls, reboot := bash("ls"), bash("reboot")
	write := Subject{Tool: "write", Effect: Write, Host: "root@h:22", Paths: file("/x")}
	read := Subject{Tool: "read", Effect: Read, Host: "root@h:22", Paths: file("/x")}
	asking := Rules{Ask: rules(t, "bash(ls *)")}
	for name, tt := range map[string]struct {
		p    Policy
		s    Subject
		yes  bool
		want string
	}{
		"level":                  {Policy{Levels: levels("bash", "config.json")}, ls, false, yes + " would allow it"},
		"level, below":           {Policy{Levels: levels("bash", "config.json"), Below: true}, ls, false, set + " would allow it"},
		"level of the project":   {Policy{Levels: levels("bash", projectFile)}, ls, false, "-y (" + project + ") would allow it"},
		"the same, below":        {Policy{Levels: levels("bash", projectFile), Below: true}, ls, false, "another level in .cluade/config.json (your own configuration cannot lift it) would allow it"},
		"mode":                   {Policy{Levels: Defaults(), Mode: ModeAsk}, ls, false, typed + " would allow it"},
		"mode, below":            {Policy{Levels: Defaults(), Mode: ModeAsk, Below: true}, ls, false, mode + " would allow it"},
		"mode and level":         {Policy{Levels: levels("bash", "config.json"), Mode: ModeAsk}, ls, false, yes + ", together with " + typed + ", would allow it"},
		"mode and level, -y":     {Policy{Levels: levels("bash", "config.json"), Mode: ModeAsk}, ls, true, typed + " would allow it"},
		"danger":                 {Policy{Levels: Defaults()}, reboot, false, "only " + here + " can approve it, or " + power},
		"danger, below":          {Policy{Levels: Defaults(), Below: true}, reboot, false, "only " + above + " can approve it, or " + power},
		"danger and mode":        {Policy{Levels: Defaults(), Mode: ModeAsk}, reboot, false, "only " + here + " can approve it, or " + power + ", together with " + typed},
		"danger and level":       {Policy{Levels: levels("bash", "config.json")}, reboot, false, "only " + here + " can approve it, or " + power + ", together with " + yes},
		"danger that is allowed": {Policy{Levels: levels("bash", "config.json"), Mode: ModeAsk, Rules: Rules{Allow: rules(t, "bash(reboot)")}}, reboot, false, "only " + here + " can approve it, or " + power},
		"rule":                   {Policy{Levels: Defaults(), Rules: asking}, ls, false, "rule bash(ls *) asks (config.json), and only " + here + " can approve that"},
		"rule, below":            {Policy{Levels: levels("bash", "config.json"), Rules: asking, Below: true}, ls, false, "rule bash(ls *) asks (config.json), and only " + above + " can approve that"},
		"rule and danger":        {Policy{Levels: Defaults(), Rules: Rules{Ask: rules(t, "bash(reboot)")}}, reboot, false, "rule bash(reboot) asks (config.json), and only " + here + " can approve that"},
		"two levels": {Policy{Levels: levels("write", "config.json")}, write, false,
			`-y or "permissions": {"write": "allow", "remote_bash": "allow"} in the configuration would allow it`},
		"two levels, one without -y": {Policy{Levels: levels("read", "config.json")}, read, true, `"permissions": {"read": "allow"} in the configuration would allow it`},
	} {
		if tt.yes {
			tt.p.ApplyYes()
		}
		got := tt.p.Hint(tt.s, tt.p.Gate(tt.s, tt.p.Refuse(tt.s), WishNone))
		if want := named(&tt.s) + " was refused: " + tt.want; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
