import { composeText } from "@postrider/platforms/text/compose-text";

/** Returns a text in the form in which texts are compared: composed characters, and single spaces as white space. */
export function normalizeText(text: string): string {
  return composeText(text).replaceAll(/\s+/gu, " ").trim();
}
