package program

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// engine reports whether containers can be tried here; HERMES_TEST_REQUIRE=1 makes their absence a
// failure.
var engine = sync.OnceValues(func() (bool, error) {
	err := exec.Command("docker", "info").Run()
	if _, missing := exec.LookPath("busybox"); err == nil {
		err = missing
	}
	if err != nil && os.Getenv("HERMES_TEST_REQUIRE") == "1" {
		return false, fmt.Errorf("a docker engine and busybox are needed: %w", err)
	}
	return err == nil, nil
})

// scriptCondition is [engine] in scripts.
func scriptCondition(cond string) (bool, error) {
	if cond == "engine" {
		return engine()
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}

// busybox makes an image with a shell and a few tools, and removes it at the script's end: busybox
// name:1
func busybox(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: busybox image")
	}
	cmd := exec.Command("docker", "import", "-c", "ENV PATH=/bin", "-", args[0])
	cmd.Stdin = bytes.NewReader(busyboxTar(ts))
	out, err := cmd.CombinedOutput()
	if err != nil {
		ts.Fatalf("docker import: %v: %s", err, out)
	}
	ts.Defer(func() { _ = exec.Command("docker", "rmi", "-f", args[0]).Run() })
}

func busyboxTar(ts *testscript.TestScript) []byte {
	path, err := exec.LookPath("busybox")
	ts.Check(err)
	program, err := os.ReadFile(path)
	ts.Check(err)
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	file := func(h tar.Header, data []byte) {
		h.Size = int64(len(data))
		ts.Check(w.WriteHeader(&h))
		_, err := w.Write(data)
		ts.Check(err)
	}
	for _, dir := range []string{"bin/", "tmp/", "root/", "etc/"} {
		file(tar.Header{Name: dir, Typeflag: tar.TypeDir, Mode: 0o777}, nil)
	}
	file(tar.Header{Name: "bin/busybox", Mode: 0o755}, program)
	for _, name := range strings.Fields("sh cat echo ls pwd sleep tr id wc head stty vi top less") {
		file(tar.Header{Name: "bin/" + name, Typeflag: tar.TypeSymlink, Linkname: "busybox", Mode: 0o777}, nil)
	}
	file(tar.Header{Name: "etc/passwd", Mode: 0o644}, []byte("root:x:0:0:root:/root:/bin/sh\n"))
	ts.Check(w.Close())
	return b.Bytes()
}

// until runs a command until its output has a match: until 'in use' hermes pool list
func until(ts *testscript.TestScript, _ bool, args []string) {
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		_ = ts.Exec(args[1], args[2:]...)
		if want.MatchString(ts.ReadFile("stdout")) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("%q never came: %s", args[0], ts.ReadFile("stdout"))
		}
	}
}
