package page

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"

	"hermes/core/testskip"
	"hermes/core/testwait"
)

func at(t testing.TB, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// What a person came for is there, what frames it is not.
func TestRealPages(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		title string
		with  []string
		not   []string
	}{
		"news.html": {
			"Harbour bridge reopens after two-year repair | The Daily Tide",
			[]string{
				"The repair cost **$84.6 million**", "[rose by a third in 2025](https://site.example/business/steel-2025?ref=inline", "## What was done",
				"- 1,900 tonnes of steel", "> \"We measured every bolt twice,\"", "Mara Lindqvist", "![The bridge at dawn](https://site.example/img/bridge.jpg)",
			},
			[]string{"Sport", "cookies", "newsletter", "mattress", "Privacy", "Ignore all previous", "evil.example", "track()", "Ten photographs"},
		},
		"docs.html": {
			"queue.Consumer - Docs 3.2",
			[]string{
				"# queue.Consumer", "```bash\ngo get example.com/queue@v3.2.0\n", "```go\nfunc main() {\n\tc, err :=", "len(m.Body) < 1024 && m.Ok",
				"| Field | Type | Default | Meaning |", "`auto` \\| `manual`", "[Retry](https://site.example/retry.html)", "`ErrTopic`", "There is no such topic.", "1. Check *the URL* first.",
			},
			[]string{"Producer", "Docgen", "Search docs"},
		},
		"forum.html": {
			"[Solved] ld: cannot find -lssl - Builders Forum",
			[]string{"cannot find -lssl`. Fedora 41", "sudo dnf install openssl-devel", "> Do you have the devel package?", "`PKG_CONFIG_PATH`", "Marking as solved", "2026-10-04"},
			[]string{"Log in", "Powered by", "Reply"},
		},
		"zh-gbk.html": {
			"城市图书馆延长开放时间_本地新闻",
			[]string{"从本月起，市立图书馆的开放时间延长至晚上十点", "**安静阅览室**", "[图书馆网站](https://site.example/signup)"},
			[]string{"体育", "限时优惠", "版权所有"},
		},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		p, err := Read(context.Background(), Body{URL: at(t, "https://site.example/a/b.html"), Type: "text/html", Data: data}, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if p.Title != c.title {
			t.Errorf("%s: title %q", name, p.Title)
		}
		for _, want := range c.with {
			if !strings.Contains(p.Text, want) {
				t.Errorf("%s lacks %q", name, want)
			}
		}
		for _, bad := range c.not {
			if strings.Contains(p.Text, bad) {
				t.Errorf("%s has %q", name, bad)
			}
		}
		if t.Failed() {
			t.Log(p.Text)
		}
	}
}

func TestCharacterSets(t *testing.T) {
	t.Parallel()
	const zh, ja, ko, ru, fr = "漢字與標點，測試頁面。", "日本語のページです。テスト。", "한국어 페이지입니다.", "Страница на русском языке.", "Déjà vu à l'été"
	for _, c := range []struct {
		name string
		enc  encoding.Encoding
		kind string // Content-Type; with a meta when it names no charset
		meta string
		text string
	}{
		{"big5 header", traditionalchinese.Big5, "text/html; charset=big5", "", zh},
		{"big5 meta", traditionalchinese.Big5, "text/html", `<meta charset="big5">`, zh},
		{"shift_jis", japanese.ShiftJIS, "text/html; charset=Shift_JIS", "", ja},
		{"euc-jp meta", japanese.EUCJP, "text/html", `<meta http-equiv="Content-Type" content="text/html; charset=euc-jp">`, ja},
		{"gbk under its old name", simplifiedchinese.GBK, "text/html", `<meta charset=gb2312>`, "简体中文页面，测试。"},
		{"gbk that the server calls utf-8", simplifiedchinese.GBK, "text/html; charset=utf-8", `<meta charset="gbk">`, "简体中文页面，测试。"},
		{"gb18030", simplifiedchinese.GB18030, "text/html; charset=gb18030", "", "简体中文𠀀"},
		{"iso-2022-jp, which is all ASCII", japanese.ISO2022JP, "text/html", `<meta charset="iso-2022-jp">`, ja},
		{"euc-kr", korean.EUCKR, "text/html; charset=euc-kr", "", ko},
		{"windows-1251", charmap.Windows1251, "text/html; charset=windows-1251", "", ru},
		{"latin-1 without a word", charmap.Windows1252, "text/html", "", fr},
		{"utf-8 without a word", unicode.UTF8, "text/html", "", fr + zh},
		{"utf-16 with a mark", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), "text/html", "", fr + zh},
	} {
		data, err := c.enc.NewEncoder().Bytes([]byte("<html><head>" + c.meta + "<title>" + c.text + "</title></head><body><p>" + c.text + "</p></body></html>"))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		p, err := Read(context.Background(), Body{Type: c.kind, Data: data, URL: at(t, "https://x.example/")}, nil)
		if err != nil || p.Text != c.text || p.Title != c.text {
			t.Errorf("%s: %q / %q, %v", c.name, p.Title, p.Text, err)
		}
	}
	late := strings.Repeat("plain words ", 200) + zh // the first kilobyte says nothing
	if p, err := Read(context.Background(), Body{Type: "text/plain", Data: []byte(late)}, nil); err != nil || p.Text != late {
		t.Errorf("late characters: %q, %v", p.Text[len(p.Text)-40:], err)
	}
	wrong := []byte("<p>\xff\xfe caf\xe9</p>")
	if p, err := Read(context.Background(), Body{Type: "text/html; charset=utf-8", Data: wrong, URL: at(t, "https://x.example/")}, nil); err != nil || !utf8.ValidString(p.Text) {
		t.Errorf("a wrong charset: %q, %v", p.Text, err)
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	pdf := func(context.Context, []byte) (string, error) { return "text of a document", nil }
	for _, c := range []struct{ kind, data, want, fails string }{
		{"application/json", `{"a": 1}`, `{"a": 1}`, ""},
		{"application/vnd.api+json; charset=utf-8", `{"a": 1}`, `{"a": 1}`, ""},
		{"text/markdown", "# Title\n", "# Title\n", ""},
		{"text/plain; charset", "kept as it is", "kept as it is", ""},
		{"", "no type at all", "no type at all", ""},
		{"application/octet-stream", "plain words", "plain words", ""},
		{"text/x-go", "package x", "package x", ""},
		{"text/plain", "<!DOCTYPE html><title>t</title><p>a page under a wrong name</p>", "a page under a wrong name", ""},
		{"text/plain", "<b>source code stays</b>", "<b>source code stays</b>", ""},
		{"application/pdf", "%PDF-1.7 ...", "text of a document", ""},
		{"text/html", "%PDF-1.7 ...", "text of a document", ""},
		{"image/png", "\x89PNG\r\n\x1a\n123", "", "not text (image/png of 11 bytes)"},
		{"application/zip", "PK\x03\x04", "", "application/zip"},
		{"text/plain", "\x7fELF\x02\x01\x01\x00\x00\x00", "", "not text"},
		{"video/mp4", strings.Repeat("x", 2_500_000), "", "video/mp4 of 2.5 MB"},
		{"text/html", "<html><body><script>render()</script></body></html>", "", "scripts, which are not run"},
		{"text/html", "", "", "no text"},
	} {
		p, err := Read(context.Background(), Body{Type: c.kind, Data: []byte(c.data), URL: at(t, "https://x.example/")}, pdf)
		var unreadable *UnreadableError
		switch {
		case c.fails == "" && (err != nil || p.Text != c.want):
			t.Errorf("%s %q: %q, %v", c.kind, clipped(c.data), p.Text, err)
		case c.fails != "" && (!errors.As(err, &unreadable) || !strings.Contains(err.Error(), c.fails)):
			t.Errorf("%s %q: %v, want %q", c.kind, clipped(c.data), err, c.fails)
		}
	}
}

func clipped(s string) string { return s[:min(len(s), 40)] }

// Hostile HTML ends in bounded time, with text or an error.
func TestHostileHTML(t *testing.T) {
	testskip.WithoutRace(t, "it computes")
	t.Parallel()
	for name, data := range map[string]string{
		"deep":        strings.Repeat("<div>", 100_000),
		"deep tables": strings.Repeat("<table><tr><td>", 20_000),
		"wide span":   `<table><tr><td colspan=100000000>a</td></tr><tr><td rowspan=99999999>b</td></tr></table>`,
		"many":        strings.Repeat("<b>x", 400_000),
		"attributes":  "<p " + strings.Repeat("a=1 ", 500_000) + ">x</p>",
		"formatting":  strings.Repeat("<a><b><i><u>", 5_000) + "x",
		"entities":    strings.Repeat("&amp;", 100_000),
		"open":        "<p>" + strings.Repeat("<!--", 500_000),
		"links":       strings.Repeat(`<a href="javascript:x()">l</a><img src="data:image/png;base64,AAAA">`, 5_000),
		"lists":       strings.Repeat("<ul><li>", 5_000),
		"noise":       string(bytes.Repeat([]byte{0, 1, 0xff, '<', '&'}, 200_000)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			p, err := Read(context.Background(), Body{Type: "text/html", Data: []byte(data), URL: at(t, "https://x.example/")}, nil)
			if took := time.Since(begin); took > testwait.Within(60*time.Second) {
				t.Errorf("took %s", took)
			}
			if len(p.Text) > 8*len(data)+1000 {
				t.Errorf("%d bytes became %d", len(data), len(p.Text))
			}
			if strings.Contains(p.Text, "javascript:") || strings.Contains(p.Text, "data:image") {
				t.Error("links that are none were kept")
			}
			t.Logf("%d bytes -> %d, %v, %s", len(data), len(p.Text), err, time.Since(begin).Round(time.Millisecond))
		})
	}
}

func FuzzHTML(f *testing.F) {
	for _, name := range []string{"news.html", "docs.html", "forum.html", "zh-gbk.html"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "text/html")
	}
	f.Add([]byte("<table><tr><td colspan=9>x"), "text/html; charset=big5")
	f.Fuzz(func(t *testing.T, data []byte, kind string) {
		p, err := Read(context.Background(), Body{Type: kind, Data: data, URL: at(t, "https://x.example/")}, nil)
		if err == nil && !utf8.ValidString(p.Text+p.Title) {
			t.Errorf("not UTF-8: %q", p.Text)
		}
		if err != nil && strings.Contains(err.Error(), "parser failed") {
			t.Errorf("a parser panicked: %v", err)
		}
	})
}
