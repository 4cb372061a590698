package httpc

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// socksFaults are the reasons of a SOCKS proxy in the order of their numbers.
const socksFaults = "general failure|not allowed|network unreachable|host unreachable|connection refused|time to live exceeded|command not supported|kind of address not supported"

// askSOCKS has a SOCKS proxy connect (RFC 1928), which looks the name up. A
// user and a password are offered if the proxy's URL has them (RFC 1929).
func askSOCKS(nc net.Conn, w *way) error {
	refused := &ProxyError{Proxy: w.proxy.Host}
	user := w.proxy.User
	hello := "\x05\x01\x00"
	if user != nil {
		hello = "\x05\x02\x00\x02"
	}
	choice, err := askBytes(nc, hello, 2)
	switch {
	case err != nil:
		return err
	case choice[0] != 5:
		return errors.New("the proxy " + w.proxy.Host + " does not speak SOCKS 5")
	case choice[1] == 2 && user != nil:
		password, _ := user.Password()
		if len(user.Username()) > 255 || len(password) > 255 {
			return errors.New("the user or the password of the proxy is too long")
		}
		said, err := askBytes(nc, "\x01"+counted255(user.Username())+counted255(password), 2)
		if err != nil {
			return err
		}
		if said[1] != 0 {
			refused.Reason, refused.Final = "it does not accept the user and the password", true
			return refused
		}
	case choice[1] != 0:
		refused.Reason, refused.Final = "it wants a user and a password in the proxy's URL", true
		return refused
	}
	to, err := socksAddr(w)
	if err != nil {
		return err
	}
	said, err := askBytes(nc, "\x05\x01\x00"+to, 5)
	if err != nil {
		return err
	}
	if said[1] != 0 {
		refused.Reason = "fault " + strconv.Itoa(int(said[1]))
		if names := strings.Split(socksFaults, "|"); int(said[1]) <= len(names) {
			refused.Reason = names[said[1]-1]
		}
		return refused
	}
	rest := 4 - 1 + 2 // an address, of which a byte was read, and a port
	switch said[3] {
	case 3:
		rest = int(said[4]) + 2
	case 4:
		rest = 16 - 1 + 2
	}
	_, err = askBytes(nc, "", rest)
	return err
}

// askBytes sends s and reads n bytes.
func askBytes(nc net.Conn, s string, n int) ([]byte, error) {
	if _, err := io.WriteString(nc, s); err != nil {
		return nil, err
	}
	b := make([]byte, n)
	_, err := io.ReadFull(nc, b)
	return b, err
}

func counted255(s string) string { return string([]byte{byte(len(s))}) + s }

// socksAddr is the server's address as SOCKS has it.
func socksAddr(w *way) (string, error) {
	port, err := strconv.ParseUint(w.port, 10, 16)
	if err != nil || len(w.host) > 255 {
		return "", errors.New(w.addr() + " is no address that a SOCKS proxy takes")
	}
	kind, host := "\x03", counted255(w.host)
	if a, err := netip.ParseAddr(w.host); err == nil {
		kind, host = "\x01", string(a.AsSlice())
		if a.Is6() {
			kind = "\x04"
		}
	}
	return kind + host + string([]byte{byte(port >> 8), byte(port)}), nil
}
