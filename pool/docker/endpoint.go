package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/docker/docker/client"
)

// endpoint is where an engine listens, and how it wants to be spoken to.
type endpoint struct {
	host string // unix:///path, tcp://host:port, ssh://user@host:port
	tls  tlsFiles
}

// tlsFiles are paths; all are empty for an engine without TLS.
type tlsFiles struct {
	ca, cert, key string
	trusting      bool // the engine's certificate is not checked
}

// isLocal says that the engine sees the same files as we do.
func (e endpoint) isLocal() bool { return strings.HasPrefix(e.host, "unix://") }

// findEndpoint is the engine that a configuration names; "" is the one that the docker command
// would use: DOCKER_HOST, else the current context, else the socket of this machine.
func findEndpoint(address string) (endpoint, error) {
	if address == "" {
		address = os.Getenv(client.EnvOverrideHost)
	}
	if address == "" {
		return currentContext()
	}
	return checkEndpoint(endpoint{host: address, tls: envTLS(address)})
}

func checkEndpoint(e endpoint) (endpoint, error) {
	scheme, rest, ok := strings.Cut(e.host, "://")
	if !ok || rest == "" {
		return e, fmt.Errorf("engine %q: write an address like unix:///var/run/docker.sock, tcp://host:2376 or ssh://user@host", e.host)
	}
	switch scheme {
	case "unix", "tcp", "http", "https", "ssh":
		return e, nil
	}
	return e, fmt.Errorf("engine %q: %s:// is not known; use unix://, tcp:// or ssh://", e.host, scheme)
}

// envTLS is what DOCKER_CERT_PATH and DOCKER_TLS_VERIFY say about a TCP address, as for the docker
// command.
func envTLS(address string) tlsFiles {
	dir := os.Getenv(client.EnvOverrideCertPath)
	if dir == "" || !strings.HasPrefix(address, "tcp://") {
		return tlsFiles{}
	}
	t := tlsIn(dir)
	t.trusting = os.Getenv(client.EnvTLSVerify) == ""
	return t
}

func tlsIn(dir string) tlsFiles {
	file := func(name string) string {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err != nil {
			return ""
		}
		return path
	}
	return tlsFiles{ca: file("ca.pem"), cert: file("cert.pem"), key: file("key.pem")}
}

// configDir is the docker command's own.
func configDir() string {
	if dir := os.Getenv("DOCKER_CONFIG"); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".docker")
}

// currentContext is the engine of the docker context in use (docker context use, DOCKER_CONTEXT).
func currentContext() (endpoint, error) {
	name := os.Getenv("DOCKER_CONTEXT")
	if name == "" {
		file, err := readConfig()
		if err != nil {
			return endpoint{}, err
		}
		name = file.CurrentContext
	}
	if name == "" || name == "default" {
		return endpoint{host: client.DefaultDockerHost}, nil
	}
	e, err := readContext(configDir(), name)
	if err != nil {
		return endpoint{}, fmt.Errorf("docker context %q: %w (docker context ls shows what there is; DOCKER_HOST or engine: overrides it)", name, err)
	}
	return checkEndpoint(e)
}

// readContext reads one context of the docker command's store, whose folders are named by hash.
func readContext(config, name string) (endpoint, error) {
	sum := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(sum[:])
	data, err := os.ReadFile(filepath.Join(config, "contexts", "meta", id, "meta.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return endpoint{}, errors.New("there is no such context")
	}
	if err != nil {
		return endpoint{}, err
	}
	return parseContext(data, tlsIn(filepath.Join(config, "contexts", "tls", id, "docker")))
}

func parseContext(meta []byte, t tlsFiles) (endpoint, error) {
	var m struct {
		Endpoints map[string]struct {
			Host          string
			SkipTLSVerify bool
		}
	}
	if err := json.Unmarshal(meta, &m); err != nil {
		return endpoint{}, fmt.Errorf("its meta.json cannot be read: %w", err)
	}
	d, ok := m.Endpoints["docker"]
	if !ok || d.Host == "" {
		return endpoint{}, errors.New("it names no docker engine")
	}
	t.trusting = d.SkipTLSVerify
	return endpoint{host: d.Host, tls: t}, nil
}
