package command

import (
	"io/fs"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// wordLists are the lists of programs/words by "program.meaning", read when the first is asked for.
var wordLists = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	files, _ := fs.Glob(programFiles, "programs/words/*.yaml")
	for _, name := range files {
		data, _ := programFiles.ReadFile(name) // they are part of the program
		var programs map[string]map[string]string
		if yaml.Unmarshal(data, &programs) != nil {
			continue // a test reads them strictly; without its words a program asks
		}
		for program, lists := range programs {
			for meaning, words := range lists {
				out[program+"."+meaning] = strings.TrimSpace(words)
			}
		}
	}
	return out
})

// wordList is a list of programs/words, separated by blanks: verbs of a program that mean the same,
// or its options that take a value.
func wordList(name string) string { return wordLists()[name] }
