const SECRETS = ["accessToken", "refreshToken", "code", "text", "device"];

/**
 * Leaves secrets out when `console.log` of Node or Bun prints the answer. Reading, comparing and `JSON.stringify` work
 * as usual.
 */
export function withoutSecrets<Answer extends object>(answer: Answer): Answer {
  for (const value of Object.values(answer)) {
    if (Array.isArray(value)) value.filter((item) => item && typeof item === "object").forEach(withoutSecrets);
  }
  if (SECRETS.some((name) => name in answer)) {
    Object.defineProperty(answer, Symbol.for("nodejs.util.inspect.custom"), {
      value: () =>
        Object.fromEntries(Object.entries(answer).map(([k, v]) => [k, SECRETS.includes(k) ? "[secret]" : v])),
    });
  }
  return answer;
}
