package dangercheck

import "strings"

// spawners are the functions by which other languages start a command. The
// strings behind them are shell text, if there is one, else the command's words.
const spawners = "system popen popen2 popen3 Popen exec execl execlp execv execvp execute execSync execFileSync spawn spawnSync spawnlp " +
	"run call check_call check_output getoutput getstatusoutput shell_exec passthru"

// oneLiner judges the commands that the text of a program in another language
// starts by literal strings.
func (k *call) oneLiner(text string) {
	for k.c.spend(commandCost) {
		i := strings.IndexAny(text, `"'`)
		if i < 0 {
			return
		}
		before := strings.TrimRight(text[:i], " \t\n([")
		name := before[strings.LastIndexAny(before, " \t\n.;:=(){}[]&|!,>")+1:]
		var cmd string
		cmd, text = literals(text[i:])
		if name == "rmtree" {
			cmd = "rm -rf " + cmd
		} else if next := strings.TrimLeft(text, " "); hasPrefix(next, "|getline", "| getline", `| "sh`, `| "bash`, `| "/bin/`) { // awk
			cmd = strings.TrimSuffix(cmd, "$_")
		} else if !hasWord(spawners, name) && (before == "" || before[len(before)-1] != '|') {
			continue
		}
		k.apart(cmd)
	}
}

// literals returns the strings that a text begins with, as shell text, and what
// follows them.
func literals(text string) (cmd, rest string) {
	words := ""
	for n := range maxInputs {
		next := strings.TrimLeft(text, " \t\n([,")
		if next == "" || next[0] != '"' && next[0] != '\'' {
			break
		}
		end := 1
		for end < len(next) && next[end] != next[0] {
			if next[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end, len(next))
		cmd, text = next[1:end], next[min(end+1, len(next)):]
		if more := strings.TrimLeft(text, " \t\n"); more != "" && strings.IndexByte("),];}", more[0]) < 0 {
			cmd += "$_" // it goes on with what is not told
		}
		words += " '" + cmd + "'"
		if n > 0 {
			cmd = words
		}
	}
	return cmd, text
}
