package command

import (
	"strings"
)

func systemTools() map[string]handler {
	off := func(w *walker, c cmd) {
		if parseOptions(c.args, "", false).has("c", "k", "help") {
			return
		}
		w.add(System, levelNever, c.name, "it switches the machine off")
	}
	return map[string]handler{
		"shutdown reboot halt poweroff": off,
		"init telinit": func(w *walker, c cmd) {
			if one("0 6", operand(c)) {
				w.add(System, levelNever, operand(c), "it switches the machine off")
				return
			}
			w.add(System, LevelSensitive, operand(c), "it changes how the machine runs")
		},
		"systemctl": systemctl,
		"service rc-service sv s6-svc supervisorctl initctl monit pm2 forever": func(w *walker, c cmd) {
			o := parseOptions(c.args, "c", false)
			if o.has("status-all") || one("status list ls logs show version", o.first()) || len(o.operands) > 1 && o.operands[1].text == "status" || len(o.operands) == 0 {
				return
			}
			w.add(System, LevelSensitive, o.first(), "it changes a service")
		},
		"timedatectl hostnamectl localectl hwclock": func(w *walker, c cmd) {
			if v := operand(c); v == "" || one("status show list-timezones", v) {
				if c.name != "hwclock" || len(c.args) == 0 || c.args[0].text == "-r" {
					return
				}
			}
			w.add(System, LevelSensitive, operand(c), "it changes settings of the machine")
		},
		"wall write mesg ":                      func(w *walker, c cmd) { w.add(System, LevelSensitive, "", "it writes to other people's screens") },
		"logrotate":                             func(w *walker, c cmd) { w.add(History, LevelSensitive, "", "it turns logs over") },
		"logger":                                filter,
		"tmux screen zellij byobu dtach abduco": multiplexer,
		"hermes": func(w *walker, c cmd) {
			if v := operand(c); one("version doctor status help logs", v) || len(c.args) == 0 {
				return
			}
			w.add(Privilege, LevelAlways, operand(c), "it drives Hermes itself")
		},
		"claude codex gemini aider opencode cursor-agent  crush ollama llm": func(w *walker, c cmd) {
			if v := operand(c); one("list ps show --version", v) || len(c.args) > 0 && c.args[0].text == "--version" {
				return
			}
			w.add(Exec, LevelSensitive, c.name, "it starts another agent or model, which does what nobody sees")
		},
		"auditd rsyslogd journald crond cron sshd dockerd containerd": func(w *walker, c cmd) { w.add(System, LevelAlways, c.name, "it starts a service") },
		"crash_test": filter,
	}
}

// guards are what a machine is kept in order and safe with.
func guards() map[string]handler {
	return map[string]handler{
		"useradd userdel usermod adduser deluser groupadd groupdel groupmod passwd chpasswd chsh chfn gpasswd vipw vigr visudo newgrp dscl pwconv chage": func(w *walker, c cmd) {
			w.add(Privilege, LevelAlways, operand(c), "it changes users or their rights")
		},
		"mount umount losetup swapon swapoff cryptsetup fusermount sshfs": func(w *walker, c cmd) {
			if len(c.args) == 0 || c.name == "mount" && operand(c) == "" {
				return
			}
			w.add(Privilege, LevelAlways, operand(c), "it changes which disks and folders are there")
		},
		"iptables ip6tables nft ufw firewall-cmd pfctl ebtables tc ipset ipvsadm": func(w *walker, c cmd) {
			if o := parseOptions(c.args, "t", false); o.has("L", "S", "list", "list-all", "state") || one("status list show", o.first()) {
				return
			}
			w.add(System, LevelAlways, operand(c), "it changes the firewall or the network")
		},
		"sysctl": func(w *walker, c cmd) {
			if o := parseOptions(c.args, "p f", false); o.has("w", "p", "write", "load", "system") || strings.Contains(joinedText(c.args), "=") {
				w.add(System, LevelAlways, operand(c), "it changes settings of the kernel")
			}
		},
		"modprobe insmod rmmod kexec depmod bpftool bpftrace dtrace setenforce aa-disable apparmor_parser auditctl semanage setsebool restorecon csrutil spctl nvram bootctl efibootmgr grub-install update-grub grub2-mkconfig update-initramfs": func(w *walker, c cmd) {
			w.add(Privilege, LevelAlways, c.name, "it changes the kernel, how the machine starts or what guards it")
		},
	}
}

// schedules decide what runs by itself.
func schedules() map[string]handler {
	return map[string]handler{
		"launchctl": func(w *walker, c cmd) {
			if one("list print blame version", operand(c)) {
				return
			}
			w.add(Persist, LevelAlways, operand(c), "it changes what starts by itself")
		},
		"crontab": func(w *walker, c cmd) {
			if o := parseOptions(c.args, "u", false); o.has("l") && !o.has("r", "e") {
				return
			}
			w.add(Persist, LevelAlways, "crontab", "it changes what runs at set times")
		},
		"at batch": func(w *walker, c cmd) {
			if o := parseOptions(c.args, "f q t", false); o.has("l", "V", "c") {
				return
			}
			w.add(Persist, LevelAlways, c.name, "it runs something later")
		},
		"atq":  filter,
		"atrm": func(w *walker, c cmd) { w.add(System, LevelSensitive, operand(c), "it deletes a job") },
		"systemd-run systemd-cron update-rc.d chkconfig rc-update systemd-tmpfiles dpkg-reconfigure update-alternatives loginctl busctl dbus-send gdbus dconf gsettings defaults schtasks": func(w *walker, c cmd) {
			if one("list list-sessions show read get status introspect display query show-user list-users", operand(c)) {
				return
			}
			w.add(Persist, LevelAlways, operand(c), "it changes what runs by itself, or settings that stay")
		},
	}
}

