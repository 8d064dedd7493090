// Signing in, going from page to page, keys, drafts and keeping up; htmx does the rest.
const $ = (selector, from = document) => from.querySelector(selector);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];
const byId = (id) => document.getElementById(id);
const on = (name, listen) => document.addEventListener(name, listen);
const store = sessionStorage;
const KEY = "engramdown-key", SEEN = "engramdown-seen", DRAFT = "draft:";
const main = $("#main"), body = document.body, decided = [];
let went = 0, wait = 0, own = 0, current = "";

const key = () => store[KEY] || "";
function door(open, said = "") {
  byId("door").hidden = !open;
  main.hidden = open;
  $("#door output").textContent = said;
  if (open) byId("code").focus();
}
async function signIn(code) {
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch("/v1/keys", { method: "POST", headers, body: JSON.stringify({ code }) });
  const data = await answer.json();
  if (!answer.ok) return door(true, data.detail);
  store[KEY] = data.key;
  store.id = data.id;
  begin();
}
function leave(said) {
  store.removeItem(KEY);
  main.replaceChildren();
  door(true, said);
}
async function signOut() {
  await fetch("/v1/keys/" + store.id, { method: "DELETE", headers: { Authorization: "Bearer " + key() } });
  leave("You are signed out.");
}
function begin() {
  door(false);
  htmx.trigger(body, "signed-in");
  go(location.href, false);
  count();
}
byId("door").addEventListener("submit", (event) => {
  event.preventDefault();
  signIn(byId("code").value.trim());
  byId("code").value = "";
});

const path = () => "/page" + (location.pathname === "/" ? "/inbox" : location.pathname);
const pull = (at, address, swap, values) => htmx.ajax("GET", address, { source: at, target: at, swap, values });
const load = (swap) => pull(main, path() + location.search, swap);
const count = () => pull(byId("waiting"), "/page/waiting", "innerHTML");
async function go(address, push = true) {
  const turn = ++went;
  if (push) history.pushState(null, "", address);
  await load("innerHTML");
  if (turn !== went) return;
  scrollTo(0, 0);
  const wanted = byId(location.hash.slice(1));
  if (wanted) {
    wanted.scrollIntoView({ block: "center" });
    wanted.classList.add("found");
    choose(wanted.closest(".row"));
  } else if (!main.contains(document.activeElement)) main.focus({ preventScroll: true });
  all(".row", main).forEach((row) => store[DRAFT + row.id] && $("[data-key=e]", row)?.click());
}
addEventListener("popstate", () => go(location.href, false));
function searched({ target: { form } }) {  // Filters
  if (!form?.matches("[data-address]")) return;
  const query = new URLSearchParams(new FormData(form));
  [...query].forEach(([name, value]) => value || query.delete(name));
  history.replaceState(null, "", location.pathname + (query.size ? "?" + query : ""));
}
on("input", searched);
on("change", searched);

