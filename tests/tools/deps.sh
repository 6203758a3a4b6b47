#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Tidelab's dependencies.
#   deps.sh missing SET...   prints the packages that are not there, on one line
#   deps.sh install SET...   installs what is missing (root or sudo; never asks)
#   deps.sh tool NAME        prints the tool's name here (clang-14 or clang, ...)
# Sets: build, test, figures, extra (optional readers used by tests), page
# (opens reports in a test), slurm (what tests/tools/slurm.sh starts), lint, fuzz.
# Only apt is tested; the names for dnf, pacman and brew are given as far as known.
set -u
LC_ALL=C
export LC_ALL
CC=${CC:-gcc}

# One dependency a line: set, probe, then its package for apt, dnf, pacman, brew.
table() {
	cat <<'END'
build   tool:gcc           gcc              gcc             gcc        gcc
build   libc               libc6-dev        glibc-devel     glibc      -
build   tool:make          make             make            make       make
build   tool:pkg-config    pkg-config       pkgconf         pkgconf    pkg-config
build   pc:gsl             libgsl-dev       gsl-devel       gsl        gsl
build   pc:hdf5            libhdf5-dev      hdf5-devel      hdf5       hdf5
build   pc:yaml-0.1        libyaml-dev      libyaml-devel   libyaml    libyaml
build   pc:libcrypto       libssl-dev       openssl-devel   openssl    openssl@3
build   pc:jansson         libjansson-dev   jansson-devel   jansson    jansson
build   pc:zlib            zlib1g-dev       zlib-devel      zlib       zlib
build   csv                libcsv-dev       libcsv-devel    libcsv     libcsv
test    pc:criterion       libcriterion-dev criterion-devel criterion  criterion
figures tool:gnuplot       gnuplot-nox      gnuplot-minimal gnuplot    gnuplot
extra   py:h5py            python3-h5py     python3-h5py    python-h5py   -
extra   py:pandas          python3-pandas   python3-pandas  python-pandas -
slurm   tool:slurmctld     slurmctld        slurm-slurmctld slurm-llnl -
slurm   tool:slurmd        slurmd           slurm-slurmd    slurm-llnl -
slurm   tool:sbatch        slurm-client     slurm           slurm-llnl -
slurm   tool:munged        munge            munge           munge      munge
page    tool:chromium      chromium         chromium        chromium   chromium
lint    tool:clang         clang-14         clang           clang      llvm
lint    tool:clang-format  clang-format-14  clang-tools-extra clang    clang-format
lint    tool:clang-tidy    clang-tidy-14    clang-tools-extra clang    llvm
lint    tool:shellcheck    shellcheck       ShellCheck      shellcheck shellcheck
fuzz    tool:clang         clang-14         clang           clang      llvm
fuzz    fuzzer             libclang-rt-14-dev compiler-rt   compiler-rt   -
END
}

# The name under which a tool is here: the version formatting is pinned to, else the plain one.
tool() {
	for name in "$1-14" "$1"; do
		if command -v "$name" >/dev/null 2>&1; then
			echo "$name"
			return 0
		fi
	done
	return 1
}

compiles() { # stdin: a program; arguments: flags
	"$CC" -x c - "$@" -o /dev/null >/dev/null 2>&1
}

has() { # probe
	case $1 in
	tool:gcc) command -v "$CC" >/dev/null 2>&1 ;;
	tool:*) tool "${1#tool:}" >/dev/null ;;
	pc:hdf5) pkg-config --exists hdf5 2>/dev/null || pkg-config --exists hdf5-serial 2>/dev/null ;;
	pc:*) pkg-config --exists "${1#pc:}" 2>/dev/null ;;
	libc) echo '#include <stdio.h>
int main(void) { return 0; }' | compiles ;;
	csv) printf '#include <stdio.h>\n#include <csv.h>\nint main(void) { struct csv_parser p; return csv_init(&p, 0); }\n' |
		compiles -lcsv ;;
	py:*) sh "$(dirname "$0")/python.sh" "${1#py:}" >/dev/null ;;
	fuzzer) t=$(tool clang) && printf 'int LLVMFuzzerTestOneInput(void);\nint LLVMFuzzerTestOneInput(void) { return 0; }\n' |
		"$t" -x c - -fsanitize=fuzzer,address -o /dev/null >/dev/null 2>&1 ;;
	esac
}

manager() {
	for m in apt-get dnf pacman brew; do
		if command -v "$m" >/dev/null 2>&1; then
			echo "$m"
			return
		fi
	done
	echo none
}

missing() { # sets
	case $(manager) in
	dnf) field=4 ;;
	pacman) field=5 ;;
	brew) field=6 ;;
	*) field=3 ;;
	esac
	# Without pkg-config no .pc is found and without a compiler no library is: all is listed.
	table | while read -r line; do
		# shellcheck disable=SC2086 # split into columns
		set -- $line "$@"
		set=$1 probe=$2
		case " $sets " in *" $set "*) ;; *) continue ;; esac
		if ! has "$probe"; then
			echo "$line" | awk -v f="$field" '{ print ($f == "-" ? $3 : $f) }'
		fi
	done | awk '!seen[$0]++' | tr '\n' ' ' | sed 's/ $//'
}

install() {
	packages=$(missing)
	if [ -z "$packages" ]; then
		echo "deps: everything is there"
		return 0
	fi
	as=
	if [ "$(id -u)" != 0 ]; then
		as=sudo
	fi
	case $(manager) in
	apt-get) command="$as env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages" ;;
	dnf) command="$as dnf install -y $packages" ;;
	pacman) command="$as pacman -S --noconfirm --needed $packages" ;;
	brew) command="brew install $packages" ;;
	*)
		echo "deps: no apt-get, dnf, pacman or brew here; install by hand: $packages" >&2
		return 1
		;;
	esac
	command=${command# }
	if [ "$as" = sudo ] && [ "$(manager)" != brew ] && ! sudo -n true 2>/dev/null; then
		echo "deps: not root and no sudo without a password; run this, then make again:" >&2
		echo "  $command" >&2
		return 1
	fi
	echo "deps: $command"
	if [ "$(manager)" = apt-get ]; then
		# The lists of a fresh machine are empty or old; --simulate tells without changing anything.
		# shellcheck disable=SC2086 # a list of packages
		if ! apt-get install --simulate --no-install-recommends $packages >/dev/null 2>&1; then
			$as apt-get update -q </dev/null || echo "deps: apt-get update failed; trying with the lists there are" >&2
		fi
	fi
	if ! $command </dev/null; then
		if [ "$(manager)" = apt-get ]; then # stale lists name versions that are gone
			$as apt-get update -q </dev/null && $command </dev/null && return 0
		fi
		echo "deps: failed: $command" >&2
		return 1
	fi
}

[ $# -ge 1 ] || { echo "usage: deps.sh missing|install SET... | deps.sh tool NAME" >&2; exit 64; }
verb=$1
shift
sets="$*"
case $verb in
missing) missing ;;
install) install ;;
tool) tool "$1" || { echo "deps: $1 is not installed; \`make deps DEV=1\` installs it" >&2; exit 69; } ;;
*) echo "deps.sh: unknown verb $verb" >&2; exit 64 ;;
esac
