/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What check_page.sh wants to be true of a report, seen from within. */
const faults = [];
const want = (good, what) => { if (!good) faults.push(what); };
const all = (selector) => Array.from(document.querySelectorAll(selector));
const name = (element) => element.tagName.toLowerCase() + (element.id ? "#" + element.id : "") +
	" “" + element.textContent.trim().slice(0, 40) + "”";

/* ---- pictures ---- */
const pictures = all("svg");
for (const picture of pictures) {
	const box = picture.getBoundingClientRect(), drawn = picture.getBBox();
	want(box.width > 100 && box.height > 50, "picture has no room: " + picture.getAttribute("aria-label"));
	want(drawn.width > 0 && drawn.height > 0, "picture is empty: " + picture.getAttribute("aria-label"));
	want(picture.getAttribute("role") === "img" && picture.getAttribute("aria-label"), "picture without words");
	for (const text of picture.querySelectorAll("text")) {
		const at = text.getBoundingClientRect();
		want(at.left >= box.left - 1 && at.right <= box.right + 1 && at.top >= box.top - 1 && at.bottom <= box.bottom + 1,
			"text is cut off in a picture: " + text.textContent);
	}
}
for (const image of all("img"))
	want(image.complete && image.naturalWidth > 0 && image.alt, "image is not there: " + image.src);

/* ---- room ---- */
const root = document.documentElement;
want(window.innerWidth === wanted.width, "window is " + window.innerWidth + " wide");
want(root.scrollWidth <= root.clientWidth, "page is " + root.scrollWidth + " wide of " + root.clientWidth);
for (const element of all("body, header, main, nav, section, h1, h2, p, dl, dt, dd, figure, figcaption, li, .tile"))
	want(element.scrollWidth <= element.clientWidth + 1, "text is cut off: " + name(element));
for (const element of all("td, th"))
	want(element.scrollWidth <= element.clientWidth + 1, "cell is cut off: " + name(element));

/* ---- colours ---- */
const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
const brightness = (colour) => {
	const part = numbers(colour).slice(0, 3).map((c) => c / 255)
		.map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
	return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2];
};
const behind = (element) => {
	for (let at = element; at; at = at.parentElement) {
		const colour = getComputedStyle(at).backgroundColor;
		if ((numbers(colour)[3] ?? 1) === 1)
			return colour;
	}
	return "rgb(255, 255, 255)";
};
const contrast = (a, b) => {
	const x = brightness(a), y = brightness(b);
	return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
};
const paper = behind(document.body);
want((brightness(paper) < 0.2) === (wanted.scheme === "dark"), "paper is " + paper);
for (const element of all("h1, p, dt, dd, a, td, th, figcaption, caption, code, strong"))
	want(contrast(getComputedStyle(element).color, behind(element)) >= 4.5, "text is pale: " + name(element));
for (const text of all("svg text"))
	want(contrast(getComputedStyle(text).fill, paper) >= 4.5, "text is pale in a picture: " + text.textContent);

/* ---- structure and keyboard ---- */
const ids = all("[id]").map((element) => element.id);
want(new Set(ids).size === ids.length, "an id stands twice: " + ids.find((id, i) => ids.indexOf(id) !== i));
want(all("h1").length === 1, all("h1").length + " headings of the first level");
want(root.lang !== "", "no language");
want(document.title !== "", "no title");
want(all("body > a.skip[href='#main']").length === 1, "nothing skips to the report");
for (const link of all("a[href^='#']"))
	want(document.getElementById(link.getAttribute("href").slice(1)), "link leads nowhere: " + name(link));
for (const table of all("table"))
	want(table.caption && table.tHead, "table without caption or heading");
for (const element of all(".scroll"))
	want(element.tabIndex === 0 && element.getAttribute("aria-label"), "the keyboard does not reach: " + name(element));
want(all("script").length === 1, "the page has a script of its own");
want(all("[src], link[href]:not([href^='data:'])").length === 0, "the page fetches something");

parent.postMessage(faults.length ? Array.from(new Set(faults)).slice(0, 60).join("\n") : "good: " + pictures.length + " pictures", "*");
