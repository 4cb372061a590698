package tools

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"syscall"
	"time"
)

// explain says of a failed fetch what a person would want to know.
func explain(ctx context.Context, u *url.URL, err error) error {
	var refused refusal
	var dns *net.DNSError
	var plain tls.RecordHeaderError
	host := u.Hostname()
	switch {
	case errors.As(err, &refused):
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Errorf("no such host: %s", dns.Name)
	case errors.As(err, &dns):
		return fmt.Errorf("the name %s cannot be resolved: %s; see /etc/resolv.conf", dns.Name, dns.Err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("connection refused by %s", u.Host)
	case errors.As(err, &plain):
		return fmt.Errorf("%s does not speak TLS there; is it to be http:// ?", u.Host)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s closed the connection without an answer", u.Host)
	}
	if reason := distrust(err, host); reason != "" {
		return errors.New(reason)
	}
	return errors.New(cutText(err.Error(), 300))
}

// distrust says why the certificate of a host was not accepted, "" where that
// is not what went wrong.
func distrust(err error, host string) string {
	const authorities = "install ca-bundle (opkg install ca-bundle, apk add ca-bundle) or set ca_file"
	var unknown x509.UnknownAuthorityError
	var none x509.SystemRootsError
	var invalid x509.CertificateInvalidError
	var name x509.HostnameError
	switch {
	case errors.As(err, &none):
		return "no CA certificates on this device, so " + host + " cannot be checked: " + authorities
	case errors.As(err, &unknown):
		return "the certificate of " + host + " is not trusted, its authority is unknown: if others fail too, " + authorities
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("the certificate of %s is not valid at this time; the clock here says %s UTC: compare it with date, and set it if it is wrong",
			host, time.Now().UTC().Format("2006-01-02 15:04"))
	case errors.As(err, &invalid), errors.As(err, &name):
		return "the certificate of " + host + " is not good: " + cutText(err.Error(), 200)
	}
	return ""
}
