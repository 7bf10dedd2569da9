const form = document.querySelector("dwar-login");
const place = form.querySelector("[slot=proof]");
let widget;

// A token is good once, so each time that the form is asked for a proof there is another widget.
form.addEventListener("dwar-login-proof", () => {
  if (widget !== undefined) turnstile.remove(widget);
  const { sitekey } = place.dataset;
  widget = turnstile.render(place, { sitekey, callback: (token) => (form.proof = token) });
});
