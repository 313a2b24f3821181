package execcode

import (
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"hermes/core/confine"
)

// ruleCache keeps the rules of the last policy: making them takes a third of what isolation costs,
// and they are the same for each script of a folder until something changes beside a hidden place.
// The zero value is ready.
type ruleCache struct {
	mu   sync.Mutex
	last *ruleSet
}

// ruleSet is rules with how many starts use them just now.
type ruleSet struct {
	*confine.Rules
	key   string   // of the policy
	watch []string // folders whose change makes the rules wrong
	stamp string   // of these folders when the rules were made
	made  time.Time
	users int // by ruleCache.mu; the cache itself is one
}

// keepRules bounds how long rules are kept: a file system may have been mounted beside a hidden
// place, which no folder tells.
const keepRules = time.Minute

// takeRules returns the rules of a policy; give them back.
func (c *ruleCache) takeRules(p policy, abi int) (*ruleSet, error) {
	key := p.cacheKey()
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.last; s != nil && s.key == key && time.Since(s.made) < keepRules && s.stamp == stampOf(s.watch, p.write) {
		s.users++
		return s, nil
	}
	s := &ruleSet{key: key, made: time.Now(), users: 1}
	hidden := confine.Existing(p.hide)
	s.watch = parentFolders(append(slices.Clone(p.hide), hidden...))
	s.stamp = stampOf(s.watch, p.write) // before: what changes meanwhile shows the next time
	var err error
	if s.Rules, err = p.makeRules(abi, hidden); err != nil {
		return nil, err
	}
	if p.isShared(hidden) {
		s.users++
		if c.last != nil {
			c.endUse(c.last)
		}
		c.last = s
	}
	return s, nil
}

func (c *ruleCache) giveBack(s *ruleSet) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endUse(s)
}

// endUse ends one use. The caller holds mu.
func (c *ruleCache) endUse(s *ruleSet) {
	if s.users--; s.users == 0 {
		s.Close()
	}
}

func (c *ruleCache) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last != nil {
		c.endUse(c.last)
		c.last = nil
	}
}

// isShared reports whether the rules serve other scripts as well: not those of a strict one, which
// name its own folder, nor where a hidden place lies among temporary folders, each of which then
// needs a rule.
func (p policy) isShared(hidden []string) bool {
	for _, h := range hidden {
		if confine.Under(h, filepath.Dir(filepath.Dir(p.temp))) {
			return false
		}
	}
	return p.network
}

func (p policy) cacheKey() string {
	own := ""
	if !p.network {
		own = p.temp
	}
	return strings.Join(slices.Concat([]string{own}, p.write, []string{""}, p.hide), "\x00")
}

// parentFolders are the folders above the paths, each once.
func parentFolders(paths []string) []string {
	var out []string
	for _, path := range paths {
		for dir := filepath.Dir(path); !slices.Contains(out, dir); dir = filepath.Dir(dir) {
			out = append(out, dir)
		}
	}
	return out
}

// stampOf changes when a folder of the first list gets or loses an entry, and when one of either
// list is another one.
func stampOf(watch, same []string) string {
	var b strings.Builder
	for i, dir := range slices.Concat(watch, same) {
		var st unix.Stat_t
		if unix.Stat(dir, &st) == nil {
			b.WriteString(strconv.FormatUint(st.Ino, 36))
			if i < len(watch) {
				b.WriteByte('.')
				b.WriteString(strconv.FormatInt(st.Mtim.Nano(), 36))
			}
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// writableFolders are the folders that the script may change.
func (p policy) writableFolders() []string {
	if p.network {
		return p.write
	}
	return []string{p.temp}
}

// attributeArea is where it may change attributes of files.
func (p policy) attributeArea() confine.Area {
	write := p.writableFolders()
	if p.network {
		write = append(slices.Clone(write), "/dev/shm")
	}
	return confine.Area{Write: confine.Existing(write), Hidden: confine.Existing(p.hide)}
}

// makeRules makes the ruleset of a script; hidden are the places of hide that there are.
func (p policy) makeRules(abi int, hidden []string) (*confine.Rules, error) {
	r, err := confine.NewRules(abi)
	if err != nil {
		return nil, err
	}
	errs := []error{r.AllowBut("/", confine.Read, append(slices.Clone(hidden), "/proc", "/run", "/dev", "/var/run"), false)}
	for _, dir := range p.writableFolders() {
		errs = append(errs, r.AllowBut(dir, confine.Write, hidden, true))
	}
	for _, dev := range []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"} {
		errs = append(errs, r.Allow(dev, confine.File))
	}
	if p.network { // strict scripts change nothing but their own folder
		errs = append(errs, r.Allow("/dev/shm", confine.Write))
	}
	for _, dir := range []string{"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"} { // where /etc/resolv.conf may lead
		errs = append(errs, r.Allow(dir, confine.Read))
	}
	if err := errors.Join(errs...); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}
