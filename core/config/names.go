package config

// SecretNames returns the names of the variables in .env: commands of the agent never get them.
func (c *Config) SecretNames() []string { return sortedKeys(c.env.file) }
