package provider

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// errNoRoots says that the device has no list of authorities to trust.
var errNoRoots = errors.New("no CA certificates on this device: install ca-bundle (opkg install ca-bundle, apk add ca-bundle), or set ca_file")

// roots verifies servers against the device's certificate bundle. Go's own
// verification parses the whole bundle first, which on a MIPS router takes
// longer than the handshake; here only those authorities are parsed that the
// server's chain names, and the bundle is read once. What is checked is the
// same.
type roots struct {
	caFile   string // extra PEM file, or ""
	sessions tls.ClientSessionCache
	now      func() time.Time

	once   sync.Once // a dial may outlive its request and meet the next one here
	bundle []byte
	err    error // why nothing could be read
}

func newRoots(caFile string) *roots {
	return &roots{caFile: caFile, sessions: tls.NewLRUClientSessionCache(4), now: time.Now}
}

// bundles are the places of the bundle, after SSL_CERT_FILE; the first that
// can be read counts.
var bundles = []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/cert.pem"}

// TLS checks the certificates of other servers than the model's in the same
// way. The function gives the configuration for a host, a name or an address;
// the device's bundle and caFile, "" for none, are read when they are first
// needed.
func TLS(caFile string) func(host string) *tls.Config {
	shared := newRoots(caFile)
	return func(host string) *tls.Config { return shared.config(host, false) }
}

// config is the TLS configuration for a host. The check is verify, which
// runs for every connection; unchecked is for a server on the local network
// whose user asked for it.
func (r *roots) config(host string, unchecked bool) *tls.Config {
	return &tls.Config{
		InsecureSkipVerify: true, // the check is VerifyConnection
		ClientSessionCache: r.sessions,
		VerifyConnection: func(s tls.ConnectionState) error {
			if unchecked {
				return nil
			}
			return r.verify(s, host)
		},
	}
}

// verify checks the chain that a server showed. An address is not sent to the
// server, so the state does not have it, but checked all the same.
func (r *roots) verify(s tls.ConnectionState, host string) error {
	if len(s.PeerCertificates) == 0 {
		return errors.New("the server showed no certificate")
	}
	pool, err := r.poolFor(s.PeerCertificates)
	if err != nil {
		return err
	}
	between := x509.NewCertPool()
	for _, c := range s.PeerCertificates[1:] {
		between.AddCert(c)
	}
	name := s.ServerName
	if name == "" {
		name = host
	}
	_, err = s.PeerCertificates[0].Verify(x509.VerifyOptions{
		DNSName: name, Roots: pool, Intermediates: between, CurrentTime: r.now(),
	})
	return err
}

// poolFor holds the authorities of the bundle that the chain names as issuers.
func (r *roots) poolFor(chain []*x509.Certificate) (*x509.CertPool, error) {
	r.once.Do(func() { r.bundle, r.err = readBundle(r.caFile) })
	if r.err != nil {
		return nil, r.err
	}
	pool := x509.NewCertPool()
	rest := r.bundle
	for {
		var b *pem.Block
		if b, rest = pem.Decode(rest); b == nil {
			return pool, nil
		}
		if b.Type != "CERTIFICATE" || !named(b.Bytes, chain) {
			continue
		}
		if c, err := x509.ParseCertificate(b.Bytes); err == nil {
			pool.AddCert(c)
		}
	}
}

// named is a quick test: an authority that issued one of the chain holds that
// issuer's name.
func named(der []byte, chain []*x509.Certificate) bool {
	for _, c := range chain {
		if bytes.Contains(der, c.RawIssuer) {
			return true
		}
	}
	return false
}

// readBundle reads the device's bundle and the user's own file.
func readBundle(caFile string) ([]byte, error) {
	var out []byte
	places := bundles
	if own := os.Getenv("SSL_CERT_FILE"); own != "" {
		places = append([]string{own}, bundles...)
	}
	for _, p := range places {
		if b, err := readPEM(p); err == nil {
			out = b
			break
		}
	}
	if caFile != "" {
		b, err := readPEM(caFile)
		if err != nil {
			return nil, fmt.Errorf("read ca_file: %w", err)
		}
		out = append(append(out, '\n'), b...)
	}
	if len(out) == 0 {
		return nil, errNoRoots
	}
	return out, nil
}

// Authorities is how many there are to check servers against: those of the
// device's bundle and of caFile, "" for none.
func Authorities(caFile string) (int, error) {
	b, err := readBundle(caFile)
	return bytes.Count(b, []byte("-----BEGIN CERTIFICATE-----")), err
}

// maxBundle is the most that is read of a PEM file; a whole bundle has 220 KB.
const maxBundle = 4 << 20

func readPEM(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxBundle {
		return nil, fmt.Errorf("%s is no certificate file", path)
	}
	b, err := os.ReadFile(path)
	if err == nil && !bytes.Contains(b, []byte("-----BEGIN CERTIFICATE-----")) {
		err = fmt.Errorf("%s holds no certificate", path)
	}
	return b, err
}
