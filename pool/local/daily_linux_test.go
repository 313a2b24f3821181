package local

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"hermes/core/testskip"
)

// dailyWork is what people do all day in a project, without a network. Each runs in a project of
// its own; a tool that a machine does not have is not tried.
var dailyWork = map[string]struct{ needs, command, want string }{
	"go": {"go", `mkdir -p m/double && cd m && export GOPROXY=off GOTOOLCHAIN=local CGO_ENABLED=0 && printf 'module example.test/m\n\ngo 1.21\n' >go.mod &&
 printf 'package double\n\nfunc Of(n int) int { return 2 * n }\n' >double/double.go &&
 printf 'package main\n\nimport "example.test/m/double"\n\nfunc main() { println(double.Of(21)) }\n' >main.go && go build -o prog . && ./prog`, "42"},
	"npm": {"npm", `mkdir -p part app && (cd part && npm init -y >/dev/null && echo 'module.exports = 42' >index.js) && cd app && npm init -y >/dev/null &&
 npm install --offline --no-audit --no-fund ../part && node -e 'console.log(require("part"))'`, "42"},
	"a virtual environment": {"pip3", `PATH=/usr/bin:/bin && python3 -m venv env && mkdir -p wheel/tiny wheel/tiny-1.dist-info && cd wheel && echo 'answer = 42' >tiny/__init__.py &&
 printf 'Metadata-Version: 2.1\nName: tiny\nVersion: 1\n' >tiny-1.dist-info/METADATA && printf 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n' >tiny-1.dist-info/WHEEL &&
 printf 'tiny/__init__.py,,\ntiny-1.dist-info/METADATA,,\ntiny-1.dist-info/WHEEL,,\ntiny-1.dist-info/RECORD,,\n' >tiny-1.dist-info/RECORD &&
 python3 -m zipfile -c ../tiny-1-py3-none-any.whl tiny tiny-1.dist-info && cd .. && env/bin/pip install --no-index -q ./tiny-1-py3-none-any.whl &&
 env/bin/python -c 'import tiny; print(tiny.answer)'`, "42"},
	"make install": {"make", `printf 'install:\n\tinstall -D -m 755 tool $(DESTDIR)/usr/bin/tool\n\tinstall -d $(DESTDIR)/etc\n\tln -s ../usr/bin/tool $(DESTDIR)/etc/tool\n' >Makefile &&
 printf '#!/bin/sh\necho ran\n' >tool && make install DESTDIR="$PWD/root" && root/etc/tool`, "ran"},
	"git": {"git", `mkdir r && cd r && git init -q -b main . && git config user.email a@example.test && git config user.name A && echo one >f && chmod +x f && git add f && git commit -qm one &&
 git checkout -q -b side && echo two >f && git commit -qam two && git checkout -q main && cat f && git merge -q side && git stash list && git log --oneline | wc -l && git gc -q && git fsck && echo whole`, "whole"},
	"archives": {"tar", `mkdir -p d/e && echo x >d/e/f && chmod 750 d/e && ln -s f d/e/l && ln d/e/f d/e/h && tar czf a.tar.gz d && mkdir out && tar xzpf a.tar.gz -C out && cp -a d copy && diff -r d out/d &&
 diff -r d copy && stat -c %a copy/e`, "750"},
}

// Daily work goes on in the sandbox, and leaves nothing outside of the project but caches.
func TestDailyWorkInASandbox(t *testing.T) {
	testskip.LongWithoutRace(t, "compilers and package managers in each sandbox")
	for _, e := range engines {
		for name, work := range dailyWork {
			t.Run(string(e)+" "+name, func(t *testing.T) {
				if _, err := exec.LookPath(work.needs); err != nil {
					testskip.Missing(t, err)
				}
				c := newCell(t, "project", e)
				c.patience = 2 * time.Minute
				c.works(work.command, work.want)
				entries, err := os.ReadDir(c.outside)
				if err != nil || len(entries) != 1 {
					t.Errorf("outside: %v, %v", entries, err)
				}
				for _, name := range []string{".bashrc", ".npmrc", ".gitconfig", ".config"} {
					if _, err := os.Stat(filepath.Join(c.home, name)); err == nil {
						t.Errorf("%s was made at home", name)
					}
				}
			})
		}
	}
}
