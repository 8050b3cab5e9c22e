const MAX_CHARACTERS = 200;

/** 1 to 200 characters, not only white space. */
export function isName(text: string): boolean {
  return text.trim() !== "" && Array.from(text).length <= MAX_CHARACTERS && !text.includes("\0");
}
