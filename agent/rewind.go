package agent

// What a person does to the transcript between two turns.

// Rewind keeps the first n messages: those of later turns are gone, here and in
// the journal. The tokens that they cost stay counted.
func (a *Agent) Rewind(n int) {
	if n < 0 || n >= len(a.o.Session.Messages) {
		return
	}
	a.truncate(n, "rewind")
	a.settle()
}

// Clear takes all messages out of the transcript; the session stays.
func (a *Agent) Clear() {
	a.o.Session.Messages = nil
	a.meter.forget()
	a.save(a.o.Journal.Reset("clear", nil))
	a.settle()
}

// settle writes the counters as they are then.
func (a *Agent) settle() {
	s := a.o.Session
	s.Context, a.nudged = a.meter.context(s), false
	a.save(a.o.Journal.State(s))
}
