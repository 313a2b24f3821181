package config

// Plugin is what a person sets for a plugin. Which plugins are enabled stands elsewhere, with what
// exactly was enabled.
type Plugin struct {
	Settings map[string]string `key:"settings" scalar:"yes" live:"yes" doc:"its own settings; hermes plugins info shows which there are"`
}
