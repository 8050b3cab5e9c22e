/** Texts that are valid in JSON and have often made programs fail. */
export const ODD_TEXTS: readonly string[] = [
  "",
  " ",
  "\u00a0\u2003",
  "\u200b\u200d\ufeff",
  "null",
  "undefined",
  "[object Object]",
  "0",
  "-1",
  "1e309",
  "true",
  "../../../etc/passwd",
  "%00%2e%2e%2f",
  "' or 1=1 --",
  '"; drop table posts; --',
  "${jndi:ldap://127.0.0.1/a}",
  "{{7*7}}",
  "<script>alert(1)</script>",
  "&lt;&amp;&#0;",
  "a\r\nSet-Cookie: b=c",
  "\u0001\u0002\u001f\u007f\u0085",
  "\u202eabc\u202c",
  "e\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301",
  "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}\u{1f1f0}\u{1f1f7}",
  "한국어 텍스트 日本語 العربية עברית ไทย",
  "İıſßŒ",
  "\ufdfa\ufffd\uffff",
  "\u{10ffff}",
  "\u2028\u2029",
  "https://example.invalid/".repeat(20),
  "#".repeat(300),
  "@a ".repeat(200),
  "ftp://example.invalid/a",
  "javascript:alert(1)",
  "https:example.invalid",
  "HTTPS://example.invalid:99999/",
  "https://user:password@example.invalid/",
  "http://[::1]:1/",
  "http://169.254.169.254/latest/meta-data",
  "__proto__",
  "constructor",
  "toString",
];

/**
 * Texts that the API refuses in every request: NUL characters and unpaired surrogates, which JSON can contain only as
 * escapes.
 */
export const REFUSED_TEXTS: readonly string[] = ["\0", "a\0b", "\ud800", "\udc00\ud800", "a\udfff"];

/** Text lengths around limits of databases, buffers and protocols. */
export const LONG_LENGTHS: readonly number[] = [
  99, 201, 255, 256, 600, 1_001, 4_097, 65_536, 200_000,
];

/** Invalid values for fields that require a UUID. */
export const ODD_IDS: readonly string[] = [
  "0",
  "-1",
  "null",
  "00000000-0000-0000-0000-000000000000",
  "ffffffff-ffff-ffff-ffff-ffffffffffff",
  "01936A5E-0000-7000-8000-000000000000",
  "01936a5e-0000-7000-8000-00000000000",
  "{01936a5e-0000-7000-8000-000000000000}",
  "01936a5e000070008000000000000000",
  "..",
  ".",
  "%2e%2e",
  "a/b",
  "a?b",
  "\0",
  "\u{1f600}",
  "' or 1=1",
  "x".repeat(1_000),
];
