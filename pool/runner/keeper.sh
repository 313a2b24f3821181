# The keeper of a lease (lease.go): it waits until its Runner is gone, and then ends what the Runner still ran.
# Input: descriptor 0 is a pipe that brings this text and then nothing, descriptor 3 the table of calls, $2 what their tags begin with.
# The braces make a shell read all of it before the first line runs.
{
trap '' HUP INT QUIT TERM TSTP TTIN TTOU
read -r _

newline='
'
blanks=" 	$newline"
calls= groups=
while read -r call pid; do
	[ -n "$call" ] || continue
	calls="$calls${calls:+$newline}HERMES_CALL=$2-$call"
	[ "$pid" = 0 ] || groups="$groups $pid"
done <&3
[ -n "$calls" ] || exit 0

# Not every grep looks beyond the first NUL; HERMES_LAST is not the first variable here.
proc= nul=
command -v grep >/dev/null && grep -qs . /proc/self/stat && proc=yes
[ -n "$proc" ] && grep -qsF HERMES_LAST=1 "/proc/$$/environ" && nul=yes

# tagged prints the environ files of the processes that carry a tag.
tagged() {
	if [ -n "$nul" ]; then
		grep -lsF "$calls" /proc/[0-9]*/environ
		return
	fi
	for file in /proc/[0-9]*/environ; do
		while read -r line || [ -n "$line" ]; do
			for call in $calls; do
				case $line in *"$call"*) echo "$file" && break 2 ;; esac
			done
		done <"$file"
	done 2>/dev/null
}

# members prints "/proc/PID/stat:..." of the living processes in one of the groups or sessions. A program's name cannot pass for
# the fifteen numbers at the end.
members() {
	set -- $groups
	[ $# -gt 0 ] || return
	any=$(IFS='|' && echo "$*")
	grep -HsE "\\) [^ZX] [0-9]+ ([0-9]+ )?($any)( -?[0-9]+){15,}\$" /proc/[0-9]*/stat
}

# look sets whom to all that is left.
look() {
	whom=
	if [ -n "$proc" ]; then
		look_at_stat
	else
		for group in $groups; do
			kill -s 0 -- "-$group" 2>/dev/null && whom="$whom -$group"
		done
	fi
	for file in $(tagged); do
		pid=${file#/proc/}
		whom="$whom ${pid%%/*}"
	done
}

# look_at_stat adds the members of groups and sessions. A number cannot go to another process while it names a group or session that
# has a member, but afterwards: one that was seen without is out.
look_at_stat() {
	seen= left=
	set -f
	IFS=$newline
	set -- $(members)
	IFS=$blanks
	set +f
	for line; do
		pid=${line#/proc/}
		whom="$whom ${pid%%/*}"
		set -- ${line##*) }
		seen="$seen $3 $4 "
	done
	for group in $groups; do
		case $seen in *" $group "*) left="$left $group" whom="$whom -$group" ;; esac
	done
	groups=$left
}

tell() {
	for pid in $whom; do
		kill -s "$1" -- "$pid" 2>/dev/null
	done
}

# TERM twice, for a shell can lose one between fork and exec; what is stopped hears it after CONT. KILL after about 0.5 s. A process
# that is just replacing itself shows no environment, so nothing is only nothing when it was seen twice.
try=0
while [ $try -lt 50 ]; do
	look
	[ -n "$whom" ] || look
	[ -n "$whom" ] || exit 0
	case $try in
	0 | 1 | 3) tell TERM; tell CONT ;;
	[2-7]) ;;
	*) tell KILL ;;
	esac
	try=$((try + 1))
	[ -n "$nul" ] || try=$((try + 2)) # a look takes longer
	{ sleep 0.05 || { sleep 1 && try=$((try + 10)); }; } 2>/dev/null
done
exit 0
}
