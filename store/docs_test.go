package store

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The manual's tables are those of the list of keys, row by row.
func TestManualListsTheKeys(t *testing.T) {
	manual := string(must(os.ReadFile("../docs/config.md")))
	var want, got [2][]string
	for _, k := range Keys() {
		def := "none"
		if k.Default != "" {
			def = "`" + k.Default + "`"
		}
		row := fmt.Sprintf("| `%s` | %s | %s | %s | %s |", k.Name, k.Kind, def, k.Tier, k.Doc)
		table := 0
		if k.Later {
			table = 1
		}
		want[table] = append(want[table], row)
	}
	table := 0
	for _, line := range strings.Split(manual, "\n") {
		if line == "## Keys that nothing reads yet" {
			table = 1
		}
		if strings.HasPrefix(line, "| `") && strings.Count(line, " | ") == 4 {
			got[table] = append(got[table], line)
		}
	}
	for i := range want {
		for n, row := range want[i] {
			if n >= len(got[i]) || got[i][n] != row {
				t.Errorf("docs/config.md lacks the row\n%s", row)
				break
			}
		}
		if len(got[i]) > len(want[i]) {
			t.Errorf("docs/config.md has %d rows for %d keys in table %d", len(got[i]), len(want[i]), i+1)
		}
	}
}
