package command

import (
	"os"
	"path/filepath"
	"testing"
)

// ownReads read secrets of a data folder: the usual one, that of HERMES_HOME, that of a profile.
var ownReads = []string{
	"rev ~/.hermes/.env", "cat ~/.hermes/config.yaml", "base64 $HERMES_HOME/config.yaml | rev", "cat ${HERMES_HOME}/approvals.json",
	"cd ~/.hermes && rev config.yaml", "cd ~; cd .hermes; tac approvals.json", "cd ~/.hermes/profiles/work && nl config.yaml",
	"strings /home/dev/.hermes/workbench.db", "xxd ~/.hermes/workbench.db-wal", "od -c ~/.hermes/workbench.db-shm", "cat ~/.hermes/logs/audit/2026-01.jsonl",
	"zstdcat ~/.hermes/checkpoints/workbench/blobs/ab/cdef", "rev ~/.hermes/profiles/work/.env", "cat ~/.hermes/profiles/*/config.yaml",
	"cat ~/.herm*/config.yaml", "cat ~/.h?rmes/config.yaml", "cat ~/.*/config.yaml", "rev ~/.hermes/*", "rev ~/.hermes/c*", "cat ~/.hermes/{config,x}.yaml",
	"cat /opt/hermes/profiles/work/config.yaml", "cat /opt/hermes/config.yaml", "cd /opt/hermes; sort .approvals-123", "cat /root/.hermes/config.yaml",
	"cat ~/.hermes/./skills/../config.yaml", "cat ../../dev/.hermes/config.yaml", "f=~/.hermes/config.yaml; rev $f", "for f in ~/.hermes/*; do rev $f; done",
	"rev < ~/.hermes/config.yaml", "x=$(<~/.hermes/config.yaml); echo $x", "while read -r l; do echo $l; done < ~/.hermes/config.yaml", "sed -n p ~/.hermes/config.yaml",
	"awk 1 ~/.hermes/config.yaml", "grep -e . ~/.hermes/config.yaml", "grep -e. ~/.hermes/config.yaml", "grep --regexp=. ~/.hermes/config.yaml", "grep -f ~/.hermes/config.yaml x",
	"grep -r KEY ~/.hermes", "grep -rn key ~", "cd ~ && grep -r key .", "rg -uu key ~", "rg --hidden key ~", "tar c ~/.hermes", "tar czf x.tgz ~", "cp ~/.hermes/config.yaml x", "cp -r ~/.hermes x",
	"ln ~/.hermes/config.yaml x", "find ~/.hermes -type f -exec cat {} +", "find ~/.hermes -name '*.y*' -exec rev {} ';'", "find ~ -name config.yaml -exec cat {} ';'",
	"find ~/.hermes -name '*.y*' | xargs cat", "ls -d ~/.hermes/* | xargs cat", "echo ~/.hermes/c* | xargs rev", "cd ~/.hermes; ls | xargs cat", "find ~/.hermes -type f | while read f; do rev $f; done",
	"git diff --no-index /dev/null ~/.hermes/config.yaml", "git hash-object -w ~/.hermes/config.yaml", "file -f ~/.hermes/config.yaml", "docker compose --env-file ~/.hermes/config.yaml config",
	"python3 -c \"print(open('/home/dev/.hermes/config.yaml').read())\"", "source ~/.hermes/config.yaml", "diff ~/.hermes/config.yaml /dev/null", "sqlite3 ~/.hermes/workbench.db .dump",
	"dd if=/home/dev/.hermes/config.yaml", "head -c 100 ~/.hermes/config.yaml", "shopt -s dotglob; cat ~/*/config.yaml", "less ~dev/.hermes/config.yaml", "cat ~/.hermes/$x", "jq . ~/.hermes/approvals.json",
	"ln -s ~/.hermes h; cat h/config.yaml", "env -C ~/.hermes cat config.yaml", "bash -c 'cd ~/.hermes; cat config.yaml'", "pushd ~/.hermes; cat config.yaml", "pr -F ~/.hermes/.env~", "curl file:///home/dev/.hermes/config.yaml",
	"echo X=1 > ~/.hermes/.env", "cat ~/.hermes/workbench_history.jsonl", "git -C ~/.hermes grep KEY", "cat ~/.hermes/skills/x/.env",
	"find ~ -maxdepth 2 -name '.e*' -exec cat {} +", "find ~ -maxdepth 2 -name '?env' -exec cat {} +", "find ~ -name '[.]env' -exec cat {} +", "find ~ -regex '.*/\\.env' -exec cat {} +", "find ~ -regex '.*/conf.*' | xargs rev",
	"fd -H .env ~ -x cat", "fd -uu -e env . ~ -X cat", "fd . ~/.hermes -x cat", "fd -H config ~ | xargs cat", "fd -H . .. -X rev", "fdfind --hidden --exec-batch rev ';' . ~",
	"cd ~; fd -H yaml -x cat", "fd -g '*.yaml' ~/.hermes | while read f; do cat $f; done", "fd --search-path ~/.hermes -x cat", "fd --base-directory ~/.hermes -x cat",
	"cpio -o < <(find ~/.hermes)", "find ~/.hermes | cpio -o", "find ~/.hermes | tar cf - -T -", "find ~/.hermes | pax -w", "ls -d ~/.hermes/* | zip x.zip -@", "find ~/.hermes | rsync --files-from=- / copy",
	"find ~/.hermes | sort | xargs cat", "find ~/.hermes | grep yaml | xargs cat", "find ~/.hermes | parallel cat",
	"awk 'BEGIN{while((getline l < \"/home/dev/.hermes/config.yaml\")>0) print l}'", "rg --files -uu ~ | xargs cat", "rg -l KEY -uu ~ | xargs cat", "grep -rl KEY ~ | xargs cat",
}

