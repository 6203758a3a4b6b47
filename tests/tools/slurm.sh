#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A Slurm of one node on this machine, for tests: a real munged, slurmctld and slurmd on the loopback
# interface, without systemd, cgroups or accounting, as root or as any user. Several can run at once.
#   slurm.sh start DIR   installs Slurm where it is missing, starts the three with all their files in
#                        DIR (made, or empty), waits until the node takes jobs, and prints the
#                        environment to use: SLURM_CONF=DIR/slurm.conf. Ended in failure it
#                        says why and leaves nothing. Exit 69: Slurm cannot be had here.
#   slurm.sh stop DIR    cancels every job, ends the daemons and removes DIR.
set -u
LC_ALL=C
export LC_ALL
PATH=$PATH:/usr/sbin:/sbin
CPUS=2 PATIENCE=30 # seconds

die() { # exit code, text
	code=$1
	shift
	echo "slurm.sh: $*" >&2
	exit "$code"
}

# Waits until a command succeeds.
eventually() { # seconds, command...
	tries=$(($1 * 10))
	shift
	while ! "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.1
	done
}

# Two neighbouring ports that nobody uses.
ports() {
	port=$((20000 + $$ % 5000 * 2)) # apart from whoever looks at the same time
	while awk -v a="$(printf ':%04X' "$port")" -v b="$(printf ':%04X' $((port + 1)))" '
		{ at = substr($2, length($2) - 4) }
		at == a || at == b { taken = 1 }
		END { exit !taken }' /proc/net/tcp /proc/net/tcp6 2>/dev/null; do
		port=$((port + 2))
	done
	echo "$port"
}

configure() {
	mkdir -p "$dir/munge" "$dir/state" "$dir/spool" "$dir/log" && chmod 700 "$dir/munge" || return 1
	(umask 077 && head -c 128 /dev/urandom >"$dir/munge/key") || return 1
	port=$(ports)
	host=$(hostname -s)
	user=$(id -un)
	memory=$(awk '/^MemTotal:/ { print int($2 / 1024) }' /proc/meminfo)
	echo "CgroupPlugin=cgroup/v1" >"$dir/cgroup.conf"
	cat >"$dir/slurm.conf" <<END
ClusterName=tidelab
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
CredType=cred/munge
SlurmUser=$user
SlurmdUser=$user
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/log/slurmctld
SlurmdLogFile=$dir/log/slurmd
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
MaxArraySize=1001
NodeName=tidelab NodeHostname=$host NodeAddr=127.0.0.1 CPUs=$CPUS RealMemory=$memory State=UNKNOWN
PartitionName=all Nodes=tidelab Default=YES MaxTime=INFINITE State=UP
END
}

# Starts a daemon with a mark by which it and the steps it starts are found, wherever they go.
daemon() {
	TIDELAB_SLURM_DIR=$dir SLURM_CONF=$dir/slurm.conf "$@" </dev/null >>"$dir/log/start" 2>&1
}

ours() {
	for environment in /proc/[0-9]*/environ; do
		tr '\0' '\n' <"$environment" 2>/dev/null | grep -qxF "TIDELAB_SLURM_DIR=$dir" || continue
		pid=${environment#/proc/}
		echo "${pid%/environ}"
	done 2>/dev/null
}

none_left() {
	[ -z "$(ours)" ]
}

idle() {
	[ "$(sinfo -h -N -o %T)" = idle ]
}

queue_empty() {
	[ -z "$(squeue -h)" ]
}

failed() { # what, log
	tail -n 15 "$dir/log/start" "$dir/log/$2" >&2
	die 70 "$1"
}

start() {
	if [ -n "$(sh "$tools/deps.sh" missing slurm)" ]; then
		sh "$tools/deps.sh" install slurm >&2 </dev/null || die 69 "Slurm is not installed and cannot be installed here"
	fi
	mkdir -p "$dir" || die 73 "cannot make $dir"
	dir=$(cd "$dir" && pwd -P)
	[ -z "$(ls -A "$dir")" ] || die 73 "$dir is not empty"
	case $dir in *[!A-Za-z0-9/._-]*) die 64 "$dir: slurm.conf takes plain names alone" ;; esac
	trap stop EXIT
	trap 'exit 130' INT TERM
	configure || die 73 "cannot write into $dir"
	# --force: whoever owns the folders above is none of a test's business.
	daemon munged --force --num-threads=2 --key-file="$dir/munge/key" --socket="$dir/munge/socket" \
		--pid-file="$dir/munge/pid" --log-file="$dir/log/munged" --seed-file="$dir/munge/seed" ||
		failed "munged does not start" munged
	daemon slurmctld -c || failed "slurmctld does not start" slurmctld
	daemon slurmd -c || failed "slurmd does not start" slurmd
	SLURM_CONF=$dir/slurm.conf
	export SLURM_CONF
	eventually $PATIENCE idle || failed "the node is not idle after $PATIENCE s" slurmctld
	trap - EXIT
	echo "SLURM_CONF=$dir/slurm.conf"
}

stop() {
	trap - EXIT
	SLURM_CONF=$dir/slurm.conf
	export SLURM_CONF
	if [ -f "$dir/slurmctld.pid" ]; then
		timeout 10 scancel --user="$(id -un)" 2>/dev/null
		eventually 10 queue_empty
	fi
	for signal in TERM KILL; do
		pids=$(ours)
		[ -z "$pids" ] && break
		# shellcheck disable=SC2086 # a list of numbers
		kill -$signal $pids 2>/dev/null
		eventually 10 none_left
	done
	rm -rf "$dir"
	none_left || die 70 "still running: $(ours | tr '\n' ' ')"
}

[ $# -eq 2 ] || die 64 "usage: slurm.sh start|stop DIR"
tools=$(cd "$(dirname "$0")" && pwd)
dir=$2
case $1 in
start) start ;;
stop)
	dir=$(cd "$dir" 2>/dev/null && pwd -P) || exit 0
	stop
	;;
*) die 64 "unknown verb $1; wanted start or stop" ;;
esac
