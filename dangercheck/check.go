// Package dangercheck names shell commands that cannot be undone: those that
// destroy the system, its storage or its flash, stop it, run what a download
// says, or cut the administrator off. It reads text and nothing else, and it
// reports, it never acts.
//
// It is a net for accidents, not a wall. It follows quoting, literal
// assignments, cd, wrappers, pipelines and here-documents; it does not follow
// values that the text does not tell, files, encodings, or programs in other
// languages beyond the literal commands that they start. What it cannot understand passes, and it never panics.
//
// The same scanner cuts commands up for permission rules (Split) and tells
// which only look (ReadOnly). Those two err the other way: what they cannot
// understand is not plain, and does not only look.
package dangercheck

import (
	"cmp"
	"strings"
)

// The classes, as they are named in findings and exemptions.
const (
	RmRoot       = "rm-root"         // recursive removal of a system directory or a home
	DdDevice     = "dd-device"       // dd onto a device
	Redirect     = "redirect-device" // any other write onto a raw disk
	Mkfs         = "mkfs"            // a new file system
	Power        = "power"           // the box stops or restarts
	ForkBomb     = "forkbomb"        // a function that starts itself without end
	DownloadExec = "download-exec"   // a shell runs what was downloaded
	Flash        = "flash"           // firmware, boot loader, factory reset
	Disk         = "disk"            // partition tables, signatures, whole disks
	OwnState     = "own-state"       // the files that say what cluade may do
	Lockout      = "lockout"         // the administrator loses the way in
)

// Classes lists every class.
func Classes() []string {
	return []string{RmRoot, DdDevice, Redirect, Mkfs, Power, ForkBomb, DownloadExec, Flash, Disk, OwnState, Lockout}
}

const (
	maxText     = 64 << 10 // a longer command is judged by its first part
	maxWork     = 1 << 20  // bytes handled for one text, with a share for each command and word
	commandCost = 32
	valueCost   = 16
	maxFindings = 32
	maxNested   = 2 * maxDepth // a text and the shell that runs it are a level each
)

// Options say where a command would run. The zero value judges by the text
// alone, without the class lockout.
type Options struct {
	Dir     string   // working directory, absolute; counts as a cd before the first word
	Home    string   // the home directory, absolute
	State   string   // cluade's state directory, absolute, if it is not ~/.cluade
	Login   bool     // Dir is not told, but is the home of whoever logs in
	Lockout bool     // judge what cuts the administrator off
	Exempt  []string // classes not reported
}

// Finding is one dangerous command. Start and End are the byte offsets of the
// command in the text that was checked.
type Finding struct {
	Class, Reason string
	Start, End    int
}

// Check returns what is dangerous in a command, in the order in which it would
// run; nil if nothing was found.
func Check(cmd string, o Options) []Finding {
	if len(cmd) > maxText {
		cmd = cmd[:maxText]
	}
	c := checker{o: o, work: maxWork}
	s := topScope()
	s.dir = o.Dir
	s.set("CLUADE_HOME", value{s: cmp.Or(o.State, home+"/.cluade")})
	c.text(hideMarks(cmd), false, s, fact{})
	return c.found
}

// checker is one run over a text.
type checker struct {
	o       Options
	found   []Finding
	funcs   map[string]*definition
	seen    func(args []value) // told of every command that would run; may be nil
	work    int                // what is left of maxWork; nothing is followed below 0
	aliased bool               // the text makes an alias
	again   int                // functions that called themselves
	depth   int                // texts, functions and commands run by others, one within the other
	cut     bool               // not all that would run was followed
	joined  bool               // a further form of the text is judged
	fixed   bool               // start and end stay those of the outermost command
	start   int
	end     int
}

// spend takes n from the work that is left and reports whether there was
// enough. It is what keeps the time linear, whatever the text multiplies.
func (c *checker) spend(n int) bool {
	c.work -= n
	return c.work >= 0
}

// enter begins a level of depth and reports whether it may; leave ends it.
func (c *checker) enter() bool {
	if c.depth >= maxNested || c.work < 0 {
		c.cut = c.cut || c.again == 0
		return false
	}
	c.depth++
	return true
}

func (c *checker) leave() { c.depth-- }

func (c *checker) report(class, reason string) {
	if class == Lockout && !c.o.Lockout || len(c.found) >= maxFindings {
		return
	}
	for _, x := range c.o.Exempt {
		if x == class {
			return
		}
	}
	for _, f := range c.found {
		if f.Class == class && (f.Start == c.start || c.joined) {
			return
		}
	}
	c.found = append(c.found, Finding{class, strings.ReplaceAll(show(reason), "\n", " "), c.start, c.end})
}

// show makes marks readable.
func show(s string) string {
	if !hasControl(s) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; c {
		case markHome:
			b.WriteByte('~')
		case markPwd:
			b.WriteByte('.')
		case markUnknown, 0:
			b.WriteString("...")
		default:
			b.WriteString(plain(s[i : i+1]))
		}
	}
	return b.String()
}