// keyReads read keys: with blanks in their names, or whose names another command has found or a
// file of the line holds.
var keyReads = []string{
	"find ~/.ssh | xargs cat", "find ~/.ssh -type f | sort | xargs -n1 rev", "ls -d ~/.ssh/* | xargs -n1 cat", "cd ~/.ssh; ls | xargs cat", "cd ~/.aws && find . -type f | xargs cat",
	"find ~/.ssh | cpio -o", "echo ~/.ssh/id_rsa | tar czf o.tgz -T -", "ls -d ~/.ssh/* | zip o.zip -@", "find ~/.gnupg -type f | while read f; do rev $f; done",
	"find ~/.ssh -type f > l; tar czf o.tgz -T l", "echo ~/.ssh/id_rsa > l && tar cf - --files-from=l | base64", "echo ~/.aws/credentials > l; cpio -o < l > o", "echo ~/.ssh/id_rsa >l; xargs cat <l",
	"echo ~/.ssh/id_rsa >l; xargs -a l cat", "echo ~/.ssh/id_rsa >l; cat $(cat l)", "echo ~/.ssh/id_rsa >l; cat $(<l)", "echo ~/.ssh/id_rsa >l; zip -@ o.zip <l", "find ~/.ssh -fprint l; xargs cat <l",
	"echo ~/.ssh/id_rsa >l; while read f; do cat \"$f\"; done <l", "find ~/.ssh | tee l; head -1 l | xargs cat", "ls ~/.ssh >> l; sort -u l > m; (cd ~/.ssh; xargs cat < /home/dev/app/m)",
	"sh -c 'find ~/.ssh > l; tar cf o.tar -T l'", "find ~/.ssh > l; wc -w --files0-from=l", "echo .env > l; tar cf o.tar -T l",
	"xargs -a <(ls -d ~/.ssh/*) cat", "tar cf - -T <(find ~/.ssh)", "tar cf - -C ~ .ssh", "tar --directory=/home/dev -cz .aws | base64", "git grep --no-index . ~/.ssh", "git hash-object -w ~/.ssh/id_rsa",
	"find ~ -path '*ssh*' -type f -exec cat {} +", "find ~ -path '*/.aws/*' | xargs cat", "find / -ipath '*/gcloud/*' -exec rev {} ';'",
	`cat ~/.ssh/"my key"`, `rev "/home/dev/.ssh/my key"`, `rev "$HOME/.gnupg/a b/secring.gpg"`, `cat "$HOME/.config/google-chrome/Profile 1/Login Data"`, `cat "a b/.env"`, `sqlite3 "$HOME/Library/Application Support/Firefox/Profiles/x/cookies.sqlite" .dump`, `rev ./"My Project"/.env`,
}

// keyHarmless say names of keys, or hand on lists that hold none.
var keyHarmless = []string{
	"ls -la ~/.ssh", "find ~/.ssh -type f | wc -l", "ls ~/.ssh > l", "ls ~/.ssh > l; cat l", "echo .env >> .gitignore", "echo .env >> .gitignore; cat .gitignore", "echo .env | tee -a .gitignore",
	"find . -name '*.go' > l; tar cf o.tar -T l", "git ls-files > l; xargs wc -l < l", "ls ~/.ssh | xargs -n1 echo", "find ~/.ssh -type f | xargs stat", "echo a.txt > l; cat $(cat l)",
	"tar cf x.tar -C src .", "tar czf x.tgz --directory=src a b", "git add .env", "git rm --cached .env", "git log -- .env", "find . -path '*ssh*' -name '*.go' | xargs wc -l",
	`cat "My Project/readme.md"`, `awk '/foo bar/ {print}' notes.md`, `sed -n '/in .env file/p' notes.md`, `rev "/tmp/a b.txt"`, `python3 -c "print('.env / x')"`, `jq '.env | length' a.json`,
}

func TestKeysAsk(t *testing.T) {
	c := placeForTests().Prepared()
	for _, cmd := range keyReads {
		if a := Analyse(cmd, c); a.Verdict == Allow {
			t.Errorf("%q runs unasked", cmd)
		}
	}
	for _, cmd := range keyHarmless {
		if a := Analyse(cmd, c); a.Verdict != Allow {
			t.Errorf("%q asks: %s", cmd, a.Reason)
		}
	}
}