on("htmx:config:request", ({ detail: { ctx } }) => {
  ctx.request.headers.Authorization = "Bearer " + key();
  ctx.request.headers["X-Since"] = localStorage[SEEN] || "";
});
on("htmx:before:request", (event) => {
  const { request } = event.detail.ctx;
  if (!key() || (body.matches(".gone") && request.method !== "GET")) return event.preventDefault();
  if (!(request.body instanceof URLSearchParams)) return;
  const fields = {};
  for (const name of request.body.keys()) fields[name] = request.body.getAll(name).join(" ");
  request.body = JSON.stringify(fields);
  request.headers["Content-Type"] = "application/json";
});
// A row that somebody acts on is not replaced by what was fetched before.
on("htmx:before:swap", (event) => {
  const { sourceElement, request } = event.detail.ctx;
  if (request.method === "GET" && sourceElement.matches(".row") && $(".htmx-request", sourceElement)) event.preventDefault();
});
on("htmx:after:request", ({ detail: { ctx } }) => {
  if (ctx.request.method !== "GET") own = Date.now();
  gone(false);
  if (ctx.response.status === 401) leave("The key is not valid any more.");
  if (!(ctx.response.headers.get("Content-Type") || "").startsWith("text/html")) {
    ctx.swap = "none";
    say(JSON.parse(ctx.text).detail);
  }
  const form = ctx.sourceElement.closest?.("form[data-draft]");
  if (form && ctx.response.status < 300) forget(form);
});
on("htmx:error", ({ detail: { error } }) => error.name === "TypeError" && gone(true));
on("htmx:sse:error", ({ detail }) => (detail.status === 401 ? leave() : gone(true)));
on("htmx:sse:after:connection", () => {
  if (body.matches(".gone")) refresh();
  gone(false);
});
function say(text) {
  const toast = document.createElement("p");
  toast.className = "toast bad";
  toast.textContent = text;
  byId("toasts").append(toast);
}
function gone(is) {
  body.classList.toggle("gone", is);
  byId("banner").hidden = !is;
}
on("htmx:after:swap", () => {
  const page = $("[data-page]", main), name = location.pathname.slice(1) || "inbox";
  if (page) document.title = page.dataset.title + " · Engramdown";
  all("nav a").forEach((link) => (link.ariaCurrent = link.pathname === "/" + name ? "page" : "false"));
  all(".toast").forEach((toast) => setTimeout(() => toast.remove(), 6000));
  all("form[data-draft]:not([data-kept], .conflict *)").forEach((form) => {
    form.dataset.kept = "";
    const kept = JSON.parse(store[draft(form)] || "{}");
    for (const name in kept) form.elements[name].value = kept[name];
  });
  all(".row.done:not([data-told])").forEach((row) => {
    row.dataset.told = "";
    decided.push(row.id);
  });
  const wanted = $("[data-focus]", main), followed = $("[data-follow] > .row", main);
  if (wanted) {
    wanted.removeAttribute("data-focus");
    wanted.focus();
    wanted.setSelectionRange(wanted.value.length, wanted.value.length);
  }
  if (!$(".row.current", main)) choose(byId(current) || followed, document.activeElement === body && !!byId(current));
  chosen();
});

// Drafts are kept until they are acknowledged,
// with what they were made from, so that a change meanwhile is still seen.
const draft = (form) => DRAFT + form.dataset.draft;
const forget = (form) => store.removeItem(draft(form));
on("input", ({ target: { form } }) => {
  const fields = form?.matches("[data-draft]") && Object.fromEntries(new FormData(form));
  if (fields) store[draft(form)] = JSON.stringify(fields);
});

// Letters press the buttons of the current row.
function choose(row, focus = true) {
  if (!row) return;
  all(".row.current", main).forEach((each) => each.classList.remove("current"));
  row.classList.add("current");
  current = row.id;
  const opener = $("[data-open]", row);
  if (opener && row.parentNode.matches("[data-follow]")) open(opener, true);
  if (!focus) return;
  (opener || row).focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}
