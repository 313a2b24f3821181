package mcp

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// newClient is the library's client for one connection.
func (s *server) newClient(set Settings) *sdk.Client {
	o := &sdk.ClientOptions{
		Capabilities:           &sdk.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { s.listChanged() },
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			s.passProgress(r.Params)
		},
		LoggingMessageHandler: func(_ context.Context, r *sdk.LoggingMessageRequest) { //nolint:staticcheck // older servers have it
			s.log.addLine("server "+string(r.Params.Level), fmt.Append(nil, r.Params.Data))
		},
		Logger: s.m.o.Log,
	}
	o.PromptListChangedHandler = func(context.Context, *sdk.PromptListChangedRequest) { s.listChanged() }
	o.ResourceListChangedHandler = func(context.Context, *sdk.ResourceListChangedRequest) { s.listChanged() }
	if set.Elicitation != "no" && s.m.o.Ask != nil {
		o.ElicitationHandler = s.askPerson
		o.Capabilities.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}}
	}
	if set.Sampling.Enabled && s.m.o.Sample != nil {
		o.CreateMessageHandler = s.sampleModel                //nolint:staticcheck // older servers have it
		o.Capabilities.Sampling = &sdk.SamplingCapabilities{} //nolint:staticcheck // older servers have it
	}
	if len(set.Roots) > 0 {
		o.Capabilities.RootsV2 = &sdk.RootCapabilities{} //nolint:staticcheck // older servers have it
	}
	c := sdk.NewClient(&sdk.Implementation{Name: "hermes", Title: "Hermes", Version: s.m.o.Version}, o)
	for _, dir := range set.Roots {
		dir = s.m.o.Expand(dir)
		//nolint:staticcheck // older servers have it
		root := &sdk.Root{URI: (&url.URL{Scheme: "file", Path: dir}).String(), Name: filepath.Base(dir)}
		c.AddRoots(root) //nolint:staticcheck // older servers have it
	}
	return c
}
