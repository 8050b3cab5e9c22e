const MARK = /^\ufeff/;
const COMMENTS = /^(?:\s*(?:<\?xml[^>]*>|<!--[^]*?-->|<!doctype\s+svg[^>]*>))*\s*/i;
const PAGE = /^<(?:!doctype\s+html|html|head|body|script)\b/i;
const SVG = /^<svg\b/i;
const JSON_START = /^(?:\{\s*["}]|\[\s*[{["\]])/;

/** Recognises texts that are often taken for an image or video. */
export function textTypeOf(
  start: Uint8Array,
): "text/html" | "image/svg+xml" | "application/json" | undefined {
  const text = Buffer.from(start).toString("utf8").replace(MARK, "").replace(COMMENTS, "");
  if (PAGE.test(text)) return "text/html";
  if (SVG.test(text)) return "image/svg+xml";
  return JSON_START.test(text) ? "application/json" : undefined;
}
