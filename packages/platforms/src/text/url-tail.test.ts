import fc from "fast-check";
import { expect, test } from "vitest";
import { LATIN_ACCENTS } from "#src/text/domains.ts";
import { endOfTail } from "#src/text/urls.ts";

// The grammar of twitter-text 3.1 as one regular expression, which needs quadratic time for some
// texts. It is correct for short texts, so the scanner is compared with it.
const LETTERS = `a-z\\u0400-\\u04FF0-9${LATIN_ACCENTS}`;
const PATH_CHAR = `[${LETTERS}!*';:=+,.$/%#\\[\\]\\-\\u2013_~@|&]`;
const PARENTHESES = `\\((?:${PATH_CHAR}+|${PATH_CHAR}*\\(${PATH_CHAR}+\\)${PATH_CHAR}*)\\)`;
const PATH_END = `[${LETTERS}+\\-=_#/]`;
const PATH = `(?:${PATH_CHAR}*(?:${PARENTHESES}${PATH_CHAR}*)*${PATH_END}|${PARENTHESES}|@${PATH_CHAR}+/)`;
const QUERY = "\\?[a-z0-9!?*'@();:&=+$/%#\\[\\]\\-_.,~|]*[a-z0-9\\-_&=#/]";
const TAIL = new RegExp(`(?::[0-9]+)?(/${PATH}*)?(?:${QUERY})?`, "iy");

const PIECES = [
  ...Array.from("aZ0é日жΙ⁠–_-.,;:=+*!'&#@/()?[]{}|~%$ "),
  "/a",
  "(a)",
  "(a(b)c)",
  "@a/",
  ":80",
];
const tails = fc.array(fc.constantFrom(...PIECES), { maxLength: 24 }).map((all) => all.join(""));

test("the scanner for paths and queries of URLs finds the same ends as the grammar of twitter-text", () => {
  fc.assert(
    fc.property(fc.constantFrom("", "/", ":80/", "/x", "?"), tails, (begin, rest) => {
      const text = `a.co${begin}${rest}`;
      TAIL.lastIndex = 4;
      const [whole = "", path = ""] = TAIL.exec(text) ?? [];
      const { pathStart, pathEnd, end } = endOfTail(text, 4);
      expect([text.slice(4, end), text.slice(pathStart, pathEnd)]).toEqual([whole, path]);
    }),
    { numRuns: 20_000 },
  );
});
