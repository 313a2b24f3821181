package docker

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Labels of everything that we create. Values but that of labelHome have at most 63 characters of
// [A-Za-z0-9_.-]. No label holds what a variable or a command contains.
const (
	labelApp      = "hermes.app" // appName: this is how ours are told from everybody else's
	labelSchema   = "hermes.schema"
	labelOwner    = "hermes.owner" // hash of the data folder's own number: another one's are not ours either
	labelSession  = "hermes.session"
	labelBackend  = "hermes.backend"
	labelRole     = "hermes.role"     // roleBackend, roleInstall, roleRunner
	labelCreated  = "hermes.created"  // seconds since 1970
	labelInstance = "hermes.instance" // the process that created it
	labelHome     = "hermes.home"     // of a runner's volume: path of the data folder that it is for
	labelMachine  = "hermes.machine"  // of a runner's volume: hash of the machine that this folder is on
	labelPart     = "hermes.spec."    // + a part's name: hash of that part of the specification

	appName = "hermes"
	schema  = "1"

	roleBackend = "backend" // a container in which commands run
	roleInstall = "install" // a container that is never started, through which the runner gets into its volume
	roleRunner  = "runner"  // the volume that holds the runner
)

// identity is who a container belongs to.
type identity struct{ owner, session, backend string }

// containerName is the container's. It is also the lock: an engine gives a name to one container
// only, whoever asks.
func (i identity) containerName() string {
	return appName + "-" + i.backend + "-" + hashParts(i.owner, i.session, i.backend)[:12]
}

// hashParts is a SHA-256, in hexadecimal, of the parts with their lengths: no two lists of parts
// have the same text.
func hashParts(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(p)))
		h.Write(size[:])
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// roleLabels are those of everything with this role.
func (k *Kind) roleLabels(role string) map[string]string {
	return map[string]string{
		labelApp: appName, labelSchema: schema, labelOwner: k.homeOwner(), labelRole: role,
		labelCreated: strconv.FormatInt(time.Now().Unix(), 10), labelInstance: k.instance,
	}
}

// volumeLabels are those of a runner's volume, which outlives the programs that use it: they say
// whose it is.
func (k *Kind) volumeLabels() map[string]string {
	l := k.roleLabels(roleRunner)
	if m := machine(); m != "" {
		l[labelHome], l[labelMachine] = k.home().home, m
	}
	return l
}

// machine is a hash of what tells this machine from others, "" when nothing does. Machines can be
// copies of one another, and containers of one image: so the host's name counts as well.
var machine = sync.OnceValue(func() string {
	host, err := os.Hostname()
	id := machineID()
	if err != nil || host == "" || id == "" {
		return ""
	}
	return hashParts(id, host)[:16]
})

// isHomeless says whether labels are those of a volume for a data folder of this machine that is
// gone, or was made anew since.
func isHomeless(labels map[string]string) bool {
	home := labels[labelHome]
	if m := labels[labelMachine]; m == "" || m != machine() || !filepath.IsAbs(home) {
		return false
	}
	if _, err := os.Stat(home); err != nil {
		return errors.Is(err, fs.ErrNotExist) // a folder that cannot be looked at may be there
	}
	path := ownerFile(home)
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() { // who wrote the label is not known
		return false
	}
	owner, err := readOwner(path)
	return err == nil && owner != labels[labelOwner]
}

const maxLabel = 63

// safeLabel makes a value that every engine and tool takes. What had to be changed gets a hash, so
// that two values stay two.
func safeLabel(value string) string {
	ok := len(value) <= maxLabel
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '.', r == '-':
			return r
		}
		ok = false
		return '_'
	}, value)
	if ok {
		return safe
	}
	sum := hashParts(value)[:12]
	return safe[:min(len(safe), maxLabel-1-len(sum))] + "-" + sum
}

// isOurs says whether labels are those of something that this data folder's program made.
func (k *Kind) isOurs(labels map[string]string) bool {
	return labels[labelApp] == appName && labels[labelOwner] == k.homeOwner()
}

// hasLabels says whether labels are exactly those of this identity's container, and not of one
// whose name is the same by accident or intent.
func (i identity) hasLabels(labels map[string]string) bool {
	return labels[labelApp] == appName && labels[labelRole] == roleBackend && labels[labelOwner] == i.owner &&
		labels[labelSession] == safeLabel(i.session) && labels[labelBackend] == safeLabel(i.backend)
}
