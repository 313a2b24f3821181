package skills

import "strings"

// procedureMark stands before the name of a procedure where a text with versions is named: a skill
// and a procedure may have one name, and no skill's name holds a colon.
const procedureMark = "procedure:"

// ProcedureKey names a procedure among the texts that have versions; a skill goes by its name.
func ProcedureKey(name string) string { return procedureMark + name }

// SplitKey returns the name of what a key names, and whether that is a procedure.
func SplitKey(key string) (name string, isProcedure bool) {
	return strings.CutPrefix(key, procedureMark)
}

// CheckKey returns what is wrong with the key of a text that has versions, or nil.
func CheckKey(key string) error {
	name, _ := SplitKey(key)
	return CheckName(name)
}

// DescribeKey is what a key names, for people: "the skill release".
func DescribeKey(key string) string {
	if name, ok := SplitKey(key); ok {
		return "the procedure " + name
	}
	return "the skill " + key
}
