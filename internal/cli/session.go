package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"cluade/agent"
	"cluade/internal/chat"
	"cluade/store"
)

// turn carries one input to its end under a context of its own, which Ctrl-C
// and the time limit end. It tells what went wrong, and returns it.
func (a *app) turn(ctx context.Context, input chat.Message) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if !a.oneShot() {
		defer a.watchTurn(cancel)()
	}
	if a.cfg.TimeLimit > 0 {
		var end context.CancelFunc
		ctx, end = context.WithTimeoutCause(ctx, a.cfg.TimeLimit, agent.ErrTimeLimit)
		defer end()
	}
	a.tools.Vars = a.childVars()                   // it says what this run may do now
	a.agent.SetWindow(a.client.Client().Look(ctx)) // the list of skills depends on it
	for _, n := range a.prompt.NewTurn() {
		a.out.Notice(n)
	}
	input.Content = a.mask(input.Content)
	a.tools.Rewind.Begin(len(a.session.Messages), input.Content)
	defer a.tools.Rewind.End()
	err := a.agent.Turn(ctx, input)
	var unsent *agent.UnsentError
	if errors.As(err, &unsent) {
		a.tools.Rewind.TakeBack()
	}
	if h := a.hint(err); h != "" {
		a.out.Notice("hint: " + h)
	}
	return err
}

// openSession chooses the session that the options name and begins it.
func (a *app) openSession() error {
	f := a.flags
	a.openStore()
	if a.sessions != nil && a.sessions.Shared() {
		a.notices = append(a.notices, "others can put files into the directory of sessions, and only yours in it are used; sessions_dir should name one of your own")
	}
	switch {
	case f.sessionFile != "":
		return a.openFile(f.sessionFile)
	case f.resume != "":
		return a.goOn(f.resume)
	case f.cont:
		return a.resumeLatest()
	}
	return a.start()
}

// start begins a session where the run is.
func (a *app) start() error {
	if err := a.askTrust(); err != nil {
		return err
	}
	a.newSession()
	return nil
}

// goOn resumes the session that the command line means, and says which it is.
func (a *app) goOn(id string) error {
	if err := a.resume(id); err != nil {
		return err
	}
	if a.copied = a.session.ID == ""; a.copied {
		return nil // which was said
	}
	id, name := a.session.ID, ""
	if a.session.Name != "" {
		name = " (" + a.session.Name + ")"
	}
	a.out.Notice(fmt.Sprintf("going on with session %s%s, %d messages", id, name, len(a.session.Messages)))
	return nil
}

// openStore names the sessions directory, unless nothing is to be saved.
func (a *app) openStore() {
	a.sessions = nil
	if a.flags.unsaved() && a.flags.sessionFile == "" {
		return
	}
	if a.place.State == "" {
		a.notices = append(a.notices, "there is no home directory: nothing is saved")
		return
	}
	a.sessions = store.OpenSessions(a.place, a.cfg)
	if a.key != "" {
		a.sessions.SetSecret(a.key)
	}
}

// newSession puts an empty session in the place of the present one.
func (a *app) newSession() {
	s := &chat.Session{Dir: a.place.Dir, Model: a.cfg.Model, Created: time.Now()}
	var j *store.Journal
	if a.sessions != nil {
		j = a.sessions.New(s, a.env.Version)
	}
	a.begin(s, j)
}

func (a *app) resumeLatest() error {
	err := store.ErrNoSession
	var id string
	if a.sessions != nil {
		id, err = a.sessions.Latest()
	}
	switch {
	case err == nil:
		return a.goOn(id)
	case errors.Is(err, store.ErrNoSession) && !a.oneShot():
		a.notices = append(a.notices, "there is no saved session; a new one begins")
		return a.start()
	case errors.Is(err, store.ErrNoSession):
		return errors.New("there is no saved session to go on with")
	}
	return err
}

// resume puts a saved session, named by its id or a unique prefix, in the
// place of the present one and goes to its directory. With an error the
// present one goes on as it was.
func (a *app) resume(id string) error {
	if a.sessions == nil {
		return errors.New("no sessions are kept in this run")
	}
	r, err := a.sessions.Resume(id, a.env.Version)
	if err != nil {
		return err
	}
	if err := a.moveTo(r.Session.Dir); err != nil {
		r.Journal.Close()
		return err
	}
	a.beginResumed(r)
	return nil
}

// openFile begins the session of a file that the person named.
func (a *app) openFile(path string) error {
	if a.sessions == nil {
		return errors.New("--session-file needs a home directory")
	}
	r, err := a.sessions.OpenFile(path, &chat.Session{Dir: a.place.Dir, Model: a.cfg.Model, Created: time.Now()}, a.env.Version)
	if err != nil {
		return fmt.Errorf("--session-file: %w", err)
	}
	a.beginResumed(r)
	return nil
}

