// Updates the list of requests as new ones come. Without this script it is a plain list.

const list = document.querySelector("[data-live]");
const rows = document.getElementById("rows");
const bar = document.getElementById("live-bar");
const status = document.getElementById("live-status");
const above = document.getElementById("live-above");
const pause = document.getElementById("live-pause");
const MOST = 200;
const waiting = new Map();
let paused = false, unseen = 0;

const say = (kind) => {
  if (status.textContent !== list.dataset[kind]) status.textContent = list.dataset[kind];
  bar.dataset.state = kind;
};

const count = (number) => {
  unseen = number;
  above.hidden = unseen === 0;
  above.textContent = `${unseen} ${list.dataset.above}`;
};

// Keeps the scroll position of a reader further down when rows are added above.
const keepPlace = (change) => {
  const reads = [...rows.children].find((row) => row.getBoundingClientRect().bottom > 0);
  const isBelow = rows.getBoundingClientRect().top < 0;
  const before = reads?.getBoundingClientRect().top;
  change();
  if (isBelow && reads.isConnected) scrollBy({ top: reads.getBoundingClientRect().top - before, behavior: "instant" });
  return isBelow;
};

const dropOld = () => {
  while (rows.children.length > MOST && rows.lastElementChild.getBoundingClientRect().top > innerHeight) {
    rows.lastElementChild.remove();
  }
};

// A row replaces the row with its id, or is inserted in the order of ids, which is the order of time.
const show = ({ id, html }) => {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  const row = holder.content.firstElementChild;
  const known = document.getElementById(`r-${id}`);
  if (known) {
    const hadFocus = known.contains(document.activeElement);
    known.replaceWith(row);
    if (hadFocus) row.querySelector("a").focus({ preventScroll: true });
    return;
  }
  row.classList.add("fresh");
  const older = [...rows.children].find((other) => other.id < row.id);
  if (keepPlace(() => rows.insertBefore(row, older ?? null))) count(unseen + 1);
  dropOld();
  list.hidden = false;
  document.getElementById("nothing-yet")?.remove();
};

list.hidden = rows.children.length === 0;
bar.hidden = false;
let state = "going";
const showState = (kind) => {
  state = kind;
  say(paused && kind === "going" ? "paused" : kind);
};
for (const address of list.dataset.live.split(" ")) {
  follow(address, showState, {
    row: ({ data }) => {
      const row = JSON.parse(data);
      if (paused) waiting.set(row.id, row);
      else show(row);
    },
    gap: () => say("gap"),
  });
}

pause.addEventListener("click", () => {
  paused = !paused;
  pause.setAttribute("aria-pressed", String(paused));
  if (!paused) {
    for (const row of waiting.values()) show(row);
    waiting.clear();
  }
  showState(state);
});
above.addEventListener("click", () => {
  list.scrollIntoView();
  rows.querySelector("a")?.focus({ preventScroll: true });
});
addEventListener("scroll", () => { if (rows.getBoundingClientRect().top >= 0) count(0); }, { passive: true });
