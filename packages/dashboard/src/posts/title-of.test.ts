import { expect, test } from "vitest";
import { titleOf } from "./title-of.ts";

test.each([
  ["Neue Werkstattzeiten ab Dezember: Mo bis Sa", "Neue Werkstattzeiten ab Dezember"],
  ["Short one.\nSecond line", "Short one"],
  ["https://example.com/a.b?c", "https://example.com/a.b?c"],
  ["", ""],
  ["word ".repeat(30), `${"word ".repeat(12).trim()}…`],
])("the title of %j is %j", (content, title) => {
  expect(titleOf(content)).toBe(title);
});
