package skills

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPublicSkills reads every SKILL.md below the folder HERMES_SKILLS_CORPUS: the skills that
// others published are not ours to ship. .ci/corpus runs it.
func TestPublicSkills(t *testing.T) {
	root := os.Getenv("HERMES_SKILLS_CORPUS")
	if root == "" {
		t.Skip("HERMES_SKILLS_CORPUS names no folder")
	}
	all, whole, refused := 0, 0, map[string][]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() != File {
			return err
		}
		all++
		s := One(filepath.Dir(path))
		switch {
		case s == nil:
			t.Errorf("%s: nothing came of it", path)
		case !s.Usable():
			why := "" // the first fatal problem
			for _, p := range slices.Backward(s.Problems) {
				if p.Fatal {
					why = p.Key + ": " + p.Why
				}
				if p.Fatal && (p.Why == "" || p.File == "") {
					t.Errorf("%s: refused without a reason: %+v", path, p)
				}
			}
			refused[why] = append(refused[why], strings.TrimPrefix(path, root))
		case len(s.Problems) == 0:
			whole++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for why, files := range refused {
		t.Logf("refused, %d: %s: %v", len(files), why, files[:min(3, len(files))])
	}
	no := 0
	for _, files := range refused {
		no += len(files)
	}
	t.Logf("%d of %d skills are read, %d of them without a remark", all-no, all, whole)
	const least = 174 // of the corpus that hermes-agent has
	if all-no < least {
		t.Errorf("wanted: at least %d", least)
	}
}
