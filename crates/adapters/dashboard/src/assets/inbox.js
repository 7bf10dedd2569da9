// Updates the inbox as messages come, and searches during typing. Without this script it is a plain list.

const form = document.getElementById("search"), wanted = document.getElementById("wanted");
const list = document.getElementById("messages"), rows = document.getElementById("rows");
const bar = document.getElementById("live-bar"), status = document.getElementById("live-status");
let busy = false, again = false, typing = 0;

const say = (kind) => {
  if (status.textContent !== list.dataset[kind]) status.textContent = list.dataset[kind];
  bar.dataset.state = kind;
};

// Rows that are shown already stay unchanged, with their focus and selection.
function show(page, isNews) {
  const part = (id) => page.getElementById(id);
  const known = new Map([...rows.children].map((row) => [row.id, row]));
  const next = [...part("rows").children];
  const kept = new Set(next.map((row) => row.id));
  for (const [id, row] of known) if (!kept.has(id)) row.remove();
  next.forEach((row, index) => {
    const old = known.get(row.id);
    if (old && rows.children[index] === old) return;
    if (!old && isNews) row.classList.add("fresh");
    rows.insertBefore(old ?? row, rows.children[index] ?? null);
  });
  document.getElementById("list").hidden = next.length === 0;
  for (const id of ["nothing", "further"]) {
    const here = document.getElementById(id), there = part(id);
    if (here.innerHTML !== there.innerHTML) here.replaceChildren(...there.childNodes);
    here.hidden = there.hidden;
  }
}

// Makes one request at a time; calls during a request cause one more afterwards.
async function refresh(isNews) {
  if (busy) { again = true; return; }
  busy = true;
  const body = new URLSearchParams(new FormData(form));
  body.set("page", list.dataset.number);
  try {
    const answer = await fetch(form.action, { method: "POST", body });
    if (!answer.ok || answer.redirected) throw new Error(answer.status);
    show(new DOMParser().parseFromString(await answer.text(), "text/html"), isNews);
  } catch {
    say("offline");
  }
  busy = false;
  if (again) { again = false; refresh(isNews); }
}

wanted.addEventListener("input", () => {
  list.dataset.number = 1;
  clearTimeout(typing);
  typing = setTimeout(refresh, 150);
});
form.addEventListener("submit", (event) => {
  if (event.submitter?.name === "page") return;
  event.preventDefault();
  list.dataset.number = 1;
  clearTimeout(typing);
  refresh();
});

bar.hidden = false;
follow(list.dataset.live, say, { news: () => refresh(true) });
