#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A pipe, a folder or a device where a file is read: refused by its name, never waited for.
. "$ROOT/tests/cli/_lib.sh"

mkfifo pipe
mkdir folder held
ln -s ../pipe held/manifest
run 0 run tiny -o run.h5
cat >recorded.yaml <<EOF
horizon: 1h
workload: [{service: a, arrivals: {process: trace, path: pipe, format: mooncake}, replicas: 1}]
EOF

# refused ARGUMENT...: at once, with the pipe's name.
refused() {
	timeout 20 "$TIDELAB" "$@" >out 2>err </dev/null
	got=$?
	[ "$got" -eq 66 ] || fail "tidelab $*: exit $got, wanted 66"
	says err "is a device, pipe or socket, wanted a plain file"
}

refused check ./pipe
refused run --trace pipe -o pipe.h5
refused run tiny --cluster ./pipe
refused run tiny --set 'cluster={list: pipe}'
refused run tiny --policy place=./pipe
refused run service --set 'workload[0].calendar=pipe'
refused check ./recorded.yaml
refused summary pipe
refused export pipe --format swf
refused report pipe -o out.report
refused figures pipe -o out.pictures
refused compare run.h5 pipe
refused regress pipe run.h5
refused regress run.h5 pipe
refused regress run.h5 run.h5 --tolerance pipe
refused regress pipe run.h5 --update
refused trace inspect pipe
refused merge held
refused compare held run.h5
refused report held -o out.report
refused sweep tiny -o held
refused tune tiny --minimize jct_mean_s --over policy.place=topology,fgd -o held
[ -p pipe ] || fail "the pipe was replaced"
absent out.report
absent out.pictures

for what in folder /dev/null; do
	run 66 regress "$what" run.h5 --tolerance "$what"
	run 66 regress run.h5 run.h5 --tolerance "$what"
	run 66 summary "$what"
	run 66 check "$what"
done
run 66 merge folder
says err "folder/manifest: cannot be opened: No such file or directory; a sweep's folder has a manifest"

finish
