// Package kindtest is a kind of back end for tests: a folder of this machine for each session,
// which is made, stopped and removed. It shows how little a kind is: one package, and one line
// where it is registered.
package kindtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"hermes/core/backend"
	"hermes/core/config"
	"hermes/core/event"
	"hermes/pool"
	"hermes/pool/local"
	"hermes/pool/runner"
)

// Name is the kind's name in the configuration.
const Name = "folder"

// Settings are the keys that only this kind has.
type Settings struct {
	Root string `key:"root" refuses:"place" live:"yes" doc:"where the folders of the back end are"`
}

// Declared is what the program knows of the kind before anything of it runs.
func Declared() config.Kind {
	return config.Kind{
		Name: Name, ImpliedBy: "root", CommonKeys: "idle_ttl", Options: Settings{}, Resolve: resolveSettings,
		Traits: event.Traits{Stoppable: true, Removable: true},
	}
}

func resolveSettings(r *config.Resolving) {
	s := r.Options.(*Settings)
	if s.Root = r.Path(s.Root); !filepath.IsAbs(s.Root) {
		r.Wrong("root", "", "the root %q does not begin with / or ~/", s.Root)
	}
}

// Kind makes back ends that are folders.
type Kind struct{ here *local.Kind }

// New returns the kind.
func New(o runner.Options) *Kind { return &Kind{local.NewWith(o)} }

// Describe says what people are shown.
func (k *Kind) Describe(s pool.Spec) pool.About {
	root := pool.OptionsOf[Settings](s).Root
	return pool.About{Traits: Declared().Traits, Where: root, At: root}
}

// Open makes nothing yet.
func (k *Kind) Open(owner string, s pool.Spec) (pool.Backend, error) {
	root := pool.OptionsOf[Settings](s).Root
	if root == "" {
		return nil, errors.New("it has no root")
	}
	s.Workdir, s.Options = filepath.Join(root, owner, s.Name), nil
	b, err := k.here.Open(owner, s)
	return folder{b, s.Workdir}, err
}

// Examine says where the folders are.
func (k *Kind) Examine(_ context.Context, specs []pool.Spec, _ string) (found []backend.Finding) {
	for _, s := range specs {
		found = append(found, backend.Finding{
			Level: event.Info, Subject: Name, Text: s.Name + " is below " + pool.OptionsOf[Settings](s).Root,
		})
	}
	return found
}

// Close ends all commands that still run.
func (k *Kind) Close(ctx context.Context) error { return k.here.Close(ctx) }

// folder is one back end. Commands run as on this machine.
type folder struct {
	pool.Backend
	dir string
}

// Start makes the folder.
func (f folder) Start(ctx context.Context, r pool.Report) error {
	r.Step(event.BackendCreating, "a new folder")
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	return f.Backend.Start(ctx, r)
}

// Remove destroys the folder.
func (f folder) Remove(context.Context) error { return os.RemoveAll(f.dir) }

// Idles is true: a folder can be stopped, and found again.
func (f folder) Idles() bool { return true }
