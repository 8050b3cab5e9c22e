import { expect, test } from "vitest";
import { textTypeOf } from "#src/domain/real-content-type.ts";

test.each([
  ["<!DOCTYPE html><title>Sign in</title>", "text/html"],
  ["\n <html lang=en>", "text/html"],
  ["<!-- saved --><HTML>", "text/html"],
  ["\ufeff<!doctype html>", "text/html"],
  [
    '<?xml version="1.0"?>\n<!-- by hand -->\n<svg xmlns="http://www.w3.org/2000/svg"/>',
    "image/svg+xml",
  ],
  ['<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd"><svg/>', "image/svg+xml"],
  ['{"error":{"code":403}}', "application/json"],
  ['[ {"error":1}]', "application/json"],
  ["<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>", undefined],
  ["%PDF-1.7", undefined],
  ["", undefined],
])("a text that begins with %j has the media type %s", (text, type) => {
  expect(textTypeOf(Buffer.from(text))).toBe(type);
});

test("a long beginning of blanks and comments takes time that is linear in its length", () => {
  const timeOf = (text: string) => {
    const startedAt = performance.now();
    textTypeOf(Buffer.from(text));
    return performance.now() - startedAt;
  };
  for (const part of [" ", "<!--", "<!-- -->", "<?xml", "<?xml >", "<!doctype svg"])
    expect(timeOf(part.repeat(20_000))).toBeLessThan(500);
});
