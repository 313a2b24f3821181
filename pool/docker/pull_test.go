package docker

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/image"

	"hermes/core/testskip"
	"hermes/core/testwait"
	"hermes/pool"
	"hermes/pool/docker/dockertest"
)

// forget removes an image that a test pulled.
func forget(t testing.TB, ref string) {
	t.Helper()
	t.Cleanup(func() {
		_, err := dockertest.Engine(t).ImageRemove(context.Background(), ref, image.RemoveOptions{Force: true, PruneChildren: true})
		if err != nil && !errdefs.IsNotFound(err) {
			t.Error(err)
		}
	})
}

func hasImage(t testing.TB, ref string) bool {
	t.Helper()
	_, err := dockertest.Engine(t).ImageInspect(context.Background(), ref)
	return err == nil
}

func pullOf(t testing.TB, r *rig, ref string) (*steps, error) {
	t.Helper()
	s := &steps{}
	return s, r.open("s", pool.Spec{Options: &Settings{Image: ref}}).Pull(t.Context(), s)
}

// 8: progress is of bytes, never goes back, and ends at the whole.
func TestPullTellsHowFarItIs(t *testing.T) {
	testskip.Long(t, "real containers")
	t.Parallel()
	r := newRig(t)
	reg := dockertest.StartRegistry(t, "", "")
	reg.Push(t, "big", 1<<20, 600<<10, 300<<10, 200<<10, 400<<10)
	reg.Rate(8 << 20)
	ref := reg.Slow + "/big:1"
	forget(t, ref)
	s, err := pullOf(t, r, ref)
	if err != nil {
		t.Fatal(err)
	}
	all := s.all()
	if len(all) < 5 {
		t.Fatalf("told %d times: %+v", len(all), all)
	}
	before, totals := reported{}, map[int64]bool{}
	for _, p := range all {
		if p.done < before.done || (before.total > 0 && p.total < before.total) || (p.total > 0 && p.done > p.total) {
			t.Errorf("%+v after %+v", p, before)
		}
		before = p
		totals[p.total] = true
	}
	if before.label != "5 of 5 layers" || before.done != before.total || before.total < 2*2400<<10 {
		t.Errorf("the last: %+v", before)
	}
	if !strings.Contains(s.text(), "image "+ref) {
		t.Errorf("steps %q", s.text())
	}
	// Nothing to do is said as well.
	if s, err = pullOf(t, r, ref); err != nil || len(s.all()) == 0 {
		t.Errorf("pulled again: %v %+v", err, s.all())
	}
}

func TestPullIsCancelled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	reg := dockertest.StartRegistry(t, "", "")
	reg.Push(t, "slow", 4<<20)
	reg.Rate(256 << 10)
	ref := reg.Slow + "/slow:1"
	forget(t, ref)
	ctx, cancel := context.WithCancel(t.Context())
	s := &steps{notify: make(chan struct{}, 1)}
	ended := make(chan error, 1)
	b := r.open("s", pool.Spec{Options: &Settings{Image: ref}})
	go func() { ended <- b.Pull(ctx, s) }()
	<-s.notify
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	case <-time.After(testwait.Hang):
		t.Fatal("it does not end")
	}
	if hasImage(t, ref) {
		t.Error("the image is there")
	}
}

func TestPullThatStallsEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.PullStall = 2 * time.Second })
	reg := dockertest.StartRegistry(t, "", "")
	reg.Push(t, "stuck", 4<<20)
	reg.Stall(true)
	ref := reg.Slow + "/stuck:1"
	forget(t, ref)
	begun := time.Now()
	_, err := pullOf(t, r, ref)
	if err == nil || !strings.Contains(err.Error(), "no progress for 2s") {
		t.Errorf("%v", err)
	}
	if took := time.Since(begun); took > testwait.Within(20*time.Second) {
		t.Errorf("it took %v", took)
	}
}

