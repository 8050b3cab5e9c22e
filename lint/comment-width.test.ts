import { RuleTester } from "oxlint/plugins-dev";
import { describe, it } from "vitest";
import { commentWidth } from "./comment-width.ts";

RuleTester.describe = describe;
RuleTester.it = it;

const LONG =
  "A token that expires is renewed by the first process that needs it, because two requests";
const errors = [{ message: "A line of this comment is wider than 100 columns." }];
const wide = (name: string, code: string, output: string) => ({ name, code, output, errors });

new RuleTester({ languageOptions: { parserOptions: { lang: "ts" } } }).run(
  "comment-width",
  commentWidth,
  {
    valid: [
      { name: "a comment as wide as the code", code: `// ${LONG}\nlet a;` },
      { name: "an address without a place to break", code: `// https://x.test/${"a".repeat(100)}` },
      { name: "a directive", code: `// oxlint-disable-next-line no-var -- ${LONG}` },
      { name: "a text in the code", code: `const a = "// ${LONG} ${LONG}";` },
    ],
    invalid: [
      wide(
        "line comments below each other are filled as one",
        `{\n  // ${LONG} would make one of them useless.\n  // The other waits.\n}`,
        `{\n  // ${LONG} would\n  // make one of them useless. The other waits.\n}`,
      ),
      wide(
        "the tags, items and codes of a block comment stay what they are",
        `/** ${LONG}\n * fail.\n *\n * - one item of a list\n * - another item\n *\n * @returns The token. ${LONG} and \`a code\`.\n */`,
        `/**\n * ${LONG} fail.\n *\n * - one item of a list\n * - another item\n *\n * @returns The token. A token that expires is renewed by the first process that needs it, because\n *   two requests and \`a code\`.\n */`,
      ),
    ],
  },
);
