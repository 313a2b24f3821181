package base

import (
	"testing"
	"time"
)

func TestParseWhen(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		in   string
		want time.Time
	}{
		{"", time.Time{}},
		{"2026-11-01", time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)},
		{"7d", now.AddDate(0, 0, -7)},
		{"12h", now.Add(-12 * time.Hour)},
	} {
		if got, err := ParseWhen(tc.in, now); err != nil || !got.Equal(tc.want) {
			t.Errorf("%q: %v %v", tc.in, got, err)
		}
	}
	for _, bad := range []string{"soon", "-3h", "99999999d", "2026-13-01"} {
		if _, err := ParseWhen(bad, now); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