// A slow pull that goes on is no stall, however long it takes.
func TestPullMayTakeLongerThanTheStall(t *testing.T) {
	testskip.Long(t, "real containers")
	t.Parallel()
	r := newRig(t, func(o *Options) { o.PullStall = 2 * time.Second })
	reg := dockertest.StartRegistry(t, "", "")
	reg.Push(t, "patient", 2<<20)
	reg.Rate(400 << 10)
	ref := reg.Slow + "/patient:1"
	forget(t, ref)
	if _, err := pullOf(t, r, ref); err != nil {
		t.Error(err)
	}
}

func TestPullErrorsAreForPeople(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	reg := dockertest.StartRegistry(t, "", "")
	reg.Push(t, "there", 1000)
	for ref, want := range map[string]string{
		reg.Host + "/absent:1":      "has no such image or tag",
		reg.Host + "/there:absent":  "has no such image or tag",
		"127.0.0.1:1/refused:1":     "the engine cannot reach 127.0.0.1:1",
		"UPPER/Case":                "not a name that an image can have",
		"registry.invalid/x/y:none": "the engine cannot reach registry.invalid",
	} {
		_, err := pullOf(t, r, ref)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

// Credentials come from the docker command's configuration, in each of its three ways.
func TestPullShowsCredentials(t *testing.T) { // not parallel: the environment is the process'
	r := newRig(t)
	reg := dockertest.StartRegistry(t, "alice", "s3cret")
	reg.Push(t, "private", 1000)
	ref := reg.Host + "/private:1"
	forget(t, ref)
	dir := t.TempDir()
	t.Setenv("DOCKER_CONFIG", dir)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("docker-credential-good", "#!/bin/sh\nread host\n[ \"$host\" = '"+reg.Host+"' ] && echo '{\"Username\":\"alice\",\"Secret\":\"s3cret\"}'\n", 0o755)
	write("docker-credential-broken", "#!/bin/sh\necho it is locked >&2\nexit 1\n", 0o755)
	auth := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	for _, c := range []struct{ name, config, want string }{
		{"none", `{}`, "wants other credentials"},
		{"wrong", fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, reg.Host, auth("alice:wrong")), "wants other credentials"},
		{"a helper that fails", `{"credsStore":"broken"}`, "it is locked"},
		{"a helper that is not there", `{"credsStore":"absent-helper"}`, "docker-credential-absent-helper failed"},
		{"auths", fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, reg.Host, auth("alice:s3cret")), ""},
		{"auths by address", fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, "https://"+reg.Host+"/v1/", auth("alice:s3cret")), ""},
		{"a store", `{"credsStore":"good"}`, ""},
		{"a helper of the registry", fmt.Sprintf(`{"credsStore":"broken","credHelpers":{%q:"good"}}`, reg.Host), ""},
	} {
		write("config.json", c.config, 0o600)
		_, err := pullOf(t, r, ref)
		if got := fmt.Sprint(err); (c.want == "") != (err == nil) || (c.want != "" && !strings.Contains(got, c.want)) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: the error shows the password", c.name)
		}
	}
}

// 8, 9: an image is fetched by the first use, by its policy, and the container starts.
func TestPullPolicies(t *testing.T) {
	testskip.Long(t, "real containers")
	t.Parallel()
	r := newRig(t)
	reg := dockertest.StartRegistry(t, "", "")
	reg.Push(t, "policy", 1000)
	ref := reg.Host + "/policy:1"
	forget(t, ref)
	never := r.open("never", pool.Spec{Options: &Settings{Image: ref, Pull: PullNever}})
	if err := never.Start(t.Context(), &steps{}); err == nil || !strings.Contains(err.Error(), "pull: never forbids") {
		t.Errorf("never: %v", err)
	}
	first := up(t, r.open("missing", pool.Spec{Options: &Settings{Image: ref}}))
	second := up(t, r.open("missing2", pool.Spec{Options: &Settings{Image: ref}}))
	if len(first.all()) == 0 || len(second.all()) != 0 {
		t.Errorf("missing: pulled %d and %d times", len(first.all()), len(second.all()))
	}
	b := r.open("always", pool.Spec{Options: &Settings{Image: ref, Pull: PullAlways}})
	if s := up(t, b); len(s.all()) == 0 {
		t.Error("always: not pulled")
	}
	if err := b.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := up(t, b); len(s.all()) != 0 {
		t.Error("always: pulled for a container that exists")
	}
}
