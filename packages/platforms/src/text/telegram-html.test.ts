import { measureCpuMs } from "@postrider/shared/testing/hostile-texts";
import { expect, test } from "vitest";
import { parseTelegramHtml } from "#src/text/telegram-html.ts";

test.each([
  ["plain text & more > less", "plain text & more > less"],
  ["<b>bold</b> and <I>italic</I>", "bold and italic"],
  ['<a href="https://example.com/?a=1&amp;b=2">link</a>', "link"],
  ["<b><i>nested</i></b>", "nested"],
  ['<span class="tg-spoiler">secret</span>', "secret"],
  ['<pre><code class="language-ts">1 &lt; 2</code></pre>', "1 < 2"],
  ["<blockquote expandable>long</blockquote>", "long"],
  ["&lt;b&gt; &amp;amp; &quot;", '<b> &amp; "'],
  ["&#128512;&#x1F600;", "😀😀"],
  ["&copy; &#0; &#xD800; &#9999999;", "&copy; &#0; &#xD800; &#9999999;"],
  ["<b></b>", ""],
  ["", ""],
])("readers of a Telegram message see %j as %j", (source, text) => {
  expect(parseTelegramHtml(source)).toBe(text);
});

test.each([
  "1 < 2",
  "<blink>a</blink>",
  "<b>a",
  "a</b>",
  "<b><i>a</b></i>",
  "<span>a</span>",
  '<span class="red">a</span>',
  "<b",
  "<>",
  "< b>a</b>",
  "<b>a</b x>",
  "<br/>",
])("Telegram refuses the markup %j", (source) => {
  expect(parseTelegramHtml(source)).toBeUndefined();
});

test("parsing Telegram's HTML takes processor time that is linear in the length of the text", async () => {
  for (const part of ["<", "<b ", "&#", "<b>", "&lt;", "<span class=", "a\u0301"]) {
    const source = part.repeat(262_144 / part.length);
    expect(await measureCpuMs(() => parseTelegramHtml(source)), part).toBeLessThan(500);
  }
});
