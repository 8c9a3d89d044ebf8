package safepath

import "strings"

// A verdict is what a place says about one use.
type verdict byte

const (
	silent   verdict = '-' // says nothing: a place around it may
	open     verdict = 'o' // open, although a place around it is not
	approval verdict = 'a' // wants approval
	denied   verdict = 'd'
)

// A place is a file or a folder with all below it.
type place struct {
	path string // absolute, or from the home with "~/" (moved.go: which may lie elsewhere)
	name string // how a refusal calls it
	says string // one verdict each for Read, Write and Deliver
}

// places is the policy as data. The deepest place that says something for the
// use decides, so an exception is a line of its own below its folder.
var places = []place{
	// Keys and credentials: neither read, nor written, nor delivered.
	{"~/.ssh", "SSH keys", "ddd"},
	{"~/.ssh/config", "SSH configuration", "oad"},
	{"~/.ssh/known_hosts", "SSH known hosts", "odd"},
	{"~/.ssh/authorized_keys", "SSH authorized keys", "odd"},
	{"~/.ssh/id_rsa.pub", "SSH public key", "odd"},
	{"~/.ssh/id_ecdsa.pub", "SSH public key", "odd"},
	{"~/.ssh/id_ed25519.pub", "SSH public key", "odd"},
	{"~/.aws", "AWS credentials", "ddd"},
	{"~/.gnupg", "GnuPG keys", "ddd"},
	{"~/.kube", "Kubernetes credentials", "ddd"},
	{"~/.docker", "Docker credentials", "ddd"},
	{"~/.azure", "Azure credentials", "ddd"},
	{"~/.gcloud", "Google Cloud credentials", "ddd"},
	{"~/.config/gcloud", "Google Cloud credentials", "ddd"},
	{"~/.config/gh", "GitHub credentials", "ddd"},
	{"~/.config/hub", "GitHub credentials", "ddd"},
	{"~/.config/glab-cli", "GitLab credentials", "ddd"},
	{"~/.config/git/credentials", "git credentials", "ddd"},
	{"~/.config/containers/auth.json", "container registry credentials", "ddd"},
	{"~/.config/rclone", "rclone credentials", "ddd"},
	{"~/.config/op", "1Password credentials", "ddd"},
	{"~/.config/sops", "sops keys", "ddd"},
	{"~/.config/age", "age keys", "ddd"},
	{"~/.config/Bitwarden", "Bitwarden data", "ddd"},
	{"~/.config/Bitwarden CLI", "Bitwarden data", "ddd"},
	{"~/.config/keepassxc", "KeePassXC data", "ddd"},
	{"~/.netrc", "network credentials", "ddd"},
	{"~/.pgpass", "PostgreSQL credentials", "ddd"},
	{"~/.my.cnf", "MySQL credentials", "ddd"},
	{"~/.mylogin.cnf", "MySQL credentials", "ddd"},
	{"~/.npmrc", "npm credentials", "ddd"},
	{"~/.yarnrc.yml", "yarn credentials", "ddd"},
	{"~/.pypirc", "PyPI credentials", "ddd"},
	{"~/.cargo/credentials", "Cargo credentials", "ddd"},
	{"~/.cargo/credentials.toml", "Cargo credentials", "ddd"},
	{"~/.gem/credentials", "RubyGems credentials", "ddd"},
	{"~/.m2/settings.xml", "Maven credentials", "ddd"},
	{"~/.git-credentials", "git credentials", "ddd"},
	{"~/.vault-token", "Vault token", "ddd"},
	{"~/.terraform.d/credentials.tfrc.json", "Terraform credentials", "ddd"},
	{"~/.boto", "cloud credentials", "ddd"},
	{"~/.s3cfg", "cloud credentials", "ddd"},
	{"~/.password-store", "password store", "ddd"},
	{"~/.local/share/keyrings", "key rings", "ddd"},
	{"~/.local/share/kwalletd", "key rings", "ddd"},
	{"~/.local/share/gnupg", "GnuPG keys", "ddd"},
	{"~/Library/Keychains", "keychains", "ddd"},
	{"/Library/Keychains", "keychains", "ddd"},
	{"/System/Library/Keychains", "keychains", "ddd"},
	{"~/Library/Application Support/com.apple.TCC", "privacy permissions", "ddd"},
	{"/var/db/dslocal", "user accounts", "ddd"},

	// Browsers and mail: cookies, saved passwords, sessions.
	{"~/.mozilla", "browser profile", "ddd"},
	{"~/.config/mozilla", "browser profile", "ddd"},
	{"~/.librewolf", "browser profile", "ddd"},
	{"~/.thunderbird", "mail profile", "ddd"},
	{"~/.config/google-chrome", "browser profile", "ddd"},
	{"~/.config/google-chrome-beta", "browser profile", "ddd"},
	{"~/.config/chromium", "browser profile", "ddd"},
	{"~/.config/microsoft-edge", "browser profile", "ddd"},
	{"~/.config/BraveSoftware", "browser profile", "ddd"},
	{"~/.config/vivaldi", "browser profile", "ddd"},
	{"~/.config/opera", "browser profile", "ddd"},
	{"~/snap/firefox", "browser profile", "ddd"},
	{"~/snap/chromium", "browser profile", "ddd"},
	{"~/.var/app/org.mozilla.firefox", "browser profile", "ddd"},
	{"~/.var/app/com.google.Chrome", "browser profile", "ddd"},
	{"~/.var/app/org.chromium.Chromium", "browser profile", "ddd"},
	{"~/.var/app/com.microsoft.Edge", "browser profile", "ddd"},
	{"~/.var/app/com.brave.Browser", "browser profile", "ddd"},
	{"~/Library/Application Support/Firefox", "browser profile", "ddd"},
	{"~/Library/Application Support/Google/Chrome", "browser profile", "ddd"},
	{"~/Library/Application Support/Chromium", "browser profile", "ddd"},
	{"~/Library/Application Support/Microsoft Edge", "browser profile", "ddd"},
	{"~/Library/Application Support/BraveSoftware", "browser profile", "ddd"},
	{"~/Library/Application Support/Vivaldi", "browser profile", "ddd"},
	{"~/Library/Application Support/Arc", "browser profile", "ddd"},
	{"~/Library/Safari", "browser profile", "ddd"},
	{"~/Library/Cookies", "browser profile", "ddd"},
	{"~/Library/Containers/com.apple.Safari", "browser profile", "ddd"},

	// Agents: their credentials, and settings that make them run something.
	{"~/.hermes/.env", "agent credentials", "ddd"},
	{"~/.hermes/auth.json", "agent credentials", "ddd"},
	{"~/.hermes/.anthropic_oauth.json", "agent credentials", "ddd"},
	{"~/.hermes/credentials", "agent credentials", "ddd"},
	{"~/.hermes/mcp-tokens", "agent credentials", "ddd"},
	{"~/.hermes/pairing", "agent credentials", "ddd"},
	{"~/.hermes/config.yaml", "agent settings", "-ad"},
	{"~/.claude/.credentials.json", "agent credentials", "ddd"},
	{"~/.claude.json", "agent credentials", "ddd"},
	{"~/.claude/settings.json", "agent settings", "-a-"},
	{"~/.codex/auth.json", "agent credentials", "ddd"},
	{"~/.codex/config.toml", "agent settings", "-a-"},
	{"~/.gemini/oauth_creds.json", "agent credentials", "ddd"},
	{"~/.gemini/settings.json", "agent settings", "-a-"},
	{"~/.config/honestty", "honestty's own settings", "-dd"},

	// What runs by itself at login, at a time, or in every shell.
	{"~/.config/systemd", "systemd units", "-d-"},
	{"~/.local/share/systemd", "systemd units", "-d-"},
	{"~/Library/LaunchAgents", "launch agents", "-d-"},
	{"/Library/LaunchAgents", "launch agents", "-d-"},
	{"/Library/LaunchDaemons", "launch daemons", "-d-"},
	{"~/.config/autostart", "programs started at login", "-a-"},
	{"~/.config/environment.d", "environment of the login", "-a-"},
	{"~/.bashrc", "shell start-up file", "-a-"},
	{"~/.bash_profile", "shell start-up file", "-a-"},
	{"~/.bash_login", "shell start-up file", "-a-"},
	{"~/.bash_logout", "shell start-up file", "-a-"},
	{"~/.bash_aliases", "shell start-up file", "-a-"},
	{"~/.profile", "shell start-up file", "-a-"},
	{"~/.zshrc", "shell start-up file", "-a-"},
	{"~/.zshenv", "shell start-up file", "-a-"},
	{"~/.zprofile", "shell start-up file", "-a-"},
	{"~/.zlogin", "shell start-up file", "-a-"},
	{"~/.zlogout", "shell start-up file", "-a-"},
	{"~/.kshrc", "shell start-up file", "-a-"},
	{"~/.cshrc", "shell start-up file", "-a-"},
	{"~/.tcshrc", "shell start-up file", "-a-"},
	{"~/.config/fish", "shell start-up file", "-ad"},
	{"~/.config/nushell", "shell start-up file", "-ad"},
	{"~/.inputrc", "shell start-up file", "-a-"},
	{"~/.pam_environment", "environment of the login", "-a-"},
	{"~/.xprofile", "programs started at login", "-a-"},
	{"~/.xinitrc", "programs started at login", "-a-"},
	{"~/.xsession", "programs started at login", "-a-"},
	{"~/.gitconfig", "git configuration", "-a-"},
	{"~/.config/git", "git configuration", "-ad"},
	{"~/.vimrc", "editor start-up file", "-a-"},
	{"~/.config/nvim", "editor start-up file", "-ad"},
	{"~/.emacs", "editor start-up file", "-a-"},
	{"~/.emacs.d", "editor start-up file", "-a-"},
	{"~/.tmux.conf", "tmux configuration", "-a-"},
	{"~/.config", "configuration of the user", "--d"},

	// The system.
	{"/etc", "system configuration", "-ad"},
	{"/etc/passwd", "user accounts", "-dd"},
	{"/etc/group", "user accounts", "-dd"},
	{"/etc/shadow", "password hashes", "ddd"},
	{"/etc/gshadow", "password hashes", "ddd"},
	{"/etc/master.passwd", "password hashes", "ddd"},
	{"/etc/sudoers", "sudo rules", "ddd"},
	{"/etc/sudoers.d", "sudo rules", "ddd"},
	{"/etc/doas.conf", "doas rules", "-dd"},
	{"/etc/pam.d", "login rules", "-dd"},
	{"/etc/polkit-1", "privilege rules", "-dd"},
	{"/etc/ssh", "SSH host keys", "ddd"},
	{"/etc/ssh/ssh_config", "SSH configuration", "odd"},
	{"/etc/ssh/sshd_config", "SSH configuration", "odd"},
	{"/etc/ssl/private", "TLS keys", "ddd"},
	{"/etc/ld.so.preload", "loader configuration", "-dd"},
	{"/etc/systemd", "systemd units", "-dd"},
	{"/lib/systemd", "systemd units", "-d-"},
	{"/usr/lib/systemd", "systemd units", "-d-"},
	{"/run/systemd", "systemd units", "-dd"},
	{"/etc/crontab", "scheduled commands", "-dd"},
	{"/etc/anacrontab", "scheduled commands", "-dd"},
	{"/etc/cron.d", "scheduled commands", "-dd"},
	{"/etc/cron.hourly", "scheduled commands", "-dd"},
	{"/etc/cron.daily", "scheduled commands", "-dd"},
	{"/etc/cron.weekly", "scheduled commands", "-dd"},
	{"/etc/cron.monthly", "scheduled commands", "-dd"},
	{"/var/spool/cron", "scheduled commands", "-dd"},
	{"/var/spool/at", "scheduled commands", "-dd"},
	{"/var/at", "scheduled commands", "-dd"},
	{"/boot", "boot files", "-dd"},
	{"/proc", "kernel files", "-dd"},
	{"/sys", "kernel files", "-dd"},
	{"/dev", "devices", "ddd"},
	{"/dev/shm", "shared memory", "ood"},
	{"/.vol", "files by number", "ddd"},
	{"/root", "home of the administrator", "--d"},
	{"/var/log", "system logs", "--d"},
	{"/var/lib", "system data", "--d"},
	{"/var/run", "run-time files of the system", "--d"},
}

