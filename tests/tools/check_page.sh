#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# check_page.sh PAGE.html: opens a report in headless Chromium, wide and narrow, light and dark.
# Status 1, with what is wrong, where the console has an error, a picture is not there, text is cut
# off or too pale, a link leads nowhere, or the keyboard cannot reach what scrolls. 77: no Chromium.
set -u
[ $# -eq 1 ] || { echo "usage: check_page.sh PAGE.html" >&2; exit 64; }
page=$1
here=$(cd "$(dirname "$0")" && pwd)
browser=$(sh "$here/deps.sh" tool chromium 2>/dev/null) || {
	echo "chromium is not installed; \`make deps DEV=1\` installs it"
	exit 77
}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/tidelab-page.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
failures=0

# browse SCHEME FILE: the page as it stands after loading; what the console said is in log.
browse() {
	preferred=1
	[ "$1" = dark ] && preferred=0
	HOME=$scratch timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--no-first-run --disable-extensions --disable-background-networking --disable-component-update \
		--user-data-dir="$scratch/profile" --window-size=1400,900 \
		--blink-settings=preferredColorScheme=$preferred --enable-logging=stderr --virtual-time-budget=5000 \
		--dump-dom "file://$2" >"$scratch/dom" 2>"$scratch/log"
}

# As it is: nothing on the console, which its own rules (no script, no network) would fill.
browse light "$(cd "$(dirname "$page")" && pwd)/$(basename "$page")"
if ! grep -q '<main' "$scratch/dom"; then
	echo "chromium did not show the page:"
	tail -n 5 "$scratch/log"
	exit 1
fi
if grep 'CONSOLE' "$scratch/log"; then
	echo "$page: the console has messages"
	failures=1
fi

# A copy with a look from within, in a frame: windows have a least width of their own.
sed -e 's|<meta http-equiv="Content-Security-Policy"[^>]*>||' "$page" >"$scratch/copy.html"
for width in 1280 390; do
	for scheme in light dark; do
		{
			printf '<script>\nconst wanted = {width: %s, scheme: "%s"};\n' "$width" "$scheme"
			cat "$here/check_page.js"
			printf '</script>\n'
		} >"$scratch/script"
		sed -e "/<\/main>/r $scratch/script" "$scratch/copy.html" >"$scratch/look.html"
		cat >"$scratch/frame.html" <<END
<!DOCTYPE html><html lang="en"><title>frame</title><body>
<iframe src="look.html" width="$width" height="900" style="border: 0"></iframe>
<script>onmessage = (event) => {
	const verdict = document.createElement("pre");
	verdict.id = "verdict";
	verdict.textContent = "\n" + event.data + "\n";
	document.body.append(verdict);
};</script></body></html>
END
		browse "$scheme" "$scratch/frame.html"
		if grep 'CONSOLE' "$scratch/log"; then
			failures=1
		fi
		# The verdict: `good: N pictures`, or a line a fault.
		verdict=$(sed -n '/<pre id="verdict">/,/<\/pre>/p' "$scratch/dom" | sed -e 's/<[^>]*>//g' -e '/^$/d')
		echo "$width px, $scheme: ${verdict:-no verdict}"
		case $verdict in
		"good:"*) ;;
		*) failures=1 ;;
		esac
	done
done
exit "$failures"
