import { composeText } from "@postrider/platforms/text/compose-text";

/** Returns a text in the form in which texts are compared: Unicode NFC, and white space as single spaces. */
export function normalizeText(text: string): string {
  return composeText(text).replaceAll(/\s+/gu, " ").trim();
}
