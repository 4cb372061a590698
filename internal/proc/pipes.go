package proc

import (
	"fmt"
	"io"
	"os"
	"time"
)

// connect opens the files of a child: theirs are for it, in the order of its
// descriptors, our ends go to c. After an error a part of both is there.
func (c *child) connect(s *Spec) (theirs []*os.File, err error) {
	in, err := c.openInput(s.Stdin)
	if err != nil {
		return nil, err
	}
	out, w, err := newPipe()
	if err != nil {
		return []*os.File{in}, err
	}
	c.out = out
	theirs = []*os.File{in, w, w}
	if s.Stderr != nil {
		if theirs[2], err = c.openSide(s.Stderr); err != nil {
			return theirs[:2], err
		}
	}
	if s.Report != nil {
		report, err := c.openSide(s.Report)
		return append(theirs, report), err
	}
	return theirs, nil
}

// disconnect closes our ends of a child that was not started.
func (c *child) disconnect() {
	closeFile(c.input)
	closeFile(c.out)
	for _, s := range c.sides {
		s.from.Close()
	}
}

func newPipe() (r, w *os.File, err error) {
	r, w, err = os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("make pipe: %w", err)
	}
	return r, w, nil
}

// openInput returns the child's standard input and, when there is something to
// feed it, sets our end of it.
func (c *child) openInput(from io.Reader) (in *os.File, err error) {
	if from != nil {
		in, c.input, err = newPipe()
		return in, err
	}
	in, err = os.Open(os.DevNull)
	if err != nil {
		return nil, fmt.Errorf("open the empty standard input: %w", err)
	}
	return in, nil
}

// feed writes the child's input. A child that does not read it, or not all of
// it, is no error; closing input from elsewhere ends the writing.
func feed(input *os.File, from io.Reader) {
	io.Copy(input, from)
	input.Close()
}

// side is an output of a child besides the one that is captured.
type side struct {
	from *os.File
	to   io.Writer
	done chan struct{}
}

func (c *child) openSide(to io.Writer) (theirs *os.File, err error) {
	from, theirs, err := newPipe()
	if err == nil {
		c.sides = append(c.sides, &side{from, to, make(chan struct{})})
	}
	return theirs, err
}

// copy reads to the end, or until from gets a deadline. What the writer does
// not want is thrown away: a full pipe would stop the child.
func (s *side) copy() {
	defer close(s.done)
	if _, err := io.Copy(s.to, s.from); err != nil {
		io.Copy(io.Discard, s.from)
	}
}

// end returns when everything was read that the child wrote. Somebody else may
// hold the pipe open, so there is a limit.
func (s *side) end() {
	s.from.SetReadDeadline(time.Now().Add(holdTime))
	<-s.done
	s.from.Close()
}

func closeFile(f *os.File) {
	if f != nil {
		f.Close()
	}
}
