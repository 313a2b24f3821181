package docker

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"maps"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/volume"

	"hermes/core/testskip"
	"hermes/core/testwait"
	"hermes/pool"
	"hermes/pool/docker/dockertest"
)

// 24
func TestLivesLeaveNothingBehind(t *testing.T) { // not parallel: it counts what the process has
	testskip.Long(t, "many lives of a container")
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
	eventually(t, "goroutines and files are back", func() bool {
		g, f := count()
		return g <= goroutines+2 && f <= files+2
	})
}

// A kind without a data folder is of this process alone: nothing of it is on the engine afterwards.
// Prune does the same for one that has a folder.
func TestNothingStaysOnTheEngine(t *testing.T) {
	t.Parallel()
	cli := dockertest.Engine(t)
	volumes := func(k *Kind) int {
		t.Helper()
		list, err := cli.VolumeList(t.Context(), volume.ListOptions{Filters: k.labelFilter()})
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
			if _, err := r.kind.Prune(t.Context(), nil, true); err != nil {
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

// A runner's volume goes when its data folder is gone from this machine or was made anew, at any
// start and with any prune. Volumes of other machines, of folders that are there, and of whom
// nothing is known stay.
func TestVolumesOfFoldersThatAreGone(t *testing.T) {
	t.Parallel()
	if machine() == "" {
		testskip.Missing(t, "this machine has no number")
	}
	cli := dockertest.Engine(t)
	volumeOf := func(home string) string {
		t.Helper()
		sweepAfter(t, home)
		r := newRigIn(t, home)
		b := r.open("s", pool.Spec{})
		up(t, b)
		if err := b.Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
		p, err := testProgram("linux", runtime.GOARCH)
		if err != nil {
			t.Fatal(err)
		}
		return r.kind.volumeName(p)
	}
	labelled := func(change map[string]string) string {
		t.Helper()
		labels := map[string]string{
			labelApp: appName, labelRole: roleRunner, labelOwner: "x", labelMachine: machine(), labelHome: filepath.Join(t.TempDir(), "gone"),
		}
		maps.Copy(labels, change)
		v, err := cli.VolumeCreate(t.Context(), volume.CreateOptions{Labels: labels})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cli.VolumeRemove(context.Background(), v.Name, true) })
		return v.Name
	}
	for how, sweep := range map[string]func(r *rig, e *engine) error{
		"prune": func(r *rig, _ *engine) error {
			_, err := r.kind.Prune(t.Context(), nil, true)
			return err
		},
		"start": func(_ *rig, e *engine) error {
			_, err := e.sweepUnused(t.Context(), 0)
			return err
		},
	} {
		base := t.TempDir()
		gone, anew, there := filepath.Join(base, "gone"), filepath.Join(base, "anew"), filepath.Join(base, "there")
		want := map[string]bool{volumeOf(gone): false, volumeOf(anew): false, volumeOf(there): true}
		if err := errors.Join(os.RemoveAll(gone), os.RemoveAll(anew)); err != nil {
			t.Fatal(err)
		}
		if _, err := ownerIn(anew); err != nil {
			t.Fatal(err)
		}
		want[labelled(nil)] = false
		want[labelled(map[string]string{labelMachine: "another"})] = true
		want[labelled(map[string]string{labelMachine: ""})] = true
		want[labelled(map[string]string{labelHome: ""})] = true
		want[labelled(map[string]string{labelHome: there})] = false // not the number that is there
		want[labelled(map[string]string{labelHome: base})] = true   // no number at all
		want[labelled(map[string]string{labelRole: "data"})] = true
		want[labelled(map[string]string{labelApp: "other"})] = true

		r := newRig(t)
		if err := sweep(r, r.open("s", pool.Spec{}).engine); err != nil {
			t.Errorf("%s: %v", how, err)
		}
		for name, stays := range want {
			v, err := cli.VolumeInspect(t.Context(), name)
			if is := err == nil; is != stays {
				t.Errorf("%s: %v is there: %v, want %v (%v)", how, v.Labels, is, stays, err)
			}
		}
	}
}

// An engine behind TLS that wants a certificate, reached as DOCKER_CERT_PATH says; behind the door
// it is the real one.
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
	b := r.open("s", pool.Spec{Options: &Settings{Engine: "tcp://" + l.Addr().String()}})
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
	closed, err := k.Open("s", pool.Spec{Name: "default", Options: &Settings{Image: "x", Engine: "tcp://" + l.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Hang)
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