func multiplexer(w *walker, c cmd) {
	if !strings.Contains(joinedText(c.args), "#(") && one("ls list-sessions list-panes list-windows capture-pane -V display-message has-session info", operand(c)) || len(c.args) > 0 && one("-V -ls -list -v", c.args[0].text) {
		return
	}
	w.add(Exec, LevelSensitive, operand(c), c.name+" runs commands that outlive this one")
}

func systemctl(w *walker, c cmd) {
	o := parseOptions(c.args, "t type state n lines p property H host M machine s signal o output root", false)
	switch verb := o.first(); {
	case one("poweroff reboot halt kexec soft-reboot", verb):
		w.add(System, levelNever, verb, "it switches the machine off")
	case one("status show cat list-units list-unit-files list-timers list-sockets list-dependencies list-jobs is-active is-enabled is-failed is-system-running show-environment help get-default", verb) || verb == "":
	case one("enable disable mask unmask edit link preset set-default reenable revert add-wants add-requires set-environment import-environment daemon-reload daemon-reexec", verb):
		w.add(Persist, LevelAlways, second(o), "it changes what starts by itself")
	default:
		w.add(System, LevelSensitive, second(o), "systemctl "+verb+" changes a service")
	}
}

// diskTools write below file systems.
func diskTools() map[string]handler {
	return map[string]handler{
		"mkfs mke2fs mkswap mkdosfs newfs mkntfs wipefs blkdiscard sgdisk badblocks": makeFilesystem,
		"fdisk sfdisk cfdisk parted gdisk diskutil pvcreate vgcreate lvcreate lvremove vgremove pvremove zpool zfs btrfs mdadm tune2fs resize2fs fsck e2fsck xfs_repair hdparm nvme dmsetup debugfs xfs_admin growpart partprobe lvextend smartctl": func(w *walker, c cmd) {
			if o := parseOptions(c.args, "", false); o.has("l", "list", "L", "i", "I", "a", "detail") && !o.has("d", "n", "w") || one("list print status info get show", o.first()) {
				return
			}
			w.add(Device, LevelAlways, operand(c), c.name+" changes disks or file systems")
		},
		"dd dcfldd": copyDisk,
		"eject":     func(w *walker, c cmd) { w.add(Device, LevelSensitive, operand(c), "it ejects a disk") },
	}
}

// fills asks about dd that nothing ends but a full disk.
func (w *walker) fills(text string) {
	from := strings.Contains(text, " if=/dev/zero ") || strings.Contains(text, " if=/dev/urandom ") || strings.Contains(text, " if=/dev/random ")
	if from && !strings.Contains(text, " count=") && strings.Contains(text, " of=") && !strings.Contains(text, " of=/dev/") {
		w.add(System, LevelSensitive, "", "it writes until the disk is full")
	}
}

// overText reports whether what dd writes has the name of something that people write, and not that of an image.
func overText(args []field) bool {
	for _, a := range args {
		if v, ok := strings.CutPrefix(a.text, "of="); ok && !strings.HasPrefix(v, "/tmp/") && !strings.HasPrefix(v, "/dev/") {
			base := pathBase(v)
			at := strings.LastIndexByte(base, '.')
			return at > 0 && !one(".img .bin .iso .dat .raw .tmp .file .test .blob .qcow2 .disk .data .out", base[at:])
		}
	}
	return false
}

func makeFilesystem(w *walker, c cmd) {
	o := parseOptions(c.args, "t type L label U b N i c", false)
	if o.has("help", "version", "V", "n", "no-act") && len(o.operands) == 0 {
		return
	}
	if c.name == "wipefs" && !o.has("a", "all", "o") || c.name == "badblocks" && !o.has("w", "n") || c.name == "sgdisk" && o.has("p") {
		return
	}
	w.add(Device, levelNever, operand(c), "it makes a file system over what is there")
}

func copyDisk(w *walker, c cmd) {
	empty := false
	defer func() {
		if empty {
			w.add(Delete, LevelSensitive, joinedText(c.args), "empties a file")
		}
	}()
	for _, a := range c.args {
		name, v, _ := strings.Cut(a.text, "=")
		f := part(a, v)
		switch name {
		case "of":
			if p := w.writes(f, "writes"); p.kind == placeProject {
				w.note(f)
			}
			if f.dyn {
				w.add(Device, LevelAlways, f.text, "which device or file it writes over is known only when it runs")
			}
		case "if":
			w.reads(f, true)
			empty = empty || v == "/dev/null" || one("/dev/zero /dev/urandom /dev/random", v) && overText(c.args)
		case "count":
			empty = empty || v == "0" && !strings.Contains(joinedText(c.args), "seek=")
		}
	}
	w.fills(joinedText(c.args) + " ")
	w.flows()
}
