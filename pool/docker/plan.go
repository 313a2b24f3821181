package docker

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	capi "github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/network"
)

const (
	runnerDir  = "/.hermes" // where the volume with the runner is in every container
	runnerFile = runnerDir + "/runner"

	hardening = "1" // version of what addHardening sets: containers of another one are made anew

	defaultWorkdir = "/workspace"
	defaultMemory  = 4 << 30
	defaultPids    = 1024
)

// plan is a container before it is made.
type plan struct {
	config   *capi.Config
	host     *capi.HostConfig
	networks *network.NetworkingConfig
}

// facts about the engine and the image that a plan depends on.
type facts struct {
	machineMemory int64
	image         image.InspectResponse
	volume        string // with the runner
	grace         string
	socket        string // name under which the runner serves a second process of ours
	rules         mountRules
}

// newPlan works out a container. Errors are the configuration's.
func newPlan(s fullSpec, f facts) (*plan, error) {
	mounts, err := f.rules.checkMounts(s.Mounts)
	if err != nil {
		return nil, err
	}
	net, err := networkMode(s.Network)
	if err != nil {
		return nil, err
	}
	tmpfs, err := tmpfsMounts(s.Scratch, mounts)
	if err != nil {
		return nil, err
	}
	gpus, err := parseGPUs(s.GPUs)
	if err != nil {
		return nil, err
	}
	workdir, err := workdirFor(s, f.image)
	if err != nil {
		return nil, err
	}
	if s.ReadOnly && !isMounted(workdir, mounts, tmpfs) {
		// A volume of its own, which ends with the container: somewhere files must be kept.
		mounts = append(mounts, mount.Mount{Type: mount.TypeVolume, Target: workdir})
	}
	mounts = append(mounts, mount.Mount{
		Type: mount.TypeVolume, Source: f.volume, Target: runnerDir, ReadOnly: true, VolumeOptions: &mount.VolumeOptions{NoCopy: true},
	})
	p := &plan{config: containerConfig(s, f, workdir), host: &capi.HostConfig{
		Mounts: mounts, Tmpfs: tmpfs, NetworkMode: net, ReadonlyRootfs: s.ReadOnly, ShmSize: max(0, int64(s.Shm)),
	}}
	p.addHardening()
	p.limitResources(s, f.machineMemory)
	p.host.DeviceRequests = gpus
	return p, nil
}

// config is what runs: the runner and nothing else, whatever the image would have run.
func containerConfig(s fullSpec, f facts, workdir string) *capi.Config {
	return &capi.Config{
		Image: f.image.ID, User: s.User, WorkingDir: workdir, Hostname: hostnameFor(s.Name),
		Entrypoint: []string{runnerFile, "serve", "-grace", f.grace, "-socket", f.socket},
		// The end of our stream is the end of its input, which is how it learns that we are gone.
		OpenStdin: true, StdinOnce: true, AttachStdin: true, AttachStdout: true, AttachStderr: true,
		Healthcheck: &capi.HealthConfig{Test: []string{"NONE"}},
		StopSignal:  "SIGTERM",
	}
}

// hostnameFor is what a prompt shows: the back end's name, as far as a host may be called that.
func hostnameFor(name string) string {
	return strings.Trim(strings.ReplaceAll(name, "_", "-"), "-")
}

// addHardening is the hardening that is the same for all.
func (p *plan) addHardening() {
	no := false
	h := p.host
	h.CapDrop = []string{"ALL"}
	h.CapAdd = []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID"}
	h.SecurityOpt = []string{"no-new-privileges:true"} // seccomp and AppArmor stay the engine's own
	// The runner is the first process: it collects what commands leave behind as an init would, and
	// no command in the container can end it with KILL. Engines without a docker-init do as well.
	h.Init = &no
	h.IpcMode = capi.IPCModePrivate
	h.RestartPolicy = capi.RestartPolicy{Name: capi.RestartPolicyDisabled}
	h.LogConfig = capi.LogConfig{Type: "none"} // the stream is a protocol, and what commands print is nobody's else
}

// limitResources bounds what it may use of the machine.
func (p *plan) limitResources(s fullSpec, machineMemory int64) {
	memory := int64(s.Memory)
	if memory == 0 {
		memory = defaultMemory
		if machineMemory > 0 {
			memory = min(memory, machineMemory/2)
		}
	}
	if memory > 0 {
		p.host.Memory, p.host.MemorySwap = memory, memory
	}
	pids := int64(s.Pids)
	if pids == 0 {
		pids = defaultPids
	}
	p.host.PidsLimit = &pids
	p.host.NanoCPUs = int64(s.CPUs * 1e9)
}

