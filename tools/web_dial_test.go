package tools

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/netip"
	"testing"
)

// rawSite is a server on loopback that answers every request with these bytes
// and closes.
func rawSite(t *testing.T, answer string) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				io.WriteString(conn, answer)
			}
			conn.Close()
		}
	}()
	return "http://" + ln.Addr().String()
}

func TestIsPublic(t *testing.T) {
	for _, s := range []string{
		"8.8.8.8", "1.0.0.1", "9.255.255.255", "11.0.0.0", "100.63.0.1", "100.128.0.1", "172.15.0.1", "172.32.0.1", "192.167.1.1", "192.169.1.1", "169.253.1.1",
		"223.255.255.255", "198.18.0.1", "203.0.113.7", "198.51.100.7", "192.0.2.7", "2001:db8::1", "2606:4700::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1",
	} {
		if !isPublic(netip.MustParseAddr(s)) {
			t.Errorf("isPublic(%s) = false", s)
		}
	}
	for _, s := range []string{
		"127.0.0.1", "127.255.255.254", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "169.254.169.254", "0.0.0.0", "0.1.2.3", "100.64.0.1", "100.127.255.255",
		"192.0.0.192", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fe80::1%eth0", "febf::1", "fc00::1", "fdff::1%wan", "fec0::1", "ff02::1",
		"::ffff:127.0.0.1", "::ffff:192.168.1.1", "::ffff:a9fe:a9fe", "::127.0.0.1", "::10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::c0a8:101", "64:ff9b:1::808:808",
		"::ffff:100.64.0.1", "::ffff:240.0.0.1", "2002:7f00:1::1", "2002:c0a8:101::", "2002:a9fe:a9fe::1",
	} {
		if isPublic(netip.MustParseAddr(s)) {
			t.Errorf("isPublic(%s) = true", s)
		}
	}
	if isPublic(netip.Addr{}) {
		t.Error("no address is public")
	}
}

func TestJudge(t *testing.T) {
	tests := []struct {
		typed  string // the URL of the call
		public bool   // a public server was reached
		addr   string
		ok     bool
	}{
		{"http://h/", false, "192.168.1.1", true}, {"http://h/", false, "127.0.0.1", true}, {"http://h/", false, "8.8.8.8", true},
		{"http://h/", true, "8.8.8.8", true}, {"http://h/", true, "192.168.1.1", false}, {"http://h/", true, "127.0.0.1", false}, {"http://h/", true, "::ffff:10.0.0.1", false},
		{"http://h/", true, "fd00::1", false}, {"http://h/", true, "100.100.100.200", false}, {"http://h/", true, "64:ff9b::a00:1", false},
		{"http://h/", false, "169.254.169.254", false}, {"http://h/", false, "fe80::1", false}, {"http://h/", false, "::ffff:169.254.169.254", false},
		{"http://h/", false, "2002:a9fe:a9fe::1", false}, {"http://169.254.1.1/", false, "169.254.1.1", true}, {"http://169.254.1.1/", false, "169.254.1.2", false},
		{"http://169.254.1.1/", true, "169.254.1.1", false}, {"http://[fe80::1%25eth0]/", false, "fe80::1%eth0", true}, {"http://[fe80::1%25eth0]/", false, "fe80::1%eth1", false},
		{"http://[::ffff:169.254.1.1]/", false, "169.254.1.1", true}, {"http://0.0.0.0/", false, "0.0.0.0", false}, {"http://[::]/", false, "::", false},
		{"http://[ff02::1]/", false, "ff02::1", false}, {"http://[::ffff:0.0.0.0]/", false, "::ffff:0.0.0.0", false},
	}
	for _, tt := range tests {
		u, err := parseURL(tt.typed)
		if err != nil {
			t.Fatal(err)
		}
		trip := newTrip(u)
		trip.public = tt.public
		if err := trip.judge(netip.MustParseAddr(tt.addr)); (err == nil) != tt.ok {
			t.Errorf("%s, public before: %v: judge(%s) = %v", tt.typed, tt.public, tt.addr, err)
		}
	}
}
