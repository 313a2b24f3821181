# The keeper of a lease (lease.go): it waits until its Runner is gone, and then ends what the Runner still ran.
# Input: descriptor 0 is a pipe that brings this text and then nothing, descriptor 3 the table of calls, $2 what their tags begin with, $3
# what their numbers in the limit of file locks begin with.
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
	calls="$calls${calls:+$newline}HERMES_CALL=$2-$call$newline$3$call"
	[ "$pid" = 0 ] || groups="$groups $pid"
done <&3
[ -n "$calls" ] || exit 0

# Not every grep looks beyond the first NUL; HERMES_LAST is not the first variable here.
proc= nul=
command -v grep >/dev/null && grep -qs . /proc/self/stat && proc=yes
[ -n "$proc" ] && grep -qsF HERMES_LAST=1 "/proc/$$/environ" && nul=yes

# On a busy machine it is the starts of processes that take the time: no subshell but for an output, which becomes the program.

# tagged prints files of the processes that carry a tag in their environment or a number in their limits; the latter only with a grep, for a shell
# reads them byte by byte. It runs in a subshell of its own.
tagged() {
	[ -z "$nul" ] || exec grep -lsF "$calls" /proc/[0-9]*/environ /proc/[0-9]*/limits
	[ -z "$proc" ] || grep -lsF "$calls" /proc/[0-9]*/limits
	for file in /proc/[0-9]*/environ; do
		while read -r line || [ -n "$line" ]; do
			for call in $calls; do
				case $line in *"$call"*) echo "$file" && break 2 ;; esac
			done
		done <"$file"
	done 2>/dev/null
}

# members prints "/proc/PID/stat:..." of the living processes in one of the groups or sessions. A program's name cannot pass for
# the fifteen numbers at the end. It runs in a subshell of its own.
members() {
	any=
	for group in $groups; do
		any="$any${any:+|}$group"
	done
	exec grep -HsE "\\) [^ZX] [0-9]+ ([0-9]+ )?($any)( -?[0-9]+){15,}\$" /proc/[0-9]*/stat
}

# look sets whom to all that is left.
look() {
	whom=
	if [ -n "$proc" ]; then
		[ -z "$groups" ] || look_at_stat
	else
		for group in $groups; do
			kill -s 0 -- "-$group" 2>/dev/null && whom="$whom -$group"
		done
	fi
	for file in $(tagged); do
		pid=${file#/proc/}
		pid=${pid%%/*}
		dead "$pid" || whom="$whom $pid"
	done
}

# dead says whether a process has ended, and waits only for somebody to collect it: it has its limits until then. A name of fifteen
# characters, even one with a line break, cannot pass for the seven numbers.
dead() {
	line=
	read -r line <"/proc/$1/stat" || [ -n "$line" ] || return 0
	case ${line##*) } in
	[ZX]\ [0-9]*\ [0-9]*\ [0-9]*\ [0-9]*\ [-0-9]*\ [0-9]*\ [0-9]*\ *) return 0 ;;
	esac
	return 1
} 2>/dev/null

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

# TERM more than once, for a shell can lose one between fork and exec; what is stopped hears it after CONT. KILL after about 0.5 s. A process
# that is just replacing itself shows no environment, so nothing is only nothing when it was seen twice.
try=0
while [ $try -lt 45 ]; do
	look
	[ -n "$whom" ] || look
	[ -n "$whom" ] || exit 0
	rest=0.05
	case $try in
	0) tell TERM; tell CONT ;;
	1) tell TERM; tell CONT; rest=0.1 ;;
	2) tell TERM; tell CONT; rest=0.3 ;;
	*) tell KILL ;;
	esac
	try=$((try + 1))
	[ -n "$nul" ] || try=$((try + 1)) # a look takes longer
	{ sleep $rest || { sleep 1 && try=$((try + 10)); }; } 2>/dev/null
done
exit 0
}
