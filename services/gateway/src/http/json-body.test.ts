import { expect, test } from "vitest";
import { parseJsonBody } from "#src/http/json-body.ts";

const parse = (text: string) => parseJsonBody(Buffer.from(text));
const refused = (...violations: object[]) => ({ ok: false, violations });
const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

test("parseJsonBody returns the value exactly as it was sent", () => {
  const value = { content: "e\u0301 \u{1f600}\u200d\ufeff\u0001 \\u0000", list: [1, true, null] };
  expect(parse(JSON.stringify(value))).toEqual({ ok: true, value });
  expect(parse(' \n"text"\t')).toEqual({ ok: true, value: "text" });
  expect(parse('"\\ud83d\\ude00"')).toEqual({ ok: true, value: "\u{1f600}" });
});

test.each(["", " ", "{", '{"a":1,}', "{'a':1}", "NaN", "undefined", '{"a":1}{}', "\ufeff{}"])(
  "parseJsonBody refuses %j, which is not valid JSON",
  (text) => {
    expect(parse(text)).toMatchObject(refused({ code: "invalid_json", path: "" }));
  },
);

test("parseJsonBody names a byte order mark in front of the body", () => {
  expect(parse("\ufeff{}")).toEqual(
    refused({ code: "invalid_json", path: "", variant: "byte_order_mark" }),
  );
});

test("parseJsonBody refuses a raw control character", () => {
  expect(parse('"a\0b"')).toMatchObject(refused({ code: "invalid_json", path: "" }));
});

test.each([
  ["a stray byte", [0x22, 0xff, 0x22]],
  ["a cut sequence", [0x22, 0xe2, 0x82, 0x22]],
  ["an overlong NUL", [0x22, 0xc0, 0x80, 0x22]],
  ["a raw surrogate", [0x22, 0xed, 0xa0, 0x80, 0x22]],
  ["UTF-16 with a byte order mark", [0xff, 0xfe, 0x22, 0x00, 0x22, 0x00]],
  ["UTF-16 without a byte order mark", [0x7b, 0x00, 0x7d, 0x00]],
  ["UTF-16 with the higher byte first", [0x00, 0x7b, 0x00, 0x7d]],
])("parseJsonBody refuses %s, which is not valid UTF-8", (_, bytes) => {
  expect(parseJsonBody(Buffer.from(bytes))).toEqual(refused({ code: "invalid_utf8", path: "" }));
});

test("parseJsonBody refuses an escaped NUL character in texts and in keys", () => {
  expect(parse('{"content":"a\\u0000b"}')).toEqual(
    refused({ code: "nul_character", path: "/content" }),
  );
  expect(parse('{"options":{"\\u0000":{}}}')).toEqual(
    refused({ code: "nul_character", path: "/options" }),
  );
  expect(parse('"\\u0000"')).toEqual(refused({ code: "nul_character", path: "" }));
});

test("parseJsonBody reports every unpaired surrogate in texts and in keys", () => {
  expect(parse('{"a/b~":["ok","\\ud800"],"\\udc00":"\\uDEAD\\uD83D"}')).toEqual(
    refused(
      { code: "unpaired_surrogate", path: "/a~1b~0/1" },
      { code: "unpaired_surrogate", path: "" },
      { code: "unpaired_surrogate", path: "/\udc00" },
    ),
  );
});

test("parseJsonBody accepts 64 levels of nesting and refuses 65", () => {
  expect(parse(nested(64)).ok).toBe(true);
  expect(parse(nested(65))).toMatchObject(refused({ code: "too_deep", limit: 64 }));
  expect(parse(`{"a":${nested(63)}}`).ok).toBe(true);
  expect(parse(`{"a":${nested(64)}}`).ok).toBe(false);
  expect(parse(`["\\u0041",${nested(64)}]`).ok).toBe(false);
});

test("parseJsonBody refuses a megabyte of brackets without overflowing the stack", () => {
  const levels = 500_000;
  expect(parse(nested(levels)).ok).toBe(false);
  expect(parse('{"a":'.repeat(150_000) + "1" + "}".repeat(150_000)).ok).toBe(false);
  expect(parse("[".repeat(1_000_000))).toEqual(refused({ code: "invalid_json", path: "" }));
});

test("the error of parseJsonBody says where the body is malformed, and repeats nothing of the body", () => {
  expect(parse('{"secret": 1,\n}')).toEqual(
    refused({ code: "invalid_json", path: "", reason: "line 2, column 1" }),
  );
});

test.each([
  ["a line break", "\n", String.raw`\n`],
  ["a line break", "\r\n", String.raw`\r\n`],
  ["a tab", "\t", String.raw`\t`],
])(
  "the error of parseJsonBody says where a text contains %s as it is, and how to write it",
  (found, character, expected) => {
    expect(parse(`{"accountIds": [],\n "content": "First${character}second"}`)).toEqual(
      refused({
        code: "invalid_json",
        path: "",
        reason: "line 2, column 19",
        variant: "unescaped",
        found,
        expected,
      }),
    );
  },
);

test("the error of parseJsonBody about another control character in a text says only where it is", () => {
  expect(parse('"a\u0001"')).toEqual(
    refused({ code: "invalid_json", path: "", reason: "line 1, column 3" }),
  );
});

test("parseJsonBody reports at most 100 mistakes", () => {
  const body = parse(JSON.stringify(Array.from({ length: 500 }, () => "\0")));
  expect(body.ok ? [] : body.violations).toHaveLength(100);
});

test.each(['{"__proto__":{"force":true}}', '{"\\u005f_proto__":{"force":true}}'])(
  "parseJsonBody refuses the key __proto__ in the body %s",
  (text) => {
    expect(parse(text)).toEqual(refused({ code: "additional_property", path: "/__proto__" }));
    expect("force" in {}).toBe(false);
  },
);

test("parseJsonBody refuses an array or object with more members than any schema allows, and reports its path", () => {
  const list = (count: number) => JSON.stringify(Array.from({ length: count }, () => 1));
  expect(parse(`{"ids":${list(1_000)}}`).ok).toBe(true);
  expect(parse(`{"ids":${list(1_001)}}`)).toEqual(
    refused({ code: "max_items", path: "/ids", limit: 1_000, actual: 1_001 }),
  );
  const object = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [index, ""]));
  expect(parse(JSON.stringify({ "a/b": object }))).toEqual(
    refused({ code: "max_properties", path: "/a~1b", limit: 1_000, actual: 1_001 }),
  );
  const lists = (count: number) =>
    `[${Array.from({ length: count }, () => list(1_000)).join(",")}]`;
  expect(parse(lists(11)).ok).toBe(true);
  expect(parse(lists(13)).ok).toBe(false);
});

test("parseJsonBody accepts the largest post that the API allows", () => {
  const tags = Array.from({ length: 100 }, (_, index) => `tag ${index}`);
  const option = { content: "x", title: "x", privacy: "public", tags };
  const options = Array.from({ length: 100 }, (_, index) => [`key ${index}`, option]);
  const ids = Array.from({ length: 135 }, () => "x");
  expect(parse(JSON.stringify({ options: Object.fromEntries(options), ids })).ok).toBe(true);
});

test("parseJsonBody accepts the word __proto__ in a text", () => {
  expect(parse('{"content":"__proto__"}')).toEqual({ ok: true, value: { content: "__proto__" } });
  expect(parse('{"constructor":1,"toString":2}').ok).toBe(true);
});
