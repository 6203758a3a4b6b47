#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# check_includes.sh [ROOT]: who includes whom is a DAG; this is it. Prints every include that breaks a
# rule as `file:line: ...`; status 1 when any does.
set -u
cd "${1:-$(dirname "$0")/../..}" || exit 1
# shellcheck disable=SC2016 # awk's own
find sim policies traces workloads analysis results tests -name '*.[ch]' 2>/dev/null | sort |
	xargs awk '
	# A folder, then what it may include besides itself. `sim` stands for all of it but the command.
	function rules() {
		may["sim/base"] = ""
		may["sim/engine"] = "sim/base"
		may["sim/cluster"] = "sim/base policies/abi"
		may["traces"] = "sim/base sim/cluster"
		may["results"] = "sim/base"
		may["workloads"] = "sim/base traces"
		may["sim/config"] = "sim/base sim/cluster traces workloads sim/work results policies/abi"
		may["sim/work"] = "sim/base sim/engine sim/cluster traces results policies/abi"
		may["sim/account"] = "sim/base sim/cluster sim/config sim/work results policies/abi policies/lib"
		may["sim/faults"] = "sim/base sim/engine sim/cluster sim/config sim/work"
		may["sim/plane"] = "sim traces workloads results policies/abi"
		may["analysis"] = "sim/base results"
		may["sim/cli"] = "*"
		may["tests"] = "*"
		may["policies/abi"] = ""
		may["policies/lib"] = "policies/abi"
		may["policies"] = "policies/abi policies/lib" # every seat

		# A library header (a prefix), then the folders that may name it.
		library("hdf5", "results")
		library("H5", "results")
		library("csv.h", "traces")
		library("yaml.h", "sim/config")
		library("gsl/", "sim/base/rng workloads analysis")
		library("zlib.h", "traces results")
		library("openssl/", "sim/base")
		library("criterion/", "")
		# The contract names these headers of libc and no other.
		n = split("assert ctype errno float inttypes limits math stdalign stdarg stdbool stddef stdint " \
		          "stdio stdlib string time", word, " ")
		for (i = 1; i <= n; i++) libc[word[i] ".h"] = 1
	}
	function library(header, folders) { header_of[++headers] = header; who[headers] = folders }
	function begins(text, prefix) { return substr(text, 1, length(prefix)) == prefix }

	# sim/work/job.c is of sim/work; policies/order/x/y.c of policies/order; traces/a.c of traces.
	function folder(path,   part, n) {
		n = split(path, part, "/")
		if ((part[1] == "sim" || part[1] == "policies") && n > 2) return part[1] "/" part[2]
		return part[1]
	}
	function listed(name, list,   w, n, i) {
		n = split(list, w, " ")
		for (i = 1; i <= n; i++) {
			if (w[i] == "*" || w[i] == name) return 1
			if (w[i] == "sim" && begins(name, "sim/") && name != "sim/cli") return 1
		}
		return 0
	}
	function breaks(text) { printf "%s:%d: %s\n", FILENAME, FNR, text; bad++ }

	function ours(path,   from, to, rule) {
		from = folder(FILENAME); to = folder(path)
		if (from == to) return
		rule = from
		if (!(rule in may) && begins(from, "policies/")) rule = "policies"
		if (!(rule in may)) breaks(from " has no include rule; add it to tests/tools/check_includes.sh")
		else if (!listed(to, may[rule]))
			breaks(from " includes " path "; it may include " (may[rule] == "" ? "nothing of ours" : may[rule]))
	}
	function theirs(path,   i, w, n, j, allowed) {
		if (folder(FILENAME) == "tests") return
		if ((begins(FILENAME, "policies/abi/") || begins(FILENAME, "policies/lib/")) && !(path in libc))
			breaks("the contract and its helpers include headers of libc alone, not <" path ">")
		for (i = 1; i <= headers; i++) {
			if (!begins(path, header_of[i])) continue
			n = split(who[i], w, " "); allowed = 0
			for (j = 1; j <= n; j++) if (begins(FILENAME, w[j])) allowed = 1
			# A policy may link a library of its own, never one through which it would reach ours.
			if (!allowed)
				breaks("<" path "> is for " (who[i] == "" ? "tests" : who[i]) " alone")
			return
		}
	}
	function there(path,   line, status) {
		if (!(path in exists)) {
			status = (getline line < path)
			exists[path] = status >= 0
			close(path)
		}
		return exists[path]
	}
	BEGIN { rules() }
	/^[ \t]*#[ \t]*include[ \t]*"/ {
		split($0, q, "\""); path = q[2]; files[FILENAME] = 1; seen++
		if (!there(path)) breaks("\"" path "\" is not a path from the root of the project")
		else ours(path)
		next
	}
	/^[ \t]*#[ \t]*include[ \t]*</ {
		split($0, q, /[<>]/); seen++
		theirs(q[2])
	}
	END {
		if (!seen) { print "no include found: is this the root of the project?"; bad++ }
		exit bad > 0
	}'
