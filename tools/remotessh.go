package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"cluade/internal/policy"
)

// SSH is how other hosts are reached. A duration of 0 is the default.
type SSH struct {
	IdentityFiles  []string // private keys for every host; none: the usual ones
	KnownHosts     string   // host keys, read beside ~/.ssh/known_hosts, and where new ones are recorded; "" does not record
	Config         string   // configuration in OpenSSH's format; "" none
	ConnectTimeout time.Duration
	Timeout        time.Duration // of a command, unless the call says otherwise
	Strict         bool          // refuse hosts that are not known
	Legacy         bool          // algorithms that are no longer thought safe, too
	Agent          string        // socket of an ssh-agent; "" none

	// Met is asked where the path of a file on another host turns out to lead
	// elsewhere, with the call and what it met; nil allows all.
	Met func(by, s policy.Subject) policy.Decision
}

const (
	connectTimeout = 10 * time.Second
	aliveTimeout   = 5 * time.Second // for a kept connection to show that it still is one
	maxConnections = 16
	keysAtOnce     = 5 // sshd closes the connection at the sixth key that it does not take
	maxKeys        = 20
)

// remotes are the connections of a session and what was learnt on the way.
type remotes struct {
	conns    []*connection // the last one used comes last
	accepted map[string][]ssh.PublicKey
	seen     map[string]string // hashes of files that the model knows, by host and path
}

// connection is a login on one host. It is used by one call at a time.
type connection struct {
	route  string
	target target
	client *ssh.Client
}

func (c *connection) close() { c.client.Close() }

// alive says whether the other side still answers. What it answers does not
// matter.
func (c *connection) alive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, aliveTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, c.close)()
	_, _, err := c.client.SendRequest("keepalive@openssh.com", true, nil)
	return err == nil
}

// Close ends what the session keeps open outside of this process: the
// connections to other hosts. The Env can be used again.
func (e *Env) Close() {
	if e.remote == nil {
		return
	}
	for i := len(e.remote.conns) - 1; i >= 0; i-- { // what goes through a jump host before the jump host
		e.remote.conns[i].close()
	}
	e.remote.conns = nil
}

// kept takes a connection out of those that are open, nil if there is none for
// this route.
func (r *remotes) kept(route string) *connection {
	for i, c := range r.conns {
		if c.route == route {
			r.conns = append(r.conns[:i], r.conns[i+1:]...)
			return c
		}
	}
	return nil
}

// keep puts a connection with those that are open. The one longest unused goes
// where they become too many.
func (r *remotes) keep(c *connection) {
	if len(r.conns) == maxConnections {
		r.conns[0].close()
		r.conns = r.conns[1:]
	}
	r.conns = append(r.conns, c)
}

// connect returns the connection for a route: the one that is open if it still
// works, else a new one, through the connection to the jump host before it.
// notes are sentences that the model has to be told, also after an error.
func (e *Env) connect(ctx context.Context, way route) (c *connection, notes []string, err error) {
	if e.remote == nil {
		e.remote = &remotes{accepted: make(map[string][]ssh.PublicKey)}
	}
	if c = e.remote.kept(way.String()); c != nil {
		if c.alive(ctx) {
			e.remote.keep(c)
			return c, nil, nil
		}
		c.close()
	}
	var via *connection
	if len(way) > 1 {
		before := way[:len(way)-1]
		if via, notes, err = e.connect(ctx, before); err != nil {
			return nil, notes, fmt.Errorf("jump host %s: %w", before.target(), err)
		}
	}
	l := login{env: e, hop: way[len(way)-1], via: via}
	client, note, err := l.run(ctx)
	if note != "" {
		notes = append(notes, note)
		if e.Tell != nil {
			e.Tell(note)
		}
	}
	if err != nil {
		return nil, notes, err
	}
	c = &connection{way.String(), way.target(), client}
	e.remote.keep(c)
	return c, notes, nil
}

// login is the way to one open connection.
type login struct {
	env  *Env
	hop  hop
	via  *connection // nil: dialled from here
	keys *keyring
}

// run connects and tries the keys, a few at a time: servers count the ones
// that they do not take and hang up.
func (l *login) run(ctx context.Context) (client *ssh.Client, note string, err error) {
	l.keys = l.env.keysFor(l.hop)
	defer l.keys.close()
	if len(l.keys.keys) > maxKeys {
		l.keys.keys = l.keys.keys[:maxKeys]
	}
	for tried := 0; ; {
		next := min(tried+keysAtOnce, len(l.keys.keys))
		client, news, err := l.attempt(ctx, l.keys.keys[tried:next])
		if news.note != "" {
			note = news.note
		}
		tried = next
		switch {
		case err == nil:
			return client, note, nil
		case news.key == nil || ctx.Err() != nil || isTimeout(err):
			return nil, note, err
		case tried == len(l.keys.keys):
			return nil, note, l.refused(err)
		}
	}
}

// limit is how long one attempt may take.
func (l *login) limit() time.Duration {
	if l.env.SSH.ConnectTimeout > 0 {
		return l.env.SSH.ConnectTimeout
	}
	return connectTimeout
}

// errConnectTime is the cause of a context that ended the connecting.
type errConnectTime time.Duration

func (e errConnectTime) Error() string {
	return fmt.Sprintf("connecting timed out after %gs", time.Duration(e).Seconds())
}

func isTimeout(err error) bool {
	var t errConnectTime
	return errors.As(err, &t)
}

