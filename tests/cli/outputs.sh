#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Files written: only plain ones, whole or not at all, whatever ends the writing.
. "$ROOT/tests/cli/_lib.sh"
sample=$samples/canonical.csv
mkfifo pipe
mkdir out.d

# Nothing but a plain file is replaced, even with --force.
run 73 trace convert "$sample" -o pipe --force
says err "pipe: got a device, pipe or socket"
run 73 trace generate --span 1d -o pipe --force
run 73 trace generate --span 1d -o /dev/null --force
run 73 run tiny -o pipe --force
[ -p pipe ] || fail "the pipe was replaced"
run 64 trace generate --span 1d -o ''
says err "an empty name"
run 64 run tiny -o ''
says err "an empty name"
run 64 run tiny -o -
says err "does not go to standard output"
absent ./-

# What is read is never replaced by what is written, by whatever name.
run 0 run tiny -o read.h5
cp read.h5 kept.h5
ln -s read.h5 link.h5
for flag in '-f json -t jobs -o read.h5 --force' '-f json -t jobs -o ./link.h5 --force'; do
	# shellcheck disable=SC2086 # words
	run 73 export read.h5 $flag
	says err "would replace what is read"
done
run 73 regress read.h5 read.h5 --junit link.h5
says err "--junit would replace what is read"
cp "$sample" trace.csv
run 73 run --trace trace.csv -o trace.csv --force
run 73 trace convert trace.csv -o trace.csv --force
cmp -s read.h5 kept.h5 || fail "a result that was read was replaced"
cmp -s trace.csv "$sample" || fail "a trace that was read was replaced"

# `-` is standard output, and .gz is gzip that reads back as the same.
run 0 trace convert "$sample" -o -
cp out plain.csv
run 0 trace convert "$sample" -o once.csv.gz
gzip -dc once.csv.gz | cmp -s - plain.csv || fail "gzip holds another text"
run 0 trace convert once.csv.gz
cmp -s out plain.csv || fail "another trace through gzip"
run 0 trace generate --span 1d -o days.csv.gz
run 0 trace lint days.csv.gz --strict

# Contradicting options are judged before a byte is written, by the flags' names.
run 64 trace generate --cancelled 0.9 --failed 0.9
silent out
says err "--cancelled + --failed, got 1.8"
run 64 trace generate --seed -1
says err "--seed, got"
run 64 trace generate --inference 0.5 --evaluation 0.5 --simulation 0.5 -o no.csv
says err "--inference + --evaluation + --simulation"
absent no.csv

# A file that grows too large, a full disk.
(
	ulimit -f 8
	"$TIDELAB" trace generate --span 300d -o out.d/large.csv >out 2>err </dev/null
	echo $? >status
)
[ "$(cat status)" -eq 74 ] || fail "a file too large: exit $(cat status), wanted 74"
says err "out.d/large.csv: cannot be written: File too large"
if [ -c /dev/full ]; then
	run 0 run tiny -o full.h5
	# The summary is a little more than stdio holds: its end alone tells of no failure.
	for verb in "trace convert $sample" "trace generate --span 9d" "check tiny" "summary full.h5"; do
		# shellcheck disable=SC2086 # words
		"$TIDELAB" $verb >/dev/full 2>err
		[ $? -eq 74 ] || fail "$verb: a full disk behind stdout, wanted 74"
		says err "cannot be written"
	done
fi
[ -z "$(ls -A out.d)" ] || fail "left behind: $(ls -A out.d)"

# interrupted SIGNAL ARGUMENT...: must end by it, and leave nothing in out.d.
interrupted() {
	signal=$1
	shift
	"$TIDELAB" "$@" >out 2>err </dev/null &
	pid=$!
	sleep 0.5
	kill -"$signal" $pid 2>/dev/null || fail "$*: over before the signal"
	wait $pid
	status=$?
	[ $status -eq 130 ] || fail "$* by $signal: exit $status, wanted 130: $(cat err)"
	says err "interrupted"
	[ -z "$(ls -A out.d)" ] || fail "$* by $signal: left behind: $(ls -A out.d)"
}
run 0 trace generate --span 300d --rate 300 -o long.csv
for signal in TERM HUP; do
	interrupted "$signal" trace generate --span 3000d --rate 2000 -o out.d/a.csv
	interrupted "$signal" trace generate --span 3000d --rate 2000 -o out.d/a.csv.gz
	interrupted "$signal" trace convert long.csv -o out.d/a.csv
done
interrupted TERM explain --job 1 --trace long.csv --policy order=las,place=topology \
	--set policy.backfill=conservative
says err "nothing is told of the job"

run 0 run --cluster 600x8 --physics ideal --trace long.csv --horizon 8d -o long.h5 --tables all
interrupted TERM export long.h5 --format json -o out.d/a.json.gz

# Pictures: the gnuplot that draws them is ended too.
run 0 run tiny -o tiny.h5
mkdir bin
cat >bin/gnuplot <<'END'
#!/bin/sh
echo $$ >"$GNUPLOT_PID"
for word; do case $word in *.partial.*) echo begun >"$word" ;; esac; done
exec sleep 60
END
sed -i "s|\"\$GNUPLOT_PID\"|'$work/pid'|" bin/gnuplot
chmod +x bin/gnuplot
PATH=$work/bin:$PATH interrupted TERM figures tiny.h5 -o out.d/
[ -s pid ] || fail "gnuplot was not begun"
kill -0 "$(cat pid)" 2>/dev/null && fail "gnuplot goes on"
finish
