import * as fc from "fast-check";
import { expect, test } from "vitest";
import { toContentDisposition } from "#src/http/content-disposition.ts";

test.each([
  ["cat.jpg", 'inline; filename="cat.jpg"'],
  ["a b (1).png", 'inline; filename="a b (1).png"'],
  ["고양이.jpg", "inline; filename=\"___.jpg\"; filename*=UTF-8''%EA%B3%A0%EC%96%91%EC%9D%B4.jpg"],
  ["it's é.gif", "inline; filename=\"it's _.gif\"; filename*=UTF-8''it%27s%20%C3%A9.gif"],
  ["", 'inline; filename="file"'],
  [" .. ", 'inline; filename="file"'],
  ["../../etc/passwd", 'inline; filename="_.._etc_passwd"'],
  ["C:\\a.jpg", 'inline; filename="C__a.jpg"'],
  [".htaccess", 'inline; filename="htaccess"'],
  ['a";x="b.jpg', 'inline; filename="a_;x=_b.jpg"'],
  ["a\r\nSet-Cookie: b=1.jpg", 'inline; filename="a__Set-Cookie_ b=1.jpg"'],
  ["photo\u202Egpj.exe", 'inline; filename="photo_gpj.exe"'],
  [`${"a".repeat(500)}.jpeg`, `inline; filename="${"a".repeat(145)}.jpeg"`],
])("%j becomes a safe name", (fileName, header) => {
  expect(toContentDisposition(fileName)).toBe(header);
});

test("whatever the name, the header is one line of ASCII with balanced quotes and says what was meant", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 0x10ffff })), (points) => {
      const fileName = String.fromCodePoint(...points);
      const header = toContentDisposition(fileName);
      expect(header).toMatch(
        /^inline; filename="[ !#-[\]-~]+"(; filename\*=UTF-8''[!#$&+\-.^_`|~0-9A-Za-z%]+)?$/,
      );
      expect(decodeURIComponent(header.split("''")[1] ?? "")).not.toMatch(/[\\/\p{Cc}]/u);
    }),
  );
});