// A judgement is what the deepest place says.
type judgement struct {
	verdict verdict
	name    string
	depth   int
}

// judge asks every place about a path. The rules about names come first:
// they hold wherever the file lies, unless Allow names that very file.
func (p Policy) judge(path Path, use Use, l *look) judgement {
	best := judgement{verdict: silent}
	inodes := l.inodesAlong(path.Real)
	consider := func(pl place) {
		v := verdict(pl.says[use])
		if v == silent {
			return
		}
		if depth, ok := pl.holds(path, inodes, l); ok && depth >= best.depth {
			best = judgement{v, pl.name, depth}
		}
	}
	for _, pl := range places {
		if pl.path == "/root" && p.Home == "/root" {
			continue // the own home is nobody else's
		}
		for _, spot := range p.spots(pl) {
			consider(spot)
		}
	}
	if named := byName(path, use); named.verdict != silent && (named.verdict == denied || best.verdict != denied) {
		best = named
	}
	for _, dir := range p.Allow {
		consider(place{p.folder(dir), "allowed by configuration", "--o"})
	}
	for _, dir := range p.State {
		consider(place{p.folder(dir), "honestty's own records", "-dd"})
	}
	for _, dir := range p.Deny {
		consider(place{p.folder(dir), "denied by configuration", "ddd"})
	}
	return best
}

// holds reports whether the path lies in the place, and how deep the place is.
func (pl place) holds(path Path, inodes map[inode]bool, l *look) (int, bool) {
	real, err := l.resolve(pl.path)
	if err != nil {
		real = pl.path // it cannot be looked at: what is written still counts
	}
	depth := max(strings.Count(pl.path, "/"), strings.Count(real, "/"))
	for _, p := range [...]string{path.Abs, path.Real} {
		if p != "" && (under(p, pl.path) || under(p, real)) {
			return depth, true
		}
	}
	id, ok := l.inodeOf(real)
	return depth, ok && inodes[id]
}

// below is the rest of path under dir.
func below(path, dir string) (string, bool) {
	rest, ok := strings.CutPrefix(path, dir)
	if !ok || dir == "" {
		return "", false
	}
	if rest != "" && rest[0] != '/' && dir != "/" {
		return "", false
	}
	return rest, true
}

// under reports whether path is dir or lies in it, as this system compares
// names.
func under(path, dir string) bool {
	_, ok := below(spelling(path), spelling(dir))
	return ok
}
