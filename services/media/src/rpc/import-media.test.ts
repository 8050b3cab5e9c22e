import { expect, test } from "vitest";
import { fileNameOf } from "#src/rpc/import-media.ts";

test.each([
  ["https://example.com/a/cat.png", "cat.png"],
  ["https://example.com/cat.png?size=1#top", "cat.png"],
  ["https://example.com/a/b/", "b"],
  ["https://example.com/", "file"],
  ["https://example.com", "file"],
  ["https://example.com/%20", "file"],
  ["https://example.com/%EA%B3%A0%EC%96%91%EC%9D%B4.jpg", "고양이.jpg"],
  ["https://example.com/고양이.jpg", "고양이.jpg"],
  ["https://example.com/100%25.png", "100%.png"],
  ["https://example.com/%FF.png", "%FF.png"],
  ["https://example.com/..%2F..%2Fetc%2Fpasswd", ".._.._etc_passwd"],
  ["https://example.com/a%5Cb.png", "a_b.png"],
  ["https://example.com/a%00b%0D%0Ac.png", "a_b__c.png"],
  ["https://example.com/gnp%E2%80%AE.exe", "gnp_.exe"],
  [`https://example.com/${"x".repeat(1000)}.png`, "x".repeat(255)],
  [`https://example.com/${encodeURIComponent("🎉".repeat(300))}`, "🎉".repeat(255)],
])("the file name that is derived from the URL %s is %s", (url, name) => {
  expect(fileNameOf(url)).toBe(name);
});