// networkMode refuses what would give the container the network of the host or of somebody else's
// container.
func networkMode(name string) (capi.NetworkMode, error) {
	switch {
	case name == "" || name == "bridge" || name == "default":
		return "bridge", nil
	case name == "host":
		return "", errors.New("network: host would let commands reach everything that listens on this machine only; use bridge, none or the name of a network")
	case strings.Contains(name, ":"):
		return "", fmt.Errorf("network: %s would share the network of something that is not ours; use bridge, none or the name of a network", name)
	}
	return capi.NetworkMode(name), nil
}

// tmpfsMounts are the file systems in memory: those that every container has, where nothing else is
// mounted, and the configured ones.
func tmpfsMounts(configured map[string]string, mounts []mount.Mount) (map[string]string, error) {
	all := map[string]string{
		"/tmp":     "rw,exec,nosuid,nodev,mode=1777,size=1g",
		"/var/tmp": "rw,exec,nosuid,nodev,mode=1777,size=1g",
		"/run":     "rw,noexec,nosuid,nodev,mode=1777,size=64m",
	}
	for _, m := range mounts {
		delete(all, m.Target)
	}
	for target, options := range configured {
		clean, err := checkTarget(target)
		if err != nil {
			return nil, fmt.Errorf("tmpfs: %w", err)
		}
		if slices.ContainsFunc(mounts, func(m mount.Mount) bool { return m.Target == clean }) {
			return nil, fmt.Errorf("tmpfs: something else is mounted at %s already", clean)
		}
		all[clean] = strings.Trim("nosuid,nodev,"+options, ",")
	}
	return all, nil
}

// workdirFor is where sessions start: what is configured, what the image has, or a folder of ours.
func workdirFor(s fullSpec, img image.InspectResponse) (string, error) {
	if s.Workdir != "" {
		if !path.IsAbs(s.Workdir) || strings.ContainsRune(s.Workdir, 0) {
			return "", fmt.Errorf("workdir: %q: in a container it must begin with /", s.Workdir)
		}
		return path.Clean(s.Workdir), nil
	}
	if img.Config != nil && img.Config.WorkingDir != "" && img.Config.WorkingDir != "/" {
		return img.Config.WorkingDir, nil
	}
	return defaultWorkdir, nil
}

// isMounted says whether dir is on something that is mounted, or is / itself.
func isMounted(dir string, mounts []mount.Mount, tmpfs map[string]string) bool {
	for _, m := range mounts {
		if isWithin(dir, m.Target) {
			return true
		}
	}
	for target := range tmpfs {
		if isWithin(dir, target) {
			return true
		}
	}
	return dir == "/"
}

// parseGPUs reads all, a number, or device=0,1.
func parseGPUs(text string) ([]capi.DeviceRequest, error) {
	if text == "" {
		return nil, nil
	}
	request := capi.DeviceRequest{Capabilities: [][]string{{"gpu"}}}
	if ids, ok := strings.CutPrefix(text, "device="); ok {
		request.DeviceIDs = strings.Split(ids, ",")
		if slices.Contains(request.DeviceIDs, "") {
			return nil, fmt.Errorf("gpus: %q names an empty device", text)
		}
		return []capi.DeviceRequest{request}, nil
	}
	request.Count = -1
	if text != "all" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("gpus: %q: write all, a number, or device=0,1", text)
		}
		request.Count = n
	}
	return []capi.DeviceRequest{request}, nil
}

// hashedParts are what cannot be changed on a container that exists, hashed one by one, so that a
// difference has a name. Variables are not among them: they travel with each command, and the
// engine never gets to know them.
func (p *plan) hashedParts(hardening string) map[string]string {
	h, c := p.host, p.config
	limits := []any{h.Memory, *h.PidsLimit, h.NanoCPUs, h.ShmSize}
	safety := []any{hardening, h.CapAdd, h.CapDrop, h.SecurityOpt, h.ReadonlyRootfs, h.LogConfig, h.IpcMode, c.Entrypoint, *h.Init}
	return map[string]string{
		"image": jsonDigest(c.Image), "mounts": jsonDigest(h.Mounts), "tmpfs": jsonDigest(h.Tmpfs), "network": jsonDigest(h.NetworkMode), "user": jsonDigest(c.User),
		"workdir": jsonDigest(c.WorkingDir), "limits": jsonDigest(limits), "gpus": jsonDigest(h.DeviceRequests), "hardening": jsonDigest(safety),
	}
}

// jsonDigest is a hash of a value's JSON, whose maps are sorted.
func jsonDigest(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return "unknown"
	}
	return hashParts(string(data))[:12]
}

// changedParts names the parts in which a container that exists is not what is configured now.
func (p *plan) changedParts(labels map[string]string) []string {
	var changed []string
	parts := p.hashedParts(hardening)
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		if labels[labelPart+name] != parts[name] {
			changed = append(changed, name)
		}
	}
	return changed
}
