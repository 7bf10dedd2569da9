// For the form in a web page: it holds no key and calls nothing.

/** Whether the service takes this text as a phone number: ten digits, the first 6 to 9, with or without `+91`. */
export function isPhone(text: string): boolean {
  return /^(\+91)?[6-9][0-9]{9}$/.test(text);
}

/** Whether this text has the form of a code: six digits. */
export function isCode(text: string): boolean {
  return /^[0-9]{6}$/.test(text);
}
