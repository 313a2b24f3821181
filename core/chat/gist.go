package chat

import (
	"encoding/json"
	"strconv"
)

// Gist is the one argument that tells most of what arguments of a call ask for, as it was sent.
func Gist(args json.RawMessage) string {
	var m map[string]any
	if json.Unmarshal(args, &m) != nil {
		return ""
	}
	for _, k := range []string{"command", "path", "file_path", "pattern", "query", "question", "url", "code", "name"} {
		if s, ok := m[k].(string); ok && s != "" {
			return s
		}
	}
	return gistOfList(m)
}

// gistOfList is for tools that are given several things at once, in the words of the tool.
func gistOfList(m map[string]any) string {
	if items, ok := m["todos"].([]any); ok {
		if len(items) == 1 {
			return "1 item"
		}
		return strconv.Itoa(len(items)) + " items"
	}
	urls, _ := m["urls"].([]any)
	if len(urls) == 0 {
		return ""
	}
	first, _ := urls[0].(string)
	if len(urls) > 1 {
		first += " and " + strconv.Itoa(len(urls)-1) + " more"
	}
	return first
}
