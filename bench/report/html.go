package report

import (
	"bytes"
	_ "embed"
	"html/template"
)

//go:embed report.html
var pageText string

var page = template.Must(template.New("report").Parse(pageText))

// HTML is the report as one page that needs nothing else.
func (r *Report) HTML() ([]byte, error) {
	var b bytes.Buffer
	if err := page.Execute(&b, r); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