// beginResumed goes on with a loaded session. Its model counts only where the
// person set none.
func (a *app) beginResumed(r *store.Resumed) {
	a.notices = append(a.notices, r.Notices...)
	if a.cfg.Source("model") == store.TierDefault && r.Session.Model != "" {
		a.cfg.Model = r.Session.Model
	}
	if !a.wrote(r.Session.Messages) {
		r.Session.Window = 0
	}
	takeModel(r.Session, a.cfg.Model)
	a.pending = r.Pending
	if r.Pending != "" && a.oneShot() {
		a.notices = append(a.notices, "the last question of the session had no answer and is left out: "+chat.EscapeText(r.Pending, 60))
	}
	a.begin(r.Session, r.Journal)
}

// wrote says whether the last reply, if there is one, came from the configured
// host.
func (a *app) wrote(msgs []chat.Message) bool {
	for i := len(msgs) - 1; i >= 0; i-- {
		if m := msgs[i]; m.Role == chat.Assistant {
			return m.Host != "" && strings.Contains(a.cfg.BaseURL+"/", "/"+m.Host+"/")
		}
	}
	return true
}

// moveTo makes dir the directory of the run, with the configuration there. A
// directory that is gone is no reason to stop.
func (a *app) moveTo(dir string) error {
	if dir == "" || dir == a.place.Dir || a.flags.here {
		return a.askTrust()
	}
	if err := os.Chdir(dir); err != nil {
		a.notices = append(a.notices, fmt.Sprintf("the session's directory cannot be used (%v), staying in %s", err, a.place.Dir))
		return a.askTrust()
	}
	if err := a.enterDir(dir); err != nil {
		return err
	}
	a.notices = append(a.notices, "working in "+dir+", where the session began")
	return nil
}

// enterDir goes to a directory and reads the configuration there. With an error
// all is as it was.
func (a *app) enterDir(dir string) error {
	old, cfg, client, rules, faults := a.place, a.cfg, a.client, a.rules, a.faults
	err := os.Chdir(dir)
	if err != nil {
		return err
	}
	a.place = findPlace(dir, a.env.Getenv)
	if err = a.configure(); err == nil {
		err = a.askTrust()
	}
	if err != nil {
		a.place, a.cfg, a.client, a.rules, a.faults = old, cfg, client, rules, faults
		return errors.Join(err, os.Chdir(old.Dir))
	}
	a.openStore()
	return nil
}

// again makes the parts of the present session anew, from a configuration that
// has changed. What a person narrowed by hand stays so.
func (a *app) again() {
	mode, stance := a.policy.Mode, a.stanceWarnings()
	if a.cfg.Source("model") == store.TierDefault && a.session.Model != "" {
		a.cfg.Model = a.session.Model
	}
	takeModel(a.session, a.cfg.Model)
	a.assemble()
	if mode != a.policy.Mode && mode.Narrower(a.policy.Mode) {
		a.setMode(mode)
	}
	now := a.stanceWarnings()
	if slices.Equal(now, stance) {
		now = nil
	}
	a.tell(now)
}

// setModel takes another model for the requests that follow. A name of the
// models object may lead to another address, with another key.
func (a *app) setModel(name string) error {
	cfg := *a.cfg
	if err := cfg.Set(store.TierFlag, "model", name); err != nil {
		return err
	}
	return a.use(&cfg)
}

// use puts a configuration in force that differs from the present one in what
// is asked of the model.
func (a *app) use(cfg *store.Config) error {
	if cfg.BaseURL == a.cfg.BaseURL && cfg.Thinking == a.cfg.Thinking && cfg.Effort == a.cfg.Effort {
		a.client.SetModel(cfg.Model)
	} else {
		key, from, withheld, err := a.credential(cfg)
		if err != nil {
			return err
		}
		client, err := a.connect(cfg, key)
		if err != nil {
			return err
		}
		if withheld != "" {
			a.out.Warn(withheld)
		}
		a.client.Close()
		a.client = client
		a.useKey(key, from)
	}
	a.cfg = cfg
	takeModel(a.session, cfg.Model)
	return nil
}

// takeModel makes model that of the session. The window of another is not known.
func takeModel(s *chat.Session, model string) {
	if s.Model != model {
		s.Model, s.Window = model, 0
	}
}

// endpoint is the client of the moment: setModel may exchange it under a
// session that goes on.
type endpoint struct{ a *app }

func (e endpoint) Chat(ctx context.Context, req chat.Request, onDelta func(chat.Delta)) (chat.Reply, error) {
	return e.a.client.Chat(ctx, req, onDelta)
}

func (a *app) endSession() {
	a.prune()
	if a.copied && a.oneShot() && a.session.ID != "" {
		a.out.Notice("the copy is session " + a.session.ID)
	}
	if a.journal != nil {
		a.journal.Close()
	}
	if a.tools != nil {
		a.endJobs()
		a.tools.Close()
	}
}

// endJobs ends what runs in the background for the conversation, which is over.
func (a *app) endJobs() {
	if ended := a.tools.EndJobs(); len(ended) > 0 {
		a.out.Notice("background jobs were ended: " + chat.EscapeText(strings.Join(ended, ", "), 600))
	}
}
