package dockertest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"hermes/core/crash"
	"hermes/core/testwait"
)

// Registry is a real registry on loopback, and a proxy before it that can hold what it delivers.
type Registry struct {
	Host string // of the registry
	Slow string // of the proxy

	user, password string
	stall          atomic.Bool
	rate           atomic.Int64 // bytes a second that the proxy delivers; 0: all
	served         chan struct{}
}

// StartRegistry starts a registry that ends with the test. With a user it wants credentials.
func StartRegistry(t testing.TB, user, password string) *Registry {
	t.Helper()
	program, err := exec.LookPath("docker-registry")
	if err != nil {
		Missing(t, "no registry: %v", err)
	}
	r := &Registry{Host: freeAddress(t), user: user, password: password, served: make(chan struct{})}
	dir := t.TempDir()
	config := fmt.Sprintf("version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: %s}\n", filepath.Join(dir, "data"), r.Host)
	if user != "" {
		hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "htpasswd")
		if err := os.WriteFile(file, fmt.Appendf(nil, "%s:%s\n", user, hash), 0o600); err != nil {
			t.Fatal(err)
		}
		config += fmt.Sprintf("auth: {htpasswd: {realm: test, path: %s}}\n", file)
	}
	path := filepath.Join(dir, "config.yml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "serve", path)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	r.awaitStart(t)
	r.serveProxy(t)
	return r
}

func freeAddress(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func (r *Registry) awaitStart(t testing.TB) {
	for deadline := time.Now().Add(testwait.Hang); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", r.Host)
		if err == nil {
			_ = conn.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the registry does not answer: %v", err)
		}
	}
}

// serveProxy passes everything on; layers only as fast as it is told.
func (r *Registry) serveProxy(t testing.TB) {
	target := &url.URL{Scheme: "http", Host: r.Host}
	pass := &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(target) }, ErrorLog: nil}
	pass.ModifyResponse = func(resp *http.Response) error {
		if strings.Contains(resp.Request.URL.Path, "/blobs/") && resp.ContentLength > 4096 {
			resp.Body = &slowBody{ReadCloser: resp.Body, r: r, done: resp.Request.Context().Done()}
		}
		return nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.Slow = l.Addr().String()
	s := &http.Server{Handler: pass, ReadHeaderTimeout: 10 * time.Second}
	crash.Go("test registry", func() { _ = s.Serve(l) })
	t.Cleanup(func() {
		close(r.served)
		_ = s.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
}

// Stall lets the proxy deliver the beginning of layers only, or all again.
func (r *Registry) Stall(yes bool) { r.stall.Store(yes) }

// Rate limits how many bytes a second the proxy delivers of each layer; 0 is no limit.
func (r *Registry) Rate(bytes int64) { r.rate.Store(bytes) }

type slowBody struct {
	io.ReadCloser
	r    *Registry
	done <-chan struct{}
	sent int
}

func (b *slowBody) Read(p []byte) (int, error) {
	if b.r.stall.Load() && b.sent > 64<<10 {
		select {
		case <-b.done:
		case <-b.r.served:
		}
		return 0, io.ErrUnexpectedEOF
	}
	if rate := b.r.rate.Load(); rate > 0 {
		p = p[:min(len(p), int(rate/20)+1)]
		select {
		case <-time.After(50 * time.Millisecond):
		case <-b.done:
		case <-b.r.served:
		}
	}
	n, err := b.ReadCloser.Read(p)
	b.sent += n
	return n, err
}

// Push puts an image of random layers with these sizes into the registry.
func (r *Registry) Push(t testing.TB, name string, sizes ...int) {
	t.Helper()
	var layers []descriptor
	var diffs []string
	for i, size := range sizes {
		packed, diff := randomLayer(t, fmt.Sprintf("layer-%d", i), size)
		layers = append(layers, r.uploadBlob(t, name, "application/vnd.docker.image.rootfs.diff.tar.gzip", packed))
		diffs = append(diffs, diff)
	}
	config, _ := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux", "config": map[string]any{},
		"rootfs": map[string]any{"type": "layers", "diff_ids": diffs},
	})
	manifest, _ := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": manifestType, "layers": layers,
		"config": r.uploadBlob(t, name, "application/vnd.docker.container.image.v1+json", config),
	})
	r.sendRequest(t, http.MethodPut, "http://"+r.Host+"/v2/"+name+"/manifests/1", manifestType, manifest)
}

const manifestType = "application/vnd.docker.distribution.manifest.v2+json"

type descriptor struct {
	MediaType string `json:"mediaType"`
	Size      int    `json:"size"`
	Digest    string `json:"digest"`
}

func randomLayer(t testing.TB, name string, size int) (packed []byte, diff string) {
	data := make([]byte, size)
	_, _ = rand.Read(data)
	var plain, out bytes.Buffer
	w := tar.NewWriter(&plain)
	_ = w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(size)})
	_, _ = w.Write(data)
	_ = w.Close()
	z := gzip.NewWriter(&out)
	_, _ = z.Write(plain.Bytes())
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), sha256Digest(plain.Bytes())
}

func sha256Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func (r *Registry) uploadBlob(t testing.TB, name, media string, data []byte) descriptor {
	head := r.sendRequest(t, http.MethodPost, "http://"+r.Host+"/v2/"+name+"/blobs/uploads/", "", nil)
	at, err := url.Parse(head.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	at.Scheme, at.Host = "http", r.Host
	q := at.Query()
	q.Set("digest", sha256Digest(data))
	at.RawQuery = q.Encode()
	r.sendRequest(t, http.MethodPut, at.String(), "application/octet-stream", data)
	return descriptor{media, len(data), sha256Digest(data)}
}

func (r *Registry) sendRequest(t testing.TB, method, at, media string, body []byte) http.Header {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, at, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if media != "" {
		req.Header.Set("Content-Type", media)
	}
	if r.user != "" {
		req.SetBasicAuth(r.user, r.password)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	if resp.StatusCode >= 300 {
		t.Fatalf("%s %s: %s %s", method, at, resp.Status, text)
	}
	return resp.Header
}
