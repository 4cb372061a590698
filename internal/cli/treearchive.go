package cli

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cluade/internal/httpc"
	"cluade/skills"
)

const (
	archiveHost = "codeload.github.com"
	archiveTime = 15 * time.Minute
	maxArchive  = 64 << 20 // bytes that are fetched
	maxHops     = 5
	dialTime    = 30 * time.Second
)

// fetchArchive fetches what is on GitHub as a tar archive, for devices without
// git.
func (a *app) fetchArchive(ctx context.Context, c *treeCommand, t *checkout) error {
	ctx, cancel := context.WithTimeoutCause(ctx, archiveTime, fmt.Errorf("not done within %v", archiveTime))
	defer cancel()
	client := archiveClient()
	defer client.CloseIdle()
	from := &url.URL{Scheme: "https", Host: archiveHost, Path: "/" + c.origin.repo + "/tar.gz/HEAD"}
	body, err := openArchive(ctx, client, from)
	if err == nil {
		err = a.unpack(ctx, c, body, t)
		body.Close()
	}
	if err != nil {
		return fmt.Errorf("fetch %s: %w", from, err)
	}
	return nil
}

func archiveClient() *httpc.Client {
	return &httpc.Client{Dial: (&net.Dialer{Timeout: dialTime}).DialContext, Proxy: httpc.ProxyFromEnv}
}

// openArchive asks for the archive and follows redirects, which must not leave
// https.
func openArchive(ctx context.Context, client *httpc.Client, from *url.URL) (io.ReadCloser, error) {
	for range maxHops {
		resp, err := client.Do(ctx, &httpc.Request{Method: "GET", URL: from, Header: httpc.Header{{Name: "User-Agent", Value: "cluade"}}})
		switch {
		case err != nil:
			return nil, err
		case resp.Status == 200 && resp.Length > maxArchive:
			resp.Body.Close()
			return nil, fmt.Errorf("%d bytes are more than %d", resp.Length, maxArchive)
		case resp.Status == 200:
			return resp.Body, nil
		}
		resp.Body.Close()
		where := resp.Header.Get("Location")
		switch {
		case resp.Status == 404:
			return nil, errors.New("there is no such public repository (HTTP 404)")
		case resp.Status/100 != 3 || where == "":
			return nil, fmt.Errorf("HTTP %d", resp.Status)
		}
		if from, err = from.Parse(where); err != nil || from.Scheme != "https" {
			return nil, fmt.Errorf("HTTP %d leads to %.200q", resp.Status, where)
		}
	}
	return nil, fmt.Errorf("more than %d redirects", maxHops)
}

// unpack writes the archive below the tree's directory. GitHub puts all into
// one directory, which is then the tree.
func (a *app) unpack(ctx context.Context, c *treeCommand, in io.Reader, t *checkout) error {
	if err := os.Mkdir(t.dir, 0o755); err != nil {
		return err
	}
	limited := &io.LimitedReader{R: in, N: maxArchive + 1}
	text, err := gzip.NewReader(limited)
	if err != nil {
		return err
	}
	whole := func(name string) bool {
		return c.name == "skillimport" && !c.has("dry-run") || strings.HasSuffix(name, ".md") || strings.HasSuffix(name, ".json")
	}
	notices, err := skills.Unpack(ctx, t.dir, text, whole)
	for _, n := range notices {
		a.out.Notice(n)
	}
	if err != nil && limited.N <= 0 {
		err = fmt.Errorf("it is larger than %d bytes", maxArchive)
	}
	if err != nil {
		return err
	}
	if top, err := os.ReadDir(t.dir); err == nil && len(top) == 1 && top[0].IsDir() {
		t.dir = filepath.Join(t.dir, top[0].Name())
	}
	return nil
}
