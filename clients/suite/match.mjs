// Whether an answer or a request is what a case expects. Each function gives a list of differences.

const FORMS = {
  "@uuid": (value) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value),
  "@time": (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value),
  "@string": (value) => typeof value === "string" && value !== "",
  "@number": (value) => typeof value === "number",
  "@user-agent": (value) => /^dwar-client\/\d+\.\d+\.\d+ \((typescript|python|go|rust)\)$/.test(value),
  "@absent": (value) => value === undefined || value === null,
};

const CONTAINS = "@contains ";

/** An object may have more fields than the pattern; a list has as many items. */
export function differences(value, pattern, path = "") {
  const form = typeof pattern === "string" ? FORMS[pattern] : undefined;
  if (form) return form(value) ? [] : [`${path} is ${JSON.stringify(value)}, not ${pattern}`];
  if (typeof pattern === "string" && pattern.startsWith(CONTAINS)) {
    const text = pattern.slice(CONTAINS.length);
    return String(value).includes(text) ? [] : [`${path} is ${JSON.stringify(value)}, without ${JSON.stringify(text)}`];
  }
  if (typeof pattern !== "object" || pattern === null) {
    return value === pattern ? [] : [`${path} is ${JSON.stringify(value)}, not ${JSON.stringify(pattern)}`];
  }
  if (typeof value !== "object" || value === null) return [`${path} is ${JSON.stringify(value)}, not an object`];
  if (Array.isArray(pattern) && value.length !== pattern.length) {
    return [`${path} has ${value.length} items, not ${pattern.length}`];
  }
  return Object.entries(pattern).flatMap(([name, wanted]) => differences(value[name], wanted, `${path}.${name}`));
}

/** Every request has to be one of `expected`, which are told apart by `is`. */
export function requestDifferences(requests, expected) {
  const unexpected = requests.filter(({ is }) => !expected.some((one) => one.is === is));
  return [
    ...unexpected.map(({ is }) => `an unexpected ${is}`),
    ...expected.flatMap((one) =>
      oneDifferences(
        requests.filter(({ is }) => is === one.is),
        one,
      ),
    ),
  ];
}

function oneDifferences(requests, { is, count = 1, gaps_ms = [], headers = {}, ...rest }) {
  if (requests.length !== count) return [`${requests.length} times ${is}, not ${count}`];
  const found = requests.flatMap((request) => differences(request, rest, is));
  for (const [name, wanted] of Object.entries(headers)) {
    const values = requests.map((request) => request.headers[name]);
    const kinds = new Set(values).size;
    if (wanted === "@same" || wanted === "@different") {
      if (values.includes(undefined)) found.push(`${is} without ${name}`);
      if (kinds !== (wanted === "@same" ? 1 : count)) found.push(`${is}: ${name} is not ${wanted}`);
    } else {
      found.push(...values.flatMap((value) => differences(value, wanted, `${is} ${name}`)));
    }
  }
  gaps_ms.forEach(([least, most], index) => {
    const gap = requests[index + 1].at - requests[index].at;
    if (gap < least || gap > most) found.push(`${is}: ${Math.round(gap)} ms before try ${index + 2}`);
  });
  return found;
}
