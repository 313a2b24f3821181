package config

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Remove takes one key with all below it out of config.yaml. It reports whether it was there.
// Everything else stays, comments too; blank lines may not.
func Remove(p Paths, key string) (bool, error) {
	editing.Lock()
	defer editing.Unlock()
	path, _, ok := resolveKey(configType, key)
	if !ok {
		return false, unknownKey(key)
	}
	raw, problems := readFile(p.ConfigFile, "config.yaml")
	if len(problems) > 0 {
		return false, fmt.Errorf("%s: nothing was changed", problems[0])
	}
	read := parse("config.yaml", raw)
	if len(read.problems) > 0 {
		return false, fmt.Errorf("%s: nothing was changed; repair it with `hermes config edit` first", read.problems[0])
	}
	if len(read.roots) == 0 {
		return false, nil
	}
	root := read.roots[0]
	at := lookupNode(root, path)
	if at.key == nil || len(at.rest) > 0 {
		return false, nil
	}
	before := map[string]string{}
	flattenLeaves(root, "", before, 0)
	i := slices.Index(at.parent.Content, at.key)
	at.parent.Content = slices.Delete(at.parent.Content, i, i+2)
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return false, fmt.Errorf("config.yaml could not be written anew: %w", err)
	}
	if err := removedOnly(before, b.Bytes(), "\x00"+strings.Join(at.spelling, "\x00")); err != nil {
		return false, err
	}
	return true, replaceFile(p.ConfigFile, b.Bytes())
}

// removedOnly checks that a new text says what the old one did, but for what stood at gone.
func removedOnly(before map[string]string, text []byte, gone string) error {
	after := map[string]string{}
	for _, root := range parse("", text).roots {
		flattenLeaves(root, "", after, 0)
	}
	for key, value := range before {
		inside := key == gone || strings.HasPrefix(key, gone+"\x00")
		if now, there := after[key]; there == inside || there && now != value {
			return fmt.Errorf("config.yaml is written in a way that a key cannot be taken out of: use `hermes config edit`")
		}
	}
	return nil
}
