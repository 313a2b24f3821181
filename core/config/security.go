package config

// Security is what guards this machine. Most keys are those of the Python program.
type Security struct {
	AllowPrivateURLs bool             `key:"allow_private_urls" strict:"false" doc:"as web.allow_private_urls; either of them is enough"`
	AllowTunFakeIP   bool             `key:"allow_tun_fakeip" strict:"false" doc:"names may lead to 198.18.0.0/15, where tunnels such as Clash and sing-box put them"`
	WebsiteBlocklist WebsiteBlocklist `key:"website_blocklist"`
	WriteSafeRoot    string           `key:"write_safe_root" refuses:"writes" doc:"the file tools write nowhere but in this folder, or in these, as in PATH; HERMES_WRITE_SAFE_ROOT does the same; empty: everywhere that is not off limits"`
	RedactSecrets    bool             `key:"redact_secrets" strict:"true" live:"yes" doc:"hide secrets in what tools and models say and people type, before it is shown, stored or sent; logs always do"`
	AuditLog         bool             `key:"audit_log" strict:"true" doc:"record what was asked, approved and run in logs/audit; hermes audit shows it"`
}

// WebsiteBlocklist is the Python program's list of sites that are never visited.
type WebsiteBlocklist struct {
	Enabled     bool     `key:"enabled" refuses:"web" doc:"use the list"`
	Domains     []string `key:"domains" refuses:"web" doc:"as web.blocklist"`
	SharedFiles []string `key:"shared_files" refuses:"web" doc:"as web.blocklist_files"`
}