// ownHarmless are what an agent is meant to read there, and what looks alike.
var ownHarmless = []string{
	"cat ~/.hermes/skills/tidy/SKILL.md", "ls ~/.hermes", "ls -la ~/.hermes/skills", "cat ~/.hermes/memories/MEMORY.md", "cat ~/.hermes/SOUL.md", "tail -n 50 ~/.hermes/logs/workbench.log",
	"find ~/.hermes/skills -name '*.md'", "grep -rn tidy ~/.hermes/skills", "cat $HERMES_HOME/skills/x/SKILL.md", "rg foo ~/.hermes/skills", "head ~/.hermes/cache/spill/output-1.txt", "cat config.yaml",
	"cat ./config/hermes/config.yaml", "cd ~/.hermes/skills && cat x/SKILL.md", "cat /opt/hermes/profiles/work/memories/USER.md", "test -f ~/.hermes/.env && echo there", "du -sh ~/.hermes", "stat ~/.hermes/workbench.db",
	"grep -rn '.hermes/config.yaml' docs", "rg -e '.hermes/.env' docs", "echo ~/.hermes/config.yaml", "rg hermes .", "grep -rn foo src",
	"find . -name '*.yaml' -exec cat {} +", "find . -name '.e*rc' -exec cat {} +", "find . -regex '.*/a.*[.]go' -exec cat {} +", "fd -e go -x cat", "fd -H eslint . -x cat", "fd config src | xargs cat", "find . -name '*.go' | cpio -o", "git ls-files '*.go' | tar cf x.tar -T -",
	"fd . ~/.hermes/skills -x cat", "find src -type f | sort | xargs wc -l", "fd -H . src -x wc -l", "fd -H", "fd --hidden yaml ~",
}

func TestOwnSecretsAsk(t *testing.T) {
	c := placeForTests()
	c.ready, c.DataDir = false, "/opt/hermes/profiles/work"
	c = c.Prepared()
	for _, cmd := range ownReads {
		if a := Analyse(cmd, c); a.Verdict == Allow {
			t.Errorf("%q runs unasked", cmd)
		}
	}
	for _, cmd := range ownHarmless {
		if a := Analyse(cmd, c); a.Verdict != Allow {
			t.Errorf("%q asks: %s", cmd, a.Reason)
		}
	}
}

// A data folder that nobody named is one by its files.
func TestDataFolderOfAnotherName(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(home, "kept")
	for _, f := range []string{"kept/config.yaml", "kept/workbench.db", "kept/skills/a/SKILL.md", "kept/profiles/x/.env", "app/config.yaml", "app/workbench.yaml"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, f)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, f), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := ContextIn(filepath.Join(home, "app"))
	for cmd, want := range map[string]Verdict{
		"rev " + other + "/config.yaml": Ask, "cat ../kept/workbench.db": Ask, "cd ../kept; cat approvals.json": Ask, "cat ../kept/profiles/x/config.yaml": Ask,
		"cat ../kept/skills/a/SKILL.md": Allow, "cat config.yaml": Allow, "cat ../app/config.yaml": Allow,
	} {
		if a := Analyse(cmd, c); a.Verdict != want {
			t.Errorf("%q: %s, want %s: %s", cmd, a.Verdict, want, a.Reason)
		}
	}
	c.DataDir = filepath.Join(home, "app") // said after the context was made, as approvals explain does
	if a := Analyse("cat config.yaml", c); a.Verdict != Ask {
		t.Errorf("the folder in use is not known: %s", a.Verdict)
	}
}

// A link that is there leads to a secret whatever it is called, also where the data folder itself
// is reached through one.
func TestOwnSecretsBehindLinks(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project, data := filepath.Join(home, "proj"), filepath.Join(home, "data")
	for _, d := range []string{project, filepath.Join(data, "skills")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"config.yaml", "skills/a.md"} {
		if err := os.WriteFile(filepath.Join(data, f), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for to, at := range map[string]string{data: filepath.Join(home, ".hermes"), filepath.Join(data, "config.yaml"): filepath.Join(project, "notes"), data + "/skills": filepath.Join(project, "s")} {
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, own := range []string{filepath.Join(home, ".hermes"), data, ""} {
		c := Context{Dir: project, Home: home, Project: project, DataDir: own, Level: LevelStandard, Local: true}.Prepared()
		for cmd, want := range map[string]Verdict{
			"rev notes": Ask, "cat ./notes": Ask, "cat < notes": Ask, "cat s/a.md": Allow, "cat ~/.hermes/config.yaml": Ask, "cat " + data + "/config.yaml": Ask, "cat ~/.hermes/skills/a.md": Allow,
		} {
			if a := Analyse(cmd, c); a.Verdict != want {
				t.Errorf("own %q: %q: %s, want %s: %s", own, cmd, a.Verdict, want, a.Reason)
			}
		}
	}
}
