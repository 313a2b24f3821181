package ssh

import (
	"fmt"
	osexec "os/exec"
	"path/filepath"
	"testing"

	"hermes/pool/runner"
	"hermes/pool/ssh/sshdtest"
)

// One command on a host that is up, against what people use instead, and against no host at all.
func BenchmarkWarm(b *testing.B) {
	s := sshdtest.Start(b)
	b.Run("hermes", func(b *testing.B) {
		back := open(b, options(b, s), spec(s))
		start(b, back)
		for b.Loop() {
			if res, err := back.Run(b.Context(), runner.Spec{Command: "true"}); err != nil || res.ExitCode != 0 {
				b.Fatal(res, err)
			}
		}
	})
	b.Run("ssh ControlMaster", func(b *testing.B) {
		args := []string{"-F", "none", "-i", s.Key, "-o", "UserKnownHostsFile=" + s.KnownHosts, "-o", "ControlPath=" + filepath.Join(b.TempDir(), "c"), "-p", fmt.Sprint(s.Port), s.User + "@" + s.Host}
		master := osexec.Command("ssh", append([]string{"-o", "ControlMaster=yes", "-o", "ControlPersist=60", "-fN"}, args...)...)
		if out, err := master.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		defer func() { _ = osexec.Command("ssh", append([]string{"-O", "exit"}, args...)...).Run() }()
		for b.Loop() {
			if out, err := osexec.Command("ssh", append(args, "true")...).CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
		}
	})
	b.Run("local sh -c", func(b *testing.B) {
		for b.Loop() {
			if err := osexec.Command("/bin/sh", "-c", "true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// From nothing to the first command, with the runner there already; beside it what a new ssh costs.
func BenchmarkCold(b *testing.B) {
	s := sshdtest.Start(b)
	b.Run("hermes", func(b *testing.B) {
		back := open(b, options(b, s), spec(s))
		start(b, back)
		for b.Loop() {
			if err := back.Stop(b.Context()); err != nil {
				b.Fatal(err)
			}
			start(b, back)
			if _, err := back.Run(b.Context(), runner.Spec{Command: "true"}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("ssh", func(b *testing.B) {
		for b.Loop() {
			cmd := osexec.Command("ssh", "-F", "none", "-i", s.Key, "-o", "UserKnownHostsFile="+s.KnownHosts, "-p", fmt.Sprint(s.Port), s.User+"@"+s.Host, "true")
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
		}
	})
}
