package command

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Each list that the code asks for is there, each that is there is asked for, and no word stands in
// a list twice.
func TestWordLists(t *testing.T) {
	asked := map[string]bool{}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	name, family := regexp.MustCompile(`wordList\("([^"]+)"\)`), regexp.MustCompile(`wordList\("([^".]+)\." ?\+`)
	families := map[string]bool{} // lists by the name of a program
	for _, file := range sources {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range family.FindAllStringSubmatch(string(text), -1) {
			families[m[1]] = true
		}
		for _, m := range name.FindAllStringSubmatch(string(text), -1) {
			asked[m[1]] = true
			if wordList(m[1]) == "" {
				t.Errorf("%s: there is no list %s", file, m[1])
			}
		}
	}
	files, err := fs.Glob(programFiles, "programs/words/*.yaml")
	if err != nil || len(files) == 0 || len(asked) == 0 {
		t.Fatal(files, len(asked), err)
	}
	seen := map[string]string{}
	for _, file := range files {
		text, err := programFiles.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var programs map[string]map[string]string
		if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&programs); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for program, lists := range programs {
			for meaning, words := range lists {
				list := program + "." + meaning
				if seen[list] != "" || !asked[list] && !families[program] {
					t.Errorf("%s: nobody asks for %s, or it stands in %s too", file, list, seen[list])
				}
				seen[list] = file
				once := map[string]bool{}
				for word := range strings.FieldsSeq(words) {
					if once[word] {
						t.Errorf("%s: %s has %s twice", file, list, word)
					}
					once[word] = true
				}
			}
		}
	}
}
