package mcp

// Question is what a server asks the person.
type Question struct {
	Server  string
	Session string // of the call that it asks in
	Turn    string
	CallID  string
	Text    string
	URL     string  // to be opened; "" asks for the fields
	Fields  []Field // of a form
}

// Field is one value that a server asks for.
type Field struct {
	Name     string
	Title    string
	Help     string
	Kind     string   // "string", "number", "integer", "boolean"
	Choices  []string // empty: any value
	Required bool
	Default  string
}

// Answer is what the person said.
type Answer struct {
	Action string // "accept", "decline", "cancel"
	Values map[string]any
}
