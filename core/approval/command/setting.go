package command

// HarmlessSetting reports whether a setting of git (section.name) with this value cannot make git
// run a program or trust something.
func HarmlessSetting(name, value string) bool { return harmlessSetting(name, value) }
