package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"time"
)

// SelfSigned makes a certificate for 127.0.0.1, valid for a day from then on, and
// writes it, without its key, to a temporary file for clients to trust.
func SelfSigned(from time.Time) (file string, conf *tls.Config, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    from.Add(-time.Hour), NotAfter: from.Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:        true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return "", nil, err
	}
	f, err := os.CreateTemp("", "stand-in-*.pem")
	if err != nil {
		return "", nil, err
	}
	if err = pem.Encode(f, &pem.Block{Type: "CERTIFICATE", Bytes: der}); err == nil {
		err = f.Close()
	}
	if err != nil {
		return "", nil, err
	}
	return f.Name(), &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, nil
}
