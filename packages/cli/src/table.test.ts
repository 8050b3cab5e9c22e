import { expect, test } from "vitest";
import { escapeText } from "./escape-controls.ts";
import { formatRecord, formatTable } from "./table.ts";

const HOSTILE = "a\u001b[2J\u009b1A\r\nID  forged\u202eb\u2028c";
const HARMLESS = "a\\u{1b}[2J\\u{9b}1A\\u{d}\\u{a}ID  forged\\u{202e}b\\u{2028}c";

test("a name with control characters cannot move the cursor, forge a row or turn the text around in a table or a record", () => {
  expect(formatTable(["id", "name"], [["1", HOSTILE]], "none")).toBe(`ID  NAME\n1   ${HARMLESS}`);
  expect(formatRecord({ name: HOSTILE, id: "1" })).toBe(`name  ${HARMLESS}\nid    1`);
});

test("a text keeps its lines, and loses the power over the terminal", () => {
  expect(escapeText("refused: \u001b]0;x\u0007\nnext")).toBe("refused: \\u{1b}]0;x\\u{7}\nnext");
});
