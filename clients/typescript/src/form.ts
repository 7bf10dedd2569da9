// Helpers for the form in a web page. They need no key and call nothing.

/** Whether the service accepts this text as a phone number: ten digits, the first 6 to 9, with or without `+91`. */
export function isPhone(text: string): boolean {
  return /^(\+91)?[6-9][0-9]{9}$/.test(text);
}

/** Whether this text has the form of a code: six digits. */
export function isCode(text: string): boolean {
  return /^[0-9]{6}$/.test(text);
}
