package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// References name models, the first that can be had counts. In a file it is one, or a
// list.
type References []string

// UnmarshalJSON takes a string too.
func (p *References) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*p = References{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(p))
}

// UnmarshalYAML takes a string too.
func (p *References) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*p = References{n.Value}
		return nil
	}
	return n.Decode((*[]string)(p))
}

// maxOwn bounds a person's file.
const maxOwn = 4 << 20

// ReadOwn is c with what a person's own file says over it: vendors, models and aliases in the form
// of the shipped data. A file that is not there says nothing. What is wrong is told with its line;
// the rest counts.
func (c *Catalogue) ReadOwn(file string) (*Catalogue, []error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil && len(data) > maxOwn {
		err = fmt.Errorf("it has more than %d bytes", maxOwn)
	}
	if err != nil {
		return c, []error{fmt.Errorf("%s cannot be read, what it says does not count: %w", file, err)}
	}
	r := &ownReader{file: file, base: c, out: *c}
	r.readFile(data)
	return &r.out, r.wrong
}

// ownReader reads one file.
type ownReader struct {
	file  string
	base  *Catalogue
	out   Catalogue
	wrong []error
}

func (r *ownReader) readFile(data []byte) {
	var doc struct {
		Note    string               `yaml:"note"`
		Vendors []yaml.Node          `yaml:"vendors"`
		Models  []yaml.Node          `yaml:"models"`
		Aliases map[string]yaml.Node `yaml:"aliases"`
	}
	if err := decodeStrictly(data, &doc); err != nil {
		r.addFault(0, err)
		return
	}
	for i := range doc.Vendors {
		r.readVendor(&doc.Vendors[i])
	}
	for i := range doc.Models {
		r.readModel(&doc.Models[i])
	}
	aliases := map[string]References{}
	maps.Copy(aliases, r.base.Aliases)
	for name, n := range doc.Aliases {
		var to References
		if err := n.Decode(&to); err != nil || len(to) == 0 {
			r.addFault(n.Line, fmt.Errorf("alias %s: write a model as provider/model, or a list of them",
				name))
			continue
		}
		aliases[name] = to
	}
	r.out.Aliases = aliases
}

func (r *ownReader) addFault(line int, err error) {
	where := r.file
	if line > 0 {
		where = fmt.Sprintf("%s:%d", r.file, line)
	}
	r.wrong = append(r.wrong, fmt.Errorf("%s: %w", where, err))
}

// readVendor takes one entry: a new vendor, or what is different about a known one.
func (r *ownReader) readVendor(n *yaml.Node) {
	var head struct {
		Name string `yaml:"name"`
	}
	if err := n.Decode(&head); err != nil || !vendorName().MatchString(head.Name) {
		r.addFault(n.Line, errors.New("a vendor needs a name of small letters, digits, dot and dash"))
		return
	}
	at := slices.IndexFunc(r.out.Vendors, func(v Vendor) bool { return v.Name == head.Name })
	v := Vendor{}
	if at >= 0 {
		v = r.out.Vendors[at]
	}
	was := v
	if err := strictNode(n, &v); err != nil {
		r.addFault(n.Line, err)
		return
	}
	if err := r.checkKeyHost(was, &v); err != nil {
		r.addFault(n.Line, fmt.Errorf("vendor %s: %w", v.Name, err))
		return
	}
	r.out.Vendors = slices.Clone(r.out.Vendors)
	if at >= 0 {
		r.out.Vendors[at] = v
		return
	}
	r.out.Vendors = append(r.out.Vendors, v)
}

// checkKeyHost keeps a key with its own host: a vendor that moves brings a variable of its own, and
// nobody takes another vendor's.
func (r *ownReader) checkKeyHost(was Vendor, v *Vendor) error {
	if v.BaseURL == "" && v.BaseEnv == "" {
		return errors.New("base_url is missing: https://host/v1")
	}
	if v.BaseURL != "" && hostOf(v.BaseURL) == "" {
		return fmt.Errorf("base_url %q must look like https://host/v1", v.BaseURL)
	}
	if !slices.Contains([]string{"", ModeChat, ModeResponses, ModeMessages}, v.Mode) {
		return fmt.Errorf("api_mode %q: choose %s, %s or %s", v.Mode, ModeChat, ModeResponses, ModeMessages)
	}
	if v.Thoughts != "" && v.Thoughts != ThoughtsGoogle {
		return fmt.Errorf("thoughts %q: choose %s, or leave it out", v.Thoughts, ThoughtsGoogle)
	}
	if v.Local && !isLoopback(v.BaseURL) {
		return errors.New("local is for servers on this machine: leave it out")
	}
	moved := !sameHost(was.BaseURL, v.BaseURL) || !slices.Equal(was.Hosts, v.Hosts)
	for _, name := range v.keyNames() {
		if owner, ok := r.base.keyOf(name); ok && (owner.Name != v.Name || moved) {
			return fmt.Errorf("%s is the key of %s and goes to its address only: give key_env another name "+
				"(also_env: [] takes the other names away), or name it under providers.%s.key_env in config.yaml", name, owner.Name, v.Name)
		}
	}
	v.Closed = ""
	return nil
}

