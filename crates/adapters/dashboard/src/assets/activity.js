// The list of requests goes on by itself. Without this script it is a plain list.

const list = document.querySelector("[data-live]");
const rows = document.getElementById("rows");
const bar = document.getElementById("live-bar");
const status = document.getElementById("live-status");
const pause = document.getElementById("live-pause");
const MOST = 200;
const waiting = new Map();
let paused = false;

const say = (kind) => {
  if (status.textContent !== list.dataset[kind]) status.textContent = list.dataset[kind];
  bar.dataset.state = kind;
};

// A row takes the place of the one it knows, or comes first.
const show = ({ id, html }) => {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  const row = holder.content.firstElementChild;
  const known = document.getElementById(`r-${id}`);
  if (known) {
    if (known.contains(document.activeElement)) row.querySelector("a").dataset.focus = "";
    known.replaceWith(row);
    row.querySelector("[data-focus]")?.focus();
  } else {
    row.classList.add("fresh");
    rows.prepend(row);
  }
  while (rows.children.length > MOST) rows.lastElementChild.remove();
  list.hidden = false;
  document.getElementById("nothing-yet")?.remove();
};

list.hidden = rows.children.length === 0;
bar.hidden = false;
let state = "going";
const stands = (kind) => {
  state = kind;
  say(paused && kind === "going" ? "paused" : kind);
};
follow(list.dataset.live, stands, {
  row: ({ data }) => {
    const row = JSON.parse(data);
    if (paused) waiting.set(row.id, row);
    else show(row);
  },
  gap: () => say("gap"),
});

pause.addEventListener("click", () => {
  paused = !paused;
  pause.setAttribute("aria-pressed", String(paused));
  if (!paused) {
    for (const row of waiting.values()) show(row);
    waiting.clear();
  }
  stands(state);
});
