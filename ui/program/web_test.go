package program

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"hermes/core/provider/modeltest"
)

// tinyPDF is one line of text. Its cross-reference table is found at the byte that startxref names.
const tinyPDF = "%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n" +
	"3 0 obj\n<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>\nendobj\n" +
	"4 0 obj\n<< /Length 44 >>\nstream\nBT /F1 12 Tf 72 720 Td (Annual report) Tj ET\nendstream\nendobj\n" +
	"5 0 obj\n<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>\nendobj\n" +
	"xref\n0 6\n0000000000 65535 f \n0000000009 00000 n \n0000000058 00000 n \n0000000115 00000 n \n0000000217 00000 n \n0000000311 00000 n \n" +
	"trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n381\n%%EOF\n"

// The whole program reads a page and a PDF document, which takes a process of its own, and refuses
// a cloud's metadata.
func TestWebExtractThroughTheProgram(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/report.pdf" {
			w.Header().Set("Content-Type", "application/pdf")
			_, _ = io.WriteString(w, tinyPDF)
			return
		}
		_, _ = io.WriteString(w, "<title>News</title><article><p>The bridge is open again.</p></article>")
	}))
	defer site.Close()
	args, err := json.Marshal(map[string][]string{"urls": {site.URL + "/news", site.URL + "/report.pdf", "http://169.254.169.254/latest/"}})
	if err != nil {
		t.Fatal(err)
	}
	h, model := homeWith(t, modeltest.Turn{Calls: []modeltest.Call{{Name: "web_extract", Args: string(args)}}}, modeltest.Turn{Text: "read"})
	h.configure(serverSettings(model) + "web:\n  allow_private_urls: true\n")
	cmd := exec.Command("hermes", "run", "read it")
	cmd.Env, cmd.Dir = h.env(), h.work
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var result string
	for _, r := range model.Requests() {
		for _, m := range r.Messages {
			if m.Role == "tool" {
				result = m.Text()
			}
		}
	}
	for _, want := range []string{"The bridge is open again.", `"content":"Annual report"`, "nothing opens it"} {
		if !strings.Contains(result, want) {
			t.Errorf("the model did not read %q:\n%s", want, result)
		}
	}
}
