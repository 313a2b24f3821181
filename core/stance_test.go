package core

import (
	"context"
	"testing"

	"hermes/core/approval"
	"hermes/core/session"
)

// What a session asks about holds whatever the settings say of all: planning, nothing, or a level
// of its own.
func TestASessionsLevelStandsAgainstTheModeOfTheSettings(t *testing.T) {
	p := newPlace(t)
	x := p.open(nil)
	defer x.close()
	ctx := context.Background()
	for _, tt := range []struct {
		settings approval.Mode
		name     string
		mode     approval.Mode
		level    approval.Level
	}{
		{approval.ModeManual, session.LevelPlan, approval.ModePlan, approval.LevelStandard},
		{approval.ModeManual, session.LevelAll, approval.ModeOff, approval.LevelStandard},
		{approval.ModeOff, "read", approval.ModeManual, approval.LevelRead},
		{approval.ModePlan, "standard", approval.ModeManual, approval.LevelStandard},
		{approval.ModeSmart, "read", approval.ModeSmart, approval.LevelRead},
	} {
		own, err := session.PolicyNamed(tt.name)
		if err != nil || own.LevelName() != tt.name {
			t.Fatalf("%s: %+v, %v", tt.name, own, err)
		}
		if _, err := x.Configure(ctx, "s", func(c *session.Config) { c.Policy = own }); err != nil {
			t.Fatal(err)
		}
		base := approval.Policy{Mode: tt.settings, Level: approval.LevelStandard}
		if got := x.policyFor("s", base); got.Mode != tt.mode || got.Level != tt.level {
			t.Errorf("%s over %s: mode %s, level %d", tt.name, tt.settings, got.Mode, got.Level)
		}
	}
	if _, err := x.Configure(ctx, "s", func(c *session.Config) { c.Effort = "high" }); err != nil {
		t.Fatal(err)
	}
	if got := x.agentSettings("s").Effort; got != "high" {
		t.Errorf("the model of s thinks %q", got)
	}
	if got := x.agentSettings("other").Effort; got != "" {
		t.Errorf("that of another session thinks %q", got)
	}
}
