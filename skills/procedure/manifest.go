package procedure

import (
	_ "embed"
	"encoding/json"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

//go:embed manifests.yaml
var manifestsFile []byte

// manifest is one kind of file that names the packages a program needs: see manifests.yaml.
type manifest struct {
	Files     []string    `yaml:"files"`
	Format    string      `yaml:"format"`
	Keys      []string    `yaml:"keys"`
	Patterns  []string    `yaml:"patterns"`
	Not       []string    `yaml:"not"`
	Imported  [][2]string `yaml:"imported"`
	Installed []string    `yaml:"installed"`
}

var manifests = sync.OnceValue(func() []manifest {
	var out []manifest
	if err := yaml.Unmarshal(manifestsFile, &out); err != nil {
		panic(err) // part of the program
	}
	return out
})

// manifestOf is the kind of a file by its name, nil when none is known.
func manifestOf(file string) *manifest {
	list, parts := manifests(), strings.Split(file, "/")
	for i := range list {
		for _, pattern := range list[i].Files {
			end := strings.Join(parts[max(0, len(parts)-1-strings.Count(pattern, "/")):], "/")
			if ok, _ := path.Match(pattern, end); ok { // a test says that patterns are good
				return &list[i]
			}
		}
	}
	return nil
}

// neededPackage is a package that a manifest names.
type neededPackage struct {
	version string
	names   []string // as programs may write it
}

// readPackages reads the packages that a file names. What is broken names none.
func (m *manifest) readPackages(text string) map[string]neededPackage {
	versions := map[string]string{}
	for _, pattern := range m.Patterns {
		matchPackages(pattern, text, versions)
	}
	if all, err := decodeManifest(m.Format, text); err == nil {
		for _, key := range m.Keys {
			collectPackages(all, strings.Split(key, "."), versions)
		}
	}
	out := map[string]neededPackage{}
	for name, version := range versions {
		if slices.Contains(m.Not, name) || !packageName().MatchString(name) {
			continue
		}
		p := neededPackage{version: version, names: []string{name}}
		for _, pair := range m.Imported {
			written := regexp.MustCompile(pair[0]).ReplaceAllString(name, pair[1])
			if written != "" && !slices.Contains(p.names, written) {
				p.names = append(p.names, written)
			}
		}
		out[name] = p
	}
	return out
}

// matchPackages finds packages in a text by the named groups of a pattern.
func matchPackages(pattern, text string, versions map[string]string) {
	re := regexp.MustCompile(pattern) // once a scan; a test says that it is good
	group, name, version := re.SubexpIndex("group"), re.SubexpIndex("name"), re.SubexpIndex("version")
	for _, found := range re.FindAllStringSubmatch(text, -1) {
		full := found[name]
		if group >= 0 {
			full = found[group] + ":" + full
		}
		versions[full] = found[version]
	}
}

func decodeManifest(format, text string) (all any, err error) {
	switch format {
	case "json":
		err = json.Unmarshal([]byte(text), &all)
	case "yaml":
		err = yaml.Unmarshal([]byte(text), &all)
	case "toml":
		var table map[string]any
		err = toml.Unmarshal([]byte(text), &table)
		all = table
	default:
		err = errors.New("a text without a format")
	}
	return all, err
}

// collectPackages follows keys down to what names packages.
func collectPackages(v any, keys []string, versions map[string]string) {
	if len(keys) == 0 {
		addPackages(v, versions)
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			if keys[0] == "*" || keys[0] == name {
				collectPackages(below, keys[1:], versions)
			}
		}
	case []any:
		for _, below := range v {
			if keys[0] == "*" {
				collectPackages(below, keys[1:], versions)
			}
		}
	}
}

// requirement is "name>=1.2", "name[extra] ~= 1", "name = 1" of lists.
var requirement = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*([A-Za-z0-9@][A-Za-z0-9@/._-]*)\s*(?:\[[^\]]*\])?\s*\(?\s*(?:[=<>~!^]=?=?\s*([^\s;,#)]+))?`)
})

// addPackages takes packages from a map of names, or from a list of requirements.
func addPackages(v any, versions map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			versions[name] = versionIn(below)
		}
	case []any:
		for _, item := range v {
			switch item := item.(type) {
			case string:
				if found := requirement().FindStringSubmatch(item); found != nil {
					versions[found[1]] = found[2]
				}
			case map[string]any:
				if name, ok := item["name"].(string); ok {
					versions[name] = versionIn(item)
				}
			}
		}
	}
}

// versionIn is a version as a manifest writes it, without the signs before it.
func versionIn(v any) string {
	switch v := v.(type) {
	case string:
		return strings.TrimLeft(v, "^~=v<> ")
	case map[string]any:
		for _, key := range []string{"version", "version>="} {
			if text, ok := v[key].(string); ok {
				return versionIn(text)
			}
		}
	}
	return ""
}
