/** Returns a command-line option as a whole number. @throws Error with a one-line message for any other text. */
export function readNumber(name: string, text: string): string {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} takes a whole number, not "${text}"`);
  return text;
}