function move(by) {
  const rows = all(".row", main).filter((row) => row.matches(".current") || !row.matches(".one > .done"));
  choose(rows[Math.max(0, Math.min(rows.length - 1, rows.findIndex((row) => row.matches(".current")) + by))]);
}
function open(opener, is) {
  opener.ariaExpanded = is;
  opener.closest(".row").classList.toggle("open", is);
  if (!is || opener.dataset.opened) return;
  opener.dataset.opened = "1";
  htmx.trigger(opener, "open-row");
}
function chosen() {
  const number = all(".row input[name=ids]:checked", main).length;
  if (!byId("batch")) return;
  byId("batch").hidden = !number;
  byId("chosen").textContent = number;
}
on("change", chosen);
on("click", (event) => {
  const at = (selector) => event.target.closest(selector), link = at("a[href^='/']"), row = at("main .row");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    return void go(link.getAttribute("href"));
  }
  if (row) choose(row, false);
  if (row && at("[data-open]")) open(at("[data-open]"), row.parentNode.matches("[data-follow]") || !row.matches(".open"));
  if (at("[data-cancel]")) forget(at("form"));
  if (at("[data-keys]")) byId("keys").showModal();
  if (at("[data-one]")) at("[data-one]").ariaPressed = byId("queue").classList.toggle("one");
  if (at("[data-seen]")) localStorage[SEEN] = new Date().toISOString();
  if (at("[data-leave]")) signOut();
});
const MOVES = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }, SIDES = { ArrowRight: "a", ArrowLeft: "d" };
addEventListener("keydown", (event) => {
  const { target } = event, row = $(".row.current", main), queue = byId("queue");
  const letter = (queue && SIDES[event.key]) || event.key, named = `[data-key="${CSS.escape(letter)}"]`;
  if (letter === "Enter" && (event.ctrlKey || event.metaKey)) return target.form?.requestSubmit();
  if ($("dialog[open]") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (letter === "Escape") return $("[data-cancel]", row || main)?.click() ?? target.blur();
  if (target.matches("textarea, select, input:not([type=checkbox])")) return;
  const batch = "ad".includes(letter) && $("#batch:not([hidden])");
  const undo = letter === "u" && queue && byId(decided.pop());
  const at = undo || batch || row, button = (at && $(named, at)) || $(`main .bar ${named}, header ${named}`);
  if (!MOVES[letter] && !button) return;
  event.preventDefault();
  if (MOVES[letter]) return move(MOVES[letter]);
  if (button.matches("[type=search], [type=text], [type=number]")) return button.focus();
  button.click();
  if (queue && "ad".includes(letter) && !batch) move(1);
});

// Keeping up, but not under somebody's hands.
function refresh() {
  clearTimeout(wait);
  wait = setTimeout(() => {
    if ($(".row.open, .editing", main)) byId("stale")?.removeAttribute("hidden");
    else load("innerMorph");
  }, 120);
}
function update(prefix, id) {
  const row = byId(prefix + id), list = $(".rows", main), query = new URLSearchParams(location.search);
  if (row?.matches(".done") || (row && $(".htmx-request", row))) return;
  if (row && $("textarea", row)) return row.classList.add("stale");
  if (row?.matches(".open")) query.set("open", "1");
  pull(row || list, `${path()}/row/${encodeURIComponent(id)}?${query}`, row ? "outerHTML" : "afterbegin");
}
function elsewhere() {
  clearTimeout(wait);
  wait = setTimeout(() => {
    const left = all("#queue > .row:not(.done)").filter((row) => !$(".htmx-request", row));
    const ids = left.map((row) => row.id.slice(2)).join(" ");
    if (ids) pull(byId("queue"), "/page/inbox/gone", "none", { ids });
  }, 300);
}
for (const name of ["change", "proposal", "session", "trouble", "reset"]) {
  byId("live").addEventListener(name, ({ detail }) => {
    const page = $("[data-page]", main), { id, what } = name === "reset" ? {} : JSON.parse(detail.data);
    count();
    if (what === "trouble") say(JSON.parse(detail.data).text);
    if (!page || (name !== "reset" && !page.dataset.live.split(" ").includes(name))) return;
    if (byId("queue") && /approved|declined/.test(what)) elsewhere();
    else if (page.dataset.row && id) setTimeout(update, 100, page.dataset.row, id);
    else if (what !== "edited" || Date.now() - own > 1500) refresh();
  });
}

on("DOMContentLoaded", () => {  // After htmx, which was asked to be called first.
  const once = new URLSearchParams(location.hash.slice(1)).get("once");
  if (once) history.replaceState(null, "", location.pathname + location.search);
  if (once) signIn(once);
  else if (key()) begin();
  else door(true);
});
