package tools

import (
	"bufio"
	"encoding/hex"
	"io"
	"io/fs"
	"strconv"
	"strings"
)

// The log of a turn is a list of records, each a line of fields with the bytes
// that the line counts behind it:
//
//	turn MODE UID GID SIZE HASH "PATH"     the bytes are the input
//	file ...                               its old content
//	made ...                               the directories made for it, NUL between
//	lost ...                               why its old content is not here
//	again ...                              it was changed once more
//	mixed ...                              the same, after something else had changed it
//	not ...                                the change did not come about
//
// HASH is what the file then held (SHA-256), before which it is written: where
// the power fails between the two, the file is the old one. What follows a record
// that is not whole does not count.
const (
	recordTurn  = "turn"
	recordFile  = "file"
	recordMade  = "made"
	recordLost  = "lost"
	recordAgain = "again"
	recordMixed = "mixed"
	recordNot   = "not"
)

// maxUndoLog bounds what is read of a log.
const maxUndoLog = 80 << 20

func (s *snapshot) kind() string {
	switch {
	case s.lost != "":
		return recordLost
	case s.made:
		return recordMade
	}
	return recordFile
}

// log hands one snapshot to Log, behind the record of the turn if it is the
// first of it.
func (r *Rewind) log(t *rewindTurn, kind string, s *snapshot) {
	if r.Log == nil {
		return
	}
	first := r.logged == 0
	var b []byte
	if first {
		b = appendRecord(b, recordTurn, &snapshot{}, cutText(t.Input, 200))
	}
	data := ""
	switch kind {
	case recordFile:
		data = string(s.data)
	case recordMade:
		data = strings.Join(s.dirs, "\x00")
	case recordLost:
		data = s.lost
	}
	if kind == recordFile && r.logged+len(data) > r.Max {
		kind, data = recordLost, "there was no room to keep it"
	}
	b = appendRecord(b, kind, s, data)
	r.logged += len(b)
	r.Log(b, first)
}

func appendRecord(b []byte, kind string, s *snapshot, data string) []byte {
	b = append(b, kind...)
	for _, n := range []int{int(s.owner.mode), s.owner.uid, s.owner.gid, len(data)} {
		b = strconv.AppendInt(append(b, ' '), int64(n), 10)
	}
	b = hex.AppendEncode(append(b, ' '), s.left[:])
	b = strconv.AppendQuote(append(b, ' '), s.real)
	return append(append(append(b, '\n'), data...), '\n')
}

// ReadRewind makes a Rewind with the one turn of a log.
func ReadRewind(in io.Reader) *Rewind {
	r := &Rewind{Max: maxUndoLog}
	lines := bufio.NewReaderSize(io.LimitReader(in, maxUndoLog), 32<<10)
	for {
		kind, s, data, ok := readRecord(lines)
		if !ok || (kind == recordTurn) != (len(r.turns) == 0) {
			break
		}
		if kind == recordTurn {
			r.turns = []rewindTurn{{Turn: Turn{Start: -1, Input: string(data)}}}
			continue
		}
		r.turns[0].take(kind, s, data)
	}
	return r
}

func (t *rewindTurn) take(kind string, s *snapshot, data []byte) {
	switch kind {
	case recordFile:
		s.data = data
	case recordMade:
		s.made = true
		if len(data) > 0 {
			s.dirs = strings.Split(string(data), "\x00")
		}
	case recordLost:
		s.lost = string(data)
	case recordAgain, recordMixed, recordNot:
		if i := t.find(s.real); i >= 0 {
			old := t.files[i]
			old.left, old.mixed = s.left, old.mixed || kind == recordMixed
			if kind == recordNot {
				t.files = append(t.files[:i], t.files[i+1:]...)
			}
		}
		return
	default:
		return
	}
	t.files = append(t.files, s)
}

// readRecord reads the next record; ok is false at the end and where it is not
// whole.
func readRecord(in *bufio.Reader) (kind string, s *snapshot, data []byte, ok bool) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return "", nil, nil, false
	}
	f := strings.SplitN(strings.TrimSuffix(string(line), "\n"), " ", 7)
	if len(f) != 7 {
		return "", nil, nil, false
	}
	var n [4]int64
	for i := range n {
		if n[i], err = strconv.ParseInt(f[i+1], 10, 64); err != nil {
			return "", nil, nil, false
		}
	}
	s = &snapshot{owner: owner{fs.FileMode(n[0]), int(n[1]), int(n[2])}}
	hash, hashErr := hex.DecodeString(f[5])
	if s.real, err = strconv.Unquote(f[6]); err != nil || hashErr != nil || copy(s.left[:], hash) != len(s.left) || n[3] < 0 || n[3] > maxFile {
		return "", nil, nil, false
	}
	data = make([]byte, n[3]+1)
	if _, err := io.ReadFull(in, data); err != nil || data[n[3]] != '\n' {
		return "", nil, nil, false
	}
	return f[0], s, data[:n[3]], true
}
