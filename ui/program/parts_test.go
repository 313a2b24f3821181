package program

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/provider/modeltest"
	"hermes/ui/cli"
)

// drawChart writes a picture that has to be made smaller, and returns its path.
func drawChart(t *testing.T, dir, name string) string {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 2000, 1000))
	for i := range m.Pix {
		m.Pix[i] = 255
	}
	for x := range 2000 {
		m.SetRGBA(x, x/2, color.RGBA{R: 200, A: 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// sentImages are the pictures in a request, decoded.
func sentImages(t *testing.T, r modeltest.Request) []image.Config {
	t.Helper()
	var out []image.Config
	for _, piece := range strings.Split(string(r.Body), `"data:image/png;base64,`)[1:] {
		data, err := base64.StdEncoding.DecodeString(piece[:strings.IndexByte(piece, '"')])
		if err != nil {
			t.Fatal(err)
		}
		c, err := png.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// contents counts the files that parts are kept in, which nobody else can read.
func contents(t *testing.T, h *home) (n int) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(h.dir, "blobs"), func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", e.Name(), info.Mode())
		}
		n++
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return n
}

// A tool's result holds an image: stored, listed, exported, sent to a model that takes images,
// described to one that does not.
func TestAnImageInAResultGoesAllTheWay(t *testing.T) {
	t.Parallel()
	call := modeltest.Turn{Calls: []modeltest.Call{{Name: "read_file", Args: `{"path": "chart.png"}`}}}
	h, server := homeWith(t, call, modeltest.Turn{Text: "A line."}, modeltest.Turn{Text: "I am blind."}, modeltest.Turn{Text: "I see it."})
	sees := serverSettings(server) + "    models:\n      test-model: {images: true}\n      blind-model: {}\n"
	h.configure(sees)
	project := h.work
	drawChart(t, project, "chart.png")

	r := h.run("run", "--output", "jsonl", "what is on the chart?")
	if r.code != cli.ExitOK {
		t.Fatalf("code %d: %s", r.code, r.err)
	}
	var shown []chat.Part
	for line := range strings.Lines(r.out) {
		var e struct {
			Type string
			Data struct{ Result chat.ToolResult }
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Type == "ToolEnded" {
			shown = append(shown, e.Data.Result.Parts...)
		}
	}
	if len(shown) != 1 || shown[0].Width != 1568 || len(shown[0].Blob) != 64 || strings.Contains(r.out, "base64") {
		t.Fatalf("the events tell of %+v", shown)
	}
	said := shown[0].Describe()
	if got := sentImages(t, server.Requests()[1]); len(got) != 1 || got[0].Width != 1568 || got[0].Height != 784 {
		t.Errorf("sent %+v", got)
	}

	// Described to a model that does not see, and seen again by one that does.
	r = h.run("run", "-c", "--model", "scripted/blind-model", "and now?")
	body := string(server.Requests()[2].Body)
	if r.code != cli.ExitOK || len(sentImages(t, server.Requests()[2])) != 0 || !strings.Contains(body, shown[0].Handle()) ||
		!strings.Contains(body, "this model takes no images") {
		t.Errorf("code %d: %s, sent %s", r.code, r.err, body)
	}
	if r = h.run("run", "-c", "--model", "scripted/test-model", "and now?"); r.code != cli.ExitOK || len(sentImages(t, server.Requests()[3])) != 1 {
		t.Errorf("code %d: %s", r.code, r.err)
	}

	// Listed, exported, imported into another home; gone with its session.
	if r = h.run("sessions", "show", "last"); !strings.Contains(r.out, "["+said+"]") {
		t.Errorf("%q is not in %s", said, r.out)
	}
	if r = h.run("sessions", "export", "last", "--format", "markdown"); !strings.Contains(r.out, "!["+said+"]") || !strings.Contains(r.out, ": data:image/png;base64,") {
		t.Errorf("exported as %s", r.out)
	}
	r = h.run("sessions", "export", "last", "--format", "json")
	file := filepath.Join(t.TempDir(), "session.json")
	if err := os.WriteFile(file, []byte(r.out), 0o600); err != nil {
		t.Fatal(err)
	}
	other := newHome(t, sees)
	if r = other.run("sessions", "import", file); r.code != cli.ExitOK || contents(t, other) != 1 || contents(t, h) != 1 {
		t.Errorf("code %d: %s; %d and %d contents", r.code, r.err, contents(t, other), contents(t, h))
	}
	if r = h.run("sessions", "delete", "--yes", "last"); r.code != cli.ExitOK || contents(t, h) != 0 {
		t.Errorf("code %d: %s; %d contents are left", r.code, r.err, contents(t, h))
	}
}

func TestAPersonAttachesFiles(t *testing.T) {
	t.Parallel()
	h, server := homeWith(t, modeltest.Turn{}, modeltest.Turn{}, modeltest.Turn{})
	h.configure(serverSettings(server) + "    models:\n      test-model: {images: true}\n")
	project := h.work
	chart := drawChart(t, project, "chart.png")
	notes := filepath.Join(project, "notes.txt")
	for path, text := range map[string]string{notes: "the quagga's notes", filepath.Join(project, "fake.png"): "<html>no picture</html>"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if r := h.run("run", "look", "--image", chart, "--attach", notes); r.code != cli.ExitOK {
		t.Fatalf("code %d: %s", r.code, r.err)
	}
	first := server.Requests()[0]
	if len(sentImages(t, first)) != 1 || !strings.Contains(string(first.Body), "quagga's notes") {
		t.Errorf("sent %s", first.Body)
	}
	if r := h.run("run", "what is on @chart.png, and on @fake.png?"); r.code != cli.ExitOK {
		t.Fatalf("code %d: %s", r.code, r.err)
	}
	if body := string(server.Requests()[1].Body); len(sentImages(t, server.Requests()[1])) != 1 || !strings.Contains(body, "no picture") {
		t.Errorf("sent %s", body)
	}
	for _, bad := range [][]string{{"--image", notes}, {"--attach", "gone.png"}, {"--attach", project}} {
		if r := h.run(append([]string{"run", "look"}, bad...)...); r.code != cli.ExitUsage || !strings.Contains(r.err, filepath.Base(bad[1])) {
			t.Errorf("%v: code %d: %s", bad, r.code, r.err)
		}
	}
}
