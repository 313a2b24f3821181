package docker

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/volume"

	"hermes/pool"
	"hermes/pool/docker/dockertest"
)

// 24
func TestLivesLeaveNothingBehind(t *testing.T) { // not parallel: it counts what the process has
	r := newRig(t)
	b := r.open("s", pool.Spec{})
	cycle := func() {
		up(t, b)
		output(t, b, "true")
		if err := b.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	count := func() (goroutines, files int) {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return runtime.NumGoroutine(), len(list)
	}
	cycle()
	goroutines, files := count()
	for range 5 {
		cycle()
	}
	eventually(t, "goroutines and files are back", 10*time.Second, func() bool {
		g, f := count()
		return g <= goroutines+2 && f <= files+2
	})
}

// A kind without a data folder is of this process alone: nothing of it is on the engine afterwards. Prune does the same for one that has a folder.
func TestNothingStaysOnTheEngine(t *testing.T) {
	t.Parallel()
	cli := dockertest.Engine(t)
	volumes := func(k *Kind) int {
		t.Helper()
		list, err := cli.VolumeList(t.Context(), volume.ListOptions{Filters: k.match()})
		if err != nil {
			t.Fatal(err)
		}
		return len(list.Volumes)
	}
	for _, home := range []string{"", t.TempDir()} {
		r := newRigIn(t, home)
		b := r.open("s", pool.Spec{})
		up(t, b)
		if err := b.Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := volumes(r.kind); n != 1 {
			t.Errorf("%d volumes, want the runner's", n)
		}
		if home != "" {
			if _, err := r.kind.Prune(t.Context()); err != nil {
				t.Error(err)
			}
		} else if err := r.kind.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if n := volumes(r.kind); n != 0 {
			t.Errorf("%d volumes are left", n)
		}
	}
}

// An engine behind TLS that wants a certificate, reached as DOCKER_CERT_PATH says; behind the door it is the real one.
func TestAnEngineBehindTLS(t *testing.T) { // not parallel: the environment is the process'
	r := newRig(t)
	dir := t.TempDir()
	pair, pool509 := certificates(t, dir)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool509, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go relay(l)
	t.Setenv("DOCKER_CERT_PATH", dir)
	t.Setenv("DOCKER_TLS_VERIFY", "1")
	b := r.open("s", pool.Spec{Engine: "tcp://" + l.Addr().String()})
	up(t, b)
	if got := output(t, b, "echo far"); got != "far\n" {
		t.Error(got)
	}
	if err := b.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	// Without the certificate the door stays closed, and the error says where.
	t.Setenv("DOCKER_CERT_PATH", "")
	k := New(Options{Home: t.TempDir(), Program: testProgram})
	closed, err := k.Open("s", pool.Spec{Name: "default", Image: "x", Engine: "tcp://" + l.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := closed.Start(ctx, &steps{}); err == nil || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Errorf("%v", err)
	}
	if err := k.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// relay passes connections on to the engine of this machine.
func relay(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			e, err := net.Dial("unix", "/var/run/docker.sock")
			if err != nil {
				return
			}
			defer e.Close()
			go func() {
				_, _ = io.Copy(e, c)
				_ = e.Close()
			}()
			_, _ = io.Copy(c, e)
		}()
	}
}

// certificates writes one that is its own authority, for both sides.
func certificates(t *testing.T, dir string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	secret := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private})
	for name, text := range map[string][]byte{"ca.pem": cert, "cert.pem": cert, "key.pem": secret} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pair, err := tls.X509KeyPair(cert, secret)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(cert)
	return pair, roots
}