// keyOf is the vendor whose key a variable holds.
func (c *Catalogue) keyOf(name string) (Vendor, bool) {
	for _, v := range c.Vendors {
		if slices.Contains(v.keyNames(), name) {
			return v, true
		}
	}
	return Vendor{}, false
}

func (r *ownReader) readModel(n *yaml.Node) {
	var m ModelFacts
	err := strictNode(n, &m)
	if err == nil {
		err = m.checkFigures()
	}
	if err != nil {
		r.addFault(n.Line, err)
		return
	}
	if v, ok := (&r.out).Named(m.Vendor); ok {
		m.Vendor = v.Name
	}
	r.out.own = append(slices.Clip(r.out.own), m)
}

// checkFigures refuses figures that cannot be.
func (m ModelFacts) checkFigures() error {
	if m.ID == "" || len(m.ID) > 200 || strings.ContainsFunc(m.ID, unicode.IsControl) {
		return errors.New("a model needs an id, as its server names it")
	}
	if m.Window < 0 || m.Window > maxTokens || m.MaxOutput < 0 || m.MaxOutput > maxTokens {
		return fmt.Errorf("model %s: so many tokens cannot be", m.ID)
	}
	if err := m.checkPrices(); err != nil {
		return err
	}
	if !slices.Contains([]string{"", ModeChat, ModeResponses, ModeMessages}, m.Mode) {
		return fmt.Errorf("model %s: api_mode %q: choose %s, %s or %s", m.ID, m.Mode, ModeChat, ModeResponses, ModeMessages)
	}
	for _, e := range append(slices.Clone(m.Efforts), m.Effort) {
		if e != "" && !slices.Contains(Efforts(), e) {
			return fmt.Errorf("model %s: no effort is called %q: choose %s", m.ID, e, strings.Join(Efforts(), ", "))
		}
	}
	return nil
}

func (m ModelFacts) checkPrices() error {
	prices := []float64{m.PriceOut, m.Cached, m.Written}
	if m.PriceIn != nil {
		prices = append(prices, *m.PriceIn)
	}
	for _, t := range m.Over {
		prices = append(prices, t.PriceIn, t.PriceOut, t.Cached, t.Written)
	}
	for _, p := range prices {
		if p < 0 || p > maxPrice || math.IsNaN(p) {
			return fmt.Errorf("model %s: a price is in dollars per million tokens, from 0 to %d", m.ID, maxPrice)
		}
	}
	if m.PriceIn == nil && (m.PriceOut > 0 || m.Cached > 0 || m.Written > 0) {
		return fmt.Errorf("model %s: prices need price_in", m.ID)
	}
	return nil
}

const (
	maxTokens = 1 << 30
	maxPrice  = 100_000
)

// Efforts are the names of how long a model thinks, the least first.
func Efforts() []string { return []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"} }

var vendorName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,63}$`) })

// decodeStrictly decodes a document that may hold no key that it is not made for.
func decodeStrictly(data []byte, to any) error {
	d := yaml.NewDecoder(strings.NewReader(string(data)))
	d.KnownFields(true)
	if err := d.Decode(to); err != nil && err.Error() != "EOF" {
		return readableError(err)
	}
	return nil
}

// strictNode is strictly for a part of one.
func strictNode(n *yaml.Node, to any) error {
	data, err := yaml.Marshal(n)
	if err != nil {
		return err
	}
	return decodeStrictly(data, to)
}

// readableError turns an error of the YAML library into one line without our types. Lines within a
// part are not those of the file: they go.
func readableError(err error) error {
	text := strings.ReplaceAll(strings.TrimPrefix(err.Error(), "yaml: "), "\n", "; ")
	text = strings.TrimPrefix(text, "unmarshal errors:;   ")
	text = unknownField().ReplaceAllString(text, "there is no key \"$1\"")
	text = linePart().ReplaceAllString(text, "")
	return errors.New(cleanWords(text, ""))
}

var (
	unknownField = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`field (\S+) not found in type \S.*?(?:;|$)`) })
	linePart     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`line \d+: `) })
)