// attempt makes one connection and tries some keys. news says what came of the
// host key; where it has none, it was not so much as shown, or refused.
func (l *login) attempt(ctx context.Context, keys []identity) (*ssh.Client, hostNews, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, l.limit(), errConnectTime(l.limit()))
	defer cancel()
	check, err := l.newCheck()
	if err != nil {
		return nil, hostNews{}, err
	}
	conn, err := l.dial(ctx)
	if err != nil {
		return nil, hostNews{}, l.reason(ctx, err)
	}
	// An agent may wait for its owner; so it is not only the host that can hang.
	stop := context.AfterFunc(ctx, func() {
		conn.Close()
		l.keys.close()
	})
	c, chans, reqs, err := ssh.NewClientConn(conn, l.hop.addr(), l.config(check, keys))
	ended := !stop()
	if err == nil && ended {
		c.Close()
		err = context.Cause(ctx)
	}
	var news hostNews
	select {
	case news = <-check.news:
		l.remember(news)
	default:
	}
	if err != nil {
		return nil, news, l.reason(ctx, err)
	}
	return ssh.NewClient(c, chans, reqs), news, nil
}

func (l *login) dial(ctx context.Context) (net.Conn, error) {
	if l.via != nil {
		return l.via.client.DialContext(ctx, "tcp", l.hop.addr())
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", l.hop.addr())
}

// filed is the host as its key is filed: an alias goes without a port.
func (l *login) filed() target {
	if l.hop.alias == "" {
		return l.hop.target
	}
	return target{l.hop.user, l.hop.alias, sshPort}
}

// newCheck reads the keys on file anew: the person may just have changed them.
func (l *login) newCheck() (*hostCheck, error) {
	e, t := l.env, l.filed()
	files := l.hop.known
	if files == nil && e.Home != "" {
		files = []string{filepath.Join(e.Home, ".ssh", "known_hosts")}
	}
	files = append(files[:len(files):len(files)], "/etc/ssh/ssh_known_hosts")
	record := e.SSH.KnownHosts
	if !filepath.IsAbs(record) { // "", or below a home that there is not
		record = ""
	} else {
		files = append(files, record)
	}
	known, err := lookUp(t, files)
	if err != nil {
		return nil, err
	}
	for _, key := range e.remote.accepted[knownName(t)] {
		known.own = append(known.own, hostKey{key: key, where: "this session"})
	}
	return &hostCheck{target: t, known: known, strict: e.SSH.Strict, file: record, news: make(chan hostNews, 1)}, nil
}

// remember keeps a key that was accepted even where it could not be recorded.
func (l *login) remember(n hostNews) {
	if n.note != "" {
		name := knownName(l.filed())
		l.env.remote.accepted[name] = append(l.env.remote.accepted[name], n.key)
	}
}

func (l *login) config(check *hostCheck, keys []identity) *ssh.ClientConfig {
	legacy := l.env.SSH.Legacy
	algos := ssh.SupportedAlgorithms()
	if legacy {
		old := ssh.InsecureAlgorithms()
		algos.KeyExchanges = append(algos.KeyExchanges, old.KeyExchanges...)
		algos.Ciphers = append(algos.Ciphers, old.Ciphers...)
		algos.MACs = append(algos.MACs, old.MACs...)
	}
	var signers []ssh.Signer
	for _, k := range keys {
		signers = append(signers, k.signer)
	}
	return &ssh.ClientConfig{
		Config:            ssh.Config{KeyExchanges: algos.KeyExchanges, Ciphers: algos.Ciphers, MACs: algos.MACs},
		User:              l.hop.user,
		Auth:              []ssh.AuthMethod{ssh.PublicKeys(signers...)},
		HostKeyCallback:   check.verify,
		HostKeyAlgorithms: check.known.algorithms(legacy),
		ClientVersion:     "SSH-2.0-cluade",
	}
}

// reason words an error of connecting.
func (l *login) reason(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var late net.Error
	var name *net.DNSError
	var rejected *ssh.OpenChannelError
	var algos *ssh.AlgorithmNegotiationError
	switch {
	case errors.As(err, &name):
		if name.IsNotFound {
			return fmt.Errorf("no address is known for the name %s", l.hop.host)
		}
		return fmt.Errorf("look up %s: %s", l.hop.host, name.Err)
	case errors.As(err, &late) && late.Timeout(): // the dialler has the same limit and may be first
		return errConnectTime(l.limit())
	case errors.As(err, &rejected):
		return fmt.Errorf("the jump host %s cannot connect: %s", l.via.target, cutText(rejected.Message, 200))
	case errors.As(err, &algos):
		hint := ""
		if !l.env.SSH.Legacy {
			hint = "; ssh.legacy in the configuration allows old ones"
		}
		return fmt.Errorf("no %s algorithm is shared; the host offers %s%s", algos.What, cutText(strings.Join(algos.RequestedAlgorithms, ", "), 300), hint)
	case errors.Is(err, io.EOF):
		return errors.New("the host closed the connection before login")
	}
	text := errnoText(err)
	for _, lead := range []string{"ssh: handshake failed: ", "ssh: "} {
		text = strings.TrimPrefix(text, lead)
	}
	return errors.New(cutText(text, 1000))
}

// refused says why the login failed although the host is the right one.
func (l *login) refused(err error) error {
	text := err.Error()
	var tried []string
	for _, k := range l.keys.keys {
		tried = append(tried, k.name)
	}
	switch {
	case len(tried) == 0:
		text = "there is no private key to log in with"
	case strings.Contains(text, "unable to authenticate") && !strings.Contains(text, "publickey"):
		text = "the host does not let " + l.hop.user + " in with a public key alone"
	case strings.Contains(text, "unable to authenticate"):
		text = "the host accepts no key of ours for " + l.hop.user
	}
	for _, list := range []struct {
		what  string
		names []string
	}{{"tried", tried}, {"cannot be used", l.keys.unfit}, {"not there", l.keys.absent}} {
		if len(list.names) > 0 {
			text += "; " + list.what + ": " + strings.Join(list.names, ", ")
		}
	}
	return errors.New(text)
}
