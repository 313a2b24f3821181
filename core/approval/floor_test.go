package approval

import (
	"strings"
	"testing"

	"hermes/core/approval/command"
)

// whyNever returns why a shell command never runs, or "" when it may be asked about.
func whyNever(cmd string) string {
	if a := Analyse(cmd, Context{Home: "/home/user", Dir: "/home/user/project"}); a.Verdict == command.Refuse {
		return a.Reason
	}
	return ""
}

func TestFloorRefuses(t *testing.T) {
	for _, cmd := range []string{
		"rm -rf /", "rm -rf /*", "rm -fr -- /", "rm -r -f /", "rm --recursive --force /", "rm -rf //", "rm -rf /.", "rm -Rf /etc",
		"sudo rm -rf /", "sudo -u root rm -rf /", "/bin/rm -rf /", `\rm -rf /`, `"rm" -rf "/"`, "r''m -rf /", "env A=1 rm -rf /",
		"rm -rf ~", "rm -rf ~/", "rm -rf ~/*", "rm -rf $HOME", `rm -rf "${HOME}"/`, "rm -rf /home/alice", "rm -rf /root", "rm -rf ~bob",
		"cd /tmp && rm -rf /", "true; rm -rf / &", "echo $(rm -rf /)", "if true; then rm -rf /; fi", "( rm -rf / )", "ls | xargs rm -rf /",
		"bash -c 'rm -rf /'", `sh -ec "sudo rm -rf /"`, "eval rm -rf /", "bash -c \"bash -c 'rm -rf /'\"", "nohup nice -n 5 rm -rf /",
		"mkfs /dev/sda", "sudo mkfs.ext4 -F /dev/nvme0n1", "/sbin/mkfs.xfs x",
		"dd if=/dev/zero of=/dev/sda bs=1M", "cat x > /dev/sda", "cat x >> /dev/nvme0n1", "dd of=/dev/mapper/root",
		":(){ :|:& };:", "f() { f | f & }; f",
		"kill -9 -1", "kill -KILL -1", "kill -s KILL -1", "kill -- -1", "sudo kill -9 -1",
		"shutdown -h now", "sudo reboot", "poweroff", "halt", "systemctl poweroff", "init 0",
		"rm -rf / (", // does not parse here; another shell may see it differently
	} {
		if whyNever(cmd) == "" {
			t.Errorf("%q would be asked about: it must never run", cmd)
		}
	}
}

func TestFloorLeavesTheRestToThePerson(t *testing.T) {
	for _, cmd := range []string{
		"", "ls", "rm -rf build/ ../cache", "rm -rf ./", "rm -rf ~/proj/build", "rm /tmp/x", "rm -f /etc/passwd", "rm -rf /tmp/x", "rm -rf *",
		"rm -rf $HOME/x/y", "rm -rf /home/alice/project", "echo 'rm -rf /'", "grep -r 'rm -rf /' .", "git commit -m 'never rm -rf /'",
		"dd if=/dev/zero of=/tmp/x", "dd if=/dev/sda of=disk.img", "echo x > /dev/null", "cmd 2>/dev/null", "echo hi > /dev/tty", "cat < /dev/sda",
		"kill -1 123", "kill -9 123", "kill -l", "f() { echo x | f; }; f", "man shutdown", "echo shutdown", "systemctl status nginx", "init_db 0",
		"for i in 1 2; do echo $i; done", "cat <<EOF\nrm -rf /\nEOF", "make mkfs", "bash script.sh -c", "[ -c", "rm -rf $DIR",
	} {
		if why := whyNever(cmd); why != "" {
			t.Errorf("%q never runs because %s: that is for a person to decide", cmd, why)
		}
	}
}

func FuzzFloor(f *testing.F) {
	for _, s := range []string{"rm -rf /", ":(){ :|:& };:", "bash -c \"$(echo 'x')\"", "cat <<E\n$(", "kill", "dd of=", "rm -", "env -u", "a=b", "\v#0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, cmd string) {
		whyNever(cmd)
		once := canonicalCommand(cmd)
		if again := canonicalCommand(once); again != once {
			t.Errorf("%q prints as %q and then as %q: a remembered command would not be found again", cmd, once, again)
		}
		if whyNever("rm -rf / ; "+cmd) == "" && !strings.ContainsAny(cmd, "\x00") {
			t.Errorf("%q behind it hides rm -rf /", cmd)
		}
	})
}
