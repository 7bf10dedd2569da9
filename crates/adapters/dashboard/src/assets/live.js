// Follows a live list: `say` is called with the state of the connection, `heard` with each event. The number of streams
// per operator is limited, and the newest ones stay: a page whose stream was closed opens it again when it is shown
// again.

const LATER = 10_000;

function follow(address, say, heard) {
  let events, waiting = 0;
  const end = (kind) => { events.close(); say(kind); };
  const listen = () => {
    clearTimeout(waiting);
    events = new EventSource(address);
    events.addEventListener("open", () => say("going"));
    for (const [name, hear] of Object.entries(heard)) events.addEventListener(name, hear);
    events.addEventListener("over", () => end("over"));
    events.addEventListener("replaced", () => {
      end("replaced");
      addEventListener("focus", listen, { once: true });
    });
    events.addEventListener("error", () => {
      if (events.readyState !== EventSource.CLOSED) return;
      say("offline");
      waiting = setTimeout(listen, LATER);
    });
  };
  addEventListener("pagehide", () => { clearTimeout(waiting); events.close(); });
  addEventListener("pageshow", ({ persisted }) => { if (persisted) listen(); });
  listen();
}
