package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What is there and holds secrets is not replaced unasked, nor what leaves no copy; what is new is
// made unasked, and a line at the end is written.
func TestFilesThatAreReplaced(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"there/.env", "there/.env.example", "there/big.bin", "there/a.txt", "there/sub/.env", "new/.env.example"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	unkept := func(p string) string {
		if strings.HasSuffix(p, ".bin") {
			return "it is too large"
		}
		return ""
	}
	at := func(name string) Context {
		d := filepath.Join(dir, name)
		return Context{Dir: d, Home: "/home/dev", Project: d, Level: LevelStandard, Local: true, Unkept: unkept}.Prepared()
	}
	for cmd, want := range map[string]Verdict{
		"echo NEW=1 > .env": Ask, "echo NEW=1 >| .env": Ask, "echo NEW=1 &> .env": Ask, "echo NEW=1 | tee .env": Ask, "cp .env.example .env": Ask, "mv a.txt .env": Ask, "install a.txt .env": Ask, "cd sub && echo x > .env": Ask,
		"cp -n .env.example .env": Allow, "cp .env.example sub/.env": Ask, "cat > .env <<'E'\nA=1\nE": Ask, "bash -c 'echo x > .env'": Ask, "f=.env; echo x > $f": Ask, "ls 2> .env": Ask, "sort -o .env a.txt": Ask, "cp .env sub": Ask,
		"dd if=a.txt of=.env": Ask, "docker cp c:/app/.env .": Ask, "docker cp c:/app/x .env": Ask, "cp -r sub/. .": Ask, "cp -r sub/.[a-z]* .": Ask, "cp -r ../new/. .": Allow, "rsync -a sub/ .": Ask, "cp -rT sub .": Ask,
		"dd if=a.txt of=b.img": Allow, "docker cp c:/app/x y": Allow, "cp -r sub sub2": Allow, "cp *.txt sub": Allow,
		"cp a.txt sub": Allow, "echo NEW=1 >> .env": Allow, "echo NEW=1 | tee -a .env": Allow, "echo x > .env.local": Allow, "sed -i 's/a/b/' .env": Ask, "echo x > a.txt": Allow, "cp .env.example .env.new": Allow,
		"echo x > big.bin": Ask, "cp a.txt big.bin": Ask, "tee big.bin < a.txt": Ask, "mv a.txt big.bin": Ask, "sed -i s/a/b/ big.bin": Ask, "echo x >> big.bin": Allow, "go build -o big.bin .": Allow,
	} {
		if a := Analyse(cmd, at("there")); a.Verdict != want {
			t.Errorf("%q: %s, want %s: %s", cmd, a.Verdict, want, a.Reason)
		}
	}
	for _, cmd := range []string{"echo NEW=1 > .env", "cp .env.example .env", "test -f .env || cp .env.example .env"} {
		if a := Analyse(cmd, at("new")); a.Verdict != Allow {
			t.Errorf("%q makes a new file and asks: %s", cmd, a.Reason)
		}
	}
	if a := Analyse("echo NEW=1 > .env", placeForTests()); a.Verdict == Allow {
		t.Error("a file that cannot be looked at is taken for one that is not there")
	}
	if a := Files([]string{".env"}, at("there")); a.Verdict != Allow {
		t.Errorf("a file tool, whose changes are kept, asks: %s", a.Reason)
	}
	if a := Files([]string{"big.bin"}, at("there")); a.Verdict == Allow {
		t.Error("a file tool replaces unasked what leaves no copy")
	}
}

func TestFilesThatAreTouched(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".env", "a.log", "b.log", "c"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := Context{Dir: dir, Home: "/home/dev", Project: dir, Level: LevelStandard, Local: true}.Prepared()
	for cmd, want := range map[string]string{
		"echo x > .env": ".env", "rm *.log": "a.log b.log", "sed -i s/a/b/ c; echo x >> .env": "c .env", "bash -c 'mv c .env'": "c .env", "cat c": "", "echo x > new": "", "rm -rf .": "", "f() { echo x > c; }; f": "c",
	} {
		var got []string
		for _, p := range Analyse(cmd, c).Touched {
			got = append(got, filepath.Base(p))
		}
		if words := strings.Fields(want); !slices.Equal(got, words) {
			t.Errorf("%q touches %q, not %q", cmd, got, words)
		}
	}
}
