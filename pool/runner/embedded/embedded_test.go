package embedded

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"hermes/core/testskip"
)

// most is what the far program may weigh: it is copied to every host, was 3.0 MiB before it kept
// attributes of files, and 3.2 before it searched them.
const most = 15 << 18

func TestProgramsAreStaticAndSmall(t *testing.T) {
	for arch, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
		b, err := For("linux", arch)
		if err != nil {
			if !strings.Contains(err.Error(), "build it with make") {
				t.Error(err)
			}
			if os.Getenv("HERMES_TEST_REQUIRE") != "" {
				t.Error(err)
			}
			t.Skip(err)
		}
		data := b.Data()
		f, err := elf.NewFile(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if f.Machine != machine {
			t.Errorf("%s: made for %v", arch, f.Machine)
		}
		for _, p := range f.Progs {
			if p.Type == elf.PT_INTERP {
				t.Errorf("%s: wants a dynamic linker", arch)
			}
		}
		if b.Size != len(data) || b.Size > most || len(b.SHA256) != 64 {
			t.Errorf("%s: %d bytes, %d said, SHA-256 %q", arch, len(data), b.Size, b.SHA256)
		}
	}
}

func TestOtherSystemsAreNamed(t *testing.T) {
	for _, system := range [][2]string{{"darwin", "arm64"}, {"linux", "riscv64"}, {"linux", "../README"}} {
		_, err := For(system[0], system[1])
		if err == nil || !strings.Contains(err.Error(), "linux/amd64 and linux/arm64") {
			t.Errorf("%v: %v", system, err)
		}
	}
}

func BenchmarkUnpack(b *testing.B) {
	bin, err := For("linux", "amd64")
	if err != nil {
		b.Skip(err)
	}
	for b.Loop() {
		_ = bin.Data()
	}
}

func TestDataIsWhatTheHashSays(t *testing.T) {
	for _, system := range Systems {
		os, arch, _ := strings.Cut(system, "/")
		b, err := For(os, arch)
		if err != nil {
			testskip.Missing(t, err)
		}
		if sum := sha256.Sum256(b.Data()); hex.EncodeToString(sum[:]) != b.SHA256 {
			t.Errorf("%s: another hash", system)
		}
	}
}
