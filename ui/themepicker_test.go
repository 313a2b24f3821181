package ui_test

import (
	"strings"
	"testing"

	"hermes/ui"
	"hermes/ui/style"
	"hermes/ui/uitest"
)

func TestThemePickerPreviewsAndTakesBack(t *testing.T) {
	opt, _ := options(t)
	full := style.True
	opt.Level = &full
	var kept string
	opt.SetTheme = func(n string) error { kept = n; return nil }
	d := model(t, opt, 120, 40)
	before := d.m.View()
	cmd, ok := opt.Slash.Run("/theme")
	if !ok {
		t.Fatal("there is no /theme")
	}
	d.run(cmd)
	d.send(uitest.Key("down"))
	d.send(uitest.Key("down"))
	during := d.m.View()
	if strings.Contains(before, "38;2;250;189;47") || during == before {
		t.Error("nothing is previewed")
	}
	d.send(uitest.Key("esc"))
	if d.m.View() != before || kept != "" {
		t.Error("esc does not bring the old theme back")
	}
	cmd, _ = opt.Slash.Run("/theme")
	d.run(cmd)
	d.send(uitest.Key("enter")) // the one in effect is chosen, which follows the terminal
	if kept != ui.DefaultTheme || d.m.View() != before {
		t.Errorf("enter kept %q", kept)
	}
	cmd, _ = opt.Slash.Run("/theme daylight")
	d.run(cmd)
	if kept != "daylight" || d.m.View() == before {
		t.Errorf("kept %q", kept)
	}
}
