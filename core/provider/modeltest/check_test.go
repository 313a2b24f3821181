package modeltest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/provider/modeltest"
)

func TestCheckChat(t *testing.T) {
	const call = `{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}`
	const hi, result = `{"role":"user","content":"hi"}`, `{"role":"tool","tool_call_id":"a","content":"1"}`
	for want, messages := range map[string][]string{
		"":                    {`{"role":"system","content":"s"}`, hi, call, result, hi},
		"follows no call":     {hi, result},
		"before it have no":   {hi, call, hi},
		"at the end have no":  {hi, call},
		"is empty":            {`{"role":"user","content":" "}`},
		"is there twice":      {hi, call, result, call, result},
		"no JSON object":      {hi, strings.Replace(call, `"{}"`, `"{"`, 1), result},
		"not called as it":    {hi, strings.Replace(call, `"f"`, `"f g"`, 1), result},
		"no role is called":   {`{"role":"robot","content":"s"}`},
		"neither a string":    {`{"role":"user","content":7}`},
		"follows no call of ": {hi, call, result, result},
	} {
		err := modeltest.CheckChat([]byte(`{"messages":[` + strings.Join(messages, ",") + `]}`))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", messages, err, want)
		}
	}
}

func TestCheckMessages(t *testing.T) {
	const hi = `{"role":"user","content":"hi"}`
	const call = `{"role":"assistant","content":[{"type":"thinking","thinking":"t"},{"type":"tool_use","id":"a","name":"f","input":{}}]}`
	result := func(before, after string) string {
		return `{"role":"user","content":[` + before + `{"type":"tool_result","tool_use_id":"a"}` + after + `]}`
	}
	const text = `{"type":"text","text":"x"}`
	for want, messages := range map[string][]string{
		"":                       {hi, call, result("", ","+text)},
		"stands behind":          {hi, call, result(text+",", "")},
		"in a row":               {hi, hi},
		"not the user's":         {call, result("", "")},
		"before it have no":      {hi, call, hi},
		"follows no call":        {result("", "")},
		"non-whitespace":         {`{"role":"user","content":[{"type":"text","text":"\n"}]}`},
		"at the end have no":     {hi, call},
		"are no JSON object: \"": {hi, strings.Replace(call, "{}}", "[]}", 1), result("", "")},
	} {
		err := modeltest.CheckMessages([]byte(`{"messages":[` + strings.Join(messages, ",") + `]}`))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", messages, err, want)
		}
	}
}

func TestCheckHistory(t *testing.T) {
	call := chat.Message{Role: chat.RoleAssistant, Calls: []chat.ToolCall{{ID: "a", Name: "f", Args: json.RawMessage(`{}`)}}}
	hi := chat.Message{Role: chat.RoleUser, Text: "hi"}
	result := chat.Message{Role: chat.RoleTool, Result: &chat.ToolResult{CallID: "a"}}
	if err := modeltest.CheckHistory([]chat.Message{hi, call, result, hi}); err != nil {
		t.Error(err)
	}
	for _, bad := range [][]chat.Message{{}, {hi, hi}, {call, result}, {hi, call}, {hi, result}, {hi, {Role: chat.RoleAssistant}}} {
		if modeltest.CheckHistory(bad) == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}
