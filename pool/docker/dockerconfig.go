package docker

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/distribution/reference"
	"github.com/docker/docker/api/types/registry"

	"hermes/core/childenv"
)

// configFile is what we read of the docker command's config.json.
type configFile struct {
	CurrentContext string                         `json:"currentContext"`
	Auths          map[string]registry.AuthConfig `json:"auths"`
	CredsStore     string                         `json:"credsStore"`
	CredHelpers    map[string]string              `json:"credHelpers"`
}

// readConfig reads it; one that is not there is empty.
func readConfig() (configFile, error) {
	var c configFile
	dir := configDir()
	if dir == "" {
		return c, nil
	}
	path := filepath.Join(dir, "config.json")
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		return c, fmt.Errorf("docker's configuration %s: %w", path, err)
	}
	return c, nil
}

// hubKey is the name that the docker command gives its first registry.
const hubKey = "https://index.docker.io/v1/"

// registryKey is the name in config.json of the registry that an image comes from.
func registryKey(image string) (string, error) {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return "", fmt.Errorf("image %q: %w", image, err)
	}
	if host := reference.Domain(named); host != "docker.io" {
		return host, nil
	}
	return hubKey, nil
}

// registryCredentials returns what the engine is to show the registry of an image, encoded for it;
// "" is nothing. A note says that credentials are configured but could not be had: the pull then
// goes on without.
func registryCredentials(ctx context.Context, image string) (auth, note string) {
	key, err := registryKey(image)
	if err != nil {
		return "", ""
	}
	c, err := readConfig()
	if err != nil {
		return "", err.Error()
	}
	a, err := c.lookupAuth(ctx, key)
	if err != nil {
		return "", fmt.Sprintf("credentials for %s: %v; trying without", key, err)
	}
	if a == (registry.AuthConfig{}) {
		return "", ""
	}
	a.ServerAddress = key
	auth, err = registry.EncodeAuthConfig(a)
	if err != nil {
		return "", err.Error()
	}
	return auth, ""
}

func (c configFile) lookupAuth(ctx context.Context, key string) (registry.AuthConfig, error) {
	helper := c.CredHelpers[key]
	if helper == "" {
		helper = c.CredsStore
	}
	if helper != "" {
		return askHelper(ctx, helper, key)
	}
	for name, a := range c.Auths {
		if name == key || (key != hubKey && hostOf(name) == key) {
			return decodeAuth(a)
		}
	}
	return registry.AuthConfig{}, nil
}

// hostOf is the host of a key that is written as an address.
func hostOf(key string) string {
	_, rest, ok := strings.Cut(key, "://")
	if !ok {
		rest = key
	}
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// decodeAuth fills in user and password, which the file has in one string.
func decodeAuth(a registry.AuthConfig) (registry.AuthConfig, error) {
	if a.Auth == "" {
		return a, nil
	}
	text, err := base64.StdEncoding.DecodeString(a.Auth)
	user, password, ok := strings.Cut(string(text), ":")
	if err != nil || !ok {
		return registry.AuthConfig{}, errors.New("what config.json has is not base64 of user:password")
	}
	a.Username, a.Password, a.Auth = user, strings.TrimRight(password, "\x00"), ""
	return a, nil
}

const helperPatience = 20 * time.Second

// askHelper runs docker-credential-NAME. One that knows nothing about the registry is no error.
func askHelper(ctx context.Context, name, key string) (registry.AuthConfig, error) {
	if strings.ContainsAny(name, "/\\") {
		return registry.AuthConfig{}, fmt.Errorf("the helper's name %q is not one", name)
	}
	ctx, cancel := context.WithTimeout(ctx, helperPatience)
	defer cancel()
	program := "docker-credential-" + name
	cmd := exec.CommandContext(ctx, program, "get")
	cmd.Stdin = strings.NewReader(key)
	cmd.WaitDelay, cmd.Env = time.Second, childenv.Own(os.Environ())
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		said := strings.TrimSpace(out.String() + errs.String())
		if strings.Contains(said, "credentials not found") {
			return registry.AuthConfig{}, nil
		}
		return registry.AuthConfig{}, fmt.Errorf("%s failed: %w: %.200s", program, err, said)
	}
	return parseHelper(out.Bytes())
}

func parseHelper(answer []byte) (registry.AuthConfig, error) {
	var got struct{ Username, Secret string }
	if err := json.Unmarshal(answer, &got); err != nil {
		return registry.AuthConfig{}, errors.New("the credential helper's answer is not JSON")
	}
	if got.Username == "<token>" {
		return registry.AuthConfig{IdentityToken: got.Secret}, nil
	}
	return registry.AuthConfig{Username: got.Username, Password: got.Secret}, nil
}
