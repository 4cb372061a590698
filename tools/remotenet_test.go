package tools

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestRemoteUnreachable runs itself in a network namespace in which one
// network swallows every packet.
func TestRemoteUnreachable(t *testing.T) {
	const inside = "TOOLS_TEST_NETWORK"
	if os.Getenv(inside) == "" {
		needNamespace(t, "-n")
		needProgram(t, "ip")
		cmd := exec.Command(needProgram(t, "unshare"), "-n", "sh", "-ec",
			`ip tuntap add dev hole mode tun; ip addr add 10.99.0.1/24 dev hole; ip -6 addr add fd99::1/64 dev hole nodad; ip link set hole up; exec "$@"`,
			"sh", os.Args[0], "-test.run", "^TestRemoteUnreachable$", "-test.v")
		cmd.Env = append(os.Environ(), inside+"=1")
		out, err := cmd.CombinedOutput()
		if strings.Contains(string(out), "/dev/net/tun") {
			missing(t, "no tun device: "+string(out))
		}
		if err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("in the namespace: %v\n%s", err, out)
		}
		return
	}
	e := client(t)
	e.SSH.ConnectTimeout = time.Second
	for host, name := range map[string]string{"10.99.0.9": "10.99.0.9:22", "fd99::9": "[fd99::9]:22"} {
		quick(t, 5*time.Second, func() {
			wantError(t, e, "remote_bash", args{"host": host, "command": "true"}, "ssh root@"+name+": connecting timed out after 1s")
		})
	}
	put(t, e, e.SSH.Config, "Host inner\nProxyJump 10.99.0.9\n")
	quick(t, 5*time.Second, func() {
		wantError(t, e, "remote_bash", args{"host": "inner", "command": "true"}, "ssh root@inner:22: jump host root@10.99.0.9:22: connecting timed out")
	})
	wantError(t, e, "remote_bash", args{"host": "192.0.2.1", "command": "true"}, "ssh root@192.0.2.1:22: network is unreachable")
}
